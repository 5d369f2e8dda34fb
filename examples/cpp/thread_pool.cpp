/* A thread pool under load: who waits, how long is the queue, how long does a request take?
 * Needs: threads
 *
 *     c++ -O2 -std=c++11 -I. examples/cpp/thread_pool.cpp -o thread_pool -pthread && ./thread_pool
 *
 * You will see "task" (200 calls in 4 workers) and "wait for work" in the report, its share as
 * waiting for data; "request" is the time from submit to done, across two threads; the counter
 * "queue" is the length of the queue.  trace.json has a row for each worker by name and the curve
 * of the queue: open it in https://ui.perfetto.dev.  No lock is taken for any of it.             */
#include "perf.h"

#include <stdio.h>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace {

struct task {
    unsigned   rounds;
    perf_async request;                 /* begun by who submits, ended by who has done it         */
};

class pool {
    std::mutex               mutex_;
    std::condition_variable  more_;
    std::deque<task>         queue_;
    std::vector<std::thread> threads_;
    bool                     closed_;

    bool next(task &t)
    {
        PERF_WAIT("wait for work");
        std::unique_lock<std::mutex> lock(mutex_);
        more_.wait(lock, [this] { return closed_ || !queue_.empty(); });
        if (queue_.empty())
            return false;
        t = queue_.front();
        queue_.pop_front();
        PERF_COUNT("queue", static_cast<double>(queue_.size()));
        return true;
    }

    void run(unsigned number)
    {
        char name[32];
        task t;

        snprintf(name, sizeof name, "worker %u", number);
        perf_thread_name(name);
        while (next(t)) {
            {
                PERF_SCOPE("task");
                unsigned sum = 1;
                for (unsigned i = 0; i < t.rounds; i++)
                    sum = sum * 1664525u + 1013904223u;
                perf_keep(sum);
            }
            perf_async_end(&t.request);
        }
    }

public:
    explicit pool(unsigned workers) : closed_(false)
    {
        for (unsigned i = 0; i < workers; i++)
            threads_.emplace_back([this, i] { run(i); });
    }
    void submit(unsigned rounds)
    {
        task t = {rounds, perf_async_begin("request", 0)};
        {
            std::lock_guard<std::mutex> lock(mutex_);
            queue_.push_back(t);
            PERF_COUNT("queue", static_cast<double>(queue_.size()));
        }
        more_.notify_one();
    }
    ~pool()
    {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            closed_ = true;
        }
        more_.notify_all();
        for (auto &t : threads_)
            t.join();
    }
};

} /* namespace */

int main()
{
    {
        PERF_SCOPE("main");
        pool p(4);
        for (unsigned i = 0; i < 200; i++)
            p.submit(10000 + i % 7 * 10000);
    }
    perf_report_to(stdout, nullptr);
    if (perf_trace_save("trace.json") == PERF_OK)
        puts("trace: trace.json");
    return perf_error() != PERF_OK;
}
