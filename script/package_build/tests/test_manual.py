"""A manual page has everything that `--help` shows, and no text of it is a request of roff."""

from __future__ import annotations

import unittest
from typing import Any

from .. import manual
from ..source import Source

SOURCE = Source("0" * 40, 1_790_000_000, "0.1.0", True)


def option(name: str, **more: Any) -> dict[str, Any]:
    """An option as a program describes it."""
    names = [{"kind": "long", "name": name}]
    return {"kind": "option", "names": names, "preferredName": names[0], "valueName": "value", "isOptional": True,
            "shouldDisplay": True, **more}


COMMAND: dict[str, Any] = {
    "commandName": "server", "abstract": "A server.", "discussion": "Text.\n\nExample:\n  server serve \\\n    --all\n",
    "arguments": [],
    "subcommands": [
        {
            "commandName": "serve", "abstract": "Run it.",
            "arguments": [
                option("issuer", isOptional=False, abstract="The URL."),
                option("level", abstract=".hidden text", defaultValue="notice", sectionTitle="Monitoring"),
                option("secret", abstract="Not shown.", shouldDisplay=False),
                {"kind": "positional", "valueName": "file", "isRepeating": True, "isOptional": True,
                 "shouldDisplay": True, "abstract": "A file."},
            ],
        },
        {"commandName": "help", "abstract": "Show help.", "arguments": []},
        {"commandName": "inner", "shouldDisplay": False},
    ],
}


class ManualTests(unittest.TestCase):
    def setUp(self) -> None:
        self.pages = {page.name: page.text for page in manual.pages_of(COMMAND, [], SOURCE)}

    def test_each_command_has_a_page(self) -> None:
        self.assertEqual(list(self.pages), ["server", "server-serve"])
        self.assertIn('.TH "SERVER\\-SERVE" 1 2026\\-09\\-21 "Counterfoil 0.1.0"', self.pages["server-serve"])
        self.assertIn("server\\-serve \\- run it\n", self.pages["server-serve"])
        self.assertIn(".BR server\\-serve (1)", self.pages["server"])
        self.assertIn(".BR server (1)", self.pages["server-serve"])

    def test_the_synopsis_has_what_is_required(self) -> None:
        self.assertIn(
            "\\fBserver serve\\fR \\fB\\-\\-issuer\\fR \\fIvalue\\fR [\\fIOPTION\\fR]... [\\fIfile\\fR...]",
            self.pages["server-serve"],
        )

    def test_options_are_under_their_headings_with_their_defaults(self) -> None:
        page = self.pages["server-serve"]
        self.assertLess(page.index('.SH "OPTIONS"'), page.index('.SH "MONITORING"'))
        self.assertIn("(default: notice)", page)
        self.assertNotIn("secret", page)

    def test_no_text_is_a_request(self) -> None:
        self.assertIn("\n\\&.hidden text", self.pages["server-serve"])

    def test_an_example_keeps_its_lines(self) -> None:
        self.assertIn(".RS 4\n.nf\nserver serve \\e\n\\-\\-all\n", self.pages["server"])
