#!/usr/bin/env python3
"""Runs a program of which a rank does wrong, and checks that the job ends in time with the messages.

  fault.py MPIRUN... -- TEXT...   each TEXT must be printed, the exit status must not be 0, within 20 seconds
"""
import subprocess
import sys

at = sys.argv.index("--")
command, texts = sys.argv[1:at], sys.argv[at + 1:]
try:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=20)
except subprocess.TimeoutExpired as e:
    print((e.stdout or b"").decode(errors="replace"))
    sys.exit("fault.py: the job did not end")
print(done.stdout)
missing = [text for text in texts if text not in done.stdout]
if missing:
    sys.exit(f"fault.py: not printed: {missing}")
if done.returncode == 0:
    sys.exit("fault.py: the exit status is 0")
