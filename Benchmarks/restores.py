"""Backups and restores of a data directory that are killed at random moments, and a check of what a restore brings back."""

from __future__ import annotations

import http.client
import os
import random
import shutil
import subprocess
import time
import urllib.parse
from pathlib import Path

from local_servers import Failed


class RestoreDrill:
    """Copies of the data of a running server, and directories that are restored from them."""

    def __init__(self, programs: Path, data: Path, folder: Path, client_id: str, port: int) -> None:
        self._program = str(programs / "counterfoil-server")
        self._data = data
        self._folder = folder
        self._client_id = client_id
        self._port = port
        self.journal = folder / "endings"
        self._copy = folder / "counterfoil.copy"
        self.kills = 0
        self.wrong: list[str] = []

    # --- Kills

    def kill_backups(self, count: int) -> None:
        """Kills backups while the server answers: the copy under its name is whole each time."""
        seconds = self._timed([*self._backup, "--replace"])
        for number in range(count):
            self._kill([*self._backup, "--replace"], seconds)
            # A restore of each would take long; a copy that was replaced half-way would show in any of them.
            for path in [self._copy, Path(f"{self._copy}.partial")] if number % 10 == 0 else []:
                if path.exists():
                    self._try(path)
        self._timed([*self._backup, "--replace"])

    def kill_restores(self, count: int) -> None:
        """Kills restores: the directory has no database, or one that is complete."""
        target = self._directory("killed")
        command = self._restore(self._copy, target, ["--endings-journal", *self._journals])
        seconds = self._timed(command)
        for _ in range(count):
            (target / "counterfoil.db").unlink(missing_ok=True)
            self._kill(command, seconds)
            if (target / "counterfoil.db").exists() and self._run(["key", "list", "--data-dir", str(target)]) != 0:
                self.wrong.append("a restore that was killed left a database that cannot be used")
        (target / "counterfoil.db").unlink(missing_ok=True)
        if self._run(command) != 0:
            self.wrong.append("a restore after a killed one is refused")

    def _kill(self, command: list[str], seconds: float) -> None:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(random.uniform(0, 1.1 * seconds))
        process.kill()
        process.wait()
        self.kills += 1

    def _try(self, path: Path) -> None:
        """Restores a file; one with its final name must be accepted, and another one may be refused."""
        target = self._directory("tried")
        accepted = self._run(self._restore(path, target, ["--end-sign-ins"])) == 0
        if path == self._copy and not accepted:
            self.wrong.append("a copy is refused after a backup was killed")
        if accepted and self._run(["user", "list", "--data-dir", str(target)]) != 0:
            self.wrong.append("a file was accepted that is no copy")
        if not accepted and (target / "counterfoil.db").exists():
            self.wrong.append("a restore that was refused left a database")

    # --- The check

    def copy(self) -> None:
        self._timed([*self._backup, "--replace"])

    def revoke(self, token: str) -> bool:
        """Revokes a token, and tells whether the server has confirmed it."""
        form = urllib.parse.urlencode({"client_id": self._client_id, "token": token})
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=20)
        try:
            connection.request("POST", "/oauth2/revoke", form, {"Content-Type": "application/x-www-form-urlencoded"})
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def is_accepted(self, token: str) -> bool:
        form = urllib.parse.urlencode(
            {"grant_type": "refresh_token", "client_id": self._client_id, "refresh_token": token})
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=20)
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
    def _make(target: Path, key: bytes) -> None:
        target.mkdir(mode=0o700)
        descriptor = os.open(target / "server.key", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(key)
