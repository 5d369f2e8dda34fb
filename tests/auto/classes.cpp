// Exceptions through several functions, in two threads; members, overloads, a namespace.
#include <pthread.h>
#include <stdexcept>

namespace ns {
struct parser {
    virtual ~parser() {}
    virtual int parse(int n)
    {
        if (n == 0)
            throw std::runtime_error("deep");
        return parse(n - 1) + 1;
    }
    int parse(const char *text) { return *text; }
};
} // namespace ns

static __attribute__((__noinline__)) int catcher(ns::parser &p)
{
    try {
        return p.parse(4);
    } catch (const std::exception &) {
        return 0;
    }
}

static __attribute__((__noinline__)) void after() { __asm__ volatile(""); }

static void *work(void *)
{
    ns::parser p;
    int        i;

    for (i = 0; i < 10; i++) {
        catcher(p);
        after();
    }
    return p.parse("") ? nullptr : nullptr;
}

int main()
{
    pthread_t t[2];

    for (pthread_t &one : t)
        pthread_create(&one, nullptr, work, nullptr);
    for (pthread_t &one : t)
        pthread_join(one, nullptr);
    return 0;
}
