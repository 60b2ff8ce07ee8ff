"""What an operator does with the packages: install, configure, start, copy, upgrade, remove, purge."""

from __future__ import annotations

import re
import signal
import socket
from collections.abc import Callable
from pathlib import Path

from .notify import NotifiedService
from .system import System, expect

SERVICE = "/lib/systemd/system/counterfoil-server.service"
SETTINGS = "/etc/counterfoil/server.yaml"
DATA = "/var/lib/counterfoil"
COPIES = "/var/backups/counterfoil"
#: The greatest exposure that `systemd-analyze security` may compute, times ten.
EXPOSURE = "15"
MARK = "# A line of the operator.\n"


def install(system: System, package: Path) -> None:
    """The package brings its user, its folders and its settings, and starts nothing."""
    system.install(package)
    account = system.run("getent", "passwd", "counterfoil").strip().split(":")
    expect(account[5:] == [DATA, "/usr/sbin/nologin"], f"the user is {account}")
    for folder in (DATA, COPIES):
        shown = system.run("stat", "--format=%a %U:%G", folder).strip()
        expect(shown == "700 counterfoil:counterfoil", f"{folder} is {shown}")
    expect(SETTINGS in system.run("dpkg-query", "--show", "--showformat=${Conffiles}", "counterfoil-server"),
           f"{SETTINGS} is no conffile")
    enabled = system.run("find", "/etc/systemd/system", "-name", "counterfoil*")
    expect("counterfoil-backup.timer" in enabled, "the timer of the copies is not enabled")
    expect("counterfoil-server" not in enabled, "the server is enabled before it is configured")
    expect("counterfoil-server" in system.run("counterfoil-server", "--help"), "the program does not run")


def refuse_before_configured(system: System) -> None:
    """Without an issuer the settings are refused, with exit code 3 or 64, after which systemd does not retry."""
    said = system.run("sh", "-c", f"counterfoil-server config check --config {SETTINGS}; echo \"status $?\"")
    expect(re.search(r"status (3|64)\n", said) is not None and "issuer" in said, f"config check without an issuer: {said}")


def configure(system: System, issuer: str, listen: str) -> None:
    """The operator sets the issuer and the address."""
    file = system.path(SETTINGS)
    text = file.read_text("utf-8")
    for key, value in (("issuer", issuer), ("listen", listen)):
        text, count = re.subn(rf"^#? ?{key}:.*$", f"{key}: {value}", text, count=1, flags=re.MULTILINE)
        expect(count == 1, f"{SETTINGS} has no line for {key}")
    file.write_text(text + MARK, "utf-8")
    system.run("counterfoil-server", "config", "check", "--config", SETTINGS)


def check_units(system: System) -> None:
    """systemd finds nothing wrong with the units, and little that they may do."""
    units = ("counterfoil-server.service", "counterfoil-server.socket", "counterfoil-backup.service",
             "counterfoil-backup.timer")
    said = system.run("systemd-analyze", "verify", "--man=no", *(f"/lib/systemd/system/{unit}" for unit in units))
    expect(not said.strip(), f"systemd-analyze verify: {said}")
    for unit in units:
        if unit.endswith(".service"):
            system.run("systemd-analyze", "security", "--offline=true", f"--threshold={EXPOSURE}",
                       f"/lib/systemd/system/{unit}")


def serve(system: System, log: Path, address: str, visit: Callable[[], None]) -> None:
    """The server runs as its user, reports to systemd, reloads, and answers."""
    service = NotifiedService(system, system.path(SERVICE).read_text("utf-8"), "counterfoil", log)
    try:
        service.wait_for("READY=1")
        for path in ("/livez", "/readyz"):
            system.run("counterfoil-server", "health", f"http://{address}{path}")
        service.signal(signal.SIGHUP)
        service.wait_for("RELOADING=1")
        service.wait_for("READY=1")
        visit()
        service.stop()
    finally:
        service.kill()
    expect(system.path(f"{DATA}/counterfoil.db").exists(), f"the data are not in {DATA}")
    # A command outside of the unit finds the same data by the settings file.
    said = system.run("counterfoil-server", "key", "list", "--config", SETTINGS, user="counterfoil")
    expect("ES256" in said, f"a command finds other data: {said}")
    owners = system.run("find", DATA, "-not", "-user", "counterfoil")
    expect(not owners.strip(), f"files of other users: {owners}")


def copy(system: System) -> None:
    """The nightly copy has its name only when it is whole, and the oldest ones go."""
    backup = ["env", "COUNTERFOIL_BACKUP_KEEP=2", "/usr/lib/counterfoil-server/backup"]
    for stamp in ("20200101T030000Z", "20200102T030000Z"):
        system.path(f"{COPIES}/counterfoil-{stamp}.backup").touch()
    system.run(*backup, user="counterfoil")
    names = sorted(path.name for path in system.path(COPIES).glob("*.backup"))
    expect(len(names) == 2 and names[0] == "counterfoil-20200102T030000Z.backup", f"the copies are {names}")
    newest = system.path(f"{COPIES}/{names[1]}")
    expect(newest.stat().st_size > 4096 and newest.stat().st_mode & 0o077 == 0, "the copy is empty or readable by others")
    expect(not system.path(f"{COPIES}/.partial").exists(), "a half copy is left")
    # While one is made, a second one does not start.
    held = f"flock {COPIES}/.lock /usr/lib/counterfoil-server/backup"
    said = system.run("sh", "-c", f"{held} 2>&1; echo \"status $?\"", user="counterfoil")
    expect("status 6" in said, f"a second copy at the same time: {said}")


def upgrade(system: System, package: Path, version: str) -> None:
    """An upgrade keeps the data and the settings of the operator."""
    database = system.path(f"{DATA}/counterfoil.db").read_bytes()
    system.install(package)
    shown = system.run("dpkg-query", "--show", "--showformat=${Version}", "counterfoil-server")
    expect(shown == version, f"the version is {shown}, not {version}")
    expect(MARK in system.path(SETTINGS).read_text("utf-8"), "the upgrade replaced the settings")
    expect(system.path(f"{DATA}/counterfoil.db").read_bytes() == database, "the upgrade changed the data")


def remove_and_purge(system: System) -> None:
    """Removal keeps data and settings; purging deletes both, and keeps the copies."""
    system.run("apt-get", "remove", "--yes", "counterfoil-server")
    for kept in (f"{DATA}/counterfoil.db", SETTINGS):
        expect(system.path(kept).exists(), f"the removal deleted {kept}")
    expect(not system.path("/usr/bin/counterfoil-server").exists(), "the removal left the program")
    system.path("/etc/counterfoil/privkey.pem").write_text("of the operator", "utf-8")
    said = system.run("apt-get", "purge", "--yes", "counterfoil-server")
    for gone in (DATA, "/etc/counterfoil"):
        expect(not system.path(gone).exists(), f"purging left {gone}")
    expect(any(system.path(COPIES).glob("*.backup")) and COPIES in said, "purging deleted the copies, or does not name them")


def use_client(system: System, package: Path) -> None:
    """The command line runs with what its package asks for."""
    system.install(package)
    expect("counterfoil" in system.run("counterfoil", "--help"), "the command line does not run")
    system.run("apt-get", "purge", "--yes", "counterfoil")


def free_port() -> int:
    """A free port of this machine."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])
