/* C++20: scopes that a coroutine ends in the thread that resumed it, which is not the one that began them. */
#include <coroutine>
#include <cstdint>
#include <thread>
static uint64_t now_ns = UINT64_C(7000000000);
static uint64_t fake_clock()
{
    return now_ns;
}
#define PERF_CLOCK_FN fake_clock
#define PERF_TEST_HOT                  /* that clock, through the hot path                       */
#include "rows.h"

struct job {
    struct promise_type {
        job get_return_object()
        {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_never initial_suspend()
        {
            return {};
        }
        std::suspend_always final_suspend() noexcept
        {
            return {};
        }
        void return_void()
        {
        }
        void unhandled_exception()
        {
            std::abort();
        }
    };
    std::coroutine_handle<promise_type> at;
};

static job request(bool by_name)
{
    if (by_name) {
        perf::scope s("by name");
        co_await std::suspend_always();
    } else {
        PERF_SCOPE("request");
        co_await std::suspend_always();
    }
}

/* Begins one here and ends it after so long, in a thread of its own or in this one. */
static void one(bool by_name, unsigned ns, bool elsewhere)
{
    job j = request(by_name);

    now_ns += ns;
    if (elsewhere)
        std::thread([j] { j.at.resume(); }).join();
    else
        j.at.resume();
    j.at.destroy();
}

int main()
{
    static const char *const name[] = {"request", "by name"};

    for (int by_name = 0; by_name < 2; by_name++) {
        for (unsigned ns : {1000u, 9000u, 5000u})       /* from now on the hot path takes 5000    */
            one(by_name, ns, false);
        one(by_name, 5000, true);
        row r = row_of(name[by_name], "scope");
        CHECK(r.calls == 4 && r.total == 15000, "%s: %g calls, %g ns", name[by_name], r.calls, r.total);
    }
    char *text = report_text(PERF_VIEW_TABLE, PERF_SORT_SELF);
    CHECK(strstr(text, "note: 2 scopes were ended by another thread"), "%s", text);
    CHECK(!strstr(text, "still open") && !strstr(text, "never ended"), "%s", text);
    free(text);
    return check_done();
}
