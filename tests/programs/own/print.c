/* Prints in a kernel, before and after what the host prints itself, and asserts what does not hold. */
#include "runtime.h"

static const char *ptx =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n"
    ".extern .func __assertfail (.param .b64 a, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);\n"
    ".global .align 1 .b8 format[7] = {107, 32, 37, 100, 37, 99, 0};\n" /* "k %d%c" */
    ".global .align 1 .b8 text[2] = {120, 0};\n"
    ".visible .entry tell(.param .u32 fails)\n{\n"
    " .local .align 8 .b8 values[8];\n .reg .pred %p<2>;\n .reg .b32 %r<4>;\n .reg .b64 %rd<4>;\n"
    " ld.param.u32 %r1, [fails];\n setp.eq.u32 %p1, %r1, 0;\n mov.u32 %r2, %tid.x;\n"
    " st.local.u32 [values], %r2;\n mov.u32 %r3, 10;\n st.local.u32 [values+4], %r3;\n"
    " mov.u64 %rd1, format;\n cvta.global.u64 %rd1, %rd1;\n mov.u64 %rd2, values;\n cvta.local.u64 %rd2, %rd2;\n"
    " mov.u64 %rd3, text;\n cvta.global.u64 %rd3, %rd3;\n"
    " { .param .b64 f; st.param.b64 [f], %rd1; .param .b64 a; st.param.b64 [a], %rd2; .param .b32 r; call.uni (r), vprintf, (f, a); }\n"
    " @%p1 bra DONE;\n"
    " { .param .b64 a; st.param.b64 [a], %rd3; .param .b64 f; st.param.b64 [f], %rd3; .param .b32 l; st.param.b32 [l], 9;\n"
    "   .param .b64 n; st.param.b64 [n], %rd3; .param .b64 s; st.param.b64 [s], 1; call.uni __assertfail, (a, f, l, n, s); }\n"
    "DONE:\n ret;\n}\n";

static void tell(void) {}

int main(void) {
    void *unit = register_ptx(ptx);
    register_kernel(unit, (void *)tell, "tell");
    unsigned fails = 0;
    void *arguments[] = {&fails};
    launch((void *)tell, 1, 2, arguments);
    printf("launched\n");
    cudaDeviceSynchronize();
    printf("waited\n");
    fails = 1;
    launch((void *)tell, 1, 1, arguments);
    int code = cudaDeviceSynchronize();
    printf("%d %s\n", code, cudaGetErrorName(code));
    return 0;
}
