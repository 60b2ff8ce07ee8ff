"""The settings of a running server are checked with its arguments and its environment."""

from __future__ import annotations

import getpass
import subprocess
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).resolve().parents[3] / "Server" / "Packaging" / "check-settings"


class CheckSettingsTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        # A shell whose first argument is the file of that name stands for the program.
        (self.root / "serve").write_text("echo started; read line\n", "utf-8")
        (self.root / "config").write_text('printf "%s|" "$@" "$CREDENTIALS_DIRECTORY"; [ "$3" = "a file" ]\n', "utf-8")

    def check(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": "/usr/bin:/bin", "CREDENTIALS_DIRECTORY": "/run/credentials of it"}
        with subprocess.Popen(["/bin/sh", *arguments], cwd=self.root, env=environment, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None and process.stdin is not None
            process.stdout.readline()
            try:
                return subprocess.run([str(CHECK), str(process.pid), getpass.getuser()], cwd=self.root,
                                      capture_output=True, text=True)
            finally:
                process.stdin.close()

    def test_the_check_has_the_arguments_and_the_environment_of_the_process(self) -> None:
        result = self.check("serve", "--config", "a file")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, "check|--config|a file|/run/credentials of it|")

    def test_settings_that_are_refused_are_a_failure(self) -> None:
        self.assertNotEqual(self.check("serve", "--config", "another").returncode, 0)

    def test_a_process_that_is_not_the_server_is_a_failure(self) -> None:
        (self.root / "other").write_text("echo started; read line\n", "utf-8")
        result = self.check("other", "--config", "a file")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("cannot be checked", result.stderr)


if __name__ == "__main__":
    unittest.main()
