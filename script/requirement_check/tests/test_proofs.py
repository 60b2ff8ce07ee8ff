"""A row of tests.tsv counts only if it names a test that can fail here."""

from __future__ import annotations

from .. import proofs
from .repository import SUITE, TEST, RepositoryCase

ROW = f"R001\t{TEST}\ta code is redeemed"


class ProofTests(RepositoryCase):
    def test_a_row_with_a_test_proves_its_requirement(self) -> None:
        self.assertEqual(self.faults(), [])

    def test_a_row_whose_test_has_another_name_is_refused(self) -> None:
        self.write(TEST, SUITE.replace("a code is redeemed", "a token is issued"))
        self.assert_fault(f"tests.tsv:2, the proof of R001 by `a code is redeemed` in {TEST}: there is no such test")

    def test_a_row_that_names_a_helper_is_refused(self) -> None:
        self.write(TEST, SUITE.replace("@Test ", ""))
        self.assert_fault("there is no such test")

    def test_a_row_without_a_name_is_refused(self) -> None:
        self.prove(f"R001\t{TEST}")
        self.assert_fault("tests.tsv:2 does not have an id and 3 columns")

    def test_rows_out_of_order_or_twice_are_refused_until_they_are_sorted(self) -> None:
        self.write("docs/requirements/cases.tsv", "id\tsituation\toutcome\tsource\nOK-20\ta retry\tsame answer\tB-16\n")
        rows = [ROW, ROW.replace("R001", "OK-20")]
        for wrong in (rows, sorted(rows + rows)):
            self.prove(*wrong)
            self.assert_fault("followed by rows in order, each once: run script/requirements")
            proofs.sort(self.root)
            self.assertEqual(self.faults(), [])

    def test_a_test_without_an_expectation_is_refused(self) -> None:
        self.write(TEST, SUITE.replace("#expect(1 == 1)", ""))
        self.assert_fault("the test expects nothing")

    def test_an_expectation_in_a_comment_or_a_string_is_none(self) -> None:
        self.write(TEST, SUITE.replace("#expect(1 == 1)", 'let text = "#expect(1 == 1)"  // #expect(1 == 1)'))
        self.assert_fault("the test expects nothing")

    def test_an_expectation_in_a_called_helper_counts(self) -> None:
        self.write(TEST, SUITE.replace("#expect(1 == 1)", "try redeem()"))
        helpers = "func redeem() throws { try judge() }\nfunc judge() { #expect(1 == 1) }\n"
        self.write("Tests/ServerTests/Redeeming.swift", helpers)
        self.assertEqual(self.faults(), [])

    def test_a_disabled_test_is_refused(self) -> None:
        for trait in ('(.disabled("later"))', "(.enabled(if: false))", "(.tags(.slow), .disabled())"):
            with self.subTest(trait):
                self.write(TEST, SUITE.replace("@Test", f"@Test{trait}"))
                self.assert_fault("the test is disabled")

    def test_a_test_of_a_disabled_suite_is_refused(self) -> None:
        self.write(TEST, SUITE.replace("@Suite", "@Suite(.disabled())"))
        self.assert_fault("the test is disabled")

    def test_a_test_that_expects_a_known_issue_is_refused(self) -> None:
        self.write(TEST, SUITE.replace("#expect(1 == 1)", "withKnownIssue { #expect(1 == 2) }"))
        self.assert_fault("the test expects a known issue")

    def test_a_test_for_another_platform_is_refused(self) -> None:
        for condition in ("os(Windows)", "!os(Linux)", "canImport(AppKit)", "NEVER", "os(Linux) && NEVER"):
            with self.subTest(condition):
                self.write(TEST, f"#if {condition}\n{SUITE}#endif\n")
                self.assert_fault("is compiled only under #if")

    def test_the_other_branch_of_a_condition_is_refused(self) -> None:
        self.write(TEST, f"#if os(Linux)\n#else\n{SUITE}#endif\n")
        self.assert_fault("is compiled only under #if")

    def test_a_test_for_this_platform_counts(self) -> None:
        for condition in ("os(Linux)", "os(macOS) || os(Linux)", "!os(Windows)"):
            with self.subTest(condition):
                self.write(TEST, f"#if {condition}\n{SUITE}#endif\n")
                self.assertEqual(self.faults(), [])

    def test_a_driver_proves_by_its_path(self) -> None:
        self.prove("R001\tInterop/authlib/drive.py\t")
        self.assert_fault("there is no such driver")
        self.write("Interop/authlib/drive.py", '"""A client signs in."""\n')
        self.assertEqual(self.faults(), [])
        self.assertIn("[A client signs in](../Interop/authlib/drive.py)", self.page())

    def test_a_helper_of_the_drivers_proves_nothing(self) -> None:
        self.write("Interop/person.py", '"""A person."""\n')
        self.prove("R001\tInterop/person.py\t")
        self.assert_fault("there is no such driver")

    def test_too_many_tests_for_one_id_are_refused(self) -> None:
        for number in range(4):
            self.write(f"Tests/ServerTests/More{number}.swift", SUITE)
        more = [ROW.replace("CodeTests", f"More{number}") for number in range(4)]
        self.prove(ROW, *more)
        self.assert_fault("R001 has 5 tests")
