#!/usr/bin/env python3
"""Runs a program of which a rank does wrong, and checks that the job ends in time with the messages.

  fault.py [--fault|--ends-well] MPIRUN... -- TEXT...

Each TEXT must be printed within 20 seconds, and the exit status must not be 0; with --ends-well it must be.
"""
import subprocess
import sys

at = sys.argv.index("--")
command, texts = sys.argv[1:at], sys.argv[at + 1:]
ends_well = command[0] == "--ends-well"
if command[0] in ("--fault", "--ends-well"):
    command.pop(0)
try:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=20)
except subprocess.TimeoutExpired as e:
    print((e.stdout or b"").decode(errors="replace"))
    sys.exit("fault.py: the job did not end")
print(done.stdout)
missing = [text for text in texts if text not in done.stdout]
if missing:
    sys.exit(f"fault.py: not printed: {missing}")
if ends_well != (done.returncode == 0):
    sys.exit(f"fault.py: the exit status is {done.returncode}")
