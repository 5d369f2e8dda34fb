/* perf_gpu_state.h - what is kept of device scopes? contexts, streams, results: types only.
 *
 *     #include "perf_cuda.h"                      // has what works with them; never this one alone
 *
 * Sections (search for ">>"):  internal
 * SPDX-License-Identifier: MIT (full text at the end of perf_base.h)                             */
#ifndef PERF_GPU_STATE_H
#define PERF_GPU_STATE_H

#include "perf_scope.h"

PERF_BEGIN_DECLS

/* >>internal: what other headers may use: all of it -------------------------------------------- */

/* One fetched scope. */
typedef struct perf_gpu_done_ {
    perf_site_ *site;
    void       *stream;
    uint64_t    begin, end;     /* on the host, ticks */
    double      ns, start_ns;   /* length; start on the clock of the context */
    uint64_t    at;             /* start in ticks of the host; known when it is placed */
    struct perf_gpu_done_ *next;
    uint32_t    thread, depth;
} perf_gpu_done_;

/* How far a line has come.  In registers while scopes are placed, so no function is called then. */
typedef struct perf_gpu_pace_ {
    double   ref_ns, ref_ticks; /* one moment: on the device; on the host, - `origin` */
    double   debt_ns;           /* how much earlier than ref_ticks it could really be */
    double   until_ns;          /* the device is busy up to here */
    double   idle_ns, starved_ns;       /* sums */
    double   rate_low;          /* ns that the host's clock gains on it in a ns: lower bound */
    double   tick, per_ns;      /* ns in a tick, ticks in a ns */
    uint64_t origin;
    uint64_t late;              /* 1: scopes have started before some that were placed earlier */
} perf_gpu_pace_;

enum { PERF_GPU_GAPS_ = 32, PERF_GPU_KNOWN_ = 64 };

/* What is kept of one context: the clock of its events, tied to the host's. */
typedef struct perf_gpu_line_ {
    struct perf_gpu_line_ *next;
    void    *ctx;
    unsigned long long ctx_id;
    int32_t  device;
    uint32_t known;             /* 1: a scope was placed, so what follows says something */
    uint32_t lock;              /* of the anchor, while somebody asks the driver about it */
    uint32_t dead;              /* the context is no more */
    void    *anchor;            /* an event of ours whose time is `anchor_ns` */
    double   anchor_ns;         /* device ns since the first anchor */
    perf_gpu_pace_ pace;
    double   slack_ns;          /* how much later than pace.ref_ticks it could really be */
    double   worst_ns;          /* largest error of any scope placed */
    double   first_ns;          /* device: first start; the last stop is pace.until_ns */
    double   busy_ns, starved_ns;
    double   rate_high;         /* see pace.rate_low */
    double   tie_ns, tie_low, tie_high; /* an earlier moment; its bounds in ticks since origin */
    uint64_t now;               /* no scope placed so far has stopped after it */
    double   gap[PERF_GPU_GAPS_][2];    /* once pace.late: when it was idle, the latest times */
    uint64_t gaps;              /* so many were noted */
} perf_gpu_line_;

typedef struct perf_gpu_track_ {        /* one stream */
    struct perf_gpu_track_ *next;
    void            *stream;
    perf_gpu_line_  *line;
    struct perf_recorder_  *recorder;
    uint32_t         thread, spare;     /* of a per-thread default stream */
} perf_gpu_track_;

typedef struct perf_gpu_known_ {        /* whose stream that is; found by its address */
    void           *stream;
    struct perf_gpu_ring_ *ring;
} perf_gpu_known_;

/* What a thread knows, in each image; pages that a forked child sees as zeros. */
typedef struct perf_gpu_thread_ {
    struct perf_gpu_state_ *home;
    struct perf_gpu_ring_  *rings;
    uint32_t                generation, spare;
    perf_gpu_known_         known[PERF_GPU_KNOWN_];
} perf_gpu_thread_;

/* What the cells of a name do not hold; lags and submit in ticks.  No two sums are neighbours: see
 * perf_cell_. */
typedef struct perf_gpu_row_ {
    uint64_t scopes, lag_max, submit;
    double   device_ns;
    uint64_t lag;
} perf_gpu_row_;

/* Where the scopes of one name and stream are added up. */
typedef struct perf_gpu_aim_ {
    perf_site_      *site;      /* NULL: this one is free */
    void            *stream;
    struct perf_recorder_ *rec;
    struct perf_cell_ *cell;
    perf_gpu_row_   *row;
    uint32_t         thread, spare;
} perf_gpu_aim_;

PERF_END_DECLS

#endif /* PERF_GPU_STATE_H */
