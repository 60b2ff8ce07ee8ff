"""Debian packages, made by debhelper from staged files."""

from __future__ import annotations

import os
import shutil
from email.utils import formatdate
from pathlib import Path

from .source import Source, run

MAINTAINER = "Counterfoil maintainers <maintainers@counterfoil.invalid>"


def build(
    root: Path, source: Source, stage: Path, work: Path, output: Path, *, fast: bool = False,
    debug_symbols: bool = False, only: tuple[str, ...] = (),
) -> list[Path]:
    """Builds the packages of the staged files, and returns their files.

    `fast` compresses little.
    """
    folder = work / "debian-build" / "counterfoil"
    shutil.rmtree(folder.parent, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copytree(root / "Server" / "Packaging" / "debian", folder / "debian")
    shutil.copytree(stage, folder / "stage", symlinks=True)
    (folder / "debian" / "changelog").write_text(changelog(source, f"{source.version}-1"), "utf-8")
    if only:
        keep_only(folder / "debian" / "control", only)
    options = [] if debug_symbols else ["noautodbgsym"]
    environment = {
        **os.environ,
        "SOURCE_DATE_EPOCH": str(source.time),
        "DEB_BUILD_OPTIONS": " ".join(options),
        "COUNTERFOIL_COMPRESSION": "0" if fast else "6",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
    }
    run("dpkg-buildpackage", "--build=binary", "--no-sign", "--no-check-builddeps", folder=folder, environment=environment)
    built = [*sorted(folder.parent.glob("*.deb")), *sorted(folder.parent.glob("*.ddeb"))]
    output.mkdir(parents=True, exist_ok=True)
    return [Path(shutil.move(package, output / package.name)) for package in built]


def changelog(source: Source, version: str) -> str:
    """The changelog that debhelper reads the version and the time from; CHANGELOG.md has the changes."""
    date = formatdate(source.time, localtime=False, usegmt=False).replace("-0000", "+0000")
    return (
        f"counterfoil ({version}) unstable; urgency=medium\n\n"
        f"  * Packages of commit {source.commit[:12]}. CHANGELOG.md has the changes.\n\n"
        f" -- {MAINTAINER}  {date}\n"
    )


def keep_only(control: Path, names: tuple[str, ...]) -> None:
    """Leaves out the packages that are not built now."""
    source, *packages = control.read_text("utf-8").strip().split("\n\n")
    kept = [each for each in packages if each.split("\n", 1)[0].removeprefix("Package: ") in names]
    control.write_text("\n\n".join([source, *kept]) + "\n", "utf-8")
