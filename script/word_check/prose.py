"""Finds the prose of a file: the text with everything blotted out that is code."""

from __future__ import annotations

import re

#: A blot keeps two pieces of prose with code between them from being read as one.
BLOT = "\0"

_INTERPOLATION = r'\\\((?:[^()"\n]|"[^"\n]*"|\((?:[^()"\n]|"[^"\n]*"|\([^()\n]*\))*\))*\)'
_SWIFT = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)"
    rf'|(?P<block>"""(?:{_INTERPOLATION}|\\.|(?!""").)*""")'
    r'|(?P<raw>(?P<hashes>#+)(?P<quotes>"""|").*?(?P=quotes)(?P=hashes))'
    rf'|(?P<string>"(?:{_INTERPOLATION}|\\.|[^"\\\n])*")'
    r"|(?P<name>`[^`\n]+`)",
    re.DOTALL,
)
_PLACEHOLDER = re.compile(_INTERPOLATION)
_SLASHES = re.compile(r"^([ \t]*)(//[/!]?|/\*+)", re.MULTILINE)
_MARKDOWN_CODE = re.compile(r"^```.*?^```|`[^`\n]+`|\]\([^)\s]*\)", re.MULTILINE | re.DOTALL)
_DOCUMENTED = re.compile(r"(?P<comment>(?:^[ \t]*///[^\n]*\n)+)(?P<declaration>(?:^[^\n]*\n){0,6})", re.MULTILINE)


def _blot(text: str) -> str:
    """A blot and the line breaks, so that the lines keep their numbers; white space stays as it is."""
    if not text.strip():
        return text
    return BLOT + "\n" * text.count("\n") + BLOT


def of_swift(text: str, strings: bool) -> str:
    """Comments and names in backticks, and the string literals too where they are read by people."""
    kept: list[str] = []
    end = 0
    for token in _SWIFT.finditer(text):
        kept.append(_blot(text[end : token.start()]))
        end = token.end()
        if token["comment"]:
            kept.append(_SLASHES.sub(lambda found: " " * len(found[0]), token[0]))
        elif token["name"] or strings:
            kept.append(_PLACEHOLDER.sub(lambda found: _blot(found[0]), token[0]))
        else:
            kept.append(_blot(token[0]))
    kept.append(_blot(text[end:]))
    return "".join(kept)


def of_markdown(text: str) -> str:
    """The text without code and the targets of links."""
    return _MARKDOWN_CODE.sub(lambda found: _blot(found[0]), text)


def of_script(text: str) -> str:
    """Comments, help and messages of a script; its names have no forbidden form, so that nothing else is left out."""
    return re.sub(r"^[ \t]*#", " ", text, flags=re.MULTILINE)


def documented(text: str) -> list[tuple[int, str, str]]:
    """Each documentation comment of a Swift file: its offset, its text, and the lines after it."""
    return [
        (found.start(), re.sub(r"^\s*///\s?", "", found["comment"]), found["declaration"])
        for found in _DOCUMENTED.finditer(text)
    ]
