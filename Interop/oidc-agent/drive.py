#!/usr/bin/env python3
"""oidc-agent signs a person in at our server and keeps giving access tokens to programs.

It listens on `http://localhost`, refreshes, asks for less, and revokes when it forgets.
It shows a code for another device, too, and learns of an approval and of a denial.
Without a client identifier it registers itself.
"""

from __future__ import annotations

import base64
import json
import os
import pty
import re
import secrets
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from local_servers import (  # noqa: E402
    Counterfoil,
    Failed,
    drive,
    expect,
    free_ports,
    person_environment,
    products,
    stop,
)
from person import Person, noting  # noqa: E402

SCOPES = ["openid", "profile", "offline_access"]
ACCOUNT = "lightbox"


@contextmanager
def agent(folder: Path, environment: dict[str, str]) -> Iterator[None]:
    """The agent, for as long as the block runs."""
    listening = Path(environment["OIDC_SOCK"])
    with (folder / "agent.log").open("wb") as log:
        process = subprocess.Popen(
            ["oidc-agent", "--console", f"--socket-path={listening}"],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + 20
        while not listening.exists():
            expect(process.poll() is None and time.monotonic() < deadline, "oidc-agent does not start")
            time.sleep(0.05)
        yield
    finally:
        stop(process)


def run(environment: dict[str, str], *words: str) -> str:
    """Runs one of its programs and returns what it printed."""
    result = subprocess.run(
        words, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90
    )
    if result.returncode != 0:
        raise Failed(f"{' '.join(words[:2])} ended with {result.returncode}:\n{result.stdout}{result.stderr}")
    return result.stdout.strip()


def claims(token: str) -> dict[str, str]:
    """What a JWT says, unverified: the test asks only what the agent was given."""
    payload = token.split(".")[1]
    return dict(json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))))


def userinfo(server: Counterfoil, token: str) -> int:
    """The status with which UserInfo answers a token."""
    request = urllib.request.Request(
        f"{server.issuer}/oauth2/userinfo", headers={"Authorization": f"Bearer {token}"}
    )
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as answer:
        return answer.code


def keep_signed_in(server: Counterfoil, client_id: str | None, port: int, environment: dict[str, str]) -> None:
    """Makes an account, takes tokens from it, and forgets it; without a client identifier it registers itself."""
    known = [] if client_id is None else ["--manual", f"--client-id={client_id}", "--client-secret="]
    run(
        environment,
        *("oidc-gen", ACCOUNT, *known),
        *(f"--issuer={server.issuer}", f"--redirect-uri=http://localhost:{port}", f"--scope={' '.join(SCOPES)}"),
        *("--flow=code", "--no-scheme", "--pw-env", "--prompt=none", "--confirm-default"),
    )
    if client_id is None:
        (client_id,) = server.self_registered()
    first = run(environment, "oidc-token", ACCOUNT)
    expect(claims(first)["client_id"] == client_id, "the access token names another application")
    expect(userinfo(server, first) == 200, "UserInfo refuses the access token")
    expect(run(environment, "oidc-token", ACCOUNT) == first, "the agent does not keep its token")

    second = run(environment, "oidc-token", "--force-new", ACCOUNT)
    expect(second != first, "the refresh gave the same access token")
    third = run(environment, "oidc-token", "--force-new", ACCOUNT)
    expect(third not in (first, second) and userinfo(server, third) == 200, "the second refresh gave nothing new")
    less = run(environment, "oidc-token", "--force-new", "--scope=openid", ACCOUNT)
    expect(claims(less)["scope"] == "openid", f"asked for openid, the token is for {claims(less)['scope']}")
    try:
        more = run(environment, "oidc-token", "--force-new", "--scope=openid email", ACCOUNT)
        expect(False, f"asked for more than was allowed, it got {claims(more)['scope']}")
    except Failed as refusal:
        expect("scope" in str(refusal), str(refusal))

    run(environment, "oidc-gen", "--delete", ACCOUNT, "--pw-env", "--prompt=none", "--confirm-yes")
    expect(userinfo(server, third) == 401, "after the account was deleted its token is still accepted")


class DeviceSignIn:
    """What an `oidc-gen` says that shows a code and waits for the person on another device."""

    def __init__(self, process: subprocess.Popen[bytes], terminal: int) -> None:
        self._process = process
        self._terminal = terminal
        self._said = ""

    @property
    def url(self) -> str:
        """The URL to open on another device."""
        return self._told(r"visit:\s+(\S+)\s")

    @property
    def code(self) -> str:
        """The code to type there."""
        return self._told(r"enter the code: (\S+)\s")

    def end(self) -> int:
        """Waits for its end; its status."""
        while self._read():
            pass
        return self._process.wait(10)

    def _told(self, pattern: str) -> str:
        while (match := re.search(pattern, self._said)) is None:
            expect(self._read(), f"oidc-gen does not say “{pattern}”:\n{self._said}")
        return match[1]

    def _read(self) -> bool:
        """Reads what it says next; false at its end."""
        try:
            more = os.read(self._terminal, 4096)
        except OSError:
            # So Linux reports that no other process has the terminal open.
            return False
        self._said += more.decode("utf-8", "replace")
        return bool(more)


@contextmanager
def device_sign_in(server: Counterfoil, client_id: str, environment: dict[str, str]) -> Iterator[DeviceSignIn]:
    """An `oidc-gen` with the device flow, for as long as the block runs."""
    command = ["oidc-gen", ACCOUNT, "--manual", f"--client-id={client_id}", "--client-secret="]
    command += [f"--issuer={server.issuer}", f"--scope={' '.join(SCOPES)}"]
    command += ["--flow=device", "--pw-env", "--prompt=none", "--confirm-default"]
    # Into a pipe it would write only when it ends.
    terminal, theirs = pty.openpty()
    process = subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, start_new_session=True
    )
    os.close(theirs)
    try:
        yield DeviceSignIn(process, terminal)
    finally:
        stop(process)
        os.close(terminal)


def sign_in_on_device(server: Counterfoil, client_id: str, environment: dict[str, str], person: Person) -> None:
    """The person denies the device, and then approves it."""
    person.denies = True
    with device_sign_in(server, client_id, environment) as device:
        person.approve_device(device.url, device.code)
        expect(device.end() != 0, "oidc-gen ends well although the person denied it")
    person.denies = False
    with device_sign_in(server, client_id, environment) as device:
        person.approve_device(device.url, device.code)
        expect(device.end() == 0, "oidc-gen fails although the person approved it")
    first = run(environment, "oidc-token", ACCOUNT)
    expect(claims(first)["client_id"] == client_id, "the access token names another application")
    expect(userinfo(server, first) == 200, "UserInfo refuses the access token of the device")
    second = run(environment, "oidc-token", "--force-new", ACCOUNT)
    expect(second != first, "the refresh gave the same access token")
    run(environment, "oidc-gen", "--delete", ACCOUNT, "--pw-env", "--prompt=none", "--confirm-yes")
    expect(userinfo(server, second) == 401, "after the account was deleted its token is still accepted")


def journey(folder: Path) -> str:
    password = secrets.token_urlsafe(18)
    server = Counterfoil(folder / "data", products(), options=["--unregistered-clients", "registration"])
    server.create_person("alice", password)
    client_id = server.create_application("oidc-agent", "http://localhost", [*SCOPES, "email"])
    television = server.register("device", "oidc-agent on a television", SCOPES)["client_id"]
    person = Person("alice", password, note=noting(folder / "person.log"))
    accounts = folder / "accounts"
    accounts.mkdir(0o700)
    environment = {
        **person_environment(folder, "alice", password),
        "HOME": str(folder),
        "OIDC_CONFIG_DIR": str(accounts),
        "OIDC_SOCK": str(folder / "agent.sock"),
        "OIDC_ENCRYPTION_PW": secrets.token_urlsafe(18),
    }
    with server.serving(folder / "server.log"), agent(folder, environment):
        # It takes no port above 49151.
        for known in (client_id, None):
            keep_signed_in(server, known, min(free_ports(20)), environment)
        sign_in_on_device(server, television, environment, person)
    version = run(environment, "oidc-agent", "--version").split()[-1]
    done = "signed in by redirect, by device and by registration, refreshed; what it forgot is revoked"
    return f"oidc-agent {version}: {done}"


if __name__ == "__main__":
    sys.exit(drive(journey, ("oidc-agent", "oidc-gen", "oidc-token")))
