"""The public declarations of the headers with their docstrings, for tools/site.

The preprocessor expands the macros that make families of functions, so that a line of elementwise.def is declared as
the compiler sees it. Headers from outside of include/calque are empty files: the declarations need nothing of them.
"""
import os
import re
import shlex
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

# Types of namespace detail that are bases of public classes: their members are members of those.
ADOPTED = {"Members"}
TOKEN = re.compile(r"""
  (?P<comment>//[^\n]*|/\*.*?\*/)
| (?P<string>(?:u8|[uUL])?R"(?P<delimiter>[^(\s]*)\(.*?\)(?P=delimiter)"|(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
| (?P<word>[A-Za-z_]\w*)
| (?P<number>\.?\d(?:[eEpP][+-]|[\w.'])*)
| (?P<punctuation>::|->|\.\.\.|&&|\|\||[^\s\w])
""", re.X | re.S)
OPEN, CLOSE = "([{", ")]}"
LOCATION = re.compile(r"(?:, )?\b(?:Loc|Location) ?(?:loc|location)? = Loc::current\(\)")
ELEMENT = re.compile(r"\b(Array|Tracer)<(?:bool|u?int\d+_t|float|double|b?float16|std::complex<(?:float|double)>)>")
# Members with the meaning that the standard library gives them.
STANDARD = {"value_type", "difference_type", "reference", "iterator_category", "result_type", "begin", "end", "operator=",
            "operator==", "operator<=>"}


@dataclass
class Declaration:
    kind: str  # function, type, enum, concept, alias, constant
    scope: tuple
    name: str
    signature: str
    doc: list  # lines, or None
    file: str
    line: int
    text_line: int  # equal for declarations that one macro made
    source: str = ""
    section: str = ""
    rejects: str = ""  # the condition of the assertion with which the body begins
    special: bool = False  # a constructor or destructor, defaulted or deleted
    members: list = field(default_factory=list)


def preprocess(root, headers, compiler=None):
    """The text of the headers after the preprocessor, with comments, and the (file, line) of each of its lines."""
    include = root / "include"
    with tempfile.TemporaryDirectory() as folder:
        for path in include.rglob("*"):
            if path.suffix in (".h", ".def"):
                for name in re.findall(r"#include <([^>]+)>", path.read_text()):
                    stub = Path(folder, "stubs", name)
                    stub.parent.mkdir(parents=True, exist_ok=True)
                    stub.touch()
        source = Path(folder, "headers.cpp")
        source.write_text("".join(f'#include "{header}"\n' for header in headers))
        command = [*shlex.split(compiler or os.environ.get("CXX") or "c++"), "-std=c++20", "-E", "-C", "-nostdinc",
                   f"-I{include}", f"-I{folder}/stubs", str(source)]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{shlex.join(command)}:\n{done.stderr}")
    lines, where, file, line = [], [], "", 0
    for text in done.stdout.split("\n"):
        marker = re.match(r'# (\d+) "([^"]*)"', text)
        if marker:
            file, line = marker[2], int(marker[1])
            continue
        if text.startswith("#"):
            text = ""  # a pragma
        inside = Path(file).is_relative_to(include)
        if inside:
            lines.append(text)
            where.append((str(Path(file).relative_to(root)), line))
        line += 1
    return "\n".join(lines), where


class Parser:
    def __init__(self, text, where):
        self.text, self.where = text, where
        self.words, self.kinds, self.at, self.line = [], [], [], []
        line, last = 0, 0
        for match in TOKEN.finditer(text):
            line += text.count("\n", last, match.start())
            last = match.start()
            self.words.append(match[0])
            self.kinds.append(match.lastgroup if match.lastgroup != "delimiter" else "string")
            self.at.append(match.start())
            self.line.append(line)
        self.breaks = set()  # where a signature has a new line: behind a template's head and its requirements
        self.match, stack = {}, []
        for i, (word, kind) in enumerate(zip(self.words, self.kinds)):
            if kind == "punctuation" and word in OPEN:
                stack.append(i)
            elif kind == "punctuation" and word in CLOSE:
                opening = stack.pop()
                self.match[opening] = i

    def declarations(self):
        return self.scope(0, len(self.words), (), False)

    # ---- parts of declarations: each returns the position behind what begins at i

    def angles(self, i):
        depth = 0
        while True:
            word = self.words[i]
            if i in self.match:
                i = self.match[i]
            elif word == "<":
                depth += 1
            elif word == ">" and self.words[i - 1] != "->":
                depth -= 1
                if depth == 0:
                    return i + 1
            i += 1

    def requirement(self, i):
        """Behind `requires`."""
        while True:
            while self.words[i] == "!":
                i += 1
            if self.words[i] == "requires":
                i += 1
                if self.words[i] == "(":
                    i = self.match[i] + 1
                i = self.match[i] + 1
            elif self.words[i] == "(":
                i = self.match[i] + 1
            else:
                while self.kinds[i] == "word" or self.words[i] == "::":
                    i += 1
                    if self.words[i] == "<":
                        i = self.angles(i)
                    if self.kinds[i] == "word" and self.words[i - 1] != "::":
                        break
            if self.words[i] not in ("&&", "||"):
                return i
            i += 1

    def statement(self, i):
        """Behind the semicolon."""
        while self.words[i] != ";":
            i = self.match.get(i, i) + 1
        return i + 1

    def source(self, i, end):
        return self.text[self.at[i]:self.at[end - 1] + len(self.words[end - 1])]

    def signature(self, i, end):
        parts = []
        while i < end:
            if self.words[i] == "[" and self.words[i + 1] == "[":
                i = self.match[i] + 1
                continue
            if self.kinds[i] != "comment" and self.words[i] not in ("inline", "friend"):
                between = self.text[self.at[i - 1] + len(self.words[i - 1]):self.at[i]] if i else ""
                parts.append(("\n" if i in self.breaks else " " if between else "") + self.words[i])
            i += 1
        text = re.sub(r"[^\S\n]+", " ", "".join(parts)).strip()
        text = re.sub(r"< ?(::)?calque::", "<", text)
        text = re.sub(r"(?<=[\w>*&]) >", ">", text)
        text = re.sub(r"\(, ", "(", LOCATION.sub("", text))
        return re.sub(r"operator (\S+?) ?(=?) ?\(", r"operator\1\2(", re.sub(r" & (\w+)([,)])", r"& \1\2", text))

    # ---- declarations

    def scope(self, i, end, names, hidden, of_class=None, public=True):
        found, doc, doc_end, section = [], None, None, ""
        while i < end:
            word, kind = self.words[i], self.kinds[i]
            if kind == "comment":
                file, line = self.where[self.line[i]]
                if word.startswith("///") and not word.startswith("///<"):
                    if doc is None or doc_end != (file, line - 1):
                        doc = []
                    doc.append(word[3:])
                    doc_end = file, line
                else:
                    heading = re.match(r"// ---- (.*)", word)
                    if heading:
                        section = heading[1].split(". ")[0].rstrip(".")
                    if doc_end == (file, line - 1):
                        doc_end = file, line  # between the docstring and the declaration
                i += 1
                continue
            if word in (";", "}"):
                i += 1
                continue
            if of_class and word in ("public", "private", "protected") and self.words[i + 1] == ":":
                public, i, section = word == "public", i + 2, ""
                continue
            file, line = self.where[self.line[i]]
            # A docstring of something that the preprocessor removed is not of what follows.
            own = doc if doc is not None and doc_end == (file, line - 1) else None
            doc = None
            if word == "namespace" or word == "inline" and self.words[i + 1] == "namespace":
                i += word == "inline"
                at = i + 1
                while self.words[at] not in ("{", ";"):
                    at += 1
                inner = tuple(w for w in self.words[i + 1:at] if w != "::" and w != "calque")
                if self.words[at] == "{":
                    found += self.scope(at + 1, self.match[at], names + inner, hidden or "detail" in inner)
                    at = self.match[at]
                i = at + 1
                continue
            first = self.line[i]
            declared, i = self.declaration(i, names, hidden, of_class)
            if declared and public and (not hidden or declared.name in ADOPTED or of_class in ADOPTED):
                declared.doc, declared.file, declared.line, declared.text_line = own, file, line, first
                declared.section = section
                found.append(declared)
        return found

    def declaration(self, i, names, hidden, of_class):
        start, friend = i, False
        while True:
            if self.words[i] == "template":
                i = self.angles(i + 1)
            elif self.words[i] == "requires":
                i = self.requirement(i + 1)
            elif self.words[i] == "[" and self.words[i + 1] == "[":
                i = self.match[i] + 1
            elif self.words[i] == "friend":
                friend, i = True, i + 1
            else:
                break
            self.breaks.add(i)
        make = lambda kind, name, signature, **rest: Declaration(kind, names, name, signature, None, "", 0, 0, **rest)
        word = self.words[i]
        if word in ("struct", "class", "enum", "union"):
            at = i + 1
            while self.words[at] not in ("{", ";"):
                at = self.match.get(at, at) + 1 if self.words[at] == "(" else at + 1
            begin = i + 1 + (word == "enum" and self.words[i + 1] in ("class", "struct"))
            stop = begin
            while self.words[stop] not in ("{", ";", ":", "final"):
                stop = self.angles(stop) if self.words[stop] == "<" else stop + 1
            if self.words[at] == ";" or friend:
                return None, self.statement(i)
            name = re.sub(r"\s+", " ", self.source(begin, stop))
            body_end = self.match[at]
            inner = name.split("<")[0].split("::")[-1]
            members = [] if word == "enum" else self.scope(at + 1, body_end, names + (name,), hidden, inner, word != "class")
            text = self.source(start, body_end + 1) + ";"
            return make("enum" if word == "enum" else "type", name, self.signature(start, at), source=text,
                        members=members), self.statement(body_end)
        if word in ("static_assert", "typedef", "extern"):
            return None, self.statement(i)
        if word == "using":
            end = self.statement(i)
            alias = self.words[i + 2] == "="
            return (make("alias", self.words[i + 1], self.signature(start, end)) if alias else None), end
        if word == "concept":
            end = self.statement(i)
            return make("concept", self.words[i + 1], self.signature(start, end)), end
        return self.function(start, i, friend, of_class, make)

    def function(self, start, i, friend, of_class, make):
        at, name, elsewhere = i, None, False
        while True:
            word, before = self.words[at], self.words[at - 1]
            if word == "operator":
                stop = at + 1
                if self.words[stop] in "([":
                    stop += 2
                while self.words[stop] != "(":
                    stop += 1
                operator = "".join(self.words[at + 1:stop])
                name, elsewhere, at = f"operator{' ' if operator[0].isalpha() else ''}{operator}", before == "::", stop
                break
            if word == "<" and self.kinds[at - 1] == "word":
                at = self.angles(at)
                continue
            if word == "(":
                if before in ("decltype", "explicit", "noexcept", "alignas"):
                    at = self.match[at] + 1
                    continue
                name = before
                elsewhere = self.words[at - 2] == "::"
                break
            if word in (";", "=", "{"):
                end = self.statement(at)
                if before == ">":
                    return None, end  # a specialization
                return make("constant" if not of_class or "static" in self.words[i:at] else "field", before,
                            self.signature(start, at)), end
            if word == "[":
                at = self.match[at]
            at += 1
        destructor = self.words[at - 2] == "~"
        at = self.match[at] + 1
        stop, body, special = None, None, destructor
        while True:
            word = self.words[at]
            if word == ";":
                stop = stop or at
                break
            if word == "requires":
                at = self.requirement(at + 1)
                continue
            if word == "=":
                stop, special = at, self.words[at + 1] in ("default", "delete")
                at = self.statement(at) - 1
                break
            if word == ":":  # the initializers of a constructor
                stop = at
                at += 1
                while True:
                    while self.words[at] not in ("(", "{"):
                        at = self.angles(at) if self.words[at] == "<" else at + 1
                    at = self.match[at] + 1
                    if self.words[at] == "...":
                        at += 1
                    if self.words[at] != ",":
                        break
                    at += 1
                continue
            if word == "{":
                stop, body = stop or at, at
                at = self.match[at]
                break
            at = self.angles(at) if word == "<" else self.match.get(at, at) + 1
        special = special or name == of_class
        rejects = ""
        if body is not None and self.words[body + 1] == "static_assert":
            rejects = self.source(body + 3, self.match[body + 2])
        if elsewhere:
            return None, at + 1
        return make("function", name, self.signature(start, stop), special=special, rejects=rejects), at + 1


@dataclass
class Group:
    """Overloads with one docstring."""
    doc: list
    signatures: list
    file: str
    line: int


@dataclass
class Entry:
    kind: str
    scope: tuple
    names: list  # several for what one macro makes, such as operators
    groups: list
    section: str
    source: str = ""
    members: list = field(default_factory=list)

    @property
    def name(self):
        return self.names[0]

    def qualified(self, name=None):
        return "::".join([*(s for s in self.scope if s not in ("ops", "detail")), name or self.name])


def entries_of(declarations, problems):
    """Groups overloads; a name of which no declaration has a docstring is a problem."""
    entries, last = {}, None  # last: the last declaration with a docstring, its entry
    for d in declarations:
        key = (d.scope, d.name, d.file)
        known = entries.get(key)
        foreign = d.scope[:1] in (("Eigen",), ("std",)) or d.name.startswith("std::")
        of_specialization = d.kind == "type" and "<" in d.name and "(" not in d.name or d.scope and "<" in d.scope[-1] and "(" not in d.scope[-1]
        made = last and d.text_line == last[0].text_line and d.doc is None
        if d.doc is None and not made and (d.special or d.kind == "field" or foreign or
                                                of_specialization or d.name in STANDARD):
            continue
        if made or d.doc is None and known:
            entry = last[1] if made else known
            group = entry.groups[-1]
            if known and known is entry and d.rejects:
                continue
            if d.name not in entry.names:
                if d.rejects.startswith("sizeof") or d.special:
                    continue
                entry.names.append(d.name)
                entries[key] = entry
            elif len(entry.names) > 1 or d.special or made and d.name.startswith("operator"):
                continue  # of operators that a macro makes the first form is enough
            signature = d.signature
            of_any = ELEMENT.sub(r"\1<T>", signature)
            if of_any != signature and of_any in [ELEMENT.sub(r"\1<T>", s) for s in group.signatures]:
                group.signatures = [of_any if ELEMENT.sub(r"\1<T>", s) == of_any else s for s in group.signatures]
                signature = of_any
            if signature not in group.signatures:
                group.signatures.append(signature)
            continue
        if d.doc is None:
            if not d.rejects or d.name.startswith("operator") and not d.rejects.startswith("sizeof"):
                problem = f"{d.file}:{d.line}: {'::'.join([*d.scope, d.name])} has no docstring"
                if problem not in problems:
                    problems.append(problem)
            continue
        group = Group(d.doc, [d.signature], d.file, d.line)
        if known and d.kind == "function":
            known.groups.append(group)
            entry = known
        else:
            entry = entries[key] = Entry(d.kind, d.scope, [d.name], [group], d.section, d.source)
            entry.members = entries_of(d.members, problems)
        last = d, entry
    unique = []
    for entry in entries.values():
        if entry not in unique:
            unique.append(entry)
    return unique


def all_declarations(root, headers, compiler=None):
    return Parser(*preprocess(root, headers, compiler)).declarations()
