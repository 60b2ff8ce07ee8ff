"""The commit that is packed: its version, its time, and whether the checkout is that of the commit."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path


class Failed(Exception):
    """What is wrong."""


def run(*command: str | Path, folder: Path | None = None, environment: dict[str, str] | None = None) -> str:
    """Runs a command; what it printed on standard output."""
    result = subprocess.run(
        [str(word) for word in command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
        text=True,
    )
    if result.returncode != 0:
        said = (result.stdout + result.stderr).strip().splitlines()[-25:]
        raise Failed("\n".join([f"{' '.join(map(str, command[:4]))} failed:", *said]))
    return result.stdout


@dataclass(frozen=True)
class Source:
    """A commit, with the version of the programs in it."""

    commit: str
    #: Seconds since 1970: that of every file in a package.
    time: int
    program_version: str
    is_tagged: bool

    @property
    def version(self) -> str:
        """The version of the packages. One between two releases sorts before the next release."""
        return self.program_version if self.is_tagged else f"{self.program_version}~git{self.time}.{self.commit[:8]}"

    @property
    def archive_version(self) -> str:
        """The same in the name of a file."""
        return self.version.replace("~", "-")


def of(root: Path, allow_dirty: bool) -> Source:
    """The commit of a checkout.

    A checkout with changes is refused unless it is allowed: its packages would name a commit that they are not made of.
    """
    if not allow_dirty and (changes := run("git", "status", "--porcelain", folder=root).splitlines()):
        raise Failed(
            f"the checkout has {len(changes)} changes, such as {changes[0][3:]}; commit them, or add --allow-dirty"
        )
    commit, time = run("git", "log", "-1", "--format=%H %ct", folder=root).split()
    version = program_version((root / "Server/Sources/CounterfoilServer/Operation/ServerMetrics.swift").read_text("utf-8"))
    tags = run("git", "tag", "--points-at", "HEAD", folder=root).split()
    return Source(commit, int(time), version, f"v{version}" in tags)


def program_version(swift: str) -> str:
    """The version that the programs print, from the source file that contains it."""
    found = re.search(r'enum Build \{.*?static let version = "(\d+\.\d+\.\d+)"', swift, re.DOTALL)
    if found is None:
        raise Failed("the version of the programs is not where it was: enum Build")
    return found.group(1)
