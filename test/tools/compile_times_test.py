#!/usr/bin/env python3
"""Which paths tools/compile_times takes for headers of LLVM."""
import importlib.machinery
import importlib.util
import sys
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "compile_times"
sys.dont_write_bytecode = True
OF_LLVM = ["/usr/lib/llvm-22/include/llvm/IR/Value.h", "/usr/include/llvm-22/llvm/IR/Value.h",
           "/usr/include/llvm-c-22/llvm-c/Core.h", "/opt/llvm/include/llvm/ADT/StringRef.h"]
OTHERS = ["../../lib/codegen/llvm/target.h", "/home/user/include/calque/lib/codegen/llvm/target.h",
          "/usr/lib/llvm-22/lib/clang/22/include/immintrin.h", "/usr/include/eigen3/Eigen/Core"]


def main():
    loader = importlib.machinery.SourceFileLoader("compile_times", str(TOOL))
    tool = importlib.util.module_from_spec(importlib.util.spec_from_loader("compile_times", loader))
    loader.exec_module(tool)
    failures = [path for path in OF_LLVM if not tool.LLVM_HEADER.search(path)]
    failures += [path for path in OTHERS if tool.LLVM_HEADER.search(path)]
    print("\n".join("wrong about " + path for path in failures) or "compile_times_test: passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
