"""sin, cos, tan and their inverses: coefficients for trigonometric.h and inverse_trigonometric.h."""

from mpmath import mp, mpf, sin, cos, asin, atan, pi, sqrt, floor, ldexp
from remez import Header, BITS

h = Header("trigonometric.py", "TrigConstants")
pi = +pi
h.constant("kTwoOverPi", 2 / pi)
h.split("kPiOver2_", pi / 2, 3, None, "pi / 2 in three parts")
h.split("kPi_", pi, 2, None, "pi in two parts")
h.split("kPiOver4_", pi / 4, 2, None, "pi / 4 in two parts")
h.split("k3PiOver4_", 3 * pi / 4, 2, None, "3 pi / 4 in two parts")

top = (pi / 4 * mpf("1.004")) ** 2
tiny = mpf(2) ** -60


def s(z):
    r = sqrt(z)
    return (sin(r) - r) / r**3


def c(z):
    return (cos(sqrt(z)) - 1 + z / 2) / z**2


h.polynomial("kSin", s, tiny, top, {"float": 3, "double": 6}, lambda z: z * sqrt(z) / sin(sqrt(z)),
             "(sin r - r) / r^3 in r^2, |r| <= pi/4, sin relative")
h.polynomial("kSinFast", s, tiny, (pi / 2 * mpf("1.002")) ** 2, {"float": 4, "double": 7}, lambda z: z * sqrt(z) / sin(sqrt(z)),
             "the same for |r| <= pi/2, for 4 ulp")
h.polynomial("kCos", c, tiny, top, {"float": 3, "double": 6}, lambda z: z**2 / cos(sqrt(z)),
             "(cos r - 1 + r^2 / 2) / r^4 in r^2, |r| <= pi/4, cos relative")


def a(z):
    x = sqrt(z)
    return (asin(x) - x) / x**3


h.polynomial("kAsin", a, tiny, mpf("0.25"), {"float": 5, "double": 12}, lambda z: z * sqrt(z) / asin(sqrt(z)),
             "(asin x - x) / x^3 in x^2, |x| <= 1/2, asin relative")


def t(z):
    x = sqrt(z)
    return (atan(x) - x) / x**3


h.polynomial("kAtan", t, tiny, mpf(1), {"float": 9, "double": 20}, lambda z: z * sqrt(z) / atan(sqrt(z)),
             "(atan x - x) / x^3 in x^2, |x| <= 1, atan relative")

# Two zeros, then the digits of 2 / pi after the point.
mp.prec = 1500
rest = 2 / +mp.pi
digits = [0, 0]
for i in range(44):
    digits.append(int(floor(rest)))
    rest = (rest - digits[-1]) * 2**28
lines = h.members["double"]
lines.append("  // 0, 0, then 2 / pi in digits of 28 bits, the first of weight 1")
lines.append("  static constexpr std::array<std::uint64_t, %d> kTwoOverPiDigits = {" % len(digits))
lines += ["      " + " ".join("0x%07xu," % d for d in digits[i:i + 8]) for i in range(0, len(digits), 8)]
lines.append("  };")
h.print()
