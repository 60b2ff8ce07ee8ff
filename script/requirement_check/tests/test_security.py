"""Each sentence that SECURITY.md promises has an id, and a test that proves it."""

from __future__ import annotations

from .repository import PROOFS, SECURITY, SUITE, TEST, RepositoryCase

ROWS = PROOFS.splitlines()[1:]
PROMISED = ROWS[0].replace("R001", "SEC-01")


class PromiseTests(RepositoryCase):
    def promise(self, *lines: str) -> None:
        self.write("SECURITY.md", SECURITY + "\n" + "".join(f"{line}\n" for line in lines))

    def test_a_promise_with_a_test_is_proved(self) -> None:
        self.promise("- A code works once. <!-- SEC-01 -->")
        self.prove(*ROWS, PROMISED)
        self.assertEqual(self.faults(), [])

    def test_a_promise_without_an_id_is_refused(self) -> None:
        self.promise("- A code works once.")
        self.assert_fault("SECURITY.md:9 promises without an id: A code works once.")

    def test_each_sentence_needs_an_id(self) -> None:
        self.promise("- A code works once. Logs hold no code. <!-- SEC-01 --> `state` is kept.")
        self.prove(*ROWS, PROMISED)
        self.assert_fault("promises without an id: A code works once.")
        self.assert_fault("promises without an id: `state` is kept.")
        self.assertEqual(len(self.faults()), 2)

    def test_a_paragraph_of_promises_needs_ids_too(self) -> None:
        self.promise("A code works once.")
        self.assert_fault("promises without an id: A code works once.")

    def test_every_section_of_promises_counts(self) -> None:
        self.promise("## What the client promises", "", "- A code works once.")
        self.assert_fault("promises without an id: A code works once.")

    def test_other_sections_need_no_ids_and_may_have_some(self) -> None:
        self.promise("## What it does not do", "", "A code is no secret. A limit counts. <!-- SEC-01 -->")
        self.assert_fault("SEC-01 is in SECURITY.md, but no test proves it: A limit counts.")
        self.prove(*ROWS, PROMISED)
        self.assertEqual(self.faults(), [])

    def test_a_period_inside_a_sentence_does_not_end_it(self) -> None:
        self.promise("- It follows version 2.1 of a.example (e.g. the form). <!-- SEC-01 -->")
        self.prove(*ROWS, PROMISED)
        self.assertEqual(self.faults(), [])

    def test_an_id_without_a_test_is_refused(self) -> None:
        self.promise("- A code works once. <!-- SEC-01 -->")
        self.assert_fault("SEC-01 is in SECURITY.md, but no test proves it: A code works once.")

    def test_an_id_that_is_not_there_is_refused(self) -> None:
        self.prove(*ROWS, PROMISED)
        self.assert_fault("SEC-01 is in tests.tsv, but in no other table of docs/requirements and not in SECURITY.md")

    def test_an_id_of_a_disabled_test_is_refused(self) -> None:
        self.promise("- A code works once. <!-- SEC-01 -->")
        self.prove(*ROWS, PROMISED)
        self.write(TEST, SUITE.replace("@Test", '@Test(.disabled("later"))'))
        self.assert_fault("the test is disabled")
        self.assert_fault("SEC-01 is in SECURITY.md, but no test proves it")

    def test_an_id_that_stands_twice_is_refused(self) -> None:
        self.promise("- A code works once. <!-- SEC-01 -->", "- Logs hold no code. <!-- SEC-01 -->")
        self.prove(*ROWS, PROMISED)
        self.assert_fault("SECURITY.md:10 repeats SEC-01")

    def test_a_sentence_may_have_two_ids(self) -> None:
        self.promise("- A code works once, and logs hold none. <!-- SEC-01, SEC-02 -->")
        self.prove(*ROWS, PROMISED)
        self.assertEqual(len(self.faults()), 1)
        self.assert_fault("SEC-02 is in SECURITY.md, but no test proves it")

    def test_a_test_of_a_promise_must_have_passed(self) -> None:
        self.promise("- A code works once. <!-- SEC-01 -->")
        self.prove(*ROWS, PROMISED)
        self.assertIn("R001, SEC-01: the test `a code is redeemed`", self.run_of()[0])

    def test_the_page_lists_promises_and_tests_without_the_targets_of_links(self) -> None:
        self.promise("- A code works [once](docs/guide/codes.md). <!-- SEC-01 -->")
        self.prove(*ROWS, PROMISED)
        link = "[a code is redeemed](../Tests/ServerTests/CodeTests.swift)"
        self.assertIn(f"| SEC-01 | A code works once. | {link} |", self.page())
