"""sinh: coefficients for hyperbolic.h."""

from mpmath import mpf, sinh, sqrt
from remez import Header

h = Header("hyperbolic.py", "HyperbolicConstants")


def s(z):
    x = sqrt(z)
    return (sinh(x) - x) / x**3


h.polynomial("kSinh", s, mpf(2) ** -60, mpf(1), {"float": 4, "double": 7}, lambda z: z * sqrt(z) / sinh(sqrt(z)),
             "(sinh x - x) / x^3 in x^2, |x| <= 1, sinh relative")
h.print()
