"""`counterfoil`, our command line, as a driver uses it at another server."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from local_servers import Failed, expect, products, stop

REDIRECT_URI = "http://127.0.0.1/callback"
SECONDS = 60

# How the program ends.
DONE, SIGN_IN_AGAIN, UNSAFE, UNAVAILABLE, REFUSED, USAGE = 0, 3, 5, 6, 7, 64


class Waiting:
    """A `login` that waits for its answer, and what it has told the person so far."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._said: list[str] = []
        self._news = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def address(self) -> str:
        """The address to open."""
        return self._told(r"Open: (\S+)")

    @property
    def address_with_code(self) -> str:
        """The address to open on another device, with the code in it."""
        return self._told(r"Or open this URL, which contains the code: (\S+)")

    @property
    def code(self) -> str:
        """The code to type on another device."""
        return self._told(r"Code: (\S+)")

    def answer(self, **parameters: str) -> int:
        """Sends a response as a server would; returns the status of the page that a browser would show."""
        asked = urllib.parse.parse_qs(urllib.parse.urlsplit(self.address).query)
        state = {"state": asked["state"][0]}
        query = urllib.parse.urlencode({**state, **parameters})
        return status(f"{asked['redirect_uri'][0]}?{query}")

    def end(self, wanted: int = DONE) -> None:
        """Waits for its end, which has to be this one."""
        try:
            ended = self._process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            raise Failed(f"counterfoil login waits on and on:\n{self._everything}") from None
        self._reader.join(SECONDS)
        expect(ended == wanted, f"counterfoil login ended with {ended}, not {wanted}:\n{self._everything}")

    @property
    def _everything(self) -> str:
        return "\n".join(self._said)

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            with self._news:
                self._said.append(line.decode("utf-8", "replace").rstrip())
                self._news.notify_all()
        with self._news:
            self._news.notify_all()

    def _told(self, pattern: str) -> str:
        def found() -> re.Match[str] | None:
            return next((match for line in self._said if (match := re.fullmatch(pattern, line))), None)

        with self._news:
            self._news.wait_for(lambda: found() or not self._reader.is_alive(), SECONDS)
            match = found()
        expect(match is not None, f"counterfoil login does not say “{pattern}”:\n{self._everything}")
        assert match is not None
        return match[1]


class Client:
    """Our command line with a token store of its own, registered at a server under an identifier.

    Without an identifier it registers itself.
    """

    def __init__(
        self, folder: Path, environment: dict[str, str], issuer: str, client_id: str | None, store: str = "tokens"
    ) -> None:
        self.issuer = issuer
        self._folder = folder
        self._environment = environment
        self._client_id = client_id
        self._registration = [] if client_id is None else ["--client-id", client_id]
        self._store = folder / store

    def login(self, *words: str, wanted: int = DONE) -> str:
        """Signs in, with the person behind $BROWSER; what it said where something else than success is wanted."""
        return self.run("login", self.issuer, *self._registration, "--timeout", str(SECONDS), *words, wanted=wanted)

    def login_at(self, resource: str, *words: str) -> str:
        """Signs in at the server that the metadata of an API name, with the person behind $BROWSER."""
        return self.run("login", "--resource", resource, *self._registration, "--timeout", str(SECONDS), *words)

    @contextmanager
    def waiting(self, *words: str) -> Iterator[Waiting]:
        """A `login` that opens no browser, for as long as the block runs."""
        if "--device" not in words:
            # A forged response has the state in the URL, so the request is not pushed.
            words = (*words, "--browser", "print", "--par", "never")
        command = self._command("login", self.issuer, *self._registration, "--timeout", str(SECONDS), *words)
        process = subprocess.Popen(
            command,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            yield Waiting(process)
        finally:
            stop(process)

    def token(self, *words: str) -> str:
        """A fresh access token."""
        printed = self.run("token", *words)
        expect(len(printed.split()) == 1, "`counterfoil token` prints something else than one token")
        return printed.strip()

    def wait_for_refresh(self, token: str) -> None:
        """Waits until there is another access token; while another process refreshes, the valid one is printed."""
        deadline = time.monotonic() + SECONDS
        while self.token() == token:
            expect(time.monotonic() < deadline, "no refresh gave another access token")
            time.sleep(0.2)

    def call(self, url: str) -> Any:
        """What an API answers, which has to be JSON."""
        return json.loads(self.run("call", url))

    def claims(self) -> dict[str, str]:
        """What the server says of the person."""
        return dict(json.loads(self.run("whoami", "--json"))["claims"])

    def logout(self) -> dict[str, Any]:
        """Signs out; what came of it."""
        return dict(json.loads(self.run("logout", "--json")))

    def copy(self, name: str) -> Client:
        """An attacker with a copy of the current tokens."""
        other = Client(self._folder, self._environment, self.issuer, self._client_id, name)
        for end in ("", ".key"):
            shutil.copy(f"{self._store}{end}", f"{other._store}{end}")
        return other

    def run(self, *words: str, wanted: int = DONE) -> str:
        """Runs one command; what it printed, or its error where it is to fail."""
        try:
            result = subprocess.run(
                self._command(*words),
                env=self._environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=2 * SECONDS,
            )
        except subprocess.TimeoutExpired:
            raise Failed(f"counterfoil {words[0]} has no end") from None
        if result.returncode != wanted:
            raise Failed(f"counterfoil {words[0]} ended with {result.returncode}, not {wanted}:\n{result.stderr}")
        return result.stdout if wanted == DONE else result.stderr

    def _command(self, *words: str) -> list[str]:
        return [str(products() / "counterfoil"), *words, "--store", f"file:{self._store}"]


def metadata(issuer: str) -> dict[str, Any]:
    """What a server says of itself."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"{issuer}/.well-known/openid-configuration", timeout=30) as answer:
        return dict(json.load(answer))


def status(url: str, token: str | None = None) -> int:
    """The status with which an address answers, to an access token where one is given."""
    request = urllib.request.Request(url, headers={} if token is None else {"Authorization": f"Bearer {token}"})
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as answer:
        return answer.code
