// What a device library would give: without one (`-nogpulib`) clang's builtins do. Sizes are the hidden arguments of code object version 5.
#define GROUP_X ((int)__builtin_amdgcn_workgroup_id_x())
#define GROUP_Y ((int)__builtin_amdgcn_workgroup_id_y())
#define ITEM_X ((int)__builtin_amdgcn_workitem_id_x())
#define ITEM_Y ((int)__builtin_amdgcn_workitem_id_y())
#define GROUPS_X ((int)((__constant uint*)__builtin_amdgcn_implicitarg_ptr())[0])
#define ITEMS_X ((int)((__constant ushort*)__builtin_amdgcn_implicitarg_ptr())[6])
#define ITEMS_Y ((int)((__constant ushort*)__builtin_amdgcn_implicitarg_ptr())[7])
#define KERNEL(most) __attribute__((amdgpu_flat_work_group_size(1, most))) __kernel
#define MEET()                                              \
  do {                                                      \
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");  \
    __builtin_amdgcn_s_barrier();                           \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");  \
  } while (0)
