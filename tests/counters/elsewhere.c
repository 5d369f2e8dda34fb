/* Counters on a system that has none (the headers are told so): a status and a sentence, in text and
 * reports, by a call and by PERF_COUNTERS=1.  Called with a word, it is such a program.           */
#define _GNU_SOURCE
#include "perf.h"
#include "perf_counters.h"
#include "check.h"
#include <stdlib.h>
#include <string.h>

static const char sentence[] = "no instructions, cycles: only 64-bit Linux tells it";
static char       text[20000];

static int times(const char *in, const char *what)
{
    int n = 0;

    for (in = strstr(in, what); in; in = strstr(in + 1, what))
        n++;
    return n;
}

static void by_call(void)
{
    perf_counters_opts opts = PERF_ZERO;
    perf_report_opts   json = PERF_ZERO;
    perf_counters      c;
    int                i;

    opts.scopes = 1;
    for (i = 0; i < 2; i++) {
        c = perf_counters_open(&opts);
        CHECK(perf_counters_start(&c) == PERF_ENODATA, "a status");
        {
            PERF_SCOPE("one");
        }
        (void)perf_counters_stop(&c);
        CHECK(strstr(perf_counters_text(&c), "; counters of scopes: no instructions, cycles: only 64-bit"), "%s", c.text);
        perf_counters_close(&c);
    }
    (void)perf_report_text(text, sizeof text, NULL);
    CHECK(times(text, "\nnote: counters of scopes: ") == 1 && strstr(text, sentence), "%s", text);
    json.view = PERF_VIEW_JSON;
    (void)perf_report_text(text, sizeof text, &json);
    CHECK(times(text, "\"counters\":[],\"counters_missing\":\"") == 1 && strstr(text, sentence), "%s", text);
}

static void by_environment(const char *self)
{
    char  command[4200];
    FILE *pipe;

    (void)snprintf(command, sizeof command, "PERF_COUNTERS=1 PERF_REPORT=1 '%s' child 2>&1", self);
    pipe = popen(command, "r");
    text[pipe ? fread(text, 1, sizeof text - 1, pipe) : 0] = '\0';
    CHECK(pipe && !pclose(pipe), "status");
    CHECK(times(text, "\nnote: counters of scopes: ") == 1 && strstr(text, sentence), "%s", text);
    CHECK(!strstr(text, "PERF_COUNTERS is set"), "nor is the word unknown: %s", text);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        PERF_SCOPE("child");
        return 0;
    }
    by_environment(argv[0]);
    by_call();
    return check_done();
}
