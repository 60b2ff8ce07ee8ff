"""Reads which tests and interop drivers prove a requirement, a case or a promise, and refuses what proves nothing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from . import swift
from .security import PROMISE
from .table import AUTHENTICATION, CASE, REQUIREMENT

TABLE = Path("docs", "requirements", "tests.tsv")
HEADER = "id\tfile\ttest"
FOLDERS = ("Tests", "Server/Tests")
ID = re.compile(rf"{REQUIREMENT}|{AUTHENTICATION}|{CASE}|{PROMISE}")
EXPECTATION = re.compile(r"#expect\b|#require\b|\bIssue\.record\b|\bconfirmation\s*\(")
CALL = re.compile(r"\b(\w+)\s*(?=[({])|(`[^`]+`)\s*\(")


@dataclass(frozen=True, order=True)
class Proof:
    """A test or an interop driver that proves an id."""

    path: str
    name: str

    @property
    def is_driver(self) -> bool:
        return self.path.startswith("Interop/")


@dataclass(frozen=True)
class Proofs:
    """The proofs of each id, and the rows that are refused."""

    of: dict[str, tuple[Proof, ...]]
    faults: tuple[str, ...]


def read(root: Path) -> Proofs:
    """The rows of tests.tsv, compared with the tests and the drivers of the repository."""
    found: dict[str, list[Proof]] = {}
    faults: list[str] = []
    tests = _Tests(root)
    lines = (root / TABLE).read_text("utf-8").splitlines()
    if lines[:1] != [HEADER] or lines[1:] != sorted(set(lines[1:])):
        faults.append(f"{TABLE.name} does not begin with '{HEADER}', followed by rows in order, each once: run script/requirements")
    for number, line in enumerate(lines[1:], start=2):
        row = line.split("\t")
        if len(row) != 3 or not ID.fullmatch(row[0]):
            faults.append(f"{TABLE.name}:{number} does not have an id and 3 columns")
            continue
        identifier, path, name = row
        refusal = _driver_refusal(root, path, name) if path.startswith("Interop/") else tests.refusal(path, name)
        if refusal:
            faults.append(f"{TABLE.name}:{number}, the proof of {identifier} by `{name}` in {path}: {refusal}")
        else:
            found.setdefault(identifier, []).append(Proof(path, name or _title(root / path)))
    return Proofs({identifier: tuple(proofs) for identifier, proofs in found.items()}, tuple(faults))


def sort(root: Path) -> None:
    """Puts the rows of tests.tsv in order."""
    rows = {line for line in (root / TABLE).read_text("utf-8").splitlines()[1:] if line}
    (root / TABLE).write_text("\n".join([HEADER, *sorted(rows)]) + "\n", "utf-8")


class _Tests:
    """The tests of the repository."""

    def __init__(self, root: Path) -> None:
        files = [path for folder in FOLDERS for path in (root / folder).rglob("*.swift")]
        sources = {path.relative_to(root).as_posix(): swift.read(path.read_text("utf-8")) for path in files}
        self.helpers = _expecting(sources.values())
        self.tests: dict[tuple[str, str], list[swift.Function]] = {}
        for path, functions in sources.items():
            for function in functions:
                if function.is_test:
                    self.tests.setdefault((path, function.name), []).append(function)

    def refusal(self, path: str, name: str) -> str:
        """Why a test proves nothing; empty when it may."""
        tests = self.tests.get((path, name), [])
        refusals = [_refusal(test, self.helpers) for test in tests]
        return next(filter(None, refusals), "") if tests else "there is no such test"


def _refusal(test: swift.Function, helpers: frozenset[str]) -> str:
    if re.search(r"\.disabled\b|\.enabled\s*\(\s*if:\s*false\b", test.traits):
        return "the test is disabled"
    if not swift.runs_here(test.conditions):
        return f"the test is compiled only under #if {' and '.join(test.conditions)}"
    if "withKnownIssue" in test.body:
        return "the test expects a known issue"
    if not EXPECTATION.search(test.body) and not _calls(test.body) & helpers:
        return "the test expects nothing"
    return ""


def _calls(body: str) -> set[str]:
    return {(plain or quoted).strip("`") for plain, quoted in CALL.findall(body)}


def _expecting(sources: Iterable[tuple[swift.Function, ...]]) -> frozenset[str]:
    """The names of the helpers that hold an expectation, themselves or in a helper that they call."""
    helpers = [function for functions in sources for function in functions if not function.is_test]
    calls = [(helper.name, _calls(helper.body)) for helper in helpers]
    names = {helper.name for helper in helpers if EXPECTATION.search(helper.body)}
    while more := {name for name, called in calls if name not in names and called & names}:
        names |= more
    return frozenset(names)


def _driver_refusal(root: Path, path: str, name: str) -> str:
    if not re.fullmatch(r"Interop/[^/]+/drive\.py", path) or not (root / path).is_file():
        return "there is no such driver"
    return "a driver has no name here; its title is the first line of its docstring" if name else ""


def _title(path: Path) -> str:
    return (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").partition("\n")[0].rstrip(".")
