/* Is B faster?  Exit status: 0 yes, 1 no, or not sure enough. */
#include "perf.h"

int main(void)
{
    static double x[1000];
    perf_ab       ab = perf_ab_begin("sum", NULL);  /* asks: at least 1.3 times as fast?      */
    for (int v; (v = perf_ab_next(&ab)) >= 0;) {        /* 0: baseline, 1: candidate          */
        double s = 0, t = 0;
        perf_keep(x);                           /* any numbers may be in x                    */
        if (v)                                  /* two sums that need not wait for each other */
            for (int i = 0; i < 500; i++) {
                s += x[i];
                t += x[500 + i];
            }
        else
            for (int i = 0; i < 1000; i++)
                s += x[i];
        s += t;
        perf_keep(s);                           /* s is used, so it is computed               */
    }
    perf_ab_result r = perf_ab_end(&ab);
    perf_report();
    return r.verdict.decision != PERF_ACCEPT;
}
