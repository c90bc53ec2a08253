#!/usr/bin/env python3
"""Runs an example as a job of several ranks, and compares what it prints and draws with the job of one rank.

  example.py FOLDER RANKS TOLERANCE COMMAND...

The command runs in FOLDER.RANKS, where its files stay. FOLDER.1 must be there unless RANKS is 1. Words must be the
same; numbers may differ by TOLERANCE of their size, and in SVG pictures, which have six digits of them, by 1e-4. With
the tolerance 0 output and pictures must have the same bytes.
"""
import re
import shutil
import subprocess
import sys
from pathlib import Path

NUMBER = re.compile(r"(?<!\w)[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?!\w)")


def difference(one, many, tolerance):
    """What differs, in words; None if nothing does."""
    if tolerance == 0:
        return None if one == many else f"{one!r:.200} and {many!r:.200}"
    if NUMBER.sub("#", one) != NUMBER.sub("#", many):
        return f"other words:\n{one[:2000]}\nand\n{many[:2000]}"
    for a, b in zip(NUMBER.findall(one), NUMBER.findall(many)):
        if not abs(float(a) - float(b)) <= tolerance * max(abs(float(a)), abs(float(b))):
            return f"{a} and {b}, which differ by more than {tolerance} of their size"
    return None


def main():
    prefix, ranks, tolerance, command = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4:]
    folder, one = Path(f"{prefix}.{ranks}"), Path(f"{prefix}.1")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    # What MPI itself has to say of the machine goes to stderr, and is not compared.
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    print(done.stdout, flush=True)
    if done.returncode != 0:
        sys.exit(f"example.py: the exit status is {done.returncode}")
    (folder / "output.txt").write_text(done.stdout)
    names = sorted(path.name for path in folder.iterdir())
    pictures = [name for name in names if name.endswith((".svg", ".ppm"))]
    if not pictures or not NUMBER.search(done.stdout):
        sys.exit(f"example.py: no picture, or no number in the output; the files are {names}")
    if ranks == "1":
        return
    if sorted(path.name for path in one.iterdir()) != names:
        sys.exit(f"example.py: {one} has other files than {names}")
    for name in names:
        allowed = 1e-4 if tolerance > 0 and name.endswith(".svg") else tolerance
        texts = [(where / name).read_bytes().decode("latin-1") for where in (one, folder)]
        if differs := difference(*texts, allowed):
            sys.exit(f"example.py: {name} of 1 and of {ranks} ranks: {differs}")


main()
