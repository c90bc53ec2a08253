#!/usr/bin/env python3
"""Times the benchmark tasks in JAX, PyTorch (torch.compile), Dr.Jit, Numba, NumPy and SciPy and writes a JSON file.

  tools/python/rivals.py --output FILE [--environment DIR] [--packages LIST] [--threads N] [CASE...]

Creates a virtual environment in DIR if it is missing and installs the packages from PyPI (default: jax numba drjit scipy;
add torch, which is large). A library that is missing or fails on a task is skipped with a message. `calque bench --merge FILE`
adds the figures to a run on the same machine. f32 and f64 as in bench/, medians; results are checked against NumPy before
they are timed.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

KNOWN = {"jax": "jax", "numba": "numba", "drjit": "drjit", "torch": "torch", "scipy": "scipy"}


def make_environment(folder, packages):
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    wanted = [p for p in packages if subprocess.run([python, "-c", f"import importlib.util, sys; "
              f"sys.exit(importlib.util.find_spec('{p}') is None)"]).returncode != 0]
    if wanted:
        subprocess.run([python, "-m", "pip", "install", "--quiet", *wanted], check=True)
    return python


def with_threads(count):
    environment = dict(os.environ)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        environment[name] = str(count)
    if count == 1:
        environment["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    environment["JAX_ENABLE_X64"] = "1"
    environment["JAX_PLATFORMS"] = "cpu"
    return environment


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="folders of bench/ (default: all that are implemented here)")
    parser.add_argument("--output", type=pathlib.Path, required=True, metavar="FILE")
    parser.add_argument("--environment", type=pathlib.Path, default=pathlib.Path("build/python"), metavar="DIR")
    parser.add_argument("--packages", default="jax,numba,drjit,scipy", help=f"of {', '.join(KNOWN)}; comma-separated")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="of each library (default: 1)")
    options = parser.parse_args()
    if not 1 <= options.threads <= len(os.sched_getaffinity(0)):
        parser.error(f"--threads is 1 to {len(os.sched_getaffinity(0))} on this machine")
    packages = options.packages.split(",")
    unknown = sorted(set(packages) - set(KNOWN))
    if unknown:
        parser.error(f"unknown package {', '.join(unknown)}; there are {', '.join(KNOWN)}")
    python = make_environment(options.environment, packages)
    script = pathlib.Path(__file__).resolve().parent / "rival_cases.py"
    # taskset restricts libraries that start threads to as many cores.
    command = [python, script, "--output", options.output, "--libraries", options.packages, *options.cases]
    if subprocess.run(["which", "taskset"], capture_output=True).returncode == 0:
        cores = sorted(os.sched_getaffinity(0))[-options.threads:]
        command = ["taskset", "-c", ",".join(map(str, cores)), *command]
    return subprocess.run(command, env=with_threads(options.threads)).returncode


if __name__ == "__main__":
    sys.exit(main())
