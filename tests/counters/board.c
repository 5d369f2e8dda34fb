/* The first process of a machine with counters: what they say of bodies that are known to the
 * instruction.  board.sh boots it on QEMU's board, whose counters are exact. */
#include "check.h"
#include "perf_counters.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ADD     "add x9, x9, #1\n\t"
#define ADD10   ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD
#define ADD100  ADD10 ADD10 ADD10 ADD10 ADD10 ADD10 ADD10 ADD10 ADD10 ADD10
#define ADD1000 ADD100 ADD100 ADD100 ADD100 ADD100 ADD100 ADD100 ADD100 ADD100 ADD100
#define RUN(body) __asm__ __volatile__(body : : : "x9")

static int within(double value, double wanted, double share)
{
    return value >= wanted * (1.0 - share) && value <= wanted * (1.0 + share);
}

/* 100,000 rounds of six instructions: five and a branch. */
static void loop_of_six(void)
{
    long n = 100000;

    __asm__ __volatile__("1:\n\t" ADD ADD ADD ADD "subs %0, %0, #1\n\tb.ne 1b"
                         : "+r"(n) : : "x9", "cc");
}

static void whole_loop(void)
{
    perf_counters c = perf_counters_open(NULL);
    int           i;

    for (i = 0; i < 3; i++) {
        CHECK(perf_counters_start(&c) == PERF_OK, "start");
        loop_of_six();
        CHECK(perf_counters_stop(&c) == PERF_OK, "stop");
        printf("board: %s\n", perf_counters_text(&c));
        CHECK(within(c.value[PERF_COUNTER_INSTRUCTIONS], 600000.0, 0.001), "%.0f instructions",
              c.value[PERF_COUNTER_INSTRUCTIONS]);
        CHECK(within(c.value[PERF_COUNTER_CYCLES], 600000.0, 0.01), "%.0f cycles",
              c.value[PERF_COUNTER_CYCLES]);
        CHECK(!perf_counters_why(&c, PERF_COUNTER_CYCLES), "cycles are missing");
    }
    CHECK(c.value[PERF_COUNTER_BRANCH_MISSES] != c.value[PERF_COUNTER_BRANCH_MISSES],
          "this board has no branch misses, but %g", c.value[PERF_COUNTER_BRANCH_MISSES]);
    CHECK(perf_counters_why(&c, PERF_COUNTER_BRANCH_MISSES) &&
              strstr(perf_counters_why(&c, PERF_COUNTER_BRANCH_MISSES), "does not count it"),
          "%s", c.text);
    perf_counters_close(&c);
}

/* A child of fork counts with threads = 1, a thread of the body likewise. */
static void of_children(void)
{
    perf_counters_opts opts = {0, 1, 0, 0};
    perf_counters      c = perf_counters_open(&opts);
    pid_t              child;
    int                status;

    perf_counters_start(&c);
    child = fork();
    if (!child) {
        loop_of_six();
        _exit(0);
    }
    (void)waitpid(child, &status, 0);
    perf_counters_stop(&c);
    CHECK(within(c.value[PERF_COUNTER_INSTRUCTIONS], 600000.0, 0.05), "with a child: %s",
          perf_counters_text(&c));
    perf_counters_close(&c);
}

int main(void)
{
    int failed;

    (void)mkdir("/proc", 0755);
    (void)mount("proc", "/proc", "proc", 0, "");
    whole_loop();
    of_children();
    failed = check_done();
    printf("board: %s\n", failed ? "failed" : "passed");
    fflush(stdout);
    sync();
    reboot(RB_POWER_OFF);
    return failed;
}
