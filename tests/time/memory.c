/* Memory marks see an allocation of 64 MiB, and the report has a table of them. */
#include "rows.h"
#include "perf_memory.h"

int main(void)
{
    char  *text, *big;
    size_t i;
    FILE  *f;
    static char page[4096];

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
    f = fopen("/dev/null", "wb");
    if (f) {
        setvbuf(f, NULL, _IONBF, 0);
        for (i = 0; i < 1000; i++)
            fwrite(page, 1, sizeof page, f);
        fclose(f);
    }
    CHECK(perf_memory_mark("thousand writes") == PERF_OK, "mark");
    text = report_text(PERF_VIEW_TABLE, PERF_SORT_SELF);
    CHECK(strstr(text, "memory phase"), "%s", text);
    CHECK(strstr(text, "load \"x\"") && (strstr(text, " 64 MiB") || strstr(text, " 64.")),
          "%s", text);
    f = fopen("/proc/self/io", "rb");
    CHECK(!f || strstr(text, "    3.9 MiB     1000\n"), "%s", text);
    if (f)
        fclose(f);
#if !defined(__SANITIZE_ADDRESS__)      /* which keeps freed memory for a while */
    CHECK(strstr(text, "-64.") || strstr(text, "-64 MiB"), "%s", text);
#endif
    free(text);
    return check_done();
}
