#!/usr/bin/env python3
"""Times the cases of `calque bench --device gpu` in PyTorch (eager and compiled), JAX and CuPy on the first GPU.

  tools/python/gpu_rivals.py --output FILE [--libraries torch,jax,cupy] CASE=ELEMENTS...

Nothing is installed. A library that is missing, finds no GPU or fails on a case is skipped with a message; each runs in a
separate process. Times are measured as in `calque bench`: many calls followed by one synchronization, divided by their
number, and the median over rounds. Results at a small size are compared with NumPy's before any timing. FILE is written
after each figure. `calque bench --merge FILE` adds the figures to ours.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROW = 1024
CHECKED = 1 << 10
# Of matrix products: tf32 and bf16 operands have 11 and 8 significant bits.
TOLERANCES = {"matmul_tf32": 2e-2, "matmul_bf16": 0.3, "dense_bf16": 0.3}
INPUTS = {"triad": 2, "columns": 1, "variance": 1, "transpose": 1, "softmax": 1, "layernorm": 1, "cumsum": 1, "matmul": 2,
          "matmul_tf32": 2, "matmul_bf16": 2, "dense_bf16": 2, "small_kernels": 1}
ROWS = ("columns", "variance", "transpose", "softmax", "layernorm")


def shape_of(case, n):
    if case.startswith(("matmul", "dense")):
        return (int(n**0.5),) * 2
    return (max(n // ROW, 1), ROW) if case in ROWS else (n,)


def small_kernels(x):
    for _ in range(40):
        x = x * 0.5 + x.mean()
    return x


def normalized(x, sqrt):
    centred = x - x.mean(1, keepdims=True)
    return centred / sqrt((centred * centred).mean(1, keepdims=True) + 1e-5)


def in_numpy(np, case, inputs):
    x = inputs[0].astype(np.float64)
    if case.startswith("matmul"):
        return x @ inputs[1]
    if case == "dense_bf16":
        return np.maximum(x @ inputs[1] + inputs[1][0], 0)
    plain = {"columns": lambda: x.sum(0), "variance": lambda: x.var(0), "transpose": lambda: 2 * x.T + 1,
             "cumsum": lambda: x.cumsum(0)}
    if case in plain:
        return plain[case]()
    if case == "softmax":
        e = np.exp(x - x.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)
    if case == "layernorm":
        return normalized(x, np.sqrt)
    return small_kernels(x) if case == "small_kernels" else 2.5 * x + inputs[1]


class Torch:
    """PyTorch: eagerly, replayed as a CUDA graph, and compiled."""

    def __init__(self):
        import torch
        if not torch.cuda.is_available():
            raise RuntimeError("PyTorch shows no GPU")
        self.torch = torch
        self.versions = {"PyTorch": torch.__version__, "CUDA of PyTorch": torch.version.cuda}
        self.wait = torch.cuda.synchronize
        torch.set_grad_enabled(False)

    def function(self, case):
        torch = self.torch
        torch.backends.cuda.matmul.allow_tf32 = case == "matmul_tf32"
        return {"triad": lambda x, y: 2.5 * x + y, "softmax": lambda x: torch.softmax(x, 1),
                "layernorm": lambda x: torch.nn.functional.layer_norm(x, (ROW,)),
                "columns": lambda x: x.sum(0), "variance": lambda x: x.var(0, correction=0),
                "transpose": lambda x: (2 * x.T + 1).contiguous(), "cumsum": lambda x: torch.cumsum(x, 0),
                "dense_bf16": lambda x, y: torch.relu(x @ y + y[0]),
                "small_kernels": small_kernels}.get(case, torch.matmul)

    def to_device(self, case, inputs):
        kind = self.torch.bfloat16 if case.endswith("bf16") else self.torch.float32
        return [self.torch.from_numpy(x).to("cuda", kind) for x in inputs]

    def fetch(self, result):
        return result.float().cpu().numpy()

    def variants(self, case):
        f = self.function(case)
        yield "PyTorch", lambda inputs: lambda: f(*inputs)
        yield "PyTorch, CUDA graph", lambda inputs: self.captured(f, inputs)
        compiled = self.torch.compile(f, dynamic=False)
        yield "torch.compile", lambda inputs: lambda: compiled(*inputs)
        yield "torch.compile, CUDA graph", lambda inputs: self.captured(compiled, inputs)

    def captured(self, f, inputs):
        torch = self.torch
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            f(*inputs)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = f(*inputs)

        def call():
            graph.replay()
            return result
        return call


class Jax:
    def __init__(self):
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        import jax
        if jax.default_backend() != "gpu":
            raise RuntimeError("JAX shows no GPU")
        self.jax, self.last = jax, None
        self.versions = {"JAX": jax.__version__}

    def wait(self):
        self.jax.block_until_ready(self.last)
        self.last = None

    def to_device(self, case, inputs):
        jnp = self.jax.numpy
        return [jnp.asarray(x, jnp.bfloat16 if case.endswith("bf16") else jnp.float32) for x in inputs]

    def fetch(self, result):
        import numpy
        return numpy.asarray(result.astype(self.jax.numpy.float32))

    def variants(self, case):
        jax, jnp = self.jax, self.jax.numpy
        precision = {"matmul": "float32", "matmul_tf32": "tensorfloat32"}.get(case, "default")
        f = {"triad": lambda x, y: 2.5 * x + y, "softmax": lambda x: jax.nn.softmax(x, 1),
             "layernorm": lambda x: normalized(x, jnp.sqrt), "small_kernels": small_kernels,
             "columns": lambda x: x.sum(0), "variance": lambda x: x.var(0), "transpose": lambda x: 2 * x.T + 1,
             "cumsum": jnp.cumsum, "dense_bf16": lambda x, y: jax.nn.relu(x @ y + y[0])}.get(case, jnp.matmul)

        def traced(*inputs):
            with jax.default_matmul_precision(precision):
                return f(*inputs)
        compiled = jax.jit(traced)

        def bind(inputs):
            def call():
                self.last = compiled(*inputs)
                return self.last
            return call
        yield "JAX", bind


class Cupy:
    def __init__(self):
        import cupy
        if cupy.cuda.runtime.getDeviceCount() == 0:
            raise RuntimeError("CuPy shows no GPU")
        self.cupy = cupy
        self.versions = {"CuPy": cupy.__version__}
        self.wait = cupy.cuda.get_current_stream().synchronize

    def to_device(self, case, inputs):
        return [self.cupy.asarray(x) for x in inputs]

    def fetch(self, result):
        return self.cupy.asnumpy(result)

    def variants(self, case):
        cupy = self.cupy
        fused = cupy.fuse(lambda x, y: 2.5 * x + y)

        def softmax(x):
            e = cupy.exp(x - x.max(1, keepdims=True))
            return e / e.sum(1, keepdims=True)
        known = {"triad": fused, "softmax": softmax, "layernorm": lambda x: normalized(x, cupy.sqrt),
                 "small_kernels": small_kernels, "matmul": cupy.matmul, "columns": lambda x: x.sum(0),
                 "variance": lambda x: x.var(0), "transpose": lambda x: cupy.ascontiguousarray(2 * x.T + 1),
                 "cumsum": cupy.cumsum}
        if case in known:
            yield "CuPy", lambda inputs: lambda: known[case](*inputs)


LIBRARIES = {"torch": Torch, "jax": Jax, "cupy": Cupy}


def random_inputs(np, case, n):
    generator = np.random.default_rng(1)
    return [generator.random(shape_of(case, n), dtype=np.float32) * 2 - 1 for _ in range(INPUTS[case])]


def check(np, library, case, bind):
    inputs = random_inputs(np, case, CHECKED)
    want = in_numpy(np, case, inputs)
    got = library.fetch(bind(library.to_device(case, inputs))())
    tolerance = TOLERANCES.get(case, 1e-3)
    if not np.allclose(got, want, rtol=tolerance, atol=tolerance):
        raise RuntimeError("the result differs from NumPy's")


def seconds_of(call, wait, budget=0.4):
    for _ in range(3):
        call()
    wait()

    def round_of(calls):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        wait()
        return (time.perf_counter() - start) / calls
    calls = int(min(max(budget / 8 / max(round_of(1), 1e-7), 1), 10000))
    times, start = [], time.perf_counter()
    while len(times) < 3 or time.perf_counter() - start < budget:
        times.append(round_of(calls))
    return statistics.median(times)


def replace(path, document):
    """Replaces the file atomically."""
    unfinished = path.with_name(path.name + ".unfinished")
    unfinished.write_text(json.dumps(document, indent=1) + "\n")
    unfinished.replace(path)


def measure(name, tasks, output):
    """Measures one library, writing the file after each figure. Runs in a separate process."""
    import numpy as np
    library = LIBRARIES[name]()
    document = {"versions": library.versions, "skipped": [], "results": []}
    for case, n in tasks:
        inputs = library.to_device(case, random_inputs(np, case, n))
        for variant, bind in library.variants(case):
            try:
                check(np, library, case, bind)
                seconds = seconds_of(bind(inputs), library.wait)
            except Exception as e:  # whatever a library raises, the others are still measured
                text = (str(e).strip() or type(e).__name__).splitlines()[0]
                document["skipped"].append(f"{variant}, {case} of {n}: {text[:200]}")
                continue
            print(f"{variant:>26} {case:>14} {n:>10} {seconds * 1e6:12.2f} us", flush=True)
            document["results"].append({"case": case, "elements": n, "variant": variant, "seconds": seconds})
            replace(output, document)
    replace(output, document)


def in_own_process(name, texts, limit, merged, save):
    """Adds the figures of one library, or the reason why they are missing."""
    with tempfile.TemporaryDirectory() as folder:
        output, seen = pathlib.Path(folder) / "figures.json", 0
        command = [sys.executable, __file__, "--within", name, "--output", str(output), *texts]
        errors = tempfile.TemporaryFile("w+")
        process, deadline = subprocess.Popen(command, stderr=errors, text=True), time.monotonic() + limit
        while True:
            try:
                process.wait(1)
            except subprocess.TimeoutExpired:
                pass
            if output.exists():
                part = json.loads(output.read_text())
                merged["versions"].update(part["versions"])
                merged["results"] += part["results"][seen:]
                seen = len(part["results"])
                save()
            if process.returncode is not None:
                break
            if time.monotonic() > deadline:
                process.kill()
                merged["skipped"].append(f"{name}: not done within {limit} s")
                return
        if output.exists():
            merged["skipped"] += part["skipped"]
        if process.returncode != 0:
            errors.seek(0)
            lines = errors.read().strip().splitlines() or [f"exit status {process.returncode}"]
            merged["skipped"].append(f"{name}: {lines[-1][:200]}")


def task(text):
    case, _, n = text.partition("=")
    if case not in INPUTS or not n.isdigit() or int(n) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no CASE=ELEMENTS with a case of {', '.join(INPUTS)}")
    return case, int(n)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="+", type=task, metavar="CASE=ELEMENTS", help=f"cases: {', '.join(INPUTS)}")
    parser.add_argument("--output", type=pathlib.Path, required=True, metavar="FILE")
    parser.add_argument("--libraries", default=",".join(LIBRARIES), help="comma-separated (default: %(default)s)")
    parser.add_argument("--limit", type=int, default=900, metavar="SECONDS", help="for each library (default: 900)")
    parser.add_argument("--within", choices=LIBRARIES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.within:
        measure(options.within, options.tasks, options.output)
        return
    names = options.libraries.split(",")
    if unknown := sorted(set(names) - set(LIBRARIES)):
        parser.error(f"unknown library {', '.join(unknown)}; there are {', '.join(LIBRARIES)}")
    merged = {"versions": {}, "skipped": [], "results": []}
    for name in names:
        in_own_process(name, [f"{case}={n}" for case, n in options.tasks], options.limit, merged,
                       lambda: replace(options.output, merged))
    for reason in merged["skipped"]:
        print(f"left out: {reason}")
    replace(options.output, merged)


if __name__ == "__main__":
    main()
