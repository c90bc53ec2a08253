#!/usr/bin/env python3
"""Checks names in messages: every `cq::name` in a string of the library is declared by the public headers, and every
CALQUE_VARIABLE is one that the library reads."""
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# A comment, a raw string, a string, a character; whichever begins first.
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)


def sources(*folders):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                yield path, path.read_text()


def strings(text):
    """The string literals, with adjacent ones concatenated as by the compiler."""
    joined, end = [], None
    for token in TOKEN.finditer(text):
        literal = token.group()
        if not literal.startswith('"'):
            continue
        if end is not None and not text[end:token.start()].strip(" \n\\"):
            joined[-1] += literal[1:-1]
        else:
            joined.append(literal[1:-1])
        end = token.end()
    return joined


def code(text):
    return TOKEN.sub(" ", text)


class MessageNames(unittest.TestCase):
    def test_functions_are_declared(self):
        declared = set()
        for _, text in sources("include"):
            declared.update(re.findall(r"\w+", code(text)))
        found = 0
        for path, text in sources("include", "lib"):
            for string in strings(text):
                for name in re.findall(r"\b(?:cq|calque)::(\w+(?:::\w+)*)", string):
                    found += 1
                    missing = [part for part in name.split("::") if part not in declared]
                    self.assertEqual(missing, [], f"{path.relative_to(ROOT)} recommends cq::{name}: {string}")
        self.assertGreater(found, 20)

    def test_variables_are_read(self):
        read = set()
        for _, text in sources("lib"):
            for string in strings(text):
                if re.fullmatch(r"CALQUE_[A-Z_]+", string):
                    read.add(string)
        for path, text in sources("include", "lib"):
            for string in strings(text):
                for name in re.findall(r"\bCALQUE_[A-Z][A-Z_]+\b", string):
                    self.assertIn(name, read, f"{path.relative_to(ROOT)}: {string}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
