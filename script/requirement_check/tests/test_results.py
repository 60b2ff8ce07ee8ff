"""A test proves something only when it passed in the run."""

from __future__ import annotations

from .. import check, proofs, results
from .repository import SUITE, TEST, RepositoryCase

STARTED = {"kind": "testStarted"}
ENDED = {"kind": "testEnded"}


class ResultTests(RepositoryCase):
    def test_a_test_that_passed_proves_its_requirement(self) -> None:
        self.assertEqual(self.run_of(STARTED, ENDED), [])

    def test_a_test_that_did_not_run_is_refused(self) -> None:
        self.assertIn("did not run", self.run_of()[0])

    def test_a_skipped_test_is_refused(self) -> None:
        self.assertIn("was skipped", self.run_of({"kind": "testSkipped"})[0])

    def test_a_failed_test_is_refused(self) -> None:
        issue = {"kind": "issueRecorded", "issue": {"isKnown": False}}
        self.assertIn("failed", self.run_of(STARTED, issue, ENDED)[0])

    def test_a_warning_is_no_failure(self) -> None:
        issue = {"kind": "issueRecorded", "issue": {"isKnown": False, "isFailure": False}}
        self.assertEqual(self.run_of(STARTED, issue, ENDED), [])

    def test_a_test_that_did_not_end_is_refused(self) -> None:
        self.assertIn("did not end", self.run_of(STARTED)[0])

    def test_a_partial_run_is_not_asked_about_other_tests(self) -> None:
        self.assertEqual(self.run_of(partial=True), [])

    def test_the_folder_of_the_package_of_a_test_is_in_no_record(self) -> None:
        self.write(f"Server/{TEST}", SUITE)
        self.prove(f"R001\tServer/{TEST}\ta code is redeemed")
        self.assertEqual(self.run_of(STARTED, ENDED), [])
        self.assertEqual(self.faults(), [])

    def test_a_driver_of_the_table_must_have_passed(self) -> None:
        self.write("Interop/authlib/drive.py", '"""A client signs in."""\n')
        self.prove("R001\tInterop/authlib/drive.py\t")
        found = proofs.read(self.root)
        for recorded, partial, wanted in (
            ("authlib\tpassed\n", False, []),
            ("authlib\tfailed\n", True, ["R001: Interop/authlib/drive.py failed"]),
            ("", True, []),
            ("", False, ["R001: Interop/authlib/drive.py did not run"]),
        ):
            with self.subTest(recorded, partial=partial):
                outcomes = results.of_drivers(self.write("drivers.tsv", recorded))
                self.assertEqual(check.unproved_drivers(found, outcomes, partial), wanted)
