// What the kernels need of OpenCL C where there is no device library.
#define KERNEL __attribute__((amdgpu_flat_work_group_size(1, 256))) __kernel
#define LOCAL_ID(d) __builtin_amdgcn_workitem_id_##d()
#define GROUP_ID(d) __builtin_amdgcn_workgroup_id_##d()
#define BARRIER() do { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); } while (0)
typedef unsigned int u32;
typedef unsigned long u64;
typedef unsigned char u8;
typedef unsigned short u16;
