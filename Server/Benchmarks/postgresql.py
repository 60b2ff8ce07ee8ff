"""Starts PostgreSQL on this machine, alone or under Patroni, and disturbs it."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from local_servers import Failed, answers, free_ports

# The user identifier of a user without rights, because PostgreSQL refuses to run as root.
UNPRIVILEGED = 65534


def programs_of_postgresql() -> Path:
    """The folder with the programs of the newest PostgreSQL."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    initdb = shutil.which("initdb")
    if not found and initdb is None:
        raise Failed("PostgreSQL is not installed; run: script/bootstrap database")
    return found[-1] if found else Path(initdb or "").parent


def make_folder(folder: Path) -> None:
    """A folder of the user as which PostgreSQL runs."""
    folder.mkdir()
    if os.geteuid() == 0:
        os.chown(folder, UNPRIVILEGED, -1)


def unprivileged() -> int | None:
    """The user as which PostgreSQL runs; nothing for that of this script."""
    return UNPRIVILEGED if os.geteuid() == 0 else None


class PostgreSQL:
    """A server of PostgreSQL in a directory, as another user if this one is root."""

    name = "PostgreSQL"

    def __init__(self, folder: Path) -> None:
        self._programs = programs_of_postgresql()
        self._folder = folder
        self.port = free_ports(1)[0]
        make_folder(folder)
        self._run("initdb", "--pgdata", str(folder / "data"), "--username", "counterfoil", "--auth", "trust",
                  "--encoding", "UTF8", "--locale", "C", "--no-instructions")

    @property
    def uri(self) -> str:
        return f"postgresql://counterfoil@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        settings = (f"-c port={self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self._folder} "
                    "-c max_connections=60 -c shared_preload_libraries=pg_stat_statements")
        self._run("pg_ctl", "start", "--wait", "--pgdata", str(self._folder / "data"), "--log",
                  str(self._folder / "log"), "--options", settings)

    def stop(self) -> None:
        """Stops it as a crash does."""
        self._run("pg_ctl", "stop", "--mode", "immediate", "--pgdata", str(self._folder / "data"))

    def query(self, statement: str) -> str:
        """The first value of a query."""
        result = subprocess.run(
            [str(self._programs / "psql"), "--no-psqlrc", "--no-align", "--tuples-only", "--quiet", "--command", statement,
             self.uri], capture_output=True, text=True, timeout=60)
        if result.returncode != 0:
            raise Failed(f"psql ended with {result.returncode}: {result.stderr}")
        return result.stdout.strip()

    @property
    def cpu_seconds(self) -> float:
        """The processor time of all its processes that run."""
        head = int((self._folder / "data" / "postmaster.pid").read_text("utf-8").splitlines()[0])
        ticks = 0
        for entry in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = entry.read_text("utf-8").rpartition(")")[2].split()
            except OSError:
                continue
            if head in (int(fields[1]), int(entry.parent.name)):
                ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def disturb(self, number: int) -> None:
        """Stops it as a crash does, and starts it again after a moment."""
        self.stop()
        time.sleep(random.uniform(0.5, 4))
        self.start()

    def end(self) -> None:
        try:
            self.stop()
        except Failed:
            pass

    def _run(self, program: str, *words: str) -> None:
        result = subprocess.run([str(self._programs / program), *words], capture_output=True, text=True,
                                user=unprivileged(), cwd=self._folder, timeout=120)
        if result.returncode != 0:
            raise Failed(f"{program} ended with {result.returncode}: {result.stderr}{result.stdout}")


class Member:
    """A PostgreSQL under Patroni, with all its processes in one group."""

    def __init__(self, folder: Path, number: int, etcd: int, synchronous: bool) -> None:
        self.port, self.control = free_ports(2)
        self._log = folder.parent / f"member-{number}.log"
        self._settings = folder / f"member-{number}.yaml"
        self._process: subprocess.Popen[bytes] | None = None
        self._settings.write_text(json.dumps({
            "scope": "counterfoil",
            "name": f"member-{number}",
            "restapi": {"listen": f"127.0.0.1:{self.control}", "connect_address": f"127.0.0.1:{self.control}"},
            "etcd3": {"hosts": f"127.0.0.1:{etcd}"},
            "bootstrap": {
                "dcs": {
                    "ttl": 20, "loop_wait": 2, "retry_timeout": 5, "maximum_lag_on_failover": 1048576,
                    "synchronous_mode": synchronous, "synchronous_mode_strict": synchronous,
                    "postgresql": {"use_pg_rewind": True, "parameters": {"max_connections": 60}},
                },
                "initdb": [{"encoding": "UTF8"}, {"locale": "C"}],
                "pg_hba": ["local all all trust", "host all all 127.0.0.1/32 trust",
                           "host replication all 127.0.0.1/32 trust"],
            },
            "postgresql": {
                "listen": f"127.0.0.1:{self.port}", "connect_address": f"127.0.0.1:{self.port}",
                "data_dir": str(folder / f"data-{number}"), "bin_dir": str(programs_of_postgresql()),
                "pgpass": str(folder / f"pgpass-{number}"),
                "authentication": {
                    "superuser": {"username": "counterfoil"}, "replication": {"username": "replicator"},
                    "rewind": {"username": "counterfoil"}},
                "parameters": {"unix_socket_directories": str(folder)},
            },
        }), "utf-8")

    def start(self) -> None:
        with self._log.open("ab") as output:
            self._process = subprocess.Popen(
                ["patroni", str(self._settings)], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                user=unprivileged(), start_new_session=True, cwd=self._settings.parent)

    @property
    def is_leader(self) -> bool:
        return answers(f"http://127.0.0.1:{self.control}/primary")

    @property
    def is_replica(self) -> bool:
        return answers(f"http://127.0.0.1:{self.control}/replica")

    def signal(self, kind: int) -> None:
        """Sends a signal to Patroni and to each process of its PostgreSQL."""
        for process in self._processes():
            try:
                os.kill(process, kind)
            except ProcessLookupError:
                pass

    def _processes(self) -> list[int]:
        """Patroni and its descendants, which PostgreSQL starts in sessions of their own."""
        if self._process is None:
            return []
        parents: dict[int, list[int]] = {}
        for entry in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = entry.read_text("utf-8").rpartition(")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append(int(entry.parent.name))
        found = [self._process.pid]
        for process in found:
            found += parents.get(process, [])
        return found

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        if self._process is not None:
            self._process.wait()


class Patroni:
    """Three PostgreSQL under Patroni with etcd, of which one is the leader."""

    name = "Patroni"

    def __init__(self, folder: Path, synchronous: bool) -> None:
        for program in ("patroni", "etcd"):
            if shutil.which(program) is None:
                raise Failed(f"{program} is not installed; on Debian: apt-get install patroni etcd-server")
        make_folder(folder)
        client, peer = free_ports(2)
        with (folder.parent / "etcd.log").open("ab") as output:
            self._etcd = subprocess.Popen(
                ["etcd", "--data-dir", str(folder / "etcd"), "--listen-client-urls", f"http://127.0.0.1:{client}",
                 "--advertise-client-urls", f"http://127.0.0.1:{client}", "--listen-peer-urls",
                 f"http://127.0.0.1:{peer}", "--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}",
                 "--initial-cluster", f"default=http://127.0.0.1:{peer}"],
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, user=unprivileged(),
                start_new_session=True)
        self._members = [Member(folder, number, client, synchronous) for number in range(3)]

    @property
    def uri(self) -> str:
        hosts = ",".join(f"127.0.0.1:{member.port}" for member in self._members)
        return f"postgresql://counterfoil@{hosts}/postgres?connect_timeout=2"

    def start(self) -> None:
        for member in self._members:
            member.start()
        self._settle()

    def _settle(self) -> None:
        """Waits until there is a leader with two standbys."""
        deadline = time.monotonic() + 180
        while True:
            leaders = sum(member.is_leader for member in self._members)
            if leaders == 1 and sum(member.is_replica for member in self._members) == len(self._members) - 1:
                return
            if time.monotonic() > deadline:
                raise Failed("Patroni has no leader with two standbys")
            time.sleep(0.2)

    def disturb(self, number: int) -> None:
        """Kills the leader, or stops all its processes so that it is cut off, and waits for a cluster that is whole."""
        self._settle()
        leader = next(member for member in self._members if member.is_leader)
        others = [member for member in self._members if member is not leader]
        begun = time.monotonic()
        if number % 2 == 0:
            leader.kill()
        else:
            leader.signal(signal.SIGSTOP)
        deadline = begun + 120
        while not any(member.is_leader for member in others):
            if time.monotonic() > deadline:
                raise Failed("no standby became the leader")
            time.sleep(0.1)
        verb = "killed" if number % 2 == 0 else "cut off"
        print(f"the leader was {verb}; a new one after {time.monotonic() - begun:.1f} s", flush=True)
        time.sleep(2)
        if number % 2 == 0:
            leader.start()
        else:
            leader.signal(signal.SIGCONT)
        self._settle()

    def end(self) -> None:
        for member in self._members:
            member.signal(signal.SIGCONT)
            member.kill()
        self._etcd.kill()
        self._etcd.wait()


Database = PostgreSQL | Patroni


@contextmanager
def database(kind: str, folder: Path) -> Iterator[Database]:
    # Its own user must reach the directory.
    folder.parent.chmod(0o711)
    server: Database = PostgreSQL(folder) if kind == "postgresql" else Patroni(folder, kind == "patroni")
    try:
        server.start()
        yield server
    finally:
        server.end()
