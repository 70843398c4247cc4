/* Of three elements a kernel adds four, and its lanes exchange values with a mask that names the lower half only: a GPU notices neither. */
#include "runtime.h"

static const char *ptx =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry careless(.param .u64 p)\n{\n"
    " .reg .pred %p<2>;\n .reg .b32 %r<5>;\n .reg .b64 %rd<4>;\n"
    " ld.param.u64 %rd1, [p];\n mov.u32 %r1, %tid.x;\n"
    " shfl.sync.up.b32 %r2, %r1, 16, 0, 0xffff;\n"
    " setp.gt.u32 %p1, %r1, 19;\n @%p1 bra DONE;\n setp.lt.u32 %p1, %r1, 16;\n @%p1 bra DONE;\n"
    " mul.wide.u32 %rd2, %r2, 4;\n add.s64 %rd3, %rd1, %rd2;\n"
    " ld.global.u32 %r3, [%rd3];\n add.u32 %r4, %r3, %r2;\n st.global.u32 [%rd3], %r4;\n"
    "DONE:\n ret;\n}\n";

static void careless(void) {}

int main(void) {
    unsigned host[4] = {10, 20, 30, 0}, *device, *other;
    void *unit = register_ptx(ptx);
    register_kernel(unit, (void *)careless, "careless");
    cudaMalloc(&device, 256);
    cudaMalloc(&other, 4);
    device += 61; /* 12 bytes in front of its end */
    cudaMemcpy(device, host, 12, 1);
    void *arguments[] = {&device};
    launch((void *)careless, 1, 32, arguments);
    int code = cudaDeviceSynchronize();
    cudaMemcpy(host, device, 12, 2);
    printf("%d: %u %u %u\n", code, host[0], host[1], host[2]);
    return 0;
}
