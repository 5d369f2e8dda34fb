/* look_open.h - since when is a scope open?
 *
 * A recorder knows which scope is open, not since when: that stands in the perf_scope on the stack
 * of the thread.  It is found by its contents there: the address of the recorder, and the cell's.
 * What remains of ended scopes looks the same, so the latest one counts, and only if it began
 * after the last call of that scope that the ring knows.  Not found: not said.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_LOOK_OPEN_H
#define PERF_TOOLS_LOOK_OPEN_H

#include "look_read.h"

enum {
    LOOK_STACK = 1 << 20,               /* bytes of a stack that are searched                     */
    LOOK_STACKS = 64,                   /* threads whose stacks are searched in one reading       */
    LOOK_CHUNK = 1 << 16
};

/* Where the stack of a thread ends now; 0: not known, because it runs or may not be asked. */
PERF_FN uint64_t look_stack_of(const look_target *target, uint64_t id)
{
    char               file[64], text[512];
    const char        *at;
    size_t             i;
    unsigned long long stack = 0;

    for (i = 0; i < target->tasks; i++)
        if (target->task[i].id == id)
            return target->task[i].stack;
    if (!target->pid || id > INT_MAX)
        return 0;
    snprintf(file, sizeof file, "task/%d/syscall", (int)id);
    look_proc_text(target->pid, file, text, sizeof text);
    at = strrchr(text, ' ');
    while (at && at > text && at[-1] != ' ')
        at--;
    if (at && sscanf(at, "%llx", &stack) == 1)
        return stack;
    return 0;
}

/* Looks for begins of the open scopes in a piece of a stack. */
PERF_FN void look_search(const look_layout *layout, look_thread *thread, const char *stack,
                         size_t bytes, uint64_t until)
{
    const uint64_t last = layout->at[LOOK_SPAN_OPEN] > layout->at[LOOK_SPAN_RECORDER]
                              ? layout->at[LOOK_SPAN_OPEN] : layout->at[LOOK_SPAN_RECORDER];
    size_t   i;
    uint32_t n;

    if (layout->at[LOOK_SPAN_START] > last || layout->at[LOOK_SPAN_CELL] > 256 || last > 256)
        return;
    for (i = 0; i + 264 <= bytes; i += 8) {
        uint64_t open, start;
        if (look_get64(layout, LOOK_SPAN_RECORDER, stack + i) != thread->at)
            continue;
        open = look_get64(layout, LOOK_SPAN_OPEN, stack + i);
        if (open == 1)                          /* its end is a cold one                          */
            open = look_get64(layout, LOOK_SPAN_CELL, stack + i);
        start = look_get64(layout, LOOK_SPAN_START, stack + i);
        for (n = 0; n < thread->open.n; n++)
            if (thread->open.cell[n] == open && start > thread->open.since[n] &&
                start >= thread->birth && start <= until)
                thread->open.since[n] = start;
    }
}

/* The latest begin of each name among the ended calls in the ring, as far as it is read here. */
PERF_FN void look_doubt(look_target *target, const look_layout *layout, const look_reading *reading,
                        look_thread *thread)
{
    enum { EVENTS = 4096 };
    const uint64_t room = 16 * reading->ring_events;
    uint64_t      *event, n = (thread->ring_head - thread->ring_lost) / 16, i, first;
    uint32_t       j;

    (void)layout;
    if (!thread->ring || !room || room & (room - 1) || thread->ring_head < thread->ring_lost)
        return;
    n = n < EVENTS ? n : EVENTS;
    n = n < reading->ring_events ? n : reading->ring_events;
    event = (uint64_t *)ab_grow(NULL, (size_t)n + 1, 16);
    first = (thread->ring_head - 16 * n) & (room - 1);
    i = (room - first) / 16 < n ? (room - first) / 16 : n;
    (void)look_fetch_one(target, thread->ring + first, event, (size_t)(16 * i));
    (void)look_fetch_one(target, thread->ring, event + 2 * i, (size_t)(16 * (n - i)));
    for (i = 0; i < n; i++)
        for (j = 0; j < thread->open.n; j++)
            if ((event[2 * i + 1] >> 32 & 0xffffff) == thread->open.name[j] &&
                event[2 * i] >= thread->open.since[j])
                thread->open.since[j] = 0;      /* it has ended: this is what remains of it       */
    free(event);
}

/* The mapping of a stack that ends at `at`; NULL: there is none.  Mappings are read anew, once in a
 * reading, where it is not among them: a thread may be new, a stack may have grown.              */
PERF_FN const look_map *look_stack_map(look_target *target, uint64_t at, int *anew)
{
    size_t i;

    for (i = 0; i < target->maps; i++)
        if (at >= target->map[i].at && at < target->map[i].end && target->map[i].writable)
            return &target->map[i];
    if (!target->pid || *anew)
        return NULL;
    *anew = 1;
    return look_read_maps(target) ? look_stack_map(target, at, anew) : NULL;
}

/* Finds out for the open scopes of all threads, as far as their stacks can be read. */
PERF_FN void look_since_when(look_target *target, const look_program *program,
                             look_reading *reading)
{
    char    *stack = (char *)ab_grow(NULL, LOOK_CHUNK + 512, 1);
    size_t   i, searched = 0;
    uint32_t n;
    int      anew = 0, stale = 0;

    for (i = 0; i < reading->threads && searched < LOOK_STACKS; i++) {
        look_thread    *thread = &reading->thread[i];
        const look_map *map = NULL;
        uint64_t        at, end, done = 0;
        if (!thread->open.n || thread->foreign || thread->gone)
            continue;
        at = look_stack_of(target, thread->id) & ~(uint64_t)7;
        if (at)
            map = look_stack_map(target, at, &anew);
        if (!map)
            continue;
        searched++;
        end = map->end;
        if (!target->pid && end - map->at > map->bytes)
            end = map->at + map->bytes;
        while (at < end && done < LOOK_STACK) {
            size_t bytes = end - at < LOOK_CHUNK + 256 ? (size_t)(end - at) : LOOK_CHUNK + 256;
            memset(stack, 0, LOOK_CHUNK + 512);
            if (!look_fetch_one(target, at, stack, bytes)) {
                stale = 1;
                break;
            }
            look_search(&program->layout, thread, stack, bytes + 264,
                        target->pid ? reading->ticks : ~(uint64_t)0);
            at += LOOK_CHUNK;
            done += LOOK_CHUNK;
        }
        look_doubt(target, &program->layout, reading, thread);
        for (n = 1; n < thread->open.n; n++)    /* an inner one began later                       */
            if (thread->open.since[n] && thread->open.since[n] < thread->open.since[n - 1])
                thread->open.since[n] = 0;
    }
    if (stale && target->pid)
        target->maps = 0;                       /* the next reading asks for the mappings         */
    free(stack);
}

#endif /* PERF_TOOLS_LOOK_OPEN_H */
