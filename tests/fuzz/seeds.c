/* Writes the seeds of the fuzz targets: seeds FOLDER-OF-LOGS OUT-FOLDER. */
#include "perf_export.h"
#include "../hist/samples.h"

#include <stdio.h>
#include <stdlib.h>

static char      text[1 << 20];
static perf_hist h;
static int       failed;

static void put(const char *folder, const char *name, int kind, const void *data, size_t n)
{
    char  path[512];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    f = fopen(path, "wb");
    if (!f || fputc(kind, f) < 0 || fwrite(data, 1, n, f) != n || fclose(f))
        failed = 1;
}

/* One line of a log as text, as its compressed stream and as its uncompressed content. */
static void line(const char *folder, const char *name, const char *p, size_t n)
{
    static perf_hlog_source_ s;
    static unsigned char     bytes[1 << 16];
    perf_hlog_reader         r = PERF_ZERO;
    char                     path[256];
    const char              *b = p + n;
    size_t                   len = 0;
    int                      c, packed;

    while (b > p && b[-1] != ',')
        b--;
    snprintf(path, sizeof path, "%s-0", name);
    put(folder, path, 0, p, n);
    r.text = b;
    perf_hlog_open_(&s, &r, 0, n - PERF_CAST_(size_t, b - p));
    for (packed = 0; packed < 8; packed++)
        (void)perf_hlog_get_(&s);
    while ((c = perf_hlog_get_(&s)) >= 0)
        bytes[len++] = PERF_CAST_(unsigned char, c);
    snprintf(path, sizeof path, "%s-1", name);
    put(folder, path, strstr(name, "V0") ? 64 : 1, bytes, len);
    perf_hlog_open_(&s, &r, 0, n - PERF_CAST_(size_t, b - p));
    for (packed = 0; packed < 10; packed++)
        (void)perf_hlog_get_(&s);
    s.limit = len - 2;
    len = 0;
    while ((c = perf_hlog_inflated_(&s)) >= 0)
        bytes[len++] = PERF_CAST_(unsigned char, c);
    snprintf(path, sizeof path, "%s-2", name);
    put(folder, path, strstr(name, "V0") ? 65 : 2, bytes, len);
}

int main(int argc, char **argv)
{
    static const char *const logs[] = {"jHiccup-2.0.1.logV0.hlog", "jHiccup-2.0.7S.logV2.hlog"};
    static const char *const names[] = {"V0", "V2"};
    perf_hlog_interval iv = PERF_ZERO;
    perf_hist_opts     o = PERF_ZERO;
    rng                r = {3};
    size_t             n;
    int                i, k;

    if (argc < 3)
        return 2;
    for (k = 0; k < 2; k++) {
        char  path[512], *p = text, *e;
        FILE *f;
        snprintf(path, sizeof path, "%s/%s", argv[1], logs[k]);
        f = fopen(path, "rb");
        if (!f)
            return 1;
        n = fread(text, 1, sizeof text - 1, f);
        fclose(f);
        text[n] = '\0';
        snprintf(path, sizeof path, "log-%s", names[k]);
        put(argv[2], path, 0, text, 900);       /* a few lines */
        while (*p == '#' || *p == '"')
            p = strchr(p, '\n') + 1;
        e = strchr(p, '\n');
        line(argv[2], names[k], p, PERF_CAST_(size_t, e - p));
    }
    for (i = 0; i < 300; i++)
        perf_hist_add(&h, rng_magnitude(&r, 30));
    n = perf_hlog_write(text, sizeof text, &h, &iv, 2);
    line(argv[2], "ours", text, n - 1);
    n = perf_hist_save(text, sizeof text, &h);
    put(argv[2], "saved-fixed", 1, text, n);
    for (k = 4; k <= 14; k += 5) {
        char       name[32];
        size_t     size;
        perf_hist *g;
        o.bits = k;
        size = perf_hist_bytes(&o);
        g = perf_hist_init(malloc(size), size, &o);
        for (i = 0; i < 50; i++)
            perf_hist_add(g, rng_magnitude(&r, 44));
        n = perf_hist_save(text, sizeof text, g);
        snprintf(name, sizeof name, "saved-%d", k);
        put(argv[2], name, k % 2, text, n);
        free(g);
    }
    return failed;
}
