/* A machine for each rank, with a clock of its own, in simulated time: included before the program
 * (gcc -include) with -DPERF_CLOCK_FN=sim_now.  All numbers are known, however loaded the real
 * machine is.  Rank r's clock is 1.7 s * r ahead and 20 ppm * r fast.  A message takes 1 to 5 us,
 * a barrier ends for all at one time, nanosleep lasts as long as asked.                          */
#ifndef PERF_TESTS_SIM_H
#define PERF_TESTS_SIM_H

#include <mpi.h>
#include <stdint.h>
#include <time.h>

static uint64_t sim_time = 1000000, sim_state;
static int      sim_rank = -1;

static int sim_me(void)
{
    if (sim_rank < 0)
        PMPI_Comm_rank(MPI_COMM_WORLD, &sim_rank);
    return sim_rank;
}

static uint64_t sim_now(void)
{
    int      on = 0;
    uint64_t r;

    PMPI_Initialized(&on);
    r = on ? (uint64_t)sim_me() : 0;
    sim_time += 10;                     /* a reading takes time                                   */
    return sim_time + r * 1700000000u + sim_time * 20 * r / 1000000;
}

static void sim_send(int to, MPI_Comm comm)
{
    unsigned long long t = sim_time;
    PMPI_Send(&t, 1, MPI_UNSIGNED_LONG_LONG, to, 99, comm);
}

static void sim_receive(int from, MPI_Comm comm)
{
    unsigned long long t = 0;

    PMPI_Recv(&t, 1, MPI_UNSIGNED_LONG_LONG, from, 99, comm, MPI_STATUS_IGNORE);
    sim_state = sim_state * UINT64_C(6364136223846793005) + 1442695040888963407u + (uint64_t)sim_me();
    t += 1000 + (sim_state >> 33) % 4000;
    sim_time = t > sim_time ? t : sim_time;
}

int MPI_Send(const void *b, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    sim_send(to, comm);
    return PMPI_Send(b, n, type, to, tag, comm);
}

int MPI_Recv(void *b, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *s)
{
    sim_receive(from, comm);
    return PMPI_Recv(b, n, type, from, tag, comm, s);
}

int MPI_Barrier(MPI_Comm comm)
{
    unsigned long long t = sim_time, last = 0;
    int                code = PMPI_Allreduce(&t, &last, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, comm);

    sim_time = last + 500;
    return code;
}

static int sim_sleep(const struct timespec *t)
{
    sim_time += (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
    return 0;
}
#define nanosleep(t, rest) sim_sleep(t)

#endif
