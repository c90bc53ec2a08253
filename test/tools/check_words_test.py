#!/usr/bin/env python3
"""Plants one retired word at a time in a clean tree and demands that tools/check_words names it."""
import subprocess
import sys
import tempfile
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "check_words"
CLEAN = ["computed in place of the other", "a placeholder", "a read is replaced", "the last place of x", "idealist"]
RETIRED = ["the next place", "int nextPlace = 0;", "find_places(x)", "threads that MEET", "kDear", "a Sweep", "twins"]


def run(text):
    with tempfile.TemporaryDirectory() as root:
        subprocess.run(["git", "init", "-q", root], check=True)
        path = Path(root, "lib", "file.h")
        path.parent.mkdir()
        path.write_text(f"// first line\n{text}\n")
        done = subprocess.run([sys.executable, TOOL, root], capture_output=True, text=True)
        return done.returncode, done.stdout


def main():
    failures = []
    for text in CLEAN:
        status, output = run(text)
        if status != 0:
            failures.append(f"'{text}' was refused: {output}")
    for text in RETIRED:
        status, output = run(text)
        if status != 1 or not output.startswith("lib/file.h:2: "):
            failures.append(f"'{text}' was accepted: {output}")
    print("\n".join(failures) if failures else "check_words_test: passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
