#ifndef P_
#define P_
#include "judge.h"
PERF_FN void ab_print_page(FILE *f, const ab_report *r) { (void)r; fputs("x", f); }
#endif
