"""The version of a package comes from the commit, and a checkout with changes is refused."""

from __future__ import annotations

import subprocess
import tempfile
import unittest
from pathlib import Path

from .. import debian, source


class SourceTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        file = self.root / "Server/Sources/CounterfoilServer/Operation/ServerMetrics.swift"
        file.parent.mkdir(parents=True)
        file.write_text('package enum Build {\n    package static let version = "1.2.3"\n}\n', "utf-8")
        self.git("init", "--quiet")
        self.git("add", ".")
        self.git("-c", "user.name=n", "-c", "user.email=n@example.com", "commit", "--quiet", "--message", "first")

    def git(self, *words: str) -> None:
        date = {"GIT_COMMITTER_DATE": "2026-09-21T14:13:20Z", "PATH": "/usr/bin:/bin", "HOME": str(self.root)}
        subprocess.run(["git", *words], cwd=self.root, check=True, env=date, stdin=subprocess.DEVNULL)

    def test_a_commit_between_releases_sorts_before_the_release(self) -> None:
        found = source.of(self.root, allow_dirty=False)
        self.assertEqual(found.version, f"1.2.3~git1790000000.{found.commit[:8]}")
        self.assertEqual(found.archive_version, f"1.2.3-git1790000000.{found.commit[:8]}")

    def test_a_tagged_commit_has_the_version_of_the_programs(self) -> None:
        self.git("tag", "v1.2.3")
        self.assertEqual(source.of(self.root, allow_dirty=False).version, "1.2.3")

    def test_a_checkout_with_changes_is_refused(self) -> None:
        (self.root / "new").touch()
        with self.assertRaisesRegex(source.Failed, "1 changes, such as new"):
            source.of(self.root, allow_dirty=False)
        self.assertEqual(source.of(self.root, allow_dirty=True).time, 1_790_000_000)

    def test_the_changelog_of_debian_has_the_time_of_the_commit(self) -> None:
        text = debian.changelog(source.of(self.root, allow_dirty=False), "1.2.3-1")
        self.assertTrue(text.startswith("counterfoil (1.2.3-1) unstable; urgency=medium\n"))
        self.assertIn("Mon, 21 Sep 2026 14:13:20 +0000\n", text)

    def test_a_package_can_be_left_out(self) -> None:
        control = self.root / "control"
        control.write_text("Source: c\nSection: net\n\nPackage: a\nDepends: b\n\nPackage: b\n", "utf-8")
        debian.keep_only(control, ("b",))
        self.assertEqual(control.read_text("utf-8"), "Source: c\nSection: net\n\nPackage: b\n")
