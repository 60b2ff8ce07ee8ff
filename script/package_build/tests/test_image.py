"""The image has the settings of the Containerfile, and its parts have the digests that name them."""

from __future__ import annotations

import hashlib
import json
import tempfile
import unittest
from pathlib import Path

from .. import image
from ..source import Failed, Source

CONTAINERFILE = Path(__file__).resolve().parents[3] / "Server" / "Packaging" / "image" / "Containerfile"
SOURCE = Source("a" * 40, 1_790_000_000, "0.1.0", True)


class ImageTests(unittest.TestCase):
    def test_the_image_is_not_root_and_checks_its_health_without_a_shell(self) -> None:
        settings = image.settings_of(CONTAINERFILE.read_text("utf-8"))
        self.assertEqual(settings["User"], f"{image.USER}:{image.USER}")
        self.assertEqual(settings["Entrypoint"], ["/usr/bin/counterfoil-server"])
        self.assertEqual(settings["Healthcheck"]["Test"][:3], ["CMD", "/usr/bin/counterfoil-server", "health"])
        self.assertEqual(settings["Healthcheck"]["Interval"], 30_000_000_000)
        # A variable that is a setting would go before the settings file.
        self.assertIn("STATE_DIRECTORY=/var/lib/counterfoil", settings["Env"])
        self.assertFalse([each for each in settings["Env"] if each.startswith("COUNTERFOIL_")])
        self.assertEqual(settings["Labels"]["org.opencontainers.image.title"], "counterfoil-server")

    def test_an_instruction_that_is_not_known_is_refused(self) -> None:
        with self.assertRaisesRegex(Failed, "RUN"):
            image.settings_of("FROM scratch\nRUN true\n")

    def test_two_layouts_are_the_same_and_complete(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            root = Path(name) / "root"
            (root / image.DATA).mkdir(parents=True)
            (root / "file").write_text("content", "utf-8")
            folders = [Path(name) / each for each in ("first", "second")]
            for folder in folders:
                image.layout(root, CONTAINERFILE, SOURCE, "x86_64", folder, "0.1.0")
            first, second = ({path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
                             for folder in folders)
            self.assertEqual(first, second)
            for path, content in first.items():
                if path.parts[0] == "blobs":
                    self.assertEqual(path.name, hashlib.sha256(content).hexdigest())
            index = json.loads(first[Path("index.json")])
            manifest = json.loads(first[Path("blobs", *index["manifests"][0]["digest"].split(":"))])
            for part in (manifest["config"], *manifest["layers"]):
                self.assertEqual(len(first[Path("blobs", *part["digest"].split(":"))]), part["size"])
