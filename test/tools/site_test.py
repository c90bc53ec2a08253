"""The reference is made of declarations as the compiler sees them, and tools/site names what is wrong."""
import importlib.util
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
HEADER = """\
#pragma once
// What all functions have in common.
#include <nowhere/to_be_found.h>
#define CALQUE_FAMILY(f, R) \\
  template <class T> \\
  [[nodiscard("use f(x)")]] R f(const Array<T>& x, Loc loc = Loc::current()) { return #f; } \\
  template <class T> \\
  R f(const Tracer<T>& x, Loc loc = Loc::current());
namespace calque {
/// Twice x. Throws Error never.
///     twice(1)  // 2
CALQUE_FAMILY(twice, Array<T>)
#undef CALQUE_FAMILY

/// Of something that the preprocessor removes.
#define CALQUE_REMOVED 1
void undocumented(int x);
/// Documented.
inline int documented(int x = int{1}) { return x < 2 ? "}" : '{'; }
int documented(double);
template <class X>
void documented(const X&) {
  static_assert(sizeof(X) == 0, "rejected");
}
namespace detail {
void hidden();
}
namespace random {
// ---- section
/// With requirements.
template <class T, class U = std::pair<T, T>>
  requires(!std::same_as<T, U>) && Elem<T>
auto with(const T& x) -> decltype(x + 1);
}  // namespace random

/// A class.
template <class T>
class Box : public Base<T> {
  int before;

 public:
  using value_type = T;
  Box() = default;
  Box(int x, std::vector<int> y = {}) : x_(x), y_{y} {}
  ~Box() {}
  /// The first.
  T first() const { return x_; }
  T second() const;
#define CALQUE_Y(op) friend Box operator op(const Box& a, const Box& b) { return a; }
  /// Both.
  CALQUE_Y(+) CALQUE_Y(-)
  /// To T.
  explicit operator T() const;
  /// An element.
  T operator[](int i) const;
  T operator()(int i) const;

 private:
  void hidden();
  int x_;
};
template <class T>
T Box<T>::second() const {
  return {};
}
class Box2;
/// Options.
struct Options {
  /// A number.
  int number = 1;
  std::vector<int> list{};
};
/// Kinds.
enum class Kind { first, second };
/// An alias.
using Number = Box<int>;
/// A constant.
inline constexpr Options defaults{};
/// A concept.
template <class T>
concept Small = requires(T t) { t.small(); } && sizeof(T) < 8;
}  // namespace calque
"""


def module():
    sys.dont_write_bytecode = True
    path = ROOT / "tools" / "python" / "declarations.py"
    spec = importlib.util.spec_from_file_location("declarations", path)
    loaded = importlib.util.module_from_spec(spec)
    sys.modules["declarations"] = loaded  # where dataclasses look for it
    spec.loader.exec_module(loaded)
    return loaded


class Declarations(unittest.TestCase):
    def setUp(self):
        declarations = module()
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve()
            (root / "include/calque").mkdir(parents=True)
            (root / "include/calque/h.h").write_text(HEADER)
            self.problems = []
            self.entries = declarations.entries_of(declarations.all_declarations(root, ["calque/h.h"]), self.problems)
        self.by_name = {entry.qualified(): entry for entry in self.entries}

    def test_names_are_found(self):
        self.assertEqual([(entry.kind, entry.qualified()) for entry in self.entries],
                         [("function", "twice"), ("function", "documented"), ("function", "random::with"), ("type", "Box"),
                          ("type", "Options"), ("enum", "Kind"), ("alias", "Number"), ("constant", "defaults"),
                          ("concept", "Small")])
        self.assertEqual([(member.kind, member.names) for member in self.by_name["Box"].members],
                         [("function", ["first"]), ("function", ["operator+", "operator-"]), ("function", ["operator T"]),
                          ("function", ["operator[]"])])

    def test_signatures_are_those_behind_macros(self):
        self.assertEqual(self.by_name["twice"].groups[0].signatures,
                         ["template <class T>\nArray<T> twice(const Array<T>& x)",
                          "template <class T>\nArray<T> twice(const Tracer<T>& x)"])
        # An overload that only rejects its arguments is not shown.
        self.assertEqual(self.by_name["documented"].groups[0].signatures,
                         ["int documented(int x = int{1})", "int documented(double)"])
        self.assertEqual(self.by_name["random::with"].groups[0].signatures,
                         ["template <class T, class U = std::pair<T, T>>\nrequires(!std::same_as<T, U>) && Elem<T>\n"
                          "auto with(const T& x) -> decltype(x + 1)"])
        self.assertEqual(self.by_name["Box"].members[1].groups[0].signatures,
                         ["Box operator+(const Box& a, const Box& b)", "Box operator-(const Box& a, const Box& b)"])
        self.assertEqual(self.by_name["random::with"].section, "section")

    def test_docstrings_have_their_lines(self):
        group = self.by_name["twice"].groups[0]
        self.assertEqual((group.doc, group.file, group.line),
                         ([" Twice x. Throws Error never.", "     twice(1)  // 2"], "include/calque/h.h", 12))

    def test_missing_docstrings_are_named(self):
        self.assertEqual(self.problems, ["include/calque/h.h:17: undocumented has no docstring",
                                         "include/calque/h.h:48: Box::second has no docstring",
                                         "include/calque/h.h:56: Box::operator() has no docstring"])


class Site(unittest.TestCase):
    def test_problems_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder)
            for name in ("include", "docs", "tools/python", "bench/results", "examples"):
                shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
            for name in ("README.md", "CONTRIBUTING.md", "tools/site"):
                shutil.copy(ROOT / name, copy / name)

            def append(name, old, new):
                path = copy / name
                text = path.read_text()
                self.assertIn(old, text)
                path.write_text(text.replace(old, new, 1))

            append("docs/limits.md", "\n\n", "\n\n[a](nowhere.md) [b](errors.md#nowhere) ![c](pictures/nowhere.svg)\n\n")
            append("include/calque/device.h", "std::vector<Device> devices();",
                   "std::vector<Device> devices();\n\nint quantum_computers();")
            append("include/calque/vmap.h", "#include <utility>\n", "#include <utility>\n#include \"calque/unlisted.h\"\n")
            header = (copy / "include/calque/device.h").read_text().split("\n")
            line = 1 + header.index("int quantum_computers();")
            (copy / "include/calque/unlisted.h").write_text("namespace calque {\n/// New.\nint unlisted();\n}\n")
            # Debian's Python has the packages that the script needs, this test's one may have none.
            done = subprocess.run([str(copy / "tools/site"), "--check"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1, done.stderr)
            lines = done.stdout.rstrip("\n").split("\n")
        self.assertEqual(lines[:-1],
                         [f"include/calque/device.h:{line}: quantum_computers has no docstring",
                          "include/calque/unlisted.h:3: no subject of tools/site shows this header",
                          "docs/limits.html: nowhere.md does not exist",
                          "docs/limits.html: errors.html#nowhere: there is no such anchor",
                          "docs/limits.html: pictures/nowhere.svg does not exist"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
