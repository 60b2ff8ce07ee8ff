"""The list of requirements, the cases, and the status of each requirement."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

REQUIREMENT = r"(?:R\d{3}|B-\d{2})"
CASE = r"(?:AZ|CL|EP|LO|OK|RS|TK|UI)-\d{2}"
#: A requirement of chapter V6 of OWASP ASVS 5.0.0, with the number that it has there.
AUTHENTICATION = r"V6\.\d\.\d{1,2}"
#: The list ends here; a row below these numbers that is missing has been deleted.
LAST_REQUIREMENT, LAST_DECISION = 357, 30
#: How many requirements each section of the chapter has.
AUTHENTICATION_SECTIONS = (3, 12, 8, 6, 8, 4, 2, 4)

STATUSES = ("built", "partly", "not built", "not applicable")


@dataclass(frozen=True)
class Requirement:
    """A row of source.tsv with the status that status.tsv gives it, or a row of asvs-v6.tsv, which has both."""

    id: str
    source: str
    level: str
    role: str
    statement: str
    status: str
    note: str

    @property
    def needs_test(self) -> bool:
        return self.status in ("built", "partly")


@dataclass(frozen=True)
class Case:
    """A row of cases.tsv: a request, and the outcome that is right."""

    id: str
    situation: str
    outcome: str
    source: str


@dataclass(frozen=True)
class Tables:
    """The tables, and what is wrong with them."""

    requirements: tuple[Requirement, ...]
    #: The requirements of chapter V6 of OWASP ASVS.
    authentication: tuple[Requirement, ...]
    cases: tuple[Case, ...]
    faults: tuple[str, ...]


def read(folder: Path) -> Tables:
    """The tables of docs/requirements."""
    faults: list[str] = []
    source = _rows(folder / "source.tsv", 5, REQUIREMENT, faults)
    status = {row[0]: row for row in _rows(folder / "status.tsv", 3, REQUIREMENT, faults)}
    cases = [Case(row[0], row[1], row[2], row[3]) for row in _rows(folder / "cases.tsv", 4, CASE, faults)]
    requirements = []
    for identifier, where, level, role, statement in source:
        word, note = status.pop(identifier, ["", "", ""])[1:]
        faults += _status_faults(identifier, word, note, "status.tsv")
        requirements.append(Requirement(identifier, where, level, role, statement, word, note))
    faults += [f"{identifier} is in status.tsv but not in source.tsv" for identifier in status]
    faults += _missing({row[0] for row in source})
    faults += _reworded(folder)
    return Tables(tuple(requirements), _authentication(folder, faults), tuple(cases), tuple(faults))


def _authentication(folder: Path, faults: list[str]) -> tuple[Requirement, ...]:
    path = folder / "asvs-v6.tsv"
    rows = [
        Requirement(identifier, f"ASVS {identifier[1:]}", level, role, statement, status, note)
        for identifier, level, role, statement, status, note in _rows(path, 6, AUTHENTICATION, faults)
    ]
    for row in rows:
        faults += _status_faults(row.id, row.status, row.note, path.name)
    sections = enumerate(AUTHENTICATION_SECTIONS, start=1)
    wanted = [f"V6.{section}.{number}" for section, count in sections for number in range(1, count + 1)]
    if [row.id for row in rows] != wanted:
        faults.append(f"{path.name} does not have each requirement of the chapter once, in the order of the chapter")
    return tuple(rows)


def _rows(path: Path, columns: int, identifier: str, faults: list[str]) -> list[list[str]]:
    rows, seen = [], set()
    for number, line in enumerate(path.read_text("utf-8").splitlines()[1:], start=2):
        row = line.split("\t")
        if len(row) != columns or not re.fullmatch(identifier, row[0]):
            faults.append(f"{path.name}:{number} does not have an id and {columns} columns")
            continue
        if row[0] in seen:
            faults.append(f"{path.name}:{number} repeats {row[0]}")
        seen.add(row[0])
        rows.append(row)
    return rows


def _status_faults(identifier: str, status: str, note: str, table: str) -> list[str]:
    if not status:
        return [f"{identifier} has no status in {table}"]
    if status not in STATUSES:
        return [f"{identifier} has the status '{status}'; write one of: {', '.join(STATUSES)}"]
    if status != "built" and not note:
        return [f"{identifier} is {status} without a note that says why"]
    return []


def _missing(identifiers: set[str]) -> list[str]:
    wanted = [f"R{number:03}" for number in range(1, LAST_REQUIREMENT + 1)]
    wanted += [f"B-{number:02}" for number in range(1, LAST_DECISION + 1)]
    return [f"{identifier} is missing from source.tsv" for identifier in wanted if identifier not in identifiers]


def digest(path: Path) -> str:
    """The SHA-256 digest of a file, in the form of sha256sum."""
    return f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"


def _reworded(folder: Path) -> list[str]:
    pinned = folder / "source.sha256"
    if pinned.read_text("utf-8") == digest(folder / "source.tsv"):
        return []
    return ["source.tsv differs from its digest in source.sha256: put a decision into status.tsv, not into the source"]
