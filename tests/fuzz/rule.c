/* Fuzz target: rules as text ("speedup >= 1.3x on p95").  What is accepted asks for something: its
 * threshold is a ratio above 0; what is refused leaves the rule as it was.                         */
#include "perf_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../inside.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char       *text = (char *)malloc(size + 1);
    perf_rule   rule, was;
    perf_status status;
    double      limit = 1.0;

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    memset(&rule, 0x5a, sizeof rule);
    was = rule;
    status = perf_rule_parse(text, &rule);
    if (status == PERF_OK)
        limit = rule_threshold(&rule);
    if (status == PERF_OK ? !(limit > 0.0 && isfinite(limit))
                          : status != PERF_EFORMAT || memcmp(&was, &rule, sizeof rule))
        abort();
    free(text);
    return 0;
}
