/* top.h - perf-ab top: the scopes of a running program, again and again.
 *
 *     perf-ab top server                       q ends it, ? names the keys
 *     perf-ab top 4711 --once                  one interval as text
 *
 * What is shown is the difference of two readings.  The program is neither stopped nor changed.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_TOP_H
#define PERF_TOOLS_TOP_H

#include "look.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>

typedef enum top_span { TOP_INTERVAL, TOP_SINCE_RESET, TOP_SINCE_START } top_span;

typedef struct top_watch {              /* a thread that was seen in the same scope before        */
    uint64_t at, inner, calls, ns;      /* ns: when it was first seen so                          */
} top_watch;

typedef struct top_state {
    look_opts     opts;
    look_target   target;
    look_program  program;
    look_names    names;
    look_reading  now, before, base;    /* base: the one of the last `r`                          */
    int           has_now, has_before, has_base;
    double        cpu_now, cpu_before, cpu_base;
    top_span      span;
    int           paused, help, ended;
    uint64_t      started;              /* of the process, so that another one is noticed         */
    top_watch    *watch;
    size_t        watches;
    int           width, height;
} top_state;

static struct termios        top_screen;        /* as it was before                               */
static int                   top_raw;           /* 1: the terminal is ours                        */
static volatile sig_atomic_t top_told;          /* 1: a signal has asked for the end              */

/* ---- the terminal ---- */

static void top_on_signal(int signal)
{
    (void)signal;
    top_told = 1;
}

/* Gives the terminal back as it was. */
static void top_restore(void)
{
    static const char leave[] = "\033[?25h\033[?1049l";

    if (!top_raw)
        return;
    top_raw = 0;
    (void)!write(1, leave, sizeof leave - 1);
    (void)tcsetattr(0, TCSAFLUSH, &top_screen);
}

/* Takes the terminal; 0: there is none. */
PERF_FN int top_take(void)
{
    static const char enter[] = "\033[?1049h\033[?25l";
    struct termios    raw;
    struct sigaction  action;

    if (!isatty(0) || !isatty(1) || tcgetattr(0, &top_screen))
        return 0;
    raw = top_screen;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    memset(&action, 0, sizeof action);
    action.sa_handler = top_on_signal;
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGHUP, &action, NULL);
    (void)sigaction(SIGINT, &action, NULL);
    if (tcsetattr(0, TCSAFLUSH, &raw))
        return 0;
    top_raw = 1;
    (void)atexit(top_restore);
    (void)!write(1, enter, sizeof enter - 1);
    return 1;
}

PERF_FN void top_size(top_state *top)
{
    struct winsize size;

    memset(&size, 0, sizeof size);
    if (top_raw && !ioctl(1, TIOCGWINSZ, &size) && size.ws_col && size.ws_row) {
        top->width = size.ws_col < 60 ? 60 : size.ws_col;
        top->height = size.ws_row < 15 ? 15 : size.ws_row;
    } else {
        top->width = top->opts.width;
        top->height = 0;
    }
}

/* ---- readings ---- */

/* All calls that a thread has ended. */
PERF_FN uint64_t top_calls(const look_reading *reading, const look_thread *thread)
{
    uint64_t calls = 0;
    size_t   i;

    for (i = thread->first; i < thread->first + thread->cells; i++)
        calls += reading->cell[i].count;
    return calls;
}

/* Remembers since when each thread has been seen in the same call. */
PERF_FN void top_look_on(top_state *top)
{
    const look_reading *reading = &top->now;
    top_watch          *watch = (top_watch *)ab_grow(NULL, reading->threads, sizeof *watch);
    size_t              i, j;

    for (i = 0; i < reading->threads; i++) {
        const look_thread *thread = &reading->thread[i];
        top_watch          w;
        memset(&w, 0, sizeof w);
        w.at = thread->at;
        w.inner = thread->open.n ? thread->open.cell[thread->open.n - 1] : 0;
        w.calls = top_calls(reading, thread);
        w.ns = reading->ns;
        for (j = 0; j < top->watches; j++)
            if (top->watch[j].at == w.at && top->watch[j].inner == w.inner &&
                top->watch[j].calls == w.calls)
                w.ns = top->watch[j].ns;
        watch[i] = w;
    }
    free(top->watch);
    top->watch = watch;
    top->watches = reading->threads;
}

/* Finds the marks anew: at the start, after an exec, before the first mark.  An exit status. */
PERF_FN int top_find(top_state *top)
{
    look_names_free(&top->names);
    if (top->has_before)
        look_reading_free(&top->before);
    if (top->has_now)
        look_reading_free(&top->now);
    if (top->has_base)
        look_reading_free(&top->base);
    top->has_before = top->has_now = top->has_base = 0;
    if (!look_read_maps(&top->target) || !look_find(&top->target, &top->program))
        return look_say("%s", top->target.error);
    return 0;
}

/* Takes a reading.  An exit status, -1: the process has ended. */
PERF_FN int top_read(top_state *top)
{
    look_reading next;
    uint32_t     size = 0;
    int          status;

    if (look_started(top->target.pid) != top->started)
        return -1;
    if (top->program.registry &&
        (!look_fetch_one(&top->target, top->program.registry, &size, sizeof size) ||
         size != top->program.layout.at[LOOK_REGISTRY_SIZE])) {
        look_proc_text(top->target.pid, "comm", top->target.program, sizeof top->target.program);
        status = top_find(top);                 /* it runs another program now                    */
        if (status)
            return look_started(top->target.pid) == top->started ? status : -1;
    }
    if (!top->program.registry) {
        status = top_find(top);
        if (status || !top->program.registry)
            return status;
    }
    if (!look_read(&top->target, &top->program, &top->names, &next)) {
        look_reading_free(&next);
        return -1;
    }
    if (top->has_before)
        look_reading_free(&top->before);
    top->before = top->now;
    top->cpu_before = top->cpu_now;
    top->has_before = top->has_now;
    top->now = next;
    top->has_now = 1;
    top->cpu_now = look_usage_of(&top->target).cpu_ns;
    look_since_when(&top->target, &top->program, &top->now);
    top_look_on(top);
    return 0;
}

/* Makes the reading of now the one from which on is counted. */
PERF_FN void top_reset(top_state *top)
{
    if (top->has_base)
        look_reading_free(&top->base);
    top->base = top->now;                       /* its memory is not `now`'s any more             */
    top->cpu_base = top->cpu_now;
    top->has_base = top->has_now;
    top->has_now = 0;
    memset(&top->now, 0, sizeof top->now);
    top->span = TOP_SINCE_RESET;
}

/* ---- the picture ---- */

/* From which reading on is counted; NULL: the start of the program. */
PERF_FN const look_reading *top_from(const top_state *top)
{
    if (top->span == TOP_SINCE_RESET && top->has_base)
        return &top->base;
    return top->span == TOP_INTERVAL && top->has_before ? &top->before : NULL;
}

PERF_FN double top_seconds(const top_state *top)
{
    const look_reading *from = top_from(top);
    const uint64_t      since = from ? from->ns : top->now.made_ns;

    return top->now.ns > since ? (double)(top->now.ns - since) * 1e-9 : 0;
}

PERF_FN void top_put_head(perf_out_ *out, const top_state *top, const look_report *rep)
{
    const look_usage usage = look_usage_of(&top->target);
    const double     seconds = top_seconds(top);
    const double     base = top->span == TOP_SINCE_RESET ? top->cpu_base
                            : (double)top->now.spent_cpu;
    const double     cpu = top->cpu_now - (top->span == TOP_INTERVAL ? top->cpu_before : base);
    size_t           i, alive = 0;

    for (i = 0; i < top->now.threads; i++)
        alive += !top->now.thread[i].gone && !top->now.thread[i].foreign;
    perf_putf_(out, "%.40s (%.0f): %.0f thread%s, memory ", top->target.program,
               (double)top->target.pid, (double)alive, alive == 1 ? "" : "s");
    perf_put_bytes_(out, usage.resident);
    if (usage.known && seconds > 0)
        perf_putf_(out, ", processor %.0f %%", cpu / seconds * 1e-7);
    perf_put_(out, "\n");
    if (top->span == TOP_INTERVAL)
        perf_putf_(out, "last %.1f s", seconds);
    else if (top->span == TOP_SINCE_RESET)
        perf_putf_(out, "since the reset, %.1f s", seconds);
    else
        perf_putf_(out, "since the start, %.1f s", seconds);
    if (top->opts.thread)
        perf_putf_(out, ", thread %.0f", (double)top->opts.thread);
    perf_putf_(out, top->paused ? ", paused" : "");
    if (top->ended)
        perf_put_(out, ", the process has ended");
    if (top_raw)
        perf_put_(out, "   (? for the keys)");
    perf_put_(out, "\n");
    (void)rep;
}

/* How long a thread has been in its innermost scope, ns; *least 1: at least so long. */
PERF_FN double top_open_ns(const top_state *top, size_t i, int *least)
{
    const look_thread *thread = &top->now.thread[i];
    const double       ns = look_open_ns(&top->now, &thread->open, top->now.ticks);

    *least = ns < 0;
    if (ns >= 0 || i >= top->watches)
        return ns;
    return (double)(top->now.ns - top->watch[i].ns);
}

/* The threads that have been in one scope for the longest time. */
PERF_FN int top_put_open(perf_out_ *out, const top_state *top, int rows)
{
    char *shown = (char *)ab_grow(NULL, top->now.threads + 1, 1);
    int   n, least;

    memset(shown, 0, top->now.threads + 1);
    for (n = 0; n < rows; n++) {
        double most = -1;
        size_t i, best = top->now.threads;
        for (i = 0; i < top->now.threads; i++) {
            const look_thread *thread = &top->now.thread[i];
            const double       ns = top_open_ns(top, i, &least);
            if (shown[i] || !thread->open.n || thread->reset || thread->gone || ns <= most)
                continue;
            if (top->opts.thread && thread->id != (uint64_t)top->opts.thread)
                continue;
            most = ns;
            best = i;
        }
        if (best == top->now.threads)
            break;
        shown[best] = 1;
        most = top_open_ns(top, best, &least);
        perf_put_(out, "open");
        if (most > 0) {
            perf_put_(out, " for ");
            perf_put_ns_(out, most);
            perf_put_(out, least ? " and more" : "");
        }
        perf_put_(out, ": ");
        look_put_chain(out, &top->names, &top->now.thread[best].open,
                       top->width > 60 ? (size_t)top->width - 50 : top->width ? 20 : 0);
        perf_put_(out, " (");
        look_put_thread_name(out, &top->now.thread[best]);
        perf_put_(out, ")\n");
    }
    free(shown);
    return n;
}

static const char top_keys[] =
    "s t c m x 9 n   sort by self, total, calls, mean, max, p99, name\n"
    "v               tree of calls, or table\n"
    "h               the next thread alone, then all of them again\n"
    "i               the last interval, since the reset, since the start\n"
    "r               count from here on\n"
    "p or blank      pause, and go on\n"
    "+ -             a longer or a shorter interval\n"
    "q               quit\n";

PERF_FN void top_put(perf_out_ *out, const top_state *top)
{
    const int64_t thread = look_thread_of(&top->now, top->opts.thread);
    look_report   rep;
    double        seconds;
    int           rows = top->height ? top->height - 4 : -1, open;

    if (!top->has_now || !top->now.threads) {
        perf_putf_(out, "%.40s (%.0f) has not recorded anything yet\n", top->target.program,
                   (double)top->target.pid);
        return;
    }
    rep = look_count(&top->now, top_from(top), &top->names, &top->program.layout, thread);
    look_sort_rows(&rep, top->opts.sort);
    top_put_head(out, top, &rep);
    if (top->help)
        perf_put_(out, top_keys);
    open = top_put_open(out, top, top->height ? top->height / 5 : 20);
    seconds = top_seconds(top);
    if (rows >= 0)
        rows = rows - open - (top->help ? 8 : 0) > 3 ? rows - open - (top->help ? 8 : 0) : 3;
    if (top->opts.rows)
        rows = top->opts.rows;
    if (top->opts.tree)
        look_put_tree(out, &rep, top->width, rows);
    else
        look_put_table(out, &rep, top->width, rows, seconds > 0 ? seconds : 1e-9, thread);
    if (!top->height) {
        look_put_waits(out, &rep);
        look_put_counters(out, &rep, top->width);
        look_put_losses(out, &top->now, &top->names, 0);
    } else if (!top->opts.tree) {
        look_put_counters(out, &rep, top->width); /* below, if there is room                      */
    }
    look_report_free(&rep);
}

/* Puts the text on the screen, each line cut to its width, as many as there are. */
PERF_FN void top_show(const top_state *top, char *text)
{
    perf_out_ out;
    char     *line = text, *end;
    int       n;

    memset(&out, 0, sizeof out);
    out.grows = 1;
    perf_put_(&out, "\033[H");
    for (n = 0; *line && n < top->height - 1; n++, line = end) {
        end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        else
            end = line + strlen(line);
        (void)perf_put_cut_(&out, line, (size_t)top->width);
        perf_put_(&out, "\033[K\r\n");
    }
    perf_put_(&out, "\033[J");
    if (out.p)
        (void)!write(1, out.p, out.len);
    PERF_FREE(out.p);
}

PERF_FN int top_write(const top_state *top)
{
    perf_out_ out;
    int       status = 0;

    memset(&out, 0, sizeof out);
    out.grows = 1;
    if (top->opts.json && top->has_now) {
        look_report rep = look_count(&top->now, top_from(top), &top->names, &top->program.layout,
                                     look_thread_of(&top->now, top->opts.thread));
        look_sort_rows(&rep, top->opts.sort);
        look_put_json(&out, &top->target, &rep, top->now.ticks, top_seconds(top),
                      top->opts.rows ? top->opts.rows : -1);
        look_report_free(&rep);
    } else if (!top->opts.json) {
        top_put(&out, top);
    }
    if (top_raw && out.p)
        top_show(top, out.p);
    else if (out.p && (fwrite(out.p, 1, out.len, stdout) != out.len || fflush(stdout)))
        status = look_say("standard output cannot be written");
    PERF_FREE(out.p);
    return status;
}

/* ---- keys ---- */

/* The thread behind the one that is shown; 0: all of them. */
PERF_FN long top_next_thread(const top_state *top)
{
    const int64_t at = look_thread_of(&top->now, top->opts.thread);
    size_t        i = at < 0 ? 0 : (size_t)at + 1;

    while (i < top->now.threads && (top->now.thread[i].gone || !top->now.thread[i].cells))
        i++;
    return i < top->now.threads ? (long)top->now.thread[i].id : 0;
}

/* Does what a key says; 0: the end. */
PERF_FN int top_key(top_state *top, char key)
{
    static const char sorts[] = "stcmx9n";
    static const look_sort by[] = {LOOK_BY_SELF, LOOK_BY_TOTAL, LOOK_BY_CALLS, LOOK_BY_MEAN,
                                   LOOK_BY_MAX, LOOK_BY_P99, LOOK_BY_NAME};
    const char *sort = key ? strchr(sorts, key) : NULL;

    if (sort)
        top->opts.sort = by[sort - sorts];
    switch (key) {
    case 'q':
    case 'Q':
    case 3:                                     /* Ctrl-C                                         */
        return 0;
    case 'v': top->opts.tree = !top->opts.tree; break;
    case '?': top->help = !top->help; break;
    case ' ':
    case 'p': top->paused = !top->paused; break;
    case 'r': top_reset(top); break;
    case 'h': top->opts.thread = top_next_thread(top); break;
    case '+': top->opts.interval *= top->opts.interval < 1e4 ? 2 : 1; break;
    case '-': top->opts.interval /= top->opts.interval > 0.002 ? 2 : 1; break;
    case 'i':
        top->span = (top_span)((top->span + 1) % 3);
        if (top->span == TOP_SINCE_RESET && !top->has_base)
            top->span = TOP_SINCE_START;
        break;
    default: break;
    }
    return 1;
}

/* Waits for the next reading, or for a key.  0: the end. */
PERF_FN int top_wait(top_state *top)
{
    const uint64_t until = perf_now() + (uint64_t)(top->opts.interval * 1e9);
    struct pollfd  keys = {0, POLLIN, 0};
    uint64_t       now;
    char           key[16];
    ssize_t        n;

    while (!top_told && ((now = perf_now()) < until || top->paused)) {
        const uint64_t left = now < until ? until - now : 200000000;
        const int      ms = left > 200000000 ? 200 : (int)(left / 1000000);
        if (!top_raw) {
            struct timespec pause;
            pause.tv_sec = (time_t)(left / 1000000000);
            pause.tv_nsec = (long)(left % 1000000000);
            (void)nanosleep(&pause, NULL);
            continue;
        }
        if (poll(&keys, 1, ms ? ms : 1) <= 0) {
            const int width = top->width, height = top->height;
            top_size(top);
            if (width != top->width || height != top->height)
                (void)top_write(top);
            continue;
        }
        n = read(0, key, sizeof key);
        if (n <= 0)
            return 0;
        if (key[0] == 27 && n > 1)              /* an arrow, or another key of several bytes      */
            continue;
        if (!top_key(top, key[0]))
            return 0;
        if (!top->has_now)
            return 1;                           /* a reset: the next reading at once              */
        (void)top_write(top);
    }
    return !top_told;
}

/* ---- the whole ---- */

PERF_FN void top_free(top_state *top)
{
    look_reading_free(&top->now);
    look_reading_free(&top->before);
    look_reading_free(&top->base);
    look_names_free(&top->names);
    look_close(&top->target);
    free(top->watch);
}

/* The thread that was asked for has to be there when the first numbers are; it may end later. */
PERF_FN int top_refuse(const top_state *top)
{
    if (top->has_before || !top->has_now || !top->now.threads ||
        look_thread_of(&top->now, top->opts.thread) != LOOK_NO_THREAD)
        return 0;
    top_restore();
    return look_say("%s has no thread %ld with marks", top->target.program, top->opts.thread);
}

/* perf-ab top. */
PERF_FN int top_main(int argc, char **argv)
{
    top_state state;
    long      turns = 0;
    int       status;

    memset(&state, 0, sizeof state);
    status = look_options(argc, argv, 1, &state.opts);
    if (status)
        return status;
    status = look_open_target(&state.target, state.opts.target, 0);
    if (!status) {
        state.started = look_started(state.target.pid);
        status = top_find(&state);
    }
    if (!status && !state.opts.once && !state.opts.json && !state.opts.count)
        (void)top_take();
    if (state.opts.once)
        state.opts.count = 1;
    while (!status && !top_told) {
        status = top_read(&state);
        if (!status)
            status = top_refuse(&state);
        if (status)
            break;
        top_size(&state);
        if (state.has_before || top_raw || !state.has_now) {
            if (state.has_before || top_raw)
                status = top_write(&state);
            turns += state.has_before;
        }
        if (status || (state.opts.count && turns >= state.opts.count) || !top_wait(&state))
            break;
    }
    top_restore();
    if (status == -1) {
        fprintf(stderr, "perf-ab: %s (%d) has ended\n", state.target.program, state.target.pid);
        status = turns || state.has_now ? 0 : AB_UNUSABLE;
    }
    top_free(&state);
    return status;
}

#endif /* PERF_TOOLS_TOP_H */
