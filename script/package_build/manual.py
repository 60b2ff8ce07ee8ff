"""Manual pages from the help of a program, as it describes itself with `--experimental-dump-help`.

Each command has a page of its own, as those of git do. The plug-in of swift-argument-parser would build the programs a
second time for them, and writes the date of the build into each page.
"""

from __future__ import annotations

import json
import time as clock
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .source import Source, run


@dataclass(frozen=True)
class Page:
    """A manual page of section 1."""

    name: str
    text: str


def pages(program: Path, source: Source) -> list[Page]:
    """The page of a program, and that of each of its commands."""
    described = json.loads(run(program, "--experimental-dump-help"))
    return list(pages_of(described["command"], [], source))


def pages_of(command: dict[str, Any], parents: list[str], source: Source) -> Iterator[Page]:
    """The page of a command, and those below it."""
    words = [*parents, command["commandName"]]
    inner = [each for each in command.get("subcommands", []) if each.get("shouldDisplay", True)]
    inner = [each for each in inner if each["commandName"] != "help"]
    yield Page("-".join(words), page(command, words, inner, source))
    for each in inner:
        yield from pages_of(each, words, source)


def page(command: dict[str, Any], words: list[str], inner: list[dict[str, Any]], source: Source) -> str:
    """The text of a page, in the macros of man(7)."""
    name = "-".join(words)
    date = clock.strftime("%Y-%m-%d", clock.gmtime(source.time))
    abstract = escape(command.get("abstract", "").rstrip("."))
    # The name stays one word, so that it can be searched for.
    lines = [
        f'.TH "{escape(name.upper())}" 1 {escape(date)} "Counterfoil {escape(source.program_version)}"',
        ".SH NAME",
        f"{escape(name)} \\- {abstract[:1].lower() + abstract[1:] if abstract[1:2].islower() else abstract}",
        ".SH SYNOPSIS",
        *synopsis(command, words, inner),
        ".SH DESCRIPTION",
        *text(command.get("abstract", "")),
        *(text(command["discussion"]) if command.get("discussion") else []),
    ]
    shown = [each for each in command.get("arguments", []) if each.get("shouldDisplay", True)]
    for title in dict.fromkeys(each.get("sectionTitle") or standard_title(each) for each in shown):
        lines.append(f'.SH "{escape(title.upper())}"')
        for each in shown:
            if (each.get("sectionTitle") or standard_title(each)) == title:
                lines += argument(each)
    if inner:
        lines.append(".SH COMMANDS")
        for each in inner:
            lines += [".TP", f".BR {escape(name)}\\-{escape(each['commandName'])} (1)", *text(each.get("abstract", ""))]
    if len(words) > 1:
        lines += [".SH SEE ALSO", f".BR {escape('-'.join(words[:-1]))} (1)"]
    return "\n".join(lines) + "\n"


def standard_title(argument: dict[str, Any]) -> str:
    """The heading of an argument without one."""
    return "Arguments" if argument["kind"] == "positional" else "Options"


def synopsis(command: dict[str, Any], words: list[str], inner: list[dict[str, Any]]) -> list[str]:
    """How to call a command. Options that can be left out are in their section only."""
    parts = [f"\\fB{escape(' '.join(words))}\\fR"]
    if inner:
        parts.append("\\fICOMMAND\\fR")
    arguments = [each for each in command.get("arguments", []) if each.get("shouldDisplay", True)]
    for each in arguments:
        if each["kind"] == "option" and not each.get("isOptional", True):
            parts.append(f"\\fB{escape(spelled(each['preferredName']))}\\fR \\fI{escape(each['valueName'])}\\fR")
    parts.append("[\\fIOPTION\\fR]...")
    for each in arguments:
        if each["kind"] == "positional":
            part = f"\\fI{escape(each['valueName'])}\\fR" + ("..." if each.get("isRepeating") else "")
            parts.append(f"[{part}]" if each.get("isOptional") else part)
    return [" ".join(parts)]


def argument(argument: dict[str, Any]) -> list[str]:
    """An argument with its explanation."""
    value = f"\\fI{escape(argument['valueName'])}\\fR"
    if argument["kind"] == "positional":
        head = value
    else:
        names = ", ".join(f"\\fB{escape(spelled(name))}\\fR" for name in argument.get("names", []))
        head = names if argument["kind"] == "flag" else f"{names} {value}"
    said = [part for part in (argument.get("abstract"), argument.get("discussion")) if part]
    if argument.get("defaultValue") is not None and argument["kind"] != "flag":
        said.append(f"(default: {argument['defaultValue']})")
    return [".TP", head, *text(" ".join(said))]


def spelled(name: dict[str, str]) -> str:
    """An option as it is typed."""
    return {"long": "--", "short": "-", "longWithSingleDash": "-"}[name["kind"]] + name["name"]


def text(words: str) -> list[str]:
    """Paragraphs; what is indented is an example, whose lines stay as they are."""
    lines: list[str] = []
    verbatim = False
    for line in words.split("\n"):
        indented = line.startswith("  ")
        if indented != verbatim:
            lines += [".RS 4", ".nf"] if indented else [".fi", ".RE"]
            verbatim = indented
        lines.append(escape(line.strip()) if line.strip() else ".PP")
    if verbatim:
        lines += [".fi", ".RE"]
    while lines and lines[-1] == ".PP":
        lines.pop()
    return lines


def escape(words: str) -> str:
    """A text in which roff finds no request and no escape."""
    words = words.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{words}" if words.startswith((".", "'")) else words
