/* Kernels whose machine code sass.py counts, for nvcc and hipcc.  N scopes in a row, each around one
 * multiply-add; BARE: the same kernels without a word of instrumentation.                        */
#if defined(__HIPCC__)
#include <hip/hip_runtime.h>
#endif
#include <stdint.h>
#if !defined(BARE)
#include "perf_kernel.h"
#else
typedef struct perf_kernel_buffer perf_kernel_buffer;
typedef struct perf_kernel_total perf_kernel_total;
typedef struct perf_hist perf_hist;
#define PERF_KERNEL_SCOPE(s, id)          (void)0
#define PERF_KERNEL_INSTANT(s, id, value) (void)(id), (void)(value)
#define PERF_KERNEL_SUM(s)                (void)0
#define PERF_KERNEL_HIST(h)               (void)0
#endif
#ifndef N
#define N 8
#endif

template <int I> struct rows {
    template <class Sink> static __device__ __forceinline__ float ring(Sink &s, float x, float y)
    {
        {
            PERF_KERNEL_SCOPE(s, I);
            x = x * y + y;
        }
        return rows<I - 1>::ring(s, x, y);
    }
    template <class Sum> static __device__ __forceinline__ float sum(Sum &s, float x, float y)
    {
        {
            PERF_KERNEL_SUM(s);
            x = x * y + y;
        }
        return rows<I - 1>::sum(s, x, y);
    }
};
template <> struct rows<0> {
    template <class Sink> static __device__ __forceinline__ float ring(Sink &, float x, float)
    {
        return x;
    }
    template <class Sum> static __device__ __forceinline__ float sum(Sum &, float x, float)
    {
        return x;
    }
};

extern "C" __global__ void ring(perf_kernel_buffer *buffer, float *x, float y)
{
#if !defined(BARE)
    perf_kernel_sink s(buffer);
#else
    int s;
#endif
    x[threadIdx.x] = rows<N>::ring(s, x[threadIdx.x], y);
}

extern "C" __global__ void loop(perf_kernel_buffer *buffer, float *x, float y, int n)
{
#if !defined(BARE)
    perf_kernel_sink s(buffer);
#endif
    float v = x[threadIdx.x];
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        PERF_KERNEL_SCOPE(s, 7);
        v = v * y + y;
    }
    x[threadIdx.x] = v;
}

extern "C" __global__ void loop2(perf_kernel_buffer *buffer, float *x, float y, int n)
{
#if !defined(BARE)
    perf_kernel_sink s(buffer);
#endif
    float v = x[threadIdx.x];
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        {
            PERF_KERNEL_SCOPE(s, 7);
            v = v * y + y;
        }
        {
            PERF_KERNEL_SCOPE(s, 8);
            v = v * y + y;
        }
    }
    x[threadIdx.x] = v;
}

/* What is loaded inside is loaded there, though it has been loaded before. */
extern "C" __global__ void again(perf_kernel_buffer *buffer, float *x, const float *y)
{
#if !defined(BARE)
    perf_kernel_sink s(buffer);
#endif
    float before = y[threadIdx.x];
    {
        PERF_KERNEL_SCOPE(s, 7);
        x[threadIdx.x] = before + y[threadIdx.x];
    }
}

/* What only marks use is no unused variable where they are off. */
extern "C" __global__ void moments(perf_kernel_buffer *buffer, float *x)
{
#if !defined(BARE)
    perf_kernel_sink s(buffer);
#endif
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t id = 9, value = i;
        PERF_KERNEL_INSTANT(s, id, value);
        x[threadIdx.x] *= 2;
    }
}

extern "C" __global__ void sumloop(perf_kernel_total *total, float *x, float y, int n)
{
#if !defined(BARE)
    perf_kernel_sum s(total);
#endif
    float v = x[threadIdx.x];
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        PERF_KERNEL_SUM(s);
        v = v * y + y;
    }
    x[threadIdx.x] = v;
}

extern "C" __global__ void sum(perf_kernel_total *total, float *x, float y)
{
#if !defined(BARE)
    perf_kernel_sum s(total);
#else
    int s;
#endif
    x[threadIdx.x] = rows<N>::sum(s, x[threadIdx.x], y);
}

extern "C" __global__ void hist(perf_hist *h, float *x, float y)
{
    PERF_KERNEL_HIST(h);
    x[threadIdx.x] = x[threadIdx.x] * y + y;
}
