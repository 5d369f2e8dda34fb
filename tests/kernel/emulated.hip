/* kernels.cu for emulated.sh: without ROCm's device library, whose three functions stand here. */
#include "kernels.cu"

#define OF_AXIS(d, kind) ((d) == 0 ? __builtin_amdgcn_##kind##_x() : (d) == 1                     \
                          ? __builtin_amdgcn_##kind##_y() : __builtin_amdgcn_##kind##_z())

extern "C" __device__ __attribute__((const)) size_t __ockl_get_group_id(unsigned d)
{
    return OF_AXIS(d, workgroup_id);
}

extern "C" __device__ __attribute__((const)) size_t __ockl_get_local_id(unsigned d)
{
    return OF_AXIS(d, workitem_id);
}

extern "C" __device__ __attribute__((const)) size_t __ockl_get_local_size(unsigned d)
{
    return d == 0 ? 64 : 1;             /* THREADS of emulated.c */
}
