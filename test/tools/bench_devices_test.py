#!/usr/bin/env python3
"""`calque bench --device` on the CPU, on the simulated GPU and on a missing GPU: figures, crossovers, a page with well-formed
charts, and messages for missing devices. The command is the first argument."""
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.dom.minidom
from pathlib import Path

CLI = sys.argv[1]
GRAPH = """calque 1
graph f(%0: f32[300]) {
  %1: f32[300] = exp %0
  return %1
}
"""


def run(*arguments):
    environment = dict(os.environ, CALQUE_LIBCUDA="/nowhere/libcuda.so.1")
    done = subprocess.run([CLI, "bench", *map(str, arguments)], capture_output=True, text=True, env=environment)
    return done.returncode, done.stdout, done.stderr


def check(condition, what):
    if not condition:
        sys.exit(f"bench_devices_test: {what}")


with tempfile.TemporaryDirectory() as folder:
    folder = Path(folder)
    figures, page, graph = folder / "a.json", folder / "a.html", folder / "g.jaxpr"
    graph.write_text(GRAPH)
    status, out, err = run("--device", "cpu,gpu,gpu_sim", "--seconds", "0.001", "--largest", "20000", "--json", figures,
                           "--html", page, "triad", "small_kernels", graph)
    check(status == 0, f"ends with {status}: {err}")
    check("gpu:0 is not available" in out, f"says nothing of the GPU that is not there: {out}")
    check("gpu_sim is ahead of cpu" in out, f"names no crossover: {out}")
    document = json.loads(figures.read_text())
    check([d["name"] for d in document["devices"]] == ["cpu", "gpu_sim"], "measured other devices")
    check(all(d["bandwidth"] > 0 and d["flops"] > 0 for d in document["devices"]), "no limits of the devices")
    check(len(document["skipped"]) == 1 and document["skipped"][0].startswith("gpu:"), "does not list what it left out")
    cases = {c["name"]: c for c in document["cases"]}
    check(set(cases) == {"triad", "small_kernels", str(graph)}, f"measured {set(cases)}")
    triad = cases["triad"]["rows"]
    check([r["elements"] for r in triad] == [1024, 8192], f"sizes {[r['elements'] for r in triad]}")
    for r in triad:
        check(r["bytes"] == 12 * r["elements"], "bytes of a triad")
        check(r["devices"]["cpu"]["seconds"] > 0, "no time of the CPU")
        check(r["devices"]["gpu_sim"]["upload_seconds"] > 0, "no time of a transfer")
        check("upload_seconds" not in r["devices"]["cpu"], "the CPU moves nothing")
    check(len(cases["triad"]["crossovers"]) == 1 and cases["triad"]["crossovers"][0]["of"] == "gpu_sim", "crossovers")
    html = page.read_text()
    charts = re.findall(r"<svg.*?</svg>", html, re.S)
    check(len(charts) == 4, f"{len(charts)} charts")
    for chart in charts:
        xml.dom.minidom.parseString(chart)
    check("http" not in html, "the page fetches something")

    status, out, err = run("--device", "cpu", "triad", "--elements", "1024", graph, "--seconds", "0.001", "--json", figures,
                           "--html", page)
    check(status == 0 and len(json.loads(figures.read_text())["cases"]) == 2, f"cases behind options: {status}, {err}")
    status, out, err = run("--device", "gpu")
    check(status != 0 and "none of the devices is available" in err, f"without a device: {status}, {err}")
    status, out, err = run("--device", "cpu,tpu")
    check(status != 0 and "tpu" in err, f"an unknown device: {status}, {err}")
    status, out, err = run("--device", "cpu", "no_such_case")
    check(status != 0 and "no_such_case" in err, f"an unknown case: {status}, {err}")
    status, out, err = run("--device", "cpu", "--list")
    check(status == 0 and "softmax" in out.split(), f"lists {out}")
