/* Memory marks see an allocation of 64 MiB, and the report has a table of them. */
#include "rows.h"
#include "perf_memory.h"
#include <pthread.h>
#include "inside.h"

static void *marks(void *name)
{
    int i;

    for (i = 0; i < 200; i++)
        (void)perf_memory_mark((const char *)name);
    return name;
}

/* Phases of several threads: no number of one is below that of the one before. */
static void together(void)
{
    static char name[] = "thread";
    pthread_t   t[4];
    core_mark *m, *last = core_get()->marks;
    int         i, n = 0, back = 0;

    for (i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, marks, name);
    for (i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    for (m = core_get()->marks; m->next && m != last; m = m->next, n++)
        back += m->ns < m->next->ns || m->cpu_ns < m->next->cpu_ns || m->minor < m->next->minor ||
                m->io[0] < m->next->io[0];
    CHECK(n == 800 && back == 0, "%d of %d marks go back", back, n);
    {
        PERF_SCOPE("thread");
    }
    CHECK(core_get()->names[core_scope_id("thread")]->site.file, "the scope's place");
}

int main(void)
{
    core_mark *start, *load, *dropped, *writes;
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
    CHECK(count_of(text, "\nmemory phase ") == 1 && count_of(text, "\nload \"x\" ") == 1, "%s", text);
    free(text);
    writes = core_get()->marks;
    dropped = writes->next;
    load = dropped->next;
    start = load->next;
    CHECK(!start->next && !strcmp(start->name->site.name, "start") && !strcmp(load->name->site.name, "load \"x\""),
          "%s, %s", start->name->site.name, load->name->site.name);
    CHECK(load->resident - start->resident > 63 << 20 && load->peak >= load->resident, "64 MiB: %.0f",
          (double)(load->resident - start->resident));
    f = fopen("/proc/self/io", "rb");
    CHECK(!f || (writes->io[1] - dropped->io[1] == 4096000 && writes->io[3] - dropped->io[3] == 1000), "%.0f in %.0f",
          (double)(writes->io[1] - dropped->io[1]), (double)(writes->io[3] - dropped->io[3]));
    if (f)
        fclose(f);
#if !defined(__SANITIZE_ADDRESS__)      /* which keeps freed memory for a while */
    CHECK(load->resident - dropped->resident > 63 << 20, "given back: %.0f", (double)(load->resident - dropped->resident));
#endif
    together();
    return check_done();
}
