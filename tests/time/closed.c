/* Loads a.so and closes it; only then does this program use perf.h itself.  The report has what the
 * loops of a.so said, and the rate of the clock is known since a.so began.  With the argument
 * "clock" a.so and b.so have a clock of their own, which a.so brought; with "releases" a.so and
 * other.so have headers of two releases, as have the two parts of both.so.                        */
#include "rows.h"
#include <dlfcn.h>

typedef int (*run_fn)(int);
typedef int (*seen_fn)(const char *);

static void *load(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!handle) {
        puts(dlerror());
        exit(1);
    }
    return handle;
}

static void clock_of_another(void)
{
    void  *a = load("./a.so"), *b = load("./b.so");
    run_fn run = (run_fn)dlsym(b, "run");

    CHECK(((run_fn)dlsym(a, "run"))(1) && run(1), "run");
    dlclose(a);
    CHECK(run(10), "run");
    CHECK(row_of("in b", "scope").calls == 11, "%.0f", row_of("in b", "scope").calls);
}

static void loops_of_another(void)
{
    static const char *const said[] = {
        "a/b in a: ", " pairs; ", "race in a, 1: ", "race in a, 2: ", "body of in a is wrong",
        "opts.min_pairs is below zero or no number"};
    void  *a = load("./a.so");
    char  *text;
    size_t i;

    CHECK(((run_fn)dlsym(a, "loops"))(10), "loops");
    dlclose(a);
    CHECK(!dlopen("./a.so", RTLD_NOW | RTLD_NOLOAD), "a loop keeps no image");
    CHECK(!(perf_clock().warnings & PERF_CLOCK_ROUGH), "within %.0f ppm", perf_clock().error_ppm);
    text = report_text(PERF_VIEW_TABLE, PERF_SORT_SELF);
    for (i = 0; i < sizeof said / sizeof *said; i++)
        CHECK(strstr(text, said[i]), "%s in %s", said[i], text);
    free(text);
}

/* Two modules know of themselves only. */
static void apart(void *one, const char *run_one, const char *seen_one, void *other, const char *run_other,
                  const char *seen_other)
{
    seen_fn seen = (seen_fn)dlsym(one, seen_one), seen2 = (seen_fn)dlsym(other, seen_other);

    CHECK(((run_fn)dlsym(one, run_one))(10) && ((run_fn)dlsym(other, run_other))(20), "run");
    CHECK(seen("\"in a\"") && !seen("\"in other\""), "%s", seen_one);
    CHECK(seen2("\"in other\"") && !seen2("\"in a\""), "%s", seen_other);
}

static void releases(void)
{
    void *a = load("./a.so"), *other = load("./other.so"), *both = load("./both.so");

    apart(a, "run", "seen", other, "run", "seen");
    apart(both, "run", "seen", both, "run2", "seen2");
    CHECK(((run_fn)dlsym(other, "loops"))(10), "loops");
    CHECK(row_of("in a", "scope").calls == 20, "%.0f", row_of("in a", "scope").calls);
    CHECK(row_of("in other", "scope").calls == 0, "another registry");
    dlclose(other);
    CHECK(((run_fn)dlsym(both, "run2"))(1), "run");
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "releases"))
        releases();
    else if (argc > 1)
        clock_of_another();
    else
        loops_of_another();
    return check_done();
}
