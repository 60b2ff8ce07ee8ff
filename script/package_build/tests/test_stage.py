"""The files of a package: its programs, and settings that name the data directory of its units."""

from __future__ import annotations

import unittest
from pathlib import Path

from .. import stage

ROOT = Path(__file__).resolve().parents[3]


class StageTests(unittest.TestCase):
    def test_only_the_data_directory_is_set(self) -> None:
        lines = stage.packaged_settings(ROOT).splitlines()
        self.assertEqual([each for each in lines if each and not each.startswith("#")], ["data-dir: /var/lib/counterfoil"])
        unit = (ROOT / "Server/Packaging/debian/counterfoil-server.service").read_text("utf-8")
        self.assertIn("\nStateDirectory=counterfoil\n", unit)


if __name__ == "__main__":
    unittest.main()
