"""cbrt and pow: coefficients for power.h."""

from mpmath import mp, mpf, log, atanh, sqrt
from remez import Header

h = Header("power.py", "PowerConstants")
cube = mpf(1) / 3
h.polynomial("kInverseCbrt", lambda x: x ** -cube, mpf(1), mpf(2), {"float": 4, "double": 5}, lambda x: x ** cube,
             "x^(-1/3) on [1, 2], relative")
h.constant("kInverseCbrt2", mpf(2) ** -cube, "2^(-1/3)")
h.constant("kInverseCbrt4", mpf(4) ** -cube, "4^(-1/3)")

inv = 1 / log(mpf(2))
h.split("kInvLn2_", inv, 2, None, "1 / ln 2")
h.split("kThird_", cube, 2, None, "1 / 3")
h.split("kFifth_", mpf(1) / 5, 2, None, "1 / 5")
top = (sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1) + mpf(2) ** -20


def t(z):
    s = sqrt(z)
    return (atanh(s) / s - 1 - z / 3 - z**2 / 5) / z**3


h.polynomial("kAtanhTail", t, mpf(2) ** -30, top**2, {"double": 7}, lambda z: z**3,
             "(atanh(s) / s - 1 - z / 3 - z^2 / 5) / z^3 with z = s^2 on |s| < 0.1716", kinds=("double",))
# f32 goes through f64: log2 to 2^-38, exp2 to 2^-34
h.polynomial("kLog2ForFloat", lambda z: 2 * inv * atanh(sqrt(z)) / sqrt(z), mpf(2) ** -40, top**2, {"double": 5}, lambda z: 1 / inv / 2,
             "log2((1 + s) / (1 - s)) / s in z = s^2 on |s| < 0.1716", kinds=("double",))
ln2 = log(mpf(2))
h.polynomial("kExp2ForFloat", lambda r: mpf(2) ** r, mpf("-0.5"), mpf("0.5"), {"double": 7}, lambda r: mpf(2) ** -r,
             "2^r on |r| <= 1/2, relative", kinds=("double",))
h.print()
