// Marks before main() and after it.
extern "C" void mark(void);

static struct early {
    early()
    {
        mark();
    }
    ~early()
    {
        mark();
    }
} early_;
