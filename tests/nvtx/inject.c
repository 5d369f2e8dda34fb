/* A tool as NVTX sees one: a library that NVTX_INJECTION64_PATH names.  Writes each call it gets as
 * one line of tabs to the file $NVTX_LOG:
 *     thread  call  domain  text  category  color  payload
 * text: "r:name" for a registered string, "a:name" for a plain one.  NVTX_TOOL=bare takes ranges
 * only, as a tool that knows neither domains nor registered strings; NVTX_TOOL=marks takes marks only;
 * NVTX_TOOL=deaf takes nothing.  Calls in_the_tool() of the program, if it has one: it is instrumented itself. */
#define _GNU_SOURCE 1                           /* RTLD_DEFAULT */
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static FILE           *out;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char           *domain[16], *string[4096];
static unsigned        domains, strings;
static unsigned long   starts;

static void say(const char *format, ...)
{
    va_list a;

    va_start(a, format);
    fprintf(out, "%ld\t", (long)syscall(SYS_gettid));
    vfprintf(out, format, a);
    fputc('\n', out);
    va_end(a);
}

static void work(void)
{
    static void (*in_the_tool)(void);
    static int    asked;

    if (!asked++)
        *(void **)&in_the_tool = dlsym(RTLD_DEFAULT, "in_the_tool");
    if (in_the_tool)
        in_the_tool();
}

static const char *name_of(nvtxDomainHandle_t d)
{
    size_t i = (size_t)(uintptr_t)d - 0x1000;

    return !d ? "-" : i < domains ? domain[i] : "WILD DOMAIN";
}

static void event(const char *call, nvtxDomainHandle_t d, const nvtxEventAttributes_t *a,
                  unsigned long id)
{
    char        text[600], payload[64] = "-";
    size_t      i = (size_t)(uintptr_t)a->message.registered - 0x20000;

    if (a->version != NVTX_VERSION || a->size != sizeof *a || a->colorType != NVTX_COLOR_ARGB)
        say("BAD ATTRIBUTES");
    if (a->messageType == NVTX_MESSAGE_TYPE_REGISTERED)
        snprintf(text, sizeof text, "r:%s", i < strings ? string[i] : "WILD STRING");
    else
        snprintf(text, sizeof text, "a:%s", a->message.ascii);
    if (a->payloadType == NVTX_PAYLOAD_TYPE_UNSIGNED_INT64)
        snprintf(payload, sizeof payload, "u%llu", (unsigned long long)a->payload.ullValue);
    else if (a->payloadType == NVTX_PAYLOAD_TYPE_DOUBLE)
        snprintf(payload, sizeof payload, "d%.17g", a->payload.dValue);
    pthread_mutex_lock(&lock);
    say("%s\t%s\t%s\t%u\t%08x\t%s\t%lu", call, name_of(d), text, a->category, a->color, payload, id);
    pthread_mutex_unlock(&lock);
}

static int NVTX_API push(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a)
{
    event("push", d, a, 0);
    work();
    return 0;
}

static int NVTX_API pop(nvtxDomainHandle_t d)
{
    pthread_mutex_lock(&lock);
    say("pop\t%s", name_of(d));
    pthread_mutex_unlock(&lock);
    work();
    return 0;
}

static nvtxRangeId_t NVTX_API start(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a)
{
    unsigned long id;

    pthread_mutex_lock(&lock);
    id = starts++;                              /* 0 is an id like any other                      */
    pthread_mutex_unlock(&lock);
    event("start", d, a, id);
    work();
    return id;
}

static void NVTX_API end(nvtxDomainHandle_t d, nvtxRangeId_t id)
{
    pthread_mutex_lock(&lock);
    say("end\t%s\t%lu", name_of(d), (unsigned long)id);
    pthread_mutex_unlock(&lock);
    work();
}

static void NVTX_API mark(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a)
{
    event("mark", d, a, 0);
    work();
}

static nvtxDomainHandle_t NVTX_API create(const char *name)
{
    nvtxDomainHandle_t d;

    pthread_mutex_lock(&lock);
    domain[domains] = strdup(name);
    d = (nvtxDomainHandle_t)(uintptr_t)(0x1000 + domains++);
    say("domain\t%s", name);
    pthread_mutex_unlock(&lock);
    return d;
}

static nvtxStringHandle_t NVTX_API reg(nvtxDomainHandle_t d, const char *name)
{
    nvtxStringHandle_t s;

    pthread_mutex_lock(&lock);
    string[strings] = strdup(name);
    s = (nvtxStringHandle_t)(uintptr_t)(0x20000 + strings++);
    say("register\t%s\t%s", name_of(d), name);
    pthread_mutex_unlock(&lock);
    work();
    return s;
}

static void NVTX_API category(nvtxDomainHandle_t d, uint32_t id, const char *name)
{
    pthread_mutex_lock(&lock);
    say("category\t%s\t%u\t%s", name_of(d), id, name);
    pthread_mutex_unlock(&lock);
}

static void NVTX_API stream(void *handle, const char *name)
{
    (void)handle;
    pthread_mutex_lock(&lock);
    say("stream\t%s", name);
    pthread_mutex_unlock(&lock);
}

static void NVTX_API thread(uint32_t id, const char *name)
{
    pthread_mutex_lock(&lock);
    say("thread\t%u\t%s", id, name);
    pthread_mutex_unlock(&lock);
    work();
}

__attribute__((destructor)) static void finish(void)
{
    unsigned i;

    for (i = 0; i < strings; i++)
        free(string[i]);
    for (i = 0; i < domains; i++)
        free(domain[i]);
    if (out)
        fclose(out);
}

__attribute__((visibility("default"))) int NVTX_API InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get);

int NVTX_API InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get)
{
    const NvtxExportTableCallbacks *cb = (const NvtxExportTableCallbacks *)get(NVTX_ETID_CALLBACKS);
    const char                     *tool = getenv("NVTX_TOOL"), *log = getenv("NVTX_LOG");
    NvtxFunctionTable               t = 0;
    unsigned                        n = 0;

    if (!out)
        out = fopen(log ? log : "/dev/null", "w");
    say("attach");
    work();
    if (!cb || !out)
        return 0;
    if (tool && !strcmp(tool, "deaf"))
        return 1;
#define TAKE(id, f) (*t[id] = (NvtxFunctionPointer)(f))
    cb->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &t, &n);
    if (tool && !strcmp(tool, "marks")) {
        TAKE(NVTX_CBID_CORE2_DomainMarkEx, mark);
        return 1;
    }
    TAKE(NVTX_CBID_CORE2_DomainRangePushEx, push);
    TAKE(NVTX_CBID_CORE2_DomainRangePop, pop);
    if (tool && !strcmp(tool, "bare"))
        return 1;
    TAKE(NVTX_CBID_CORE2_DomainRangeStartEx, start);
    TAKE(NVTX_CBID_CORE2_DomainRangeEnd, end);
    TAKE(NVTX_CBID_CORE2_DomainMarkEx, mark);
    TAKE(NVTX_CBID_CORE2_DomainCreateA, create);
    TAKE(NVTX_CBID_CORE2_DomainRegisterStringA, reg);
    TAKE(NVTX_CBID_CORE2_DomainNameCategoryA, category);
    cb->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &t, &n);
    TAKE(NVTX_CBID_CORE_NameOsThreadA, thread);
    cb->GetModuleFunctionTable(NVTX_CB_MODULE_CUDA, &t, &n);
    TAKE(NVTX_CBID_CUDA_NameCuStreamA, stream);
    return 1;
}
