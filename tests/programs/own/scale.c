/* Doubles numbers in device memory and in managed memory, again and again, and checks them. */
#include "runtime.h"

static const char *ptx =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry twice(.param .u64 p, .param .u32 n)\n{\n"
    " .reg .pred %p<2>;\n .reg .b32 %r<8>;\n .reg .b64 %rd<4>;\n"
    " ld.param.u64 %rd1, [p];\n ld.param.u32 %r1, [n];\n"
    " mov.u32 %r2, %ctaid.x;\n mov.u32 %r3, %ntid.x;\n mov.u32 %r4, %tid.x;\n"
    " mad.lo.s32 %r5, %r2, %r3, %r4;\n setp.ge.u32 %p1, %r5, %r1;\n @%p1 bra DONE;\n"
    " mul.wide.u32 %rd2, %r5, 4;\n add.s64 %rd3, %rd1, %rd2;\n"
    " ld.global.u32 %r6, [%rd3];\n add.u32 %r7, %r6, %r6;\n st.global.u32 [%rd3], %r7;\n"
    "DONE:\n ret;\n}\n";

static void twice(void) {}

int main(int count, char **words) {
    int launches = count > 1 ? atoi(words[1]) : 3;
    unsigned n = 1000, host[1000], *device, *managed;
    void *from, *until;
    float milliseconds = -1;
    void *unit = register_ptx(ptx);
    register_kernel(unit, (void *)twice, "twice");
    __cudaRegisterFatBinaryEnd(unit);
    for (unsigned i = 0; i < n; i++) host[i] = i;
    cudaMalloc(&device, sizeof host);
    cudaMallocManaged(&managed, sizeof host, 1);
    cudaMemcpy(device, host, sizeof host, 1);
    memcpy(managed, host, sizeof host);
    cudaEventCreate(&from);
    cudaEventCreate(&until);
    cudaEventRecord(from, 0);
    for (int i = 0; i < launches; i++) {
        void *arguments[] = {&device, &n}, *others[] = {&managed, &n};
        launch((void *)twice, 4, 256, arguments);
        if (i == 0) launch((void *)twice, 4, 256, others);
    }
    cudaEventRecord(until, 0);
    cudaDeviceSynchronize();
    cudaEventElapsedTime(&milliseconds, from, until);
    cudaMemcpy(host, device, sizeof host, 2);
    unsigned wrong = 0;
    for (unsigned i = 0; i < n; i++) wrong += host[i] != i << (launches & 31) || managed[i] != 2 * i;
    cudaFree(device);
    cudaFree(managed);
    printf("%s, %s\n", wrong || cudaGetLastError() ? "FAIL" : "PASS", milliseconds > 0 ? "timed" : "not timed");
    return wrong ? 1 : 7;
}
