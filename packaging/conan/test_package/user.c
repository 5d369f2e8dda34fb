#include <perf.h>
#include <stdio.h>

int main(void)
{
    perf_scope s = perf_scope_begin("user");

    perf_scope_end(&s);
    return perf_report_to(stdout, PERF_NULL_) != PERF_OK;
}
