#!/usr/bin/env python3
"""Writes units.toml, scaling.toml, rows.toml, dram.toml and upsets.toml from the facts below.

usage: generate.py OUTPUT_FOLDER

Uncertainties are one sigma, relative, of the value as a statement about silicon: 0.15 where several independent copies of a published table agree,
0.3 where one document or a quotation of it was read, 0.5 where a value is quoted from talks and summaries without the document at hand.
`how`: published = read in copies that agree; quoted = read in somebody else's quotation; recalled = from memory, no document at hand.
"""

import pathlib
import sys

HOROWITZ = ("Horowitz, ISSCC 2014, Fig. 1.1.9 (doi 10.1109/ISSCC.2014.6757323)", "published", 0.15)
LATER = ("tabulations after Horowitz, ISSCC 2014 (16-bit addition is not in the figure itself)", "published", 0.3)
SLIDE = ("areas in Dally's slides beside Horowitz's energies (TSMC 45 nm synthesis), recalled", "recalled", 0.4)
TPU = ("Jouppi et al., ISCA 2021, Table 2, arithmetic rows recalled, supply assumed", "recalled", 0.4)
CACM = ("Dally, Turakhia, Han, CACM 63(7) 2020, p. 56, quoted; supply assumed", "quoted", 0.3)
KECKLER = ("Keckler, Dally et al., IEEE Micro 31(5) 2011: a whole floating-point unit, quoted", "quoted", 0.7)
SC10 = ("Dally, SC10 keynote, slide 37, quoted; supply assumed", "quoted", 0.4)
HFMA = ("Dally, DAC 2021 keynote, as reported in Semiconductor Engineering; supply assumed", "quoted", 0.3)
MMA = ("Dally, Hot Chips 2023 and DAC 2021 slides, recalled; supply assumed", "recalled", 0.4)

# What their numbers are of: arithmetic alone, or a unit as products have it, with the registers of its stages, operand latches and control.
BUILT = (KECKLER, SC10, HFMA, MMA)

# unit, bits, what, node, vdd, origin
UNITS = [
    ("int_add", 8, "0.03 pJ", 45, 0.9, HOROWITZ), ("int_add", 16, "0.05 pJ", 45, 0.9, LATER), ("int_add", 32, "0.1 pJ", 45, 0.9, HOROWITZ),
    ("int_mul", 8, "0.2 pJ", 45, 0.9, HOROWITZ), ("int_mul", 32, "3.1 pJ", 45, 0.9, HOROWITZ),
    ("fp_add", 16, "0.4 pJ", 45, 0.9, HOROWITZ), ("fp_add", 32, "0.9 pJ", 45, 0.9, HOROWITZ),
    ("fp_mul", 16, "1.1 pJ", 45, 0.9, HOROWITZ), ("fp_mul", 32, "3.7 pJ", 45, 0.9, HOROWITZ),
    ("int_add", 8, "0.007 pJ", 7, 0.75, TPU), ("int_add", 32, "0.03 pJ", 7, 0.75, TPU),
    ("int_mul", 8, "0.07 pJ", 7, 0.75, TPU), ("int_mul", 32, "1.48 pJ", 7, 0.75, TPU),
    ("fp_add", 16, "0.16 pJ", 7, 0.75, TPU), ("fp_add", 32, "0.38 pJ", 7, 0.75, TPU),
    ("fp_mul", 16, "0.34 pJ", 7, 0.75, TPU), ("fp_mul", 32, "1.31 pJ", 7, 0.75, TPU),
    ("bf_add", 16, "0.11 pJ", 7, 0.75, TPU), ("bf_mul", 16, "0.21 pJ", 7, 0.75, TPU),
    ("int_add", 8, "0.01 pJ", 14, 0.8, CACM), ("fp_mul", 64, "5.0 pJ", 14, 0.8, CACM),
    ("fp_fma", 64, "50 pJ", 40, 0.9, KECKLER), ("fp_fma", 64, "20 pJ", 28, 0.9, SC10), ("fp_fma", 16, "1.5 pJ", 16, 0.8, HFMA),
    ("fp_mma", 16, "0.859375 pJ", 16, 0.8, MMA), ("int_mma", 8, "0.3125 pJ", 16, 0.8, MMA),
    ("int_add", 8, "36 um2", 45, None, SLIDE), ("int_add", 16, "67 um2", 45, None, SLIDE), ("int_add", 32, "137 um2", 45, None, SLIDE),
    ("int_mul", 8, "282 um2", 45, None, SLIDE), ("int_mul", 32, "3495 um2", 45, None, SLIDE),
    ("fp_add", 16, "1360 um2", 45, None, SLIDE), ("fp_add", 32, "4184 um2", 45, None, SLIDE),
    ("fp_mul", 16, "1640 um2", 45, None, SLIDE), ("fp_mul", 32, "7700 um2", 45, None, SLIDE),
    ("int_add", 8, "4 um2", 14, None, CACM), ("fp_mul", 64, "3600 um2", 14, None, CACM), ("fp_fma", 64, "0.1 mm2", 40, None, KECKLER),
]

# What single numbers mean that are not what a source prints as one operation.
NOTES = {
    ("fp_mma", 16): "110 pJ an HMMA instruction of 128 multiply-adds, one of them",
    ("int_mma", 8): "160 pJ an IMMA instruction of 512 multiply-adds (1024 operations), one of them",
    ("fp_fma", 64): "the 40 nm figure is a whole 64-bit FPU with its registers at 1.5 GHz; the 28 nm figure is an operation of a product's unit, "
                    "2.2 times a multiplication and an addition",
    ("fp_fma", 16): "energy of the mathematics of a GPU's instruction, 3 times a multiplication and an addition",
}

STILLMAKER = "Stillmaker and Baas, Integration 58 (2017) 74-81 (doi 10.1016/j.vlsi.2017.02.002), coefficients as in nodeScale.py"
# node: (delay V3, V2, V1, V0), (energy V2, V1, V0), area over that at 45 nm, (lowest, highest) supply, nominal
SCALING = {
    180: ((0, 97.09, -356.7, 406.5), (0, 24.64, -17.98), 19, 1.8),
    130: ((-76.65, 334.9, -493.4, 275.8), (7.171, -6.709, 2.904), 6.4, 1.2),
    90: ((-60.34, 262.5, -384.2, 210.9), (4.762, -4.781, 2.092), 2.8, 1.1),
    65: ((-53.3, 230.4, -333.9, 178.6), (3.755, -4.398, 1.975), 1.5, 1.1),
    45: ((-501.6, 1567, -1619, 566.1), (1.018, -0.3107, 0.1539), 1, 1.0),
    32: ((-1047, 2982, -2797, 873.5), (0.8367, -0.4341, 0.1701), 0.46, 0.9),
    20: ((0, 34.63, -66.37, 41.15), (0.373, -0.1582, 0.04104), 0.21, 0.9),
    16: ((0, 24.8, -47.52, 28.87), (0.2958, -0.1241, 0.03024), 0.19, 0.85),
    14: ((-40.66, 109.2, -100.6, 35.92), (0.2363, -0.09675, 0.02239), 0.17, 0.8),
    10: ((-34.95, 93.65, -85.99, 30.4), (0.2068, -0.09311, 0.02375), 0.1, 0.75),
    7: ((-28.58, 76.6, -70.26, 24.69), (0.1776, -0.09097, 0.02447), 0.059, 0.7),
}
# Foundries' own statements, node to node at one speed: energy and area of the smaller over the larger, nominal supply.
FOUNDRY = [
    (5, 7, 0.70, 0.55, 0.7, "recalled: TSMC, N5 announcement 2019: 30 % less power at the same speed, 1.8 times the logic density of N7"),
    (3, 5, 0.70, 0.625, 0.7, "recalled: TSMC, N3 announcement 2020: 25 to 30 % less power at the same speed, 1.6 times the logic density of N5"),
    (2, 3, 0.725, 0.87, 0.65, "recalled: TSMC, N2 announcement 2022: 25 to 30 % less power at the same speed, 1.15 times the density of N3E"),
]

# node nm, contacted gate pitch nm, row height nm, gate pitches between cells, source, uncertainty
PLANAR = "contacted gate pitch {} F, nine- to ten-track rows of about 31 F, assumed after Nangate 45 nm (190 nm and 1.4 um, recalled)"
ROWS = [
    (180, 756, 5580, 1, PLANAR.format(4.2), 0.2), (130, 546, 4030, 1, PLANAR.format(4.2), 0.2), (90, 378, 2790, 1, PLANAR.format(4.2), 0.2),
    (65, 273, 2015, 1, PLANAR.format(4.2), 0.2), (45, 190, 1400, 1, "recalled: Nangate Open Cell Library 45 nm: INV_X1 is 0.38 um x 1.4 um", 0.1),
    (32, 134.4, 992, 1, PLANAR.format(4.2), 0.2), (28, 117, 900, 1, "recalled: TSMC 28 nm: gate pitch 117 nm; nine tracks of 100 nm", 0.2),
    (22, 90, 760, 1, "recalled: Intel 22 nm: gate pitch 90 nm; nine to ten tracks of 80 nm", 0.25),
    (16, 90, 576, 2, "recalled: TSMC 16FF: gate pitch 90 nm; nine tracks of 64 nm", 0.2), (14, 78, 576, 2, "recalled: Samsung 14LPE: gate pitch 78 nm; nine tracks of 64 nm", 0.2),
    (10, 66, 360, 2, "recalled: TSMC N10 and Samsung 10LPE: gate pitch 64 and 68 nm; 7.5 to 8.5 tracks of 44 to 48 nm", 0.2),
    (7, 54, 270, 2, "ASAP7, Clark et al., Microelectronics Journal 53 (2016), Table 1; INVx1 is three gate pitches wide, INVx2 four", 0.1),
    (5, 51, 210, 2, "recalled: TSMC N5: gate pitch 51 nm; IRDS 2021 row height", 0.2), (3, 48, 169, 1, "recalled: TSMC N3E: gate pitch 48 nm, rows of 169 nm, single diffusion break", 0.25),
    (2, 45, 150, 1, "recalled: IRDS 2021/2022, node 2.1: gate pitch 45 nm; a sketch", 0.35),
]

SIM3 = "DRAMsim3 configs/{} (umd-memsys/DRAMsim3@{})"
OCONNOR = "O'Connor et al., Fine-Grained DRAM, MICRO 2017, Table 3 (doi 10.1145/3123939.3124545)"
# type: data-sheet currents in mA and times in ns, where a description with them is known
# vdd, clock ns, cycles a burst, bits a burst, tRAS, tRC, tRFC, tREFI (cycles), IDD0, 2N, 3N, 4W, 4R, 5, page bits, devices that a current is for, gigabits
CURRENTS = {
    "gddr5": (1.5, 0.5, 2, 256, 56, 80, 74, 3800, 75, 45, 55, 198, 211, 286, 128 * 8 * 32, 8, SIM3.format("GDDR5_8Gb_x32.ini", "0cb7aee") + ", marked as estimates there", 0.5),
    "gddr5x": (1.35, 0.666, 2, 512, 56, 80, 74, 3800, 75, 45, 55, 198, 211, 286, 64 * 16 * 32, 8, SIM3.format("GDDR5X_8Gb_x32.ini", "0cb7aee") + ", marked as estimates there", 0.5),
    "ddr4": (1.2, 0.833, 4, 64, 39, 55, 420, 9364, 48, 34, 43, 123, 135, 250, 8192, 8, SIM3.format("DDR4_8Gb_x8_2400.ini", "0cb7aee") + ", Micron MT40A1G8PM-083E", 0.2),
    "lpddr3": (1.2, 1.25, 4, 256, 34, 49, 168, 3120, 40, 20.5, 21, 245, 250, 150, 32768, 8, SIM3.format("LPDDR3_8Gb_x32_1600.ini", "0eb6360"), 0.3),
    "hbm2": (1.2, 1.0, 2, 512, 34, 48, 260, 3900, 65, 40, 55, 500, 390, 250, 16384, 8, SIM3.format("HBM2_8Gb_x128.ini", "0eb6360"), 0.4),
}
# type: per-bit totals of device and interface, pJ: value, source, uncertainty; I/O share of it, pJ; peak bandwidth of a device or stack, Gb/s
TOTALS = {
    "hbm2": (3.92, OCONNOR + ": 1.21 activation, 2.24 movement, 0.30 I/O; abstract 3.97", 0.2),
    "hbm2e": (4.3, "Moon et al. (SK hynix), IEDM 2023, section III", 0.3),
    "hbm3": (3.5, "3.0 to 3.9 pJ/bit in vendors' summaries; no primary document", 0.35),
    "gddr5": (14.0, "recalled: O'Connor et al., MICRO 2017, introduction: 14 pJ/bit; 14 to 20 with the controller's side", 0.35),
    "gddr5x": (11.0, "assumed: GDDR5 by the square of the supplies, (1.35/1.5)^2, rounded", 0.4),
    "gddr6": (7.5, "recalled: Micron, GDDR6X technical brief 2020", 0.35),
    "gddr6x": (7.25, "recalled: Micron, GDDR6X technical brief 2020", 0.35),
    "lpddr4": (4.0, "Dally, Turakhia, Han, CACM 63(7) 2020", 0.35),
    "ddr3": (30.0, "Horowitz, ISSCC 2014: 1.3 to 2.6 nJ a 64-bit access, with the system", 0.35),
}
# how a total splits where its source does not say: shares of activation, data movement, I/O
SPLITS = {
    "hbm2": (1.21, 2.24, 0.30, OCONNOR),
    "default": (0.20, 0.45, 0.35, "assumed: no source for these memories; HBM2's activation share a little less, a larger interface"),
}

# node nm, upsets of an SRAM cell at sea level in New York: FIT for a million bits; what it was read on
UG116 = "recalled digit by digit, to be checked: AMD/Xilinx UG116, Soft Error Rate Measurements: block RAM of {}, real time, New York (JESD89A)"
UPSETS = [
    (150, 478, "Virtex-II"), (130, 770, "Virtex-II Pro"), (90, 484, "Virtex-4"), (65, 692, "Virtex-5"), (45, 370, "Spartan-6"), (40, 262, "Virtex-6"),
    (28, 73, "7-series"), (20, 80, "UltraScale"), (16, 7, "UltraScale+ (FinFET)"),
]


def write(name, lines):
    with open(pathlib.Path(sys.argv[1]) / name, "w") as file:
        file.write("# Written by generate.py; do not edit.\n\n" + "\n".join(lines) + "\n")


def text(value):
    return '"' + value.replace('"', '\\"') + '"'


def units():
    lines = []
    for unit, bits, value, node, vdd, (source, how, sigma) in UNITS:
        key = "area" if value.endswith("m2") else "energy"
        lines += ["[[fact]]", f"unit = {text(unit)}", f"bits = {bits}", f"{key} = {text(value)}", f'node = "{node} nm"']
        if vdd:
            lines.append(f'vdd = "{vdd} V"')
        lines += [f"source = {text(source)}", f"how = {text(how)}", f"uncertainty = {sigma}"]
        lines.append('scope = "unit"' if (source, how, sigma) in BUILT else 'scope = "datapath"')
        if key == "energy" and (unit, bits) in NOTES:
            lines.append(f"note = {text(NOTES[unit, bits])}")
        lines.append("")
    write("units.toml", lines)


def scaling():
    lines = []
    for node, (delay, energy, area, vdd) in SCALING.items():
        lines += ["[[node]]", f'node = "{node} nm"', f"delay = {[float(x) for x in delay]}", f"energy = {[float(x) for x in energy]}",
                  f"area = {float(area)}", f'vdd = "{vdd} V"', f"source = {text(STILLMAKER)}", "uncertainty = 0.3", ""]
    for node, larger, energy, area, vdd, source in FOUNDRY:
        lines += ["[[step]]", f'node = "{node} nm"', f'larger = "{larger} nm"', f"energy = {energy}", f"area = {area}", f'vdd = "{vdd} V"',
                  f"source = {text(source)}", "uncertainty = 0.15", ""]
    write("scaling.toml", lines)


def rows():
    lines = []
    for node, pitch, height, gap, source, sigma in ROWS:
        lines += ["[[row]]", f'node = "{node} nm"', f'gate_pitch = "{pitch} nm"', f'height = "{height} nm"', f"gap = {gap}", f"source = {text(source)}",
                  f"uncertainty = {sigma}", ""]
    write("rows.toml", lines)


def dram():
    lines = []
    for kind in ["ddr3", "ddr4", "lpddr3", "lpddr4", "gddr5", "gddr5x", "gddr6", "gddr6x", "hbm2", "hbm2e", "hbm3"]:
        lines += ["[[memory]]", f"name = {text(kind)}"]
        if kind in TOTALS:
            total, source, sigma = TOTALS[kind]
            split = SPLITS.get(kind, SPLITS["default"])
            whole = sum(split[:3])
            lines += [f"[memory.total]", f'energy_per_bit = "{total} pJ"', f"shares = {[round(x / whole, 4) for x in split[:3]]}", f"source = {text(source)}",
                      f"split_source = {text(split[3])}", f"uncertainty = {sigma}"]
        if kind in CURRENTS:
            vdd, clock, burst, bits, ras, rc, rfc, refi, i0, i2, i3, w, r, i5, page, gigabits, source, sigma = CURRENTS[kind]
            lines += ["[memory.sheet]", f'vdd = "{vdd} V"', f'clock = "{clock} ns"', f"burst_cycles = {burst}", f"burst_bits = {bits}", f"page_bits = {page}",
                      f"row_active = {ras}", f"row_cycle = {rc}", f"refresh = {rfc}", f"refresh_interval = {refi}"]
            for name, value in [("idd0", i0), ("idd2n", i2), ("idd3n", i3), ("idd4w", w), ("idd4r", r), ("idd5", i5)]:
                lines.append(f'{name} = "{value} mA"')
            lines += [f"gigabits = {gigabits}", f"source = {text(source)}", f"uncertainty = {sigma}"]
        lines.append("")
    write("dram.toml", lines)


def upsets():
    lines = []
    for node, fit, device in UPSETS:
        lines += ["[[upset]]", f'node = "{node} nm"', f"fit_per_megabit = {float(fit)}", f"source = {text(UG116.format(device))}", "uncertainty = 0.5", ""]
    write("upsets.toml", lines)


if __name__ == "__main__":
    units(), scaling(), rows(), dram(), upsets()
