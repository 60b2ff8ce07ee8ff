"""A link that leads nowhere is found."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from .. import links


class LinkTests(unittest.TestCase):
    def test_a_link_needs_a_file_and_a_heading(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            (root / "docs").mkdir()
            (root / "docs" / "other.md").write_text("# Other\n\n## Why `--it` matters\n\n## Limits\n\n## Limits\n", "utf-8")
            (root / "README.md").write_text(
                "[a](docs/other.md#why---it-matters) [b](docs/other.md#limits-1) [c](https://example.com/#x)\n"
                "```sh\n# [d](none)\n```\n[e](docs/none.md) [f](docs/other.md#none) [g](#none)\n", "utf-8")
            self.assertEqual(links.findings(root), [
                "README.md: there is no docs/none.md",
                "README.md: there is no heading for docs/other.md#none",
                "README.md: there is no heading for #none",
            ])
