#!/usr/bin/env python3
"""Writes techlib/data/facts/fits_neurosim.csv: what the tables of NeuroSim V1.4 say, as parameters of our laws.

usage: neurosim.py TABLES_FOLDER OUTPUT_FILE

TABLES_FOLDER has devices_neurosim.csv and wires_neurosim.csv, one fact a row: node_nm, flavour, quantity, value, unit, temp_K, source. NeuroSim's
licence (CC BY-NC) does not let its tables be part of this project, so that the fits stand in the facts and the points do not.
"""

import csv
import sys

import fit

NODES = [130, 90, 65, 45, 32, 22]
CURRENTS = "PTM (Zhao and Cao, IEEE TED 2006), as read from NeuroSim V1.4 Technology.cpp, {} nm {}, 300 K to 400 K"
LINES = "ITRS and IRDS lines from 175 nm to 8 nm, as read from NeuroSim V1.4 Param.cpp"


def read(folder, name):
    with open(f"{folder}/{name}.csv") as file:
        return list(csv.DictReader(file))


def currents(rows):
    for node in NODES:
        for flavour in ("hp", "lstp"):
            source = CURRENTS.format(node, flavour)
            current, ea, inside, held = fit.activation(fit.column(rows, node, flavour, ["I_off_n", "I_off_p"]))
            yield node, flavour, "i_off", current, "A/um", inside, held, source
            yield node, flavour, "activation", ea, "eV", inside, held, source
        resistances = [(t, 1 / i) for t, i in fit.column(rows, node, "hp", ["I_on_n"])]
        slope, inside, held = fit.slope(resistances)
        yield node, "hp", "r_temperature", slope, "1/K", inside, held, CURRENTS.format(node, "hp")


def lines(rows):
    by = {}
    for r in rows:
        by.setdefault((r["node_nm"], r["flavour"]), {})[r["quantity"]] = float(r["value"])
    points = sorted({(v["width"] * 1e-9, v["aspect_ratio"], v["resistivity_bulk+scatter"]) for v in by.values()})
    reflect, inside, held = fit.reflectivity(points, fit.SPECULARITY)
    yield "all", "wires", "reflectivity", reflect, "", inside, held, LINES


def main():
    folder, target = sys.argv[1:]
    with open(target, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["node_nm", "flavour", "quantity", "value", "unit", "worst_fitted", "worst_held_out", "source"])
        out.writerows(currents(read(folder, "devices_neurosim")))
        out.writerows(lines(read(folder, "wires_neurosim")))


main()
