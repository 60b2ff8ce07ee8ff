"""Reads Swift test files: which tests they declare, and which helpers."""

from __future__ import annotations

import re
from dataclasses import dataclass

TOKEN = re.compile(
    r"(?P<directive>^[ \t]*#(?:if|elseif|else|endif)\b.*$)"
    r"|(?P<attribute>@(?:Test|Suite)\b)"
    r"|(?P<type>\b(?:struct|class|actor|enum|extension|protocol)\s+(?!func\b|var\b|let\b|subscript\b)[`\w])"
    r"|(?P<function>\bfunc\s+(?P<name>`[^`]+`|\w+))"
    r"|(?P<brace>[{}])",
    re.MULTILINE,
)
SPECIAL = re.compile(r'[/"#`]')
BRACKET = re.compile(r"[(){}\[\]]")
LITERAL = re.compile(r'(#*)("""|")|(#+)/')
PLAIN_REGEX = re.compile(r"/(?![\s/*])(?:\\.|[^/\\\n])+/")
PLATFORM = re.compile(r"\s*(!?)\s*os\((\w+)\)\s*")


@dataclass(frozen=True)
class Function:
    """A function of a test file: a test when it has the attribute `@Test`, a helper otherwise."""

    name: str
    is_test: bool
    #: The arguments of `@Test` and of every suite around the test, without strings and comments.
    traits: str
    #: The conditions of `#if` around the function.
    conditions: tuple[str, ...]
    #: What stands between the braces, without strings and comments.
    body: str


def masked(text: str) -> str:
    """The text with strings and comments replaced by blanks of the same length."""
    kept = list(text)
    position = 0
    while (start := SPECIAL.search(text, position)) is not None:
        position = start.start()
        end = _end_of_opaque(text, position)
        if end is None:
            position = text.index("`", position + 1) + 1 if _opens_name(text, position) else position + 1
            continue
        for index in range(position, end):
            if kept[index] != "\n":
                kept[index] = " "
        position = end
    return "".join(kept)


def _opens_name(text: str, position: int) -> bool:
    return text[position] == "`" and "`" in text[position + 1 :]


def _end_of_opaque(text: str, position: int) -> int | None:
    """Where the comment, string or regular expression that starts here ends; none when nothing of them starts here."""
    if text.startswith("//", position):
        end = text.find("\n", position)
        return len(text) if end < 0 else end
    if text.startswith("/*", position):
        return _end_of_block_comment(text, position)
    literal = LITERAL.match(text, position)
    if literal is None:
        return _end_of_plain_regex(text, position)
    if literal[3]:
        end = text.find("/" + literal[3], literal.end())
        return len(text) if end < 0 else end + 1 + len(literal[3])
    return _end_of_string(text, literal.end(), quote=literal[2], hashes=literal[1])


def _end_of_plain_regex(text: str, position: int) -> int | None:
    """Where a regular expression between single slashes ends; a slash after an operand is a division."""
    found = PLAIN_REGEX.match(text, position)
    before = text[max(0, position - 40) : position].rstrip()
    return found.end() if found and before and before[-1] in "=(,:[!&|{?" else None


def _end_of_block_comment(text: str, position: int) -> int:
    depth = 0
    for found in re.compile(r"/\*|\*/").finditer(text, position):
        depth += 1 if found[0] == "/*" else -1
        if depth == 0:
            return found.end()
    return len(text)


def _end_of_string(text: str, position: int, quote: str, hashes: str) -> int:
    close, escape = quote + hashes, "\\" + hashes
    while position < len(text):
        if text.startswith(close, position):
            return position + len(close)
        if text.startswith(escape + "(", position):
            position = _end_of_interpolation(text, position + len(escape) + 1)
        elif text.startswith(escape, position):
            position += len(escape) + 1
        else:
            position += 1
    return position


def _end_of_interpolation(text: str, position: int) -> int:
    depth = 1
    while position < len(text) and depth:
        end = _end_of_opaque(text, position)
        if end is not None:
            position = end
            continue
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        position += 1
    return position


def balanced(code: str, opening: int) -> int:
    """The position after the bracket that closes the one at `opening`."""
    pairs = {"(": ")", "{": "}", "[": "]"}
    expected: list[str] = []
    for bracket in BRACKET.finditer(code, opening):
        if bracket[0] in pairs:
            expected.append(pairs[bracket[0]])
        elif expected and bracket[0] == expected[-1]:
            expected.pop()
            if not expected:
                return bracket.end()
    return len(code)


def _body(code: str, position: int) -> tuple[int, int] | None:
    """The braces of the function whose name ends at `position`."""
    while (bracket := BRACKET.search(code, position)) is not None:
        if bracket[0] == "{":
            return bracket.start(), balanced(code, bracket.start())
        if bracket[0] not in "([":
            return None
        position = balanced(code, bracket.start())
    return None


class _Reader:
    """One pass over the code of a file."""

    def __init__(self, code: str) -> None:
        self.code = code
        self.functions: list[Function] = []
        self.conditions: list[str] = []
        self.scopes: list[tuple[bool, str]] = []  # For each open brace: is it a protocol, and the traits of its suite.
        self.attribute: tuple[str, int, str] | None = None  # `@Test` or `@Suite`, its position and its arguments.
        self.opens: tuple[bool, str] = (False, "")

    def read(self) -> tuple[Function, ...]:
        position = 0
        while True:
            found = TOKEN.search(self.code, position)
            if found is None:
                return tuple(self.functions)
            position = found.end()
            if found["directive"]:
                self._directive(found["directive"].strip())
            elif found["attribute"]:
                position = self._attribute(found)
            elif found["type"]:
                traits = self.attribute[2] if self.attribute and self.attribute[0] == "@Suite" else ""
                self.attribute = None
                self.opens = (found["type"].startswith("protocol"), traits)
            elif found["function"]:
                position = self._function(found)
            elif found["brace"] == "{":
                self.scopes.append(self.opens)
                self.opens = (False, "")
            elif self.scopes:
                self.scopes.pop()

    def _directive(self, line: str) -> None:
        word, _, condition = line[1:].partition(" ")
        if word == "if":
            self.conditions.append(condition.strip())
        elif word == "endif" and self.conditions:
            self.conditions.pop()
        elif self.conditions:
            self.conditions[-1] = f"after {self.conditions[-1]}"

    def _attribute(self, found: re.Match[str]) -> int:
        opening = re.compile(r"\s*\(").match(self.code, found.end())
        end = balanced(self.code, opening.end() - 1) if opening else found.end()
        self.attribute = (found["attribute"], found.start(), self.code[found.end() : end])
        return end

    def _function(self, found: re.Match[str]) -> int:
        attribute, self.attribute = self.attribute, None
        if self.scopes and self.scopes[-1][0]:
            return found.end()
        braces = _body(self.code, found.end())
        if braces is None:
            return found.end()
        is_test = attribute is not None and attribute[0] == "@Test"
        traits = [traits for _, traits in self.scopes] + ([attribute[2]] if attribute and is_test else [])
        self.functions.append(
            Function(
                name=found["name"].strip("`"),
                is_test=is_test,
                traits=" ".join(traits),
                conditions=tuple(self.conditions),
                body=self.code[braces[0] + 1 : braces[1] - 1],
            )
        )
        return braces[1]


def read(text: str) -> tuple[Function, ...]:
    """The tests and helpers of one file."""
    return _Reader(masked(text)).read()


def runs_here(conditions: tuple[str, ...], platform: str = "Linux") -> bool:
    """True when code under these `#if` conditions is compiled on the platform. What is not about platforms is not."""
    return all(
        any(_holds(alternative, platform) for alternative in condition.split("||")) for condition in conditions
    )


def _holds(condition: str, platform: str) -> bool:
    found = PLATFORM.fullmatch(condition)
    return found is not None and (found[2] == platform) != (found[1] == "!")
