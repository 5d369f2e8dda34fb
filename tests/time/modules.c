/* Loads a.so and b.so where nobody sees their symbols, unloads a.so, loads c.so: all of them and this
 * program share one registry, and what an unloaded one recorded stays.                            */
#include "rows.h"
#include <dlfcn.h>

typedef int (*run_fn)(int);
typedef int (*seen_fn)(const char *);

static run_fn load(const char *path, void **handle)
{
    *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!*handle) {
        puts(dlerror());
        exit(1);
    }
    return (run_fn)dlsym(*handle, "run");
}

int main(void)
{
    void  *ha, *hb, *hc;
    run_fn a = load("./a.so", &ha), b = load("./b.so", &hb), c;

    {
        PERF_SCOPE("main");
        CHECK(a(10) && b(20), "run");
    }
    dlclose(ha);
    c = load("./c.so", &hc);
    CHECK(((seen_fn)dlsym(hc, "seen"))("\"in a\""), "a module that has recorded nothing itself reports all");
    CHECK(c(5), "run");
    CHECK(row_of("shared", "scope").calls == 35, "%.0f", row_of("shared", "scope").calls);
    CHECK(row_of("in a", "scope").calls == 10, "unloaded");
    CHECK(row_of("in b", "scope").calls == 20, "loaded");
    CHECK(row_of("in c", "scope").calls == 5, "loaded late");
    CHECK(row_of("main", "scope").self < row_of("main", "scope").total, "self time crosses modules");
    perf_enable(0);
    b(100);
    c(100);
    CHECK(row_of("shared", "scope").calls == 35, "the switch reaches every module");
    perf_enable(1);
    b(1);
    CHECK(row_of("shared", "scope").calls == 36, "and back");
    perf_reset();
    c(2);
    CHECK(row_of("shared", "scope").calls == 2, "reset reaches every module");
    return check_done();
}
