/* A shared object with scopes of its own; built several times with another NAME. */
#include "perf.h"
#include <string.h>

#ifdef __cplusplus
extern "C"
#endif
__attribute__((__visibility__("default"))) int run(int n);
#ifdef __cplusplus
extern "C"
#endif
__attribute__((__visibility__("default"))) int seen(const char *text);

int seen(const char *text)              /* is it in this module's report?                         */
{
    static char      report[8192];
    perf_report_opts o = PERF_ZERO;

    o.view = PERF_VIEW_CSV;
    return perf_report_text(report, sizeof report, &o) < sizeof report && strstr(report, text) != 0;
}

int run(int n)
{
    int i;

    for (i = 0; i < n; i++) {
        PERF_SCOPE("shared");
        {
            PERF_SCOPE(NAME);
            perf_clobber();
        }
    }
    return perf_error() == PERF_OK;
}
