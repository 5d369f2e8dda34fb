/* Fuzz target: what comes back from a device (perf_kernel.h).  The first byte of the input chooses, the
 * rest is the image:  1  claim the bytes that are there   2  write the trace, too   4, 8  by which clock
 * Whatever comes in, the decoder ends with as many events as it says, each of which can be; the trace
 * is refused where the image is, and else it is JSON.                                             */
#include "perf.h"
#include "perf_kernel.h"
#include "perf_saved.h"
#include "scratch.h"
#include <math.h>
#include <stdlib.h>
#include "../inside.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROOM = 512 };

static char path[128];

static void must(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "kernel.c: %s\n", what);
    abort();
}

static void clean_up(void)
{
    (void)remove(path);
}

static void begin(void)
{
    scratch_path(path, sizeof path, "kernel");
    (void)atexit(clean_up);
}

/* Is it given, and no more than there are? */
static void decoded(const unsigned char *image, size_t bytes)
{
    static perf_kernel_event out[ROOM];
    perf_kernel_info         info, once_more;
    perf_status              status;
    uint64_t                 given = 0;

    memset(out, 0xff, sizeof out);
    status = perf_kernel_decode(image, bytes, out, ROOM, &info);
    must(status == PERF_OK || status == PERF_EFORMAT, "a status that it does not promise");
    while (given < ROOM && out[given].id != ~0u) {
        must(out[given].id <= PERF_KERNEL_ID_MAX && out[given].instant <= 1 && out[given].track < 128,
             "an event that cannot be");
        given++;
    }
    if (status != PERF_OK) {
        must(given == 0, "events beside a refusal");
        return;
    }
    must(given == (info.events < ROOM ? info.events : ROOM), "another number of events");
    must(info.cycle_ns >= 0.0 && info.error_ns >= 0.0 && isfinite(info.cycle_ns), "a rate below 0");
    must(info.rings <= bytes / sizeof(perf_kernel_ring) && info.unclosed <= info.rings &&
         info.sms <= info.rings && info.tracks <= 128, "more rings than fit");
    must(perf_kernel_decode(image, bytes, NULL, 0, &once_more) == PERF_OK &&
         !memcmp(&info, &once_more, sizeof info), "without room it says something else");
}

static void traced(const unsigned char *image, size_t bytes, unsigned clock)
{
    static const char *const names[2] = {"load \"x\"\n", NULL};
    static const int64_t     ahead[4] = {0, INT64_MIN, INT64_MAX, -1};
    perf_kernel_info         info;
    static char              text[4 << 20];
    perf_status              status = perf_kernel_decode(image, bytes, NULL, 0, &info);
    size_t                   size, at;
    FILE                    *f;

    if (!*path)
        begin();
    must(perf_kernel_trace_save(path, image, bytes, names, 2, ahead[clock]) == status,
         "the trace says otherwise");
    if (status != PERF_OK)
        return;
    f = fopen(path, "rb");
    must(f != NULL, "no trace");
    size = fread(text, 1, sizeof text, f);
    (void)fclose(f);
    must(size > 60 && size < sizeof text, "no trace, or an endless one");
    at = json_end(text, size);
    if (at != size)
        fprintf(stderr, "%.*s\n", (int)(size < 2000 ? size : 2000), text);
    must(at == size, "the trace is no JSON");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char *image;
    uint64_t       bytes = size - 1;

    if (size < 1 || size > 60000)
        return 0;
    image = (unsigned char *)malloc(size);      /* at 8 bytes, and not longer than it is          */
    must(image != NULL, "no memory");
    memcpy(image, data + 1, size - 1);
    if (data[0] & 1 && size > sizeof(perf_kernel_buffer))
        memcpy(image + offsetof(perf_kernel_buffer, bytes), &bytes, 8);
    decoded(image, size - 1);
    if (data[0] & 2)
        traced(image, size - 1, data[0] >> 2 & 3);
    free(image);
    return 0;
}
