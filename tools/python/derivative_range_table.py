#!/usr/bin/env python3
"""Writes test/transform/data/derivative_ranges.txt: values and derivatives of order 1 and 2, computed by mpmath, at
arguments near the ends of the ranges of f16, f32 and f64, alone and in pairs.

The lines are those of derivative_table.py; orders of zero are the value (of complex functions). Arguments have few
digits, so that they are exact in every type that has their range. Values beyond the range of f64 are omitted with
their derivatives, and those below it are 0.

Usage: derivative_range_table.py > test/transform/data/derivative_ranges.txt      (needs mpmath 1.3, some minutes)
"""
import itertools

from mpmath import mp, mpc, mpf
import mpmath

from derivative_table import lgamma, root

HALF = [1.75 * 2.0**15, 1.25 * 2.0**9, 1.25 * 2.0**-9, 1.75 * 2.0**-14]
SINGLE = [1.25 * 2.0**66, 1.5 * 2.0**99, 1.25 * 2.0**-66, 1.5 * 2.0**-99]
DOUBLE = [1.25 * 2.0**531, 1.5 * 2.0**996, 1.25 * 2.0**-531, 1.5 * 2.0**-996]
RANGES = [HALF, SINGLE, DOUBLE]
ENDS = HALF + SINGLE + DOUBLE
BOTH = ENDS + [-x for x in ENDS]
SMALL = [x for x in BOTH if abs(x) < 1]

ONE = {
    "sqrt": (mpmath.sqrt, ENDS),
    "rsqrt": (lambda x: 1 / mpmath.sqrt(x), ENDS),
    "cbrt": (lambda x: root(x, 3), BOTH),
    "exp": (mpmath.exp, SMALL),
    "exp2": (lambda x: mpf(2) ** x, SMALL),
    "expm1": (mpmath.expm1, SMALL + [-8, -20, -40, -80]),
    "log": (mpmath.log, ENDS),
    "log2": (lambda x: mpmath.log(x) / mpmath.log(2), ENDS),
    "log10": (lambda x: mpmath.log(x) / mpmath.log(10), ENDS),
    "log1p": (mpmath.log1p, ENDS),
    "sin": (mpmath.sin, BOTH),
    "cos": (mpmath.cos, BOTH),
    "tan": (mpmath.tan, SMALL),
    "asin": (mpmath.asin, SMALL),
    "acos": (mpmath.acos, SMALL),
    "atan": (mpmath.atan, BOTH),
    "sinh": (mpmath.sinh, SMALL),
    "cosh": (mpmath.cosh, SMALL),
    "tanh": (mpmath.tanh, SMALL),
    "asinh": (mpmath.asinh, BOTH),
    "acosh": (mpmath.acosh, [x for x in ENDS if x > 1]),
    "atanh": (mpmath.atanh, SMALL),
    "sigmoid": (lambda x: 1 / (1 + mpmath.exp(-x)), SMALL),
    "erf": (mpmath.erf, SMALL),
    "erfc": (mpmath.erfc, SMALL),
    "lgamma": (lgamma, HALF + SINGLE + DOUBLE[:2]),  # the digits that tiny arguments need take mpmath long
    "digamma": (mpmath.digamma, HALF + SINGLE + DOUBLE[:2]),
}

# Its second derivative is computed from the value and cancels near 0.
CANCELLING = {"sigmoid"}

TWO = {
    "divide": lambda x, y: x / y,
    "atan2": lambda x, y: mpmath.atan2(x, y),
    "hypot": lambda x, y: mpmath.sqrt(x * x + y * y),
    "xlogy": lambda x, y: x * mpmath.log(y),
}
# Exponents for which the power stays in range.
POWERS = [2, 1, 0.5, -0.5, -1, 3]

COMPLEX = {
    "exp": mpmath.exp,
    "log": mpmath.log,
    "sqrt": mpmath.sqrt,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "tanh": mpmath.tanh,
    "abs": abs,
}
# The ends of the ranges themselves.
HUGE = [(1.9375 * 2.0**127, 1.9375 * 2.0**127), (-1.9375 * 2.0**127, 2.0**127), (1.9375 * 2.0**1023, 1.9375 * 2.0**1023),
        (-(2.0**1023), 1.5 * 2.0**1023)]
TINY = [(2.0**-147, 1.5 * 2.0**-146), (-(2.0**-147), 2.0**-148),
        (2.0**-1070, 1.5 * 2.0**-1069), (-(2.0**-1070), 2.0**-1071)]
# Exponentials that overflow before they are multiplied by a small sine or cosine.
EXPONENTS = [(89, 1), (-89, 1), (89, 1.5), (88.5, 2), (710, 1), (-710, 1), (710, 1.5), (709.5, 2), (-744, 1)]


GREATEST = mpf(2.0**1023) * 2 * (1 - mpf(2) ** -53)


def partial(f, point, orders):
    if sum(orders) == 0:
        return f(*(mpf(p) for p in point))
    return mp.diff(f, tuple(mpf(p) for p in point), tuple(orders))


def emit(name, point, orders, value):
    if abs(value) > GREATEST:
        return
    if abs(value) < mpf(2) ** -1075:
        value = mpf(0)
    spelling = "0" if value == 0 else mpmath.nstr(value, 20, strip_zeros=True)
    print(name, ",".join(map(str, orders)), " ".join(repr(float(p)) for p in point), "=", spelling)


def rows(name, f, point, highest, lowest=1):
    # Steps of numeric differentiation must be far below the least argument.
    mp.dps = 80 + int(3 * max(abs(mpmath.log10(abs(p))) for p in point))
    if abs(partial(f, point, [0] * len(point))) > GREATEST:
        return
    for orders in itertools.product(range(highest + 1), repeat=len(point)):
        if lowest <= sum(orders) <= highest:
            emit(name, point, orders, partial(f, point, orders))


def pairs():
    """Every pair of ends of one range, in turn of other mantissas and signs."""
    for ends in RANGES:
        for i, (x, y) in enumerate(itertools.product(ends, repeat=2)):
            yield [(x, y), (0.75 * x, y), (-x, 1.5 * y)][i % 3]


def main():
    print("# Made by tools/python/derivative_range_table.py: do not edit. Function, orders, arguments = derivative.")
    for name, (f, points) in ONE.items():
        for x in points:
            rows(name, f, (x,), 1 if name in CANCELLING else 2)
    for name, f in TWO.items():
        for point in pairs():
            rows(name, f, point, 1)
    for x in ENDS:
        for y in POWERS:
            rows("pow", lambda u, v: u**v, (x, y), 1)
    for name, f in COMPLEX.items():
        for part, take in (("re", mpmath.re), ("im", mpmath.im)):
            if name == "abs" and part == "im":
                continue
            exponential = name not in ("log", "sqrt", "abs")
            # Huge angles and their sines cost mpmath much; those of the real functions are enough.
            ordinary = [p for p in pairs() if not exponential or max(map(abs, p)) < 1]
            function = lambda x, y: take(f(mpc(x, y)))
            for point in ordinary + ([] if exponential else HUGE):
                rows(f"complex_{name}_{part}", function, point, 1, 0)
            for point in EXPONENTS + [p[::-1] for p in EXPONENTS] if exponential else TINY:
                rows(f"complex_{name}_{part}", function, point, 0, 0)


if __name__ == "__main__":
    main()
