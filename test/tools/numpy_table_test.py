"""docs/numpy.md is what tools/numpy_table writes, and wrong spellings are found."""
import importlib.machinery
import importlib.util
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TOOL = ROOT / "tools" / "numpy_table"


def tool():
    loader = importlib.machinery.SourceFileLoader("numpy_table", str(TOOL))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("numpy_table", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


class NumpyTable(unittest.TestCase):
    def test_table_is_up_to_date(self):
        done = subprocess.run([sys.executable, str(TOOL), "--check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_names_are_all_of_jax(self):
        names = {title: dict(entries) for title, entries in tool().sections()}
        self.assertEqual([len(names[t]) for t in ("jax.numpy", "jax.nn", "jax.lax")], [416, 36, 218])

    def test_wrong_spellings_are_found(self):
        module = tool()
        known, functions = module.declared(), module.called()

        def errors(name, spelling):
            return list(module.errors([(name, spelling)], known, functions))

        self.assertEqual(errors("hstack", "hstack({a, b})"), [])
        self.assertEqual(errors("sort", "- not there"), [])
        self.assertTrue(errors("no_such_function", "="))
        self.assertTrue(errors("hstack", "no_such_stack({a, b})"))
        self.assertTrue(errors("var", "var(x, axes, {.no_such_option = 1})"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
