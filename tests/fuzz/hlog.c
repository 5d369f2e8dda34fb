/* Fuzz target: HdrHistogram logs.  The first byte of the input says how deep the rest starts:
 *   0  the text of a log          1  a compressed stream, given its frame and base64
 *   2  the uncompressed content, given a stored block and its checksum as well
 * Whatever comes in, what was in the histogram before stays or grows; nothing is read out of bounds
 * (the input is copied to memory of exactly its size).                                            */
#include "../formats/lines.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static perf_hist into;

static void one_log(const char *text, size_t size)
{
    perf_hlog_reader   r = PERF_ZERO;
    perf_hlog_interval iv;
    perf_status        st;

    r.text = text;
    r.size = size;
    perf_hist_reset(&into);
    perf_hist_add(&into, 777);
    for (;;) {
        uint64_t before = perf_hist_count(&into);
        st = perf_hlog_next(&r, &iv, &into);
        if (st == PERF_ENODATA)
            break;
        if (perf_hist_count(&into) != before + (st == PERF_OK ? iv.count : 0) ||
            (st != PERF_OK && r.error_at > size))
            abort();
    }
    if (perf_hist_count(&into) < 1)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char *raw;
    char          *text;
    size_t         n, line;
    uint32_t       cookie;

    if (size < 1 || size > 60000)
        return 0;
    if (data[0] % 3 == 0) {
        text = (char *)malloc(size);
        memcpy(text, data + 1, size - 1);
        one_log(text, size - 1);
        free(text);
        return 0;
    }
    raw = (unsigned char *)malloc(size + 32);
    cookie = data[0] & 64 ? UINT32_C(0x1c849309) : UINT32_C(0x1c849314);
    if (data[0] % 3 == 2) {
        n = line_stored(raw, cookie, data + 1, size - 1);
    } else {
        line_be(line_be(raw, cookie, 4), size - 1, 4);
        memcpy(raw + 8, data + 1, size - 1);
        n = 8 + size - 1;
    }
    line = 6 + (n + 2) / 3 * 4;
    text = (char *)malloc(line);
    memcpy(text, "1,1,1,", 6);
    (void)line_base64(text + 6, raw, n);
    one_log(text, line);
    free(raw);
    free(text);
    return 0;
}
