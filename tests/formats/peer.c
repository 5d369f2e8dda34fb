/* For peer.py, which has HdrHistogram read what we write, and us what it writes:
 *     peer write FOLDER       ours.hlog, levels.txt and the values of each interval, 0.txt, 1.txt, ...
 *     peer read LOG           a line an interval: tag, start, count, min, p50, p99, max     */
#include "perf_hlog.h"

#include <stdio.h>
#include <stdlib.h>

enum { INTERVALS = 3, VALUES = 5000 };

static char      text[1 << 20];
static perf_hist one;

static void save(const char *folder, const char *name, const char *how, size_t n)
{
    char  path[4096];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    f = fopen(path, how);
    if (!f || fwrite(text, 1, n, f) != n || fclose(f)) {
        perror(path);
        exit(1);
    }
}

static int write_all(const char *folder)
{
    static const char *const tag[INTERVALS] = {NULL, "get", "put"};
    perf_hist_opts     o = PERF_ZERO;
    perf_hlog_interval iv = PERF_ZERO;
    double             quantile, value;
    perf_hist         *h, *all;
    uint64_t           state = 1, ns;
    size_t             n, size, i;
    char               name[32];
    int                k;

    o.bits = 10;
    o.counter_bytes = 8;
    size = perf_hist_bytes(&o);
    h = perf_hist_init(malloc(size), size, &o);
    all = perf_hist_init(malloc(size), size, &o);
    if (!h || !all)
        return 1;
    n = (size_t)snprintf(text, sizeof text, "#[StartTime: %.3f (seconds since epoch)]\n%s",
                         1441812279.474, PERF_HLOG_HEADER);
    save(folder, "ours.hlog", "wb", n);
    for (k = 0; k < INTERVALS; k++) {
        perf_hist_reset(h);
        for (i = n = 0; i < VALUES; i++) {
            state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
            ns = 1 + (state >> 33) % (UINT64_C(1) << (4 + state % 30));
            perf_hist_add(h, ns);
            n += (size_t)snprintf(text + n, sizeof text - n, "%llu\n", (unsigned long long)ns);
        }
        snprintf(name, sizeof name, "%d.txt", k);
        save(folder, name, "wb", n);
        if (perf_hist_merge(all, h) != PERF_OK)
            return 1;
        iv.start_seconds = 10.0 * k;
        iv.length_seconds = 10.0;
        iv.tag = tag[k];
        n = perf_hlog_text(text, sizeof text, h, &iv);
        save(folder, "ours.hlog", "ab", n);
    }
    for (k = 0, n = 0; k <= 1000; k++) {
        quantile = k / 1000.0;
        value = perf_hist_quantile(all, quantile);
        n += (size_t)snprintf(text + n, sizeof text - n, "%.0f %.12f %llu\n", value, quantile,
                              (unsigned long long)perf_hist_rank(all, value));
    }
    save(folder, "levels.txt", "wb", n);
    free(h);
    free(all);
    return 0;
}

static int read_all(const char *path)
{
    perf_hlog_reader   r = PERF_ZERO;
    perf_hlog_interval iv;
    perf_status        status;
    FILE              *f = fopen(path, "rb");

    if (!f)
        return 1;
    r.text = text;
    r.size = fread(text, 1, sizeof text, f);
    fclose(f);
    for (;;) {
        perf_hist_reset(&one);
        status = perf_hlog_next(&r, &iv, &one);
        if (status == PERF_ENODATA)
            return 0;
        if (status != PERF_OK) {
            printf("%s at byte %zu\n", perf_status_text(status), r.error_at);
            return 1;
        }
        printf("%.*s|%.3f|%llu|%.0f|%.1f|%.1f|%.0f\n", iv.tag ? (int)iv.tag_size : 0, iv.tag ? iv.tag : "",
               iv.start_seconds, (unsigned long long)iv.count, perf_hist_quantile(&one, 0),
               perf_hist_quantile(&one, 0.5), perf_hist_quantile(&one, 0.99), perf_hist_quantile(&one, 1));
    }
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    return argv[1][0] == 'w' ? write_all(argv[2]) : read_all(argv[2]);
}
