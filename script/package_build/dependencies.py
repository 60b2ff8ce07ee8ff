"""The Swift packages that are linked into a program, and the shared libraries of the system that it loads."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .source import Failed, run

#: The names of files with a licence or with what a licence asks to be repeated.
LICENCE_FILES = ("LICENSE*", "LICENCE*", "COPYING*", "NOTICE*")


@dataclass(frozen=True)
class SwiftPackage:
    """A package that was fetched, at its revision."""

    identity: str
    location: str
    version: str
    revision: str
    checkout: Path

    @property
    def purl(self) -> str:
        """The package URL, such as pkg:swift/github.com/apple/swift-nio@2.0.0."""
        place = re.sub(r"^[a-z]+://", "", self.location).removesuffix(".git")
        return f"pkg:swift/{place}@{self.version}"

    def licences(self, modules: set[str]) -> list[tuple[str, str]]:
        """The licences and notices of the package, and those of code from elsewhere in its linked modules."""
        folders = [self.checkout, *sorted(self.checkout / "Sources" / module for module in modules)]
        found = []
        for folder in folders:
            for pattern in LICENCE_FILES:
                for file in sorted(folder.glob(pattern)):
                    if file.is_file():
                        text = file.read_text("utf-8", "replace")
                        found.append((file.relative_to(self.checkout).as_posix(), text))
        return found

    @property
    def licence(self) -> str | None:
        """The SPDX identifier of its licence, where the text is a known one."""
        texts = [text for name, text in self.licences(set()) if not name.startswith("NOTICE")]
        return spdx(texts[0]) if texts else None


def spdx(text: str) -> str | None:
    """The identifier of a licence by its text."""
    words = " ".join(text.split())
    if "Apache License Version 2.0" in words:
        return "Apache-2.0 WITH Swift-exception" if "Runtime Library Exception" in words else "Apache-2.0"
    if "Permission is hereby granted, free of charge" in words and "WITHOUT WARRANTY OF ANY KIND" in words:
        return "MIT"
    return None


def resolved(root: Path) -> list[SwiftPackage]:
    """The packages of Package.resolved, with their checkouts."""
    file = root / "Package.resolved"
    if not file.exists():
        raise Failed(f"{file} is missing; build first, or name the folder of the build with --dependencies")
    packages = []
    checkouts = {path.name.lower(): path for path in (root / ".build" / "checkouts").glob("*")}
    for pin in json.loads(file.read_text("utf-8"))["pins"]:
        name = pin["location"].rstrip("/").rsplit("/", 1)[-1].removesuffix(".git").lower()
        if name not in checkouts:
            raise Failed(f"there is no checkout of {pin['identity']} in {root / '.build' / 'checkouts'}")
        state = pin["state"]
        version = state.get("version") or state["revision"]
        packages.append(
            SwiftPackage(pin["identity"], pin["location"], version, state["revision"], checkouts[name])
        )
    return sorted(packages, key=lambda package: package.identity)


def differing(root: Path) -> list[str]:
    """The dependencies of which the two packages of a checkout have different versions."""
    client, server = (pins(folder / "Package.resolved") for folder in (root, root / "Server"))
    return sorted(name for name, state in client.items() if server.get(name) != state)


def pins(file: Path) -> dict[str, Any]:
    """The version of each dependency in Package.resolved."""
    return {pin["identity"]: pin["state"] for pin in json.loads(file.read_text("utf-8"))["pins"]}


def linked_modules(link_list: Path) -> set[str] | None:
    """The modules of a program by the list of its object files, which SwiftPM writes for the linker; None without it."""
    if not link_list.exists():
        return None
    return set(re.findall(r"/([^/]+)\.build/", link_list.read_text("utf-8")))


def linked(packages: list[SwiftPackage], modules: set[str] | None) -> dict[SwiftPackage, set[str]]:
    """The packages with a linked module, and those modules; without a list of modules every package."""
    found: dict[SwiftPackage, set[str]] = {}
    for package in packages:
        own = {path.name for path in (package.checkout / "Sources").glob("*") if path.is_dir()}
        # GRDB has its module beside Sources/.
        own |= {path.name for path in package.checkout.glob("*") if path.is_dir() and path.name not in ("Sources", "Tests")}
        used = own if modules is None else own & modules
        if used:
            found[package] = used if modules is not None else set()
    return found


@dataclass(frozen=True, order=True)
class SystemLibrary:
    """A shared library that a program loads, with its Debian package."""

    soname: str
    path: Path
    package: str
    version: str
    architecture: str
    distribution: str

    @property
    def purl(self) -> str:
        """The package URL, such as pkg:deb/debian/libc6@2.36-9?arch=amd64&distro=debian-12."""
        vendor = self.distribution.split("-")[0]
        version = self.version.replace("+", "%2B").replace(":", "%3A")
        return f"pkg:deb/{vendor}/{self.package}@{version}?arch={self.architecture}&distro={self.distribution}"

    @property
    def copyright(self) -> Path:
        """The file with its licences."""
        return Path("/usr/share/doc") / self.package / "copyright"


def system_libraries(program: Path, further: tuple[str, ...] = ()) -> list[SystemLibrary]:
    """The shared libraries that the loader maps for a program, and further ones that the program opens itself."""
    paths: dict[str, Path] = {}
    for line in run("ldd", program).splitlines():
        if found := re.match(r"\s*(?:(\S+) => )?(/\S+) \(0x", line):
            paths[found.group(1) or Path(found.group(2)).name] = Path(found.group(2))
        elif "not found" in line:
            raise Failed(f"{program.name} needs a library that is not installed: {line.strip()}")
    for soname in further:
        for line in run("/sbin/ldconfig", "-p").splitlines():
            if line.strip().startswith(f"{soname} "):
                path = Path(line.rsplit(" => ", 1)[1])
                paths.setdefault(soname, path)
                for library in system_libraries(path):
                    paths.setdefault(library.soname, library.path)
    return sorted(of_packages(paths, distribution_name(Path("/etc/os-release").read_text("utf-8"))))


def of_packages(paths: dict[str, Path], distribution: str) -> list[SystemLibrary]:
    """Libraries by their names, with the packages that installed them."""
    places = {soname: spellings(path) for soname, path in paths.items()}
    every = sorted({str(place) for spelled in places.values() for place in spelled})
    # It fails because not every spelling is known; what it has found is printed all the same.
    searched = subprocess.run(["dpkg-query", "--search", *every], capture_output=True, text=True).stdout
    owners: dict[str, str] = {}
    for line in searched.splitlines():
        names, _, place = line.partition(": ")
        owners[place] = names.split(",")[0]
    found: dict[str, str] = {}
    for soname, spelled in places.items():
        owner = next((owners[str(place)] for place in spelled if str(place) in owners), None)
        if owner is None:
            raise Failed(f"no Debian package has {paths[soname]}")
        found[soname] = owner
    shown = run(
        "dpkg-query", "--show", "--showformat=${binary:Package}\t${Package}\t${Version}\t${Architecture}\n",
        *sorted(set(found.values())),
    )
    fields = {line.split("\t")[0]: line.split("\t")[1:] for line in shown.splitlines()}
    fields |= {name.split(":")[0]: values for name, values in fields.items()}
    return [
        SystemLibrary(soname, paths[soname], *fields[owner.split(":")[0]], distribution)
        for soname, owner in found.items()
    ]


def spellings(path: Path) -> list[Path]:
    """The paths by which dpkg may know a file: /lib is a link to /usr/lib, and a library is a link to its version."""
    real = path.resolve()
    spelled = [path, real, Path("/usr") / path.relative_to("/")]
    if real.is_relative_to("/usr"):
        spelled.append(Path("/") / real.relative_to("/usr"))
    return list(dict.fromkeys(spelled))


def distribution_name(os_release: str) -> str:
    """The name of the distribution as package URLs have it, such as debian-12."""
    values = dict(line.split("=", 1) for line in os_release.splitlines() if "=" in line)
    return "-".join(values[key].strip('"') for key in ("ID", "VERSION_ID") if key in values)
