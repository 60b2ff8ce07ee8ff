"""Compiles the modules of the client one after another, and collects what the compiler finds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from . import systems
from .systems import System
from .toolchain import FOLDER, Toolchain

#: What the package's targets are compiled with.
FEATURES = ("InternalImportsByDefault", "MemberImportVisibility", "ExistentialAny")
#: The modules of other packages that the client uses on Apple's systems. CryptoKit has the interface of Crypto.
PACKAGES = ("ArgumentParser", "ArgumentParserToolInfo", "Crypto", "CryptoBoringWrapper", "HTTPTypes")
#: Modules that the toolchain of Linux has and Apple's have not.
ABSENT = ("FoundationEssentials", "Glibc")
_CAN_IMPORT_ABSENT = re.compile(r"canImport\((?:" + "|".join(ABSENT) + r")\)")
_FINDING = re.compile(r"^(/.*?):(\d+):\d+: (error|warning): (.*)$")


@dataclass(frozen=True)
class Module:
    """A target of the package."""

    name: str
    folder: str
    systems: tuple[str, ...] = ("macOS", "iOS")
    #: The folder of the files that the package embeds in the code.
    resources: str | None = None


MODULES = (
    Module("CounterfoilPlatform", "Sources/CounterfoilPlatform"),
    Module("CounterfoilProtocol", "Sources/CounterfoilProtocol"),
    Module("CounterfoilTokens", "Sources/CounterfoilTokens"),
    Module("CounterfoilClient", "Sources/CounterfoilClient", resources="Sources/CounterfoilClient/Redirect/Pages"),
    Module("QRCode", "Sources/QRCode"),
    Module("counterfoil", "Sources/counterfoil", systems=("macOS",)),
    Module("PhotoBar", "Examples/MenuBar", systems=("macOS",)),
    Module("Photos", "Examples/Phone", systems=("iOS",)),
)


@dataclass(frozen=True, order=True)
class Finding:
    """What the compiler reports, and for which system."""

    path: str
    line: int
    system: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.system}: {self.text}"


def of_package(root: Path, chosen: Iterable[System], packages: Path, folder: Path) -> list[Finding]:
    """Compiles the client for each system."""
    versions = systems.minimum_versions(root)
    findings: list[Finding] = []
    for system in chosen:
        toolchain = prepared(system, versions[system.name], folder / system.name)
        for name in PACKAGES:
            toolchain.relabel(packages / f"{name}.swiftmodule", name)
        for module in MODULES:
            if system.name in module.systems:
                found = of_module(root, module, toolchain)
                findings += found
                if any(finding.text.startswith("error") for finding in found):
                    break  # The modules after it cannot import it.
        # Some SDKs isolate a protocol that the client implements to the main actor, and some do not.
        if not findings:
            compile_stand_in(toolchain, "AuthenticationServices", "-D", "NONISOLATED_PROVIDER")
            findings += of_module(root, next(module for module in MODULES if module.resources), toolchain)
    return sorted(set(findings))


def prepared(system: System, version: str, folder: Path) -> Toolchain:
    """Makes a compiler for a system, with the stand-ins of its frameworks."""
    toolchain = Toolchain(system, version, folder)
    for name in system.frameworks:
        compile_stand_in(toolchain, name)
    return toolchain


def compile_stand_in(toolchain: Toolchain, name: str, *options: str) -> None:
    """Compiles the declarations of a framework."""
    path = FOLDER / "stand_ins" / f"{name}.swift"
    output = toolchain.compile(name, [path], "-emit-module", "-swift-version", "5", *options)
    for finding in _findings(output, toolchain, FOLDER.parent.parent):
        raise AssertionError(f"a stand-in does not compile: {finding}")


def of_module(root: Path, module: Module, toolchain: Toolchain) -> list[Finding]:
    """Compiles one module, from a copy whose conditions are those of Apple's systems."""
    copy = toolchain.folder / "sources"
    sources: list[Path] = []
    for path in sorted((root / module.folder).rglob("*.swift")):
        place = copy / path.relative_to(root)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(_CAN_IMPORT_ABSENT.sub("false", path.read_text("utf-8")), "utf-8")
        sources.append(place)
    if module.resources:
        place = copy / module.folder / "embedded_resources.swift"
        place.write_text(_embedded(root / module.resources), "utf-8")
        sources.append(place)
    options = ["-emit-sil", "-swift-version", "6", "-package-name", "counterfoil", "-D", "SWIFT_PACKAGE"]
    options += [option for feature in FEATURES for option in ("-enable-upcoming-feature", feature)]
    return _findings(toolchain.compile(module.name, sources, *options), toolchain, copy)


def _embedded(folder: Path) -> str:
    """What SwiftPM writes for files that it embeds in the code."""
    names = sorted(re.sub(r"\W", "_", path.name) for path in folder.iterdir())
    return "struct PackageResources {\n" + "".join(f"static let {name}: [UInt8] = []\n" for name in names) + "}\n"


def _findings(output: str, toolchain: Toolchain, root: Path) -> list[Finding]:
    found: list[Finding] = []
    for line in output.splitlines():
        if match := _FINDING.match(line):
            path, number, kind, text = match.groups()
            relative = path.removeprefix(f"{root}/")
            found.append(Finding(relative, int(number), toolchain.system.name, f"{kind}: {text}"))
        elif line.startswith(("error:", "<unknown>:")):
            found.append(Finding("(compiler)", 0, toolchain.system.name, f"error: {line}"))
    return found
