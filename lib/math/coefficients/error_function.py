"""erf, erfc, erf_inv: coefficients for error_function.h."""

from mpmath import mp, mpf, sqrt, pi, erf, erfc, exp, expm1, log, nstr
from remez import Header

mp.prec = 240
h = Header("error_function.py", "ErrorFunctionConstants")


def q(z):
    x = sqrt(z)
    return erf(x) / x - 1


h.polynomial("kErf", q, mpf(2) ** -40, mpf(1), {"float": 7, "double": 12}, lambda z: sqrt(z) / erf(sqrt(z)),
             "erf(x) / x - 1 in x^2, |x| <= 1, erf relative", 400)
h.polynomial("kErfSmall", q, mpf(2) ** -40, mpf(1) / 4, {"float": 5, "double": 9}, lambda z: sqrt(z) / erf(sqrt(z)),
             "the same for |x| <= 1/2", 400)
for kind, top, count in (("float", mpf(4), 7), ("double", mpf(6), 18)):
    h.polynomial("kLog2Erfc", lambda t: log(erfc(1 + t), 2) + 3, mpf(0), top - 1, {kind: count}, lambda t: erfc(1 + t) * log(mpf(2)),
                 "log2(8 erfc(1 + t)) on [0, %s], erfc absolute" % nstr(top - 1, 2), 400, (kind,))

h.polynomial("kErfFast", q, mpf(2) ** -40, mpf(1), {"float": 6, "double": 11}, lambda z: sqrt(z) / erf(sqrt(z)),
             "erf(x) / x - 1 as above, for 4 ulp", 400)
for kind, top, count in (("float", mpf(4), 6), ("double", mpf(6), 16)):
    h.polynomial("kLog2ErfcFast", lambda t: log(erfc(1 + t), 2) + 3, mpf(0), top - 1, {kind: count}, lambda t: erfc(1 + t) * log(mpf(2)),
                 "log2(8 erfc(1 + t)) as above, for 4 ulp", 400, (kind,))


def power(r):
    return expm1(r * log(mpf(2))) / r


# 2^r - 1 = r P(r) is multiplied by erfc <= 0.16, so that a larger error than that of exp2 is allowed.
h.polynomial("kExp2", power, mpf("-0.5"), mpf("0.5"), {"float": 6, "double": 11}, lambda r: r / mpf(2) ** r,
             "(2^r - 1) / r on |r| <= 1/2, weighted so that 2^r is relative")
h.polynomial("kExp2Fast", power, mpf("-0.5"), mpf("0.5"), {"float": 5, "double": 10}, lambda r: r / mpf(2) ** r,
             "the same, for 4 ulp")

k = mpf(3)


def erfc_scaled(t):
    x = k * (1 + t) / (1 - t)
    return (1 + 2 * x) * exp(x * x) * erfc(x)


for kind, top, count in (("float", mpf("10.2"), 11), ("double", mpf("27.5"), 23)):
    h.polynomial("kErfcScaled", lambda t: erfc_scaled(t) - mpf(5) / 4, (mpf("0.49") - k) / (mpf("0.49") + k), (top - k) / (top + k),
                 {kind: count}, lambda t: 1 / erfc_scaled(t),
                 "(1 + 2 x) e^(x^2) erfc(x) - 5/4 in (x - 3) / (x + 3) on [1/2, %s], relative to the whole" % nstr(top, 3), 400, (kind,))


def erfc_inv(c):
    t = sqrt(-log(c * (2 - c))) * mpf("0.9")
    for _ in range(80):
        d = (erfc(t) - c) * exp(t * t) * sqrt(pi) / 2
        if abs(d * t) < 0.5:
            d = d / (1 - d * t)
        t += d
        if abs(d) < abs(t) * mpf(2) ** -200:
            break
    return t


def center(w):
    if w < mpf(10) ** -15:
        return sqrt(pi) / 2 - 1
    x = sqrt(-expm1(-w))
    return erfc_inv(exp(-w) / (1 + x)) / x - 1


edge = mpf("0.9")
h.polynomial("kErfInvCenter", center, 0, -log(1 - edge**2) * mpf("1.001"), {"float": 7, "double": 15}, lambda w: 1 / (1 + center(w)),
             "erf_inv(x) / x - 1 in -log(1 - x^2), |x| <= 0.9, relative", 400)
m = mpf(2)
values = {}


def tail(t):
    if t not in values:
        s = m * (1 + t) / (1 - t)
        values[t] = erfc_inv(exp(-s * s)) / s - 1
    return values[t]


low = sqrt(-log(1 - edge)) * mpf("0.999")
for kind, top, count in (("float", mpf("4.1"), 9), ("double", mpf("6.07"), 20)):
    h.polynomial("kErfInvTail", tail, (low - m) / (low + m), (top - m) / (top + m), {kind: count}, lambda t: 1 / (1 + tail(t)),
                 "erf_inv(x) / s - 1 in (s - 2) / (s + 2) with s = sqrt(-log(1 - x)), x >= 0.9, relative", 400, (kind,))
h.print()
