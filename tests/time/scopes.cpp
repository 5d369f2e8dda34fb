/* C++: exceptions, templates, lambdas, inline functions, the RAII class, and no heap in the way. */
#include "rows.h"
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static unsigned long allocations;

/* Not inlined: gcc 14 sees free() of what an operator new returned, and takes it for a mistake. */
__attribute__((__noinline__)) void *operator new(std::size_t n)
{
    allocations++;
    if (void *p = std::malloc(n))
        return p;
    throw std::bad_alloc();
}

__attribute__((__noinline__)) void operator delete(void *p) noexcept
{
    std::free(p);
}

__attribute__((__noinline__)) void operator delete(void *p, std::size_t) noexcept
{
    std::free(p);
}

static void thrower(int n)
{
    PERF_FUNCTION();
    if (n == 0)
        throw std::runtime_error("bottom");
    thrower(n - 1);
}

template <class T> static T generic(T x)
{
    PERF_SCOPE("generic");
    return x + x;
}

struct widget {
    int turn() const
    {
        PERF_FUNCTION();
        return 1;
    }
};

int main()
{
    try {
        PERF_SCOPE("try");
        thrower(9);
    } catch (const std::exception &) {
    }
    CHECK(row_of("thrower", "scope").calls == 10, "%.0f", row_of("thrower", "scope").calls);
    CHECK(row_of("try", "scope").calls == 1, "try");
    generic(1);
    generic(1.0);
    CHECK(row_of("generic", "scope").calls == 2, "templates share a row");
    widget().turn();
    CHECK(row_of("turn", "scope").calls == 1, "method");
    [] { PERF_SCOPE("lambda"); }();
    CHECK(row_of("lambda", "scope").calls == 1, "lambda");
    for (int i = 0; i < 3; i++) {
        perf::scope s(("dynamic " + std::to_string(i % 2)).c_str());
    }
    CHECK(row_of("dynamic 0", "scope").calls == 2, "RAII with a temporary name");
    {
        PERF_SCOPE("one"); PERF_SCOPE("two");               /* two on one line */
        PERF_SCOPE_VALUE("three", 2); PERF_WAIT("four"); PERF_SCOPE("five");
        PERF_COUNT("six", 1.0); PERF_INSTANT("seven");
    }
    CHECK(row_of("two", "scope").calls == 1 && row_of("five", "scope").calls == 1, "one line");
    CHECK(perf_error() == PERF_OK, "%s", perf_status_text(perf_error()));

    unsigned long before = allocations;
    for (int i = 0; i < 1000; i++) {
        PERF_SCOPE("no heap");
    }
    CHECK(allocations == before, "%lu allocations", allocations - before);

    std::vector<std::thread> threads;
    for (int i = 0; i < 8; i++)
        threads.emplace_back([] {
            for (int k = 0; k < 1000; k++) {
                PERF_SCOPE("threaded");
            }
        });
    for (std::thread &t : threads)
        t.join();
    CHECK(row_of("threaded", "scope").calls == 8000, "%.0f", row_of("threaded", "scope").calls);
    return check_done();
}
