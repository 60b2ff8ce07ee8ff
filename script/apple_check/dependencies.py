"""The products of other packages that a target compiles on a system, from the description of the package."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

#: What the client may compile on Apple's systems. Crypto is CryptoKit there.
ALLOWED = {"Crypto", "HTTPTypes"}


def description(root: Path) -> dict:
    """What SwiftPM reads from Package.swift."""
    command = ("swift", "package", "--package-path", str(root), "dump-package")
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def products(package: dict, target: str, system: str) -> set[str]:
    """The products that the target and the targets under it depend on, where their condition holds on the system."""
    targets = {entry["name"]: entry for entry in package["targets"]}
    found: set[str] = set()
    reached: set[str] = set()
    waiting = [target]
    while waiting:
        name = waiting.pop()
        if name in reached:
            continue
        reached.add(name)
        for dependency in targets[name]["dependencies"]:
            (kind, (dependency_name, *_, condition)), = dependency.items()
            if condition and system.lower() not in condition.get("platformNames", [system.lower()]):
                continue
            if kind != "product" and dependency_name in targets:
                waiting.append(dependency_name)
            else:
                found.add(dependency_name)
    return found


def unwanted(package: dict, system: str) -> list[str]:
    """What an app on the system would compile for CounterfoilClient, and must not."""
    return sorted(products(package, "CounterfoilClient", system) - ALLOWED)
