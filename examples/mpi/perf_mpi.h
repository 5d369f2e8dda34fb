/* perf_mpi.h - perf.h in MPI programs: one reduction, one trace.  Copy it beside your code.
 *
 *     static perf_tally mine, all;
 *     perf_tally_of("compute", rank, &mine);
 *     perf_mpi_reduce(&mine, &all, sizeof mine, perf_mpi_add_tally, comm);     // all: on rank 0
 *
 *     perf_mpi_clocks(first, 20, comm);                        // at the start ...
 *     perf_mpi_clocks(last, 20, comm);                         // ... and at the end
 *     perf_mpi_trace_save("trace.pftrace", first, last, comm); // ranks as processes, clocks aligned
 *
 * Every call is collective: all ranks of `comm` make it.  C99 and C++11; MPI 2 or later.
 * SPDX-License-Identifier: MIT (full text at the end of perf.h)                                  */
#ifndef PERF_MPI_H
#define PERF_MPI_H

#include <mpi.h>
#include <string.h>

#include "perf.h"
#include "perf_tally.h"
#include "perf_trace.h"

#include <stdlib.h>

/* Adds one element of `bytes` bytes of every rank into *sum of rank 0, with one MPI_Reduce; `add`
 * is as MPI wants it, into += from, in any order.  The struct has no pointers.  An MPI error code. */
static inline int perf_mpi_reduce(const void *mine, void *sum, size_t bytes, MPI_User_function *add,
                                  MPI_Comm comm)
{
    MPI_Datatype type;
    MPI_Op       op;
    int          code;

    MPI_Type_contiguous((int)bytes, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(add, 1, &op);
    code = MPI_Reduce((void *)(uintptr_t)mine, sum, 1, type, op, 0, comm);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    return code;
}

/* For elements that are a perf_tally, or an array of them.  A tally that cannot be added is missing
 * from `parts`: compare it with the number of ranks.                                             */
static inline void perf_mpi_add_tally(void *from, void *into, int *n, MPI_Datatype *type)
{
    int bytes, i, count;

    MPI_Type_size(*type, &bytes);
    count = (int)((size_t)bytes / sizeof(perf_tally)) * *n;
    for (i = 0; i < count; i++)
        (void)perf_tally_merge((perf_tally *)into + i, (const perf_tally *)from + i);
}

/* How far the clock of another process is off; begins all zero. */
typedef struct perf_clock_sync {
    uint64_t messages;
    int64_t  offset_ns;         /* add it to times of the other to have them in ours              */
    int64_t  bound_ns;          /* the true offset is at most so far away: half the fastest turn  */
} perf_clock_sync;

/* One message: perf_now() here before and after, and there in between.  The fastest one counts. */
static inline void perf_clock_sync_add(perf_clock_sync *s, uint64_t sent, uint64_t there, uint64_t back)
{
    int64_t bound = (int64_t)((back - sent) / 2 + 1);       /* + 1: halves are rounded             */

    if (back >= sent && (!s->messages++ || bound < s->bound_ns)) {
        s->bound_ns = bound;
        s->offset_ns = (int64_t)(sent + (back - sent) / 2 - there);
    }
}

/* How far the clock of each rank is from that of rank 0, into sync[0 .. ranks) of rank 0 (else NULL
 * will do): `turns` messages there and back, the fastest counts.  Ranks one after the other, some
 * us a turn; the others wait.                                                                    */
static inline void perf_mpi_clocks(perf_clock_sync *sync, int turns, MPI_Comm comm)
{
    unsigned long long there = 0;
    uint64_t           sent;
    int                rank, size, other, i;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Barrier(comm);
    for (other = 1; other < size; other++) {
        if (rank == 0)
            memset(&sync[other], 0, sizeof *sync);
        for (i = 0; i < turns && rank == 0; i++) {
            sent = perf_now();
            MPI_Send(&there, 1, MPI_UNSIGNED_LONG_LONG, other, 0, comm);
            MPI_Recv(&there, 1, MPI_UNSIGNED_LONG_LONG, other, 0, comm, MPI_STATUS_IGNORE);
            perf_clock_sync_add(&sync[other], sent, there, perf_now());
        }
        for (i = 0; i < turns && rank == other; i++) {
            MPI_Recv(&there, 1, MPI_UNSIGNED_LONG_LONG, 0, 0, comm, MPI_STATUS_IGNORE);
            there = perf_now();
            MPI_Send(&there, 1, MPI_UNSIGNED_LONG_LONG, 0, 0, comm);
        }
    }
    if (rank == 0)
        memset(&sync[0], 0, sizeof *sync);
    MPI_Barrier(comm);
}

/* One offset for all that happened between two measurements: half-way, and wrong by at most half of
 * what the clocks have drifted in between and the bound of a measurement.                        */
static inline perf_clock_sync perf_mpi_clock_between(const perf_clock_sync *first,
                                                     const perf_clock_sync *last)
{
    perf_clock_sync s = *last;
    int64_t         drift = last->offset_ns - first->offset_ns;

    s.messages += first->messages;
    s.offset_ns = first->offset_ns + drift / 2;
    s.bound_ns = last->bound_ns > first->bound_ns ? last->bound_ns : first->bound_ns;
    s.bound_ns += (drift < 0 ? -drift : drift) / 2 + 1;
    return s;
}

/* Every rank writes its trace beside `out` (a folder that all of them see); rank 0 makes one of them,
 * a process a rank, and removes the parts.  Perfetto's format.
 * `first` and `last` from perf_mpi_clocks, read on rank 0 alone; both NULL: clocks as they are.  The
 * same status on every rank, that of the first part or file that failed.                         */
static inline perf_status perf_mpi_trace_save(const char *out, const perf_clock_sync *first,
                                              const perf_clock_sync *last, MPI_Comm comm)
{
    size_t           room = strlen(out) + 24;
    int              rank, size, i, status, worst;
    char            *path;
    perf_trace_part *part;
    perf_clock_sync  s;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    path = (char *)malloc((room + 24) * (size_t)(rank ? 1 : size));
    part = (perf_trace_part *)calloc((size_t)size, sizeof *part);
    status = (int)(path && part ? PERF_OK : PERF_ENOMEM);
    if (status == PERF_OK) {
        snprintf(path, room, "%s.rank%d", out, rank);
        status = (int)perf_trace_save_perfetto(path);
    }
    MPI_Allreduce(&status, &worst, 1, MPI_INT, MPI_MAX, comm);      /* no file is missing after it */
    if (rank == 0 && worst == PERF_OK) {
        for (i = 0; i < size; i++) {
            char *at = path + (size_t)i * (room + 24), *name = at + room;
            snprintf(at, room, "%s.rank%d", out, i);
            snprintf(name, 24, "rank %d", i);
            part[i].path = at;
            part[i].name = name;
            if (i && first && last) {
                s = perf_mpi_clock_between(&first[i], &last[i]);
                part[i].offset_ns = s.offset_ns;
                part[i].bound_ns = s.bound_ns;
            }
        }
        worst = (int)perf_trace_merge(out, part, (size_t)size, NULL);
    }
    MPI_Bcast(&worst, 1, MPI_INT, 0, comm);
    if (path) {
        snprintf(path, room, "%s.rank%d", out, rank);
        (void)remove(path);
    }
    free(path);
    free(part);
    return (perf_status)worst;
}

#endif
