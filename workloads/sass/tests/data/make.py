#!/usr/bin/env python3
"""Writes traces as Accel-Sim's tracer does, of vector_add (c[i] = a[i] + b[i], 160 threads in blocks of 64 that cover 192), in all packings.

The instructions are those of ptxas for sm_70 (`cuobjdump -sass`); addresses and masks follow from them. Needs `pip install zstandard`.
"""
import lzma
import pathlib
import struct

import zstandard

HERE = pathlib.Path(__file__).parent
THREADS, COUNT, BLOCKS = 64, 160, 3
A, B, C = 0x7F1C00000000, 0x7F1C00001000, 0x7F1C00002000
HEADER = f"""-kernel name = _Z10vector_addPKfS0_Pfi
-kernel id = 1
-grid dim = ({BLOCKS},1,1)
-block dim = ({THREADS},1,1)
-shmem = 0
-nregs = 10
-binary version = 70
-cuda stream id = 0
-shmem base_addr = 0x00007f1c53000000
-local mem base_addr = 0x00007f1c51000000
-nvbit version = 1.5.5
-accelsim tracer version = 4

#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses] immediate
"""


def warp(first):
    """Lines of the warp whose first thread has this number in the grid."""
    alive = sum(1 << lane for lane in range(32) if first + lane < COUNT)
    exits = ~alive & 0xFFFFFFFF
    yield "0000 ffffffff 1 R1 IMAD.MOV.U32 2 R255 R255 0 0"
    yield "0010 ffffffff 1 R0 S2R 0 0 0"
    yield "0020 ffffffff 1 R3 S2R 0 0 0"
    yield "0030 ffffffff 1 R0 IMAD 2 R0 R3 0 0"
    yield "0040 ffffffff 0 ISETP.GE.AND 1 R0 0 0"
    yield f"0050 {exits:08x} 0 EXIT 0 0 0"
    if not alive:
        return
    yield f"0060 {alive:08x} 1 R7 MOV 0 0 4"
    yield f"0070 {alive:08x} 1 R2 IMAD.WIDE 2 R0 R7 0 0"
    yield f"0080 {alive:08x} 1 R4 IMAD.WIDE 2 R0 R7 0 0"
    at = f"4 1 0x{{:012x}} 4 0"
    yield f"0090 {alive:08x} 1 R2 LDG.E.SYS 1 R2 " + at.format(A + 4 * first)
    yield f"00a0 {alive:08x} 1 R5 LDG.E.SYS 1 R4 " + at.format(B + 4 * first)
    yield f"00b0 {alive:08x} 1 R6 IMAD.WIDE 2 R0 R7 0 0"
    yield f"00c0 {alive:08x} 1 R9 FADD 2 R2 R5 0 0"
    yield f"00d0 {alive:08x} 0 STG.E.SYS 2 R6 R9 " + at.format(C + 4 * first)
    yield f"00e0 {alive:08x} 0 EXIT 0 0 0"


def blocks():
    for block in range(BLOCKS):
        yield block, [list(warp(block * THREADS + at)) for at in range(0, THREADS, 32)]


def text():
    parts = [HEADER]
    for block, warps in blocks():
        parts.append(f"\n#BEGIN_TB\n\nthread block = {block},0,0\n")
        for number, lines in enumerate(warps):
            parts.append(f"\nwarp = {number}\ninsts = {len(lines)}\n" + "".join(line + "\n" for line in lines))
        parts.append("\n#END_TB\n")
    return "".join(parts)


def indexed():
    """Version 2.0's packing: pieces of at most eight lines here, with a trained dictionary."""
    lines = [line for _, warps in blocks() for warp in warps for line in warp]
    dictionary = zstandard.train_dictionary(1024, [line.encode() for line in lines * 40])
    packer = zstandard.ZstdCompressor(level=3, dict_data=dictionary)
    raw = dictionary.as_bytes()
    file = HEADER.encode() + b"\0" + struct.pack("<II", len(raw), 8) + raw
    index = struct.pack("<I", BLOCKS)
    for block, warps in blocks():
        index += struct.pack("<11I", block, 0, 0, 0, 0, 0, 0, 0, 0, 0, len(warps))
        for lines in warps:
            pieces = [lines[at : at + 8] for at in range(0, len(lines), 8)]
            index += struct.pack("<IIQ", len(lines), len(pieces), len(file))
            index += b"".join(struct.pack("<I", len(piece)) for piece in pieces)
            file += struct.pack("<II", len(lines), len(pieces))
            for piece in pieces:
                packed = packer.compress("\n".join(piece).encode())
                file += struct.pack("<I", len(packed)) + packed
    return file + index + struct.pack("<Q", len(file))


(HERE / "kernel-1.traceg").write_text(text())
(HERE / "kernel-2.traceg.xz").write_bytes(lzma.compress(text().encode()))
(HERE / "kernel-3.tracez").write_bytes(indexed())
copies = "".join(f"MemcpyHtoD,0x{at:016x},{4 * COUNT}\n" for at in (A, B))
(HERE / "kernelslist.g").write_text(copies + "kernel-1.traceg\nkernel-2.traceg.xz\nkernel-3.tracez\n")
