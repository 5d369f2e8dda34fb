/* perf_cupti.h against the headers of a release of CUPTI: cc -c says where they differ.  NEWEST_KERNEL, _COPY,
 * _FILL, _PEER: the newest struct of each kind there, which that release writes. */
#include "perf_cupti.h"
#include "inside.h"

#include <stddef.h>
#include <cupti_result.h>
#include <cupti_callbacks.h>
#include <cupti_activity.h>

#define NAME_(a, b) a##b
#define NAME(a, b)  NAME_(a, b)
#define KERNEL      NAME(CUpti_ActivityKernel, NEWEST_KERNEL)
#define COPY        NAME(CUpti_ActivityMemcpy, NEWEST_COPY)
#define FILL        NAME(CUpti_ActivityMemset, NEWEST_FILL)
#define PEER        NAME(CUpti_ActivityMemcpyPtoP, NEWEST_PEER)
#define SAME(ours, field, theirs, member)                                                                               \
    _Static_assert(offsetof(ours, field) == offsetof(theirs, member), #member);                                         \
    _Static_assert(sizeof(((ours *)0)->field) == sizeof(((theirs *)0)->member), "size of " #member)
#define ALIKE(theirs)                                                                                                   \
    SAME(cupti_copy, bytes, theirs, bytes);                                                                       \
    SAME(cupti_copy, start, theirs, start);                                                                       \
    SAME(cupti_copy, end, theirs, end);                                                                           \
    SAME(cupti_copy, device, theirs, deviceId);                                                                   \
    SAME(cupti_copy, stream, theirs, streamId)

SAME(cupti_kernel, kind, KERNEL, kind);
SAME(cupti_kernel, start, KERNEL, start);
SAME(cupti_kernel, end, KERNEL, end);
SAME(cupti_kernel, device, KERNEL, deviceId);
SAME(cupti_kernel, stream, KERNEL, streamId);
SAME(cupti_kernel, correlation, KERNEL, correlationId);
SAME(cupti_kernel, name, KERNEL, name);
ALIKE(COPY);
ALIKE(FILL);
ALIKE(PEER);
SAME(cupti_copy, correlation, COPY, correlationId);
SAME(cupti_copy, correlation, FILL, correlationId);
SAME(cupti_copy, peer_correlation, PEER, correlationId);
_Static_assert(offsetof(cupti_copy, what) == offsetof(COPY, copyKind), "copyKind");
SAME(cupti_call, site, CUpti_CallbackData, callbackSite);
SAME(cupti_call, correlation, CUpti_CallbackData, correlationId);
_Static_assert(CUPTI_KERNELS == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && CUPTI_COPIES == CUPTI_ACTIVITY_KIND_MEMCPY &&
               CUPTI_FILLS == CUPTI_ACTIVITY_KIND_MEMSET && CUPTI_PEERS == CUPTI_ACTIVITY_KIND_MEMCPY2, "kinds");
_Static_assert(CUPTI_TAKEN == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, "another profiler");
_Static_assert(CUPTI_LIMIT == CUPTI_ERROR_MAX_LIMIT_REACHED, "a buffer's end");
_Static_assert(CUPTI_MIXED == CUPTI_ERROR_NOT_COMPATIBLE, "another profiler of a later release");
_Static_assert(CUPTI_CB_DOMAIN_DRIVER_API == 1 && CUPTI_CB_DOMAIN_RUNTIME_API == 2 && !CUPTI_API_ENTER, "domains and sites");
_Static_assert(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED == 1 && CUPTI_ACTIVITY_MEMCPY_KIND_HTOD == 1 &&
               CUPTI_ACTIVITY_MEMCPY_KIND_PTOP == 10, "flags and directions");
