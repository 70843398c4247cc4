/* Stores through a null pointer, and sees what every call answers from then on. */
#include "runtime.h"

static const char *ptx =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry wild()\n{\n .reg .b64 %rd<2>;\n mov.u64 %rd1, 0;\n st.global.u32 [%rd1], 1;\n ret;\n}\n";

static void wild(void) {}

int main(void) {
    void *unit = register_ptx(ptx), *memory;
    register_kernel(unit, (void *)wild, "wild");
    launch((void *)wild, 1, 1, 0);
    int first = cudaDeviceSynchronize(), then = cudaMalloc(&memory, 8), last = cudaGetLastError();
    printf("%s %d %d\n", cudaGetErrorName(first), then, last);
    return 0;
}
