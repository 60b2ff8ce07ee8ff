"""The tables hold every line of the source, in its words."""

from __future__ import annotations

from .. import table
from .repository import SOURCE, STATUS, TEST, RepositoryCase


class TableTests(RepositoryCase):
    def test_a_reworded_statement_is_refused(self) -> None:
        self.write("docs/requirements/source.tsv", SOURCE.replace("is redeemed", "may be redeemed"))
        self.assert_fault("source.tsv differs from its digest")

    def test_another_level_is_refused(self) -> None:
        self.write("docs/requirements/source.tsv", SOURCE.replace("MUST", "fact"))
        self.assert_fault("source.tsv differs from its digest")

    def test_a_deleted_row_is_refused(self) -> None:
        table.LAST_REQUIREMENT = 2
        self.assert_fault("R002 is missing from source.tsv")

    def test_a_row_without_a_status_is_refused(self) -> None:
        self.write("docs/requirements/status.tsv", STATUS.splitlines()[0] + "\n")
        self.assert_fault("R001 has no row in status.tsv")

    def test_a_fact_needs_a_test_like_every_other_row(self) -> None:
        self.write("docs/requirements/source.tsv", SOURCE.replace("MUST", "fact"))
        self.pin()
        self.prove()
        self.write("docs/guide/apps.md", "<!-- R001 -->\n")
        self.assert_fault("R001 is built, but no test proves it")

    def test_what_is_not_built_needs_a_reason_and_no_test(self) -> None:
        self.write("docs/requirements/status.tsv", STATUS.replace("built\t", "not built\t"))
        self.assert_fault("R001 is not built without a note")
        self.assert_fault(f"R001 is not built, but {TEST} is to prove it")

    def test_an_unknown_status_is_refused(self) -> None:
        self.write("docs/requirements/status.tsv", STATUS.replace("built", "done"))
        self.assert_fault("R001 has the status 'done'")

    def test_an_id_that_is_in_no_table_is_refused(self) -> None:
        self.prove(f"OK-20\t{TEST}\ta code is redeemed", f"R001\t{TEST}\ta code is redeemed")
        self.assert_fault("OK-20 is in tests.tsv, but in no other table")

    def test_a_case_needs_a_test(self) -> None:
        self.write("docs/requirements/cases.tsv", "id\tsituation\toutcome\tsource\nOK-20\ta retry\tsame answer\tB-16\n")
        self.assert_fault("OK-20 is in cases.tsv, but no test proves it")

    def test_the_page_names_status_decision_and_test(self) -> None:
        self.write("docs/requirements/status.tsv", STATUS.replace("built\t", "partly\tNot on Windows."))
        self.assertIn("A code is redeemed. (RFC 6749 §4.1)<br>*Not on Windows.* | MUST | AS | partly |", self.page())
        self.assertIn("[a code is redeemed](../Tests/ServerTests/CodeTests.swift)", self.page())
