"""The programs of a debug build, linked again so that they load nothing of the toolchain, as those of a release."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from package_build.stage import CLIENT, SERVER

from .system import Failed, quietly

#: What the static Foundation needs. The objects, compiled with the shared one, do not name it.
FOUNDATION = ("Foundation", "FoundationInternationalization", "FoundationEssentials", "CoreFoundation",
              "_FoundationICU", "_FoundationCShims", "_FoundationCollections")


def standalone(binaries: Path, folder: Path) -> Path:
    """Fills a folder with both programs of a build folder, so that they need no Swift toolchain."""
    folder.mkdir()
    for name in (SERVER, CLIENT):
        if not (binaries / name).exists():
            raise Failed(f"{binaries / name} is missing; build the package in Server/")
        if loads_toolchain(binaries / name):
            manifest = binaries.parent / f"{binaries.name}.yaml"
            if not manifest.exists():
                raise Failed(f"{binaries / name} loads the Swift runtime, and {manifest}, which says how it was "
                             "linked, is missing; use a build with --static-swift-stdlib")
            quietly(*link_command(manifest.read_text("utf-8"), name, folder / name))
        else:
            (folder / name).symlink_to(binaries / name)
        (folder / f"{name}.product").symlink_to(binaries / f"{name}.product")
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
