"""Finds the tests and interop drivers that cite a requirement, a case or a promise, and refuses what proves nothing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from . import swift
from .security import PROMISE
from .table import CASE, REQUIREMENT

CITATION = re.compile(rf"\b(?:{REQUIREMENT}|{CASE}|{PROMISE})\b")
EXPECTATION = re.compile(r"#expect\b|#require\b|\bIssue\.record\b|\bconfirmation\s*\(")
CALL = re.compile(r"\b(\w+)\s*(?=[({])|(`[^`]+`)\s*\(")


@dataclass(frozen=True, order=True)
class Proof:
    """A test or an interop driver that cites an id."""

    path: str
    name: str
    line: int

    @property
    def is_driver(self) -> bool:
        return self.path.startswith("Interop/")


@dataclass(frozen=True)
class Citations:
    """The proofs of each id, and the citations that are refused."""

    proofs: dict[str, tuple[Proof, ...]]
    faults: tuple[str, ...]


def collect(root: Path) -> Citations:
    """Reads every test of the repository."""
    found: dict[str, set[Proof]] = {}
    faults: list[str] = []
    sources = {path: swift.read(path.read_text("utf-8")) for path in sorted((root / "Tests").rglob("*.swift"))}
    helpers = _expecting(sources.values())
    for path, source in sources.items():
        _from_tests(path.relative_to(root).as_posix(), source, helpers, found, faults)
    for path in sorted((root / "Interop").rglob("*.py")):
        _from_driver(path.relative_to(root).as_posix(), path.read_text("utf-8"), found, faults)
    return Citations({identifier: tuple(sorted(proofs)) for identifier, proofs in found.items()}, tuple(faults))


def _from_tests(
    path: str, source: swift.SwiftFile, helpers: frozenset[str], found: dict[str, set[Proof]], faults: list[str]
) -> None:
    tests = {function.line: function for function in source.functions if function.is_test}
    for line, comment in source.comments.items():
        identifiers = CITATION.findall(comment)
        if not identifiers:
            continue
        below = line
        while below in source.comment_lines:
            below += 1
        test = tests.get(below) if below != line else None
        refusal = "it does not stand directly above a test" if test is None else _refusal(test, helpers)
        for identifier in identifiers:
            if test is None or refusal:
                faults.append(f"{path}:{line} cites {identifier}, but {refusal}")
            else:
                found.setdefault(identifier, set()).add(Proof(path, test.name, test.line))


def _refusal(test: swift.Function, helpers: frozenset[str]) -> str:
    """Why the test proves nothing; empty when it may."""
    if re.search(r"\.disabled\b|\.enabled\s*\(\s*if:\s*false\b", test.traits):
        return "the test is disabled"
    if not swift.runs_here(test.conditions):
        return f"the test is compiled only under #if {' and '.join(test.conditions)}"
    if "withKnownIssue" in test.body:
        return "the test expects a known issue"
    if not _expects(test.body, helpers):
        return "the test expects nothing"
    return ""


def _calls(body: str) -> set[str]:
    return {(plain or quoted).strip("`") for plain, quoted in CALL.findall(body)}


def _expects(body: str, helpers: frozenset[str]) -> bool:
    return bool(EXPECTATION.search(body) or _calls(body) & helpers)


def _expecting(sources: Iterable[swift.SwiftFile]) -> frozenset[str]:
    """The names of the helpers that hold an expectation, themselves or in a helper that they call."""
    helpers = [function for source in sources for function in source.functions if not function.is_test]
    calls = [(helper.name, _calls(helper.body)) for helper in helpers]
    names = {helper.name for helper in helpers if EXPECTATION.search(helper.body)}
    while more := {name for name, called in calls if name not in names and called & names}:
        names |= more
    return frozenset(names)


def _from_driver(path: str, text: str, found: dict[str, set[Proof]], faults: list[str]) -> None:
    identifiers = set(CITATION.findall(text))
    if not identifiers:
        return
    header = ast.get_docstring(ast.parse(text)) or ""
    is_driver = re.fullmatch(r"Interop/[^/]+/drive\.py", path) is not None
    for identifier in sorted(identifiers):
        if is_driver and identifier in CITATION.findall(header):
            name = header.splitlines()[0].rstrip(".")
            found.setdefault(identifier, set()).add(Proof(path, name, 1))
        else:
            faults.append(f"{path} cites {identifier}, but not in the docstring of a driver")
