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

PERF_FN void top_size(top_state *s)
{
    struct winsize size;

    memset(&size, 0, sizeof size);
    if (top_raw && !ioctl(1, TIOCGWINSZ, &size) && size.ws_col && size.ws_row) {
        s->width = size.ws_col < 60 ? 60 : size.ws_col;
        s->height = size.ws_row < 15 ? 15 : size.ws_row;
    } else {
        s->width = s->opts.width;
        s->height = 0;
    }
}

/* ---- readings ---- */

/* All calls that a thread has ended. */
PERF_FN uint64_t top_calls(const look_reading *r, const look_thread *k)
{
    uint64_t calls = 0;
    size_t   i;

    for (i = k->first; i < k->first + k->cells; i++)
        calls += r->cell[i].count;
    return calls;
}

/* Remembers since when each thread has been seen in the same call. */
PERF_FN void top_look_on(top_state *s)
{
    const look_reading *r = &s->now;
    top_watch          *watch = (top_watch *)ab_grow(NULL, r->threads, sizeof *watch);
    size_t              i, j;

    for (i = 0; i < r->threads; i++) {
        const look_thread *k = &r->thread[i];
        top_watch          w;
        memset(&w, 0, sizeof w);
        w.at = k->at;
        w.inner = k->open.n ? k->open.cell[k->open.n - 1] : 0;
        w.calls = top_calls(r, k);
        w.ns = r->ns;
        for (j = 0; j < s->watches; j++)
            if (s->watch[j].at == w.at && s->watch[j].inner == w.inner &&
                s->watch[j].calls == w.calls)
                w.ns = s->watch[j].ns;
        watch[i] = w;
    }
    free(s->watch);
    s->watch = watch;
    s->watches = r->threads;
}

/* Finds the marks anew: at the start, after an exec, before the first mark.  An exit status. */
PERF_FN int top_find(top_state *s)
{
    look_names_free(&s->names);
    if (s->has_before)
        look_reading_free(&s->before);
    if (s->has_now)
        look_reading_free(&s->now);
    if (s->has_base)
        look_reading_free(&s->base);
    s->has_before = s->has_now = s->has_base = 0;
    if (!look_read_maps(&s->target) || !look_find(&s->target, &s->program))
        return look_say("%s", s->target.error);
    return 0;
}

/* Takes a reading.  An exit status, -1: the process has ended. */
PERF_FN int top_read(top_state *s)
{
    look_reading next;
    uint32_t     size = 0;
    int          status;

    if (look_started(s->target.pid) != s->started)
        return -1;
    if (s->program.registry &&
        (!look_fetch_one(&s->target, s->program.registry, &size, sizeof size) ||
         size != s->program.layout.at[LOOK_REGISTRY_SIZE])) {
        look_proc_text(s->target.pid, "comm", s->target.program, sizeof s->target.program);
        status = top_find(s);                   /* it runs another program now                    */
        if (status)
            return look_started(s->target.pid) == s->started ? status : -1;
    }
    if (!s->program.registry) {
        status = top_find(s);
        if (status || !s->program.registry)
            return status;
    }
    if (!look_read(&s->target, &s->program, &s->names, &next)) {
        look_reading_free(&next);
        return -1;
    }
    if (s->has_before)
        look_reading_free(&s->before);
    s->before = s->now;
    s->cpu_before = s->cpu_now;
    s->has_before = s->has_now;
    s->now = next;
    s->has_now = 1;
    s->cpu_now = look_usage_of(&s->target).cpu_ns;
    look_since_when(&s->target, &s->program, &s->now);
    top_look_on(s);
    return 0;
}

/* Makes the reading of now the one from which on is counted. */
PERF_FN void top_reset(top_state *s)
{
    if (s->has_base)
        look_reading_free(&s->base);
    s->base = s->now;                           /* its memory is not `now`'s any more             */
    s->cpu_base = s->cpu_now;
    s->has_base = s->has_now;
    s->has_now = 0;
    memset(&s->now, 0, sizeof s->now);
    s->span = TOP_SINCE_RESET;
}

/* ---- the picture ---- */

/* From which reading on is counted; NULL: the start of the program. */
PERF_FN const look_reading *top_from(const top_state *s)
{
    if (s->span == TOP_SINCE_RESET && s->has_base)
        return &s->base;
    return s->span == TOP_INTERVAL && s->has_before ? &s->before : NULL;
}

PERF_FN double top_seconds(const top_state *s)
{
    const look_reading *from = top_from(s);
    const uint64_t      since = from ? from->ns : s->now.made_ns;

    return s->now.ns > since ? (double)(s->now.ns - since) * 1e-9 : 0;
}

PERF_FN void top_put_head(perf_out_ *o, const top_state *s, const look_report *rep)
{
    const look_usage u = look_usage_of(&s->target);
    const double     seconds = top_seconds(s);
    const double     base = s->span == TOP_SINCE_RESET ? s->cpu_base
                            : (double)s->now.spent_cpu;
    const double     cpu = s->cpu_now - (s->span == TOP_INTERVAL ? s->cpu_before : base);
    size_t           i, alive = 0;

    for (i = 0; i < s->now.threads; i++)
        alive += !s->now.thread[i].gone && !s->now.thread[i].foreign;
    perf_putf_(o, "%.40s (%.0f): %.0f thread%s, memory ", s->target.program,
               (double)s->target.pid, (double)alive, alive == 1 ? "" : "s");
    perf_put_bytes_(o, u.resident);
    if (u.known && seconds > 0)
        perf_putf_(o, ", processor %.0f %%", cpu / seconds * 1e-7);
    perf_put_(o, "\n");
    if (s->span == TOP_INTERVAL)
        perf_putf_(o, "last %.1f s", seconds);
    else if (s->span == TOP_SINCE_RESET)
        perf_putf_(o, "since the reset, %.1f s", seconds);
    else
        perf_putf_(o, "since the start, %.1f s", seconds);
    if (s->opts.thread)
        perf_putf_(o, ", thread %.0f", (double)s->opts.thread);
    perf_putf_(o, s->paused ? ", paused" : "");
    if (s->ended)
        perf_put_(o, ", the process has ended");
    if (top_raw)
        perf_put_(o, "   (? for the keys)");
    perf_put_(o, "\n");
    (void)rep;
}

/* How long a thread has been in its innermost scope, ns; *least 1: at least so long. */
PERF_FN double top_open_ns(const top_state *s, size_t i, int *least)
{
    const look_thread *k = &s->now.thread[i];
    const double       ns = look_open_ns(&s->now, &k->open, s->now.ticks);

    *least = ns < 0;
    if (ns >= 0 || i >= s->watches)
        return ns;
    return (double)(s->now.ns - s->watch[i].ns);
}

/* The threads that have been in one scope for the longest time. */
PERF_FN int top_put_open(perf_out_ *o, const top_state *s, int rows)
{
    char *shown = (char *)ab_grow(NULL, s->now.threads + 1, 1);
    int   n, least;

    memset(shown, 0, s->now.threads + 1);
    for (n = 0; n < rows; n++) {
        double most = -1;
        size_t i, best = s->now.threads;
        for (i = 0; i < s->now.threads; i++) {
            const look_thread *k = &s->now.thread[i];
            const double       ns = top_open_ns(s, i, &least);
            if (shown[i] || !k->open.n || k->reset || k->gone || ns <= most)
                continue;
            if (s->opts.thread && k->id != (uint64_t)s->opts.thread)
                continue;
            most = ns;
            best = i;
        }
        if (best == s->now.threads)
            break;
        shown[best] = 1;
        most = top_open_ns(s, best, &least);
        perf_put_(o, "open");
        if (most > 0) {
            perf_put_(o, " for ");
            perf_put_ns_(o, most);
            perf_put_(o, least ? " and more" : "");
        }
        perf_put_(o, ": ");
        look_put_chain(o, &s->names, &s->now.thread[best].open,
                       s->width > 60 ? (size_t)s->width - 50 : s->width ? 20 : 0);
        perf_put_(o, " (");
        look_put_thread_name(o, &s->now.thread[best]);
        perf_put_(o, ")\n");
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

PERF_FN void top_put(perf_out_ *o, const top_state *s)
{
    const int64_t thread = look_thread_of(&s->now, s->opts.thread);
    look_report   rep;
    double        seconds;
    int           rows = s->height ? s->height - 4 : -1, open;

    if (!s->has_now || !s->now.threads) {
        perf_putf_(o, "%.40s (%.0f) has not recorded anything yet\n", s->target.program,
                   (double)s->target.pid);
        return;
    }
    rep = look_count(&s->now, top_from(s), &s->names, &s->program.layout, thread);
    look_sort_rows(&rep, s->opts.sort);
    top_put_head(o, s, &rep);
    if (s->help)
        perf_put_(o, top_keys);
    open = top_put_open(o, s, s->height ? s->height / 5 : 20);
    seconds = top_seconds(s);
    if (rows >= 0)
        rows = rows - open - (s->help ? 8 : 0) > 3 ? rows - open - (s->help ? 8 : 0) : 3;
    if (s->opts.rows)
        rows = s->opts.rows;
    if (s->opts.tree)
        look_put_tree(o, &rep, s->width, rows);
    else
        look_put_table(o, &rep, s->width, rows, seconds > 0 ? seconds : 1e-9, thread);
    if (!s->height) {
        look_put_waits(o, &rep);
        look_put_counters(o, &rep, s->width);
        look_put_losses(o, &s->now, &s->names, 0);
    } else if (!s->opts.tree) {
        look_put_counters(o, &rep, s->width);   /* below, if there is room                        */
    }
    look_report_free(&rep);
}

/* Puts the text on the screen, each line cut to its width, as many as there are. */
PERF_FN void top_show(const top_state *s, char *text)
{
    perf_out_ o;
    char     *line = text, *end;
    int       n;

    memset(&o, 0, sizeof o);
    o.grows = 1;
    perf_put_(&o, "\033[H");
    for (n = 0; *line && n < s->height - 1; n++, line = end) {
        end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        else
            end = line + strlen(line);
        (void)perf_put_cut_(&o, line, (size_t)s->width);
        perf_put_(&o, "\033[K\r\n");
    }
    perf_put_(&o, "\033[J");
    if (o.p)
        (void)!write(1, o.p, o.len);
    PERF_FREE(o.p);
}

PERF_FN int top_write(const top_state *s)
{
    perf_out_ o;
    int       status = 0;

    memset(&o, 0, sizeof o);
    o.grows = 1;
    if (s->opts.json && s->has_now) {
        look_report rep = look_count(&s->now, top_from(s), &s->names, &s->program.layout,
                                     look_thread_of(&s->now, s->opts.thread));
        look_sort_rows(&rep, s->opts.sort);
        look_put_json(&o, &s->target, &rep, s->now.ticks, top_seconds(s),
                      s->opts.rows ? s->opts.rows : -1);
        look_report_free(&rep);
    } else if (!s->opts.json) {
        top_put(&o, s);
    }
    if (top_raw && o.p)
        top_show(s, o.p);
    else if (o.p && (fwrite(o.p, 1, o.len, stdout) != o.len || fflush(stdout)))
        status = look_say("standard output cannot be written");
    PERF_FREE(o.p);
    return status;
}

/* ---- keys ---- */

/* The thread behind the one that is shown; 0: all of them. */
PERF_FN long top_next_thread(const top_state *s)
{
    const int64_t at = look_thread_of(&s->now, s->opts.thread);
    size_t        i = at < 0 ? 0 : (size_t)at + 1;

    while (i < s->now.threads && (s->now.thread[i].gone || !s->now.thread[i].cells))
        i++;
    return i < s->now.threads ? (long)s->now.thread[i].id : 0;
}

/* Does what a key says; 0: the end. */
PERF_FN int top_key(top_state *s, char key)
{
    static const char sorts[] = "stcmx9n";
    static const look_sort by[] = {LOOK_BY_SELF, LOOK_BY_TOTAL, LOOK_BY_CALLS, LOOK_BY_MEAN,
                                   LOOK_BY_MAX, LOOK_BY_P99, LOOK_BY_NAME};
    const char *sort = key ? strchr(sorts, key) : NULL;

    if (sort)
        s->opts.sort = by[sort - sorts];
    switch (key) {
    case 'q':
    case 'Q':
    case 3:                                     /* Ctrl-C                                         */
        return 0;
    case 'v': s->opts.tree = !s->opts.tree; break;
    case '?': s->help = !s->help; break;
    case ' ':
    case 'p': s->paused = !s->paused; break;
    case 'r': top_reset(s); break;
    case 'h': s->opts.thread = top_next_thread(s); break;
    case '+': s->opts.interval *= s->opts.interval < 1e4 ? 2 : 1; break;
    case '-': s->opts.interval /= s->opts.interval > 0.002 ? 2 : 1; break;
    case 'i':
        s->span = (top_span)((s->span + 1) % 3);
        if (s->span == TOP_SINCE_RESET && !s->has_base)
            s->span = TOP_SINCE_START;
        break;
    default: break;
    }
    return 1;
}

/* Waits for the next reading, or for a key.  0: the end. */
PERF_FN int top_wait(top_state *s)
{
    const uint64_t until = perf_now() + (uint64_t)(s->opts.interval * 1e9);
    struct pollfd  keys = {0, POLLIN, 0};
    uint64_t       now;
    char           key[16];
    ssize_t        n;

    while (!top_told && ((now = perf_now()) < until || s->paused)) {
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
            const int width = s->width, height = s->height;
            top_size(s);
            if (width != s->width || height != s->height)
                (void)top_write(s);
            continue;
        }
        n = read(0, key, sizeof key);
        if (n <= 0)
            return 0;
        if (key[0] == 27 && n > 1)              /* an arrow, or another key of several bytes      */
            continue;
        if (!top_key(s, key[0]))
            return 0;
        if (!s->has_now)
            return 1;                           /* a reset: the next reading at once              */
        (void)top_write(s);
    }
    return !top_told;
}

/* ---- the whole ---- */

PERF_FN void top_free(top_state *s)
{
    look_reading_free(&s->now);
    look_reading_free(&s->before);
    look_reading_free(&s->base);
    look_names_free(&s->names);
    look_close(&s->target);
    free(s->watch);
}

/* perf-ab top. */
PERF_FN int top_main(int argc, char **argv)
{
    top_state s;
    long      turns = 0;
    int       status;

    memset(&s, 0, sizeof s);
    status = look_options(argc, argv, 1, &s.opts);
    if (status)
        return status;
    status = look_open_target(&s.target, s.opts.target, 0);
    if (!status) {
        s.started = look_started(s.target.pid);
        status = top_find(&s);
    }
    if (!status && !s.opts.once && !s.opts.json && !s.opts.count)
        (void)top_take();
    if (s.opts.once)
        s.opts.count = 1;
    while (!status && !top_told) {
        status = top_read(&s);
        if (status)
            break;
        top_size(&s);
        if (s.has_before || top_raw || !s.has_now) {
            if (s.has_before || top_raw)
                status = top_write(&s);
            turns += s.has_before;
        }
        if (status || (s.opts.count && turns >= s.opts.count) || !top_wait(&s))
            break;
    }
    top_restore();
    if (status == -1) {
        fprintf(stderr, "perf-ab: %s (%d) has ended\n", s.target.program, s.target.pid);
        status = turns || s.has_now ? 0 : AB_UNUSABLE;
    }
    top_free(&s);
    return status;
}

#endif /* PERF_TOOLS_TOP_H */
