#!/usr/bin/env python3
"""oidc-agent signs a person in at our server and keeps giving access tokens to programs.

R184, R231, R234: it listens on `http://localhost`, refreshes, asks for less, and revokes when it forgets.
"""

from __future__ import annotations

import base64
import json
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


def keep_signed_in(server: Counterfoil, client_id: str, port: int, environment: dict[str, str]) -> None:
    """Makes an account, takes tokens from it, and forgets it."""
    run(
        environment,
        *("oidc-gen", ACCOUNT, "--manual", f"--client-id={client_id}", "--client-secret="),
        *(f"--issuer={server.issuer}", f"--redirect-uri=http://localhost:{port}", f"--scope={' '.join(SCOPES)}"),
        *("--flow=code", "--no-scheme", "--pw-env", "--prompt=none", "--confirm-default"),
    )
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


def journey(folder: Path) -> str:
    password = secrets.token_urlsafe(18)
    server = Counterfoil(folder / "data", products())
    server.create_person("alice", password)
    client_id = server.create_application("oidc-agent", "http://localhost", [*SCOPES, "email"])
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
        keep_signed_in(server, client_id, min(free_ports(20)), environment)
    version = run(environment, "oidc-agent", "--version").split()[-1]
    return f"oidc-agent {version}: signed in, refreshed, asked for less; what it forgot is revoked"


if __name__ == "__main__":
    sys.exit(drive(journey, ("oidc-agent", "oidc-gen", "oidc-token")))
