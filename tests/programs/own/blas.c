/* Calls of cuBLAS: a product of matrices, a sum whose result stays on the device, what does not fit, and what is not there. */
#include "runtime.h"

extern int cublasCreate_v2(void *);
extern int cublasDestroy_v2(void *);
extern int cublasSetPointerMode_v2(void *, int);
extern int cublasSetMatrix(int, int, int, const void *, int, void *, int);
extern int cublasSgemm_v2(void *, int, int, int, int, int, const float *, const float *, int, const float *, int, const float *, float *, int);
extern int cublasSdot_v2(void *, int, const float *, int, const float *, int, float *);
extern int cublasSsyrk_v2(void *, int, int, int, int, const float *, const float *, int, const float *, float *, int);
extern const char *cublasGetStatusName(int);

int main(void) {
    /* [[1, 3, 5], [2, 4, 6]] and [[1, 2], [10, 20], [100, 200]], column by column. */
    float a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 10, 100, 2, 20, 200}, c[4], one = 1, zero = 0, dot;
    float *device;
    void *handle;
    cudaMalloc(&device, 4096);
    float *da = device, *db = device + 64, *dc = device + 128, *sum = device + 192;
    printf("%d", cublasCreate_v2(&handle));
    cublasSetMatrix(2, 3, 4, a, 2, da, 2);
    cublasSetMatrix(3, 2, 4, b, 3, db, 3);
    printf(" %d", cublasSgemm_v2(handle, 0, 0, 2, 2, 3, &one, da, 2, db, 3, &zero, dc, 2));
    cudaMemcpy(c, dc, sizeof c, 2);
    cublasSetPointerMode_v2(handle, 1);
    printf(" %d", cublasSdot_v2(handle, 6, da, 1, db, 1, sum));
    cudaMemcpy(&dot, sum, sizeof dot, 2);
    cublasSetPointerMode_v2(handle, 0);
    printf(" %s", cublasGetStatusName(cublasSgemm_v2(handle, 0, 0, 2, 2, 3, &one, da, 1, db, 3, &zero, dc, 2)));
    printf(" %s", cublasGetStatusName(cublasSsyrk_v2(handle, 0, 0, 2, 2, &one, da, 2, &zero, dc, 2)));
    printf(" %d", cublasDestroy_v2(handle));
    printf(" %s\n", cublasGetStatusName(cublasDestroy_v2(handle)));
    printf("%g %g %g %g, %g, %d\n", c[0], c[1], c[2], c[3], dot, cudaGetLastError());
    return 0;
}
