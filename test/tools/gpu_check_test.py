#!/usr/bin/env python3
"""tools/gpu_check on bundles of stub programs: its output and results with a GPU, without one, when tests fail or crash, and
when it is stopped or times out. Also tests that `calque bench --merge` adds rivals to our figures. The command is the first
argument."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

CLI = sys.argv[1]
SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "gpu_check"
CALQUE = r"""#!/bin/sh
echo "calque $*" >>%(folder)s/asked
case $1 in
info) echo 'devices cpu'; echo '  %(gpu)s'; echo '  cuBLASLt: 12.4.5, /x' ;;
conformance) %(conformance)s ;;
bench)
  for a in "$@"; do
    [ "$last" = --json ] && echo '{"cases": []}' >"$a"
    last=$a
  done
  %(bench)s ;;
esac
"""
SUITE = """#!/bin/sh
echo "suite $*" >>%(folder)s/asked
case $1 in
--gtest_list_tests) echo 'Running main() from somewhere.cpp'; echo Hardware.; %(list)s ;;
--gtest_filter=*) case ${1#--gtest_filter=Hardware.} in %(tests)s esac ;;
*) exit %(status)d ;;
esac
"""
TESTS = {"Adds": "exit 0", "Skips": "echo '[  SKIPPED ] Hardware.Skips'", "Fails": "echo 'bad \"value\"'; exit 1",
         "Crashes": "echo 'bad \"access\"'; kill -SEGV $$", "Multiplies": "exit 0"}
CARD = "gpu:0: NVIDIA H200, sm_90a"
STEPS = ["tests", "small", "large", "products", "conformance", "rivals-large", "rivals-products", "rivals-small",
         "medium", "rivals-medium", "sweep"]


def check(condition, what):
    if not condition:
        sys.exit(f"gpu_check_test: {what}")


def program(path, text):
    path.write_text(text)
    path.chmod(0o755)


def bundle(folder, gpu=CARD, tests=None, conformance="echo '3 passed, 0 failed, 2 unsupported'", bench="", status=0):
    tests = {"Adds": "exit 0"} if tests is None else tests
    root = folder / "bundle"
    (root / "bin").mkdir(parents=True)
    (root / "cases").mkdir()
    (root / "cases" / "elementwise.jsonl").touch()
    (root / "commit").write_text("abc\n")
    program(root / "bin" / "calque",
            CALQUE % {"gpu": gpu, "conformance": conformance, "bench": bench, "folder": folder})
    program(root / "bin" / "test_hardware", SUITE % {
        "list": "; ".join(f"echo '  {name}'" for name in tests), "folder": folder, "status": status,
        "tests": " ".join(f"{name}) {text} ;;" for name, text in tests.items())})
    # Python is not found here, so there are no rivals.
    program(root / "gpu_rivals.py", "")
    return root


def start(folder, *arguments, before=()):
    shutil.copy(SCRIPT, folder)  # next to bench/results it would write there
    return subprocess.Popen([*before, folder / "gpu_check", "run", *map(str, arguments)], cwd=folder, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env={**os.environ, "GPU_CHECK_PYTHON": "none"})


def run(folder, *arguments, before=()):
    process = start(folder, *arguments, before=before)
    out, err = process.communicate()
    return process.returncode, out, err


def read(path):
    return json.loads(path.read_text())


def results(suite):
    return {test["name"].removeprefix("Hardware."): test["result"] for test in suite["tests"]}


def with_gpu(folder):
    bundle(folder, tests=TESTS,
           conformance="printf '%s\\n' 'failed \"sin\"/1: a\\b'; echo '3 passed, 1 failed, 2 unsupported'; exit 1")
    status, out, err = run(folder, "bundle", "out.json")
    check(status == 1 and "FAILED: tests conformance" in err, f"failures are no success: {status} {out} {err}")
    written = read(folder / "out.json")
    check(written["card"] == "NVIDIA H200, sm_90a" and written["commit"] == "abc", "the card and the commit")
    check("  cuBLASLt: 12.4.5, /x" in written["info"], f"the library's version: {written['info']}")
    suite = written["suite"]
    check([suite[k] for k in ("passed", "failed", "skipped", "crashed")] == [2, 1, 1, 1], f"the suite: {suite}")
    check(results(suite) == {"Adds": "passed", "Skips": "skipped", "Fails": "failed", "Crashes": "crashed",
                             "Multiplies": "passed"}, f"a test a process: {suite}")
    last = {test["name"]: test.get("last") for test in suite["tests"]}
    check(last["Hardware.Fails"] == ['bad "value"'] and 'bad "access"' in last["Hardware.Crashes"], f"{last}")
    cases = written["conformance"]
    check((cases["passed"], cases["failed"], cases["unsupported"]) == (3, 1, 2), "conformance")
    check(cases["failures"] == ['failed "sin"/1: a\\b'], f"quoted failures: {cases['failures']}")
    check(all(written[part] == {"cases": []} for part in ("large", "products", "small", "medium", "sweep")), "figures")
    check(list(written["steps"]) == ["info", *STEPS], f"the order of steps: {list(written['steps'])}")
    check((folder / "out.d" / "large.log").exists() and (folder / "out.d" / "test-4.log").exists(), "logs are kept")


def is_named_after_the_card(folder):
    bundle(folder)
    subprocess.run(["tar", "-czf", "b.tar.gz", "--transform=s/^bundle/calque-gpu-check/", "bundle"],
                   cwd=folder, check=True)
    status, out, err = run(folder, "b.tar.gz")
    check(status == 0, f"success: {status} {out} {err}")
    check(len(list(folder.glob("*-nvidia-h200.json"))) == 1, "the file is named after the card")


def without_gpu(folder):
    root = bundle(folder, gpu="no GPU: no driver")
    status, out, err = run(folder, "bundle", "out.json")
    check(status == 0 and "No GPU can be used here" in out, f"no GPU is no failure: {status} {out} {err}")
    check(not (folder / "out.json").exists(), "nothing is written without a GPU")
    program(root / "bin" / "test_hardware", "#!/bin/sh\nexit 127\n")
    status, out, err = run(folder, "bundle")
    check(status == 1 and "test_hardware ended with status 127" in err, "a program that does not start is a failure")


def steps_of_choice(folder):
    root = bundle(folder)
    status, out, err = run(folder, "--only", "large,tests", "bundle", "out.json")
    check(status == 0, f"{status} {out} {err}")
    written = read(folder / "out.json")
    check(list(written["steps"]) == ["info", "tests", "large"] and written["products"] is None, "two steps")
    check("conformance" not in (folder / "asked").read_text(), "nothing else runs")
    # A later run adds to it, unless it is of another commit.
    check(run(folder, "--only", "products", "bundle", "out.json")[0] == 0, "a second run")
    written = read(folder / "out.json")
    check(set(written["steps"]) == {"info", "tests", "large", "products"} and written["large"] == {"cases": []}, "adds")
    (root / "commit").write_text("def\n")
    check(run(folder, "--only", "small", "bundle", "out.json")[0] == 0, "a third run")
    check(set(read(folder / "out.json")["steps"]) == {"info", "small"}, "another commit")
    check(len(list(folder.glob("out.d.before-*"))) == 1, "what another commit left is kept")
    check(run(folder, "--only", "nonsense", "bundle")[0] == 2, "a step that there is not")
    check(run(folder, "--budget", "soon", "bundle")[0] == 2, "a budget that is none")


def budget(folder):
    bundle(folder, tests={"Adds": "exit 0", "Hangs": "sleep 60", "Never": "exit 0"})
    begin = time.monotonic()
    status, out, err = run(folder, "--budget", 24, "bundle", "out.json")
    took = time.monotonic() - begin
    check(status == 0 and took < 50, f"ends in its time: {status}, {took} s, {err}")
    written = read(folder / "out.json")
    got = results(written["suite"])
    check(got["Adds"] == "passed" and got["Hangs"] == "cut-off" and "Never" not in got, f"{written['suite']}")
    check([written["steps"][step]["result"] for step in ("tests", "small")] == ["cut-off", "passed"],
          f"one that hangs leaves time to others: {written['steps']}")
    check("not done within the budget: tests" in out, out)


def no_time_at_all(folder):
    bundle(folder, bench="sleep 60")
    status, out, err = run(folder, "--budget", 4, "--only", "large,medium,sweep", "bundle", "out.json")
    check(status == 0, f"{status}, {err}")
    steps = read(folder / "out.json")["steps"]
    check(all(steps[step]["result"] in ("cut-off", "not-run") for step in ("large", "medium", "sweep")), f"{steps}")


def stopped(folder, how, seconds=15):
    hangs = f"echo $$ >{folder}/new; mv {folder}/new {folder}/hangs; sleep 60"  # the file is there with its contents
    bundle(folder, tests={"Adds": "exit 0", "Fails": "exit 1", "Hangs": hangs})
    if how == "timeout":
        status, out, err = run(folder, "bundle", "out.json", before=["timeout", str(seconds)])
        check(status == 124, f"timeout: {status} {out} {err}")
    else:
        process = start(folder, "bundle", "out.json")
        while not (folder / "hangs").exists():
            time.sleep(0.05)
        process.send_signal(how)
        if how == signal.SIGKILL:
            process.wait()
            os.kill(int((folder / "hangs").read_text()), signal.SIGKILL)  # the killed script cannot stop it
        out, err = process.communicate()
    written = read(folder / "out.json")
    got = results(written["suite"])
    check(got["Adds"] == "passed" and got["Fails"] == "failed", f"{how}: what was done is there: {got}")
    if how != signal.SIGKILL:
        check(written["steps"]["tests"]["result"] == "cut-off" and "stopped" in out, f"{how}: {written['steps']} {out}")
        hanging = int((folder / "hangs").read_text())
        check(not Path(f"/proc/{hanging}").exists() or "Z" in Path(f"/proc/{hanging}/stat").read_text().split()[2],
              f"{how}: the test was stopped too")


def lost_device(folder):
    lost = "failed %s: DeviceError: gpu:0: the device was lost earlier"
    both = "; ".join(f"echo '{lost % name}'" for name in ("sin/1", "cos/2"))
    alone = "case $* in *'--id sin/1'*) echo '1 passed, 0 failed, 0 unsupported'; exit 0 ;; " \
            f"*--id*) echo '{lost % 'cos/2'}'; echo '0 passed, 1 failed, 0 unsupported'; exit 1 ;; esac; "
    bundle(folder, conformance=f"{alone}{both}; echo '3 passed, 2 failed, 0 unsupported'; exit 1")
    status, out, err = run(folder, "--only", "conformance", "bundle", "out.json")
    check(status == 1, f"{status} {out} {err}")
    found = read(folder / "out.json")["conformance"]
    check(found["failed"] == 2 and len(found["alone"]) == 2, f"{found}")
    check(found["alone"][0].startswith("sin/1: passed") and found["alone"][1].startswith("cos/2: failed"), f"{found}")


def words():
    done = subprocess.run([SCRIPT, "--help"], capture_output=True, text=True)
    check(done.returncode == 0 and "gpu_check bundle" in done.stdout and "gpu_check run" in done.stdout, "--help")
    for wrong in ([], ["nonsense"], ["run", "a", "b", "c"], ["run", "--only"], ["run", "--unknown"]):
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
    done = subprocess.run([CLI, "bench", "--device", "gpu_sim", "--from", "out.json", "--merge", "rivals.json", "--json",
                           "later.json", "--html", "out.html"], cwd=folder, text=True, capture_output=True)
    check(done.returncode == 0, done.stderr)
    check(read(folder / "later.json")["cases"] == written["cases"] and written["complete"], "merged without measuring")
    check(written["versions"]["Rival"] == "1" and "Other: not here" in written["skipped"], "what was compared with")


def figures_survive(folder):
    """`calque bench --device` writes after each row."""
    process = subprocess.Popen([CLI, "bench", "--device", "cpu", "--elements", "1024,4096,8192,16384,65536,131072",
                                "--seconds", "0.2", "--json", "out.json", "--html", "out.html", "triad", "softmax"],
                               cwd=folder, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if (folder / "out.json").exists() and read(folder / "out.json")["cases"]:
            break
        time.sleep(0.02)
    process.kill()
    process.wait()
    written = read(folder / "out.json")
    check(not written["complete"] and written["cases"][0]["rows"], f"rows of a killed process: {written}")


def in_scratch(test, *arguments):
    with tempfile.TemporaryDirectory() as scratch:
        test(Path(scratch), *arguments)


words()
# Two of them wait for time limits, while the others run one after the other.
with ThreadPoolExecutor(2) as pool:
    waiting = [pool.submit(in_scratch, budget), pool.submit(in_scratch, stopped, "timeout")]
    for test in (with_gpu, is_named_after_the_card, without_gpu, steps_of_choice, no_time_at_all, lost_device, rivals,
                 figures_survive):
        in_scratch(test)
    for how in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
        in_scratch(stopped, how)
    for case in waiting:
        case.result()
