"""The modules of Swift for Linux, relabelled for a system of Apple.

A binary module names the target for which it was compiled, and the compiler refuses one for another target. The
declarations in it are the same on every system, with their availability on Apple's. The names of the two targets have
the same length, so the one can replace the other without further changes.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from .systems import System

#: The modules of the toolchain that Apple's systems have, or on which those are built.
SWIFT_MODULES = (
    *("Swift", "SwiftOnoneSupport", "_Concurrency", "_StringProcessing", "_RegexParser", "Synchronization"),
    *("Observation", "FoundationEssentials", "_FoundationCollections", "Glibc", "_Builtin_float"),
)
LINUX_SUFFIX = "-unknown-linux-gnu"
#: C modules that FoundationEssentials names. Of the first it uses functions that Darwin has, too, of the second none.
C_MODULES = {"SwiftGlibc": "#include <Darwin.h>\n", "_FoundationCShims": ""}
FOLDER = Path(__file__).resolve().parent


class Unusable(Exception):
    """The toolchain, or what is built with it, does not allow the check."""


class Toolchain:
    """The compiler of this machine, with modules for one system of Apple."""

    def __init__(self, system: System, version: str, folder: Path) -> None:
        self.system = system
        self.folder = folder
        info = json.loads(_output("swiftc", "-print-target-info"))
        self.architecture = info["target"]["arch"]
        if not info["target"]["moduleTriple"].endswith(LINUX_SUFFIX):
            raise Unusable("the check needs the toolchain of Linux")
        self.target = system.triple(self.architecture, version)
        resources = Path(info["paths"]["runtimeResourcePath"])
        self._make_resources(resources)
        file = f"{info['target']['moduleTriple']}.swiftmodule"
        for name in SWIFT_MODULES:
            self.relabel(resources / "linux" / f"{name}.swiftmodule" / file, name)

    def relabel(self, module: Path, name: str) -> None:
        """Copies a module of Linux, with the target of the system in it."""
        if not module.exists():
            raise Unusable(f"{module} is missing; run: swift build")
        content = module.read_bytes()
        former = (self.architecture + LINUX_SUFFIX).encode()
        if content.count(former) == 0:
            raise Unusable(f"{module} does not name the target {former.decode()}")
        new = (self.architecture + self.system.module_suffix).encode()
        (self.folder / "linux" / f"{name}.swiftmodule").write_bytes(content.replace(former, new))

    def compile(self, module: str, sources: list[Path], *options: str) -> str:
        """Compiles a module up to the action among the options; what the compiler wrote."""
        command = [
            *("swiftc", "-frontend", "-o", "/dev/null", "-module-name", module, "-parse-as-library"),
            *("-emit-module-path", str(self.folder / "built" / f"{module}.swiftmodule"), "-target", self.target),
            *("-resource-dir", str(self.folder / "resources"), "-module-cache-path", str(self.folder / "cache")),
            *("-I", str(self.folder / "built"), "-I", str(self.folder / "linux"), "-disable-objc-interop"),
            *("-I", str(FOLDER / "stand_ins" / "CDarwin"), "-Xcc", "-nostdinc"),
            *("-Xcc", "-isystem", "-Xcc", str(self.folder / "resources" / "clang" / "include")),
            *("-Xcc", f"-fmodule-map-file={self.folder / 'c.modulemap'}"),
            *("-plugin-path", str(self.folder / "resources" / "host" / "plugins")),
            *("-diagnostic-style", "llvm", *options, *map(str, sources)),
        ]
        result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
        if result.returncode != 0 and "error:" not in result.stderr:
            raise Unusable(f"the compiler failed:\n{result.stderr[-4000:]}")
        return result.stderr

    def _make_resources(self, resources: Path) -> None:
        """Makes a folder of resources without the headers of glibc."""
        for name in ("linux", "built"):
            (self.folder / name).mkdir(parents=True)
        own = self.folder / "resources"
        shutil.copytree(resources / "shims", own / "shims")
        (own / "shims" / "LibcOverlayShims.h").write_text("", "utf-8")
        for name in ("clang", "host"):
            (own / name).symlink_to((resources / name).resolve())
        for name, header in C_MODULES.items():
            (self.folder / f"{name}.h").write_text(header, "utf-8")
        text = "".join(f'module {name} [system] {{ header "{name}.h" export * }}\n' for name in C_MODULES)
        (self.folder / "c.modulemap").write_text(text, "utf-8")


def _output(*command: str) -> str:
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError) as fault:
        raise Unusable(f"{' '.join(command)} failed: {fault}") from fault
