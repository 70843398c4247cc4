/* Launches a kernel many times, each behind where the last one worked, every other one for twice as long, and some CTAs for longer than others. */
#include "runtime.h"

static const char *ptx =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry rounds(.param .u64 p, .param .u32 n)\n{\n"
    " .reg .pred %p<2>;\n .reg .b32 %r<10>;\n .reg .b64 %rd<4>;\n"
    " ld.param.u64 %rd1, [p];\n ld.param.u32 %r1, [n];\n"
    " mov.u32 %r2, %ctaid.x;\n mov.u32 %r3, %ntid.x;\n mov.u32 %r4, %tid.x;\n"
    " mad.lo.s32 %r5, %r2, %r3, %r4;\n mul.wide.u32 %rd2, %r5, 4;\n add.s64 %rd3, %rd1, %rd2;\n"
    " and.b32 %r6, %r2, 3;\n add.u32 %r1, %r1, %r6;\n mov.u32 %r7, 0;\n"
    "AGAIN:\n ld.global.u32 %r8, [%rd3];\n mad.lo.s32 %r8, %r8, 3, 1;\n st.global.u32 [%rd3], %r8;\n"
    " add.u32 %r7, %r7, 1;\n setp.lt.u32 %p1, %r7, %r1;\n @%p1 bra AGAIN;\n"
    " ret;\n}\n";

static void rounds(void) {}

int main(int count, char **words) {
    int launches = count > 1 ? atoi(words[1]) : 40;
    unsigned *device;
    void *from, *until;
    float milliseconds = -1;
    void *unit = register_ptx(ptx);
    register_kernel(unit, (void *)rounds, "rounds");
    __cudaRegisterFatBinaryEnd(unit);
    cudaMalloc(&device, 4 * (8 * 128 + 32 * launches));
    cudaEventCreate(&from);
    cudaEventCreate(&until);
    cudaEventRecord(from, 0);
    for (unsigned i = 0; i < launches; i++) {
        unsigned *from_here = device + 32 * i, n = (12 + i % 3) << (i & 1);
        void *arguments[] = {&from_here, &n};
        launch((void *)rounds, 8, 128, arguments);
    }
    cudaEventRecord(until, 0);
    cudaEventElapsedTime(&milliseconds, from, until);
    printf("%.9f\n", milliseconds);
    return cudaGetLastError();
}
