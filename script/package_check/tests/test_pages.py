"""Which commands of the pages run in the booted system, and how."""

from __future__ import annotations

import unittest

from .. import pages

PAGE = """# Page

Run `sudo -u counterfoil counterfoil-server key list`, or read `key list`.

1. Stop it:

   ```sh
   sudo systemctl stop counterfoil-server
   sudoedit /etc/counterfoil/server.yaml
   counterfoil-server health \\
     https://id.example.com/readyz
   ```

```yaml
listen: 127.0.0.1:8080
```
"""


class PagesTests(unittest.TestCase):
    def test_blocks_and_commands_in_the_text_are_found_with_their_lines(self) -> None:
        found = pages.commands("docs/page.md", PAGE)
        self.assertEqual([command.place for command in found], ["docs/page.md:3", "docs/page.md:8"])
        self.assertEqual(found[0].text, "sudo -u counterfoil counterfoil-server key list")
        self.assertTrue(found[1].text.startswith("sudo systemctl stop"))

    def test_a_line_that_cannot_run_is_left_out_and_the_rest_is_run_with_the_addresses_of_the_system(self) -> None:
        self.assertEqual(
            pages.script(pages.commands("docs/page.md", PAGE)[1], 1001),
            "sudo systemctl stop counterfoil-server\ncounterfoil-server health https://127.0.0.1:1001/readyz")

    def test_a_placeholder_without_a_value_stays_and_fails(self) -> None:
        command = pages.Command("docs/page.md", 1, "sudo -u counterfoil counterfoil-server app show OTHER_ID")
        self.assertIn("OTHER_ID", pages.script(command, 1001))

    def test_each_entry_of_the_tables_is_needed_by_a_page(self) -> None:
        self.assertEqual(pages.unused(), [])

    def test_every_page_for_operators_is_followed(self) -> None:
        followed = [*pages.pages(), f"docs/operations/{pages.POSTGRESQL}"]
        self.assertEqual(
            set(followed),
            {"docs/operations.md", "docs/alerts.md",
             *(f"docs/operations/{path.name}" for path in (pages.ROOT / "docs" / "operations").glob("*.md"))})
        self.assertGreater(sum(1 for page in followed for command in pages.of_page(page) if pages.runnable(command)), 80)
