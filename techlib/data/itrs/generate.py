#!/usr/bin/env python3
"""Writes the data files of the `itrs` library from two tables of facts.

usage: generate.py OUTPUT_FOLDER

The tables are planar_cacti.csv and wires_cacti.csv in techlib/data/facts; their sources are file and line in the CACTI 7 technology files. This script only arranges them, adds the reasoned uncertainty of each kind of quantity, and lists
the defects of the tables that are known; it changes no number.
"""

import csv
import pathlib
import sys

FACTS = pathlib.Path(__file__).resolve().parent.parent / "facts"

NODES = [90, 65, 45, 32, 22]
FLAVOURS = ["hp", "lstp", "lop"]

# CACTI quantity -> (our name, unit or None for a ratio, kind)
DEVICE = {
    "C_gate_ideal": ("c_gate_ideal", "F/um", "capacitance"),
    "C_fringe": ("c_fringe", "F/um", "capacitance"),
    "C_junc_area": ("c_junction", "F/um2", "capacitance"),
    "C_junc_sidewall": ("c_junction_sidewall", "F/um", "capacitance"),
    "L_phy": ("l_phy", "um", "geometry"),
    "L_elec": ("l_elec", "um", "geometry"),
    "nmos_Reff_multiplier": ("r_eff_multiplier", None, "current"),
    "Vdd": ("vdd", "V", "voltage"),
    "Vth": ("vth", "V", "voltage"),
    "Vdsat": ("vdsat", "V", "voltage"),
    "I_on_n": ("i_on_n", "A/um", "current"),
    "I_on_p": ("i_on_p", "A/um", "current"),
    "C_ox": ("c_ox", "F/um2", "capacitance"),
    "n_to_p_eff_drive_ratio": ("n_to_p_drive_ratio", None, "current"),
    "Mobility_n": ("mobility_n", "um2/Vs", "current"),
    "gmp_to_gmn_multiplier": ("gmp_to_gmn", None, "current"),
}
CELL = {
    "Wmemcella": "access_width_f",
    "Wmemcellpmos": "pmos_width_f",
    "Wmemcellnmos": "nmos_width_f",
    "area_cell": "area_f2",
    "asp_ratio_cell": "aspect",
}
WIRE = {
    "wire_pitch": ("pitch_f", None),
    "barrier_thickness": ("barrier", "um"),
    "dishing_thickness": ("dishing", "um"),
    "alpha_scatter": ("alpha_scatter", None),
    "aspect_ratio": ("aspect_ratio", None),
    "miller_value": ("miller", None),
    "horiz_dielectric_constant": ("k_horizontal", None),
    "vert_dielectric_constant": ("k_vertical", None),
    "ild_thickness": ("ild", "um"),
    "fringe_cap": ("fringe", "F/um"),
    "resistivity": ("resistivity", "ohm*um"),
}

DEFECTS = [
    (90, "lop.i_off_n", ["350 K", "360 K", "370 K"], "ten times too large between its neighbours: a slip of the exponent"),
    (22, "lstp.i_off_n", ["360 K"], "out of sequence: below the values at 350 K and 370 K"),
    (45, "lop.i_gate_n", ["300 K", "400 K"], "the whole column is a copy of the 90 nm hp sub-threshold column: too large, and rising with temperature"),
    (32, "hp.i_off_n", ["390 K", "400 K"], "flat to 340 K, then a factor of 32 to 400 K: not a thermally activated current"),
    (22, "hp.i_off_n", ["390 K", "400 K"], "0.8 times the 32 nm column, with its shape"),
    (22, "lop.i_off_n", ["350 K", "360 K"], "rises 342 times from 300 K to 400 K and leaks more than hp at 360 K"),
]


# The tables of facts leave out what is zero in the source: the line of the source, by node and name.
def zeros(node):
    path = f"HewlettPackard/cacti@1ffd8df tech_params/{node}nm.dat"
    found = []
    if node == 22:
        found += [(f"{flavour}.c_junction", "0.0 F/um2", f"{path}:4", "capacitance") for flavour in FLAVOURS]
    if node < 90:
        found += [(f"aggressive.{layer}.barrier", "0.0 um", f"{path}:93", "wire") for layer in ("local", "semi_global", "global")]
    return found


def uncertainty(kind, node):
    """Relative one-sigma uncertainty as a statement about silicon, with the reason it stands for."""
    return {
        # ITRS currents against PTM: 1.0 at 90 nm, 1.5 at 32 nm, 1.8 at 22 nm.
        "current": {90: 0.15, 65: 0.20, 45: 0.40, 32: 0.40, 22: 0.45}[node],
        "capacitance": 0.15,
        "voltage": 0.05,
        "geometry": 0.10,
        # Ratios of PTM and ITRS leakage per width scatter by about two.
        "leakage": {90: 0.7, 65: 0.7, 45: 0.7, 32: 1.0, 22: 1.0}[node],
        # 146 F2 against published bit cells of 120 to 180 F2.
        "cell": 0.20,
        "wire": 0.15,
    }[kind]


def number(text):
    return repr(float(text))


def entry(out, name, text, source, kind, node):
    out.append("[[value]]")
    out.append(f'name = "{name}"')
    out.append(f'value = "{text}"')
    out.append(f'source = "{source}"')
    out.append('how = "published"')
    out.append(f"uncertainty = {uncertainty(kind, node)}")
    out.append("")


def table(out, name, rows, node):
    out.append("[[table]]")
    out.append(f'name = "{name}"')
    out.append('how = "published"')
    out.append(f"uncertainty = {uncertainty('leakage', node)}")
    out.append("rows = [")
    for temperature, value, source in sorted(rows):
        out.append(f'  {{ at = "{temperature:g} K", value = "{number(value)} A/um", source = "{source}" }},')
    out.append("]")
    out.append("")


def write(node, devices, wires, folder):
    out = [
        "# Written by generate.py; see there. The numbers are those of CACTI 7's technology file for this node, line by line.",
        "",
        f'node = "{node} nm"',
        'valid = "the node, 300 K to 400 K, nominal supply"',
        "",
    ]
    for at, name, temperatures, note in DEFECTS:
        if at == node:
            listed = ", ".join(f'"{t}"' for t in temperatures)
            out += ["[[defect]]", f'name = "{name}"', f"at = [{listed}]", f'note = "{note}"', ""]
    mine = [r for r in devices if r["node_nm"] == str(node)]
    for flavour in FLAVOURS:
        rows = [r for r in mine if r["flavour"] == flavour]
        for r in rows:
            if r["quantity"] in DEVICE:
                name, unit, kind = DEVICE[r["quantity"]]
                text = number(r["value"]) + (f" {unit}" if unit else "")
                entry(out, f"{flavour}.{name}", text, r["source"], kind, node)
        for quantity, name in [("I_off_n", "i_off_n"), ("I_g_on_n", "i_gate_n")]:
            points = [(float(r["temp_K"]), r["value"], r["source"]) for r in rows if r["quantity"] == quantity]
            table(out, f"{flavour}.{name}", points, node)
    for r in mine:
        if r["flavour"] == "sram-cell" and r["quantity"] in CELL:
            entry(out, "cell." + CELL[r["quantity"]], number(r["value"]), r["source"], "cell", node)
    for r in wires:
        if r["node_nm"] != str(node) or r["quantity"] not in WIRE:
            continue
        projection, _, layer = r["flavour"].partition("/")
        if projection in ("aggressive", "conservative") and layer in ("local", "semi-global", "global"):
            name, unit = WIRE[r["quantity"]]
            text = number(r["value"]) + (f" {unit}" if unit else "")
            entry(out, f"{projection}.{layer.replace('-', '_')}.{name}", text, r["source"], "wire", node)
    for name, text, source, kind in zeros(node):
        entry(out, name, text, source, kind, node)
    with open(f"{folder}/{node}nm.toml", "w") as file:
        file.write("\n".join(out).rstrip() + "\n")


def read(name):
    with open(FACTS / f"{name}.csv") as file:
        return list(csv.DictReader(file))


def main():
    (folder,) = sys.argv[1:]
    devices, wires = read("planar_cacti"), read("wires_cacti")
    for node in NODES:
        write(node, devices, wires, folder)


main()
