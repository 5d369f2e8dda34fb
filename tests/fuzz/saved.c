/* Fuzz target: our binary form.  An odd first byte has the checksum put right, so that mutations
 * get past it.  A failed load leaves the histogram as it was; a good one can be saved again.      */
#include "perf_export.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static perf_hist     into;
static unsigned char again[1 << 20];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char *p;
    uint64_t       before;
    size_t         n, error_at;
    perf_status    st;

    if (size < 2)
        return 0;
    n = size - 1;
    p = PERF_CAST_(unsigned char *, malloc(n));
    memcpy(p, data + 1, n);
    if (data[0] & 1 && n >= 80) {
        perf_put_le_(p + 72, n - 80, 4);
        perf_put_le_(p + 76, perf_crc32_(perf_crc32_(0, p, 76), p + 80, n - 80), 4);
    }
    perf_hist_reset(&into);
    perf_hist_add(&into, 777);
    before = perf_hist_count(&into);
    st = perf_hist_load(&into, p, n, &error_at);
    if (st != PERF_OK && (perf_hist_count(&into) != before || error_at > n))
        abort();
    if (st == PERF_OK && perf_hist_count(&into) < before)
        abort();
    if (st == PERF_OK) {
        n = perf_hist_save(again, sizeof again, &into);
        perf_hist_reset(&into);
        if (n > sizeof again || perf_hist_load(&into, again, n, &error_at) != PERF_OK)
            abort();
    }
    free(p);
    return 0;
}
