/* Sixteen threads whose first uses of everything collide at barriers: marks of all kinds, reports, traces,
 * streams, resets and switches.  For ThreadSanitizer.  argv[1]: seed.                             */
#define _GNU_SOURCE 1
#define PERF_TRACE_EVENTS 512
#include "rows.h"
#include "perf_diagnosis.h"
#include "perf_export.h"
#include "perf_memory.h"
#include "perf_tally.h"
#include "perf_trace.h"
#include <pthread.h>
#include <sys/syscall.h>
#include "inside.h"

#define THREADS 16
#define TURNS   40
#define ROUNDS  4

static pthread_barrier_t barrier;
static unsigned          seed;

static void mark(unsigned what, unsigned *dice)
{
    char name[32];
    int  i;

    switch (what) {
    case 0: {
        PERF_SCOPE("s");
        PERF_SCOPE_VALUE("value", 1.5);
        PERF_SCOPE_TEXT("text", "of more than eight bytes");
        break;
    }
    case 1: PERF_COUNT("count", 3); break;
    case 2: PERF_INSTANT("instant"); break;
    case 3: {
        perf_lap lap = perf_lap_begin();
        PERF_LAP(&lap, "lap");
        PERF_LAP(&lap, "other lap");
        break;
    }
    case 4: {
        perf_async a = perf_async_begin("span", 0);
        perf_async_end(&a);
        break;
    }
    case 5: perf_thread_name("worker"); break;
    case 6:
    case 7: {
        perf_scope outer, inner;
        snprintf(name, sizeof name, "run time %d", rand_r(dice) % 500);
        outer = perf_scope_begin(name);
        inner = perf_wait_begin("inner");
        perf_scope_end(&inner);
        perf_scope_end(&outer);
        break;
    }
    case 8:
        snprintf(name, sizeof name, "count %d", rand_r(dice) % 100);
        perf_count(name, rand_r(dice));
        perf_scope_text(name, name);
        break;
    case 9: {
        perf_fiber one = PERF_ZERO, two = PERF_ZERO;
        PERF_SCOPE("fibre");
        perf_fiber_switch(&one, &two);
        {
            PERF_SCOPE("in it");
        }
        perf_fiber_switch(&two, &one);
        break;
    }
    default:
        for (i = 0; i < 2000; i++) {
            PERF_SCOPE("many");
        }
    }
}

static void control(unsigned what, const char *path, perf_tally *tally)
{
    static const perf_export_format format[] = {PERF_EXPORT_FLAME, PERF_EXPORT_FOLDED, PERF_EXPORT_OPENMETRICS};
    perf_diagnosis                  d;

    switch (what) {
    case 0: perf_reset(); break;
    case 1:
    case 2: free(report_text(what == 1 ? PERF_VIEW_TABLE : PERF_VIEW_DIAGNOSIS, PERF_SORT_SELF)); break;
    case 3: free(report_text(PERF_VIEW_TREE, PERF_SORT_SELF)); break;
    case 4: (void)perf_trace_save(path); break;
    case 5: (void)perf_trace_save_perfetto(path); break;
    case 6:
    case 7: (void)perf_trace_stream(path); break;
    case 8: (void)perf_trace_stream_flush(); break;
    case 9: (void)perf_trace_stream(NULL); break;
    case 10: perf_trace_enable(0); break;
    case 11: perf_trace_enable(1); break;
    case 12:
        perf_enable(0);
        perf_enable(1);
        break;
    case 13: (void)perf_diagnose(&d); break;
    case 14: (void)perf_memory_mark("phase"); break;
    case 15: (void)perf_tally_of("s", 1, tally); break;
    case 16: (void)perf_clock(); break;
    default: (void)perf_export_save(path, format[what % 3], NULL);
    }
}

static void *work(void *tally)
{
    unsigned id = (unsigned)syscall(SYS_gettid);
    unsigned dice = seed;
    char     path[160];
    int      i;

    pthread_barrier_wait(&barrier);
    dice += 31 * id;
    snprintf(path, sizeof path, "%s.%u", scratch_file(), id);
    for (i = 0; i < TURNS; i++) {
        if (rand_r(&dice) % 4 == 0)
            control((unsigned)rand_r(&dice) % 20, path, (perf_tally *)tally);
        else
            mark((unsigned)rand_r(&dice) % 11, &dice);
        if (i % 4 == 0)
            pthread_barrier_wait(&barrier);
    }
    remove(path);
    return tally;
}

int main(int argc, char **argv)
{
    static perf_tally tally[THREADS];
    pthread_t         t[THREADS];
    int               i, k;

    seed = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 0) : (unsigned)perf_now();
    printf("seed %u\n", seed);
    (void)scratch_file();
    core_diagnoses();
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (i = 0; i < ROUNDS; i++) {
        for (k = 0; k < THREADS; k++)
            pthread_create(&t[k], NULL, work, &tally[k]);
        for (k = 0; k < THREADS; k++)
            pthread_join(t[k], NULL);
    }
    (void)perf_trace_stream(NULL);
    remove(scratch_file());
    CHECK(core_read()->threads >= THREADS, "threads");        /* the rest is ThreadSanitizer's */
    return check_done();
}
