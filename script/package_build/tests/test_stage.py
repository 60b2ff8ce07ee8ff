"""The files of a package: its programs, and settings that name the data directory of its units."""

from __future__ import annotations

import tempfile
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

    def test_a_build_folder_names_those_of_both_packages(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            debug, of_server, given = root / ".build/debug", root / "Server/.build/debug", root / ".build/binaries"
            for folder in (debug, of_server, given):
                folder.mkdir(parents=True)
                (folder / stage.SERVER).touch()
            self.assertEqual(stage.folders(debug, root), {stage.SERVER: of_server, stage.CLIENT: debug})
            self.assertEqual(stage.folders(given, root), {stage.SERVER: given, stage.CLIENT: given})
            self.assertEqual(stage.folders(given, ROOT), {stage.SERVER: given, stage.CLIENT: given})


if __name__ == "__main__":
    unittest.main()
