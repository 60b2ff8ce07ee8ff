"""The systems for which the client is compiled, and their minimum versions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class System:
    """A system of Apple."""

    name: str
    #: The name of its folder of modules in a toolchain.
    folder: str
    #: The end of the target that replaces the one in the modules of Linux, which has the same length.
    module_suffix: str
    #: Frameworks that it has, in the order in which they import each other.
    frameworks: tuple[str, ...]

    def triple(self, architecture: str, version: str) -> str:
        """The target of the compiler for a minimum version."""
        if self.name == "iOS":
            return f"{architecture}-apple-ios{version}-simulator"
        return f"{architecture}-apple-macosx{version}"


_COMMON = ("Darwin", "Foundation", "os", "Security", "LocalAuthentication")
ALL = (
    System("macOS", "macosx", "-apple-macosx10.15", (*_COMMON, "AppKit", "AuthenticationServices", "SwiftUI")),
    System("iOS", "iphonesimulator", "--ios9.0-simulator", (*_COMMON, "UIKit", "AuthenticationServices", "SwiftUI")),
)


def minimum_versions(root: Path) -> dict[str, str]:
    """The versions in the package's description, such as {"macOS": "14.0"}."""
    manifest = (root / "Package.swift").read_text("utf-8")
    found = re.findall(r"\.(macOS|iOS)\(\.v(\d+)(?:_(\d+))?\)", manifest)
    return {name: f"{major}.{minor or 0}" for name, major, minor in found}
