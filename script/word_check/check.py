"""Reads the files of the repository and names each forbidden form with what to write instead."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from . import forms, prose

COLUMNS = 120
#: Texts of others: data, seeds, and tables that quote standards or are made from those.
NOT_READ = ("docs/requirements/", "docs/requirements.md", "Server/Fuzzing/Seeds/", "script/word_check/")
CATALOGUE = "Server/Sources/CounterfoilServer/Localization/Catalogue/en.json"
TESTS = ("Tests/", "Server/Tests/")
SCRIPT_FOLDERS = ("script/", ".ci/")
#: A name in a text of the catalogue, which stands for something else on the page.
_PLACEHOLDER = re.compile(r"\{[^}]*\}")
_COMMENT = re.compile(r"^\s*(?://|# )|\s//[ /]")
_NOT_BOOL = re.compile(r"\bfunc\b|\binit\b|\bcase\b|\b(?:struct|enum|class|actor|protocol)\b")
_VALUE = re.compile(r"\b(?:var|let)\b")
_BOOL = re.compile(r"\bBool\b|= (?:true|false)\b")


@dataclass(frozen=True, order=True)
class Finding:
    """A form that is not written, and where it stands."""

    path: str
    line: int
    words: str
    instead: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.words!r}: write {self.instead}"


def of_repository(root: Path) -> list[Finding]:
    """What is wrong in the files that Git knows, new ones included, in order."""
    listed = subprocess.run(
        ("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"),
        cwd=root, check=True, capture_output=True, text=True,
    ).stdout
    paths = sorted(path for path in set(listed.split("\0")) if path and not path.startswith(NOT_READ))
    found = (
        finding
        for path in paths
        if (reader := _reader(path)) and (root / path).is_file()
        for finding in reader(path, (root / path).read_text("utf-8"))
    )
    return sorted(finding for finding in found if not _is_exempt(finding))


def _is_exempt(finding: Finding) -> bool:
    return any(exemption.covers(finding.words.lower(), finding.path) for exemption in forms.EXEMPTIONS)


def _reader(path: str) -> Callable[[str, str], Iterator[Finding]] | None:
    if path == CATALOGUE:
        return _catalogue
    suffix = Path(path).suffix
    if suffix == ".swift":
        return _swift
    if suffix == ".md":
        return _markdown
    if suffix == ".py" or (not suffix and path.startswith(SCRIPT_FOLDERS)):
        return _script
    return None


def _swift(path: str, text: str) -> Iterator[Finding]:
    # The strings of tests are input as often as prose; those of everything else are read by people.
    yield from _forms(path, prose.of_swift(text, strings=not path.startswith(TESTS)), forms.PROSE)
    yield from _long_comments(path, text)
    for offset, comment, declaration in prose.documented(text):
        line = _line(text, offset)
        if first := forms.FIRST_WORDS.match(comment):
            yield Finding(path, line, f"/// {first[0]}", forms.FIRST_WORDS_INSTEAD)
        if comment.startswith("Whether ") and not _is_bool(declaration):
            yield Finding(path, line, "/// Whether", forms.WHETHER_INSTEAD)


def _is_bool(declaration: str) -> bool:
    """True if the declaration is a property of type Bool, or one without a written type."""
    for line in declaration.splitlines():
        if _VALUE.search(line):
            return bool(_BOOL.search(line)) or ":" not in line
        if _NOT_BOOL.search(line):
            return False
    return True


def _markdown(path: str, text: str) -> Iterator[Finding]:
    yield from _forms(path, prose.of_markdown(text), forms.PROSE)


def _script(path: str, text: str) -> Iterator[Finding]:
    yield from _forms(path, prose.of_script(text), forms.PROSE)
    yield from _long_comments(path, text)


def _catalogue(path: str, text: str) -> Iterator[Finding]:
    lines = {key: number for number, line in enumerate(text.splitlines(), 1) for key in re.findall(r'^\s*"([^"]+)":', line)}
    for key, value in json.loads(text).items():
        for finding in _forms(path, _PLACEHOLDER.sub(prose.BLOT, value), forms.CATALOGUE):
            yield Finding(path, lines.get(key, 1), finding.words, finding.instead)


def _forms(path: str, text: str, unwanted: tuple[forms.Form, ...]) -> Iterator[Finding]:
    for form in unwanted:
        for found in form.pattern.finditer(text):
            yield Finding(path, _line(text, found.start()), " ".join(found[0].split()), form.instead)


def _long_comments(path: str, text: str) -> Iterator[Finding]:
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > COLUMNS and _COMMENT.search(line):
            yield Finding(path, number, f"{len(line)} columns", f"at most {COLUMNS}")


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1
