"""erfcx, ndtr, log_ndtr, ndtri: coefficients for normal.h."""

from mpmath import mp, mpf, sqrt, pi, erf, erfc, erfinv, exp, log
from remez import Header

mp.prec = 240
h = Header("normal.py", "NormalConstants")


def ratio_variable(f, m, low, top, count, weight, name, what, kinds):
    """A polynomial for f(x) in t = (x - m) / (x + m), low <= x <= top."""
    m, low, top = mpf(m), mpf(low), mpf(top)
    values = {}

    def g(t):
        if t not in values:
            values[t] = f(m * (1 + t) / (1 - t))
        return values[t]

    h.polynomial(name, g, (low - m) / (low + m), (top - m) / (top + m), count, lambda t: weight(g(t)), what, 400, kinds)


def erfcx(x):
    return exp(x * x) * erfc(x)


def tail(x):
    """e^(x^2 / 2) ndtr(-x)"""
    return erfcx(x / sqrt(mpf(2))) / 2


# The factors make the derivatives nearly vanish at 0, where the rounding of the variable, which is -1, weighs most.
ratio_variable(lambda x: (1 + x * 9 / 8) * erfcx(x) - mpf(3) / 4, "3.75", 0, 2.0**50, {"float": 13, "double": 25},
               lambda v: 1 / (v + mpf(3) / 4), "kErfcx",
               "(1 + 9/8 x) erfcx(x) - 3/4 in (x - 3.75) / (x + 3.75) for x >= 0, relative to the whole", ("float", "double"))
ratio_variable(lambda x: (1 + x * 51 / 64) * tail(x) - mpf(3) / 8, 4, 0, 2.0**50, {"float": 13, "double": 26},
               lambda v: 1 / (v + mpf(3) / 8), "kTail",
               "(1 + 51/64 x) e^(x^2 / 2) ndtr(-x) - 3/8 in (x - 4) / (x + 4) for x >= 0, relative to the whole", ("float", "double"))


def center(w):
    q = sqrt(w)
    return (sqrt(2 * pi) if q < mpf(2) ** -60 else sqrt(mpf(2)) * erfinv(2 * q) / q) - mpf(5) / 2


h.polynomial("kCenter", center, 0, mpf(1) / 16, {"float": 7, "double": 14}, lambda w: 1 / (center(w) + mpf(5) / 2),
             "ndtri(1/2 + q) / q - 5/2 in q^2, |q| <= 1/4, relative to the whole", 400)


def quantile(r):
    """y > 0 with ndtr(-y) = e^(-r^2)"""
    y = sqrt(mpf(2)) * r * mpf("0.9") if r > 2 else mpf(1)
    for _ in range(80):
        p = erfc(y / sqrt(mpf(2))) / 2
        d = (log(p) + r * r) * p * sqrt(2 * pi) * exp(y * y / 2)
        y += d
        if abs(d) < mpf(2) ** -220:
            break
    return y


low = "1.177"
for kind, m, top, count in (("float", 2, "10.2", 13), ("double", 3, "27.4", 35)):
    ratio_variable(lambda r: quantile(r) / r - 1, m, low, top, {kind: count}, lambda v: 1 / (1 + v), "kQuantile",
                   "-ndtri(p) / r - 1 in (r - %d) / (r + %d) with r = sqrt(-log p), p <= 1/4, relative to the whole" % (m, m), (kind,))
    ratio_variable(lambda r: 2 * r * exp(quantile(r) ** 2 / 2 - r * r) * sqrt(2 * pi), m, low, top, {kind: 3}, lambda v: 1 / v, "kSlope",
                   "the derivative of -ndtri(p) by r, in the same variable", (kind,))
h.print()
