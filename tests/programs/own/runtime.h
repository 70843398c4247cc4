/* What these programs need of CUDA's runtime, and of what a compiler would register before `main`. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dim3 { unsigned x, y, z; };

extern void *__cudaRegisterFatBinary(void *);
extern int __cudaRegisterFatBinaryEnd(void *);
extern int __cudaRegisterFunction(void *, const void *, char *, const char *, int, void *, void *, void *, void *, int *);
extern int __cudaPushCallConfiguration(struct dim3, struct dim3, size_t, void *);
extern int __cudaPopCallConfiguration(struct dim3 *, struct dim3 *, size_t *, void **);
extern int cudaLaunchKernel(const void *, struct dim3, struct dim3, void **, size_t, void *);
extern int cudaMalloc(void *, size_t);
extern int cudaMallocManaged(void *, size_t, unsigned);
extern int cudaFree(void *);
extern int cudaMemcpy(void *, const void *, size_t, int);
extern int cudaDeviceSynchronize(void);
extern int cudaGetLastError(void);
extern int cudaEventCreate(void *);
extern int cudaEventRecord(void *, void *);
extern int cudaEventElapsedTime(float *, void *, void *);
extern const char *cudaGetErrorName(int);

/* A container with one text of PTX, as a compiler lays it out. */
static void *register_ptx(const char *text) {
    size_t bytes = strlen(text) + 1, padded = (bytes + 7) / 8 * 8;
    char *container = calloc(1, 16 + 64 + padded);
    *(uint32_t *)container = 0xba55ed50;
    *(uint16_t *)(container + 4) = 1;
    *(uint16_t *)(container + 6) = 16;
    *(uint64_t *)(container + 8) = 64 + padded;
    char *entry = container + 16;
    *(uint16_t *)entry = 1;
    *(uint32_t *)(entry + 4) = 64;
    *(uint64_t *)(entry + 8) = padded;
    *(uint32_t *)(entry + 28) = 80;
    strcpy(entry + 64, text);
    static struct { uint32_t magic, version; void *data, *unused; } wrapper;
    wrapper.magic = 0x466243b1;
    wrapper.version = 1;
    wrapper.data = container;
    return __cudaRegisterFatBinary(&wrapper);
}

static void register_kernel(void *unit, const void *host, const char *name) {
    __cudaRegisterFunction(unit, host, (char *)name, name, -1, 0, 0, 0, 0, 0);
}

/* kernel<<<blocks, threads>>>(...) */
static int launch(const void *host, unsigned blocks, unsigned threads, void **arguments) {
    struct dim3 grid = {blocks, 1, 1}, block = {threads, 1, 1}, g, b;
    size_t shared;
    void *stream;
    __cudaPushCallConfiguration(grid, block, 0, 0);
    __cudaPopCallConfiguration(&g, &b, &shared, &stream);
    return cudaLaunchKernel(host, g, b, arguments, shared, stream);
}
