#!/usr/bin/env python3
"""Wrong command lines are refused in words, before any work begins."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CLI = sys.argv[1]
GRAPH = "calque 1\ngraph f(%0: f32[3]) {\n  %1 = sin %0\n  return %1\n}\n"
CASE = '{"id": "one", "op": "sin", "inputs": [], "expect": [], "tol": {"exact": true}}\n'
failures = []


def run(*arguments):
    done = subprocess.run([CLI, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def refused(*arguments, words):
    """The exit status is that of an error and standard error says why."""
    status, out, err = run(*arguments)
    line = " ".join(map(str, arguments))
    if status < 2:
        failures.append(f"{line}: ends with {status}, expected an error; {out[:200]}")
    missing = [word for word in ([words] if isinstance(words, str) else words) if word not in err]
    if missing:
        failures.append(f"{line}: says nothing of {missing}: {err}")


def accepted(*arguments):
    status, out, err = run(*arguments)
    if status != 0:
        failures.append(f"{' '.join(map(str, arguments))}: ends with {status}: {err}")
    return out


def check(folder):
    graph, cases, empty = folder / "f.jaxpr", folder / "cases.jsonl", folder / "empty"
    graph.write_text(GRAPH)
    cases.write_text(CASE)
    empty.write_text("")
    missing = folder / "missing"

    # ---- commands
    refused("lowr", graph, words=["there is no command 'lowr'", "the nearest is lower"])
    refused("cache", "lst", words=["there is no command 'lst'", "the nearest is list"])
    refused("xyzzy", words=["there is no command 'xyzzy'", "opt, run, lower"])

    # ---- numbers
    whole = "a whole number from"
    for seed in ["-1", "18446744073709551616", "99999999999999999999999", "nan", "1.5", "x", "", "0x1F", "010", "1 2"]:
        refused("run", graph, "--seed", seed, words=["--seed", whole])
    refused("run", graph, "--seed=-1", words=["--seed", whole])
    refused("run", graph, "--seed=", words="--seed")
    for seed in ["0", "7", "18446744073709551615"]:
        accepted("run", graph, "--quiet", "--seed", seed)
    for option in ["--rtol", "--atol"]:
        for value in ["-1", "nan", "inf", "1e999", "x", ""]:
            refused("run", graph, "--check", option, value, words=[option, "a finite number of at least 0"])
        refused("run", graph, option, "0.1", words="--check")
    accepted("run", graph, "--quiet", "--check", "--rtol", "1e-3", "--atol", "0")
    for jobs in ["0", "-5", "1025", "nan", ""]:
        refused("conformance", cases, "--jobs", jobs, words=["--jobs", whole])
    bench = ["bench", "--device", "cpu"]
    for n in ["-5", "0", "nan", "9223372036854775808", "1e6", ""]:
        refused(*bench, "--largest", n, words=["--largest", whole])
        refused(*bench, "--elements", f"1024,{n or 'x'}", words=["--elements", whole])
    for seconds in ["nan", "inf", "-1", "0", "x", ""]:
        refused(*bench, "--seconds", seconds, words=["--seconds", "a finite number above 0"])
    refused("bench", "--list", "--seconds=1", words="--device")
    refused("opt", graph, "--vmap=99999999999999999999", words="--vmap expects numbers")
    refused("opt", graph, "--grad=-1", words="--grad expects positions")

    # ---- names
    for stage in ["plan", "llvm", "asm", "ptx", "obj", "dot"]:
        refused("lower", graph, f"--emit={stage}", "--cpu", "nocpu", words="unknown CPU nocpu")
        refused("lower", graph, f"--emit={stage}", "--triple", "pdp11-dec-unix", words="pdp11-dec-unix")
        refused("lower", graph, f"--emit={stage}", "--arch", "sm_1", words="not for sm_1")
    refused("lower", graph, "--emit=plan", "--cpu", "", words=["--cpu", "empty"])
    refused("lower", graph, "--print-passes", "--cpu", "nocpu", words="unknown CPU nocpu")
    refused("lower", graph, "--emit=music", words="music")
    refused("lower", graph, "--print-after=fuse", words="there is no pass fuse")
    refused("lower", graph, "--from=fuse", words="fuse")
    refused("opt", graph, "--cpu", "znver4", words="--kernel")
    refused("opt", graph, "--pass=fuse", words="there is no pass fuse")
    refused("opt", graph, "--pass", "", words=["--pass", "empty"])
    for command in [["run", graph], ["lower", graph], ["conformance", cases], ["bench"]]:
        refused(*command, "--device", "tpu", words=["--device", "'tpu' is none of"])
    refused("lower", graph, "--device", "reference", words="'reference' is none of")
    refused("conformance", cases, "--id", "two", words="no case has the id two")
    refused("conformance", cases, "--only", "two", words="no case has 'two' in its id")
    refused("conformance", empty, words="no cases")

    # ---- files
    for file in [missing, folder, empty]:
        for command in ["opt", "run", "lower"]:
            refused(command, file, words=[str(file), "cannot be read"])
        refused("run", graph, "--input", file, words=str(file))
    for file in [missing, folder]:
        refused("conformance", file, words=str(file))
        refused("bench", "--merge", file, words=["--merge", str(file)])
        refused("bench", "--from", file, words=["--from", str(file)])
    refused("bench", "--merge", empty, words=[str(empty), "cannot be read"])
    refused("bench", "--from", empty, words=[str(empty), "cannot be read"])
    refused("bench", "--programs", missing, words=["--programs", str(missing)])
    for command in [["opt", graph, "-o"], ["lower", graph, "-o"], ["bench", "--json"], ["bench", "--html"]]:
        refused(*command, folder, words=[str(folder), "it is a folder"])
        refused(*command, graph / "x", words=[f"{graph} is no folder"])
    accepted("opt", graph, "-o", folder / "out.jaxpr")
    if os.geteuid() != 0:  # root reads and writes everything
        unreadable = folder / "unreadable"
        unreadable.write_text(GRAPH)
        unreadable.chmod(0)
        refused("run", unreadable, words=[str(unreadable), "cannot be read"])
        refused("opt", graph, "-o", unreadable, words="permissions")


with tempfile.TemporaryDirectory() as name:
    check(Path(name))
print("\n".join(failures) if failures else "usage_test: passed")
sys.exit(1 if failures else 0)
