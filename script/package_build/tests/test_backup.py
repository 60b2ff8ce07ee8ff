"""The nightly copy: one at a time, never a half file, and the newest ones are kept."""

from __future__ import annotations

import fcntl
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

BACKUP = Path(__file__).resolve().parents[3] / "Server" / "Packaging" / "backup"


class BackupTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.copies = self.root / "copies"
        self.copies.mkdir()
        self.settings = self.root / "server.yaml"
        self.settings.write_text(f"data-dir: {self.root}/elsewhere\n", "utf-8")
        self.program("printf copy >\"$3\"")

    def program(self, body: str) -> None:
        """A server program whose `backup --output FILE --config FILE` does this."""
        file = self.root / "counterfoil-server"
        file.write_text(f"#!/bin/sh\n{body}\n", "utf-8")
        file.chmod(0o755)

    def run_backup(self, keep: str = "2") -> subprocess.CompletedProcess[str]:
        environment = {"PATH": f"{self.root}:{os.environ['PATH']}", "COUNTERFOIL_BACKUP_KEEP": keep,
                       "COUNTERFOIL_BACKUP_DIRECTORY": str(self.copies), "STATE_DIRECTORY": str(self.root),
                       "COUNTERFOIL_SERVER_CONFIG": str(self.settings)}
        return subprocess.run([str(BACKUP)], env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)

    def names(self) -> list[str]:
        return sorted(path.name for path in self.copies.glob("*.backup"))

    def test_the_newest_copies_are_kept_and_other_files_are_not_touched(self) -> None:
        for name in ("20260101T030000Z", "20260103T030000Z", "20260102T030000Z"):
            (self.copies / f"counterfoil-{name}.backup").touch()
        (self.copies / "counterfoil-of-the-operator.backup").touch()
        result = self.run_backup()
        self.assertEqual(result.returncode, 0, result.stderr)
        kept = [name for name in self.names() if "operator" not in name]
        self.assertEqual(len(kept), 2)
        self.assertEqual(kept[0], "counterfoil-20260103T030000Z.backup")
        self.assertIn("counterfoil-of-the-operator.backup", self.names())
        newest = self.copies / kept[1]
        self.assertEqual((newest.read_text("utf-8"), newest.stat().st_mode & 0o777), ("copy", 0o600))

    def test_a_failure_leaves_no_half_copy_and_removes_none(self) -> None:
        (self.copies / "counterfoil-20260101T030000Z.backup").touch()
        for body in ('printf half >"$3"; exit 6', "true"):
            self.program(body)
            self.assertNotEqual(self.run_backup(keep="1").returncode, 0)
            self.assertEqual(self.names(), ["counterfoil-20260101T030000Z.backup"])
            self.assertFalse((self.copies / ".partial").exists())

    def test_the_settings_of_the_server_name_the_data(self) -> None:
        self.program('printf "%s %s" "$5" "$STATE_DIRECTORY" >"$3"')
        self.assertEqual(self.run_backup().returncode, 0)
        self.assertEqual((self.copies / self.names()[0]).read_text("utf-8"), f"{self.settings} {self.root}")

    def test_without_data_in_a_directory_there_is_nothing_to_copy(self) -> None:
        for text, reason in (("", "no data"), (f"data-dir: {self.root}\n", "no data"),
                             (f"data-dir: '{self.root}' # ours\n", "no data"), ("database: x\n", "PostgreSQL"),
                             ('"database" : x\n', "PostgreSQL")):
            self.settings.write_text(text, "utf-8")
            result = self.run_backup()
            self.assertEqual((result.returncode, self.names()), (0, []), text)
            self.assertIn(reason, result.stdout)
        # A comment sets nothing, and the data count once they are there.
        self.settings.write_text(f"#database: x\ndata-dir: {self.root}\n", "utf-8")
        (self.root / "counterfoil.db").touch()
        self.assertEqual(self.run_backup().returncode, 0)
        self.assertEqual(len(self.names()), 1)

    def test_a_directory_whose_database_is_lost_is_a_failure(self) -> None:
        self.settings.write_text("", "utf-8")
        self.program("exit 3")
        for name in ("server.key", "last-settings.json"):
            (self.root / name).touch()
            self.assertEqual((self.run_backup().returncode, self.names()), (3, []), name)
            (self.root / name).unlink()

    def test_one_copy_is_made_at_a_time(self) -> None:
        with (self.copies / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            result = self.run_backup()
        self.assertEqual((result.returncode, self.names()), (6, []))
        self.assertIn("another copy", result.stderr)

    def test_a_number_that_would_keep_none_is_refused(self) -> None:
        for keep in ("0", "two", "-1", "07"):
            self.assertEqual(self.run_backup(keep).returncode, 64)
        self.copies.rmdir()
        self.assertEqual(self.run_backup().returncode, 3)
