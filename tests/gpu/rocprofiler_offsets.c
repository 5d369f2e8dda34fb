/* perf_rocprofiler.h against the headers of a release of rocprofiler-sdk: cc -c says where they differ. */
#include "perf_rocprofiler.h"
#include "inside.h"

#include <stddef.h>
#include <rocprofiler-sdk/fwd.h>
#include <rocprofiler-sdk/agent.h>
#include <rocprofiler-sdk/buffer_tracing.h>
#include <rocprofiler-sdk/external_correlation.h>
#include <rocprofiler-sdk/registration.h>

#define SAME(ours, field, theirs, member)                                                                               \
    _Static_assert(offsetof(ours, field) == offsetof(theirs, member), #member);                                         \
    _Static_assert(sizeof(((ours *)0)->field) == sizeof(((theirs *)0)->member), "size of " #member)
#define EQUAL(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs)

typedef rocprofiler_buffer_tracing_kernel_dispatch_record_t kernel_t;
#if !defined(NO_COPIES)                  /* Triton's wheel ships a part of AMD's headers */
typedef rocprofiler_buffer_tracing_memory_copy_record_t     copy_t;
#endif
typedef rocprofiler_callback_tracing_record_t               record_t;

SAME(rocprofiler_kernel, size, kernel_t, size);
SAME(rocprofiler_kernel, kind, kernel_t, kind);
SAME(rocprofiler_kernel, correlation, kernel_t, correlation_id.external);
SAME(rocprofiler_kernel, start, kernel_t, start_timestamp);
SAME(rocprofiler_kernel, end, kernel_t, end_timestamp);
SAME(rocprofiler_kernel, agent, kernel_t, dispatch_info.agent_id);
SAME(rocprofiler_kernel, queue, kernel_t, dispatch_info.queue_id);
SAME(rocprofiler_kernel, kernel, kernel_t, dispatch_info.kernel_id);
#if !defined(NO_COPIES)
SAME(rocprofiler_copy, size, copy_t, size);
SAME(rocprofiler_copy, direction, copy_t, operation);
SAME(rocprofiler_copy, correlation, copy_t, correlation_id.external);
SAME(rocprofiler_copy, start, copy_t, start_timestamp);
SAME(rocprofiler_copy, end, copy_t, end_timestamp);
SAME(rocprofiler_copy, to, copy_t, dst_agent_id);
SAME(rocprofiler_copy, from, copy_t, src_agent_id);
SAME(rocprofiler_copy, bytes, copy_t, bytes);
#endif
SAME(rocprofiler_record, category, rocprofiler_record_header_t, category);
SAME(rocprofiler_record, kind, rocprofiler_record_header_t, kind);
SAME(rocprofiler_record, payload, rocprofiler_record_header_t, payload);
SAME(rocprofiler_agent, id, rocprofiler_agent_t, id);
SAME(rocprofiler_agent, type, rocprofiler_agent_t, type);
SAME(rocprofiler_tool, size, rocprofiler_tool_configure_result_t, size);
SAME(rocprofiler_tool, data, rocprofiler_tool_configure_result_t, tool_data);
_Static_assert(offsetof(record_t, kind) == 8 * 4 || offsetof(record_t, kind) == 8 * 5, "kind");
_Static_assert(offsetof(record_t, operation) == offsetof(record_t, kind) + 4, "operation");
_Static_assert(offsetof(record_t, phase) == offsetof(record_t, kind) + 8, "phase");
_Static_assert(offsetof(record_t, payload) == offsetof(record_t, kind) + 16, "payload");
_Static_assert(sizeof(record_t) <= sizeof(rocprofiler_call), "a record");
EQUAL(ROCPROFILER_TRACING, ROCPROFILER_BUFFER_CATEGORY_TRACING);
EQUAL(ROCPROFILER_COPIES, ROCPROFILER_BUFFER_TRACING_MEMORY_COPY);
EQUAL(ROCPROFILER_COPIES, ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MEMORY_COPY);
EQUAL(ROCPROFILER_KERNELS, ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH);
EQUAL(ROCPROFILER_KERNELS, ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_KERNEL_DISPATCH);
EQUAL(ROCPROFILER_CODE, ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT);
EQUAL(ROCPROFILER_SYMBOL, ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER);
EQUAL(ROCPROFILER_LOADED, ROCPROFILER_CALLBACK_PHASE_LOAD);
EQUAL(ROCPROFILER_LOSSLESS, ROCPROFILER_BUFFER_POLICY_LOSSLESS);
EQUAL(2, ROCPROFILER_AGENT_TYPE_GPU);
EQUAL(1, ROCPROFILER_AGENT_INFO_VERSION_0);
EQUAL(1, ROCPROFILER_MEMORY_COPY_HOST_TO_HOST);
EQUAL(2, ROCPROFILER_MEMORY_COPY_HOST_TO_DEVICE);
EQUAL(3, ROCPROFILER_MEMORY_COPY_DEVICE_TO_HOST);
EQUAL(4, ROCPROFILER_MEMORY_COPY_DEVICE_TO_DEVICE);
