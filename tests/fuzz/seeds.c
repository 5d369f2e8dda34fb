/* Writes the seeds of the fuzz targets: seeds FOLDER-OF-LOGS OUT-FOLDER. */
#include "../kernel/machine.h"
#include "perf_hlog.h"
#include "../hist/samples.h"
#include "../inside.h"

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
    static hlog_source   s;
    static unsigned char bytes[1 << 16];
    char                     path[256];
    const char              *b = p + n;
    size_t                   len = 0, i, k;

    while (b > p && b[-1] != ',')
        b--;
    snprintf(path, sizeof path, "%s-0", name);
    put(folder, path, 0, p, n);
    (void)hlog_open(&s, b, n - (size_t)(b - p));
    while (hlog_more(&s))              /* all of the content fits the window               */
        continue;
    snprintf(path, sizeof path, "%s-2", name);
    put(folder, path, strstr(name, "V0") ? 65 : 2, s.window, (size_t)s.written);
    for (i = 0; b + i < p + n && b[i] != '='; i += 4) {
        uint32_t v = 0;
        for (k = 0; k < 4; k++)
            v = v << 6 | (base64_value(b + i + k < p + n ? b[i + k] : 'A') & 63);
        bytes[len++] = (unsigned char)(v >> 16 & 255);
        bytes[len++] = (unsigned char)(v >> 8 & 255);
        bytes[len++] = (unsigned char)(v & 255);
    }
    snprintf(path, sizeof path, "%s-1", name);
    put(folder, path, strstr(name, "V0") ? 64 : 1, bytes + 8, len - 8);
}

/* What three warps on two SMs leave behind, one of them still open, and an MI300's two chips. */
static void kernels(const char *folder)
{
    memory   x;
    uint32_t warp, i, which;

    for (which = 0; which < 3; which++) {
        char name[32];
        m = machine_new();
        m.cycle_ns = 0.6;
        m.ahead[1] = UINT64_C(0xfffff0000);
        m.claim = 100;
        x = memory_new(3, 3, which == 1 ? 100000000 : 0);
        for (warp = 0; warp < 4; warp++) {
            machine_sink s;
            m.sm = which == 2 ? warp << 16 : warp % 2;
            m.block[0] = warp;
            perf_kernel_open(&s, (perf_kernel_buffer *)x.device);
            for (i = 0; i < 2 * warp; i++) {
                perf_kernel_stamp t = perf_kernel_begin();
                machine_run(30000);
                perf_kernel_end(&s, i, t);
                perf_kernel_instant(&s, i, i);
            }
            if (warp != which)
                perf_kernel_close(&s);
        }
        memory_back(&x);
        snprintf(name, sizeof name, "kernel-%u", which);
        put(folder, name, which ? 3 : 1, x.image, x.bytes);
        memory_free(&x);
    }
}

int main(int argc, char **argv)
{
    static const char *const logs[] = {"jHiccup-2.0.1.logV0.hlog", "jHiccup-2.0.7S.logV2.hlog"};
    static const char *const names[] = {"V0", "V2"};
    perf_hlog_interval iv = PERF_ZERO;
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
        line(argv[2], names[k], p, (size_t)(e - p));
    }
    for (i = 0; i < 300; i++)
        perf_hist_add(&h, rng_magnitude(&r, 30));
    n = perf_hlog_text(text, sizeof text, &h, &iv);
    line(argv[2], "ours", text, n - 1);
    for (k = 0; k < 8; k++) {                   /* programs for ops.c                              */
        unsigned char program[600];
        char          name[32];
        for (i = 0; i < 600; i++)
            program[i] = (unsigned char)(rng_next(&r) & 255);
        snprintf(name, sizeof name, "ops-%d", k);
        put(argv[2], name, k, program, sizeof program);
    }
    kernels(argv[2]);
    return failed;
}
