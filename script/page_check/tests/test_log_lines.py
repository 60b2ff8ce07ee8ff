"""A quote that the sources do not have is found, and so is an error of the log that no page explains."""

from __future__ import annotations

import unittest

from .. import log_lines

SOURCE = '''
logger.error(
    "failed to store the thing; only this server has it, "
        + "and tries again", metadata: ["error": "\\(fault)"])
logger.notice("stored the thing")
throw CommandFailure.refused("the directory \\(path) belongs to the user \\(name); run the command as that user")
let text = """
    the database \\(path) was written by \\
    a newer version
    """
'''


class LogLineTests(unittest.TestCase):
    """Compares one source with one page."""

    def findings(self, page: str, source: str = SOURCE) -> list[str]:
        return log_lines.findings({"Server/Sources/CounterfoilServer/Thing.swift": source}, {log_lines.LINES: page})

    def test_quotes_of_the_sources_are_found_over_lines_and_interpolations(self) -> None:
        self.assertEqual(self.findings(
            "| `failed to store the thing; only this server has it, and tries again` | error | Wait. |\n"
            "| `stored the thing` | notice | Fine. |\n"
            "| `the directory … belongs to the user …` (3) | Run it as that user. |\n"
            "| `the database … was written by a newer version` (3) | Use that version. |\n"
        ), [])

    def test_a_quote_that_no_source_has_is_a_finding(self) -> None:
        found = self.findings("| `failed to store the thing` | error | |\n\nThe log says `the thing answers again`.\n")
        self.assertEqual(found, [f"{log_lines.LINES}: no literal of the sources has `the thing answers again`"])

    def test_a_quote_does_not_reach_across_an_interpolation(self) -> None:
        self.assertFalse(log_lines.contains("failed to \\(job)", "failed to store the thing"))

    def test_an_error_without_a_row_is_a_finding_and_a_notice_is_none(self) -> None:
        found = self.findings("")
        self.assertEqual(len(found), 1)
        self.assertIn("no row for the error “failed to store the thing;", found[0])

    def test_a_row_with_another_level_is_a_finding(self) -> None:
        found = self.findings("| `failed to store the thing` | warning | |\n| `stored the thing` | notice | |\n")
        self.assertEqual(len(found), 1)
        self.assertIn("is error in Server/Sources/CounterfoilServer/Thing.swift", found[0])

    def test_a_command_is_no_message(self) -> None:
        self.assertFalse(log_lines.is_message("sudo systemctl restart counterfoil-server"))
        self.assertFalse(log_lines.is_message("user password NAME"))
        self.assertTrue(log_lines.is_message("refused the new settings"))
