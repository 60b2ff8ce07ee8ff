"""What script/package-check reads: the lists of apt, and how a program was linked."""

from __future__ import annotations

import unittest
from pathlib import Path

from .. import relink, system


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

    def test_a_program_is_linked_again_with_the_static_libraries_of_swift(self) -> None:
        manifest = (
            '    description: "Linking ./.build/debug/counterfoil-server"\n'
            '    args: ["swiftc","-lz","-o","/b/counterfoil-server","@/b/counterfoil-server.product/L","-g"]\n'
            '    description: "Linking ./.build/debug/counterfoil"\n'
            '    args: ["swiftc","-o","/b/counterfoil","@/b/counterfoil.product/L","-g"]\n'
        )
        command = relink.link_command(manifest, "counterfoil", Path("/new/counterfoil"))
        self.assertEqual(command[:4], ["swiftc", "-o", "/new/counterfoil", "@/b/counterfoil.product/L"])
        self.assertIn("-static-stdlib", command)
        self.assertNotIn("-g", command)
        with self.assertRaisesRegex(system.Failed, "does not say how other was linked"):
            relink.link_command(manifest, "other", Path("/new/other"))
