#!/usr/bin/env python3
"""Runs the kernels of a folder on the first GPU: measure.py FOLDER. Needs the CUDA driver and nothing else."""
import ctypes as C
import os
import sys

folder = sys.argv[1]
cuda = C.CDLL("libcuda.so.1")


def call(name, *args):
    code = getattr(cuda, name)(*args)
    if code:
        sys.exit(f"{name}: error {code}")


def read(name):
    with open(os.path.join(folder, name), "rb") as file:
        return file.read()


call("cuInit", C.c_uint(0))
device, context = C.c_int(), C.c_void_p()
call("cuDeviceGet", C.byref(device), C.c_int(0))
call("cuDevicePrimaryCtxRetain", C.byref(context), device)
call("cuCtxSetCurrent", context)
name = C.create_string_buffer(100)
call("cuDeviceGetName", name, 100, device)
print(name.value.decode())

inputs = read("inputs.bin")
lines = [line.split() for line in read("list.txt").decode().splitlines()]
source, target = C.c_uint64(), C.c_uint64()
call("cuMemAlloc_v2", C.byref(source), C.c_size_t(len(inputs)))
call("cuMemcpyHtoD_v2", source, C.c_char_p(inputs), C.c_size_t(len(inputs)))
room = max(int(line[5]) for line in lines if line[0] != "module")
call("cuMemAlloc_v2", C.byref(target), C.c_size_t(room))

module = C.c_void_p()
results = []
for line in lines:
    if line[0] == "module":
        call("cuModuleLoadData", C.byref(module), C.c_char_p(read(line[1]) + b"\0"))
        continue
    block, grid, shared, fill, out = map(int, line[1:])
    function = C.c_void_p()
    call("cuModuleGetFunction", C.byref(function), module, line[0].encode())
    call("cuMemsetD8_v2", target, C.c_ubyte(fill), C.c_size_t(out))
    addresses = (C.c_void_p * 2)(*(C.cast(C.pointer(it), C.c_void_p) for it in (source, target)))
    call("cuLaunchKernel", function, grid, 1, 1, block, 1, 1, shared, None, addresses, None)
    call("cuCtxSynchronize")
    bytes_ = C.create_string_buffer(out)
    call("cuMemcpyDtoH_v2", bytes_, target, C.c_size_t(out))
    results.append(bytes_.raw)
with open(os.path.join(folder, "results.bin"), "wb") as file:
    file.write(b"".join(results))
