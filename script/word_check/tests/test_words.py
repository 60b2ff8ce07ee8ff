"""A forbidden form is found in prose, and only there."""

from __future__ import annotations

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

from .. import check, forms


class WordTests(unittest.TestCase):
    """Checks one file in a repository of its own."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        subprocess.run(("git", "init", "--quiet"), cwd=self.root, check=True)

    def findings(self, path: str, text: str) -> list[tuple[int, str]]:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
        found = check.of_repository(self.root)
        place.unlink()
        return [(finding.line, finding.words) for finding in found if finding.path == path]

    def test_a_form_in_a_comment_is_found_with_its_line(self) -> None:
        self.assertEqual(self.findings("Sources/A.swift", "let a = 1\n// Nobody waits.\n"), [(2, "Nobody")])

    def test_a_form_over_two_lines_of_a_comment_is_found(self) -> None:
        self.assertEqual(self.findings("Sources/A.swift", "// It asks once\n// more.\n"), [(1, "once more")])

    def test_code_between_two_comments_separates_them(self) -> None:
        self.assertEqual(self.findings("Sources/A.swift", "a() // It asks once\nb() // more\n"), [])

    def test_code_is_not_prose(self) -> None:
        self.assertEqual(self.findings("Sources/A.swift", "let nobody = somebody.wish\n"), [])

    def test_a_string_is_prose_in_sources_and_input_in_tests(self) -> None:
        text = 'log("nobody asked \\(wish)")\n'
        self.assertEqual(self.findings("Sources/A.swift", text), [(1, "nobody")])
        self.assertEqual(self.findings("Tests/A.swift", text), [])
        self.assertEqual(self.findings("Server/Sources/A.swift", text), [(1, "nobody")])
        self.assertEqual(self.findings("Server/Tests/A.swift", text), [])

    def test_the_name_of_a_test_is_prose(self) -> None:
        self.assertEqual(self.findings("Tests/A.swift", "@Test func `nobody signs in`() {}\n"), [(1, "nobody")])

    def test_a_url_in_a_string_opens_no_comment(self) -> None:
        self.assertEqual(self.findings("Tests/A.swift", 'let a = "https://nobody.example"; nobody()\n'), [])

    def test_a_documentation_comment_does_not_begin_with_a_question(self) -> None:
        for words in ("What", "How", "Who", "Makes a"):
            with self.subTest(words):
                self.assertEqual(
                    self.findings("Sources/A.swift", f"/// {words} cookie is set.\nlet a = 1\n"), [(1, f"/// {words}")]
                )

    def test_whether_is_for_properties_of_type_bool(self) -> None:
        comment = "/// Whether it is open.\n///\n/// It is not.\n@Attribute\n"
        for declaration in ("var isOpen: Bool\n", "var isOpen = true\n", "let isOpen: @Sendable () -> Bool\n"):
            with self.subTest(declaration):
                self.assertEqual(self.findings("Sources/A.swift", comment + declaration), [])
        for declaration in ("func isOpen() -> Bool {\n", "var state: State\n", "case open\n"):
            with self.subTest(declaration):
                self.assertEqual(self.findings("Sources/A.swift", comment + declaration), [(1, "/// Whether")])

    def test_a_comment_has_at_most_120_columns(self) -> None:
        self.assertEqual(self.findings("Sources/A.swift", "// " + "a" * 117 + "\n"), [])
        self.assertEqual(self.findings("Sources/A.swift", "// " + "a" * 118 + "\n"), [(1, "121 columns")])
        self.assertEqual(self.findings("Sources/A.swift", 'let a = "' + "a" * 120 + '"\n'), [])

    def test_markdown_is_prose_except_code_and_targets(self) -> None:
        text = "`nobody` [a](nobody.md)\n\n```\nnobody\n```\nNobody.\n"
        self.assertEqual(self.findings("docs/a.md", text), [(6, "Nobody")])

    def test_scripts_are_prose_too(self) -> None:
        self.assertEqual(self.findings("script/a", "#!/bin/sh\n# Asks anew.\n"), [(2, "anew")])

    def test_the_catalogue_has_its_own_forms(self) -> None:
        text = json.dumps({"a.application": "{application} asks", "b": "The application is over."}, indent=2)
        self.assertEqual(self.findings(check.CATALOGUE, text), [(3, "application"), (3, "is over")])

    def test_an_exemption_is_by_form_and_files(self) -> None:
        exemption = forms.Exemption("anew", "docs/*", "an example")
        self.assertTrue(exemption.covers("anew", "docs/guide/a.md"))
        self.assertFalse(exemption.covers("anew", "README.md"))


if __name__ == "__main__":
    unittest.main()
