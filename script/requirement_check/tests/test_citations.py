"""A citation counts only directly above a test that can fail here."""

from __future__ import annotations

from .repository import SUITE, TEST, RepositoryCase


class CitationTests(RepositoryCase):
    def test_a_citation_above_a_test_proves_its_requirement(self) -> None:
        self.assertEqual(self.faults(), [])

    def test_a_citation_above_a_suite_is_refused(self) -> None:
        self.write(TEST, "// R001\n" + SUITE.replace("// R001", "//"))
        self.assert_fault("does not stand directly above a test")

    def test_a_citation_in_a_helper_is_refused(self) -> None:
        helper = "\n    // R001\n    func helper() { #expect(true) }\n}\n"
        self.write(TEST, SUITE.replace("// R001", "//").rstrip("}\n") + "}" + helper)
        self.assert_fault("does not stand directly above a test")

    def test_a_citation_inside_a_test_is_refused(self) -> None:
        self.write(TEST, SUITE.replace("// R001", "//").replace("1 == 1)", "1 == 1)  // R001"))
        self.assert_fault("does not stand directly above a test")

    def test_a_citation_above_an_empty_line_is_refused(self) -> None:
        self.write(TEST, SUITE.replace("sent back.\n", "sent back.\n\n"))
        self.assert_fault("does not stand directly above a test")

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

    def test_a_driver_cites_in_its_docstring_only(self) -> None:
        self.write(TEST, SUITE.replace("// R001", "//"))
        self.write("Interop/authlib/drive.py", '"""A client signs in.\n\nR001: it redeems a code.\n"""\n')
        self.assertEqual(self.faults(), [])
        self.write("Interop/authlib/drive.py", '"""A client signs in."""\n# R001\n')
        self.assert_fault("not in the docstring of a driver")

    def test_a_helper_of_the_drivers_proves_nothing(self) -> None:
        self.write("Interop/person.py", '"""R001"""\n')
        self.assert_fault("not in the docstring of a driver")

    def test_too_many_tests_for_one_id_are_refused(self) -> None:
        for number in range(5):
            self.write(f"Tests/ServerTests/More{number}.swift", SUITE)
        self.assert_fault("R001 is cited by 6 tests")
