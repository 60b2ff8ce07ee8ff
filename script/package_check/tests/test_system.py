"""What script/package-check reads: the lists of apt, and the command of a unit."""

from __future__ import annotations

import unittest
from pathlib import Path

from .. import notify, system

UNITS = Path(__file__).resolve().parents[3] / "Packaging" / "debian"


class SystemTests(unittest.TestCase):
    def test_the_archives_of_debian_are_found_in_both_formats(self) -> None:
        texts = [
            "deb https://packages.example.com/apt tool main\n",
            "deb [signed-by=/k.gpg] http://deb.debian.org/debian bookworm main contrib\n# deb http://x/debian sid main\n",
            "Types: deb\nURIs: http://deb.debian.org/debian-security\nSuites: bookworm-security\nComponents: main\n\n"
            "Types: deb\nURIs: https://deb.example.com/node\nSuites: nodistro\nComponents: main\n",
        ]
        self.assertEqual([each.line for each in system.archives(texts)], [
            "deb http://deb.debian.org/debian bookworm main\n",
            "deb http://deb.debian.org/debian-security bookworm-security main\n",
        ])

    def test_without_an_archive_of_debian_there_is_a_reason(self) -> None:
        with self.assertRaisesRegex(system.Failed, "no archive of Debian"):
            system.archives(["deb https://packages.example.com/apt tool main\n"])

    def test_the_command_is_that_of_the_unit(self) -> None:
        unit = (UNITS / "counterfoil-server.service").read_text("utf-8")
        self.assertEqual(notify.exec_start(unit),
                         ["/usr/bin/counterfoil-server", "serve", "--config", "/etc/counterfoil/server.yaml"])
