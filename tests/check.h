/* The whole test framework: CHECK(condition, format, ...) counts, check_done() reports.
 * Output ends with "N passed, N failed"; the exit status is 0 only when nothing failed.           */
#ifndef PERF_TESTS_CHECK_H
#define PERF_TESTS_CHECK_H

#include <stdio.h>

static int check_passed_, check_failed_;

#define CHECK(condition, ...)                                                                     \
    do {                                                                                          \
        if (condition) {                                                                          \
            check_passed_++;                                                                      \
        } else if (check_failed_++ < 40) {              /* enough to see the pattern */           \
            printf("%s:%d: FAILED %s: ", __FILE__, __LINE__, #condition);                         \
            printf(__VA_ARGS__);                                                                  \
            printf("\n");                                                                         \
        }                                                                                         \
    } while (0)

/* _exit() for children: tools/coverage.py still counts what they ran. */
#if defined(CHECK_COVERAGE)
#ifdef __cplusplus
extern "C"
#endif
void __gcov_dump(void);
#define check_exit(status) (__gcov_dump(), _exit(status))
#else
#define check_exit(status) _exit(status)
#endif

static int check_done(void)
{
    printf("%d passed, %d failed\n", check_passed_, check_failed_);
    return check_failed_ != 0 || check_passed_ == 0;
}

#endif
