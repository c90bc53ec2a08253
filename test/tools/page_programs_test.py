#!/usr/bin/env python3
"""tools/page_programs makes sources of the blocks of pages and compares what they print with the pages."""
import contextlib
import importlib.machinery
import importlib.util
import io
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parent.parent.parent / "tools" / "page_programs"
PAGE = """# Page with `cq::sum` and `cq::linalg`
<!-- run -->
```cpp
template <class T>
struct Pair {};

auto x = 1 + 1;  // = 2
std::cout << x;
```

```
2
```
Text.
<!-- check
same(x, 2);
-->
<!-- run -->
```cpp
#include <list>
int main() {
  std::cout << 7;
}
```

```
7
```
"""
PRINTED = "\x01page docs/page.md\n\n\x01program 4\n\n\x01value 7\n{}\n\x01end\n{}\n\x01program 16\n{}\n\x01program 20\n7\n"


def tool():
    loader = importlib.machinery.SourceFileLoader("page_programs", str(TOOL))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("page_programs", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


class PagePrograms(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name)
        (self.root / "docs").mkdir()
        header = self.root / "include" / "calque" / "linalg.h"
        header.parent.mkdir(parents=True)
        header.write_text("namespace calque::linalg {\n")
        (self.root / "README.md").write_text("# None\n")
        self.page = self.root / "docs" / "page.md"
        self.page.write_text(PAGE)
        self.tool = tool()
        self.tool.ROOT = self.root

    def compare(self, *printed, update=False):
        program = self.root / "program"
        program.write_text("#!/bin/sh\ncat <<'E'\n" + PRINTED.format(*printed) + "E\n")
        program.chmod(0o755)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            status = self.tool.compare(program, update)
        return status, out.getvalue()

    def test_sources(self):
        self.tool.generate(self.root / "sources")
        self.assertEqual([path.name for path in (self.root / "sources").iterdir()], ["page.cpp"])
        source = (self.root / "sources" / "page.cpp").read_text()
        outside, inside = source.split("void page() {")
        self.assertIn("template <class T>\nstruct Pair {};", outside)
        self.assertIn("#include <list>", outside)
        self.assertIn("using calque::sum;", outside)
        self.assertNotIn("using calque::linalg;", outside)
        self.assertIn("void run() {\n  std::cout << 7;", outside)
        self.assertIn("auto x = 1 + 1; calque::test::page_value(7, x);", inside)
        self.assertIn('#line 16 "docs/page.md"\nsame(x, 2);', inside)

    def test_arguments_of_main_and_names_of_a_library_that_may_be_missing(self):
        self.page.write_text(PAGE.replace("int main()", "int main(int argc, char** argv)") + "`cq::mpi::world`\n")
        self.tool.generate(self.root / "sources")
        source = (self.root / "sources" / "page.cpp").read_text()
        self.assertIn("void run(int argc = 0, char** argv = nullptr) {\n", source)
        self.assertIn("#ifdef CALQUE_WITH_MPI\n#include <calque/mpi.h>\n#endif", source)
        self.assertRegex(source, "#ifdef CALQUE_WITH_MPI\nnamespace name_. {\nusing calque::mpi::world;\n}\n#endif")

    def test_equal(self):
        self.assertEqual(self.compare("2", "2", "")[0], 0)

    def test_differences_are_named_and_written(self):
        status, text = self.compare("3", "4", "")
        self.assertEqual(status, 1)
        self.assertIn("page.md:7: the value is 3, not 2", text)
        self.assertIn("page.md:4: prints\n4\nnot\n2", text)
        self.assertEqual(self.page.read_text(), PAGE)
        self.assertEqual(self.compare("3", "4", "", update=True)[0], 0)
        self.assertEqual(self.page.read_text(), PAGE.replace("// = 2", "// = 3").replace("```\n2\n", "```\n4\n"))
        self.assertEqual(self.compare("3", "4", "")[0], 0)

    def test_a_missing_output_is_written(self):
        self.page.write_text(PAGE.replace("\n```\n2\n```\n", ""))
        printed = PRINTED.replace("16", "12").replace("program 20", "program 16")
        program = self.root / "program"
        program.write_text("#!/bin/sh\ncat <<'E'\n" + printed.format("2", "2", "") + "E\n")
        program.chmod(0o755)
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(self.tool.compare(program, False), 1)
            self.assertEqual(self.tool.compare(program, True), 0)
        self.assertEqual(self.page.read_text(), PAGE)

    def test_a_check_prints_nothing(self):
        with self.assertRaises(SystemExit):
            self.compare("2", "2", "something")

    def test_a_program_with_a_library_that_may_be_missing(self):
        self.page.write_text(PAGE.replace("<!-- run -->\n```cpp\n#include", "<!-- run with ceres -->\n```cpp\n#include"))
        self.tool.generate(self.root / "sources")
        source = (self.root / "sources" / "page.cpp").read_text()
        self.assertIn("#ifdef CALQUE_WITH_CERES\n#include <list>\n#endif", source)
        self.assertIn("#ifdef CALQUE_WITH_CERES\nnamespace program_2", source)
        self.assertIn("#ifdef CALQUE_WITH_CERES\n  calque::test::page_program(20);", source)
        self.assertEqual(self.compare("2", "2", "")[0], 0)
        program = self.root / "program"
        program.write_text("#!/bin/sh\ncat <<'E'\n" + PRINTED[:PRINTED.index("\x01program 20")].format("2", "2", "") + "E\n")
        program.chmod(0o755)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            self.assertEqual(self.tool.compare(program, False), 0)
        self.assertIn("page.md:20: not run, without ceres", out.getvalue())

    def test_a_mark_without_code(self):
        self.page.write_text("<!-- run -->\ntext\n")
        with self.assertRaises(SystemExit):
            self.tool.generate(self.root / "sources")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
