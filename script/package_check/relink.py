"""The programs of a debug build, linked again so that they load nothing of the toolchain, as those of a release."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from .system import Failed, quietly

#: What the static Foundation needs. The objects, compiled with the shared one, do not name it.
FOUNDATION = ("Foundation", "FoundationInternationalization", "FoundationEssentials", "CoreFoundation",
              "_FoundationICU", "_FoundationCShims", "_FoundationCollections")
PROGRAMS = ("counterfoil-server", "counterfoil")


def standalone(binaries: Path, folder: Path) -> Path:
    """A folder with programs that need no Swift toolchain: the given one if that is so, otherwise a new one."""
    if not any(loads_toolchain(binaries / name) for name in PROGRAMS):
        return binaries
    manifest = binaries.parent / f"{binaries.name}.yaml"
    if not manifest.exists():
        raise Failed(f"the programs in {binaries} load the Swift runtime, and {manifest}, which says how they were "
                     "linked, is missing; use a build with --static-swift-stdlib")
    text = manifest.read_text("utf-8")
    folder.mkdir()
    for name in PROGRAMS:
        quietly(*link_command(text, name, folder / name))
        (folder / f"{name}.product").symlink_to((binaries / f"{name}.product").resolve())
    return folder


def loads_toolchain(program: Path) -> bool:
    """Returns true if a program loads a shared library of Swift."""
    shown = subprocess.run(["objdump", "-p", str(program)], capture_output=True, text=True, check=True).stdout
    return re.search(r"NEEDED\s+libswiftCore\.so", shown) is not None


def link_command(manifest: str, name: str, output: Path) -> list[str]:
    """The command by which SwiftPM links a program, with the static libraries of Swift and without symbols."""
    pattern = rf'description: "Linking [^"]*/{re.escape(name)}"\n\s+args: (\[.*\])'
    found = re.search(pattern, manifest)
    if found is None:
        raise Failed(f"the manifest of the build does not say how {name} was linked")
    command: list[str] = [word for word in json.loads(found.group(1)) if word != "-g"]
    command[command.index("-o") + 1] = str(output)
    return [*command, "-static-stdlib", *(f"-l{each}" for each in FOUNDATION), "-use-ld=lld", "-Xlinker", "-s",
            "-Xlinker", "--gc-sections"]
