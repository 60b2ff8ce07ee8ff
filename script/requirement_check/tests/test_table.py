"""The tables hold every line of the source, in its words."""

from __future__ import annotations

from .. import table
from .repository import CHAPTER, SOURCE, STATUS, TEST, RepositoryCase


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
        self.assert_fault("R001 has no status in status.tsv")

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

    def test_each_requirement_of_the_chapter_has_its_row_in_order(self) -> None:
        table.AUTHENTICATION_SECTIONS = (2,)
        rows = [f"V6.1.{number}\tL1\tAS\tA limit is documented.\tbuilt\t\n" for number in (1, 2)]
        self.prove(*(f"{name}\t{TEST}\ta code is redeemed" for name in ("R001", "V6.1.1", "V6.1.2")))
        for wrong in (rows[:1], rows[::-1], [*rows, rows[0].replace("6.1.1", "6.2.1")]):
            self.write("docs/requirements/asvs-v6.tsv", CHAPTER + "".join(wrong))
            self.assert_fault("asvs-v6.tsv does not have each requirement of the chapter once")
        self.write("docs/requirements/asvs-v6.tsv", CHAPTER + "".join(rows))
        self.assertEqual(self.faults(), [])
        self.assertIn("| V6.1.2 | A limit is documented. (ASVS 6.1.2) | L1 | AS | built |", self.page())

    def test_a_row_of_the_chapter_needs_a_test_or_a_reason(self) -> None:
        table.AUTHENTICATION_SECTIONS = (1,)
        row = "V6.1.1\tL1\tAS\tA limit is documented.\t"
        self.write("docs/requirements/asvs-v6.tsv", f"{CHAPTER}{row}built\t\n")
        self.assert_fault("V6.1.1 is built, but no test proves it")
        self.write("docs/requirements/asvs-v6.tsv", f"{CHAPTER}{row}not applicable\t\n")
        self.assert_fault("V6.1.1 is not applicable without a note")
