/* read_json.h - our own results, Google Benchmark, hyperfine and pyperf.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_READ_JSON_H
#define PERF_TOOLS_READ_JSON_H

#include "json.h"
#include "perf_saved.h"

/* ---- perf_results, our own: docs/formats.md ---- */

/* What an entry says of its series besides the values. */
PERF_FN void json_result_head_(const json_t *object, const char *unit, ab_series *series)
{
    const double ns = ab_unit_ns(unit),
                 ended = json_number_value(json_object_get(object, "failed"));
    double       step = json_number_value(json_object_get(object, "step"));

    step *= ns > 0.0 ? ns : 1.0;
    if (step > series->step && perf_is_finite_(step))
        series->step = step;
    if (ended > 0.0 && ended < 1e9)
        series->failed += (size_t)ended;
}

/* Pairs: "baseline" and "candidate".  -1 with a message. */
PERF_FN int json_result_pairs_(ab_json *json, json_t *object, ab_series *series, ab_reading reading)
{
    json_t *base = json_member_(json, object, "baseline", JSON_ARRAY);
    json_t *cand = base ? json_member_(json, object, "candidate", JSON_ARRAY) : NULL;
    int     failed;

    if (!cand)
        return -1;
    if (json_array_size(base) != json_array_size(cand))
        return json_fail_(json, "\"baseline\" and \"candidate\" differ in length: no pairs", NULL);
    series->design = AB_PAIRS;
    series->same_order |= !strcmp(json_text_(object, "design", ""), "separate");
    json_in_(json, "baseline", 0);
    failed = json_list_(json, series, reading, base, cand);
    json_out_(json);
    return failed;
}

/* Single values: "samples".  -1 with a message. */
PERF_FN int json_result_samples_(ab_json *json, json_t *object, ab_series *series,
                                 ab_reading reading)
{
    json_t *samples = json_member_(json, object, "samples", JSON_ARRAY);
    int     failed;

    if (!samples)
        return -1;
    series->design = !strcmp(json_text_(object, "design", ""), "random") ? AB_RANDOM : AB_SEPARATE;
    json_in_(json, "samples", 0);
    failed = json_list_(json, series, reading, samples, NULL);
    json_out_(json);
    return failed;
}

/* Notes the mark of an entry with its run, which is the last one. */
PERF_FN void json_result_level_(const json_t *object, ab_series *series)
{
    const char *level = json_text_(object, "level", "");

    if (!series->runs)
        return;
    if (!strcmp(level, "rejected"))
        series->run[series->runs - 1].level = PERF_LEVEL_REJECTED_;
    else if (!strcmp(level, "past"))
        series->run[series->runs - 1].level = PERF_LEVEL_PAST_;
    else if (!strcmp(level, "undecided"))
        series->run[series->runs - 1].level = PERF_LEVEL_UNDECIDED_;
}

/* A count of an iteration; one below 0.01 is taken for that, as in a baseline: a ratio needs one. */
PERF_FN json_t *json_count_(json_t *value)
{
    if (json_is_number(value) && json_number_value(value) < PERF_COUNT_LEAST_VALUE_)
        return json_real(PERF_COUNT_LEAST_VALUE_);
    return json_incref(value);
}

/* The counter that a rule is about: one value a run, of an A/B loop one of each arm. */
PERF_FN int json_result_counter_(ab_json *json, json_t *object, ab_series *series,
                                 ab_reading reading)
{
    static const char *const arm[] = {"", ", baseline", ", candidate"};
    const int   pairs = json_object_get(object, "samples") == NULL;
    const char *name = json->s->o->counter;
    json_t     *value[3];
    char        key[80], why[120];
    int         k;

    for (k = 0; k < 3; k++) {
        snprintf(key, sizeof key, "%s%s", name, arm[k]);
        value[k] = json_object_get(json_object_get(object, "counters"), key);
    }
    if (!value[pairs] || (pairs && !value[2])) {
        json->s->set->uncounted++;
        snprintf(why, sizeof why, "%s were not counted", name);
        return ab_lacks_at(json->s, series, AB_FAILED, json_where_(json), why);
    }
    series->design = pairs ? AB_PAIRS : AB_SEPARATE;
    reading.unit = name;
    json_in_(json, "counters", 0);
    value[0] = json_count_(value[pairs]);
    value[2] = pairs ? json_count_(value[2]) : NULL;
    k = json_add_(json, series, reading, value[0], value[2]);
    json_decref(value[0]);
    json_decref(value[2]);
    json_out_(json);
    return k;
}

PERF_FN int json_result_(ab_json *json, json_t *object)
{
    const char  *name = json_text_(object, "name", NULL),
                *status = json_text_(object, "status", "");
    const int    pairs = json_object_get(object, "samples") == NULL;
    ab_reading   reading = {NULL, "", 0.0, 1.0};
    const json_t *samples = json_object_get(object, "samples");
    ab_series   *series;
    int          failed, counter;

    reading.unit = json_text_(object, "unit", "");
    counter = json->s->o->counter && ab_unit_kind(reading.unit) == AB_TIME;
    reading.run = json_text_(object, "run", NULL);
    if (!name)
        return json_fail_(json, "expected a text called \"name\" here", NULL);
    if (!counter && ab_unwanted_(json->s, reading.unit))
        return 0;
    series = ab_series_for_(json->s, name, reading.unit);
    if (!counter)
        json_result_head_(object, reading.unit, series);
    if (series->lack != AB_HAS)
        return 0;
    if (*status && strcmp(status, "ok") != 0 && !json_array_size(samples))
        return ab_lacks_at(json->s, series, AB_FAILED, json_where_(json), status);
    if (series->runs && (series->design == AB_PAIRS) != pairs)
        failed = json_fail_(json, "pairs and single values of one benchmark", name);
    else if (counter)
        failed = json_result_counter_(json, object, series, reading) < 0;
    else if (pairs)
        failed = json_result_pairs_(json, object, series, reading);
    else
        failed = json_result_samples_(json, object, series, reading);
    json_result_level_(object, series);
    return failed ? json_refuse_(json, series) : 0;
}

/* When and where the runs of this document were measured; one alone is all of them. */
PERF_FN void json_provenance_(const ab_json *json)
{
    const json_t *runs = json_object_get(json->root, "runs");
    json_t       *which = json_object(), *r;
    size_t        i, k;
    double        t;

    json_array_foreach(runs, i, r)
        if (!json_object_get(which, json_text_(r, "run", "")))
            json_object_set(which, json_text_(r, "run", ""), r);
    for (i = 0; i < json->s->set->n; i++)
        for (k = 0; k < json->s->set->s[i].runs; k++) {
            ab_run     *run = &json->s->set->s[i].run[k];
            const char *machine, *label;
            r = run->id ? json_object_get(which, run->id) : NULL;
            if (!r && json_array_size(runs) == 1)
                r = json_array_get(runs, 0);
            machine = json_text_(r, "machine", NULL);
            t = json_number_value(json_object_get(r, "time"));
            run->time = t > 0.0 && t < 1e12 ? t : run->time;
            if (machine && !run->machine)
                run->machine = ab_copy(machine, strlen(machine));
            label = json_text_(r, "label", NULL);
            if (label && !run->label)
                run->label = ab_copy(label, strlen(label));
        }
    json_decref(which);
}

/* ---- Google Benchmark: one entry a repetition ---- */

/* The counter to read where none is asked for by name. */
PERF_FN const char *json_google_key_(const ab_json *json, const json_t *object)
{
    if (json->s->o->value)
        return json->s->o->value;
    if (json->s->o->counter)
        return json->s->o->counter;
    if (json->s->o->want == AB_MEMORY)
        return "max_bytes_used";
    if (json->s->o->want == AB_RATE)
        return json_object_get(object, "bytes_per_second") ? "bytes_per_second" :
               "items_per_second";
    return "real_time";
}

PERF_FN const char *json_google_unit_(const json_t *object, const char *key)
{
    if (!strcmp(key, "real_time") || !strcmp(key, "cpu_time"))
        return json_text_(object, "time_unit", "ns");
    if (ab_unit_kind(key) == AB_RATE)
        return key[0] == 'b' ? "B/s" : "items/s";
    return !strcmp(key, "max_bytes_used") ? "B" : "";
}

/* The file has a mean of that benchmark: it may have nothing else. */
PERF_FN void json_google_mean_(ab_json *json, ab_series *series)
{
    if (!series->runs && !series->aggregates)
        series->aggregates = json_where_(json) + 1;
}

/* An entry without a measurement: it failed, was skipped, or is derived from others.  1: so it is. */
PERF_FN int json_google_without_(ab_json *json, json_t *object, const char *name)
{
    const int aggregate = !strcmp(json_text_(object, "run_type", "iteration"), "aggregate");
    const int failed = json_is_true(json_object_get(object, "error_occurred"));
    const int skipped = json_is_true(json_object_get(object, "skipped"));
    const int derived = json_object_get(object, "big_o") || json_object_get(object, "rms");

    if (aggregate) {
        json->s->set->aggregates++;
        if (name && !derived && !json->s->o->value && json->s->o->want == AB_TIME)
            json_google_mean_(json, ab_series_of(json->s->set, name));
    } else if (derived && !json_object_get(object, "real_time")) {
        ab_note_at(json->s, json_where_(json), "a fitted complexity, which is no measurement");
    } else if ((failed || skipped) && name) {
        ab_lacks_at(json->s, ab_series_of(json->s->set, name), failed ? AB_FAILED : AB_SKIPPED,
                    json_where_(json),
                    json_text_(object, failed ? "error_message" : "skip_message", ""));
    } else {
        return 0;
    }
    return 1;
}

PERF_FN int json_google_(ab_json *json, json_t *object)
{
    const char *name = json_text_(object, "run_name", json_text_(object, "name", NULL));
    const char *key = json_google_key_(json, object);
    ab_reading  reading = {NULL, "", 0.0, 1.0};
    ab_series  *series;
    json_t     *value;
    int         failed;

    if (json_google_without_(json, object, name))
        return 0;
    if (!name)
        return json_fail_(json, "expected a text called \"name\" here", NULL);
    if (strcmp(key, "real_time") != 0 && !json_object_get(object, key))
        return 0;                                   /* not every benchmark counts the same things */
    series = ab_series_of(json->s->set, name);
    if (series->lack != AB_HAS)
        return 0;
    value = json_object_get(object, key);
    if (!json_is_unwritten_(value))
        value = json_member_(json, object, key, JSON_REAL);
    reading.unit = json_google_unit_(object, key);
    json_in_(json, key, 0);
    failed = !value || json_add_(json, series, reading, value, NULL) < 0;
    json_out_(json);
    return failed ? json_refuse_(json, series) : 0;
}

/* Two digits at `at`, or -1. */
PERF_FN int ab_two_digits_(const char *at)
{
    return ab_is_digit(at[0]) && ab_is_digit(at[1]) ? (at[0] - '0') * 10 + at[1] - '0' : -1;
}

/* Seconds since the epoch of "2026-11-22T06:00:00.5+01:00"; 0: it is no such text. */
PERF_FN double ab_date_(const char *text)
{
    int64_t year, month, days;
    int     d[7], k;

    if (strlen(text) < 19 || text[10] != 'T')
        return 0.0;
    d[0] = ab_two_digits_(text);
    for (k = 1; k < 7; k++)
        d[k] = ab_two_digits_(text + 3 * k - 1);
    for (k = 0; k < 7; k++)
        if (d[k] < 0)
            return 0.0;
    month = (d[2] + 9) % 12;                        /* years that begin with March                */
    year = d[0] * 100 + d[1] - (d[2] < 3);
    days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + d[3] - 719469;
    text += 19;
    text += strcspn(text, "+-");
    k = *text && strlen(text) >= 6 ? (ab_two_digits_(text + 1) * 60 + ab_two_digits_(text + 4)) : 0;
    return (double)days * 86400.0 + d[4] * 3600.0 + (d[5] - (*text == '-' ? -k : k)) * 60.0 + d[6];
}

/* The whole document was measured then and there; 0 and NULL: it does not say. */
PERF_FN void json_all_runs_(const ab_json *json, double time, const char *machine)
{
    size_t i, k;

    for (i = 0; i < json->s->set->n; i++)
        for (k = 0; k < json->s->set->s[i].runs; k++) {
            ab_run *run = &json->s->set->s[i].run[k];
            run->time = time;
            if (machine && !run->machine)
                run->machine = ab_copy(machine, strlen(machine));
        }
}

PERF_FN void json_google_context_(const ab_json *json)
{
    const json_t *context = json_object_get(json->root, "context");

    json_all_runs_(json, ab_date_(json_text_(context, "date", "")),
                   json_text_(context, "host_name", NULL));
}

/* ---- hyperfine: one entry a command ---- */

/* A name that no entry of this document had before: the second one is numbered; to be freed. */
PERF_FN char *json_unique_(ab_json *json, const char *name)
{
    json_int_t n = json_integer_value(json_object_get(json->taken, name)) + 1;
    size_t     size = strlen(name) + 32;
    char      *own = (char *)ab_grow(NULL, size, 1);

    json_object_set_new(json->taken, name, json_integer(n));
    if (n > 1)
        snprintf(own, size, "%s (%lld)", name, (long long)n);
    else
        snprintf(own, size, "%s", name);
    return own;
}

/* Adds " (key=value, ...)" of an object of parameters to a name, which may move.  Texts and numbers
 * as they are.                                                                                   */
PERF_FN char *json_parameters_(char *name, json_t *parameters)
{
    const char *key;
    json_t     *v;
    char       *value;
    size_t      len = strlen(name), n = 0, size;

    json_object_foreach(parameters, key, v) {
        value = json_is_string(v) ? ab_copy(json_string_value(v), json_string_length(v))
                                  : json_dumps(v, JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
        size = len + strlen(key) + (value ? strlen(value) : 0) + 8;
        name = (char *)ab_grow(name, size, 1);
        len += (size_t)snprintf(name + len, size - len, "%s%s=%s", n++ ? ", " : " (", key,
                                value ? value : "");
        free(value);
    }
    if (n)
        memcpy(name + len, ")", 2);
    return name;
}

/* How many runs of a command ended with a failure; null: by a signal. */
PERF_FN size_t json_failures_(const json_t *codes)
{
    json_t *code;
    size_t  i, n = 0;
    double  x;

    json_array_foreach(codes, i, code) {
        x = json_number_value(code);
        n += json_is_null(code) || x > 0.0 || x < 0.0;
    }
    return n;
}

PERF_FN int json_hyperfine_(ab_json *json, json_t *object)
{
    const char *command = json_text_(object, "command", "");
    ab_reading  reading = {NULL, "s", 0.0, 1.0};
    char       *name = ab_copy(command, strlen(command)), *own;
    ab_series  *series;
    json_t     *times;
    int         failed;

    if (!json->s->o->value && ab_unwanted_(json->s, "s")) {
        free(name);
        return 0;
    }
    name = json_parameters_(name, json_object_get(object, "parameters"));
    own = json_unique_(json, name);
    series = ab_series_of(json->s->set, own);
    free(name);
    free(own);
    times = json_member_(json, object, "times", JSON_ARRAY);
    series->failed += json_failures_(json_object_get(object, "exit_codes"));
    json_in_(json, "times", 0);
    failed = !times || json_list_(json, series, reading, times, NULL) < 0;
    json_out_(json);
    return failed ? json_refuse_(json, series) : 0;
}

/* ---- pyperf: worker processes, each with a few values; those that calibrate have none ---- */

/* The values of worker number i.  -1 with a message. */
PERF_FN int json_pyperf_run_(ab_json *json, json_t *run, size_t i, ab_series *series,
                             ab_reading reading)
{
    json_t *values = json_object_get(run, "values");
    char    id[32];
    int     failed;

    if (!values)
        return 0;
    snprintf(id, sizeof id, "%zu", i + 1);
    reading.run = json->s->o->run ? json->s->o->run : id;
    json_in_(json, "values", 0);
    failed = json_is_array(values) ? json_list_(json, series, reading, values, NULL)
                                   : json_fail_(json, "expected a list", NULL);
    json_out_(json);
    return failed;
}

PERF_FN const char *json_pyperf_unit_(const char *unit)
{
    if (!strcmp(unit, "second"))
        return "s";
    if (!strcmp(unit, "byte"))
        return "B";
    return !strcmp(unit, "integer") ? "" : unit;
}

PERF_FN int json_pyperf_(ab_json *json, json_t *object)
{
    json_t     *meta = json_object_get(object, "metadata"), *runs;
    json_t     *common = json_object_get(json->root, "metadata");
    const char *name = json_text_(meta, "name", json_text_(common, "name", ""));
    ab_reading  reading = {NULL, "", 0.0, 1.0};
    ab_series  *series;
    size_t      i;
    int         failed = 0;

    reading.unit =
        json_pyperf_unit_(json_text_(meta, "unit", json_text_(common, "unit", "second")));
    if (ab_unwanted_(json->s, reading.unit))
        return 0;
    series = ab_series_for_(json->s, name, reading.unit);
    series->processes = 1;
    runs = json_member_(json, object, "runs", JSON_ARRAY);
    json_in_(json, "runs", 0);
    for (i = 0; i < json_array_size(runs) && !failed; i++) {
        json_in_(json, NULL, i);
        failed = json_pyperf_run_(json, json_array_get(runs, i), i, series, reading);
        json_out_(json);
    }
    json_out_(json);
    return failed || !runs ? json_refuse_(json, series) : 0;
}

#endif
