"""The tasks of bench/ as users of JAX, PyTorch, Numba and Dr.Jit would write them; run by rivals.py.

A case is a function that returns [(task, size, reference result, {variant: call})]; a call runs once and waits for its
result. A function in place of the reference says whether a result is right. Names of tasks and sizes are those of bench/.
"""
import argparse
import importlib
import itertools
import json
import math
import statistics
import sys
import time
import traceback

import numpy as np


def load(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


class Libraries:
    def __init__(self, names):
        self.jax = load("jax") if "jax" in names else None
        self.numba = load("numba") if "numba" in names else None
        self.torch = load("torch") if "torch" in names else None
        self.drjit = load("drjit") if "drjit" in names else None
        self.scipy = load("scipy.linalg") if "scipy" in names else None
        if self.torch:
            self.torch.set_num_threads(1)
        if self.drjit:
            self.drjit.set_thread_count(0)

    def versions(self):
        loaded = {"NumPy": np, "JAX": self.jax, "Numba": self.numba, "PyTorch": self.torch, "Dr.Jit": self.drjit,
                  "SciPy": self.scipy and load("scipy")}
        return {name: module.__version__ for name, module in loaded.items() if module}


def jax_call(lib, f, *arguments):
    arguments = [lib.jax.numpy.asarray(a) for a in arguments]
    compiled = lib.jax.jit(f)
    return lambda: lib.jax.block_until_ready(compiled(*arguments))


def torch_call(lib, f, *arguments):
    arguments = [lib.torch.from_numpy(np.ascontiguousarray(a)) for a in arguments]
    compiled = lib.torch.compile(f)

    def call():
        with lib.torch.no_grad():
            return compiled(*arguments)
    return call


def floats(shape, low, high, seed, dtype=np.float32):
    return np.random.default_rng(seed).uniform(low, high, shape).astype(dtype)


def triad(lib):
    for power in (3, 4, 5, 6, 7):
        n = 10**power
        x, y = floats(n, -1, 1, 1), floats(n, -1, 1, 2)
        a = np.float32(3)
        calls = {}
        if lib.jax:
            calls["jax"] = jax_call(lib, lambda a, x, y: a * x + y, a, x, y)
        if lib.torch:
            calls["torch.compile"] = torch_call(lib, lambda x, y: 3.0 * x + y, x, y)
        if lib.numba:
            @lib.numba.njit(fastmath=True)
            def fused(a, x, y):
                out = np.empty_like(x)
                for i in range(x.size):
                    out[i] = a * x[i] + y[i]
                return out
            calls["numba"] = lambda fused=fused, x=x, y=y: fused(a, x, y)
        if lib.drjit:
            dr = lib.drjit
            dx, dy, da = dr.llvm.Float(x), dr.llvm.Float(y), dr.llvm.Float(a)

            @dr.freeze
            def frozen(a, x, y):
                return dr.fma(a, x, y)

            def call(frozen=frozen, da=da, dx=dx, dy=dy):
                result = frozen(da, dx, dy)
                dr.eval(result)
                dr.sync_thread()
                return result
            calls["dr.jit"] = call
        yield "triad", f"10^{power}", a * x + y, calls


def total(lib):
    n = 10**8
    x = floats(n, 0, 1, 1)
    calls = {"numpy": lambda: np.sum(x)}
    if lib.jax:
        calls["jax"] = jax_call(lib, lambda x: lib.jax.numpy.sum(x), x)
    if lib.torch:
        calls["torch.compile"] = torch_call(lib, lambda x: lib.torch.sum(x), x)
    if lib.numba:
        @lib.numba.njit(fastmath=True)
        def added(x):
            s = np.float32(0)
            for i in range(x.size):
                s += x[i]
            return s
        calls["numba"] = lambda: added(x)
    yield "sum", "10^8", np.float32(np.sum(x, dtype=np.float64)), calls


def matmul(lib):
    for dtype, name in ((np.float32, "f32"), (np.float64, "f64")):
        for n in (512, 1024, 2048):
            a, b = floats((n, n), -1, 1, 1, dtype), floats((n, n), -1, 1, 2, dtype)
            calls = {}
            if lib.jax:
                calls["jax"] = jax_call(lib, lambda a, b: a @ b, a, b)
            if lib.torch:
                calls["torch.compile"] = torch_call(lib, lambda a, b: a @ b, a, b)
            yield f"matmul {name}", str(n), a @ b, calls


def small_matmul(lib):
    for task, sizes in (("small matmul", (4, 8, 16, 32, 64)), ("batched matmul", (4, 8))):
        for n in sizes:
            count = 100000 if task == "batched matmul" else max(1, 32768 // (n * n))
            a, b = floats((count, n, n), -1, 1, 1), floats((count, n, n), -1, 1, 2)
            calls = {}
            if lib.jax:
                calls["jax"] = jax_call(lib, lambda a, b: a @ b, a, b)
            if lib.torch:
                calls["torch.compile"] = torch_call(lib, lambda a, b: a @ b, a, b)
            yield task, str(n), a @ b, calls


def dense(lib):
    n = 1024
    x, w, b = floats((n, n), -1, 1, 1), floats((n, n), -0.1, 0.1, 2), floats(n, -1, 1, 3)
    calls = {}
    if lib.jax:
        calls["jax"] = jax_call(lib, lambda x, w, b: lib.jax.nn.gelu(x @ w + b, approximate=False), x, w, b)
    if lib.torch:
        calls["torch.compile"] = torch_call(lib, lambda x, w, b: lib.torch.nn.functional.gelu(x @ w + b), x, w, b)
    yield "dense gelu f32", str(n), None, calls


def black_scholes(lib):
    n, rate = 10**6, 0.03
    columns = [floats(n, *span, seed, np.float64)
               for seed, span in enumerate(((80, 120), (80, 120), (0.1, 2), (0.1, 0.5)))]
    calls = {}
    if lib.jax:
        jax, jnp = lib.jax, lib.jax.numpy

        def price(s, k, t, v, r):
            normal = lambda x: 0.5 * jax.scipy.special.erfc(-x * 0.5**0.5)
            deviation = v * jnp.sqrt(t)
            d1 = (jnp.log(s / k) + (r + 0.5 * v * v) * t) / deviation
            return s * normal(d1) - k * jnp.exp(-r * t) * normal(d1 - deviation)

        def greeks(s, k, t, v, r):
            one = lambda *a: (jax.value_and_grad(price, (0, 2, 3, 4))(*a), jax.grad(jax.grad(price))(*a))
            return jax.vmap(one, (0, 0, 0, 0, None))(s, k, t, v, r)
        calls["jax"] = jax_call(lib, greeks, *columns, rate)
    yield "black_scholes", "10^6", None, calls


def nbody(lib):
    n = 8192
    x, y, z = (floats(n, -1, 1, seed) for seed in (1, 2, 3))
    mass = floats(n, 0, 1, 4)
    soft = np.float32(1e-2)
    calls = {}

    def whole(rsqrt):
        def f(x, y, z, m):
            dx, dy, dz = (p[None, :] - p[:, None] for p in (x, y, z))
            inverse = rsqrt(dx * dx + dy * dy + dz * dz + soft)
            weight = m * inverse * inverse * inverse
            return (weight * dx).sum(1), (weight * dy).sum(1), (weight * dz).sum(1)
        return f
    if lib.jax:
        calls["jax"] = jax_call(lib, whole(lib.jax.lax.rsqrt), x, y, z, mass)
    if lib.torch:
        calls["torch.compile"] = torch_call(lib, whole(lib.torch.rsqrt), x, y, z, mass)
    if lib.numba:
        @lib.numba.njit(fastmath=True)
        def pairs(x, y, z, m):
            ax, ay, az = np.empty_like(x), np.empty_like(x), np.empty_like(x)
            for i in range(x.size):
                sx = sy = sz = np.float32(0)
                for j in range(x.size):
                    dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
                    inverse = np.float32(1) / np.sqrt(dx * dx + dy * dy + dz * dz + soft)
                    weight = m[j] * inverse * inverse * inverse
                    sx += weight * dx
                    sy += weight * dy
                    sz += weight * dz
                ax[i], ay[i], az[i] = sx, sy, sz
            return ax, ay, az
        calls["numba"] = lambda: pairs(x, y, z, mass)
    yield "nbody", str(n), None, calls


def heat(lib):
    k = np.float32(0.2)
    for n, steps in ((1024, 200), (4096, 20)):
        u = floats((n, n), 0, 1, 1)
        u[0] = u[-1] = 0
        u[:, 0] = u[:, -1] = 0
        calls = {}
        if lib.jax:
            jnp = lib.jax.numpy

            def run(u, steps=steps):
                def step(_, v):
                    c = v[1:-1, 1:-1]
                    around = v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:]
                    return jnp.pad(c + k * (around - 4 * c), 1)
                return lib.jax.lax.fori_loop(0, steps, step, u)
            calls["jax"] = jax_call(lib, run, u)
        if lib.numba:
            @lib.numba.njit(fastmath=True)
            def turns(u, steps):
                a, b = u.copy(), np.zeros_like(u)
                for _ in range(steps):
                    for i in range(1, a.shape[0] - 1):
                        for j in range(1, a.shape[1] - 1):
                            around = a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]
                            b[i, j] = a[i, j] + k * (around - np.float32(4) * a[i, j])
                    a, b = b, a
                return a
            calls["numba"] = lambda turns=turns, u=u, steps=steps: turns(u, steps)
        yield "heat", str(n), None, calls


def mlp(lib):
    widths, batch = (784, 512, 512, 10), 128
    parameters = [(floats((i, o), -0.05, 0.05, i + o), floats(o, -0.05, 0.05, o))
                  for i, o in zip(widths, widths[1:])]
    x, labels = floats((batch, 784), 0, 1, 2), np.random.default_rng(3).integers(0, 10, batch)
    wanted = np.eye(10, dtype=np.float32)[labels]
    calls = {}
    if lib.jax:
        jax, jnp = lib.jax, lib.jax.numpy

        def loss(p, x, wanted):
            h = jax.nn.relu(x @ p[0][0] + p[0][1])
            h = jax.nn.relu(h @ p[1][0] + p[1][1])
            return -(jax.nn.log_softmax(h @ p[2][0] + p[2][1]) * wanted).sum(1).mean()
        compiled = jax.jit(lambda p, x, w: jax.tree.map(lambda a, g: a - np.float32(0.1) * g, p, jax.grad(loss)(p, x, w)))
        arguments = jax.tree.map(jnp.asarray, (parameters, x, wanted))
        calls["jax"] = lambda: jax.block_until_ready(compiled(*arguments))
    yield "mlp step", str(batch), None, calls


def loop(lib):
    n = 10**4
    calls = {}
    if lib.jax:
        lax, jnp = lib.jax.lax, lib.jax.numpy
        calls["jax"] = jax_call(lib, lambda x, r: lax.while_loop(lambda s: s[1] < n, lambda s: (r * s[0] * (1 - s[0]), s[1] + 1),
                                                                 (x, 0))[0], np.float64(0.3), np.float64(3.2))
    if lib.numba:
        @lib.numba.njit
        def logistic(x, r):
            i = 0
            while i < n:
                x = r * x * (1 - x)
                i += 1
            return x
        calls["numba"] = lambda: logistic(0.3, 3.2)
    x = 0.3
    for _ in range(n):
        x = 3.2 * x * (1 - x)
    yield "while", "10^4", np.float64(x), calls
    xs = floats(n, -1, 1, 1, np.float64)
    calls = {}
    if lib.jax:
        def body(c, v):
            c = 0.9 * c + v
            return c, c
        calls["jax"] = jax_call(lib, lambda xs: lib.jax.lax.scan(body, 0.0, xs)[1], xs)
    if lib.numba:
        @lib.numba.njit
        def filtered(xs):
            out, c = np.empty_like(xs), 0.0
            for i in range(xs.size):
                c = 0.9 * c + xs[i]
                out[i] = c
            return out
        calls["numba"] = lambda: filtered(xs)
    yield "scan", "10^4", None, calls


def dispatch(lib):
    x, y = floats(16, -1, 1, 1), floats(16, -1, 1, 2)
    calls = {"numpy": lambda: x * y + x}
    if lib.jax:
        calls["jax"] = jax_call(lib, lambda x, y: x * y + x, x, y)
    if lib.torch:
        calls["torch.compile"] = torch_call(lib, lambda x, y: x * y + x, x, y)
    if lib.numba:
        @lib.numba.njit
        def fused(x, y):
            out = np.empty_like(x)
            for i in range(x.size):
                out[i] = x[i] * y[i] + x[i]
            return out
        calls["numba"] = lambda: fused(x, y)
    if lib.drjit:
        dr = lib.drjit
        dx, dy = dr.llvm.Float(x), dr.llvm.Float(y)
        frozen = dr.freeze(lambda x, y: x * y + x)

        def call():
            result = frozen(dx, dy)
            dr.eval(result)
            dr.sync_thread()
            return result
        calls["dr.jit"] = call
    yield "call", "16", x * y + x, calls


def size_name(n):
    """As the benchmarks in C++ write it."""
    power = len(str(n)) - 1
    return f"10^{power}" if n >= 1000 and n == 10**power else str(n)


def first_calls(lib):
    """Trace, compilation and first run of functions on arrays of new lengths."""
    def steps(sin, count):
        def f(x):
            y = x
            for i in range(count):
                y = sin(y) if i % 3 == 2 else y * 0.875 + x
            return y
        return f

    def exponentials(exp):
        def f(x):
            for _ in range(300):
                x = exp(x * -0.5)
            return x
        return f

    def sines(sin, total):
        def f(x):
            for _ in range(300):
                x = sin(x)
            return total(x)
        return f

    lengths = itertools.count(17)
    # Dr.Jit's kernels do not depend on lengths and are cached on disk, so each contains a different number.
    numbers = itertools.count(time.time_ns() % 10**6)

    def of_jax(make):
        def call():
            x = np.full(next(lengths), 0.25, np.float32)
            return np.asarray(lib.jax.jit(make())(x))[:16]
        return call

    def of_drjit(make, gradient=False):
        dr = lib.drjit
        kind = dr.llvm.ad.Float if gradient else dr.llvm.Float

        def call():
            x = kind(np.full(16, 0.25, np.float32))  # full() would be a constant
            if gradient:
                dr.enable_grad(x)
            y = make()(x + next(numbers) * 1e-12)
            if gradient:
                dr.backward(y)
                y = dr.grad(x)
            dr.eval(y)
            dr.sync_thread()
            return np.asarray(y)[:16]
        return call

    for count in (8, 50, 1000, 10000):
        calls = {}
        if lib.jax:
            calls["jax"] = of_jax(lambda count=count: steps(lib.jax.numpy.sin, count))
        if lib.drjit:
            calls["dr.jit"] = of_drjit(lambda count=count: steps(lib.drjit.sin, count))
        yield "first call of steps", size_name(count), None, calls
    calls = {}
    if lib.jax:
        calls["jax"] = of_jax(lambda: exponentials(lib.jax.numpy.exp))
    if lib.drjit:
        calls["dr.jit"] = of_drjit(lambda: exponentials(lib.drjit.exp))
    yield "first call of exponentials", "300", None, calls
    calls = {}
    if lib.jax:
        calls["jax"] = of_jax(lambda: lib.jax.grad(sines(lib.jax.numpy.sin, lib.jax.numpy.sum)))
    if lib.drjit:
        calls["dr.jit"] = of_drjit(lambda: sines(lib.drjit.sin, lib.drjit.sum), gradient=True)
    yield "first call of gradient of sines", "300", None, calls

    def jax_on(shape, f):
        """A call of a function of an array whose first extent grows by one with every call."""
        grown = itertools.count(1)

        def call():
            x = np.full([shape[0] + next(grown), *shape[1:]], 0.25, np.float32)
            return np.asarray(lib.jax.jit(lambda x: f(x))(x)).ravel()[:16]
        return call

    def new():
        """A tiny number that no kernel contains yet: each kernel of a function needs one."""
        return next(numbers) * 1e-12

    def of_drjit_on(shape, f):
        """A call of a function of the elements of the array that `jax_on` begins with."""
        dr = lib.drjit

        def call():
            y = f(dr.llvm.Float(np.full((shape[0] + 1) * math.prod(shape[1:]), 0.25, np.float32)))
            dr.eval(y)
            dr.sync_thread()
            return np.asarray(y).ravel()[:16]
        return call

    def of_both(task, size, shape, jax_function, drjit_function=None):
        calls = {}
        if lib.jax:
            calls["jax"] = jax_on(shape, jax_function)
        if lib.drjit and drjit_function:
            calls["dr.jit"] = of_drjit_on(shape, drjit_function)
        return f"first call of {task}", size, None, calls

    def jax_sums(x):
        return lib.jax.numpy.stack([lib.jax.numpy.sum(x * float(i + 1)) for i in range(500)])

    def drjit_sums(x):
        return lib.drjit.concat([lib.drjit.sum(x * float(i + 1) + new()) for i in range(500)])

    def drjit_softmax(x):
        dr = lib.drjit
        rows = dr.llvm.TensorXf(x + new(), (65, 64))
        e = dr.exp(rows - dr.max(rows, axis=1)[:, None] + new())
        return (e / dr.sum(e, axis=1)[:, None]).array + new()

    def drjit_product(n):
        """Row i times column j, at element n i + j: Dr.Jit has no product of matrices of any size."""
        def product(x):
            dr = lib.drjit
            at = dr.arange(dr.llvm.UInt, n * n)
            i, j = at // n, at % n
            terms = (dr.gather(dr.llvm.Float, x, i * n + k) * dr.gather(dr.llvm.Float, x, j * n + k) for k in range(n))
            return sum(terms, dr.llvm.Float(new()))
        return product

    jnp = lib.jax.numpy if lib.jax else None
    yield of_both("sums", "500", [1000], jax_sums, drjit_sums)  # JAX takes minutes for 5,000
    for n in (16, 1000):
        yield of_both("exp", size_name(n), [n], lambda x: jnp.exp(x), lambda x: lib.drjit.exp(x + new()))
        yield of_both("product", size_name(n), [n], lambda x: x * x, lambda x: x * (x + new()))
    yield of_both("softmax", "64", [64, 64], lambda x: lib.jax.nn.softmax(x, 1), drjit_softmax)
    for n in (16, 64):
        yield of_both("matmul", str(n), [n, n], lambda x: x @ x.T, drjit_product(n))
        yield of_both("matmul of rows", str(n), [n, n], lambda x, n=n: x @ np.full([n, n], 0.25, np.float32))


def random_numbers(lib):
    n = 10**7
    for task, kind, dtype in (("uniform f32", "uniform", np.float32), ("uniform f64", "uniform", np.float64),
                              ("normal f32", "normal", np.float32), ("normal f64", "normal", np.float64)):
        calls = {}
        for name, bits in (("numpy pcg64", np.random.PCG64), ("numpy mt19937", np.random.MT19937)):
            generator = np.random.Generator(bits(1))
            draw = generator.random if kind == "uniform" else generator.standard_normal
            calls[name] = lambda draw=draw, dtype=dtype: draw(n, dtype=dtype)
        if lib.jax:
            sample = lib.jax.random.uniform if kind == "uniform" else lib.jax.random.normal
            lib.jax.config.update("jax_enable_x64", True)
            draws = lib.jax.jit(lambda key, sample=sample, dtype=dtype: sample(key, (n,), dtype))
            key = lib.jax.random.key(1)
            calls["jax"] = lambda draws=draws, key=key: lib.jax.block_until_ready(draws(key))
        if lib.drjit:
            dr = lib.drjit
            number = dr.llvm.Float if dtype == np.float32 else dr.llvm.Float64

            def evaluated(draw, *state):
                def call():
                    result = draw()
                    dr.eval(result, *state)
                    dr.sync_thread()
                    return result
                return call
            philox = dr.rng(seed=1)
            draw = philox.random if kind == "uniform" else philox.normal
            calls["dr.jit philox"] = evaluated(lambda draw=draw, number=number: draw(number, n))
            # A stream for each number, whose states are kept in memory.
            pcg = dr.llvm.PCG32(n)
            name = ("next_float32" if dtype == np.float32 else "next_float64") + ("_normal" if kind == "normal" else "")
            calls["dr.jit pcg32"] = evaluated(getattr(pcg, name), pcg)
        mean = 0.5 if kind == "uniform" else 0
        yield task, "10^7", lambda result, mean=mean: abs(np.mean(result, dtype=np.float64) - mean) < 0.01, calls


def close(got, expected, magnitude, dtype):
    n = expected.shape[-2]
    return bool(np.all(np.abs(got - expected) <= 16 * n * np.finfo(dtype).eps * (magnitude + 1)))


def linalg(lib):
    """Each result is right if it satisfies what defines it, within the rounding of a backward stable algorithm."""
    def tasks(name, n, count, dtype):
        shape = (count, n, n) if count else (n, n)
        a = floats(shape, -1, 1, 1, dtype)
        wide = a.astype(np.float64)

        def solves(b):
            return lambda x: close(wide @ x, b, np.abs(wide) @ np.abs(x), dtype)

        def calls(function, arguments, scipy_function=None):
            numpy_function = getattr(np.linalg, function)
            made = {"numpy": lambda: numpy_function(*arguments)}
            if lib.scipy and scipy_function:
                made["scipy"] = lambda: scipy_function(*arguments)
            if lib.jax:
                made["jax"] = jax_call(lib, getattr(lib.jax.numpy.linalg, function), *arguments)
            return made

        prefix = "batched " if count else ""
        if n == 6:
            yield f"batched inverse {name}", str(n), solves(np.broadcast_to(np.eye(n), shape)), calls("inv", (a,))
            return
        of_batches = (("solve", 1),) if n == 8 else ()
        for task, sides in of_batches if count else (("solve", 1), ("solve n sides", n)):
            b = floats((*shape[:-1], sides), -1, 1, 2, dtype)
            solve = lib.scipy and (lambda a, b: lib.scipy.solve(a, b, check_finite=False, assume_a="gen"))
            yield f"{prefix}{task} {name}", str(n), solves(b), calls("solve", (a, b), None if count else solve)
        symmetric = np.tril(a) + np.swapaxes(np.tril(a, -1), -1, -2) + dtype(n) * np.eye(n, dtype=dtype)

        def factors(l):
            return close(l @ np.swapaxes(l, -1, -2), symmetric, np.abs(symmetric), dtype)
        cholesky = lib.scipy and (lambda a: lib.scipy.cholesky(a, lower=True, check_finite=False))
        yield f"{prefix}cholesky {name}", str(n), factors, calls("cholesky", (symmetric,), None if count else cholesky)
        if not count:
            def is_qr(result):
                q, r = result
                return close(q @ r, a, np.abs(q) @ np.abs(r), dtype) and close(q.T @ q, np.eye(n), 1, dtype)
            qr = lib.scipy and (lambda a: lib.scipy.qr(a, mode="economic", check_finite=False))
            yield f"qr {name}", str(n), is_qr, calls("qr", (a,), qr)

    yield from tasks("f64", 6, 10**5, np.float64)
    for n, count in ((8, 10**5), (16, 10**5), (32, 10**4)):
        yield from tasks("f32", n, count, np.float32)
        yield from tasks("f64", n, count, np.float64)
    for n in (64, 512, 2048):
        yield from tasks("f64", n, 0, np.float64)
    yield from tasks("f32", 512, 0, np.float32)


def complex_numbers(lib):
    def numbers(shape, seed, dtype):
        parts = floats((*shape, 2), -1, 1, seed, np.float64)
        return (parts[..., 0] + 1j * parts[..., 1]).astype(dtype)

    for size, n in (("4096", 4096), ("10^7", 10**7)):
        x, y, z = (numbers((n,), seed, np.complex64) for seed in (1, 2, 3))
        calls = {"numpy": lambda x=x, y=y, z=z: x * y + z}
        if lib.jax:
            calls["jax"] = jax_call(lib, lambda x, y, z: x * y + z, x, y, z)
        if lib.numba:
            @lib.numba.njit(fastmath=True)
            def fused(x, y, z):
                out = np.empty_like(x)
                for i in range(x.size):
                    out[i] = x[i] * y[i] + z[i]
                return out
            calls["numba"] = lambda fused=fused, x=x, y=y, z=z: fused(x, y, z)
        yield "complex x y + z", size, x * y + z, calls
    for dtype, name in ((np.complex64, "c64"), (np.complex128, "c128")):
        n = 1024
        a, b = numbers((n, n), 1, dtype), numbers((n, n), 2, dtype)
        calls = {"numpy": lambda a=a, b=b: a @ b}
        if lib.jax:
            calls["jax"] = jax_call(lib, lambda a, b: a @ b, a, b)
        yield f"complex matmul {name}", str(n), a @ b, calls
    side = 1000
    c = (-2 + 2.5 * np.arange(side) / side)[None, :] + 1j * (-1.25 + 2.5 * np.arange(side) / side)[:, None]
    c = c.astype(np.complex64)

    def counts(c):
        z, k = np.zeros_like(c), np.zeros(c.shape, np.int32)
        for _ in range(256):
            inside = z.real * z.real + z.imag * z.imag <= 4
            z = np.where(inside, z * z + c, z)
            k += inside
        return k
    calls = {"numpy": lambda: counts(c)}
    if lib.jax:
        jnp = lib.jax.numpy

        def steps(c):
            def body(_, state):
                z, k = state
                inside = z.real * z.real + z.imag * z.imag <= 4
                return jnp.where(inside, z * z + c, z), k + inside
            return lib.jax.lax.fori_loop(0, 256, body, (jnp.zeros_like(c), jnp.zeros(c.shape, jnp.int32)))[1]
        calls["jax"] = jax_call(lib, steps, c)
    if lib.numba:
        @lib.numba.njit(fastmath=True)
        def pixels(c):
            out = np.empty(c.shape, np.int32)
            for i in range(c.shape[0]):
                for j in range(c.shape[1]):
                    z, k = np.complex64(0), 0
                    while k < 256 and z.real * z.real + z.imag * z.imag <= 4:
                        z = z * z + c[i, j]
                        k += 1
                    out[i, j] = k
            return out
        calls["numba"] = lambda: pixels(c)
    expected = counts(c)
    yield "complex mandelbrot", str(side), lambda got: np.mean(np.asarray(got) != expected) <= 0.01, calls
    n, terms = 10**5, 64
    a, w, t = numbers((terms,), 1, np.complex64), floats(terms, 0, 10, 2), floats(n, 0, 10, 3)
    calls = {"numpy": lambda: np.exp(1j * (t[:, None] * w)).astype(np.complex64) @ a}
    if lib.jax:
        calls["jax"] = jax_call(lib, lambda a, w, t: lib.jax.numpy.sum(
            a * lib.jax.numpy.exp(1j * (t[:, None] * w)), 1), a, w, t)
    yield "spectral sum", "10^5", np.exp(1j * (t[:, None] * w)) @ a, calls


def special(lib):
    """Functions of SciPy, and of JAX and PyTorch where they have them; all are checked against SciPy's in f64."""
    functions = load("scipy.special") if lib.scipy else None

    def tasks():
        # name, bounds of the arguments, functions of SciPy, JAX and PyTorch
        yield "lgamma", [(2.5, 30)], "gammaln", "gammaln", "gammaln"
        yield "trigamma", [(0.1, 20)], lambda s, x: s.polygamma(1, x), lambda s, x: s.polygamma(1, x), \
            lambda s, x: s.polygamma(1, x)
        yield "polygamma 2", [(0.1, 20)], lambda s, x: s.polygamma(2, x), lambda s, x: s.polygamma(2, x), \
            lambda s, x: s.polygamma(2, x)
        yield "beta", [(0.5, 10)] * 2, "beta", "beta", None
        yield "erfcx", [(-2, 20)], "erfcx", None, "erfcx"
        yield "ndtr", [(-5, 5)], "ndtr", "ndtr", "ndtr"
        yield "ndtri", [(0.001, 0.999)], "ndtri", "ndtri", "ndtri"
        yield "i0", [(0, 20)], "i0", "i0", "i0"
        yield "i0e", [(0, 20)], "i0e", "i0e", "i0e"
        yield "i1", [(0.01, 20)], "i1", "i1", "i1"
        yield "zeta", [(1.1, 10), (0.1, 20)], "zeta", "zeta", "zeta"
        yield "riemann zeta", [(1.1, 20)], lambda s, x: s.zeta(x), lambda s, x: s.zeta(x, 1), lambda s, x: s.zeta(x, 1)
        yield "igamma", [(0.5, 20), (0.1, 20)], "gammainc", "gammainc", "gammainc"
        yield "igammac", [(0.5, 20), (0.1, 20)], "gammaincc", "gammaincc", "gammaincc"
        yield "betainc", [(0.5, 20), (0.5, 20), (0.01, 0.99)], "betainc", "betainc", None

    def bound(function, module):
        if function is None or module is None:
            return None
        return getattr(module, function) if isinstance(function, str) else lambda *xs: function(module, *xs)

    n = 10**4
    for name, bounds, of_scipy, of_jax, of_torch in tasks():
        for suffix, dtype in (("f32", np.float32), ("f64", np.float64)):
            arguments = [floats(n, low, high, seed, dtype) for seed, (low, high) in enumerate(bounds, 1)]
            calls, expected = {}, None
            scipy_function = bound(of_scipy, functions)
            if scipy_function:
                expected = scipy_function(*(x.astype(np.float64) for x in arguments))
                calls["scipy"] = lambda f=scipy_function, xs=arguments: f(*xs)
            jax_function = bound(of_jax, lib.jax and lib.jax.scipy.special)
            if jax_function:
                calls["jax"] = jax_call(lib, jax_function, *arguments)
            torch_function = bound(of_torch, lib.torch and lib.torch.special)
            if torch_function:
                calls["torch"] = lambda f=torch_function, xs=[lib.torch.from_numpy(x) for x in arguments]: f(*xs)
            yield f"{name} {suffix}", "10^4", expected, calls


def sorting(lib):
    """Sorts and indices are checked by the elements in order: of equal elements the indices differ between libraries."""
    def in_order(x, expected):
        return lambda order: np.array_equal(np.take_along_axis(x, order.astype(np.int64), -1), expected)

    def sorts(suffix, size, x):
        expected = np.sort(x)
        jnp = lib.jax and lib.jax.numpy
        calls = {"numpy": lambda: np.sort(x), "numpy stable": lambda: np.sort(x, kind="stable")}
        orders = {"numpy": lambda: np.argsort(x), "numpy stable": lambda: np.argsort(x, kind="stable")}
        if jnp:
            calls["jax"] = jax_call(lib, jnp.sort, x)
            orders["jax"] = jax_call(lib, jnp.argsort, x)
        if lib.torch and x.dtype != np.uint64:
            t = lib.torch.from_numpy(x)
            calls["torch"] = lambda: lib.torch.sort(t)[0]
            orders["torch"] = lambda: lib.torch.argsort(t)
        yield f"sort {suffix}", size, lambda got: np.array_equal(got, expected), calls
        yield f"argsort {suffix}", size, in_order(x, expected), orders

    def top(k, x, suffix=""):
        expected = np.sort(x)[::-1][:k]

        def by_partition():
            indices = np.argpartition(x, len(x) - k)[len(x) - k:]
            indices = indices[np.argsort(-x[indices])]
            return x[indices], indices
        calls = {"numpy": by_partition}
        if lib.jax:
            calls["jax"] = jax_call(lib, lambda x: lib.jax.lax.top_k(x, k), x)
        if lib.torch:
            t = lib.torch.from_numpy(x)
            calls["torch"] = lambda: tuple(lib.torch.topk(t, k))
        yield f"top {k}{suffix}", f"10^{round(np.log10(len(x)))}", lambda got: (
            np.array_equal(got[0], expected) and np.array_equal(x[got[1].astype(np.int64)], expected)), calls

    for power in (4, 6, 7):
        yield from sorts("f32", f"10^{power}", floats(10**power, -1, 1, 1))
        yield from sorts("f64", f"10^{power}", floats(10**power, -1, 1, 1, np.float64))
        yield from sorts("u64", f"10^{power}", np.random.default_rng(1).integers(2**64, size=10**power, dtype=np.uint64))
    x = floats(10**6, -1, 1, 1)
    yield from top(1, x)
    yield from top(100, x)
    yield from top(100, np.sort(x), " ascending")
    yield from top(10**4, x)
    yield from top(10, floats(10**4, -1, 1, 1))
    for n in (8, 32, 64):
        yield from sorts(f"rows of {n}", "10^5", floats((10**5, n), -1, 1, 1))

    at = np.array([0.01, 0.5, 0.99], np.float32)
    calls = {"numpy": lambda: np.quantile(x, at)}
    if lib.jax:
        calls["jax"] = jax_call(lib, lambda x: lib.jax.numpy.quantile(x, at), x)
    if lib.torch:
        t, of = lib.torch.from_numpy(x), lib.torch.from_numpy(at)
        calls["torch"] = lambda: lib.torch.quantile(t, of)
    yield "quantile of 3", "10^6", np.quantile(x.astype(np.float64), at), calls
    integers = np.random.default_rng(1).integers(10**5, size=10**6, dtype=np.int32)
    distinct = np.unique(integers)
    calls = {"numpy": lambda: np.unique(integers)}
    if lib.jax:
        calls["jax"] = jax_call(lib, lambda x: lib.jax.numpy.unique(x, size=len(distinct)), integers)
    if lib.torch:
        ti = lib.torch.from_numpy(integers)
        calls["torch"] = lambda: lib.torch.unique(ti)
    yield "unique i32", "10^6", lambda got: np.array_equal(got, distinct), calls
    counts = np.histogram(x, 100, (-1, 1))[0]
    calls = {"numpy": lambda: np.histogram(x, 100, (-1, 1))[0]}
    if lib.jax:
        calls["jax"] = jax_call(lib, lambda x: lib.jax.numpy.histogram(x, 100, (-1, 1))[0], x)
    if lib.torch:
        calls["torch"] = lambda: lib.torch.histc(lib.torch.from_numpy(x), 100, -1, 1)
    yield "histogram", "10^6", counts, calls


CASES = {"triad": triad, "sum": total, "matmul": matmul, "small_matmul": small_matmul, "dense": dense,
         "black_scholes": black_scholes, "nbody": nbody, "heat": heat, "mlp": mlp, "loop": loop,
         "dispatch": dispatch, "compile": first_calls, "random": random_numbers,
         "linalg": linalg, "complex": complex_numbers, "special": special, "sort": sorting}


def leaves(result):
    if isinstance(result, (tuple, list)):
        return [leaf for part in result for leaf in leaves(part)]
    array = np.asarray(result)
    return [array.astype(np.complex128 if np.iscomplexobj(array) else np.float64)]


def differs(got, expected):
    if len(got) != len(expected):
        return False  # a different structure of results
    scale = max(float(np.max(np.abs(e))) for e in expected) + 1e-30
    return any(float(np.max(np.abs(g - e))) > 1e-3 * scale for g, e in zip(got, expected))


def median_seconds(call, repetitions=9):
    call()
    start = time.perf_counter()
    call()
    once = time.perf_counter() - start
    if once > 5:
        repetitions = 3
    times = max(1, int(0.05 / max(once, 1e-7)))
    seconds = []
    for _ in range(repetitions):
        start = time.perf_counter()
        for _ in range(times):
            call()
        seconds.append((time.perf_counter() - start) / times)
    return statistics.median(seconds), seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--output", required=True)
    parser.add_argument("--libraries", required=True)
    options = parser.parse_args()
    libraries = Libraries(options.libraries.split(","))
    results, skipped = [], []
    for name in options.cases or CASES:
        if name not in CASES:
            continue
        for task, size, expected, calls in CASES[name](libraries):
            right = expected if callable(expected) else None
            reference = None if expected is None or right else leaves(expected)
            for variant, call in calls.items():
                try:
                    if right:
                        is_right = right(np.asarray(call()))
                    else:
                        got = leaves(call())
                        if reference is None:
                            reference = got  # the rivals check each other
                        is_right = not differs(got, reference)
                    if not is_right:
                        raise ArithmeticError("wrong result")
                    median, seconds = median_seconds(call)
                except Exception as e:
                    traceback.print_exc(limit=1)
                    skipped.append({"task": task, "size": size, "variant": variant, "reason": f"failed: {type(e).__name__}"})
                    continue
                print(f"{task:20}{size:12}{variant:16}{median:.4g} s", flush=True)
                results.append({"task": task, "size": size, "variant": variant, "median_seconds": median,
                                "seconds": seconds, "process": "python"})
    document = {"versions": libraries.versions(), "skipped": skipped, "results": results}
    with open(options.output, "w") as out:
        json.dump(document, out, indent=1)


if __name__ == "__main__":
    sys.exit(main())
