"""The string literals of programs, as a parser of each language reads them."""

from __future__ import annotations

import html.parser
import json
import re
import subprocess

import tree_sitter_c_sharp
import tree_sitter_go
import tree_sitter_javascript
import tree_sitter_kotlin
from local_servers import expect
from tree_sitter import Language, Node, Parser


def tree(name: str, language: object, text: str) -> Node:
    """The syntax tree of a program, which has no error."""
    root = Parser(Language(language)).parse(text.encode()).root_node
    expect(not root.has_error, f"{name} does not parse:\n{text}")
    return root


def nodes(node: Node, kind: str) -> list[str]:
    """The texts of the nodes of a kind."""
    found = [] if node.type != kind or node.text is None else [node.text.decode()]
    return found + [text for child in node.children for text in nodes(child, kind)]


def javascript(name: str, text: str) -> set[str]:
    """The strings of a program."""
    return {json.loads(literal) for literal in nodes(tree(name, tree_sitter_javascript.language(), text), "string")}


def kotlin(name: str, text: str) -> set[str]:
    """The strings of a program, which has no templates."""
    root = tree(name, tree_sitter_kotlin.language(), text)
    expect(not nodes(root, "interpolation"), f"{name} has a template:\n{text}")
    return {json.loads(literal) for literal in nodes(root, "string_literal")}


def go(name: str, text: str) -> set[str]:
    """The strings of a program."""
    root = tree(name, tree_sitter_go.language(), text)
    return {json.loads(literal) for literal in nodes(root, "interpreted_string_literal")}


def c_sharp(name: str, text: str) -> set[str]:
    """The strings of a program, which has no templates."""
    root = tree(name, tree_sitter_c_sharp.language(), text)
    expect(not nodes(root, "interpolation"), f"{name} has a template:\n{text}")
    literals = nodes(root, "string_literal")
    return {json.loads(literal.removesuffix("u8")) for literal in literals}


def swift(name: str, text: str) -> set[str]:
    """The strings of a program, as the compiler reads them."""
    command = ["swiftc", "-frontend", "-dump-parse", "-"]
    result = subprocess.run(command, input=text, capture_output=True, text=True, timeout=120)
    expect(result.returncode == 0, f"{name} does not parse:\n{result.stderr}\n{text}")
    dump = result.stdout + result.stderr
    expect("interpolated_string" not in dump, f"{name} has an interpolated string:\n{text}")
    literals = re.findall(r'[(=]string_literal_expr.*? value="((?:[^"\\]|\\.)*)"', dump)
    return {re.sub(r"\\(.)", r"\1", literal) for literal in literals}


class _Scripts(html.parser.HTMLParser):
    """The scripts of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._is_inside = False
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._is_inside = tag == "script"

    def handle_endtag(self, tag: str) -> None:
        self._is_inside = False

    def handle_data(self, data: str) -> None:
        if self._is_inside:
            self.texts.append(data)


def scripts(page: str) -> list[str]:
    """The scripts of a page."""
    return _Scripts(page).texts
