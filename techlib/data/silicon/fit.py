"""Least squares for the laws of the `silicon` library, with every second point held out of the fit.

The laws (docs/technology.md):
  delay(V)   ~ V / (V - Vt)^alpha                      alpha-power law (Sakurai and Newton, JSSC 1990)
  I_off(T)   = I_300 (T/300)^2 exp(-Ea/k (1/T - 1/300)) thermally activated current
  R(T)       = R_300 (1 + slope (T - 300))
  rho(w, h)  size effect (Steinhoegl et al., PRB 66, 075414, 2002)

No library outside Python's own: the fits have one or two parameters and are found by a shrinking grid, so that anybody can run them.
"""

import math

BOLTZMANN_EV = 8.617333262e-5
COPPER_BULK = 17.2e-9  # ohm m at 300 K
MEAN_FREE_PATH = 40e-9  # m
SPECULARITY = 0.5  # of a line's surface; the fit of the reflectivity cannot tell the two apart


def column(rows, node, flavour, quantities):
    """Mean of the quantities by temperature, 300 K to 400 K."""
    by = {}
    for r in rows:
        if r["node_nm"] == str(node) and r["flavour"] == flavour and r["quantity"] in quantities and r["temp_K"] and 299 < float(r["temp_K"]) <= 400:
            by.setdefault(float(r["temp_K"]), []).append(float(r["value"]))
    return [(t, sum(v) / len(v)) for t, v in by.items()]


def grid(error, ranges, rounds=40, points=9):
    """The minimum of `error` over a box, by a grid that shrinks around its best point."""
    box = list(ranges)
    best = None
    for _ in range(rounds):
        axes = [[low + (high - low) * i / (points - 1) for i in range(points)] for low, high in box]
        candidates = [[]]
        for axis in axes:
            candidates = [c + [x] for c in candidates for x in axis]
        best = min(candidates, key=lambda c: error(*c))
        box = [
            (max(r[0], x - (high - low) / 3), min(r[1], x + (high - low) / 3))
            for x, (low, high), r in zip(best, box, ranges)
        ]
    return best


def split(points):
    """Every second point is fitted; the others only judge the fit."""
    points = sorted(points)
    return points[0::2], points[1::2]


def worst(law, points):
    return max((abs(math.log(law(x) / y)) for x, y in points), default=0.0)


def spread(logs):
    """The standard deviation of what a free factor leaves over."""
    mean = sum(logs) / len(logs)
    return sum((x - mean) ** 2 for x in logs)


def drive(points):
    """(alpha, Vt, worst relative error in the fit, worst held out) of delays at supplies."""
    fitted, held = split(points)
    lowest = min(v for v, _ in points)

    def error(alpha, vt):
        return spread([math.log(d) - math.log(v) + alpha * math.log(v - vt) for v, d in fitted])

    alpha, vt = grid(error, [(0.6, 2.0), (0.0, lowest - 0.02)])  # 2: the square law of long channels
    free = sum(math.log(d) - math.log(v) + alpha * math.log(v - vt) for v, d in fitted) / len(fitted)
    law = lambda v: math.exp(free) * v / (v - vt) ** alpha
    return alpha, vt, worst(law, fitted), worst(law, held)


def activation(points):
    """(I at 300 K, Ea in eV, worst in the fit, worst held out) of currents at temperatures."""
    fitted, held = split(points)

    def error(ea):
        return spread([math.log(i) - 2 * math.log(t / 300) + ea / BOLTZMANN_EV * (1 / t - 1 / 300) for t, i in fitted])

    (ea,) = grid(error, [(0.0, 1.0)])
    free = sum(math.log(i) - 2 * math.log(t / 300) + ea / BOLTZMANN_EV * (1 / t - 1 / 300) for t, i in fitted) / len(fitted)
    law = lambda t: math.exp(free) * (t / 300) ** 2 * math.exp(-ea / BOLTZMANN_EV * (1 / t - 1 / 300))
    return math.exp(free), ea, worst(law, fitted), worst(law, held)


def slope(points):
    """(relative slope per kelvin at 300 K, worst in the fit, worst held out) of resistances or delays at temperatures."""
    fitted, held = split(points)

    def error(s):
        return spread([math.log(r) - math.log(1 + s * (t - 300)) for t, r in fitted])

    (s,) = grid(error, [(-0.003, 0.01)])
    free = sum(math.log(r) - math.log(1 + s * (t - 300)) for t, r in fitted) / len(fitted)
    law = lambda t: math.exp(free) * (1 + s * (t - 300))
    return s, worst(law, fitted), worst(law, held)


def resistivity(width, aspect, specularity, reflectivity):
    """Size-effect resistivity of a line of copper, width in m: surface and grain-boundary scattering, grains as wide as the line."""
    a = MEAN_FREE_PATH / width * reflectivity / (1 - reflectivity)
    grains = (1 / 3) / (1 / 3 - a / 2 + a * a - a**3 * math.log(1 + 1 / a))
    surface = 0.375 * 1.2 * (1 - specularity) * (1 + aspect) / aspect * MEAN_FREE_PATH / width
    return COPPER_BULK * (grains + surface)


def reflectivity(points, specularity):
    """(R, worst in the fit, worst held out) of (width in m, aspect, resistivity)."""
    points = sorted(points)
    fitted, held = points[0::2], points[1::2]
    residual = lambda r, rows: [math.log(resistivity(w, a, specularity, r) / rho) for w, a, rho in rows]
    (r,) = grid(lambda r: sum(x * x for x in residual(r, fitted)), [(0.02, 0.9)])
    return r, max(map(abs, residual(r, fitted))), max(map(abs, residual(r, held)))
