"""The list of components of a program in the format of CycloneDX 1.5, and the licences of everything linked in."""

from __future__ import annotations

import json
import time as clock
import uuid
from pathlib import Path
from typing import Any

from .dependencies import SwiftPackage, SystemLibrary
from .source import Source

#: The name space of serial numbers: one number for one program of one commit.
SERIAL_NUMBERS = uuid.UUID("6f1f6c3e-7a0e-4c5d-9a55-0c0b6f0c9a41")


def bill(
    name: str, source: Source, compiler: str, packages: dict[SwiftPackage, set[str]], libraries: list[SystemLibrary]
) -> str:
    """The list of components: the linked packages, the run-time libraries of Swift, and those of the system."""
    root = f"pkg:generic/{name}@{source.version}"
    components = [swift_component(package) for package in packages]
    components.append(
        {
            "type": "library", "bom-ref": f"pkg:swift/github.com/swiftlang/swift@{compiler}", "name": "swift",
            "version": compiler, "purl": f"pkg:swift/github.com/swiftlang/swift@{compiler}",
            "description": "Standard library, Foundation, Dispatch and ICU, linked statically",
            "licenses": [{"expression": "Apache-2.0 WITH Swift-exception"}],
        }
    )
    seen: dict[str, dict[str, Any]] = {}
    for library in libraries:
        component = seen.setdefault(
            library.purl,
            {
                "type": "library", "bom-ref": library.purl, "name": library.package, "version": library.version,
                "purl": library.purl, "scope": "required",
                "properties": [{"name": "counterfoil:linkage", "value": "shared"}],
            },
        )
        component["properties"].append({"name": "counterfoil:soname", "value": library.soname})
    components += seen.values()
    components.sort(key=lambda component: str(component["bom-ref"]))
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(SERIAL_NUMBERS, f'{name} {source.commit}')}",
        "version": 1,
        "metadata": {
            "timestamp": clock.strftime("%Y-%m-%dT%H:%M:%SZ", clock.gmtime(source.time)),
            "component": {
                "type": "application", "bom-ref": root, "name": name, "version": source.version,
                "purl": root, "licenses": [{"license": {"id": "Apache-2.0"}}],
                "properties": [{"name": "counterfoil:commit", "value": source.commit}],
            },
        },
        "components": components,
        "dependencies": [
            {"ref": root, "dependsOn": [component["bom-ref"] for component in components]},
            *({"ref": component["bom-ref"]} for component in components),
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def swift_component(package: SwiftPackage) -> dict[str, Any]:
    """A Swift package as a component."""
    component: dict[str, Any] = {
        "type": "library", "bom-ref": package.purl, "name": package.identity, "version": package.version,
        "purl": package.purl,
        "externalReferences": [{"type": "vcs", "url": package.location, "comment": package.revision}],
        "properties": [{"name": "counterfoil:linkage", "value": "static"}],
    }
    licence = package.licence
    if licence is not None:
        key = {"expression": licence} if " WITH " in licence else {"license": {"id": licence}}
        component["licenses"] = [key]
    return component


def licences(
    name: str, own: Path, packages: dict[SwiftPackage, set[str]], toolchain: Path | None, libraries: list[Path]
) -> str:
    """The licences of a program and of everything linked into it, in one text.

    `libraries` are the copyright files of libraries that are linked statically.
    """
    parts = [
        f"The licences of {name} and of everything that is linked into it.\n",
        *section(name, own.read_text("utf-8")),
    ]
    for package, modules in packages.items():
        for file, text in package.licences(modules):
            parts += section(f"{package.identity} {package.version}: {file}", text)
    if toolchain is not None:
        parts += section("Swift standard library, Foundation and Dispatch", toolchain.read_text("utf-8"))
    for file in libraries:
        parts += section(file.parent.name, file.read_text("utf-8", "replace"))
    return "\n".join(parts)


def section(title: str, text: str) -> list[str]:
    """A text under a line with its title."""
    return ["=" * 79, title, "=" * 79, "", text.strip("\n"), ""]
