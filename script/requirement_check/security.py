"""The promises of SECURITY.md: each sentence of a section of promises, with its id."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

PROMISE = r"SEC-\d{2,3}"
#: A section whose heading holds this word is a list of promises: each of its sentences has an id.
PROMISING = "promises"

MARK = re.compile(rf"<!--\s*({PROMISE}(?:,\s*{PROMISE})*)\s*-->")
BULLET = re.compile(r"\s*[-*] ")
HEADING = re.compile(r"(#+) (.*)")
#: A sentence ends at a period, a question mark or an exclamation mark before a capital letter or a Markdown sign.
END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\[“(*])")


@dataclass(frozen=True)
class Promise:
    """A sentence of SECURITY.md that an id covers."""

    id: str
    section: str
    sentence: str
    line: int


@dataclass(frozen=True)
class Promises:
    """The promises in their order, and what is wrong with the page."""

    promises: tuple[Promise, ...]
    faults: tuple[str, ...]


def read(path: Path) -> Promises:
    """The promises of a page in Markdown. Each paragraph and each item of a list is one line."""
    found: list[Promise] = []
    faults: list[str] = []
    section = ""
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        heading = HEADING.match(line)
        if heading:
            section = heading[2].strip()
            continue
        text = BULLET.sub("", line, count=1) if BULLET.match(line) else line
        for sentence, identifiers in _sentences(text):
            if not identifiers and PROMISING in section:
                faults.append(f"{path.name}:{number} promises without an id: {sentence}")
            found += [Promise(identifier, section, sentence, number) for identifier in identifiers]
    return Promises(tuple(found), tuple(faults + _repeated(found, path.name)))


def _sentences(text: str) -> list[tuple[str, list[str]]]:
    """The sentences of a line, each with the ids of the comment directly behind it."""
    sentences: list[tuple[str, list[str]]] = []
    position = 0
    for mark in [*MARK.finditer(text), None]:
        words = text[position : mark.start() if mark else len(text)].strip()
        parts = [(part, list[str]()) for part in END.split(words) if part]
        if parts and mark:
            parts[-1][1].extend(re.findall(PROMISE, mark[1]))
        sentences += parts
        position = mark.end() if mark else position
    return sentences


def _repeated(promises: list[Promise], name: str) -> list[str]:
    seen: set[str] = set()
    faults = []
    for promise in promises:
        if promise.id in seen:
            faults.append(f"{name}:{promise.line} repeats {promise.id}")
        seen.add(promise.id)
    return faults
