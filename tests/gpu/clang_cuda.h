/* Instead of clang's own CUDA headers, which fit only the toolkits of their day (clang 14: up to
 * CUDA 11): what it takes to compile one.cu and loops.cu against any toolkit, without linking.    */
#include <cuda_runtime_api.h>

#undef __global__
#undef __device__
#undef __host__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#include <__clang_cuda_builtin_vars.h>
extern "C" unsigned __cudaPushCallConfiguration(dim3, dim3, size_t, void *);
extern "C" unsigned cudaConfigureCall(dim3, dim3, size_t, void *);
__device__ int __clzll(long long);
__device__ unsigned atomicAdd(unsigned *, unsigned);
__device__ unsigned long long atomicAdd(unsigned long long *, unsigned long long);
__device__ unsigned long long atomicMax(unsigned long long *, unsigned long long);
#define __CUDACC__ 1
