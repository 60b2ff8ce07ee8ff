"""The decisions: each names the files of its tests in its last line, and each file is there."""

from __future__ import annotations

import re
from pathlib import Path

FILE = r"`((?:Tests|Server/Tests|Interop)/[^`]+)`"
TESTED = re.compile(rf"Tested in {FILE}(?:(?:, | and ){FILE})*\.")
#: The last line of a decision that says nothing about what the product does.
NO_BEHAVIOUR = "This decision promises no behaviour."


def faults(root: Path) -> list[str]:
    """What is wrong with the last lines of the decisions; docs/decisions/README.md is their index."""
    found = []
    for path in sorted((root / "docs" / "decisions").glob("[0-9]*.md")):
        name = path.relative_to(root).as_posix()
        last = path.read_text("utf-8").rstrip().rpartition("\n")[2]
        if last == NO_BEHAVIOUR:
            continue
        if not TESTED.fullmatch(last):
            found.append(f"{name} does not end with a line such as: Tested in `Tests/A.swift` and `Tests/B.swift`.")
            continue
        for file in re.findall(FILE, last):
            if not (root / file).is_file():
                found.append(f"{name} names {file}, which is not there")
    return found
