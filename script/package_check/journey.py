"""What an operator does with an installed server: look at its rights, copy, upgrade, remove, purge."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable
from pathlib import Path

from .system import Failed, System, expect

SERVER = "counterfoil-server"
SETTINGS = "/etc/counterfoil/server.yaml"
DATA = "/var/lib/counterfoil"
COPIES = "/var/backups/counterfoil"
JOURNAL = "/var/lib/counterfoil-journal"
COPY_SETTINGS = "/etc/default/counterfoil-backup"
#: The greatest exposure that `systemd-analyze security` may compute, times ten.
EXPOSURE = "15"
MARK = "# A line of the operator.\n"
#: In the settings of the former package only, so that an upgrade meets a conffile that both sides have changed.
FORMER_COMMENT = "# The settings of an older version.\n"


def look_at_installed(system: System) -> None:
    """The package brings its user, its folders and its settings, and starts nothing."""
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


def reload(system: System, port: int) -> None:
    """The server that systemd has started reports that it is ready, and reads its settings again."""
    for path in ("/livez", "/readyz"):
        system.run("counterfoil-server", "health", f"https://127.0.0.1:{port}{path}")
    file = system.path(SETTINGS)
    file.write_text(file.read_text("utf-8").replace("#log-level: notice", "log-level: info"), "utf-8")
    system.run("systemctl", "reload", SERVER)
    until("the reload", lambda: "read the settings again" in journal(system))
    # A command outside of the unit finds the same data by the settings file, which it reads without being told.
    said = system.run("counterfoil-server", "key", "list", user="counterfoil")
    expect("ES256" in said, f"a command finds other data: {said}")
    owners = system.run("find", DATA, "-not", "-user", "counterfoil")
    expect(not owners.strip(), f"files of other users: {owners}")


def confined(system: System) -> None:
    """The process has the user, the one capability, the filter of system calls and the read-only files of its unit."""
    process = main_process(system)
    status = dict(re.findall(r"^(\w+):\s+(.*)$", system.run("cat", f"/proc/{process}/status"), re.MULTILINE))
    user = system.run("id", "--user", "counterfoil").strip()
    expect(set(status["Uid"].split()) == {user}, f"the server runs as {status['Uid']}, not as {user}")
    port_rights = f"{1 << 10:016x}"
    for name, wanted in (("CapEff", port_rights), ("CapBnd", port_rights), ("NoNewPrivs", "1"), ("Seccomp", "2")):
        expect(status[name] == wanted, f"{name} of the server is {status[name]}, not {wanted}")
    # Even root can write there only what the unit allows.
    inside = ["nsenter", f"--target={process}", "--mount", "touch"]
    for folder in ("/usr", "/etc/counterfoil", "/var/backups/counterfoil"):
        said = system.run(*inside, f"{folder}/written", fails=True)
        expect("Read-only file system" in said, f"the server sees {folder} otherwise: {said}")
    for folder in (DATA, JOURNAL):
        system.run(*inside, f"{folder}/written")
        system.run("rm", f"{folder}/written")


def refuse_unmounted(system: System) -> None:
    """Without the volume of the data or of the journal, systemd does not start the server on the empty folder below."""
    system.run("systemctl", "stop", SERVER)
    for folder in (DATA, JOURNAL):
        unit = system.run("systemd-escape", "--path", "--suffix=mount", folder).strip()
        file = system.path(f"/etc/systemd/system/{unit}")
        file.write_text(f"[Mount]\nWhat=/dev/null\nWhere={folder}\nType=ext4\n", "utf-8")
        system.run("systemctl", "daemon-reload")
        for started in (SERVER, "counterfoil-backup"):
            said = system.run("systemctl", "start", started, fails=True)
            expect("dependency job" in said, f"{started} without {folder}: {said}")
        file.unlink()
        system.run("systemctl", "daemon-reload")
    system.run("systemctl", "start", SERVER)


def main_process(system: System) -> str:
    """The number of the server in its system."""
    return system.run("systemctl", "show", "--property=MainPID", "--value", SERVER).strip()


def journal(system: System) -> str:
    """What the server has logged."""
    return system.run("journalctl", "--unit", SERVER, "--output=cat", "--no-pager")


def last_lines(system: System) -> str:
    """The end of what the server has logged, as far as the system can still be asked."""
    try:
        return "\n".join(journal(system).splitlines()[-20:])
    except Failed as fault:
        return str(fault)


def until(what: str, condition: Callable[[], bool], seconds: float = 60) -> None:
    """Waits until a condition holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise Failed(f"{what} does not come within {seconds:g} s")
        time.sleep(0.1)


def copy(system: System) -> None:
    """The unit of the nightly copy makes one, which has its name only when it is whole, and the oldest ones go."""
    system.path(COPY_SETTINGS).write_text("COUNTERFOIL_BACKUP_KEEP=2\n", "utf-8")
    for stamp in ("20200101T030000Z", "20200102T030000Z"):
        system.path(f"{COPIES}/counterfoil-{stamp}.backup").touch()
    system.run("systemctl", "start", "counterfoil-backup.service")
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
    """An upgrade restarts the running server, and keeps the data and the settings of the operator."""
    before = main_process(system)
    settings = system.path(SETTINGS).read_text("utf-8")
    expect(MARK in settings and FORMER_COMMENT in settings, "the settings are not those of the former package, changed")
    users = system.run("counterfoil-server", "user", "list", user="counterfoil")
    system.install(package)
    shown = system.run("dpkg-query", "--show", "--showformat=${Version}", SERVER)
    expect(shown == version, f"the version is {shown}, not {version}")
    expect(system.path(SETTINGS).read_text("utf-8") == settings, "the upgrade replaced the settings")
    beside = system.path(f"{SETTINGS}.dpkg-dist")
    expect(beside.exists() and FORMER_COMMENT not in beside.read_text("utf-8"),
           "the upgrade did not put the changed settings of the package beside those of the operator")
    state = system.run("systemctl", "show", "--property=ActiveState", "--value", SERVER).strip()
    expect(state == "active", f"the server is {state} after the upgrade")
    expect(main_process(system) != before, "the upgrade did not restart the server")
    program = system.run("readlink", f"/proc/{main_process(system)}/exe").strip()
    expect(program == "/usr/bin/counterfoil-server", f"the server runs {program}")
    after = system.run("counterfoil-server", "user", "list", user="counterfoil")
    expect(after == users, f"the upgrade changed the users: {after}")


def upgrade_with_refused_settings(system: System, package: Path, port: int) -> None:
    """The running server continues if the installed version does not accept its settings."""
    file = system.path(SETTINGS)
    accepted = file.read_text("utf-8")
    before = main_process(system)
    file.write_text(accepted + "unknown-setting: 1\n", "utf-8")
    said = system.install(package, options=("--reinstall",))
    expect("does not accept the settings" in said, f"the package says nothing of refused settings: {said[-500:]}")
    expect(main_process(system) == before, "the server was restarted with settings that it refuses")
    system.run("counterfoil-server", "health", f"https://127.0.0.1:{port}/readyz")
    file.write_text(accepted, "utf-8")


def remove_and_purge(system: System) -> None:
    """Removal stops the server and keeps what it has; purging deletes data and settings.

    It keeps the copies, the endings journal and the settings of the copies, which the operator has made, and says so.
    """
    process = main_process(system)
    system.run("apt-get", "remove", "--yes", "counterfoil-server")
    expect(process not in system.run("ls", "/proc").split(), "the server runs after its removal")
    for kept in (f"{DATA}/counterfoil.db", SETTINGS, f"{JOURNAL}/endings", COPY_SETTINGS):
        expect(system.path(kept).exists(), f"the removal deleted {kept}")
    expect(not system.path("/usr/bin/counterfoil-server").exists(), "the removal left the program")
    system.path("/etc/counterfoil/privkey.pem").write_text("of the operator", "utf-8")
    said = system.run("apt-get", "purge", "--yes", "counterfoil-server")
    for gone in (DATA, "/etc/counterfoil"):
        expect(not system.path(gone).exists(), f"purging left {gone}")
    for place, file in ((COPIES, "*.backup"), (JOURNAL, "endings"), (COPY_SETTINGS, None)):
        kept = system.path(place)
        expect(kept.exists() if file is None else any(kept.glob(file)), f"purging deleted {place}")
        expect(place in said, f"purging does not name {place}, which it keeps")
    system.run("apt-get", "purge", "--yes", "counterfoil")
    left = system.run("find", "/usr", "/etc/systemd", "/var/lib", "/var/backups", "-name", "counterfoil*",
                      "-not", "-path", "/var/lib/systemd/*").split()
    expect(sorted(each for each in left if "/counterfoil/" not in each) == [COPIES, JOURNAL], f"purging left {left}")


def port_of_root() -> int:
    """A free port below 1024, for which the server needs its capability, and which browsers accept."""
    for port in range(1023, 999, -1):
        with socket.socket() as held:
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                held.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise Failed("no port from 1000 to 1023 is free on this machine")


def free_port() -> int:
    """A free port of this machine."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])
