"""Backups and restores of a data directory that are killed at random moments, and a check of what a restore brings back."""

from __future__ import annotations

import http.client
import os
import random
import shutil
import sqlite3
import subprocess
import time
import urllib.parse
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from local_servers import Counterfoil, Failed, free_ports, running, tail


@dataclass(frozen=True)
class Acknowledged:
    """What a server had acknowledged before a copy began, and what the copy must have."""

    # The names of the users.
    users: frozenset[str]
    # The identifiers of the clients.
    clients: frozenset[str]
    # The users with a session in a browser.
    sessions: frozenset[str]
    # The refresh tokens that are valid, by the names of their users, who have a consent therefore.
    tokens: dict[str, list[str]]

    @property
    def all_tokens(self) -> list[str]:
        return [token for tokens in self.tokens.values() for token in tokens]

    def without(self, revoked: set[str]) -> Acknowledged:
        """The same without tokens that were revoked later."""
        return replace(self, tokens={
            name: [token for token in tokens if token not in revoked] for name, tokens in self.tokens.items()})


class RestoreDrill:
    """Copies of the data of a running server, and directories that are restored from them."""

    # The refresh tokens that each examination sends.
    _tokens_at_most = 50

    def __init__(self, programs: Path, data: Path, folder: Path, client_id: str, port: int, chance: random.Random,
                 acknowledged: Callable[[], Acknowledged]) -> None:
        self._programs = programs
        self._program = str(programs / "counterfoil-server")
        self._data = data
        self._folder = folder
        self._client_id = client_id
        self._port = port
        self._chance = chance
        self._acknowledged = acknowledged
        # What the last complete copy must have.
        self._copied = acknowledged()
        self._revoked: set[str] = set()
        self.journal = folder / "endings"
        self._copy = folder / "counterfoil.copy"
        self.kills = 0
        self.copies = 0
        self.tokens = 0
        self.unfinished = 0
        self.wrong: list[str] = []

    # --- Kills

    def kill_backups(self, count: int) -> None:
        """Kills backups while the server answers: the copy under its name is whole each time."""
        seconds = self.copy()
        self._try(self._copy)
        for _ in range(count):
            before, acknowledged = self._identity, self._acknowledged()
            self._kill([*self._backup, "--replace"], seconds)
            # A copy that was not replaced was examined when it was new.
            if self._identity != before:
                self._copied = acknowledged
                self._try(self._copy)
            partial = Path(f"{self._copy}.partial")
            if partial.exists():
                self._try(partial)
        self.copy()
        self._try(self._copy)

    def kill_restores(self, count: int) -> None:
        """Kills restores: no server starts on an unfinished one, and one on a finished one has everything."""
        target = self._directory("killed")
        command = self._restore(self._copy, target, ["--endings-journal", *self._journals])
        seconds = self._timed(command)
        self._empty(target)
        for _ in range(count):
            # What a killed restore has left is there for the next one.
            self._kill(command, seconds)
            if (target / "counterfoil.db").exists():
                self._examine(target, "a restore that was killed")
                self._empty(target)
                continue
            self.unfinished += 1
            if self._starts(target):
                self.wrong.append("a server starts where a restore was killed")
                self._empty(target)
        if self._run(command) != 0:
            self.wrong.append("a restore after a killed one is refused")
        else:
            self._examine(target, "a restore after a killed one")

    @property
    def _identity(self) -> tuple[int, int] | None:
        """The file that has the name of the copy; the number alone can be used again."""
        if not self._copy.exists():
            return None
        status = self._copy.stat()
        return status.st_ino, status.st_mtime_ns

    def _kill(self, command: list[str], seconds: float) -> None:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(self._chance.uniform(0, 1.1 * seconds))
        process.kill()
        process.wait()
        self.kills += 1

    def _try(self, path: Path) -> None:
        """Restores a file; one with its final name must be accepted, and another one may be refused."""
        target = self._directory("tried")
        accepted = self._run(self._restore(path, target, ["--endings-journal", *self._journals])) == 0
        if path == self._copy and not accepted:
            self.wrong.append("a copy is refused after a backup was killed")
        if accepted:
            self.copies += 1
            self._examine(target, f"a restore of {path.name}")
        if not accepted and (target / "counterfoil.db").exists():
            self.wrong.append("a restore that was refused left a database")

    # --- What is in a restored directory

    def _server_of(self, target: Path) -> Counterfoil:
        return Counterfoil(target, self._programs, free_ports(1)[0])

    def _starts(self, target: Path) -> bool:
        server = self._server_of(target)
        try:
            with running(server.serve_command, server.metadata_url, self._folder / "refused.log"):
                return True
        except Failed:
            return (target / "counterfoil.db").exists()

    def _examine(self, target: Path, what: str) -> None:
        """A server starts on a restored directory, and has what was acknowledged before the copy began."""
        expected = self._copied.without(self._revoked)
        self.wrong += [f"{what} lacks {text}" for text in self._lacking(target / "counterfoil.db", expected)]
        tokens = expected.all_tokens
        tokens = self._chance.sample(tokens, min(self._tokens_at_most, len(tokens)))
        server, log = self._server_of(target), self._folder / "restored.log"
        try:
            with running([*server.serve_command, "--log-level", "error"], server.metadata_url, log):
                refused = [token for token in tokens if not self.is_accepted(token, server.port)]
        except Failed as fault:
            self.wrong.append(f"no server starts on {what}: {fault}: {tail(log)}")
            return
        self.tokens += len(tokens)
        self.wrong += [f"{what} refuses a token that was acknowledged before the copy" for _ in refused]

    @staticmethod
    def _lacking(database: Path, expected: Acknowledged) -> list[str]:
        """What a database lacks of its rows."""
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
            def column(query: str) -> set[str]:
                return {str(row[0]) for row in connection.execute(query)}

            users = column("SELECT username FROM people")
            clients = column("SELECT id FROM clients")
            sessions = column("SELECT username FROM sessions JOIN people ON people.id = sessions.person_id")
            consents = column("SELECT username FROM consents JOIN people ON people.id = consents.person_id")
        allowed = {name for name, tokens in expected.tokens.items() if tokens}
        return [f"{len(lost)} {name}" for lost, name in [
            (expected.users - users, "users"), (expected.clients - clients, "clients"),
            (expected.sessions - sessions, "sessions"), (allowed - consents, "consents")] if lost]

    # --- The check

    def copy(self) -> float:
        """Makes a copy; the seconds that it took."""
        acknowledged = self._acknowledged()
        seconds = self._timed([*self._backup, "--replace"])
        self._copied = acknowledged
        return seconds

    def revoke(self, token: str) -> bool:
        """Revokes a token, and tells whether the server has confirmed it."""
        form = urllib.parse.urlencode({"client_id": self._client_id, "token": token})
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=20)
        try:
            connection.request("POST", "/oauth2/revoke", form, {"Content-Type": "application/x-www-form-urlencoded"})
            is_revoked = connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            is_revoked = False
        finally:
            connection.close()
        # Without an answer, it may be revoked.
        self._revoked.add(token)
        return is_revoked

    def is_accepted(self, token: str, port: int | None = None) -> bool:
        form = urllib.parse.urlencode(
            {"grant_type": "refresh_token", "client_id": self._client_id, "refresh_token": token})
        connection = http.client.HTTPConnection("127.0.0.1", port or self._port, timeout=20)
        try:
            connection.request("POST", "/oauth2/token", form, {"Content-Type": "application/x-www-form-urlencoded"})
            answer = connection.getresponse()
            answer.read()
            if answer.status not in (200, 400):
                raise Failed(f"a refresh after a restore got {answer.status}")
            return answer.status == 200
        finally:
            connection.close()

    def restore(self, *, ends_sign_ins: bool) -> None:
        """Replaces the data of the server, which has ended, by the last copy."""
        key = (self._data / "server.key").read_bytes()
        shutil.rmtree(self._data)
        self._make(self._data, key)
        answer = ["--end-sign-ins"] if ends_sign_ins else ["--endings-journal", *self._journals]
        result = subprocess.run(self._restore(self._copy, self._data, answer), capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise Failed(f"a copy is refused: {result.stderr}")
        if ends_sign_ins:
            # The journal is that of the store before.
            for path in self._journals:
                Path(path).unlink()

    # --- Commands

    @property
    def _backup(self) -> list[str]:
        return [self._program, "backup", "--data-dir", str(self._data), "--output", str(self._copy)]

    @property
    def _journals(self) -> list[str]:
        return sorted(str(path) for path in self._folder.glob("endings*"))

    def _restore(self, copy: Path, target: Path, answer: list[str]) -> list[str]:
        return [self._program, "restore", str(copy), "--data-dir", str(target), *answer]

    def _timed(self, command: list[str]) -> float:
        begun = time.monotonic()
        result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise Failed(f"{' '.join(command[1:3])} ended with {result.returncode}: {result.stderr}")
        return time.monotonic() - begun

    def _run(self, words: list[str]) -> int:
        command = words if words[0] == self._program else [self._program, *words]
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode

    def _directory(self, name: str) -> Path:
        target = self._folder / name
        shutil.rmtree(target, ignore_errors=True)
        self._make(target, (self._data / "server.key").read_bytes())
        return target

    @staticmethod
    def _empty(target: Path) -> None:
        """Leaves nothing in a directory but the server key."""
        for path in target.iterdir():
            if path.name != "server.key":
                path.unlink()

    @staticmethod
    def _make(target: Path, key: bytes) -> None:
        target.mkdir(mode=0o700)
        descriptor = os.open(target / "server.key", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(key)
