#!/usr/bin/env python3
"""The documentation shows what the compiler prints and has right links and figures; tools/check_docs notices a difference
and mends what is printed."""
import importlib.machinery
import importlib.util
import json
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


FIGURES = {"results": [{"task": "sum", "size": "8", "variant": variant, "median_seconds": seconds}
                       for variant, seconds in [("calque", 2e-3), ("calque fast", 1e-3), ("c++", 3e-3), ("jax", 5e-3)]]}
FIGURES["results"][0]["of_floor"] = 0.5
TABLE = """<!-- figures figures.json -->
| case | size | Calque | of the floor | best rival | speed against it |
|---|---|---|---|---|---|
| sum | 8 | 2 ms | {} | c++, 3 ms | {} |
"""


def tool():
    loader = importlib.machinery.SourceFileLoader("check_docs", str(CHECK))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_docs", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


def check_problems(folder, failures):
    """Links, the index, pictures and figures: what is right passes, and each kind of mistake is named."""
    check_docs = tool()
    check_docs.ROOT = folder
    (folder / "figures.json").write_text(json.dumps(FIGURES))
    (folder / "pictures").mkdir()
    (folder / "pictures" / "a.svg").write_text("<svg/>")
    page, index = folder / "page.md", folder / "README.md"

    def expect(found, *parts):
        if len(found) != len(parts) or not all(part in problem for part, problem in zip(parts, found)):
            failures.append(f"expected {parts}, found {found}")

    page.write_text("# A `b`: c, d\n```\n# not a heading\n[x](nowhere.md)\n```\n")
    index.write_text("[a](page.md#a-b-c-d) [b](https://x.y) [c](#top) `[d](nowhere.md)`\n# Top\n")
    expect(check_docs.check_links([page, index]))
    expect(check_docs.check_index(index, [page]))
    expect(check_docs.check_pictures(folder / "pictures", [page, index]), "a.svg: no page shows it")
    index.write_text("[a](page.md#not-a-heading) [b](nowhere.md) ![c](pictures/a.svg)\n")
    expect(check_docs.check_links([index]), "no such heading", "nowhere.md does not exist")
    expect(check_docs.check_index(index, [page, folder / "other.md"]), "does not link other.md")
    expect(check_docs.check_pictures(folder / "pictures", [index]))

    def figures(path, text):
        path.write_text(text)
        return check_docs.check_figures(path)[0]

    expect(figures(page, TABLE.format("0.50", "1.50")))
    expect(figures(page, TABLE.format("0.51", "1.50")), "sum, 8 is ['2 ms', '0.50', 'c++, 3 ms', '1.50']")
    expect(figures(page, "It takes 1 ms.\n<!-- figures figures.json: sum fast, 8 = 1 ms -->\n"))
    expect(figures(page, "It takes 2 ms.\n<!-- figures figures.json: sum fast, 8 = 2 ms -->\n"), "not 2 ms")
    expect(figures(page, "It takes 2 ms.\n\n<!-- figures figures.json: sum, 8 = 2 ms -->\n"), "does not contain 2 ms")
    expect(figures(page, "<!-- figures figures.json: sum, 9 = 2 ms -->\nIt takes 2 ms.\n"), "has None", "does not contain")
    expect(figures(page, "It takes 7 ms.\n"))
    expect(figures(index, "It takes 7 ms, 1.5 of `0.7`.\n"), "7 ms is not checked", "1.5 is not checked")


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
        for shown, status in [("...\n  %1: f32[3] = neg %0\n...", 0), ("...\n  %1: f32[3] = neg %1\n...", 1),
                              ("calque 1\n...", 0), ("calque 2\n...", 1)]:
            page.write_text(PAGE.format(shown))
            if run(calque, str(page))[0] != status:
                failures.append(f"a part of an output: {shown}")
        page.write_text("# Page without output\n")
        if run(calque, str(page))[0] == 0:
            failures.append("a page without output was accepted")
        Path(folder, "figures.json").write_text(json.dumps(FIGURES))
        page.write_text("<!-- calque bench --from=figures.json\n --chart=chart.svg -->\n![](chart.svg)\n")
        if run(calque, str(page))[0] != 1:
            failures.append("a missing chart was accepted")
        run(calque, "--update", str(page))
        chart = Path(folder, "chart.svg")
        if run(calque, str(page))[0] != 0 or "<svg" not in chart.read_text():
            failures.append("a chart was not drawn")
        chart.write_text("<svg/>")
        if run(calque, str(page))[0] != 1:
            failures.append("another chart was accepted")
    with tempfile.TemporaryDirectory() as folder:
        check_problems(Path(folder).resolve(), failures)
    print("\n".join(failures) if failures else "docs_test: passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
