// Local data share, barriers, atomics on both memories, a two-dimensional group.
#include "../common.h"

KERNEL void group_sum(__global const int *in, __global int *sums, __global int *seen) {
    __local int tree[128];
    __local int low;
    u32 id = LOCAL_ID(y) * 32 + LOCAL_ID(x);
    u32 i = (GROUP_ID(y) * 2 + GROUP_ID(x)) * 128 + id;
    if (id == 0)
        low = 0x7fffffff;
    tree[id] = in[i];
    BARRIER();
    __opencl_atomic_fetch_min((volatile __local atomic_int *)&low, in[i], __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_WORK_GROUP);
    for (u32 apart = 64; apart > 0; apart >>= 1) {
        if (id < apart)
            tree[id] += tree[id + apart];
        BARRIER();
    }
    if (id == 0) {
        u32 group = GROUP_ID(y) * 2 + GROUP_ID(x);
        sums[2 * group] = tree[0];
        sums[2 * group + 1] = low;
        __opencl_atomic_fetch_add((volatile __global atomic_int *)seen, tree[0], __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
        __opencl_atomic_fetch_max((volatile __global atomic_int *)(seen + 1), low, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
    }
}
