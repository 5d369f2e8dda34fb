/* Is B faster?  Exit status: 0 yes, 1 no, 2 cannot tell. */
#include "perf.h"

int main(void)
{
    static double x[1000];
    int           v;

    perf_ab ab = perf_ab_begin("sum", NULL);    /* asks: at least 1.3 times as fast?          */
    while ((v = perf_ab_next(&ab)) >= 0) {      /* 0: baseline, 1: candidate                  */
        double s = 0, t = 0;
        perf_keep(x);                           /* any numbers may be in x                    */
        if (v)                                  /* two sums that need not wait for each other */
            for (int i = 0; i < 1000; i += 2)
                s += x[i], t += x[i + 1];
        else
            for (int i = 0; i < 1000; i++)
                s += x[i];
        s += t;
        perf_keep(s);                           /* s is used, so it is computed               */
    }
    perf_ab_result r = perf_ab_end(&ab);
    perf_report();
    return r.verdict.decision == PERF_ACCEPT ? 0 : r.verdict.decision == PERF_REJECT ? 1 : 2;
}
