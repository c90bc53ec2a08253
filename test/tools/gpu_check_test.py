#!/usr/bin/env python3
"""tools/gpu_check on bundles of programs that stand in for ours: what it says and writes with a GPU, without one, and
when tests fail or take the program with them. `calque bench --merge` puts rivals beside our figures. The command is the
first argument."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CLI = sys.argv[1]
SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "gpu_check"
CALQUE = r"""#!/bin/sh
case $1 in
info) echo 'devices cpu'; echo '  %s' ;;
conformance) printf '%%s\n' 'failed "sin"/1: a\b'; echo '3 passed, %d failed, 2 unsupported'; exit %d ;;
bench)
  for a in "$@"; do
    [ "$last" = --json ] && echo '{"cases": []}' >"$a"
    last=$a
  done ;;
esac
"""
REPORT = {"tests": 5, "failures": 1, "testsuites": [
    {"tests": 5, "failures": 1, "testsuite": [{"name": "a", "result": "COMPLETED"},
                                              {"name": "b", "result": "SKIPPED"}]}]}
SUITE = """#!/bin/sh
for a in "$@"; do case $a in --gtest_output=json:*) %s ;; esac; done
exit %d
"""


def check(condition, what):
    if not condition:
        sys.exit(f"gpu_check_test: {what}")


def program(path, text):
    path.write_text(text)
    path.chmod(0o755)


def bundle(folder, gpu, failures, suite, status):
    (folder / "bin").mkdir(parents=True)
    (folder / "cases").mkdir()
    (folder / "cases" / "elementwise.jsonl").touch()
    (folder / "commit").write_text("abc\n")
    program(folder / "bin" / "calque", CALQUE % (gpu, failures, failures))
    (folder / "report.json").write_text(json.dumps(REPORT, indent=1))
    program(folder / "bin" / "test_hardware", SUITE % (suite, status))
    # Python is not found here, and so no rivals either.
    program(folder / "gpu_rivals.py", "")
    return folder


def run(folder, *arguments):
    shutil.copy(SCRIPT, folder)  # beside bench/results it would write there
    done = subprocess.run([folder / "gpu_check", "run", *map(str, arguments)], cwd=folder, text=True,
                          capture_output=True, env={**os.environ, "GPU_CHECK_PYTHON": "none"})
    return done.returncode, done.stdout, done.stderr


def with_gpu(folder):
    copy = f'cp {folder}/bundle/report.json "${{a#--gtest_output=json:}}"'
    bundle(folder / "bundle", "gpu:0: NVIDIA H200, sm_90a", 1, copy, 1)
    status, out, err = run(folder, "bundle", "out.json")
    check(status == 1 and "FAILED: tests conformance" in err, f"failures are no success: {status} {out} {err}")
    written = json.loads((folder / "out.json").read_text())
    check(written["card"] == "NVIDIA H200, sm_90a" and written["commit"] == "abc", "the card and the commit")
    suite = written["suite"]
    check((suite["passed"], suite["failed"], suite["skipped"]) == (3, 1, 1) and suite["report"] == REPORT, "the suite")
    cases = written["conformance"]
    check((cases["passed"], cases["failed"], cases["unsupported"]) == (3, 1, 2), "conformance")
    check(cases["failures"] == ['failed "sin"/1: a\\b'], f"quoted failures: {cases['failures']}")
    check(all(written[part] == {"cases": []} for part in ("large", "products", "small", "medium", "sweep")), "figures")


def that_crashes(folder):
    bundle(folder / "bundle", "gpu:0: NVIDIA H200, sm_90a", 0, "echo 'bad \"access\"'; kill -SEGV $$", 0)
    subprocess.run(["tar", "-czf", "b.tar.gz", "--transform=s/^bundle/calque-gpu-check/", "bundle"],
                   cwd=folder, check=True)
    status, out, err = run(folder, "b.tar.gz")
    check(status == 1 and "FAILED: tests\n" in err, f"a crash is no success: {status} {out} {err}")
    found = list(folder.glob("*-nvidia-h200.json"))
    check(len(found) == 1, "the file is named after the card")
    suite = json.loads(found[0].read_text())["suite"]
    check(suite["crashed"] and 'bad "access"' in suite["last"], f"the crash is told: {suite}")


def without_gpu(folder):
    bundle(folder / "bundle", "no GPU: no driver", 0, "", 0)
    status, out, err = run(folder, "bundle", "out.json")
    check(status == 0 and "No GPU can be used here" in out, f"no GPU is no failure: {status} {out} {err}")
    check(not (folder / "out.json").exists(), "nothing is written without a GPU")
    program(folder / "bundle" / "bin" / "test_hardware", "#!/bin/sh\nexit 127\n")
    status, out, err = run(folder, "bundle")
    check(status == 1 and "test_hardware ended with status 127" in err, "a program that does not start is a failure")


def words():
    done = subprocess.run([SCRIPT, "--help"], capture_output=True, text=True)
    check(done.returncode == 0 and "gpu_check bundle" in done.stdout and "gpu_check run" in done.stdout, "--help")
    for wrong in ([], ["nonsense"], ["run", "a", "b", "c"]):
        done = subprocess.run([SCRIPT, *wrong], capture_output=True, text=True)
        check(done.returncode == 2 and "usage" in done.stderr, f"usage after {wrong}")
    done = subprocess.run([SCRIPT, "run", "/nonexistent"], capture_output=True, text=True)
    check(done.returncode == 1 and "no bundle in /nonexistent" in done.stderr, "a bundle that is not there")


def rivals(folder):
    figures = {"versions": {"Rival": "1"}, "skipped": ["Other: not here"], "results": [
        {"case": "triad", "elements": 1024, "variant": variant, "seconds": seconds}
        for variant, seconds in (("slow", 2.0), ("fast", 1.0))]}
    figures["results"].append({"case": "triad", "elements": 7, "variant": "fast", "seconds": 1.0})
    (folder / "rivals.json").write_text(json.dumps(figures))
    done = subprocess.run(
        [CLI, "bench", "--device", "gpu_sim", "--elements", "1024", "--seconds", "0.001", "--merge", "rivals.json",
         "--json", "out.json", "--html", "out.html", "triad", "matmul_tf32"], cwd=folder, text=True, capture_output=True)
    check(done.returncode == 0, done.stderr)
    written = json.loads((folder / "out.json").read_text())
    triad, product = (case["rows"] for case in written["cases"])
    check([row["elements"] for row in triad] == [1024], "the sizes that were asked for")
    ours = triad[0]["devices"]["gpu_sim"]
    check(triad[0]["rivals"] == {"slow": 2.0, "fast": 1.0}, "figures side by side")
    check(triad[0]["best_rival"] == "fast" and abs(triad[0]["of_best_rival"] * ours["seconds"] - 1) < 1e-9, "the best")
    check("of_limit" not in product[0]["devices"]["gpu_sim"] and "rivals" not in product[0], "products of matrix units")
    check(written["versions"]["Rival"] == "1" and "Other: not here" in written["skipped"], "what was compared with")


words()
for test in (with_gpu, that_crashes, without_gpu, rivals):
    with tempfile.TemporaryDirectory() as scratch:
        test(Path(scratch))
