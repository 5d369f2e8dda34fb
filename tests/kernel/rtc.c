/* Compiles a kernel with timers at run time, as CuPy and PyTorch do, and prints what came out.
 *
 *     rtc nvrtc|hiprtc LIBRARY FOLDER [OPTION]...
 *
 * LIBRARY: libnvrtc.so, or libamdhip64.so, which holds hipRTC.  FOLDER: where perf_kernel.h is; its text is
 * all that the compiler gets.  Needs no device.  Exit status 1: it did not compile; 2: no such library.   */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A user's own idea of uint64_t, before the header, must not get in its way. */
static const char source[] =
    "#if defined(__CUDACC_RTC__)\n"
    "typedef unsigned long uint64_t;\n"
    "#endif\n"
    "#include \"perf_kernel.h\"\n"
    "extern \"C\" __global__ void step(perf_kernel_buffer *buffer, perf_kernel_total *total,\n"
    "                                float *x, int n)\n"
    "{\n"
    "    perf_kernel_sink sink(buffer);\n"
    "    perf_kernel_sum  sum(total);\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        PERF_KERNEL_SCOPE(sink, 1);\n"
    "        PERF_KERNEL_SUM(sum);\n"
    "        x[threadIdx.x] *= 2;\n"
    "    }\n"
    "    PERF_KERNEL_INSTANT(sink, 2, 5u);\n"
    "    perf_kernel_stamp begin = perf_kernel_begin();\n"
    "    perf_kernel_end(&sink, 3, begin);\n"
    "}\n";

static void *library;
static char  prefix[16];

/* The function `name` of the library, its address written to *to.  Ends the program if there is none. */
static void find(void *to, const char *name)
{
    char  full[64];
    void *f;

    snprintf(full, sizeof full, "%s%s", prefix, name);
    f = dlsym(library, full);
    if (!f) {
        fprintf(stderr, "%s: not in the library\n", full);
        exit(2);
    }
    memcpy(to, &f, sizeof f);
}

static char *read_all(const char *folder)
{
    char  path[4096], *text = calloc(1, 1 << 20);
    FILE *f;

    snprintf(path, sizeof path, "%s/perf_kernel.h", folder);
    f = fopen(path, "r");
    if (!f || !text || fread(text, 1, (1 << 20) - 1, f) < 1000) {
        fprintf(stderr, "%s: cannot read it\n", path);
        exit(2);
    }
    fclose(f);
    return text;
}

int main(int argc, char **argv)
{
    int   (*create)(void **, const char *, const char *, int, const char *const *, const char *const *);
    int   (*compile)(void *, int, const char *const *), (*log_size)(void *, size_t *);
    int   (*log_text)(void *, char *), (*code_size)(void *, size_t *), (*code)(void *, char *), status;
    const char *name = "perf_kernel.h", *text;
    void  *program = NULL;
    char  *out;
    size_t bytes = 0;

    if (argc < 4)
        return 2;
    text = read_all(argv[3]);
    snprintf(prefix, sizeof prefix, "%s", argv[1]);
    library = dlopen(argv[2], RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    find(&create, "CreateProgram");
    find(&compile, "CompileProgram");
    find(&log_size, "GetProgramLogSize");
    find(&log_text, "GetProgramLog");
    find(&code_size, strcmp(prefix, "nvrtc") ? "GetCodeSize" : "GetPTXSize");
    find(&code, strcmp(prefix, "nvrtc") ? "GetCode" : "GetPTX");
    status = create(&program, source, "step.cu", 1, &text, &name);
    if (!status)
        status = compile(program, argc - 4, (const char *const *)(void *)(argv + 4));
    if (program && log_size(program, &bytes) == 0 && bytes > 1 && (out = calloc(1, bytes + 1)) != NULL) {
        log_text(program, out);
        fprintf(stderr, "%s\n", out);
        free(out);
    }
    if (status) {
        fprintf(stderr, "status %d\n", status);
        return 1;
    }
    out = code_size(program, &bytes) == 0 ? calloc(1, bytes + 1) : NULL;
    if (!out || code(program, out))
        return 1;
    fwrite(out, 1, bytes, stdout);
    return 0;
}
