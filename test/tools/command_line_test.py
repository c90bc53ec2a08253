#!/usr/bin/env python3
"""What the tool tells its user: the introduction, --help with examples that work, pages, completion, progress."""
import os
import platform
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path

CLI = str(Path(sys.argv[1]).resolve())
ROOT = Path(__file__).resolve().parents[2]
CONFORMANCE = ROOT / "test" / "conformance"
failures = []


def check(holds, text):
    if not holds:
        failures.append(text)


def run(*arguments, folder=None, shell=None):
    command = ["bash", "-c", shell] if shell else [CLI, *arguments]
    environment = dict(os.environ, PATH=f"{Path(CLI).parent}{os.pathsep}{os.environ['PATH']}")
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    check(done.returncode == 0, f"{shell or arguments}: ends with {done.returncode}: {done.stderr}")
    return done.stdout


def commands_of(text):
    """The commands in indented lines: behind two spaces begins what they do."""
    return [re.split(r"  +", line.strip())[0] for line in text.split("\n")
            if re.match(r"  (\w+=\S+ )?(calque |source )", line)]


def first_file(folder, prefix):
    return sorted(folder.glob(prefix + "*.jsonl"))[0]


def check_introduction(folder):
    text = run()
    graph = re.search(r"\n\n((?:  .*\n)+?)\nand then\n", text)
    check(graph is not None, f"the introduction shows no graph: {text}")
    (folder / "f.jaxpr").write_text(re.sub(r"^  ", "", graph.group(1), flags=re.M))
    commands = commands_of(text.partition("and then")[2])
    check(len(commands) >= 5, f"the introduction names few commands: {commands}")
    for command in commands:
        run(folder=folder, shell=command)


def check_version():
    version = re.search(r'CALQUE_VERSION "(.+)"', (ROOT / "include/calque/version.h").read_text()).group(1)
    check(run("--version") == f"calque {version}\n", f"--version: {run('--version')}")
    numbers = re.findall(r"CALQUE_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", (ROOT / "include/calque/version.h").read_text())
    check(".".join(numbers) == version, f"version.h: {version} is not {numbers}")
    check(f"## {version}" in (ROOT / "docs/changelog.md").read_text(), f"docs/changelog.md does not tell of {version}")


def subcommands(*command):
    section = re.search(r"Subcommands:\n((?:  .*\n)+)", run(*command, "--help"))
    return re.findall(r"^  (\w+)", section.group(1), flags=re.M) if section else []


def check_help(folder):
    """Every command shows an example, and those that do not measure run."""
    (folder / "cases.jsonl").write_text("".join(
        line + "\n" for line in first_file(CONFORMANCE, "").read_text().split("\n")[:20] if line))
    names = subcommands()
    check({"opt", "run", "lower", "bench", "docs"} <= set(names), f"--help lists {names}")
    for command in [(), *((name,) for name in names), *(("cache", name) for name in subcommands("cache"))]:
        text = run(*command, "--help")
        examples = commands_of(text.partition("Example:")[2])
        check(examples, f"{' '.join(command)} --help has no example")
        for example in examples:
            if "znver4" in example and platform.machine() not in ("x86_64", "AMD64"):
                continue
            if command != ("bench",):
                run(folder=folder, shell=f"export CALQUE_CACHE_DIR=$PWD/entries; {re.sub('--only=.*', '', example)}")


def check_docs():
    listed = run("docs")
    pages = re.findall(r"^(\w+)  ", listed, flags=re.M)
    check(pages == sorted(page.stem for page in (ROOT / "docs").glob("*.md")), f"docs lists {pages}")
    check("Getting started" in listed, f"docs: no titles: {listed}")
    for name in ["getting_started", "semantics.md"]:
        check(run("docs", name) == (ROOT / "docs" / (name.removesuffix(".md") + ".md")).read_text(), f"docs {name}")
    done = subprocess.run([CLI, "docs", "getting_startd"], capture_output=True, text=True)
    check(done.returncode == 2 and "the nearest is getting_started" in done.stderr, f"docs: {done.stderr}")


def completed(*words):
    """What bash offers for the last word."""
    line = " ".join(f"'{word}'" for word in ["calque", *words])
    return run(shell=f"source <(calque completion); COMP_WORDS=({line}); COMP_CWORD={len(words)}; _calque; "
                     'echo "${COMPREPLY[*]}"').split()


def check_completion():
    everything = completed("")
    check(set(subcommands()) <= set(everything) and "--version" in everything, f"completion offers {everything}")
    for words, expected in [(["lo"], ["lower"]), (["cache", "v"], ["verify"]), (["cache", "--h"], ["--help"]),
                            (["run", "--che"], ["--check"]), (["run", "f.jaxpr", "--see"], ["--seed"]),
                            (["run", "--device", "r"], ["reference"]), (["run", "--device", "=", "gpu_"], ["gpu_sim"]),
                            (["lower", "--device", "="], ["cpu", "gpu_sim", "gpu"]), (["lower", "--device", "r"], []),
                            (["lower", "--emit", "=", "a"], ["asm"]), (["docs", "getting"], ["getting_started"]),
                            (["run", "f"], [])]:
        check(completed(*words) == expected, f"completion of {words}: {completed(*words)}, expected {expected}")


def on_terminal(*arguments):
    """Standard output, and what a terminal gets of standard error."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([CLI, *map(str, arguments)], stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    text = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        text += part
    os.close(ours)
    out = process.stdout.read().decode()
    check(process.wait() == 0, f"{arguments}: ends with {process.returncode}: {text}")
    return out, text.decode()


def check_progress(folder):
    # One thread, so that it takes longer than the time after which a line is written.
    line = first_file(CONFORMANCE, "").read_text().split("\n")[0] + "\n"
    cases = folder / "many.jsonl"
    cases.write_text(line * 20000)
    arguments = ["conformance", "--device=cpu", "--jobs=1", cases]
    out, terminal = on_terminal(*arguments)
    check(re.search(r"\r\d+ of 20000 cases", terminal), f"no progress on a terminal: {terminal[:300]!r}")
    check(terminal.endswith("\r\x1b[K"), f"the progress stays on the terminal: {terminal[-100:]!r}")
    quiet = subprocess.run([CLI, *map(str, arguments)], capture_output=True, text=True)
    check(quiet.stderr == "" and quiet.stdout == out, f"progress without a terminal: {quiet.stderr}")

    # Programs in place of benchmarks, which write no figures.
    programs = folder / "programs"
    programs.mkdir()
    for name in ["one", "two"]:
        program = programs / f"bench_{name}"
        program.write_text('#!/bin/sh\nsleep 0.6\nfor a; do case $a in --json=*) echo "{}" >"${a#--json=}";; esac; done\n')
        program.chmod(0o755)
    _, terminal = on_terminal("bench", "--programs", programs, "--json", folder / "b.json", "--html", folder / "b.html")
    check(re.search(r"0 of 2 cases.*\n.*1 of 2 cases, about \d+ s left", terminal), f"bench: {terminal!r}")


with tempfile.TemporaryDirectory() as name:
    for part in [check_introduction, check_help, check_progress]:
        part(Path(name))
for part in [check_version, check_docs, check_completion]:
    part()
print("\n".join(failures) if failures else "command_line_test: passed")
sys.exit(1 if failures else 0)
