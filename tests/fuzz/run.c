/* Runs a fuzz target without a fuzzer.
 *   run FILE...             each file once (AFL++: afl-fuzz -i seeds -o out -- ./run @@)
 *   run -n INPUTS FILE...   INPUTS mutations of the files, from a fixed seed: the same every time
 * A FILE that ends in .pack holds many inputs, see pack.py: each is run as it is.
 * With libFuzzer leave this file out and link with -fsanitize=fuzzer.                             */
#include "../hist/samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 65536 };

static uint8_t seeds[64][MOST], input[MOST];
static size_t  sizes[64];

static size_t mutate(rng *r, size_t n)
{
    uint64_t times = 1 + rng_below(r, 6);

    while (times--) {
        size_t at = n ? rng_below(r, n) : 0;
        switch (rng_below(r, 7)) {
        case 0:                                 /* flip a bit                                      */
            if (n)
                input[at] ^= (uint8_t)(1 << rng_below(r, 8));
            break;
        case 1:                                 /* another byte                                    */
            if (n)
                input[at] = (uint8_t)(rng_next(r) & 255);
            break;
        case 2:                                 /* an extreme byte                                 */
            if (n)
                input[at] = rng_below(r, 2) ? 255 : 0;
            break;
        case 3:                                 /* cut the end off                                 */
            if (rng_below(r, 4) == 0)
                n = at;
            break;
        case 4:                                 /* copy a piece                                    */
            if (n) {
                size_t from = rng_below(r, n), len = 1 + rng_below(r, 16);
                if (from + len <= n && at + len <= n)
                    memmove(input + at, input + from, len);
            }
            break;
        case 5:                                 /* insert                                          */
            if (n < MOST) {
                memmove(input + at + 1, input + at, n - at);
                input[at] = (uint8_t)(rng_next(r) & 255);
                n++;
            }
            break;
        default:                                /* delete                                          */
            if (n) {
                memmove(input + at, input + at + 1, n - at - 1);
                n--;
            }
            break;
        }
    }
    return n;
}

/* Runs what a pack holds; -1: it is cut off. */
static long replay(FILE *f)
{
    unsigned char head[4];
    long          n = 0;

    while (fread(head, 1, 4, f) == 4) {
        size_t size = head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16 | (size_t)head[3] << 24;
        if (size > MOST || fread(input, 1, size, f) != size)
            return -1;
        LLVMFuzzerTestOneInput(input, size);
        n++;
    }
    return n;
}

int main(int argc, char **argv)
{
    long   inputs = 0, replayed = 0, i;
    int    files = 0, a = 1;
    rng    r = {20240229};

    if (argc > 2 && !strcmp(argv[1], "-n")) {
        inputs = atol(argv[2]);
        a = 3;
    }
    for (; a < argc && files < 64; a++) {
        FILE *f = fopen(argv[a], "rb");
        if (!f) {
            printf("cannot read %s\n0 passed, 1 failed\n", argv[a]);
            return 1;
        }
        if (strlen(argv[a]) > 5 && !strcmp(argv[a] + strlen(argv[a]) - 5, ".pack")) {
            long n = replay(f);
            fclose(f);
            if (n < 1) {
                printf("%s is cut off\n0 passed, 1 failed\n", argv[a]);
                return 1;
            }
            replayed += n;
            continue;
        }
        sizes[files] = fread(seeds[files], 1, MOST, f);
        fclose(f);
        LLVMFuzzerTestOneInput(seeds[files], sizes[files]);
        files++;
    }
    for (i = 0; i < inputs && files; i++) {
        size_t k = rng_below(&r, (uint64_t)files), n;
        memcpy(input, seeds[k], sizes[k]);
        n = mutate(&r, sizes[k]);
        LLVMFuzzerTestOneInput(input, n);
    }
    printf("seed 20240229: %d files, %ld mutations, %ld inputs replayed\n%d passed, 0 failed\n", files,
           inputs, replayed, files > 0 || replayed > 0);
    return files == 0 && replayed == 0;
}
