"""An empty Debian system in a folder, made by debootstrap: as a folder, and later booted with its own systemd."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


class Failed(Exception):
    """What is wrong."""


def expect(holds: bool, what: str) -> None:
    """Fails unless it holds; the text says what is wrong otherwise."""
    if not holds:
        raise Failed(what)


@dataclass(frozen=True)
class Archive:
    """An archive of Debian, as a line of apt's lists."""

    url: str
    suite: str

    @property
    def line(self) -> str:
        return f"deb {self.url} {self.suite} main\n"


def archives(texts: list[str]) -> list[Archive]:
    """The archives of Debian in the lists of apt, in either of their formats; those of other vendors are left out."""
    found: list[Archive] = []
    for text in texts:
        for url, suite in re.findall(r"^deb\s+(?:\[[^]]*\]\s+)?(\S+)\s+(\S+)\s.*\bmain\b", text, re.MULTILINE):
            found.append(Archive(url, suite))
        for block in text.split("\n\n"):
            fields = dict(re.findall(r"^(URIs|Suites|Components):\s*(.+)$", block, re.MULTILINE))
            if "main" in fields.get("Components", "").split():
                found += [Archive(url, suite) for url in fields["URIs"].split() for suite in fields["Suites"].split()]
    found = [each for each in found if re.search(r"/debian(-security)?/?$", each.url)]
    if not found:
        raise Failed("apt has no archive of Debian in /etc/apt; this check needs Debian")
    return found


def sources() -> list[Path]:
    """The lists of apt on this machine."""
    folder = Path("/etc/apt/sources.list.d")
    return [path for path in (Path("/etc/apt/sources.list"), *sorted(folder.glob("*"))) if path.is_file()]


@dataclass(frozen=True)
class System:
    """A root folder of Debian. Commands share the network of this machine, and have processes of their own."""

    root: Path
    #: The number of its systemd on this machine; None before the system is booted.
    leader: int | None = None

    def run(self, *command: str, user: str | None = None, text: str | None = None, fails: bool = False) -> str:
        """Runs a command in the system; what it printed. With `fails` it has to fail."""
        result = subprocess.run(
            self.command(*command, user=user), input=text, capture_output=True, text=True,
            stdin=subprocess.DEVNULL if text is None else None,
        )
        said = result.stdout + result.stderr
        if (result.returncode != 0) != fails:
            last = "\n".join(said.strip().splitlines()[-25:])
            raise Failed(f"{' '.join(command[:4])} ended with {result.returncode}:\n{last}")
        return said

    def command(self, *command: str, user: str | None = None) -> list[str]:
        """The command that runs another one in the system, as a user without capabilities or as root."""
        inside = list(command)
        if user is not None:
            inside = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "--no-new-privs",
                      "--bounding-set=-all", "--reset-env", *command]
        if self.leader is None:
            enter = ["unshare", "--mount", "--pid", "--fork", "--kill-child", f"--mount-proc={self.root}/proc",
                     "chroot", str(self.root)]
        else:
            enter = ["nsenter", f"--target={self.leader}", "--all", "--root", "--wd"]
        environment = ["env", "--ignore-environment", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8",
                       "DEBIAN_FRONTEND=noninteractive"]
        return [*environment, *enter, *inside]

    def path(self, name: str) -> Path:
        """A file of the system as this machine sees it."""
        return self.root / name.lstrip("/")

    def install(self, *packages: Path, options: tuple[str, ...] = ()) -> str:
        """Installs files of packages with what they depend on, and with nothing that they recommend."""
        for package in packages:
            shutil.copyfile(package, self.path("root") / package.name)
        return self.run("apt-get", "install", "--yes", "--no-install-recommends",
                        "--option=Dpkg::Options::=--force-confold", *options,
                        *(f"/root/{package.name}" for package in packages))


@contextmanager
def empty_system(cache: Path, folder: Path) -> Iterator[System]:
    """A system with Debian's smallest set of packages, removed at the end; `cache` keeps the archive of it."""
    known = archives([path.read_text("utf-8", "replace") for path in sources()])
    where = known[0]
    archive = cache / f"{where.suite}.tar"
    root = folder / "root"
    root.mkdir(parents=True)
    if not archive.exists():
        cache.mkdir(parents=True, exist_ok=True)
        made = folder / "made"
        # The packages that dpkg and apt need, and no others.
        quietly("debootstrap", "--variant=minbase", where.suite, str(made), where.url)
        quietly("tar", "--create", "--file", str(archive), "--directory", str(made), "--numeric-owner", ".")
        shutil.rmtree(made)
    quietly("tar", "--extract", "--file", str(archive), "--directory", str(root), "--numeric-owner")
    apt = root / "etc/apt"
    (apt / "sources.list").write_text("".join(each.line for each in known), "utf-8")
    for file in Path("/etc/apt/apt.conf.d").glob("*proxy*"):
        shutil.copyfile(file, apt / file.relative_to("/etc/apt"))
    for name in ("resolv.conf", "hosts"):
        shutil.copyfile(f"/etc/{name}", root / "etc" / name)
    system = System(root)
    system.run("apt-get", "update")
    try:
        yield system
    finally:
        shutil.rmtree(root, ignore_errors=True)


@contextmanager
def booted(system: System, log: Path) -> Iterator[System]:
    """The system with its own systemd, which runs its units as they are, until the block ends.

    It shares the network of this machine, so that a browser and an authority outside of it reach its server.
    """
    # No systemd needs to run on this machine, so there is nothing to register at, and no unit to make.
    command = ["systemd-nspawn", "--quiet", f"--directory={system.root}", f"--machine=package-check-{os.getpid()}",
               "--boot", "--register=no", "--keep-unit", "--console=pipe", "--link-journal=no", "--resolv-conf=off"]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
    try:
        deadline = time.monotonic() + 120
        while (running := started(system, process.pid)) is None:
            if process.poll() is not None or time.monotonic() > deadline:
                raise Failed(f"systemd does not start in the system:\n{log.read_text('utf-8', 'replace')[-2000:]}")
            time.sleep(0.1)
        yield running
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)


def started(system: System, container: int) -> System | None:
    """The system, once its systemd has started what it starts at boot."""
    try:
        children = Path(f"/proc/{container}/task/{container}/children").read_text("ascii").split()
    except OSError:
        return None
    for child in children:
        running = System(system.root, int(child))
        asked = subprocess.run(running.command("systemctl", "is-system-running"), capture_output=True, text=True)
        if asked.stdout.strip() in ("running", "degraded"):
            return running
    return None


def quietly(*command: str) -> None:
    """Runs a command, and shows what it said only if it fails."""
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if result.returncode != 0:
        last = "\n".join((result.stdout + result.stderr).strip().splitlines()[-15:])
        raise Failed(f"{' '.join(command[:3])} failed:\n{last}")
