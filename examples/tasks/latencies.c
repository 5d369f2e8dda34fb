/* What is the 99th percentile of the answers of a server?  */
#include "perf.h"
#include <stdio.h>

int main(void)
{
    static char memory[1 << 17];
    perf_hist  *h = perf_hist_init(memory, sizeof memory, NULL);

    for (int request = 0; h && request < 10000; request++) {
        uint64_t before = perf_now();
        for (int i = 0; i < (request % 100 ? 100 : 10000); i++)
            perf_clobber();                     /* here it answers                            */
        perf_hist_add(h, perf_now() - before);
    }
    if (!h)
        return 1;
    printf("p50 %.0f ns, p99 %.0f ns, p99.9 %.0f ns, most %.0f ns\n", perf_hist_quantile(h, 0.5),
           perf_hist_quantile(h, 0.99), perf_hist_quantile(h, 0.999), (double)perf_hist_quantile(h, 1));
    return 0;
}
