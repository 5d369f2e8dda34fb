/* A file that only marks: MARK is what its function and its scope are called. */
#include "perf_scope.h"

#define NAME2(x) #x
#define NAME(x)  NAME2(x)

#ifdef __cplusplus
extern "C"
#endif
    void MARK(void);

void MARK(void)
{
    PERF_SCOPE("mark");
    perf_count("seen by " NAME(MARK), 1.0);
}
