"""i0, i0e, i1, i1e: coefficients for bessel.h."""

from mpmath import mp, mpf, sqrt, besseli, exp
from remez import Header

mp.prec = 240
h = Header("bessel.py", "BesselConstants")

for order, half in ((0, mpf(1)), (1, mpf(1) / 2)):
    f = "I%d" % order
    over = "" if order == 0 else " / x"

    def small(x):
        """I0(x) or I1(x) / x"""
        return half if x == 0 else besseli(order, x) / x**order

    for kind, split, in_square, scaled, large in (("float", 4, 8, 14, 11), ("double", 8, 17, 30, 26)):
        c = mpf(split) / 2
        h.polynomial("k%sInSquare" % f, lambda w: small(2 * sqrt(w)), 0, c * c, {kind: in_square}, lambda w: 1 / small(2 * sqrt(w)),
                     "%s(x)%s in (x / 2)^2, x <= %d, relative" % (f, over, split), 400, (kind,))
        h.polynomial("k%sScaled" % f, lambda u: small(c * (1 + u)) * exp(-c * (1 + u)), -1, 1, {kind: scaled},
                     lambda u: exp(c * (1 + u)) / small(c * (1 + u)), "e^-x %s(x)%s in x / %d - 1, x <= %d, relative" % (f, over, split // 2, split),
                     400, (kind,))

        def asymptotic(u):
            x = 2 * split / (1 + u) if u > -1 else mpf(10) ** 30
            return besseli(order, x) * exp(-x) * sqrt(x)

        h.polynomial("k%sLarge" % f, asymptotic, mpf(-1) + mpf(10) ** -12, 1, {kind: large}, lambda u: 1 / asymptotic(u),
                     "sqrt(x) e^-x %s(x) in %d / x - 1, x >= %d, relative" % (f, 2 * split, split), 400, (kind,))
h.print()
