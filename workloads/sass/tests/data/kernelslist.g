MemcpyHtoD,0x00007f1c00000000,640
MemcpyHtoD,0x00007f1c00001000,640
kernel-1.traceg
kernel-2.traceg.xz
kernel-3.tracez
