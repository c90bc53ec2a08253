#!/usr/bin/env python3
"""`calque bench` on given figures and on stub benchmark programs: the table, the merged figures, and a self-contained page
with well-formed charts. The command is the first argument."""
import json
import re
import subprocess
import sys
import tempfile
import xml.dom.minidom
from pathlib import Path

CLI = sys.argv[1]
PROGRAM = """#!/bin/sh
for a in "$@"; do case $a in --json=*) cp "$0.json" "${a#--json=}";; esac; done
"""


def row(task, size, variant, seconds, floor=None, flops=None, bytes_=None):
    out = {"task": task, "size": size, "variant": variant, "median_seconds": seconds}
    if floor:
        out |= {"of_floor": floor / seconds, "floor": "n < 2 & B", "floor_seconds": floor}
    if flops:
        out |= {"flops": flops, "bytes": bytes_}
    return out


def document(results):
    probes = {"memory bandwidth (B)": {"value": 40.0, "unit": "GB/s"}, "f32 FMA peak (F)": {"value": 120.0, "unit": "GFLOP/s"}}
    return {"machine": "a <machine>", "compiler": "1", "versions": {"OpenBLAS": "1.2"}, "probes": probes,
            "skipped": [{"task": "sum", "size": "8", "variant": "sleef", "reason": "not installed"}], "results": results}


def run(*arguments):
    done = subprocess.run([CLI, "bench", *map(str, arguments)], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def check(condition, what):
    if not condition:
        sys.exit(f"bench_report_test: {what}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts = {
            "product": [row("product", "64", "calque", 2e-3, 1e-3, 1e6, 1e3), row("product", "64", "c++", 4e-3, 1e-3, 1e6, 1e3)],
            "sum": [row("sum", "8", "calque", 3e-6), row("sum", "8", "calque fast", 1e-6)],
        }
        for case, results in parts.items():
            program = folder / f"bench_{case}"
            program.write_text(PROGRAM)
            program.chmod(0o755)
            (folder / f"bench_{case}.json").write_text(json.dumps(document(results)))
        rivals = folder / "rivals.json"
        rivals.write_text(json.dumps({"versions": {"JAX": "0"}, "results": [row("product", "64", "jax", 1e-3),
                                                                           row("unknown", "1", "jax", 1e-3)]}))

        check(run("--programs", folder, "--list")[1].split() == ["product", "sum"], "--list names other cases")
        page, figures = folder / "page.html", folder / "out" / "figures.json"
        rc, out, err = run("--programs", folder, "--merge", rivals, "--json", figures, "--html", page)
        check(rc == 0, err)
        check("| product | 64 | 2 ms | 0.50 | jax, 1 ms | 0.50 |" in out, f"the table is\n{out}")
        check("| sum fast | 8 | 1 us |  |  |  |" in out, f"the table is\n{out}")

        merged = json.loads(figures.read_text())
        check(merged["versions"]["JAX"] == "0" and merged["versions"]["OpenBLAS"] == "1.2", "versions are missing")
        check(len(merged["results"]) == 5, "a rival without a task of ours is not dropped")
        jax = [r for r in merged["results"] if r["variant"] == "jax"][0]
        check(jax["of_floor"] == 1.0 and jax["flops"] == 1e6, "a merged rival lacks its task's floor and work")

        text = page.read_text()
        charts = re.findall(r"<svg.*?</svg>", text, re.S)
        check(len(charts) == 3, "bars, ratios and a roofline are expected")
        for chart in charts:
            xml.dom.minidom.parseString(chart)
        check(charts[2].count("<circle") == 2, "the roofline lacks a point of ours or of the best rival")
        check("a &lt;machine&gt;" in text and "n &lt; 2 &amp; B" in text, "text is not escaped")
        check(not re.search(r"(src|href)=|https?:|@import|url\(", text), "the page fetches something")

        rc, out, err = run("--from", figures, "--html", page)
        check(rc == 0 and "jax, 1 ms" in out, "--from reports other figures")

        chart, options = folder / "chart.svg", ["--row=One & two=product, 64", f"--chart={folder / 'chart.svg'}"]
        rc, out, err = run("--from", figures, *options)
        check(rc == 0 and str(page) not in out, f"a chart of given figures writes a page: {out}{err}")
        drawn = chart.read_text()
        xml.dom.minidom.parseString(drawn)
        check(">One &amp; two<" in drawn and ">0.50<" in drawn and ">jax<" in drawn, f"the chart is {drawn}")
        check("prefers-color-scheme: dark" in drawn and drawn.count('class="slower"') == 1, f"the chart is {drawn}")
        check(run("--from", figures, options[1])[0] == 0 and chart.read_text().count("<rect") == 1, "a row without a rival")
        for chosen, message in [("a=product, 32", "no row 'product, 32'"), ("a=sum, 8", "'sum, 8' has no rival"),
                             ("product", "LABEL=CASE, SIZE"), ("a, b=product", "LABEL=CASE, SIZE")]:
            rc, out, err = run("--from", figures, f"--row={chosen}", options[1])
            check(rc == 2 and message in err, f"--row={chosen}: {err}")
        check(run("--from", figures, "--row=a=product, 64")[0] != 0, "a row without a chart is no error")
        check(run("--programs", folder, "nothing")[0] == 2, "an unknown case is no error")
        (folder / "bench_sum").write_text("#!/bin/sh\nexit 1\n")
        rc, out, err = run("--programs", folder, "sum")
        check(rc == 2 and "failed" in err, "a program that fails is no error")
    print("bench_report_test: passed")


if __name__ == "__main__":
    main()
