#!/usr/bin/env python3
"""The documentation shows what the compiler prints; tools/check_docs notices a difference and mends it."""
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CHECK = ROOT / "tools" / "check_docs"
GRAPH = "calque 1\ngraph f(%0: f32[3]) {\n  %1 = neg %0\n  return %1\n}\n"
PAGE = "# Page\n\n<!-- calque opt f.jaxpr -->\n```\n{}\n```\n"


def run(calque, *arguments):
    done = subprocess.run([sys.executable, CHECK, calque, *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def main():
    calque = sys.argv[1]
    failures = []
    status, text = run(calque)
    if status != 0:
        failures.append(f"docs differ from what is printed; run tools/check_docs CALQUE --update\n{text}")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "f.jaxpr").write_text(GRAPH)
        page = Path(folder, "page.md")
        page.write_text(PAGE.format("an old output"))
        status, text = run(calque, str(page))
        if status != 1 or "1 of 1 blocks differ" not in text:
            failures.append(f"an old output was accepted: {text}")
        run(calque, "--update", str(page))
        status, text = run(calque, str(page))
        if status != 0 or "neg %0" not in page.read_text():
            failures.append(f"an old output was not mended: {text}")
        page.write_text("# Page without output\n")
        if run(calque, str(page))[0] == 0:
            failures.append("a page without output was accepted")
    print("\n".join(failures) if failures else "docs_test: passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
