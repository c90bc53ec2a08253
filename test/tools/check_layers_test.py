#!/usr/bin/env python3
"""Plants one violation at a time in an otherwise clean tree and checks that tools/check_layers reports it."""
import subprocess
import sys
import tempfile
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "check_layers"
CLEAN = {
    "include/calque/ir/graph.h": '#include <vector>\n// not llvm::Module\n',
    "include/calque/calque.h": '#include "calque/ir/graph.h"\n',
    "lib/ir/graph/graph.cpp": '#include "calque/ir/graph.h"\n#include "ir/graph/verify.h"\n',
    "lib/ir/graph/verify.h": "/* #include \"runtime/jit.h\" */\n",
    "lib/runtime/jit.cpp": '#include "ir/graph/verify.h"\n#include "calque/calque.h"\n#include <tbb/task_arena.h>\n',
    "lib/codegen/llvm/llvm.h": '#include "llvm/IR/Module.h"\n',
    "lib/compile/passes.cpp": '#include "runtime/device/device.h"\n',
    "lib/codegen/emit.cpp": '#include "codegen/llvm/llvm.h"\n',
}
VIOLATIONS = [
    ("lib/ir/graph/graph.cpp", '#include "runtime/jit.h"', "runtime stands above ir"),
    ("lib/ir/graph/graph.cpp", '#  include "primitives/all.h"', "primitives stands above ir"),
    ("lib/ir/graph/graph.cpp", '#include "calque/calque.h"', "below trace only calque/ir/"),
    ("lib/ir/graph/graph.cpp", '#include "../runtime/jit.h"', "climbs folders"),
    ("lib/ir/graph/graph.cpp", '#include "verify.h"', "is found only from here"),
    ("lib/runtime/jit.cpp", '#include <llvm/IR/Module.h>', "LLVM belongs to lib/codegen"),
    ("lib/kernel/schedule/split.cpp", '#include "kernel/lower/build.h"', "kernel/lower stands above kernel/schedule"),
    ("lib/runtime/memory/pool.cpp", '#include "compile/passes.h"', "compile stands above runtime/memory"),
    ("lib/compile/passes.cpp", '#include "runtime/call/call.h"', "runtime/call stands above compile"),
    ("lib/codegen/emit.cpp", '#include "llvm/IR/Module.h"', 'include "codegen/llvm/llvm.h"'),
    ("lib/other/x.cpp", "", "lib/other is no layer"),
    ("include/calque/calque.h", '#include <llvm/IR/Module.h>', "a public header includes"),
    ("include/calque/calque.h", '#include <tbb/task_arena.h>', "a public header includes"),
    ("include/calque/calque.h", '#include <cuda.h>', "a public header includes"),
    ("include/calque/calque.h", '#include "ir/graph/verify.h"', "includes the private"),
    ("include/calque/calque.h", "namespace llvm { class Module; } llvm::Module* module();", "names llvm::"),
    ("include/calque/ir/graph.h", '#include "calque/calque.h"', "stands above it"),
    ("lib/trace/trace.cpp", 'const char* level = std::getenv("LEVEL");', "reads the environment"),
    ("lib/compile/passes.cpp", "if (options.device != cpu()) return;", "compares with cpu()"),
    ("lib/runtime/call/run.cpp", "return device == cpu();", "compares with cpu()"),
    ("test/ir/graph_test.cpp", '#include "llvm/IR/Module.h"', "LLVM belongs to lib/codegen"),
]


def run(files):
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = Path(root) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        result = subprocess.run([sys.executable, str(TOOL), root], capture_output=True, text=True)
        return result.returncode, result.stdout


def main():
    failures = 0
    status, output = run(CLEAN)
    if status != 0:
        failures += 1
        print(f"a clean tree was refused:\n{output}")
    for name, line, expected in VIOLATIONS:
        status, output = run({**CLEAN, name: CLEAN.get(name, "") + line + "\n"})
        if status != 1 or expected not in output or not output.startswith(name) or "1 violations" not in output:
            failures += 1
            print(f"{name}: {line}\n  expected '{expected}', exit status {status}, got:\n{output}")
    print(f"check_layers: {len(VIOLATIONS) + 1 - failures} of {len(VIOLATIONS) + 1} cases passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
