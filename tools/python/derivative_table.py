#!/usr/bin/env python3
"""Writes test/transform/data/derivatives.txt: partial derivatives of orders 1 to 3, computed by mpmath.

A line is `function orders arguments = value`: `pow 1,1 3 0 = 0.333...` is the mixed second derivative of pow(x, y) at
(3, 0). The points are those where derivative formulas typically fail: ties, zeros, integers, neighbours of poles, large
arguments; only points at which the function has these derivatives. Arguments are exact in f64. Values near the ends of
f64's range are omitted; a value that differs between two precisions is an error.

Functions of three arguments such as softmax are reductions over these three; complex_f_re and complex_f_im are the real
and imaginary parts of a function of the complex number x + yi.

Usage: derivative_table.py > test/transform/data/derivatives.txt      (needs mpmath 1.3)
"""
import itertools

from mpmath import mp, mpc, mpf
import mpmath

DIGITS = 60


def lgamma(x):
    # log |gamma|, whose derivatives equal those of the real logarithm on either side of each pole.
    return mpmath.re(mpmath.loggamma(x)) if x > 0 else mpmath.log(abs(mpmath.gamma(x)))


def root(x, n):
    return mpmath.sign(x) * mpmath.root(abs(x), n)


def logsumexp(*x):
    return mpmath.log(sum(mpmath.exp(v) for v in x))


def softmax(*x):
    return mpmath.exp(x[0]) / sum(mpmath.exp(v) for v in x)


def mean(x):
    return sum(x) / len(x)


def var(*x):
    return mean([(v - mean(x)) ** 2 for v in x])


SMALL = [-2.5, -1, -0.5, 0, 0.5, 1, 2, 3]
WIDE = SMALL + [-30, -20, 20, 30]
POSITIVE = [2.0**-20, 0.25, 1, 2, 3, 10, 100, 1e10]

ONE = {
    "sqrt": (mpmath.sqrt, POSITIVE),
    "rsqrt": (lambda x: 1 / mpmath.sqrt(x), POSITIVE),
    "cbrt": (lambda x: root(x, 3), POSITIVE + [-1, -8, -1e10]),
    "square": (lambda x: x * x, SMALL),
    "exp": (mpmath.exp, WIDE + [-700]),
    "exp2": (lambda x: mpf(2) ** x, WIDE),
    "expm1": (mpmath.expm1, SMALL + [2.0**-40, 20, 30]),
    "log": (mpmath.log, POSITIVE),
    "log2": (lambda x: mpmath.log(x) / mpmath.log(2), POSITIVE),
    "log10": (lambda x: mpmath.log(x) / mpmath.log(10), POSITIVE),
    "log1p": (mpmath.log1p, [-1 + 2.0**-20, -0.5, 0, 2.0**-40, -(2.0**-40), 1, 1e10]),
    "sin": (mpmath.sin, SMALL + [1e6]),
    "cos": (mpmath.cos, SMALL + [1e6]),
    "tan": (mpmath.tan, SMALL + [1.5, 1.5703125]),
    "asin": (mpmath.asin, [-0.5, 0, 0.5, 0.875, 1 - 2.0**-20, -1 + 2.0**-20]),
    "acos": (mpmath.acos, [-0.5, 0, 0.5, 0.875, 1 - 2.0**-20, -1 + 2.0**-20]),
    "atan": (mpmath.atan, WIDE + [1e5]),
    "sinh": (mpmath.sinh, WIDE),
    "cosh": (mpmath.cosh, WIDE),
    "tanh": (mpmath.tanh, SMALL + [-10, 10]),
    "asinh": (mpmath.asinh, WIDE + [1e5]),
    "acosh": (mpmath.acosh, [1 + 2.0**-20, 1.5, 2, 10, 1e5]),
    "atanh": (mpmath.atanh, [-0.5, 0, 0.5, 0.875, 1 - 2.0**-20, -1 + 2.0**-20]),
    "sigmoid": (lambda x: 1 / (1 + mpmath.exp(-x)), SMALL + [-30, -20, 10]),
    "expit": (lambda x: 1 / (1 + mpmath.exp(-x)), SMALL + [-30, 10]),
    "erf": (mpmath.erf, SMALL + [-6, 6]),
    "erfc": (mpmath.erfc, SMALL + [-6, 6, 20]),
    "erfinv": (mpmath.erfinv, [-0.75, 0, 2.0**-30, 0.5, 0.9375]),
    "lgamma": (lgamma, [2.0**-10, 0.5, 1, 1.5, 2, 3, 4, 10, 100, 1e5, -0.5, -1.5, -2.5, -0.9375, -2.0625, -20.5]),
    "tgamma": (mpmath.gamma, [2.0**-10, 0.5, 1, 1.5, 2, 3, 4, 10, 50, -0.5, -1.5, -2.5, -0.9375, -2.0625]),
    "digamma": (mpmath.digamma, [2.0**-10, 0.5, 1, 1.5, 2, 3, 4, 10, 100, 1e5, -0.5, -1.5, -2.5, -0.9375, -2.0625,
                                 -20.5]),
    "trigamma": (lambda x: mpmath.psi(1, x), [2.0**-10, 0.5, 1, 2, 3, 10, 1e5, -0.5, -1.5, -0.9375, -20.5]),
    "erfcx": (lambda x: mpmath.exp(x * x) * mpmath.erfc(x), SMALL + [-6, 8, 15.5, 16, 17, 1e5]),
    "ndtr": (mpmath.ncdf, SMALL + [-10, -30, 6]),
    "log_ndtr": (lambda x: mpmath.log(mpmath.erfc(-x / mpmath.sqrt(2)) / 2), SMALL + [-10, -38, -1e5, 30]),
    "ndtri": (lambda p: -mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * p), [2.0**-20, 0.125, 0.25, 0.5, 0.625, 0.9375]),
    "i0": (lambda x: mpmath.besseli(0, x), SMALL + [2.0**-30, -20, 100]),
    "i0e": (lambda x: mpmath.besseli(0, x) * mpmath.exp(-abs(x)), [-2.5, -1, 0.5, 1, 7, 60, 65, 1e5]),
    "i1": (lambda x: mpmath.besseli(1, x), SMALL + [2.0**-30, -20, 100]),
    "i1e": (lambda x: mpmath.besseli(1, x) * mpmath.exp(-abs(x)), [-2.5, -1, 2.0**-30, 0.5, 1, 7, 60, 65, 1e5]),
    "logit": (lambda p: mpmath.log(p / (1 - p)), [2.0**-20, 0.125, 0.25, 0.5, 0.625, 0.9375]),
    "entr": (lambda x: -x * mpmath.log(x), POSITIVE),
    "abs": (abs, [-2, -0.5, 0.5, 3]),
    "relu": (lambda x: max(x, mpf(0)), [-2, 0.5]),
}

TIES = [(0, 0), (1, 1), (-3, -3), (2.5, 2.5), (700, 700), (-700, -700), (0, 1), (1, 0), (-2, 3), (30, 0), (0, 30),
        (-20, 0), (0, -20), (1000, 1001), (2.0**-30, 0), (1, 1 + 2.0**-52)]

TWO = {
    "add": (lambda x, y: x + y, [(0, 0), (1, 2)]),
    "multiply": (lambda x, y: x * y, [(0, 0), (0, 3), (2, 0), (2, 3)]),
    "divide": (lambda x, y: x / y, [(0, 3), (2, -3), (1, 2.0**-20), (5, 1e5)]),
    "pow": (lambda x, y: x**y, [(3, 0), (0.5, 0), (1, 0), (1, 1), (2, 1), (2, 2), (2, 3), (3, -1), (0.5, 0.5), (4, -0.5),
                                (1e5, 0), (2.0**-20, 0), (2.0**-20, 1), (2.0**-20, 2), (10, 3)]),
    "atan2": (lambda x, y: mpmath.atan2(x, y), [(0, 1), (0, 3), (1, 0), (-1, 0), (1, 1), (-2, 3), (2, -3), (-2, -3), (5, 1e5),
                                                (1e5, 5)]),
    "hypot": (lambda x, y: mpmath.sqrt(x * x + y * y), [(3, 4), (0, 2), (2, 0), (-5, 0), (0, -1), (1, 1), (-2, 2),
                                                        (1e5, 1), (2.0**-10, 2.0**-10)]),
    "xlogy": (lambda x, y: x * mpmath.log(y), [(0, 2), (0, 10), (0, 1), (0, 0.5), (1, 1), (2, 3), (-1, 0.5),
                                               (0, 2.0**-20), (3, 1e5)]),
    "xlog1py": (lambda x, y: x * mpmath.log1p(y), [(0, 2), (0, 0), (1, 0), (2, 3), (-1, -0.5), (3, 1e5)]),
    "betaln": (lambda x, y: mpmath.re(mpmath.loggamma(x) + mpmath.loggamma(y) - mpmath.loggamma(x + y)),
               [(1, 1), (2, 3), (0.5, 20), (20, 0.5), (11, 12), (9, 1e5)]),
    "logaddexp2": (lambda x, y: mpmath.log(mpf(2)**x + mpf(2)**y, 2), TIES),
    "logaddexp": (lambda x, y: mpmath.log(mpmath.exp(x) + mpmath.exp(y)), TIES),
    "fdim": (lambda x, y: x - y if x > y else mpf(0), [(3, 2), (2, 3)]),
    "maximum": (max, [(3, 2), (2, 3), (0, -1)]),
    "minimum": (min, [(3, 2), (2, 3), (0, -1)]),
    "fmax": (max, [(3, 2), (2, 3), (0, -1)]),
    "fmin": (min, [(3, 2), (2, 3), (0, -1)]),
    "copysign": (lambda x, y: abs(x) * mpmath.sign(y), [(3, 2), (-3, 2), (3, -2), (-3, -2)]),
}

# n in x - n y, constant near each point; where the remainder is zero, n at the point itself.
QUOTIENTS = {
    "fmod": lambda x, y: mpmath.sign(x / y) * mpmath.floor(abs(x / y)),
    "mod": lambda x, y: mpmath.floor(x / y),
    "remainder": lambda x, y: mpmath.nint(x / y),
}
REMAINDERS = [(7, 3), (-7, 3), (7, -3), (-7, -3), (1, 0.1), (-1, 0.1), (6, 3), (-6, 3), (6, -3), (-6, -3), (0, 3),
              (0.3, 0.1), (1e6, 0.7), (0.6, 0.2), (100, 0.3), (5.5, 0.5)]

TRIPLES = [(0, 0, 0), (1, 1, 1), (1, 1, -2), (3, 1, 2), (-700, -700, -700), (700, 699, 700), (0, 0, -30), (0, 30, 0)]

THREE = {
    "fma": (lambda x, y, z: x * y + z, [(0, 0, 0), (2, 3, 4)]),
    "clip": (lambda x, lo, hi: min(max(x, lo), hi), [(0.5, 0, 1), (-1, 0, 1), (3, 0, 1), (-1, 2, 1), (1.5, 2, 1), (3, 2, 1)]),
    "logsumexp": (logsumexp, TRIPLES),
    "softmax": (softmax, TRIPLES),
    "log_softmax": (lambda *x: mpmath.log(softmax(*x)), TRIPLES),
    "norm": (lambda x, y, z: mpmath.sqrt(x * x + y * y + z * z), [(3, 4, 0), (0, 0, 2), (0, -1, 0), (1, 2, 2), (1e5, 0, 1)]),
    "prod": (lambda x, y, z: x * y * z, [(2, 0, 3), (0, 0, 3), (0, 0, 0), (2, -1, 3)]),
    "cumprod": (lambda x, y, z: x + x * y + x * y * z, [(2, 0, 3), (0, 0, 3), (0, 0, 0), (2, -1, 3)]),
    "var": (var, [(1, 1, 1), (1, 2, 4)]),
    "stddev": (lambda *x: mpmath.sqrt(var(*x)), [(1, 2, 4), (0, 0, 1)]),
    "amax": (max, [(1, 2, 3), (3, 1, 2)]),
}

PLANE = [(1, 0), (-1.5, 1), (2, 0), (0, 1), (0, -2), (0.5, 0), (3, 4), (1, 1), (-1, 1), (1, -1), (0.75, 0.75), (-3, 2),
         (-2, -1.5)]

COMPLEX = {
    "exp": (mpmath.exp, PLANE + [(0, 0), (-1, 0)]),
    "log": (mpmath.log, PLANE),
    "sqrt": (mpmath.sqrt, PLANE),
    "sin": (mpmath.sin, PLANE + [(0, 0)]),
    "cos": (mpmath.cos, PLANE + [(0, 0)]),
    "sinh": (mpmath.sinh, PLANE + [(0, 0)]),
    "cosh": (mpmath.cosh, PLANE + [(0, 0)]),
    "tanh": (mpmath.tanh, PLANE + [(0, 0)]),
    "abs": (abs, PLANE),
}


def partial(f, point, orders, digits):
    with mp.workdps(digits):
        return mp.diff(f, tuple(mpf(p) for p in point), tuple(orders))


def all_orders(count):
    for orders in itertools.product(range(4), repeat=count):
        if 1 <= sum(orders) <= 3:
            yield orders


def emit(name, point, orders, value):
    if value != 0 and (abs(value) < mpf("1e-290") or abs(value) > mpf("1e290")):
        return
    spelling = "0" if value == 0 else mpmath.nstr(value, 20, strip_zeros=True)
    print(name, ",".join(map(str, orders)), " ".join(repr(float(p)) for p in point), "=", spelling)


def rows(name, f, point):
    for orders in all_orders(len(point)):
        coarse = partial(f, point, orders, DIGITS)
        fine = partial(f, point, orders, 2 * DIGITS)
        size = max(abs(fine), mpf(10) ** -30)
        if abs(fine - coarse) > mpf("1e-20") * size and abs(fine) > mpf("1e-35"):
            raise ValueError(f"{name} {point} {orders}: {coarse} or {fine}")
        emit(name, point, orders, mpf(0) if abs(fine) < mpf("1e-35") and abs(coarse) < mpf("1e-20") else fine)


def main():
    print("# Made by tools/python/derivative_table.py: do not edit. Function, orders, arguments = derivative.")
    for name, (f, points) in ONE.items():
        for x in points:
            rows(name, f, (x,))
    for name, (f, points) in {**TWO, **THREE}.items():
        for point in points:
            rows(name, f, point)
    for name, quotient in QUOTIENTS.items():
        for x, y in REMAINDERS:
            with mp.workdps(DIGITS):
                n = quotient(mpf(x), mpf(y))
            rows(name, lambda u, v: u - n * v, (x, y))
    for name, (f, points) in COMPLEX.items():
        for part, take in (("re", mpmath.re), ("im", mpmath.im)):
            if name == "abs" and part == "im":
                continue
            for point in points:
                rows(f"complex_{name}_{part}", lambda x, y: take(f(mpc(x, y))), point)


if __name__ == "__main__":
    main()
