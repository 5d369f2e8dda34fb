/* Fuzz target: traces given to perf_trace_merge.  Whatever comes in, an error leaves the output as it
 * was, and what was written is a trace that is accepted again and does not change any more.       */
#include <stdint.h>
static uint64_t now_ns = UINT64_C(7000000000);
static uint64_t fake_clock(void)
{
    return now_ns;
}
#define PERF_CLOCK_FN fake_clock
#include "perf.h"
#include "perf_trace.h"
#include "scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 1 << 22 };

static char in[128], out[128], again[128];
static char text[2][MOST];

static void must(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "merge.c: %s\n", what);
    abort();
}

static void clean_up(void)
{
    (void)remove(in);
    (void)remove(out);
    (void)remove(again);
}

static void begin(void)
{
    scratch_path(in, sizeof in, "in");
    scratch_path(out, sizeof out, "out");
    scratch_path(again, sizeof again, "again");
    (void)atexit(clean_up);
}

static void put(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");

    must(f && fwrite(data, 1, size, f) == size && !fclose(f), "cannot write");
}

static size_t get(const char *path, char *to)
{
    FILE  *f = fopen(path, "rb");
    size_t n = f ? fread(to, 1, MOST, f) : 0;

    if (f)
        (void)fclose(f);
    return n;
}

/* The first byte: how many parts (the same file twice), whether they are named and moved. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    perf_trace_part part[2], one;
    perf_status     status;
    size_t          n, bad, parts, i;

    if (size < 1 || size > 65536)
        return 0;
    if (!*in)
        begin();
    memset(part, 0, sizeof part);
    memset(&one, 0, sizeof one);
    parts = 1 + (data[0] & 1);
    for (i = 0; i < 2; i++) {
        part[i].path = in;
        part[i].name = data[0] & 2 ? "rank \"7\"" : NULL;
        part[i].offset_ns = data[0] & 4 ? -INT64_C(123456789) : data[0] & 8 ? INT64_MAX : 0;
        part[i].bound_ns = data[0] & 16 ? 1000 : 0;
    }
    put(in, data + 1, size - 1);
    put(out, "old", 3);
    status = perf_trace_merge(out, part, parts, &bad);
    n = get(out, text[0]);
    if (status != PERF_OK) {
        must(n == 3 && !memcmp(text[0], "old", 3), "an error has changed the output");
        must(bad < parts, "no part is at fault");
        return 0;
    }
    must(bad == parts && n > 10 && n < MOST, "no output");
    one.path = out;
    must(perf_trace_merge(again, &one, 1, &bad) == PERF_OK, "our own output is refused");
    must(get(again, text[1]) == n && !memcmp(text[0], text[1], n), "it changes once more");
    return 0;
}
