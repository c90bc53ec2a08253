"""exp, exp2, expm1: coefficients for exponential.h."""

from mpmath import mp, mpf, log, exp, expm1
from remez import Header

h = Header("exponential.py", "ExpConstants")
ln2 = log(mpf(2))
h.constant("kLog2E", 1 / ln2)
h.split("kLn2_", ln2, 2, None, "ln 2 in two parts")

half = ln2 / 2 * mpf("1.001")


def s(t):
    if abs(t) < mpf(10) ** -25:
        return mpf(1) / 2 + t / 6
    return (exp(t) - 1 - t) / t**2


h.polynomial("kExp", s, -half, half, {"float": 6, "double": 11}, lambda t: t * t / expm1(t),
             "(e^t - 1 - t) / t^2 on |t| < 0.347, weighted so that e^t - 1 is relative")
h.polynomial("kExpAlone", s, -half, half, {"float": 5, "double": 10}, lambda t: t * t / exp(t), "the same, e^t relative")
h.polynomial("kExpFast", s, -half, half, {"float": 4, "double": 9}, lambda t: t * t / exp(t), "the same, for 4 ulp")


def q(r):
    return expm1(r * ln2) / r


h.polynomial("kExp2", q, mpf("-0.5"), mpf("0.5"), {"float": 6, "double": 12}, lambda r: r / mpf(2) ** r,
             "(2^r - 1) / r on |r| <= 1/2, weighted so that 2^r is relative")
h.print()
