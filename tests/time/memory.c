/* Memory marks see an allocation of 64 MiB, and the report has a table of them. */
#include "rows.h"

int main(void)
{
    char  *text, *big;
    size_t i;

    if (perf_memory_mark("start") == PERF_ENODATA) {
        puts("skipped: the system does not tell");
        return 77;
    }
    big = (char *)malloc(64 << 20);
    for (i = 0; i < 64 << 20; i += 4096)
        big[i] = 1;
    perf_keep(big);
    CHECK(perf_memory_mark("load \"x\"") == PERF_OK, "mark");
    free(big);
    CHECK(perf_memory_mark(NULL) == PERF_OK, "NULL");
    text = report_text(PERF_VIEW_TABLE, PERF_SORT_SELF);
    CHECK(strstr(text, "memory phase"), "%s", text);
    CHECK(strstr(text, "load \"x\"") && (strstr(text, " 64 MiB") || strstr(text, " 64.0 MiB") || strstr(text, " 64.1 MiB")),
          "%s", text);
#if !defined(__SANITIZE_ADDRESS__)      /* which keeps freed memory for a while */
    CHECK(strstr(text, "-64.") || strstr(text, "-64 MiB"), "%s", text);
#endif
    free(text);
    return check_done();
}
