"""trigamma: coefficients for polygamma.h. Those for f32 are doubles too: f32 is computed in f64, with fewer terms."""

from mpmath import mp, mpf, sqrt, psi
from remez import Header

mp.prec = 240
h = Header("polygamma.py", "PolygammaConstants")


def both(name, f, a, b, counts, weight, what):
    h.polynomial(name, f, a, b, counts, weight, what, 400, format="double")


both("kTrigamma", lambda v: psi(1, mpf(5) / 2 + v), mpf(-1) / 2, mpf(1) / 2, {"float": 10, "double": 19},
     lambda v: 1 / psi(1, mpf(5) / 2 + v), "trigamma(5/2 + v) on |v| <= 1/2, relative")


def trigamma_rest(w):
    z = 1 / sqrt(w)
    return (psi(1, z) - 1 / z - w / 2) * z**3


both("kTrigammaLarge", trigamma_rest, mpf(10) ** -20, mpf(1) / 9, {"float": 6, "double": 14}, lambda w: w * sqrt(w) / psi(1, 1 / sqrt(w)),
     "z^3 (trigamma(z) - 1 / z - 1 / (2 z^2)) in 1 / z^2, z >= 3, trigamma relative")
h.print()
