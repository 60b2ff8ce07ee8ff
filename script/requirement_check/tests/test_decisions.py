"""Each decision names the files of its tests, and they are there."""

from __future__ import annotations

from .. import decisions
from .repository import SUITE, TEST, RepositoryCase

NAME = "docs/decisions/0001-codes.md"


class DecisionTests(RepositoryCase):
    def decide(self, last: str) -> list[str]:
        self.write(NAME, f"# 1. Codes\n\n**Decision.** A code works once.\n\n{last}\n")
        return decisions.faults(self.root)

    def test_a_decision_may_name_one_file_or_more(self) -> None:
        self.write("Interop/authlib/drive.py", '"""A client signs in."""\n')
        self.write(f"Server/{TEST}", SUITE)
        for files in (f"`{TEST}`", f"`Server/{TEST}`", f"`{TEST}` and `Interop/authlib/drive.py`", f"`{TEST}`, `{TEST}` and `{TEST}`"):
            with self.subTest(files):
                self.assertEqual(self.decide(f"Tested in {files}."), [])

    def test_a_file_that_is_not_there_is_refused(self) -> None:
        faults = self.decide(f"Tested in `{TEST}` and `Tests/ServerTests/Gone.swift`.")
        self.assertEqual(faults, [f"{NAME} names Tests/ServerTests/Gone.swift, which is not there"])

    def test_a_decision_without_tests_is_refused(self) -> None:
        for last in ("", "Tested in `Sources/Server/Code.swift`.", f"Tested in {TEST}.", f"Tested in `{TEST}`"):
            with self.subTest(last):
                self.assertIn(f"{NAME} does not end with a line", self.decide(last)[0])

    def test_a_decision_may_promise_nothing(self) -> None:
        self.assertEqual(self.decide("This decision promises no behaviour."), [])

    def test_the_index_is_no_decision(self) -> None:
        self.write("docs/decisions/README.md", "# Decisions\n\n| decision |\n")
        self.assertEqual(self.decide(f"Tested in `{TEST}`."), [])
