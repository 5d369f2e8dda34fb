/* A static function with the name of another file's, in a shared object. */
int in_twin(int n);

static volatile int sink;

static __attribute__((__noinline__)) int twin(int n)
{
    return n + sink;
}

int in_twin(int n)
{
    return twin(n);
}
