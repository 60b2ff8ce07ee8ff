"""The files of each package, laid out as they are installed."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from . import archive, components, dependencies, manual
from .source import Failed, Source, run

SERVER, CLIENT = "counterfoil-server", "counterfoil"
#: Where each shell looks for the completions of a program.
COMPLETIONS = {
    "bash": "usr/share/bash-completion/completions/{name}",
    "zsh": "usr/share/zsh/vendor-completions/_{name}",
    "fish": "usr/share/fish/vendor_completions.d/{name}.fish",
}
#: The shared libraries that a program opens itself, if they are there.
OPENED = {
    SERVER: ("libcrypt.so.1", "libcurl.so.4", "libpsl.so.5", "libqrencode.so.4", "libzxcvbn.so.0"),
    CLIENT: ("libqrencode.so.4",),
}
#: What strip removes from a program of a Debian package, too.
STRIP = ("strip", "--remove-section=.comment", "--remove-section=.note", "--strip-unneeded")


@dataclass(frozen=True)
class Build:
    """The programs of a build, and what is known about it."""

    #: The folder of the programs, with NAME.product/Objects.LinkFileList for each. Without this file, the list of
    #: components names every package.
    binaries: Path
    #: The folder with Package.resolved and .build/checkouts.
    dependencies: Path


def stage(name: str, root: Path, source: Source, build: Build, folder: Path, strips: bool) -> None:
    """Fills a folder with the files of a package; its documents list what is linked in."""
    program = build.binaries / name
    installed = folder / "usr" / "bin" / name
    put(program, installed, executable=True)
    if strips:
        run(*STRIP, installed)
    for page in manual.pages(program, source):
        put_text(page.text, folder / "usr/share/man/man1" / f"{page.name}.1")
    for shell, place in COMPLETIONS.items():
        # A shell reads the file into itself; it is no program.
        script = run(program, "--generate-completion-script", shell).removeprefix("#!/bin/bash\n")
        put_text(script, folder / place.format(name=name))
    documents(name, root, source, build, folder / "usr/share/doc" / name)
    if name == SERVER:
        packaging = root / "Server" / "Packaging"
        put_text(packaged_settings(root), folder / "etc/counterfoil/server.yaml")
        for helper in ("backup", "certificate-hook", "check-settings"):
            put(packaging / helper, folder / "usr/lib/counterfoil-server" / helper, executable=True)
        for example in sorted((packaging / "proxies").glob("*")):
            put(example, folder / "usr/share/doc" / name / "examples" / example.name)
    archive.normalize(folder)


def packaged_settings(root: Path) -> str:
    """The settings of a package, which name the data directory of its units, also for commands outside of them."""
    text = (root / "Server" / "Packaging" / "server.yaml").read_text("utf-8")
    line = "data-dir: /var/lib/counterfoil\n"
    if text.count(f"\n#{line}") != 1:
        raise Failed(f"Server/Packaging/server.yaml has no line #{line.strip()}")
    return text.replace(f"\n#{line}", f"\n{line}")


def documents(name: str, root: Path, source: Source, build: Build, folder: Path) -> None:
    """The list of components, the licences, the changelog and the copyright of Debian."""
    packages = dependencies.linked(
        dependencies.resolved(build.dependencies),
        dependencies.linked_modules(build.binaries / f"{name}.product" / "Objects.LinkFileList"),
    )
    libraries = dependencies.system_libraries(build.binaries / name, OPENED[name])
    put_text(components.bill(name, source, compiler(), packages, libraries), folder / "components.cdx.json")
    # The client has the C++ library and zlib inside.
    static = [Path(f"/usr/share/doc/{each}/copyright") for each in ("libstdc++6", "zlib1g")] if name == CLIENT else []
    text = components.licences(
        name, root / "LICENSE", packages, toolchain_licence(), [file for file in static if file.exists()]
    )
    put_text(text, folder / "LICENSES.txt")
    put(root / "Server" / "Packaging" / "copyright", folder / "copyright")
    put(root / "CHANGELOG.md", folder / "CHANGELOG.md")


def compiler() -> str:
    """The version of Swift on this machine."""
    found = re.search(r"Swift version (\S+)", run("swift", "--version"))
    return found.group(1) if found else "unknown"


def toolchain_licence() -> Path | None:
    """The licence of Swift, which comes with the toolchain."""
    swift = shutil.which("swift")
    file = Path(swift).resolve().parent.parent / "share" / "swift" / "LICENSE.txt" if swift else None
    return file if file is not None and file.exists() else None


def put(file: Path, target: Path, executable: bool = False) -> None:
    """Copies a file."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, target)
    target.chmod(0o755 if executable else 0o644)


def put_text(text: str, target: Path) -> None:
    """Writes a file."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, "utf-8")
