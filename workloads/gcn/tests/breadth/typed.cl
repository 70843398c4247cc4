// Instructions that no compiler writes for gfx600, by inline assembly: comparisons of every kind, typed buffers, scalar buffers.
#define K __attribute__((amdgpu_flat_work_group_size(64, 64))) __kernel
typedef int i4 __attribute__((ext_vector_type(4)));
typedef float f4 __attribute__((ext_vector_type(4)));
typedef float f2 __attribute__((ext_vector_type(2)));
typedef float f3 __attribute__((ext_vector_type(3)));
K void odd(__global const int* a, __global int* o, __global const float* f, __global float* g, int u, int w) {
  int t = __builtin_amdgcn_workitem_id_x(); int x = a[t];
  int r0, r1, r2, r3; long m0, m1, m2, m3, m4, m5, m6, m7, m8;
  ulong ga = (ulong)a;
  i4 rs = (i4)((int)ga, (int)(ga >> 32) & 0xffff, -1, 0x00027fac);
  i4 rw; ulong gg = (ulong)g; rw = (i4)((int)gg, (int)(gg >> 32) & 0xffff, -1, 0x00027fac);
  ulong gf = (ulong)f; i4 rf = (i4)((int)gf, (int)(gf >> 32) & 0xffff, -1, 0x00027fac);
  int b0; long b1;
  __asm__ volatile("s_buffer_load_dword %0, %1, 0x3\n s_waitcnt lgkmcnt(0)" : "=s"(b0) : "s"(rs));
  __asm__ volatile("s_buffer_load_dwordx2 %0, %1, 0x4\n s_waitcnt lgkmcnt(0)" : "=s"(b1) : "s"(rs));
  __asm__ volatile("s_cmp_eq_i32 %1, %2\n s_mov_b32 %0, 7\n s_cmov_b32 %0, 9" : "=s"(r0) : "s"(u), "s"(w) : "scc");
  __asm__ volatile("s_cmp_lg_i32 %1, %2\n s_mov_b32 %0, 7\n s_cmov_b32 %0, 9" : "=s"(r1) : "s"(u), "s"(w) : "scc");
  __asm__ volatile("s_sub_u32 %0, %1, %2" : "=s"(r2) : "s"(u), "s"(w) : "scc");
  __asm__ volatile("v_mul_lo_i32 %0, %1, %2" : "=v"(r3) : "v"(x), "v"(t + 3));
  __asm__ volatile("v_cmp_eq_i32_e64 %0, %1, %2" : "=s"(m0) : "v"(x), "v"(t));
  __asm__ volatile("v_cmp_f_f32_e64 %0, %1, %2" : "=s"(m1) : "v"(x), "v"(t));
  __asm__ volatile("v_cmp_tru_f32_e64 %0, %1, %2" : "=s"(m2) : "v"(x), "v"(t));
  __asm__ volatile("v_cmp_t_i32_e64 %0, %1, %2" : "=s"(m3) : "v"(x), "v"(t));
  __asm__ volatile("v_cmp_f_u32_e64 %0, %1, %2" : "=s"(m4) : "v"(x), "v"(t));
  __asm__ volatile("v_cmp_lg_f32_e64 %0, %1, %2" : "=s"(m5) : "v"((float)x), "v"((float)t));
  __asm__ volatile("v_cmp_nlg_f32_e64 %0, %1, %2" : "=s"(m6) : "v"((float)x), "v"((float)t));
  __asm__ volatile("v_cmp_ne_i32_e64 %0, %1, %2" : "=s"(m7) : "v"(x), "v"(t));
  __asm__ volatile("v_cmp_t_u32_e64 %0, %1, %2" : "=s"(m8) : "v"(x), "v"(t));
  float l1; f2 l2; f3 l3; f4 l4; int at = 16 * t;
  __asm__ volatile("tbuffer_load_format_x %0, %1, %2, dfmt:4, nfmt:7, 0 offen\n s_waitcnt vmcnt(0)" : "=v"(l1) : "v"(at), "s"(rf));
  __asm__ volatile("tbuffer_load_format_xy %0, %1, %2, dfmt:11, nfmt:7, 0 offen\n s_waitcnt vmcnt(0)" : "=v"(l2) : "v"(at), "s"(rf));
  __asm__ volatile("tbuffer_load_format_xyz %0, %1, %2, dfmt:13, nfmt:7, 0 offen\n s_waitcnt vmcnt(0)" : "=v"(l3) : "v"(at), "s"(rf));
  __asm__ volatile("tbuffer_load_format_xyzw %0, %1, %2, dfmt:14, nfmt:7, 0 offen\n s_waitcnt vmcnt(0)" : "=v"(l4) : "v"(at), "s"(rf));
  int q = 40 * t;
  __asm__ volatile("tbuffer_store_format_x %0, %1, %2, dfmt:4, nfmt:7, 0 offen" :: "v"(l1), "v"(q), "s"(rw) : "memory");
  __asm__ volatile("tbuffer_store_format_xy %0, %1, %2, dfmt:11, nfmt:7, 0 offen offset:4" :: "v"(l2), "v"(q), "s"(rw) : "memory");
  __asm__ volatile("tbuffer_store_format_xyz %0, %1, %2, dfmt:13, nfmt:7, 0 offen offset:12" :: "v"(l3), "v"(q), "s"(rw) : "memory");
  __asm__ volatile("tbuffer_store_format_xyzw %0, %1, %2, dfmt:14, nfmt:7, 0 offen offset:24" :: "v"(l4), "v"(q), "s"(rw) : "memory");
  __global int* p = o + 15 * t;
#define BIT(m) (int)((ulong)m >> t & 1)
  p[0] = r0; p[1] = r1; p[2] = r2; p[3] = r3; p[4] = BIT(m0); p[5] = BIT(m1); p[6] = BIT(m2); p[7] = BIT(m3); p[8] = BIT(m4); p[9] = BIT(m5); p[10] = BIT(m6); p[11] = BIT(m7); p[12] = BIT(m8); p[13] = b0; p[14] = (int)b1 ^ (int)(b1 >> 32);
}
