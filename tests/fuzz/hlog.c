/* Fuzz target: HdrHistogram logs.  The first byte of the input says how deep the rest starts:
 *   0  the text of a log          1  a compressed stream, given its frame and base64
 *   2  the uncompressed content, given a stored block and its checksum as well
 * Whatever comes in, what was in the histogram before stays or grows; nothing is read out of bounds
 * (the input is copied to memory of exactly its size).                                            */
#include "perf_export.h"

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
    if (perf_hist_count(&into) < 1 || perf_hist_count_between(&into, 777, 777) < 1)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char *raw;
    char          *text;
    size_t         n, front, line;

    if (size < 1 || size > 60000)
        return 0;
    if (data[0] % 3 == 0) {
        text = PERF_CAST_(char *, malloc(size));
        memcpy(text, data + 1, size - 1);
        one_log(text, size - 1);
        free(text);
        return 0;
    }
    front = data[0] % 3 == 1 ? 8 : 15;
    n = front + (size - 1) + (front == 15 ? 4 : 0);
    raw = PERF_CAST_(unsigned char *, malloc(n));
    memcpy(raw + front, data + 1, size - 1);
    perf_put_be_(raw, data[0] & 64 ? UINT32_C(0x1c849309) : UINT32_C(0x1c849314), 4);
    perf_put_be_(raw + 4, n - 8, 4);
    if (front == 15) {
        perf_put_be_(raw + 8, 0x7801, 2);
        raw[10] = 1;
        perf_put_le_(raw + 11, size - 1, 2);
        perf_put_le_(raw + 13, ~PERF_CAST_(uint64_t, size - 1), 2);
        perf_put_be_(raw + n - 4, perf_adler32_(raw + 15, size - 1), 4);
    }
    line = 6 + (n + 2) / 3 * 4;
    text = PERF_CAST_(char *, malloc(line));
    memcpy(text, "1,1,1,", 6);
    perf_base64_(text + 6, raw, n);
    one_log(text, line);
    free(raw);
    free(text);
    return 0;
}
