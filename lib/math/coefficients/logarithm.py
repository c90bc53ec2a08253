"""log, log2, log10, log1p: coefficients for logarithm.h."""

from mpmath import mp, mpf, log, log1p, atanh, sqrt
from remez import Header

h = Header("logarithm.py", "LogConstants")
ln2 = log(mpf(2))
h.split("kLn2_", ln2, 2, {"float": 15, "double": 41}, "ln 2 in two parts; an integer of up to 9 (12) bits times the first is exact")
h.split("kFullLn2_", ln2, 2, None, "ln 2 in two full parts")
h.split("kInvLn2_", 1 / ln2, 2, None, "1 / ln 2")
h.split("kInvLn10_", 1 / log(mpf(10)), 2, None, "1 / ln 10")
h.split("kLog10Of2_", log(mpf(2)) / log(mpf(10)), 2, {"float": 15, "double": 41}, "log10 2, split as ln 2 is")


def p(f):
    if abs(f) < mpf(10) ** -20:
        return mpf(1) / 3 - f / 4
    return (log1p(f) - f + f * f / 2) / f**3


h.polynomial("kLog1p", p, mpf(-1) / 3 - mpf(2) ** -20, mpf(1) / 3 + mpf(2) ** -20, {"float": 8},
             lambda f: f**3 / log1p(f), "(log(1 + f) - f + f^2 / 2) / f^3 on |f| < 1/3, weighted so that log is relative",
             kinds=("float",))
third = mpf(1) / 3 + mpf(2) ** -20
h.constant("kLog10Of2", log(mpf(2)) / log(mpf(10)), "log10 2")
for name, scale, what in (("kLogFast", mpf(1), "log"), ("kLog2Fast", 1 / ln2, "log2"), ("kLog10Fast", 1 / log(mpf(10)), "log10")):
    h.polynomial(name, lambda f: scale * (log1p(f) / f if f else 1), -third, third, {"float": 9}, lambda f: 1 / (scale * (log1p(f) / f if f else 1)),
                 "%s(1 + f) / f on |f| < 1/3, relative, for 4 ulp" % what, kinds=("float",))


def r(z):
    s = sqrt(z)
    return (2 * atanh(s) / s - 2) / z


top = (sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1) + mpf(2) ** -20
h.polynomial("kLogAtanh", r, mpf(2) ** -40, top**2, {"double": 7}, lambda z: z / 2,
             "(2 atanh(s) / s - 2) / z with z = s^2 on |s| < 0.1716", kinds=("double",))
h.print()
