#!/usr/bin/env python3
"""`calque bench --against`: what fell of the ratios to rivals and limits since an earlier run, on two files of figures and on
figures of devices; the exit status; files without figures. The command is the first argument."""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

CLI = sys.argv[1]
DATA = Path(__file__).parent / "data"
EARLIER, LATER = DATA / "bench_earlier.json", DATA / "bench_later.json"


def run(*arguments):
    done = subprocess.run([CLI, "bench", *map(str, arguments)], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def check(condition, what):
    if not condition:
        sys.exit(f"bench_against_test: {what}")


def fallen(out):
    """The rows of the table behind the line that names the earlier run."""
    rows = [line for line in out[out.index("\nagainst "):].splitlines() if line.startswith("| ")]
    return rows[1:]


def device_document(seconds, of_limit, rivals):
    more = {"compile_seconds": 1.0, "call_seconds": 1e-3, "upload_seconds": 1e-3, "download_seconds": 1e-3, "flops": 1e6}
    row = {"elements": 1024, "bytes": 12288.0, "flops": 2048.0, "rivals": rivals,
           "devices": {"cpu": more | {"seconds": 1e-3, "of_limit": 0.5},
                       "gpu:0": more | {"seconds": seconds, "of_limit": of_limit}}}
    return {"date": "2026-01-01", "versions": {}, "skipped": [],
            "devices": [{"name": d, "bandwidth": 1e9, "flops": 1e9} for d in ["cpu", "gpu:0"]],
            "cases": [{"name": "triad", "what": "", "rows": [row], "crossovers": []},
                      {"name": "broken", "what": "", "rows": [], "crossovers": [], "error": "no memory"}]}


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        page = folder / "page.html"
        report = ["--html", page]

        # Times doubled on a slower machine are no loss (sum); a rival that one run lacks (numpy, eigen) and a limit with
        # another formula (heat) count for nothing.
        rc, out, err = run("--from", LATER, *report, "--against", EARLIER)
        check(rc == 1, f"what fell does not set the exit status: {rc}, {err}")
        check(fallen(out) == [
            "| logsumexp | 16384x1024 | speed against c++ vectors | 1.00 | 0.55 | -45 % |",
            "| logsumexp | 16384x1024 | of the limit 4n/B | 0.40 | 0.22 | -45 % |",
            "| triad | 10^6 | speed against c++ | 1.00 | 0.86 | -14 % |",
        ], f"the table of what fell is\n{out}")
        check("3 of 6 ratios fell by more than 10 %; new rows: 1; rows that only the earlier run has: 1" in out,
              f"the counts are\n{out}")

        rc, out, err = run("--from", LATER, *report, "--against", EARLIER, "--against-tolerance", "20")
        check(rc == 1 and len(fallen(out)) == 2, f"a fall by 14 % within 20 %:\n{out}")
        rc, out, err = run("--from", LATER, *report, "--against", EARLIER, "--against-tolerance", "50")
        check(rc == 0 and fallen(out) == [] and "0 of 6 ratios fell by more than 50 %" in out, f"within 50 %: {rc}\n{out}")
        rc, out, err = run("--from", EARLIER, *report, "--against", EARLIER, "--against-tolerance", "0")
        check(rc == 0 and fallen(out) == [], f"a run against itself: {rc}\n{out}")
        rc, out, err = run("--from", EARLIER, *report, "--against", LATER)
        check(rc == 1 and fallen(out) == ["| triad fast | 10^6 | speed against c++ | 2.25 | 2.00 | -11 % |"],
              f"the other way round: {rc}\n{out}")

        # Another machine is said; the fastest rival may be another one.
        documents = [json.loads(f.read_text()) for f in (EARLIER, LATER)]
        for document, fastest in zip(documents, ["a", "b"]):
            document["results"] = [{"task": "x", "size": "1", "variant": v, "median_seconds": 1.0 if v == fastest else 2.0}
                                   for v in ["a", "b"]]
            document["results"].append({"task": "x", "size": "1", "variant": "calque",
                                        "median_seconds": 1.0 if fastest == "a" else 4.0})
        documents[0]["machine"] = "another one"
        files = [folder / "a.json", folder / "b.json"]
        for file, document in zip(files, documents):
            file.write_text(json.dumps(document))
        rc, out, err = run("--from", files[1], *report, "--against", files[0])
        check(rc == 1 and fallen(out) == ["| x | 1 | speed against b (earlier a) | 1.00 | 0.25 | -75 % |"], out)
        check("measured on another machine: another one" in out, out)

        # Measured now: what fell is reported after the figures are written.
        program = folder / "bench_sum"
        program.write_text('#!/bin/sh\nfor a in "$@"; do case $a in --json=*) cp "%s" "${a#--json=}";; esac; done\n' % LATER)
        program.chmod(0o755)
        figures = folder / "figures.json"
        rc, out, err = run("--programs", folder, "--json", figures, *report, "--against", EARLIER)
        check(rc == 1 and len(fallen(out)) == 3 and figures.exists(), f"with measuring: {rc}, {err}\n{out}")

        # Of devices.
        files[0].write_text(json.dumps(device_document(1e-4, 0.9, {"PyTorch": 1e-4, "JAX": 2e-4})))
        files[1].write_text(json.dumps(device_document(2e-4, 0.45, {"PyTorch": 1.5e-4})))
        rc, out, err = run("--device", "cpu,gpu", "--from", files[0], "--json", folder / "c.json", *report, "--against",
                           files[0])
        check(rc == 1 and fallen(out) == [], f"a case that failed sets the status alone: {rc}, {err}\n{out}")
        rc, out, err = run("--device", "cpu,gpu", "--from", files[1], "--json", folder / "c.json", *report, "--against",
                           files[0])
        check(fallen(out) == ["| triad gpu:0 | 1024 | speed against PyTorch | 1.00 | 0.75 | -25 % |",
                              "| triad gpu:0 | 1024 | of the limit | 0.90 | 0.45 | -50 % |"], f"devices:\n{out}{err}")

        # Files that cannot be compared are errors, before anything is measured.
        for text, words in [("{}", "neither"), ("[", "no JSON"), ('{"results": [{"task": "a"}]}', "size"),
                            ('{"results": [{"task": "a", "size": "1", "variant": "calque", "median_seconds": 0}]}',
                             "not a positive number")]:
            files[0].write_text(text)
            rc, out, err = run("--programs", folder, "--json", folder / "never.json", *report, "--against", files[0])
            check(rc == 2 and words in err and str(files[0]) in err, f"{text}: {rc}, {err}")
            check(not (folder / "never.json").exists(), "measured before the earlier figures were read")
        files[0].write_text('{"results": []}')
        rc, out, err = run("--from", LATER, *report, "--against", files[0])
        check(rc == 2 and "shares no ratio" in err, f"nothing to compare: {rc}, {err}")
        rc, out, err = run("--from", LATER, *report, "--against-tolerance", "5")
        check(rc >= 100 and "--against" in err, f"a tolerance of nothing: {rc}, {err}")
        for tolerance in ["-1", "nan", "100", "x"]:
            rc, out, err = run("--from", LATER, *report, "--against", EARLIER, "--against-tolerance", tolerance)
            check(rc != 0 and "--against-tolerance" in err, f"a tolerance of {tolerance}: {rc}, {err}")
    print("bench_against_test: passed")


if __name__ == "__main__":
    main()
