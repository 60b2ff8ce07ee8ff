"""Finds the sections of standards that code cites and no test does."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

SECTION = re.compile(r"\bRFC (\d{4,5}) §(\d+(?:\.\d+)*|[A-Z](?:\.\d+)*)")


def untested(root: Path) -> list[str]:
    """One line for each section: its name, and the files that cite it."""
    code = _cited(root, ("Sources", "Examples", "Server/Sources", "Server/Examples"), (".swift", ".md"))
    tests = _cited(root, ("Tests", "Server/Tests", "Interop"), (".swift", ".py"))
    return [f"{section}\t{', '.join(sorted(code[section]))}" for section in sorted(set(code) - set(tests))]


def _cited(root: Path, folders: Iterable[str], suffixes: tuple[str, ...]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path in (path for folder in folders for path in (root / folder).rglob("*")):
        if path.suffix not in suffixes or any(part.startswith(".") for part in path.relative_to(root).parts):
            continue
        for number, section in SECTION.findall(path.read_text("utf-8")):
            found.setdefault(f"RFC {number} §{section}", set()).add(path.relative_to(root).as_posix())
    return found
