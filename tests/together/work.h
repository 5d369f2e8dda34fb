/* Each file opens one scope.  The call counts are primes of three digits, so that no time,
 * percentage or percentile in the report is mistaken for one.                                   */
#ifndef WORK_H
#define WORK_H

#ifdef __cplusplus
extern "C" {
#endif

void work_main(void);           /* main.c:    first C file   */
void work_second(void);         /* second.c:  second C file  */
void work_cpp(void);            /* cpp.cpp                   */
void work_scope(void);          /* scope.c: with perf_scope.h alone */
void work_both(void);      /* both.cpp: with perf_scope.h, then perf.h */
void work_cu(void);             /* cu.cu, when WITH_CU       */
void work_off(void);            /* off.c and     */
void work_off_cpp(void);        /* off_cpp.cpp, built with PERF_DISABLE=1: must not appear */

#ifdef __cplusplus
}
#endif

enum {
    CALLS_MAIN = 617, CALLS_SECOND = 523, CALLS_CPP = 941, CALLS_CU = 859, CALLS_OFF = 773,
    CALLS_SCOPE = 691, CALLS_BOTH = 353
};

#endif /* WORK_H */
