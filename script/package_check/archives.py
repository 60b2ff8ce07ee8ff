"""The tar archives: what is in them, and the commands by which docs/operations/install.md installs one."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

from .journey import DATA, SERVER, SETTINGS, free_port, main_process
from .system import Failed, System, expect, quietly

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ("counterfoil-server", "counterfoil")
#: What only Debian's packages have.
OF_DEBIAN = re.compile(r"usr/share/doc/[\w-]+/changelog\.Debian\.gz|usr/share/lintian/.*")


def check(packages: Path, folder: Path) -> None:
    """Their sums are right, they have the files of the packages, and the programs run from where they are unpacked."""
    quietly("sh", "-c", f"cd {packages} && sha256sum --check --ignore-missing SHA256SUMS")
    for name in PROGRAMS:
        unpacked = unpack(packages, name, folder)
        look_through(unpacked, name, one(packages, f"{name}_*.deb"))
        program = unpacked / "bin" / name
        for words in (["--version"], ["--help"], *([["config", "example"]] if name == SERVER else [])):
            quietly(str(program), *words)


def unpack(packages: Path, name: str, folder: Path) -> Path:
    """The one folder in an archive."""
    archive = one(packages, f"{name}-[0-9]*.tar.gz")
    folder.mkdir(exist_ok=True)
    quietly("tar", "--extract", "--gzip", "--file", str(archive), "--directory", str(folder))
    title = archive.name.removesuffix(".tar.gz")
    expect({path.name for path in folder.glob(f"{name}-[0-9]*")} == {title}, f"{archive.name} has more than one folder")
    return folder / title


def look_through(unpacked: Path, name: str, package: Path) -> None:
    """An archive has the files of the package below one folder, and beside them the units."""
    ours = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if not path.is_dir()}
    debian = {place(entry) for entry in entries(package) if not OF_DEBIAN.fullmatch(entry)}
    expect(ours == debian, f"the archive and the package of {name} have other files: {sorted(ours ^ debian)}")
    places = [f"bin/{name}", f"share/man/man1/{name}.1", f"share/bash-completion/completions/{name}",
              f"share/zsh/vendor-completions/_{name}", f"share/fish/vendor_completions.d/{name}.fish"]
    for each in places:
        expect((unpacked / each).stat().st_size > 0, f"the archive of {name} has an empty {each}")


def entries(package: Path) -> list[str]:
    """The files of a Debian package."""
    content = subprocess.run(["dpkg-deb", "--fsys-tarfile", str(package)], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(content)) as files:
        return [each.name.removeprefix("./") for each in files if not each.isdir()]


def place(entry: str) -> str:
    """Where an archive has a file of a Debian package."""
    name = entry.removeprefix("usr/").removesuffix(".gz")
    # debhelper gives it the name that Debian wants.
    return re.sub(r"(share/doc/[\w-]+)/changelog", r"\1/CHANGELOG.md", name)


def commands() -> list[str]:
    """The commands of the section `From an archive`, without sudo, for root."""
    text = (ROOT / "docs" / "operations" / "install.md").read_text("utf-8")
    found = re.search(r"^## From an archive\n.*?^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise Failed("docs/operations/install.md has no commands for an archive")
    return found[1].replace("sudo ", "").strip().splitlines()


def install(system: System, packages: Path) -> None:
    """The commands of docs/operations/install.md install the server; only libraries of its package are left there."""
    system.run("userdel", "counterfoil")
    unpacked = unpack(packages, SERVER, system.path("/root/archive"))
    inside = f"/root/archive/{unpacked.name}"
    system.run("sh", "-euc", "\n".join([f"cd {inside}", *commands()]))
    shutil.rmtree(unpacked.parent)
    shown = system.run("stat", "--format=%a %U:%G", DATA).strip()
    expect(shown == "700 counterfoil:counterfoil", f"{DATA} is {shown}")
    address = f"127.0.0.1:{free_port()}"
    settings = system.path(SETTINGS)
    settings.write_text(f"{settings.read_text('utf-8')}\nissuer: http://{address}\nlisten: {address}\n", "utf-8")
    system.run("counterfoil-server", "config", "check", user="counterfoil")
    system.run("systemctl", "enable", "--now", SERVER)
    system.run("counterfoil-server", "health", f"http://{address}/readyz")
    program = system.run("readlink", f"/proc/{main_process(system)}/exe").strip()
    expect(program == "/usr/bin/counterfoil-server", f"the server runs {program}")
    system.run("systemctl", "start", "counterfoil-backup.service")
    units = (f"{SERVER}.service", f"{SERVER}.socket")
    system.run("systemctl", "mask", "--now", *units)
    state = system.run("systemctl", "show", "--property=ActiveState", "--value", SERVER).strip()
    expect(state == "inactive", f"the masked server is {state}")
    system.run("systemctl", "start", SERVER, fails=True)
    system.run("systemctl", "unmask", *units)
    system.run("systemctl", "start", SERVER)
    system.run("systemctl", "disable", "--now", SERVER)


def one(folder: Path, pattern: str) -> Path:
    """The only file of a pattern."""
    found = sorted(folder.glob(pattern))
    expect(len(found) == 1, f"{folder} has {len(found)} files {pattern}")
    return found[0]
