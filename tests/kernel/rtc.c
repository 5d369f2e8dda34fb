/* Compiles a kernel with timers at run time, as CuPy and PyTorch do, and prints what came out.
 *
 *     rtc nvrtc|hiprtc PROGRAM LIBRARY FOLDER [OPTION]...
 *
 * PROGRAM: plain; before or behind, with integer types of its own there; std, with <cuda/std/cstdint>
 * behind the header, as CuPy and JAX have it.  LIBRARY: libnvrtc.so, or libamdhip64.so, which holds
 * hipRTC.  FOLDER: where perf_kernel.h is; its text is all that the compiler gets.  Needs no device.
 * Exit status 1: it did not compile; 2: no such library; 3: the compiler said something.           */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In front of the header and behind it: nothing, or what a program may have there. */
static const struct {
    const char *name, *before, *behind;
} program_of[] = {
    {"plain", "", ""},
    {"before", "typedef unsigned long uint64_t;\ntypedef unsigned int uint32_t;\n", ""},
    {"behind", "", "typedef unsigned long uint64_t;\ntypedef unsigned int uint32_t;\n"},
    {"std", "", "#include <cuda/std/cstdint>\n__device__ cuda::std::uint64_t wide;\n"},
};

static const char source[] =
    "%s"
    "#include \"perf_kernel.h\"\n"
    "%s"
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
    char  *out, full[2048] = "";
    size_t bytes = 0, i;
    int    said = 0;

    if (argc < 5)
        return 2;
    for (i = 0; i < sizeof program_of / sizeof *program_of; i++)
        if (!strcmp(argv[2], program_of[i].name))
            snprintf(full, sizeof full, source, program_of[i].before, program_of[i].behind);
    text = read_all(argv[4]);
    snprintf(prefix, sizeof prefix, "%s", argv[1]);
    library = dlopen(argv[3], RTLD_NOW);
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
    status = create(&program, full, "step.cu", 1, &text, &name);
    if (!status)
        status = compile(program, argc - 5, (const char *const *)(void *)(argv + 5));
    if (program && log_size(program, &bytes) == 0 && bytes > 1 && (out = calloc(1, bytes + 1)) != NULL) {
        log_text(program, out);
        fprintf(stderr, "%s\n", out);
        said = *out != '\0';
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
    return said ? 3 : 0;
}
