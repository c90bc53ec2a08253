"""Every function of NumPy's vocabulary has an example in its docstring, and the tool that makes tests of them reads headers
as they are written."""
import contextlib
import importlib.machinery
import importlib.util
import io
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TOOL = ROOT / "tools" / "docstring_examples"

HEADER = """\
#define CALQUE_OF_ONE(f) \\
  template <ArrayLike X> \\
  X f(const X& x);
/// By a macro.
///     D x = {1, 2};
///     twice(x)  // [2. 4.]
///     twice(D{{1}, {2}})  // [[2.]
///                         //  [4.]]
CALQUE_OF_ONE(twice)
#undef CALQUE_OF_ONE

namespace detail {
template <class T>
T hidden(T x);
}  // namespace detail
/// Options.
struct Options {
  /// Not a function.
  int axis() const { return 0; }
};
/// A template.
///     first(D{1,
///             2})  // 1.0
///     first(D{3})
template <ArrayLike X, OperandLike Y = std::vector<std::vector<int>>>
  requires(ArrayLike<X> || ArrayLike<Y>)
[[nodiscard]] out_t<bool, X, Y> first(const X& x,
                                      const Y& y = {}) {
  return other(x);
}
template <ArrayLike X>
X first(const std::vector<X>& xs) {
  return xs[0];
}
/// Without an example.
inline int second(int n) { return n; }
int third(int n);
/// With an attribute.
///     fourth(2)  // 2
[[nodiscard("it returns a number: use it, as in fourth(x)")]]
auto fourth(int n);
"""


def tool():
    loader = importlib.machinery.SourceFileLoader("docstring_examples", str(TOOL))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("docstring_examples", loader))
    sys.dont_write_bytecode = True
    sys.modules[loader.name] = module  # where dataclasses look for it
    loader.exec_module(module)
    return module


class DocstringExamples(unittest.TestCase):
    def test_every_function_has_an_example(self):
        done = subprocess.run([sys.executable, str(TOOL)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_functions_are_found(self):
        functions = tool().functions_of("h", HEADER.split("\n"))
        self.assertEqual([(f.name, f.documented, len(f.examples)) for f in functions],
                         [("twice", True, 2), ("first", True, 2), ("first", False, 0), ("second", True, 0),
                          ("third", False, 0), ("fourth", True, 1)])
        first, second = functions[0].examples
        self.assertEqual([first.code, first.output, first.setup], ["twice(x)", ["[2. 4.]"], [(4, "D x = {1, 2};")]])
        self.assertEqual([second.code, second.output], ["twice(D{{1}, {2}})", ["[[2.]", " [4.]]"]])
        self.assertEqual(functions[1].examples[0].code, "first(D{1,\n        2})")
        self.assertEqual(functions[1].examples[0].output, ["1.0"])

    def test_what_lacks_is_named(self):
        module = tool()
        wrong = "\n".join(module.missing(module.functions_of("h", HEADER.split("\n"))))
        self.assertEqual(wrong.count("\n"), 2)
        for text in ("first's example has no output", "second has no example", "third has no docstring"):
            self.assertIn(text, wrong)

    def test_sources_name_lines_of_the_header(self):
        module = tool()
        examples = [e for f in module.functions_of("h", HEADER.split("\n")) for e in f.examples]
        source = module.source_of(examples)
        self.assertIn('#line 5 "h"\n  D x = {1, 2};\n#line 6 "h"\n  return twice(x);\n', source)
        self.assertIn('R"text([[2.]\n [4.]])text"', source)

    def test_output_is_written(self):
        module = tool()
        with tempfile.TemporaryDirectory() as folder:
            header = Path(folder, "h.h")
            header.write_text(HEADER)
            program = Path(folder, "program")
            program.write_text("#!/bin/sh\nprintf '@h.h:6\\n [9.]\\n@h.h:7\\n 8\\n@h.h:22\\n 7\\n@h.h:24\\n [6\\n  5]\\n@h.h:39\\n 2\\n'\n")
            program.chmod(0o700)
            module.ROOT, module.HEADERS = Path(folder), ["*.h"]
            with contextlib.redirect_stdout(io.StringIO()):
                module.update(str(program))
            lines = header.read_text().split("\n")
        self.assertEqual(lines[4:8], ["///     D x = {1, 2};", "///     twice(x)  // [9.]",
                                      "///     twice(D{{1}, {2}})  // 8", "CALQUE_OF_ONE(twice)"])
        self.assertEqual(lines[20:24], ["///     first(D{1,", "///             2})  // 7", "///     first(D{3})  // [6",
                                        "///                  //  5]"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
