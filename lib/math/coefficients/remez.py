"""Minimax polynomials with coefficients that are exact in the target format.

Needs numpy and mpmath (gmpy2 makes it faster). Each family's script beside this one prints its header:

    python3 exponential.py > exponential.h
"""

import sys

import numpy
from mpmath import mp, mpf, matrix, lu_solve, cos, pi, floor, frexp, ldexp

mp.prec = 320

BITS = {"float": 24, "double": 53}


def rounded(x, bits):
    """x to the nearest number with `bits` significant bits."""
    if x == 0:
        return mpf(0)
    m, e = frexp(mpf(x))
    return ldexp(mp.nint(ldexp(m, bits)), e - bits)


class Problem:
    """Approximate f by sum of c_p x^p over [a, b], minimizing max |weight (f - sum)| on a dense Chebyshev grid."""

    def __init__(self, f, a, b, weight, grid=900):
        a, b = mpf(a), mpf(b)
        self.x = [(a + b) / 2 - (b - a) / 2 * cos(pi * (i + mpf(1) / 2) / grid) for i in range(grid)]
        self.f = [mpf(f(x)) for x in self.x]
        self.w = [mpf(weight(x)) for x in self.x]

    def error(self, coefficients):
        return [w * (f - evaluate(coefficients, x)) for x, f, w in zip(self.x, self.f, self.w)]

    def solve(self, powers, fixed):
        """Remez's exchange for the coefficients of `powers`, those in `fixed` ({power: value}) given."""
        n = len(powers)
        grid = len(self.x)
        rest = [f - evaluate(fixed, x) for f, x in zip(self.f, self.x)]
        nodes = [min(grid - 1, int((1 - cos(pi * (i + mpf(1) / 2) / (n + 1))) / 2 * grid)) for i in range(n + 1)]
        best = None
        for _ in range(30):
            a = matrix(n + 1, n + 1)
            rhs = matrix(n + 1, 1)
            for i, k in enumerate(nodes):
                for j, p in enumerate(powers):
                    a[i, j] = self.w[k] * self.x[k] ** p
                a[i, n] = (-1) ** i
                rhs[i] = self.w[k] * rest[k]
            solution = lu_solve(a, rhs)
            c = {p: solution[j] for j, p in enumerate(powers)}
            level = abs(solution[n])
            e = [w * (r - evaluate(c, x)) for x, r, w in zip(self.x, rest, self.w)]
            worst = max(abs(v) for v in e)
            if best is None or worst < best[1]:
                best = (c, worst)
            if worst <= level * mpf("1.002"):
                break
            nodes = alternation(e, n + 1)
            if nodes is None:
                break
        return best


def alternation(e, count):
    """Indices of `count` extrema of e whose signs alternate, the largest among them; None if there are fewer."""
    extrema = []
    start = 0
    for i in range(1, len(e) + 1):
        if i == len(e) or (e[i] > 0) != (e[start] > 0):
            extrema.append(max(range(start, i), key=lambda k: abs(e[k])))
            start = i
    while len(extrema) > count:
        if len(extrema) == count + 1:
            extrema.pop(0 if abs(e[extrema[0]]) < abs(e[extrema[-1]]) else -1)
        else:
            k = min(range(len(extrema) - 1), key=lambda i: min(abs(e[extrema[i]]), abs(e[extrema[i + 1]])))
            if k == 0 and abs(e[extrema[0]]) < abs(e[extrema[1]]):
                extrema.pop(0)
            elif k == len(extrema) - 2 and abs(e[extrema[-1]]) < abs(e[extrema[-2]]):
                extrema.pop()
            else:
                del extrema[k:k + 2]
    return extrema if len(extrema) == count else None


def evaluate(coefficients, x):
    if not coefficients:
        return mpf(0)
    top = max(coefficients)
    s = mpf(0)
    for p in range(top, -1, -1):
        s = s * x + coefficients.get(p, 0)
    return s


def fit(f, a, b, count, kind, weight, grid=900):
    """`count` coefficients (powers 0..count-1) of type `kind`, rounded one after another, the rest being refitted, then improved
    by steps of one ulp.

    Returns (list of coefficients, max |weight * error| with the rounded ones, the same before rounding)."""
    problem = Problem(f, a, b, weight, grid)
    powers = list(range(count))
    start, ideal = problem.solve(powers, {})
    best = None
    # Lowest first, since their rounding weighs most; the reverse where 0 is inside the interval, since without the constant the
    # remaining powers all vanish there and the best approximation no longer alternates. The better of the two is taken.
    orders = [powers[::-1], powers[:1] + powers[:0:-1]] if a < 0 < b else [powers]
    if a < 0 < b and count <= 12:
        orders.append(powers)
    for order in orders:
        c, fixed, left = dict(start), {}, list(order)
        while left:
            p = left.pop(0)
            fixed[p] = rounded(c[p], BITS[kind])
            if left:
                c, _ = problem.solve(sorted(left), fixed)
        fixed, error = descend(problem, fixed, BITS[kind])
        if best is None or error < best[1]:
            best = (fixed, error)
    return [best[0][p] for p in powers], best[1], ideal


def descend(problem, coefficients, bits):
    """Changes one or two coefficients by one or two ulps while that lowers the largest error."""
    c = dict(coefficients)
    e = numpy.array([float(v) for v in problem.error(c)])
    x = numpy.array([float(v) for v in problem.x])
    w = numpy.array([float(v) for v in problem.w])

    def unit(p):
        return ldexp(mpf(1), frexp(c[p])[1] - bits)

    worst = numpy.abs(e).max()
    for _ in range(40):
        moves = [((p, d),) for p in c for d in (-2, -1, 1, 2)]
        moves += [((p, d), (q, k)) for p in c for q in c if p < q for d in (-1, 1) for k in (-2, -1, 1, 2)]
        found = None
        for move in moves:
            change = sum(d * float(unit(p)) * x**p for p, d in move)
            level = numpy.abs(e - w * change).max()
            if level < worst * 0.999 and (found is None or level < found[0]):
                found = (level, move)
        if found is None:
            break
        for p, d in found[1]:
            c[p] += d * unit(p)
        e = numpy.array([float(v) for v in problem.error(c)])
        worst = numpy.abs(e).max()
    return c, max(abs(v) for v in problem.error(c))


def hexadecimal(x, kind):
    """x, which `kind` can hold, as a C++ literal."""
    if x == 0:
        return "0.0f" if kind == "float" else "0.0"
    sign = "-" if x < 0 else ""
    m, e = frexp(abs(mpf(x)))
    bits = BITS[kind]
    n = int(mp.nint(ldexp(m, bits)))
    assert ldexp(mpf(n), int(e) - bits) == abs(x), "not a %s" % kind
    n <<= 1 + (-(bits) % 4) if kind == "double" else 0
    if kind == "float":
        digits = "%06x" % ((n << 1) & 0xffffff)
    else:
        n = int(mp.nint(ldexp(m, 53)))
        digits = "%013x" % (n & ((1 << 52) - 1))
    digits = digits.rstrip("0")
    return "%s0x1%sp%d%s" % (sign, "." + digits if digits else "", int(e) - 1, "f" if kind == "float" else "")


class Header:
    """Collects struct specialisations and prints them as one header."""

    def __init__(self, script, family):
        self.script, self.family = script, family
        self.members = {"float": [], "double": []}
        self.names = []

    def constant(self, name, value, comment="", bits=None):
        """A constant; `bits` (a dict or number): so many significant bits only."""
        for kind in BITS:
            n = bits[kind] if isinstance(bits, dict) else bits or BITS[kind]
            v = rounded(value, n)
            self.add(kind, name, kind, hexadecimal(v, kind), comment)

    def split(self, name, value, parts, leading_bits=None, comment=""):
        """value as the unevaluated sum of name0 + name1 + ...; the first has `leading_bits[kind]` bits."""
        for kind in BITS:
            rest = mpf(value)
            for i in range(parts):
                n = leading_bits[kind] if leading_bits and i < parts - 1 else BITS[kind]
                v = rounded(rest, n)
                rest -= v
                self.add(kind, "%s%d" % (name, i), kind, hexadecimal(v, kind), comment if i == 0 else "")

    def add(self, kind, name, ctype, text, comment=""):
        if comment:
            self.members[kind].append("  // " + comment)
        self.members[kind].append("  static constexpr %s %s = %s;" % (ctype, name, text))

    def table(self, kind, name, values, comment="", format=None):
        """An array in the struct of `kind`, its elements of type `format` (absent: the same)."""
        format = format or kind
        if comment:
            self.members[kind].append("  // " + comment)
        self.members[kind].append("  static constexpr std::array<%s, %d> %s = {" % (format, len(values), name))
        for v in values:
            self.members[kind].append("      %s," % hexadecimal(v, format))
        self.members[kind].append("  };")

    def polynomial(self, name, f, a, b, counts, weight, what, grid=900, kinds=("float", "double"), format=None):
        for kind in kinds:
            c, error, ideal = fit(f, a, b, counts[kind], format or kind, weight, grid)
            bits = -mp.log(error, 2)
            print("%s %s: %d coefficients, 2^-%.2f (unrounded 2^-%.2f)"
                  % (kind, name, len(c), bits, -mp.log(ideal, 2)), file=sys.stderr)
            self.table(kind, name, c, "%s; error 2^-%.1f" % (what, bits), format)

    def print(self):
        print("// Printed by lib/math/coefficients/%s; do not edit." % self.script)
        print("#pragma once\n\n#include <array>\n#include <cstdint>\n\nnamespace calque::math {\n")
        print("template <class T>\nstruct %s;\n" % self.family)
        for kind in BITS:
            print("template <>\nstruct %s<%s> {" % (self.family, kind))
            print("\n".join(self.members[kind]))
            print("};\n")
        print("}  // namespace calque::math")
