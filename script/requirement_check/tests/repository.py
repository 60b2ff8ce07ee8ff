"""A small repository in a temporary folder, with everything proved; each test spoils one thing."""

from __future__ import annotations

import json
import tempfile
import unittest
from pathlib import Path
from typing import Any

from .. import check, page, proofs, results, security, table

TEST = "Tests/ServerTests/CodeTests.swift"
SUITE = """\
@Suite
struct CodeTests {
    @Test func `a code is redeemed`() throws {
        #expect(1 == 1)
    }
}
"""
SOURCE = "id\tsource\tlevel\trole\tstatement\nR001\tRFC 6749 §4.1\tMUST\tAS\tA code is redeemed.\n"
STATUS = "id\tstatus\tnote\nR001\tbuilt\t\n"
PROOFS = f"id\tfile\ttest\nR001\t{TEST}\ta code is redeemed\n"
CHAPTER = "id\tlevel\trole\tstatement\tstatus\tnote\n"
CASES = "id\tsituation\toutcome\tsource\n"
SECURITY = """\
# Security

## Reporting

Report a weakness privately.

## What the server promises
"""


class RepositoryCase(unittest.TestCase):
    """A test with a repository that has no fault."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.tables = self.root / "docs" / "requirements"
        self.last = table.LAST_REQUIREMENT, table.LAST_DECISION, table.AUTHENTICATION_SECTIONS
        self.addCleanup(self.restore)
        table.LAST_REQUIREMENT, table.LAST_DECISION, table.AUTHENTICATION_SECTIONS = 1, 0, ()
        self.write("docs/requirements/source.tsv", SOURCE)
        self.pin()
        self.write("docs/requirements/status.tsv", STATUS)
        self.write("docs/requirements/asvs-v6.tsv", CHAPTER)
        self.write("docs/requirements/cases.tsv", CASES)
        self.write("docs/requirements/tests.tsv", PROOFS)
        self.write("SECURITY.md", SECURITY)
        self.write(TEST, SUITE)

    def restore(self) -> None:
        table.LAST_REQUIREMENT, table.LAST_DECISION, table.AUTHENTICATION_SECTIONS = self.last

    def write(self, path: str, text: str) -> Path:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
        return place

    def prove(self, *rows: str) -> None:
        """Writes these rows of an id, a file and a name into tests.tsv."""
        self.write("docs/requirements/tests.tsv", "\n".join(["id\tfile\ttest", *rows]) + "\n")

    def pin(self) -> None:
        self.write("docs/requirements/source.sha256", table.digest(self.tables / "source.tsv"))

    def faults(self) -> list[str]:
        return check.faults(table.read(self.tables), self.promises(), proofs.read(self.root))

    def promises(self) -> security.Promises:
        return security.read(self.root / "SECURITY.md")

    def assert_fault(self, words: str) -> None:
        faults = self.faults()
        self.assertTrue(any(words in fault for fault in faults), f"no fault says '{words}': {faults}")

    def page(self) -> str:
        return page.text(table.read(self.tables), self.promises(), proofs.read(self.root).of)

    def run_of(self, *events: dict[str, Any], partial: bool = False) -> list[str]:
        """The faults of a run that recorded these events for the one test."""
        declaration = {
            "kind": "function",
            "id": "ServerTests.CodeTests/`a code is redeemed`()/CodeTests.swift:3:6",
            "name": "`a code is redeemed`()",
            "sourceLocation": {"fileID": "ServerTests/CodeTests.swift", "line": 3, "column": 6},
        }
        records = [{"kind": "test", "payload": declaration}]
        records += [{"kind": "event", "payload": {**event, "testID": declaration["id"]}} for event in events]
        stream = self.write("run.jsonl", "".join(json.dumps(record) + "\n" for record in records))
        return check.unproved_tests(proofs.read(self.root), results.of_tests([stream]), partial)
