/* Is a cheaper checksum of a file (perf.h, unless you name one) at least 1.3 times as fast?
 *
 *     cc -O2 -I. examples/c/quickstart.c -o quickstart && ./quickstart [FILE]
 *
 * Exit status: 0 ACCEPT, 1 REJECT, 2 INCONCLUSIVE or nothing to measure.                         */
#include "perf.h"
#include <stdio.h>

static unsigned char text[1 << 20];

/* Adler-32 (RFC 1950), as it is defined: two divisions for each byte. */
static uint32_t checksum(size_t n)
{
    uint32_t a = 1, b = 0;

    for (size_t i = 0; i < n; i++) {
        a = (a + text[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

/* The same: sums of 5552 bytes fit into 32 bits, so a division can wait for as long. */
static uint32_t checksum_lazy(size_t n)
{
    uint32_t a = 1, b = 0;

    for (size_t i = 0; i < n; a %= 65521, b %= 65521)
        for (size_t end = n - i < 5552 ? n : i + 5552; i < end; i++)
            b += a += text[i];
    return b << 16 | a;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "perf.h";
    size_t      n = 0;
    {
        PERF_SCOPE("read file");                /* timed from here to the end of this block   */
        FILE *f = fopen(path, "rb");
        if (f) {
            n = fread(text, 1, sizeof text, f);
            fclose(f);
        }
    }
    if (!n || checksum(n) != checksum_lazy(n)) {
        fprintf(stderr, "quickstart: %s: %s\n", path, n ? "checksums differ" : "nothing to read");
        return 2;
    }
    perf_ab ab = perf_ab_begin("checksum", NULL);
    for (int v; (v = perf_ab_next(&ab)) >= 0;) {        /* 0: the baseline's turn, 1: the other's */
        uint32_t sum = v ? checksum_lazy(n) : checksum(n);
        perf_keep(sum);                         /* the sum is used, so it is computed         */
    }
    perf_decision decision = perf_ab_end(&ab).verdict.decision;
    perf_report_to(stdout, NULL);
    if (decision == PERF_INCONCLUSIVE)
        return 2;
    return decision == PERF_ACCEPT ? 0 : 1;
}
