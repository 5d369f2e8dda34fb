/* Ranks time a phase; rank 0 prints percentiles over all of them, the slowest rank, the imbalance.
 *
 *     mpicc -O2 -I. examples/mpi/ranks.c -o ranks
 *     mpirun -np 4 --oversubscribe ./ranks trace.pftrace   (MPICH knows no --oversubscribe)
 *
 * You will see a line a phase: calls of all ranks, percentiles over all of them, which rank took
 * longest in all and by how much it is beyond the mean.  The last rank has half as much again to
 * compute; the others spend that time in "wait".  Then, for each rank, how far its clock is from
 * that of rank 0 and how wrong that may be, and trace.pftrace for https://ui.perfetto.dev: the ranks
 * are processes, their times those of rank 0.  Exit status: 0 when everything could be written.
 *
 * All results travel in one MPI_Reduce of a struct without pointers.                             */
#define _POSIX_C_SOURCE 200809L         /* nanosleep, in this file's own code                     */
#include "perf_mpi.h"

#include <stdio.h>
#include <time.h>

typedef struct results {                /* what is reduced: recorders, and a histogram of our own */
    perf_tally compute, wait;
    perf_hist  kilobytes;
} results;

static void add_results(void *from_, void *into_, int *n, MPI_Datatype *type)
{
    const results *from = (const results *)from_;
    results       *into = (results *)into_;
    int            i;

    (void)type;
    for (i = 0; i < *n; i++) {
        (void)perf_tally_merge(&into[i].compute, &from[i].compute);
        (void)perf_tally_merge(&into[i].wait, &from[i].wait);
        (void)perf_hist_merge(&into[i].kilobytes, &from[i].kilobytes);
    }
}

static void compute(int us)             /* stands for the real work                               */
{
    struct timespec t = {0, us * 1000L};

    PERF_SCOPE("compute");
    nanosleep(&t, NULL);
}

static void print(const char *phase, const perf_tally *t)
{
    if (perf_hist_count(&t->hist) == 0) {
        printf("  %-8s nothing recorded\n", phase);
        return;
    }
    printf("  %-8s %6llu calls  p50 %8.1f  p95 %8.1f  p99 %8.1f  max %8.1f us  "
           "slowest: rank %u, %.2f ms, %+.1f %%\n", phase, (unsigned long long)t->calls,
           perf_hist_quantile(&t->hist, 0.5) / 1e3, perf_hist_quantile(&t->hist, 0.95) / 1e3,
           perf_hist_quantile(&t->hist, 0.99) / 1e3, perf_hist_quantile(&t->hist, 1.0) / 1e3,
           t->most, (double)t->most_ns / 1e6,
           100.0 * t->imbalance);
}

int main(int argc, char **argv)
{
    static results   mine, all;
    const char      *path = argc > 1 ? argv[1] : "trace.pftrace";
    perf_clock_sync *clock;
    perf_status      status;
    int              rank, size, step, i;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    clock = (perf_clock_sync *)calloc(2 * (size_t)size, sizeof *clock);
    if (!clock)
        MPI_Abort(MPI_COMM_WORLD, 1);

    perf_mpi_clocks(clock, 20, MPI_COMM_WORLD);
    for (step = 0; step < 20; step++) {
        compute(rank == size - 1 ? 3000 : 2000);
        perf_hist_add(&mine.kilobytes, (uint64_t)(64 + rank));
        {
            PERF_WAIT("wait");
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    perf_mpi_clocks(clock + size, 20, MPI_COMM_WORLD);

    (void)perf_tally_of("compute", (uint32_t)rank, &mine.compute);
    (void)perf_tally_of("wait", (uint32_t)rank, &mine.wait);
    perf_mpi_reduce(&mine, &all, sizeof mine, add_results, MPI_COMM_WORLD);
    status = perf_mpi_trace_save(path, clock, clock + size, MPI_COMM_WORLD);

    if (rank == 0) {
        printf("%d ranks, %llu in the sum, %zu bytes each in one reduction\n", size,
               (unsigned long long)all.compute.parts, sizeof mine);
        print("compute", &all.compute);
        print("wait", &all.wait);
        printf("  messages %llu, p50 %.0f KB, largest %.0f KB\n",
               (unsigned long long)perf_hist_count(&all.kilobytes),
               perf_hist_quantile(&all.kilobytes, 0.5), perf_hist_quantile(&all.kilobytes, 1));
        for (i = 1; i < size; i++) {
            perf_clock_sync s = perf_mpi_clock_between(&clock[i], &clock[size + i]);
            printf("  clock of rank %d: %+lld ns, within %lld ns\n", i, (long long)s.offset_ns,
                   (long long)s.bound_ns);
        }
        printf("  %s: %s\n", path, perf_status_text(status));
        fflush(stdout);                 /* the launcher stops all ranks when one has failed      */
    }
    free(clock);
    MPI_Finalize();
    return status != PERF_OK && status != PERF_EDISABLED;
}
