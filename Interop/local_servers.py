"""Starts servers on this machine for a driver, and stops them again."""

from __future__ import annotations

import copy
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PERSON = ROOT / "Interop" / "person.py"
MISSING = 77


class Failed(Exception):
    """A step failed; the text says which and why."""


def drive(journey: Callable[[Path], str], programs: tuple[str, ...] = ()) -> int:
    """What a driver does: its journey, in a temporary directory; the status that it ends with.

    The journey returns what there is to say. When it fails, the ends of the logs in the directory are shown with the
    reason. Without one of the programs there is nothing to drive.
    """
    clean_up_when_told_to_end()
    for program in programs:
        if shutil.which(program) is None:
            print(f"{program} is not installed")
            return MISSING
    with tempfile.TemporaryDirectory(prefix="counterfoil-interop-") as name:
        folder = Path(name)
        try:
            print(journey(folder))
            return 0
        except Exception as fault:  # noqa: BLE001 - any fault is the driver's answer
            print(f"{type(fault).__name__}: {fault}", file=sys.stderr)
            for log in sorted(folder.glob("*.log")):
                print(f"--- {log.name}\n{tail(log)}", file=sys.stderr)
            return 1


def expect(holds: bool, what: str) -> None:
    """Fails unless it holds; the text says what is wrong otherwise."""
    if not holds:
        raise Failed(what)


def clean_up_when_told_to_end() -> None:
    """Makes SIGTERM run the `finally` blocks, so that no server stays behind."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def free_ports(count: int) -> list[int]:
    """Free ports of 127.0.0.1, chosen by the kernel."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def products() -> Path:
    """The folder with the programs of both packages."""
    configured = os.environ.get("COUNTERFOIL_PRODUCTS")
    if configured:
        return Path(configured)
    return ROOT / ".build" / "debug"


def answers(url: str) -> bool:
    """Whether a GET of the address is answered with 200."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def stop(process: subprocess.Popen[bytes]) -> None:
    """Ends a server that was started by `running`."""
    for kind, seconds in ((signal.SIGTERM, 10), (signal.SIGKILL, 5)):
        if process.poll() is None:
            try:
                os.killpg(process.pid, kind)
            except ProcessLookupError:
                pass
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                continue


@contextmanager
def running(
    command: list[str],
    ready: str,
    log: Path,
    seconds: float = 30,
    folder: Path | None = None,
    environment: dict[str, str] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """A server that answers at `ready`, for as long as the block runs; `environment` is added to that of the driver."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + seconds
        while not answers(ready):
            if process.poll() is not None:
                raise Failed(f"{Path(command[0]).name} ended with {process.returncode}:\n{tail(log)}")
            if time.monotonic() > deadline:
                raise Failed(f"{Path(command[0]).name} does not answer at {ready} after {seconds:g} s:\n{tail(log)}")
            time.sleep(0.05)
        yield process
    finally:
        stop(process)


@contextmanager
def site(command: list[str], folder: Path) -> Iterator[str]:
    """A server that prints its address when it is ready, for as long as the block runs; the address."""
    printed = folder / "site.out"
    with printed.open("wb") as output, (folder / "site.log").open("wb") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=log, start_new_session=True
        )
    try:
        deadline = time.monotonic() + 60
        while not printed.read_text("utf-8").endswith("\n"):
            if process.poll() is not None or time.monotonic() > deadline:
                raise Failed("the site does not start")
            time.sleep(0.1)
        yield printed.read_text("utf-8").strip()
    finally:
        stop(process)


def tail(log: Path, lines: int = 15) -> str:
    """The last lines of a log."""
    return "\n".join(log.read_text("utf-8", "replace").splitlines()[-lines:]) if log.exists() else ""


class Counterfoil:
    """Our authorization server on a data directory of its own; with an issuer, behind a proxy on this machine.

    `store` names another store as the options of a command, and `environment` is added to that of the driver.
    """

    def __init__(self, data: Path, programs: Path, port: int | None = None, issuer: str | None = None,
                 options: list[str] | None = None, store: list[str] | None = None,
                 environment: dict[str, str] | None = None) -> None:
        self.port = port or free_ports(1)[0]
        self.issuer = issuer or f"http://127.0.0.1:{self.port}"
        self.data = data
        self._programs = programs
        self._store = store or ["--data-dir", str(data)]
        self._environment = environment or {}
        self._options = [*(["--trusted-proxy", "127.0.0.1"] if issuer else []), *(options or [])]

    def of(self, programs: Path) -> Counterfoil:
        """The same server with the programs of another version."""
        other = copy.copy(self)
        other._programs = programs
        return other

    def adding(self, options: list[str], environment: dict[str, str]) -> Counterfoil:
        """The same server with more options and a larger environment."""
        other = copy.copy(self)
        other._options = [*self._options, *options]
        other._environment = {**self._environment, **environment}
        return other

    def administer(self, *words: str, line: str | None = None) -> str:
        """Runs one command of `counterfoil-server` on the store and returns what it printed."""
        command = [str(self._programs / "counterfoil-server"), *words, *self._store]
        result = subprocess.run(
            command, input=None if line is None else f"{line}\n", capture_output=True, text=True, timeout=60,
            env={**os.environ, **self._environment},
        )
        if result.returncode != 0:
            raise Failed(f"counterfoil-server {' '.join(words)} ended with {result.returncode}:\n{result.stderr}")
        return result.stdout

    def create_person(self, name: str, password: str) -> None:
        """Adds a person who can sign in."""
        self.administer("user", "create", name, "--email", f"{name}@example.com", "--password-stdin", line=password)

    def create_scope(self, name: str, description: str, *more: str) -> None:
        self.administer("scope", "create", name, "--description", description, *more)

    def create_application(self, name: str, redirect_uri: str, scopes: list[str], *more: str) -> str:
        """Registers a native application and returns its client identifier."""
        return self.register("native", name, scopes, "--redirect-uri", redirect_uri, *more)["client_id"]

    def replace_secret(self, client_id: str) -> None:
        """Replaces the client secret of an application, so that the previous one is refused."""
        self.administer("app", "secret", client_id)
        self.administer("app", "secret", client_id, "--remove", "oldest")

    def register(self, kind: str, name: str, scopes: list[str], *more: str) -> dict[str, str]:
        """Registers an application of any type; its `client_id`, and its `client_secret` if it has one."""
        words = ["app", "create", "--type", kind, "--name", name]
        for scope in scopes:
            words += ["--scope", scope]
        return dict(json.loads(self.administer(*words, *more, "--json")))

    def create_resource(self, uri: str, name: str, scopes: list[str], *more: str) -> dict[str, str]:
        """Registers an API; the `client_id` and the `client_secret` with which it asks what a token is worth."""
        words = ["resource", "create", uri, "--name", name]
        for scope in scopes:
            words += ["--scope", scope]
        return dict(json.loads(self.administer(*words, *more, "--json")))

    def create_apis(self, *uris: str) -> list[str]:
        """Registers APIs, each with a scope of its own; the scopes."""
        scopes = [f"api-{number}.use" for number, _ in enumerate(uris, 1)]
        for uri, scope in zip(uris, scopes):
            self.create_scope(scope, f"Use {uri}")
            self.create_resource(uri, uri.split("//")[1], [scope])
        return scopes

    def self_registered(self) -> list[str]:
        """The identifiers of the clients that registered themselves, newest first."""
        listed = json.loads(self.administer("unregistered", "list", "--registrations", "--json"))
        return [str(client["client_id"]) for client in listed]

    def end_unregistered(self, client_id: str) -> None:
        """Deletes a client that registered itself or has a document."""
        self.administer("unregistered", "delete", client_id)

    def expire_registration(self, client_id: str) -> None:
        """Lets the running server delete a registration that seems to have been unused for longer than it is kept."""
        longer = 100 * 86_400 * 1_000_000
        with closing(sqlite3.connect(self.data / "counterfoil.db", timeout=10)) as store, store:
            store.execute("UPDATE clients SET changed_at = changed_at - ? WHERE id = ?", (longer, client_id))
            store.execute(
                "UPDATE consents SET allowed_at = allowed_at - ?1, last_used_at = last_used_at - ?1 WHERE client_id = ?2",
                (longer, client_id),
            )
        # The server looks for such registrations every minute.
        end = time.monotonic() + 150
        while client_id in self.self_registered():
            if time.monotonic() > end:
                raise Failed("the server has kept a registration that was not used for 100 days")
            time.sleep(1)

    @property
    def serve_command(self) -> list[str]:
        """The command that serves this store."""
        program = str(self._programs / "counterfoil-server")
        place = ["--issuer", self.issuer, "--listen", f"127.0.0.1:{self.port}", *self._options]
        return [program, "serve", *self._store, *place]

    @property
    def metadata_url(self) -> str:
        """Where the metadata of the server is, on the port that it listens on."""
        path = urllib.parse.urlsplit(self.issuer).path
        return f"http://127.0.0.1:{self.port}/.well-known/oauth-authorization-server{path}"

    @contextmanager
    def serving(self, log: Path) -> Iterator[subprocess.Popen[bytes]]:
        """The server, for as long as the block runs."""
        with running(self.serve_command, self.metadata_url, log, environment=self._environment) as process:
            yield process


@contextmanager
def photo_library(programs: Path, issuer: str, log: Path, *options: str, audience: str = "") -> Iterator[str]:
    """The sample API, for as long as the block runs; its address.

    A token with the scopes of no registered API is for the issuer.
    """
    port = free_ports(1)[0]
    address = f"http://127.0.0.1:{port}"
    place = ["--issuer", issuer, "--audience", audience or issuer, "--listen", f"127.0.0.1:{port}", *options]
    with running([str(programs / "photo-library"), "serve", *place], f"{address}/healthz", log):
        yield address


def person_environment(folder: Path, name: str, password: str, person: Path = PERSON) -> dict[str, str]:
    """The environment of a client that is to find a person behind $BROWSER and behind `xdg-open`."""
    secret = folder / "password"
    secret.touch(0o600)
    secret.write_text(password, "utf-8")
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    for browser in ("browser", "xdg-open"):
        (programs / browser).unlink(missing_ok=True)
        (programs / browser).symlink_to(person)
    return {
        **os.environ,
        "PATH": f"{programs}:{os.environ.get('PATH', os.defpath)}",
        "BROWSER": str(programs / "browser"),
        "PERSON_NAME": name,
        "PERSON_PASSWORD_FILE": str(secret),
        "PERSON_LOG": str(folder / "person.log"),
    }
