"""Takes the database from one of two servers and from both, and counts the requests that fail behind a load balancer."""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import os
import re
import secrets
import select
import socket
import subprocess
import threading
import time
import urllib.parse
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from local_servers import Failed, answers
from person import Lost, Person

REDIRECT_URI = "https://lightbox.example.com/callback"
# The seconds after which a server is not ready if its database refuses connections, and if it is silent, and after
# which it is ready again. The load balancer waits for two checks more.
NOTICE, NOTICE_OF_SILENCE, RETURN = 2.0, 5.0, 8.0
# The endings journal of one server, and its log, on a small disk.
JOURNAL, LOG = "endings", "server.log"
# A server answers after five seconds, whatever its database does.
ANSWER_TIME = 15.0
# The requests that a server can serve without the database, and the others.
KEYS = ("keys", "metadata")
OF_USERS = ("authorization", "password", "redemption", "refresh", "revocation")


class Gate(threading.Thread):
    """A way from one server to the database that can be closed, as by a firewall that refuses or drops packets."""

    def __init__(self, target: int) -> None:
        super().__init__(daemon=True)
        self._target = target
        self._lock = threading.Lock()
        self._pairs: dict[socket.socket, socket.socket] = {}
        self._is_silent = False
        self._listener: socket.socket | None = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]

    def run(self) -> None:
        while True:
            with self._lock:
                sources = [] if self._is_silent else [*self._pairs, *([self._listener] if self._listener else [])]
            ready = select.select(sources, [], [], 0.05)[0] if sources else time.sleep(0.05) or []
            with self._lock:
                for source in ready:
                    if source is self._listener:
                        self._accept(source)
                    elif source in self._pairs:
                        self._forward(source)

    def _accept(self, listener: socket.socket) -> None:
        try:
            near = listener.accept()[0]
            far = socket.create_connection(("127.0.0.1", self._target), timeout=5)
        except OSError:
            return
        self._pairs[near], self._pairs[far] = far, near

    def _forward(self, source: socket.socket) -> None:
        try:
            data = source.recv(65536)
            if data:
                self._pairs[source].sendall(data)
                return
        except OSError:
            pass
        target = self._pairs.pop(source)
        self._pairs.pop(target, None)
        source.close()
        target.close()

    def refuse(self) -> None:
        """Ends every connection, and refuses new ones."""
        with self._lock:
            listener, self._listener = self._listener, None
            if listener is not None:
                listener.close()
            for each in self._pairs:
                each.close()
            self._pairs = {}

    def be_silent(self) -> None:
        """Forwards nothing more, and closes nothing."""
        with self._lock:
            self._is_silent = True

    def open(self) -> None:
        with self._lock:
            self._is_silent = False
            if self._listener is None:
                self._listener = socket.create_server(("127.0.0.1", self.port))


@dataclass
class Request:
    """One request: when it was sent, when it ended, and why it failed."""

    begun: float
    ended: float
    kind: str
    failure: str | None


class Load:
    """Users who authorize, redeem, refresh and revoke, others who type their password, and an API that reads the keys."""

    def __init__(self, front: int, client_id: str, cookies: list[str], sign_in: Callable[[], object]) -> None:
        self._front, self._client_id, self._sign_in = front, client_id, sign_in
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._requests: list[Request] = []
        self.wrong: list[str] = []
        jobs: list[Callable[[], None]] = [*(lambda cookie=cookie: self._flow(cookie) for cookie in cookies),
                                          self._type_password, self._verify]
        self._threads = [threading.Thread(target=self._repeat, args=[job], daemon=True) for job in jobs]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def finish(self) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join(60)

    def between(self, start: float, end: float) -> list[Request]:
        """The requests that have ended in a time."""
        with self._lock:
            return [each for each in self._requests if start <= each.ended < end]

    def _repeat(self, job: Callable[[], None]) -> None:
        while not self._ended.is_set():
            try:
                job()
            except Exception as fault:  # noqa: BLE001 - shown at the end
                self.wrong.append(f"{type(fault).__name__}: {fault}")
                time.sleep(0.5)

    def _note(self, kind: str, begun: float, failure: str | None) -> None:
        with self._lock:
            self._requests.append(Request(begun, time.monotonic(), kind, failure))
        if failure is not None:
            time.sleep(0.1)

    def _send(self, kind: str, path: str, form: dict[str, str] | None = None, cookie: str = "",
              expected: tuple[int, ...] = (200,)) -> tuple[bytes, str] | None:
        """One request on a connection of its own; its body and Location, or nothing if it failed."""
        begun = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", self._front, timeout=ANSWER_TIME)
        try:
            fields = {"Content-Type": "application/x-www-form-urlencoded"} if form else {}
            if cookie:
                fields["Cookie"] = cookie
            connection.request("POST" if form else "GET", path, urllib.parse.urlencode(form) if form else None, fields)
            answer = connection.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException) as fault:
            self._note(kind, begun, f"no answer ({type(fault).__name__})")
            return None
        finally:
            connection.close()
        if answer.status in expected:
            self._note(kind, begun, None)
            return body, answer.getheader("Location") or ""
        if answer.status == 400 and b"invalid_grant" in body:
            self.wrong.append(f"{kind}: {body[:200]!r}")
        if answer.status == 503 and answer.getheader("Retry-After") is None and b"No server is available" not in body:
            self.wrong.append(f"{kind}: 503 without Retry-After")
        title = re.search(rb"<title>([^<]*)", body)
        self._note(kind, begun, f"status {answer.status}{' ' + title[1].decode() if title else ''}")
        return None

    def _flow(self, cookie: str) -> None:
        verifier = secrets.token_urlsafe(32)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        query = urllib.parse.urlencode({
            "response_type": "code", "client_id": self._client_id, "redirect_uri": REDIRECT_URI, "scope": "openid",
            "state": "s", "code_challenge": challenge, "code_challenge_method": "S256"})
        answer = self._send("authorization", f"/oauth2/authorize?{query}", cookie=cookie, expected=(302, 303))
        if answer is None:
            return
        parameters = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(answer[1]).query))
        if "code" not in parameters:
            self._note("authorization", time.monotonic(), f"error {parameters.get('error')}")
            return
        answer = self._send("redemption", "/oauth2/token", {
            "grant_type": "authorization_code", "client_id": self._client_id, "code": parameters["code"],
            "redirect_uri": REDIRECT_URI, "code_verifier": verifier})
        # An app begins again. If its code was redeemed, and no answer sent, the servers do not accept it for a minute.
        if answer is None:
            return
        token = json.loads(answer[0])["refresh_token"]
        for _ in range(4):
            answer = None
            # A client keeps its refresh token until it has a new one.
            while answer is None and not self._ended.is_set():
                answer = self._send("refresh", "/oauth2/token", {
                    "grant_type": "refresh_token", "client_id": self._client_id, "refresh_token": token})
            if answer is None:
                return
            token = json.loads(answer[0])["refresh_token"]
        self._send("revocation", "/oauth2/revoke", {"client_id": self._client_id, "token": token})

    def _type_password(self) -> None:
        begun = time.monotonic()
        try:
            self._sign_in()
            self._note("password", begun, None)
        except (Lost, OSError) as fault:
            self._note("password", begun, str(fault)[:200])
        time.sleep(0.3)

    def _verify(self) -> None:
        self._send("keys", "/oauth2/jwks")
        self._send("metadata", "/.well-known/openid-configuration")
        time.sleep(0.1)


@dataclass(frozen=True)
class Phase:
    """A part of the drill, and the requests of which none may fail that is sent after `noticed`."""

    name: str
    kinds: tuple[str, ...]
    begun: float
    noticed: float
    ended: float

    def judge(self, load: Load) -> list[str]:
        """Prints the numbers of failed requests, and returns what is wrong."""
        requests = load.between(self.begun, self.ended)
        failed = [each for each in requests if each.failure is not None]
        early = [each for each in failed if each.begun < self.noticed]
        late = [each for each in failed if each.begun >= self.noticed]
        if self.noticed > self.begun:
            kinds = ", ".join(f"{number} {kind}" for kind, number in Counter(each.kind for each in early).items())
            last = f"; the last one was sent after {max(each.begun for each in early) - self.begun:.1f} s" if early else ""
            before = f"{len(early)} failed in the first {self.noticed - self.begun:.1f} s" + (
                f" ({kinds}{last})" if early else "") + ", "
        else:
            before = ""
        kinds = ", ".join(f"{number} {kind}" for kind, number in Counter(each.kind for each in late).items())
        print(f"{self.name}: {len(requests)} requests, {before}{len(late)} failed {'after that' if before else 'at any time'}"
              + (f" ({kinds})" if late else ""), flush=True)
        sent = {each.kind for each in requests if each.begun >= self.noticed}
        idle = [] if sent.intersection(self.kinds) else [f"{self.name}: no request was sent"]
        return idle + [f"{self.name}: {each.kind} after {each.begun - self.begun:.1f} s: {each.failure}" for each in late
                if each.kind in self.kinds]


class CutDrill:
    """The parts of the drill, one after the other, under one load."""

    def __init__(self, load: Load, first: str, gates: list[Gate], disk: Path | None, interval: float,
                 seconds: float) -> None:
        self._load, self._gates, self._disk, self._seconds = load, gates, disk, seconds
        self._first, self._checks = first, 2 * interval
        self._phases: list[Phase] = []
        self._wrong: list[str] = []

    def run(self) -> None:
        first = self._gates[0]
        self._phase("nothing is cut", lambda: None)
        self._phase("one server, connections refused", first.refuse, NOTICE)
        self._phase("one server, back", self._open)
        self._phase("one server, no answers", first.be_silent, NOTICE_OF_SILENCE)
        self._phase("one server, back", self._open)
        if self._disk is not None:
            filling, journal = self._disk / "filling", self._disk / JOURNAL
            self._phase("one server, full disk of its journal and log", lambda: fill(filling))
            size, free = journal.stat().st_size, os.statvfs(self._disk).f_bavail
            self._phase("one server, space again", filling.unlink)
            if free > 0 or journal.stat().st_size == size:
                self._wrong.append("the disk was not full, or the journal got nothing when there was space again")
        self._phase("both servers, connections refused", lambda: [gate.refuse() for gate in self._gates], NOTICE, KEYS)
        self._phase("both servers, back", lambda: [gate.open() for gate in self._gates], RETURN)

    def _open(self) -> None:
        """Opens the way of the first server, and waits until the load balancer sends it requests again."""
        self._gates[0].open()
        end = time.monotonic() + RETURN
        while not answers(f"{self._first}/readyz") and time.monotonic() < end:
            time.sleep(0.1)
        time.sleep(self._checks)

    def judge(self) -> list[str]:
        """Prints what happened in each phase when every request has ended, and returns what is wrong."""
        return self._wrong + [text for phase in self._phases for text in phase.judge(self._load)]

    def _phase(self, name: str, begin: Callable[[], object], notice: float = 0,
               kinds: tuple[str, ...] = (*OF_USERS, *KEYS)) -> None:
        begun = time.monotonic()
        begin()
        notice += self._checks if notice else 0
        time.sleep(notice + self._seconds)
        self._phases.append(Phase(name, kinds, begun, begun + notice, time.monotonic()))


def fill(file: Path) -> None:
    """Fills the file system of a file."""
    with file.open("wb", buffering=0) as output:
        for size in (65536, 4096, 1):
            try:
                while output.write(b"0" * size) == size:
                    pass
            except OSError:
                continue


@contextmanager
def small_disk(folder: Path) -> Iterator[Path | None]:
    """A file system of one MiB in memory; nothing without the right to mount one."""
    folder.mkdir()
    mounted = os.geteuid() == 0 and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True).returncode == 0
    try:
        yield folder if mounted else None
    finally:
        if mounted and subprocess.run(["umount", "--lazy", str(folder)], capture_output=True).returncode != 0:
            raise Failed(f"{folder} stays mounted")


def person_who_types(name: str, password: str, url: str) -> Callable[[], object]:
    """Signs a user in, each time in a new browser."""
    return lambda: Person(name, password, stop=REDIRECT_URI).sign_in(url)
