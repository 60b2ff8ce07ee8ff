"""How the files of a package and of an archive are compared, and which commands install an archive."""

from __future__ import annotations

import unittest

from .. import archives


class ArchivesTests(unittest.TestCase):
    def test_a_file_of_a_package_has_its_place_in_an_archive(self) -> None:
        for entry, place in (
            ("usr/bin/counterfoil", "bin/counterfoil"),
            ("usr/share/man/man1/counterfoil.1.gz", "share/man/man1/counterfoil.1"),
            ("usr/share/doc/counterfoil-server/changelog.gz", "share/doc/counterfoil-server/CHANGELOG.md"),
            ("lib/systemd/system/counterfoil-server.service", "lib/systemd/system/counterfoil-server.service"),
            ("usr/lib/sysusers.d/counterfoil-server.conf", "lib/sysusers.d/counterfoil-server.conf"),
            ("etc/counterfoil/server.yaml", "etc/counterfoil/server.yaml"),
        ):
            self.assertEqual(archives.place(entry), place)

    def test_the_commands_are_those_of_the_page(self) -> None:
        commands = archives.commands()
        self.assertEqual(commands[0], "install -m 755 bin/counterfoil-server /usr/bin/")
        self.assertEqual(commands[-1], "systemctl daemon-reload")
        self.assertNotIn("sudo", " ".join(commands))
