#!/usr/bin/env python3
"""Writes the data files of the `silicon` library, and `fits.csv` with the residuals of everything that is fitted.

usage: generate.py OUTPUT_FOLDER

The facts that it reads are in techlib/data/facts; the README there says where they are from. What the files of this folder say of a number is what
this script knows of it: its source, how it came about, how sure it is. Facts that stand in no table stand below with their source.
docs/technology.md has the reasons.
"""

import csv
import math
import pathlib
import sys

import fit

FACTS = pathlib.Path(__file__).resolve().parent.parent / "facts"
FIT = "techlib/data/silicon/generate.py, residuals in fits.csv"
PTM = "PTM (Zhao and Cao, IEEE TED 2006), as read from NeuroSim V1.4 Technology.cpp"
TCAD = "IRDS/TCAD device, NeuroSim V1.4 user manual Table III"
ASAP7 = "ASAP7 r1p7 model card 7nm_TT (BSD-3), ngspice with BSIM-CMG 111"
LIBERTY = "ASAP7 liberty TT nldm 220122 (BSD-3), INVx1, 3 + 3 fins"
CACTI_SAME = "CACTI 7"
# Of a value whose source, or a part of it, was not at hand: it is not called published.
RECALLED = "assumed: its source, or a part of it, is recalled from memory"

PLANAR = [180, 130, 90, 65, 45, 32, 22, 20]
# Lithography class of the FinFET nodes and what is known of their geometry: (value, source, relative uncertainty).
FINFET = {
    16: dict(like=14, vdd=0.80, gate=(90, "TSMC 16FF, recalled (IEDM 2013)", 0.05), fin=(48, 42, 8), cell=(0.070, "TSMC 16FF 6T, recalled (Wu, IEDM 2013; Chen, ISSCC 2014)", 0.08), row=576),
    14: dict(like=14, vdd=0.80, gate=(78, "NeuroSim V1.4 standard-cell table, 14 nm (Samsung 14LPE)", 0.05), fin=(48, 42, 8), cell=(0.064, "Samsung 14LPE 6T, 10.6 F x 30.8 F (NeuroSim V1.4 Param.cpp)", 0.05), row=576),
    12: dict(like=14, vdd=0.80, gate=(84, "TSMC 12FFN is a 16 nm process with a denser cell library; assumed", 0.08), fin=(48, 42, 8), cell=(0.070, "TSMC 16FF 6T, recalled (Wu, IEDM 2013; Chen, ISSCC 2014)", 0.08), row=480),
    10: dict(like=10, vdd=0.75, gate=(66, "TSMC N10, recalled", 0.06), fin=(36, 45, 8), cell=(0.042, "NeuroSim V1.4 user manual Table V, 420 F2; Wu, IEDM 2016, recalled", 0.07), row=360),
    7: dict(like=7, vdd=0.70, gate=(54, "ASAP7 (Clark et al., Microelectronics Journal 2016)", 0.06), fin=(27, 32, 6.5), cell=(0.027, "TSMC N7 6T (Wu, IEDM 2016, by NeuroSim V1.4 Param.cpp)", 0.08), row=270),
    5: dict(like=5, vdd=0.70, gate=(51, "TSMC N5, recalled; 48 nm in Wu et al. 2020", 0.06), fin=(28, 45, 6), cell=(0.021, "TSMC N5 6T (WikiChip, IEDM 2022)", 0.06), row=210),
    3: dict(like=3, vdd=0.65, gate=(48, "NeuroSim V1.4 standard-cell table, 3 nm; TSMC N3 recalled as 45 to 48", 0.07), fin=(22, 55, 5.5), cell=(0.0205, "TSMC N3B 0.0199 and N3E 0.021 um2 (WikiChip, IEDM 2022)", 0.06), row=144),
    2: dict(like=2, vdd=0.65, gate=(45, "IRDS, NeuroSim V1.4 standard-cell table, 2 nm", 0.1), fin=(26, 0, 0), cell=(0.0187, "between 0.0175 um2 (TSMC N2, recalled) and 0.0202 um2 (IRDS)", 0.12), row=114),
}
# Pitches in nm of the local, semi-global and global layers, barrier in nm, with the source.
WIRES = {
    16: ((64, 80, 160), (3, 4, 5)), 14: ((64, 80, 160), (3, 4, 5)), 12: ((64, 80, 160), (3, 4, 5)), 10: ((44, 70, 160), (3, 4, 5)),
    7: ((38, 64, 160), (3, 4, 5)), 5: ((30, 64, 160), (2.5, 4, 5)), 3: ((24, 48, 160), (2, 4, 5)), 2: ((20, 48, 160), (1.5, 4, 5)),
}
WIRE_SOURCE = "local and semi-global: ASAP7 (Clark 2016), Mx/My classes of Wu et al. 2020; global: FreePDK3 M10-M11"
# ITRS flavour -> threshold flavour of ASAP7, by off-current: 20, 2 and 0.2 nA/um.
ASAP7_FLAVOUR = {"hp": "slvt", "lop": "lvt", "lstp": "rvt", "sram": "sram"}
GATE_PITCH = {
    180: (480, "Intel P858, recalled"), 130: (319, "Intel P860, recalled"), 90: (260, "Intel P1262, recalled"), 65: (220, "Intel P1264, recalled"),
    45: (160, "Intel P1266, recalled"), 32: (112.5, "Intel P1268, recalled"), 22: (90, "Intel P1270, recalled"), 20: (90, "TSMC 20SoC, recalled"),
}
PLANAR_CELL = {  # um2
    180: (146 * 0.18**2, "146 F2 (CACTI 7, tech_params/180nm.dat:56)", 0.1), 130: (146 * 0.13**2, "146 F2 (CACTI 7 rule); Intel 2.0 um2, recalled", 0.15),
    90: (146 * 0.09**2, "146 F2 (CACTI 7, tech_params/90nm.dat:56); Intel 1.0 um2, recalled", 0.12), 65: (0.495, "Kushida et al., 0.495 um2 cell in 65 nm (title)", 0.1),
    45: (0.242, "Cheng et al., IEDM 2007, 0.242 um2 cell (title); Intel 0.346 um2, recalled", 0.2), 32: (0.150, "146 F2 (CACTI 7, tech_params/32nm.dat:56); Intel 0.171 um2, recalled", 0.1),
    22: (0.092, "Karl et al., ISSCC 2012, high-density cell, recalled", 0.15), 20: (0.081, "TSMC 20SoC, recalled (Chang, ISSCC 2013)", 0.12),
}
# Supplies between which the laws hold: those of the data they are fitted to.
RANGE = {180: (0.9, 1.8), 130: (0.7, 1.43), 90: (0.65, 1.32), 65: (0.6, 1.21), 45: (0.6, 1.1), 32: (0.6, 1.0), 22: (0.55, 0.95), 20: (0.55, 0.95)}


class Facts:
    def __init__(self):
        self.cacti = self.read("planar_cacti")
        self.neurosim = self.read("devices_neurosim")
        self.neurosim_fits = self.read("fits_neurosim")
        self.spice = self.read("spice_finfet")
        self.mcpat = self.read("planar_mcpat_extra")
        self.cells = self.read("stdcells")
        self.cacti_wires = self.read("wires_cacti")
        self.fits = []

    @staticmethod
    def read(name):
        with open(FACTS / f"{name}.csv") as file:
            return list(csv.DictReader(file))

    def fitted(self, node, flavour, quantity):
        """(value, worst relative error in the fit, worst held out) of a fit by neurosim.py."""
        for r in self.neurosim_fits:
            if (r["node_nm"], r["flavour"], r["quantity"]) == (str(node), flavour, quantity):
                return float(r["value"]), float(r["worst_fitted"]), float(r["worst_held_out"])
        raise KeyError((node, flavour, quantity))

    @staticmethod
    def pick(rows, node, flavour, quantity, temperature=None):
        for r in rows:
            if r["node_nm"] == str(node) and r["flavour"] == flavour and r["quantity"] == quantity:
                if temperature is None or r["temp_K"] == str(temperature):
                    return float(r["value"]), r["source"]
        raise KeyError((node, flavour, quantity, temperature))

    def note(self, node, what, value, inside, held):
        self.fits.append((node, what, value, inside, held))


class Out:
    def __init__(self, node, kind, note):
        self.lines = ["# Written by generate.py; see there and docs/technology.md.", "", f'node = "{node} nm"']
        self.lines += [f'valid = "the node, 298.15 K to 400 K, supplies as listed"', 'temperature = ["298.15 K", "400 K"]', f'kind = "{kind}"']
        if note:
            self.lines.append(f'sketch = "{note}"')
        self.lines.append("")

    def range(self, flavour, low, high):
        self.lines += ["[[range]]", f'flavour = "{flavour}"', f'vdd = ["{low:g} V", "{high:g} V"]', ""]

    def value(self, name, number, unit, source, how, uncertainty):
        text = f"{number:.6g}" + (f" {unit}" if unit else "")
        how = RECALLED if how == "published" and "recalled" in source else how
        kind, _, reason = how.partition(": ")
        how = f'"{kind}"' if not reason else f'{{ {kind} = "{reason}" }}'
        self.lines += ["[[value]]", f'name = "{name}"', f'value = "{text}"', f'source = "{source}"', f"how = {how}", f"uncertainty = {uncertainty:g}", ""]


def between(node, larger, a, smaller, b):
    """Geometric interpolation in the logarithm of the node."""
    share = math.log(node / smaller) / math.log(larger / smaller)
    return math.exp(share * math.log(a) + (1 - share) * math.log(b))


# ---- planar -------------------------------------------------------------------------------------------------------------------------


def stillmaker(facts, node, flavour, low, high):
    rows = [r for r in facts.read("scaling_stillmaker") if r["node_nm"] == str(node) and r["flavour"] == flavour and r["quantity"].startswith("delay_poly")]
    coefficients = {int(r["quantity"][-1]): float(r["value"]) for r in rows}
    steps = [low + (high - low) * i / 10 for i in range(11)]
    return [(v, sum(c * v**n for n, c in coefficients.items())) for v in steps]


def planar_drive(facts):
    """(alpha, Vt) by node: fits of the published delay polynomials; 32 and 22 nm between 45 and 20 nm, whose polynomials are smooth."""
    laws = {}
    for node, flavour, low, high in [(180, "bulk", 0.9, 1.8), (130, "bulk", 0.7, 1.3), (90, "bulk", 0.6, 1.2), (65, "bulk", 0.6, 1.1), (45, "hp", 0.6, 1.0), (20, "hp", 0.5, 0.9)]:
        alpha, vt, inside, held = fit.drive(stillmaker(facts, node, flavour, low, high))
        laws[node] = (alpha, vt)
        facts.note(node, "hp.alpha", alpha, inside, held)
        facts.note(node, "hp.drive_threshold", vt, inside, held)
    for node in (32, 22):
        laws[node] = tuple(between(node, 45, laws[45][i], 20, laws[20][i]) for i in (0, 1))
    return laws


def cacti(facts, node, flavour, quantity, temperature=None):
    """A value of CACTI 7; 130 nm, which CACTI has not, between its neighbours, 20 nm as 22 nm. Returns value, source, how."""
    if node == 130:
        a, b = (facts.pick(facts.cacti, n, flavour, quantity, temperature)[0] for n in (180, 90))
        return between(130, 180, a, 90, b), f"{CACTI_SAME} tables of 180 nm and 90 nm", "scaled: geometric in log(node) between 180 nm and 90 nm"
    value, source = facts.pick(facts.cacti, 22 if node == 20 else node, flavour, quantity, temperature)
    return value, source, "published" if node != 20 else "scaled: as 22 nm"


def planar_device(facts, out, node, flavour, drive):
    like = 22 if node == 20 else node
    base = "hp" if flavour == "sram" and node == 180 else "lstp" if flavour == "sram" else flavour
    how_node = "published" if node != 20 else "scaled: as 22 nm"
    loss = {180: 0.2, 130: 0.2, 90: 0.15, 65: 0.2, 45: 0.2, 32: 0.2, 22: 0.25, 20: 0.3}[node]
    put = lambda name, number, unit, source, how, u: out.value(f"{flavour}.{name}", number, unit, source, how, u)
    ptm = node != 180 and base in ("hp", "lstp")
    get = lambda quantity, t=None: facts.pick(facts.neurosim, like, base, quantity, t)
    same = cacti(facts, node, "hp" if node == 130 else base, "nmos_Reff_multiplier")
    if ptm:
        vdd, vth, on = get("vdd")[0], get("vth")[0], get("I_on_n", 300)[0]
        source_on = f"{PTM}, {like} nm {base}"
        how_on = how_node
    else:
        vdd, vth, on = (cacti(facts, node, base, q)[0] for q in ("Vdd", "Vth", "I_on_n"))
        source_on, how_on = cacti(facts, node, base, "I_on_n")[1:]
        if base == "lop" and like <= 45:
            shrink = facts.pick(facts.neurosim, like, "hp", "I_on_n", 300)[0] / facts.pick(facts.cacti, like, "hp", "I_on_n")[0]
            on, how_on = on * shrink, "scaled: CACTI's ratio of lop to hp, on PTM's hp"
            source_on = f"{source_on}; {PTM}, {like} nm hp"
    put("vdd", vdd, "V", source_on, how_node, 0.03)
    put("vth", vth, "V", source_on, how_node, 0.15)
    put("i_on_n", on, "A/um", source_on, how_on, loss)
    put("r_eff_multiplier", same[0], "", same[1], same[2], 0.1)
    ratio = cacti(facts, node, "hp" if node == 130 else base, "n_to_p_eff_drive_ratio")
    put("n_to_p_drive_ratio", ratio[0], "", ratio[1], ratio[2], 0.15)
    put("l_elec", cacti(facts, node, "hp" if node == 130 else base, "L_phy")[0], "um", cacti(facts, node, "hp" if node == 130 else base, "L_phy")[1], cacti(facts, node, "hp" if node == 130 else base, "L_phy")[2], 0.15)
    planar_capacitance(facts, put, node, like, base)
    planar_leakage(facts, put, node, like, base, vdd)
    alpha, vt = drive[node]
    source = f"Stillmaker and Baas, Integration 2017, delay polynomial of {node if node in (180, 130, 90, 65, 45, 20) else '45 and 20'} nm (wromaszkan/nodeScale)"
    how = f"fitted: {FIT}" if node in (180, 130, 90, 65, 45, 20) else "scaled: geometric in log(node) between the fits of 45 nm and 20 nm"
    if base != "hp":
        exponent = facts.pick(facts.mcpat, 90 if node == 130 else like, base, "alpha_power_law_exponent")
        alpha, vt = exponent[0], min(vth, RANGE[node][0] - 0.1) if base == "lop" else vth
        source, how = f"{exponent[1]}; threshold: {source_on}", "published"
    put("alpha", alpha, "", source, how, 0.12)
    put("drive_threshold", vt, "V", source, how, 0.15)
    planar_heat(facts, put, node, like, base, flavour)
    low, high = RANGE[node]
    low = max(low, vt + 0.15)
    out.range(flavour, low, high if base != "lop" else max(vdd * 1.2, low + 0.2))


def planar_heat(facts, put, node, like, base, flavour):
    if node == 180:
        put("r_temperature", 0.0025, "", "as PTM 130 nm hp", "assumed: 180 nm has no current by temperature", 0.5)
        return
    value, inside, held = facts.fitted(like, "hp", "r_temperature")
    source = f"{PTM}, {like} nm hp, I_on at 300 K to 400 K"
    if base == "hp":
        facts.note(node, f"{flavour}.r_temperature", value, inside, held)
        put("r_temperature", value, "", source, f"fitted: {FIT}", 0.3)
    else:
        # PTM's lstp current falls by half or more in 100 K; a mobility that falls as T^-1.5 explains a third.
        put("r_temperature", value, "", source, "scaled: as hp, because the lstp current of the same cards falls faster than any mobility", 0.5)


def planar_capacitance(facts, put, node, like, base):
    c = lambda q: cacti(facts, node, "hp" if node == 130 else base, q)
    if node <= 130:
        ideal, fringe = (facts.pick(facts.neurosim, like, "hp", q)[0] * 1e9 for q in ("C_gate_ideal", "C_fringe"))
        flavour = 1 if base == "hp" or node == 130 else facts.pick(facts.cacti, like, base, "C_gate_ideal")[0] / facts.pick(facts.cacti, like, "hp", "C_gate_ideal")[0]
        how = "published" if node != 20 and base == "hp" else "scaled: CACTI's ratio of the flavours, on PTM's hp"
        put("c_gate_ideal", ideal * flavour, "fF/um", f"{PTM}, {like} nm hp", how, 0.2)
        put("c_fringe", fringe / 3, "fF/um", f"{PTM}, {like} nm hp", "scaled: its fringe of both edges and of the contact, over CACTI's three edges", 0.25)
    else:
        for name, quantity in [("c_gate_ideal", "C_gate_ideal"), ("c_fringe", "C_fringe")]:
            value, source, how = c(quantity)
            put(name, value * 1e15, "fF/um", source, how, 0.2)
    if node <= 22:
        value, source, _ = cacti(facts, 32, base, "C_junc_area")
        put("c_junction", value * 1e15, "fF/um2", source, "scaled: as 32 nm, because CACTI's 22 nm has none", 0.3)
    else:
        value, source, how = c("C_junc_area")
        put("c_junction", value * 1e15, "fF/um2", source, how, 0.2)
    value, source, how = c("C_junc_sidewall")
    put("c_junction_sidewall", value * 1e15, "fF/um", source, how, 0.2)


def planar_leakage(facts, put, node, like, base, vdd):
    swing = 0.095
    if node == 180 or base == "lop":
        points = fit.column(facts.cacti, like, base, ["I_off_n"])
        if (like, base) == (90, "lop"):
            points = [(t, i / 10 if 345 < t < 375 else i) for t, i in points]  # a slip of the exponent, one row of ten
        if (like, base) == (22, "lop"):
            points = [(t, i) for t, i in fit.column(facts.cacti, 45, base, ["I_off_n"])]  # 342 times in 100 K: the 45 nm shape stands in
        source = f"{CACTI_SAME}, tech_params/{like}nm.dat, I_off at 300 K to 400 K"
        if (like, base) == (22, "lop"):
            source = f"{CACTI_SAME}, tech_params/45nm.dat, I_off at 300 K to 400 K, because the 22 nm column rises 342 times"
        current, ea, inside, held = fit.activation(points)
    else:
        current, ea = (facts.fitted(like, base, name)[0] for name in ("i_off", "activation"))
        _, inside, held = facts.fitted(like, base, "activation")
        source = f"{PTM}, {like} nm {base}, I_off at 300 K to 400 K"
    facts.note(node, f"{base}.activation", ea, inside, held)
    put("i_off", current, "A/um", source, f"fitted: {FIT}" if node != 20 else "scaled: as 22 nm", 0.7)
    put("activation", ea, "eV", source, f"fitted: {FIT}" if node != 20 else "scaled: as 22 nm", 0.25)
    if node == 180 or node == 130:
        dibl, source, how = 0.05 if node == 130 else 0.03, "Roy et al., Proc. IEEE 2003: 20 to 150 mV/V from long to short channels", "assumed: long channel"
    else:
        exponent = facts.pick(facts.mcpat, like, base, "I_off_voltage_exponent")
        slope = max(exponent[0], 2.0) / vdd / math.log(10)
        dibl, source, how = slope * swing, exponent[1], "scaled: slope of the power law of I_off in the supply at the nominal one, in swings (exponents below 2 taken as 2)"
    put("dibl", dibl, "", source, how, 0.5)
    put("swing", swing * 1000, "mV", "Taur and Ning, Fundamentals of Modern VLSI Devices, section 3.1: 80 to 110 mV per decade at 300 K", "assumed: middle of the range", 0.1)
    planar_gate_leakage(facts, put, node, like, base)


def planar_gate_leakage(facts, put, node, like, base):
    if node == 130:
        ratio = 1 if base == "hp" else facts.pick(facts.cacti, 90, base, "I_g_on_n", 300)[0] / facts.pick(facts.cacti, 90, "hp", "I_g_on_n", 300)[0]
        a, b = (facts.pick(facts.cacti, n, "hp", "I_g_on_n", 300)[0] for n in (180, 90))
        value, source, how = between(130, 180, a, 90, b) * ratio, f"{CACTI_SAME} tables of 180 nm and 90 nm", "scaled: geometric in log(node), for the tables have no 130 nm"
    elif (like, base) == (45, "lop"):
        a, b = (facts.pick(facts.cacti, n, "lop", "I_g_on_n", 300)[0] for n in (65, 32))
        value, source, how = between(45, 65, a, 32, b), f"{CACTI_SAME} tables of 65 nm and 32 nm lop", "scaled: geometric in log(node), for the 45 nm column is a copy of another quantity"
    else:
        value, source, how = cacti(facts, node, base, "I_g_on_n", 300)
    put("i_gate", value, "A/um", source, how, 0.7)
    put("i_gate_exponent", 4, "", "Krishnamurthy et al., CICC 2002: gate leakage falls about as the fourth power of the supply", "assumed: of the range 3 to 5", 0.25)


def planar_cell(out, node):
    area, source, u = PLANAR_CELL[node]
    pitch, pitch_source = GATE_PITCH[node]
    f = node
    out.value("cell.area", area, "um2", source, "published" if "F2" not in source else "scaled: 146 F2", u)
    if node >= 90:
        out.value("cell.height", math.sqrt(area / 1.46) * 1.46, "um", "CACTI 7 tech_params: aspect 1.46", "published", 0.1)
    else:
        out.value("cell.height", 2 * pitch, "nm", pitch_source, "scaled: thin cell, two gate pitches along the bitline", 0.1)
    for name, width in [("access_width", 1.31), ("nmos_width", 2.08), ("pmos_width", 1.23)]:
        out.value(f"cell.{name}", width * f, "nm", f"CACTI 7 tech_params: {width} F", "published", 0.15)
    out.value("cell.high_current_area", 1.2, "", "0.108 over 0.092 um2 at 22 nm (Karl, ISSCC 2012, recalled), 0.155 over 0.127 um2 at 28 nm (recalled)", "assumed: mean of published pairs", 0.05)
    out.value("cell.high_current_drive", 1.5, "", "2:1:1 against 1:1:1 cells (Karl, ISSCC 2012, recalled)", "assumed: half of the step in pull-down width", 0.2)
    out.value("cell.eight_t_area", 1.3, "", "Chang et al., VLSI 2005 (recalled); NeuroSim V1.4 manual Table V has 1.29 at 22 nm", "published", 0.1)
    out.value("cell.cam_area", 2.0, "", "CACTI 7 tech_params: 292 F2 over 146 F2", "published", 0.15)


def planar_wires(facts, out, node):
    names = {"wire_pitch": ("pitch_f", None), "barrier_thickness": ("barrier", "um"), "dishing_thickness": ("dishing", "um"), "alpha_scatter": ("alpha_scatter", None),
             "aspect_ratio": ("aspect_ratio", None), "miller_value": ("miller", None), "horiz_dielectric_constant": ("k_horizontal", None),
             "vert_dielectric_constant": ("k_vertical", None), "ild_thickness": ("ild", "um"), "fringe_cap": ("fringe", "F/um"), "resistivity": ("resistivity", "ohm*um")}
    table = lambda n: {(r["flavour"], r["quantity"]): r for r in facts.cacti_wires if r["node_nm"] == str(n)}
    like = 22 if node == 20 else node
    spread = {180: 0.15, 130: 0.2, 90: 0.15, 65: 0.15, 45: 0.2, 32: 0.25, 22: 0.35, 20: 0.4}[node]
    for projection in ("aggressive", "conservative"):
        for layer in ("local", "semi-global", "global"):
            key = f"{projection}/{layer}"
            for quantity, (name, unit) in names.items():
                u = spread if name in ("resistivity", "barrier", "alpha_scatter", "dishing") else 0.15
                if node == 130:
                    a, b = (float(table(n).get((key, quantity), {"value": 0})["value"]) for n in (180, 90))
                    value = between(130, 180, a, 90, b) if a > 0 and b > 0 else (a + b) / 2
                    source, how = "CACTI 7 tables of 180 nm and 90 nm", "scaled: geometric in log(node)"
                else:
                    row = table(like).get((key, quantity))
                    value, source = (float(row["value"]), row["source"]) if row else (0.0, f"HewlettPackard/cacti@1ffd8df tech_params/{like}nm.dat:93")
                    how = "published" if node != 20 else "scaled: as 22 nm, pitch in F"
                out.value(f"{projection}.{layer.replace('-', '_')}.{name}", value, unit, source, how, u)


def planar(facts, node, drive):
    out = Out(node, "planar", None)
    flavours = {180: ["hp", "sram"], 130: ["hp", "lstp", "sram"]}.get(node, ["hp", "lop", "lstp", "sram"])
    for flavour in flavours:
        planar_device(facts, out, node, flavour, drive)
    pitch, source = GATE_PITCH[node]
    out.value("layout.unit", node, "nm", "the feature size F", "published", 0.02)
    out.value("layout.gate_pitch", pitch, "nm", source, "published", 0.08)
    out.value("layout.row_height", 50 * node, "nm", "50 F (CACTI 5.1 TR, section 3)", "published", 0.3)
    planar_cell(out, node)
    planar_wires(facts, out, node)
    return out


# ---- FinFET -------------------------------------------------------------------------------------------------------------------------


def effective(node):
    """Channel width of one fin (two sides and the top), or of one stack of three nanosheets, in um."""
    if node == 2:
        return 3 * 2 * (0.015 + 0.006)
    _, height, width = FINFET[node]["fin"]
    return (2 * height + width) / 1000


def shape(facts, node, threshold):
    """The run whose dependence on supply and temperature stands for this node: its own geometry at 7, 5 and 3 nm, else ASAP7."""
    if node in (5, 3) and threshold != "sram":
        return node, f"ASAP7-geomscaled-{threshold}", f"{ASAP7}, fin height, width and gate length of {node} nm"
    if node == 2 and threshold != "sram":
        return 3, f"ASAP7-geomscaled-{threshold}", f"{ASAP7}, fin height, width and gate length of 3 nm"
    return 7, f"ASAP7-{threshold}", f"{ASAP7}, {threshold}"


def finfet_current(facts, node, threshold):
    """(I_on, I_off per effective um, source, how, uncertainty)."""
    at, run, source = shape(facts, node, threshold)
    spice = lambda q, flavour=run, n=at: float(next(r["value"] for r in facts.spice if r["node_nm"] == str(n) and r["flavour"] == flavour and r["quantity"] == q and r["temp_K"] == "300"))
    off = lambda flavour, n: (spice("I_off_n", flavour, n) + spice("I_off_p", flavour, n)) / 2
    if node in (7,):
        return spice("I_on_n"), off(run, at), f"{source}; Clark 2016 Tables 3 and 4 within 8 %", f"fitted: simulated, {FIT}", 0.15
    if node in (5, 3):
        if threshold == "sram":
            ratio = spice("I_on_n") / spice("I_on_n", "ASAP7-rvt", 7)
            leak = off(run, 7) / off("ASAP7-rvt", 7)
            base = f"ASAP7-geomscaled-rvt"
            return spice("I_on_n", base, node) * ratio, off(base, node) * leak, source, "scaled: ASAP7's ratio of sram to rvt on the rvt run of this geometry", 0.25
        return spice("I_on_n"), off(run, at), source, f"fitted: simulated, {FIT}", 0.2
    like = FINFET[node]["like"]
    on = facts.pick(facts.neurosim, like, "hd-tcad-irds", "I_on_density")[0] * 1e-6
    leak = facts.pick(facts.neurosim, like, "hd-tcad-irds", "I_off_n", 300)[0]
    ratio_on = spice("I_on_n", f"ASAP7-{threshold}", 7) / spice("I_on_n", "ASAP7-rvt", 7)
    ratio_off = off(f"ASAP7-{threshold}", 7) / off("ASAP7-rvt", 7)
    return on * ratio_on, leak * ratio_off, f"{TCAD}, {like} nm; {ASAP7}", f"scaled: the TCAD device is the low-leakage one; ASAP7's ratio of {threshold} to rvt", 0.3


def finfet_device(facts, out, node, flavour):
    threshold = ASAP7_FLAVOUR[flavour]
    d = FINFET[node]
    at, run, source = shape(facts, node, threshold)
    plain = lambda q: float(next(r["value"] for r in facts.spice if r["node_nm"] == str(at) and r["flavour"] == run and r["quantity"] == q))
    put = lambda name, number, unit, src, how, u: out.value(f"{flavour}.{name}", number, unit, src, how, u)
    on, off, source_on, how_on, u_on = finfet_current(facts, node, threshold)
    put("vdd", d["vdd"], "V", "ASAP7 (Clark 2016)" if node == 7 else "NeuroSim V1.4 (IRDS) and foundry figures, recalled", "published", 0.05)
    put("vth", plain("Vth_sat_n"), "V", source, f"fitted: simulated, {FIT}", 0.15)
    put("i_on_n", on, "A/um", source_on, how_on, u_on)
    put("r_eff_multiplier", plain("R_eff_n") / math.log(2) / plain("R_on_n_Vdd_over_Ion"), "", f"{source}: Vdd / (2 I_eff) over Vdd / I_on, over ln 2 (Na et al., IEDM 2002)", f"fitted: simulated, {FIT}", 0.1)
    put("n_to_p_drive_ratio", plain("R_eff_p") / plain("R_eff_n"), "", source, f"fitted: simulated, {FIT}", 0.1)
    put("l_elec", {16: 20, 14: 20, 12: 20, 10: 20, 7: 21, 5: 16, 3: 14, 2: 14}[node], "nm", "ASAP7 (Clark 2016); Wu et al. 2020; PTM-MG", "published", 0.15)
    finfet_capacitance(facts, put, node, threshold)
    finfet_leakage(facts, put, node, threshold, off, (at, run, source), (source_on, how_on))
    points = [(float(r["quantity"][6:]), float(r["value"])) for r in facts.spice if r["node_nm"] == str(at) and r["flavour"] == run and r["quantity"].startswith("FO4@V=")]
    alpha, vt, inside, held = fit.drive([p for p in points if 0.45 <= p[0] <= 1.0])
    facts.note(node, f"{flavour}.alpha", alpha, inside, held)
    facts.note(node, f"{flavour}.drive_threshold", vt, inside, held)
    put("alpha", alpha, "", f"{source}, fan-out-of-4 delay at 0.45 V to 1.0 V", f"fitted: {FIT}", 0.1)
    put("drive_threshold", vt, "V", f"{source}, fan-out-of-4 delay at 0.45 V to 1.0 V", f"fitted: {FIT}", 0.08)
    slope, inside, held = fit.slope([(float(r["temp_K"]), float(r["value"])) for r in facts.spice if r["node_nm"] == str(at) and r["flavour"] == run and r["quantity"] == "FO4" and r["temp_K"] != "298.15"])
    facts.note(node, f"{flavour}.r_temperature", slope, inside, held)
    put("r_temperature", slope, "", f"{source}, fan-out-of-4 delay at 300 K to 400 K", f"fitted: {FIT}", 0.3)
    out.range(flavour, max(0.5, round(vt + 0.12, 2)), 0.95)


def finfet_capacitance(facts, put, node, threshold):
    """A gate as it is in an extracted cell: bare device and parasitics of its contacts (docs/technology.md, parasitics)."""
    bare7 = float(next(r["value"] for r in facts.spice if r["node_nm"] == "7" and r["flavour"] == f"ASAP7-{threshold}" and r["quantity"] == "C_gate_avg"))
    cell = facts.pick(facts.cells, 7, f"ASAP7-{threshold}-TT V=0.7", "INVx1_Cin")[0] / 6 / effective(7)
    factor = cell / bare7
    bare, source, how = bare7, f"{ASAP7}, {threshold}", f"fitted: simulated, {FIT}"
    if node in (5, 3) and threshold != "sram":
        bare = float(next(r["value"] for r in facts.spice if r["node_nm"] == str(node) and r["flavour"] == f"ASAP7-geomscaled-{threshold}" and r["quantity"] == "C_gate_avg"))
        source = f"{ASAP7}, geometry of {node} nm"
    elif node != 7:
        like = FINFET[node]["like"]
        density = lambda n: facts.pick(facts.neurosim, n, "hd-tcad-irds", "C_gate_density")[0]
        bare = bare7 * density(like) / density(7)
        source, how = f"{ASAP7}, {threshold}; {TCAD}", "scaled: by the gate capacitance of the TCAD devices of this node and of 7 nm"
    put("c_gate_ideal", bare / 1.2, "fF/um", source, how, 0.2)
    put("c_fringe", (factor - 1) * bare / 3, "fF/um", f"{LIBERTY}: {factor:.2f} times the bare device", "published" if node == 7 else "scaled: the factor of 7 nm", 0.2 if node == 7 else 0.3)
    put("c_junction", 0, "fF/um2", source, "assumed: a fin has next to no junction area; the drain of the extracted cell is in fringe and overlap", 1)
    put("c_junction_sidewall", 0, "fF/um", source, "assumed: as the junction", 1)


def finfet_leakage(facts, put, node, threshold, off, run, on):
    at, flavour, source = run
    points = fit.column(facts.spice, at, flavour, ["I_off_n", "I_off_p"])
    _, ea, inside, held = fit.activation(points)
    facts.note(node, f"{threshold}.activation", ea, inside, held)
    put("i_off", off, "A/um", on[0], on[1], 0.7)
    put("activation", ea, "eV", source, f"fitted: {FIT}; the TCAD devices of 14 nm to 1 nm have 0.42 to 0.46 eV", 0.15)
    plain = lambda q: float(next(r["value"] for r in facts.spice if r["node_nm"] == str(at) and r["flavour"] == flavour and r["quantity"] == q))
    put("dibl", (plain("DIBL_n") + plain("DIBL_p")) / 2000, "", source, f"fitted: simulated, {FIT}", 0.3)
    put("swing", (plain("SS_n") + plain("SS_p")) / 2, "mV", source, f"fitted: simulated, {FIT}", 0.06)
    put("i_gate", plain("I_gate_on_n"), "A/um", source, f"fitted: simulated, {FIT}", 1.0)
    put("i_gate_exponent", 4, "", "Krishnamurthy et al., CICC 2002: gate leakage falls about as the fourth power of the supply", "assumed: of the range 3 to 5", 0.25)


def finfet_layout(out, node):
    d = FINFET[node]
    gate, source, u = d["gate"]
    pitch, height, width = d["fin"]
    out.value("layout.unit", gate / 4, "nm", source, "scaled: a quarter of the gate pitch, as the layout rules in F make a gate pitch of 4 F", u)
    out.value("layout.gate_pitch", gate, "nm", source, "published", u)
    out.value("layout.row_height", d["row"], "nm", "standard-cell rows: ASAP7 7.5 tracks; NeuroSim V1.4 (IRDS) and foundry figures, recalled", "published", 0.1)
    geometry = "ASAP7 (Clark 2016)" if node == 7 else f"{TCAD}" if node in (16, 14, 12, 10, 2) else "Wu et al. 2020, Table 5"
    out.value("fin.pitch", pitch, "nm", geometry, "published", 0.06)
    out.value("fin.effective_width", effective(node) * 1000, "nm", geometry, "scaled: 2 height + width" if node != 2 else "scaled: three sheets of 15 nm by 6 nm, gate all around", 0.1)
    area, source, u = d["cell"]
    out.value("cell.area", area, "um2", source, "published", u)
    out.value("cell.height", 2 * gate, "nm", d["gate"][1], "scaled: two gate pitches along the bitline (ASAP7: 8 fin pitches by 2 gate pitches)", 0.08)
    for name in ("access_width", "nmos_width", "pmos_width"):
        out.value(f"cell.{name}", pitch, "nm", "1:1:1 high-density cell (Clark 2016, section 5.2)", "scaled: one fin", 0.06)
    out.value("cell.high_current_area", 1.22, "", "Clark 2016: 10 over 8 fin pitches; 0.032 over 0.0262 um2 (Samsung 7LPP, recalled); 0.0588 over 0.05 um2 (Intel 14 nm, recalled)", "assumed: mean of published pairs", 0.04)
    out.value("cell.high_current_drive", 2.0, "", "1:2:2 cell (Clark 2016, section 5.2): two fins in access and pull-down", "published", 0.1)
    out.value("cell.eight_t_area", {16: 1.4, 14: 1.4, 12: 1.4, 10: 1.5}.get(node, 1.6), "", "1.3 (usual) to 1.47, 1.71, 1.96 at 14, 10, 7 nm (NeuroSim V1.4 manual Table V)", "assumed: middle of the range", 0.15 if node > 7 else 0.2)
    out.value("cell.cam_area", 2.0, "", "CACTI 7 tech_params: 292 F2 over 146 F2", "assumed: the planar ratio", 0.25)


def finfet_wires(facts, out, node, law):
    pitches, barriers = WIRES[node]
    spread = 0.45 if node > 7 else 0.7
    why = "assumed: by lithography class" if node not in (7,) else "published"
    for projection in ("aggressive", "conservative"):
        for layer, pitch, barrier in zip(("local", "semi_global", "global"), pitches, barriers):
            put = lambda name, number, unit, source, how, u: out.value(f"{projection}.{layer}.{name}", number, unit, source, how, u)
            put("pitch", pitch, "nm", WIRE_SOURCE, why, 0.08)
            put("aspect_ratio", 2, "", "ASAP7 (Clark 2016): 2:1; Wu et al. 2020", "published", 0.1)
            put("miller", 1.5, "", "CACTI 7 tech_params: worst case of switching neighbours", "published", 0.15)
            k = 2.8 if layer == "local" else 3.0
            for name in ("k_horizontal", "k_vertical"):
                put(name, k * (0.9 if projection == "aggressive" else 1), "", "Ciofi et al., IEEE TED 2016, as used by Wu et al. 2020: 2.8 and 3.0", "published" if projection == "conservative" else "assumed: a tenth less", 0.15)
            put("ild", pitch, "nm", "as thick as the wire (ASAP7, Clark 2016)", "scaled: aspect ratio times half a pitch", 0.2)
            put("fringe", 0.03, "fF/um", "remainder of the line capacitances of ASAP7 (ORFS setRC.tcl, 0.15 to 0.19 fF/um) and Wu et al. 2020 (0.22 to 0.24 fF/um)", "assumed: small against the plates", 0.5)
            if projection == "conservative":
                put("barrier", barrier, "nm", "Ciofi et al. 2016, as used by Wu et al. 2020: 3 nm and 4 nm", "published", spread)
            else:
                put("barrier", 1.5 if barrier > 1.5 else barrier, "nm", "ASAP7 (Clark 2016): 1.5 nm TaN", "published", spread)
                put("resistivity", 0.0215, "ohm*um", "ASAP7, ORFS setRC.tcl: 19 to 24 ohm nm over the drawn cross-sections of M2 to M7", "fitted: mean of the layers, which have no size effect", spread)
    specular, reflect = law
    source = "Steinhoegl et al., PRB 66, 075414 (2002)"
    out.value("wires.bulk_resistivity", fit.COPPER_BULK * 1e6, "ohm*um", f"{source}: copper at 300 K", "published", 0.03)
    out.value("wires.mean_free_path", fit.MEAN_FREE_PATH * 1e9, "nm", f"{source}: copper at 300 K", "published", 0.05)
    out.value("wires.specularity", specular, "", "near the 0.47 that ITRS 2011 used", "assumed: the fit cannot tell it from the reflectivity", 0.3)
    out.value("wires.reflectivity", reflect, "", f"{source}; resistivities of ITRS and IRDS lines from 175 nm to 8 nm", f"fitted: {FIT}", 0.3)


def finfet(facts, node, law):
    note = "sketch: a nanosheet device from TCAD with the behaviour of a 3 nm FinFET; no silicon to check it against" if node == 2 else None
    out = Out(node, "nanosheet" if node == 2 else "finfet", note)
    for flavour in ("hp", "lop", "lstp", "sram"):
        finfet_device(facts, out, node, flavour)
    finfet_layout(out, node)
    finfet_wires(facts, out, node, law)
    return out


def wire_law(facts):
    specular = fit.SPECULARITY
    reflect, inside, held = facts.fitted("all", "wires", "reflectivity")
    facts.note("all", "wires.reflectivity", reflect, inside, held)
    return specular, reflect


def main():
    (target,) = sys.argv[1:]
    facts = Facts()
    drive = planar_drive(facts)
    law = wire_law(facts)
    for node in PLANAR + list(FINFET):
        out = planar(facts, node, drive) if node in PLANAR else finfet(facts, node, law)
        with open(f"{target}/{node}nm.toml", "w") as file:
            file.write("\n".join(out.lines).rstrip() + "\n")
    with open(f"{target}/fits.csv", "w") as file:
        file.write("node_nm,value,fitted,worst_relative_error_fitted,worst_relative_error_held_out\n")
        for node, what, value, inside, held in facts.fits:
            file.write(f"{node},{what},{value:.6g},{inside:.4f},{held:.4f}\n")


main()
