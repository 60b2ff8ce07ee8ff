"""The links of the pages, each of which leads to a file and to a heading of it."""

from __future__ import annotations

import re
from pathlib import Path

PAGES = (
    *("*.md", "docs/**/*.md", "Interop/**/*.md", "Examples/**/*.md", "Server/Examples/**/*.md"),
    *("Server/*.md", "Server/Packaging/*.md"),
)
_BLOCK = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(text: str) -> set[str]:
    """The anchors of a page: its headings as GitHub writes them, and those that it names itself."""
    found = set(re.findall(r'<a id="([^"]+)"', text))
    for heading in re.findall(r"^#{1,6} (.+)$", _BLOCK.sub("", text), re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        number = 0
        while (anchor := f"{name}-{number}" if number else name) in found:
            number += 1
        found.add(anchor)
    return found


def findings(root: Path) -> list[str]:
    """The links that lead nowhere."""
    known: dict[Path, set[str]] = {}
    found = []
    for page in sorted({path for pattern in PAGES for path in root.glob(pattern)}):
        text = _BLOCK.sub("", page.read_text("utf-8"))
        for link in dict.fromkeys(_LINK.findall(text)):
            name, _, anchor = link.partition("#")
            if re.match(r"[a-z]+:", link):
                continue
            target = (page.parent / name).resolve() if name else page
            if not target.exists():
                found.append(f"{page.relative_to(root)}: there is no {link}")
            elif anchor and target.suffix == ".md":
                if target not in known:
                    known[target] = anchors(target.read_text("utf-8"))
                if anchor not in known[target]:
                    found.append(f"{page.relative_to(root)}: there is no heading for {link}")
    return found
