/* OpenCL behind the table of perf_gpu_driver.h, as much as scopes and loops need: with pocl real
 * kernels run on the processor's cores, in real queues, asynchronously, with the device's own times.
 * A stream is a command queue in order, an event the newest marker recorded into it. */
#ifndef TEST_OPENCL_H
#define TEST_OPENCL_H
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../perf_gpu_bench.h"

#define OCL_FAILED 999

typedef struct ocl_event {
    cl_event marker;                    /* NULL: never recorded */
} ocl_event;

static cl_context   ocl_context;
static cl_device_id ocl_device;

static int ocl_ctx_get(void **ctx)
{
    *ctx = ocl_context;
    return 0;
}

static int ocl_ctx_set(void *ctx)
{
    return ctx != ocl_context;
}

static int ocl_stream_ctx(void *stream, void **ctx)
{
    cl_context c = NULL;

    if (clGetCommandQueueInfo((cl_command_queue)stream, CL_QUEUE_CONTEXT, sizeof c, &c, NULL))
        return 400;
    *ctx = c;
    return 0;
}

static int ocl_event_create(void **event, unsigned flags)
{
    (void)flags;
    *event = calloc(1, sizeof(ocl_event));
    return *event ? 0 : 2;
}

static int ocl_event_destroy(void *event)
{
    ocl_event *e = (ocl_event *)event;

    if (e->marker)
        clReleaseEvent(e->marker);
    free(e);
    return 0;
}

static int ocl_marker(void *stream, cl_event *marker)
{
    if (clEnqueueMarkerWithWaitList((cl_command_queue)stream, 0, NULL, marker))
        return OCL_FAILED;
    return clFlush((cl_command_queue)stream) ? OCL_FAILED : 0;
}

static int ocl_event_record(void *event, void *stream)
{
    ocl_event *e = (ocl_event *)event;
    cl_event   marker = NULL;
    int        code = ocl_marker(stream, &marker);

    if (code)
        return code;
    if (e->marker)
        clReleaseEvent(e->marker);
    e->marker = marker;
    return 0;
}

static int ocl_status(cl_event marker)
{
    cl_int status = CL_COMPLETE;

    if (clGetEventInfo(marker, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL) || status < 0)
        return OCL_FAILED;
    return status == CL_COMPLETE ? 0 : PERF_GPU_NOT_READY;
}

static int ocl_event_query(void *event)
{
    ocl_event *e = (ocl_event *)event;

    return e->marker ? ocl_status(e->marker) : 0;
}

static int ocl_event_sync(void *event)
{
    ocl_event *e = (ocl_event *)event;

    return e->marker && clWaitForEvents(1, &e->marker) ? OCL_FAILED : 0;
}

static int ocl_event_elapsed(float *ms, void *start, void *stop)
{
    ocl_event *e[2];
    cl_ulong   at[2] = {0, 0};
    int        i, code;

    e[0] = (ocl_event *)start;
    e[1] = (ocl_event *)stop;
    for (i = 0; i < 2; i++) {
        if (!e[i]->marker)
            return 400;
        code = ocl_status(e[i]->marker);
        if (code)
            return code;
        if (clGetEventProfilingInfo(e[i]->marker, CL_PROFILING_COMMAND_END, sizeof at[i], &at[i], NULL))
            return OCL_FAILED;
    }
    *ms = (float)((double)(cl_long)(at[1] - at[0]) * 1e-6);
    return 0;
}

static int ocl_stream_query(void *stream)
{
    cl_event marker = NULL;
    int      code = ocl_marker(stream, &marker);

    if (code)
        return code;
    code = ocl_status(marker);
    clReleaseEvent(marker);
    return code;
}

static int ocl_stream_sync(void *stream)
{
    return clFinish((cl_command_queue)stream) ? OCL_FAILED : 0;
}

typedef struct ocl_call {
    void (*fn)(void *);
    void  *user;
} ocl_call;

static void CL_CALLBACK ocl_called(void *call)
{
    ocl_call *c = (ocl_call *)call;

    c->fn(c->user);
}

/* The gate: a function of the host in the queue. */
static int ocl_host_func(void *stream, void (*fn)(void *), void *user)
{
    ocl_call c;

    c.fn = fn;
    c.user = user;
    if (clEnqueueNativeKernel((cl_command_queue)stream, ocl_called, &c, sizeof c, 0, NULL, NULL, 0, NULL, NULL))
        return 801;
    return clFlush((cl_command_queue)stream) ? OCL_FAILED : 0;
}

static int ocl_error_name(int code, const char **text)
{
    (void)code;
    *text = "OPENCL_ERROR";
    return 0;
}

/* 0: no OpenCL device here. */
static int ocl_start(void)
{
    static perf_gpu_backend t;
    cl_platform_id          platform;
    cl_int                  code = 0;
    char                    name[200] = "";

    if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &ocl_device, NULL))
        return 0;
    ocl_context = clCreateContext(NULL, 1, &ocl_device, NULL, NULL, &code);
    if (code)
        return 0;
    (void)clGetDeviceInfo(ocl_device, CL_DEVICE_NAME, sizeof name - 1, name, NULL);
    printf("OpenCL on %s\n", name);
    t.size = sizeof t;
    t.name = "OpenCL";
    t.ctx_get = ocl_ctx_get;
    t.ctx_set = ocl_ctx_set;
    t.stream_ctx = ocl_stream_ctx;
    t.event_create = ocl_event_create;
    t.event_destroy = ocl_event_destroy;
    t.event_record = ocl_event_record;
    t.event_query = ocl_event_query;
    t.event_sync = ocl_event_sync;
    t.event_elapsed = ocl_event_elapsed;
    t.stream_query = ocl_stream_query;
    t.stream_sync = ocl_stream_sync;
    t.host_func = ocl_host_func;
    t.error_name = ocl_error_name;
    return perf_gpu_use(&t) == PERF_OK;
}

static cl_command_queue ocl_stream(void)
{
    cl_int code = 0;

    return clCreateCommandQueue(ocl_context, ocl_device, CL_QUEUE_PROFILING_ENABLE, &code);
}

#endif /* TEST_OPENCL_H */
