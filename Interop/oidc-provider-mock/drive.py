#!/usr/bin/env python3
"""Our client signs a person in at oidc-provider-mock, the server with which many projects test their own sign-in.

Its metadata does not name PKCE, so the client must be told to use it; its clients send a secret, any at all;
it refreshes, and it has no revocation endpoint.
"""

from __future__ import annotations

import importlib.metadata
import json
import secrets
import sys
import time
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from local_servers import drive, expect, free_ports, person_environment, running  # noqa: E402
from our_client import REFUSED, SIGN_IN_AGAIN, UNSAFE, Client  # noqa: E402
from person import Person, noting  # noqa: E402

ASKED = ["--scope", "openid profile email"]
ALICE = {"sub": "alice", "name": "Alice", "email": "alice@example.com"}
# Of access tokens, in seconds.
LIFETIME = 5


def journey(folder: Path) -> str:
    password = secrets.token_urlsafe(18)
    environment = person_environment(folder, "alice", password)
    person = Person("alice", password, note=noting(folder / "person.log"))
    port = free_ports(1)[0]
    issuer = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "oidc_provider_mock", "--port", str(port), "--require-nonce", "true"]
    command += ["--token-max-age", str(LIFETIME), "--user-claims", json.dumps(ALICE)]
    with running(command, f"{issuer}/.well-known/openid-configuration", folder / "mock.log"):
        secret = secret_file(folder)
        client = Client(folder, environment, issuer, "lightbox")
        said = client.login(*ASKED, *secret, wanted=UNSAFE)
        expect("PKCE" in said, f"without PKCE in its metadata: {said}")
        said = client.login(*ASKED, "--assume-pkce", wanted=REFUSED)
        expect("invalid_client" in said, f"without a secret: {said}")
        sign_in_and_refresh(client, person, [*ASKED, "--assume-pkce", *secret])
    version = importlib.metadata.version("oidc-provider-mock")
    return f"oidc-provider-mock {version}: signed in, refreshed, UserInfo answered; what was revoked is refused"


def secret_file(folder: Path) -> list[str]:
    """The option with which a client reads its secret from a file."""
    secret = folder / "client-secret"
    secret.touch(0o600)
    secret.write_text(secrets.token_urlsafe(32), "utf-8")
    return ["--client-secret-file", str(secret)]


def sign_in_and_refresh(client: Client, person: Person, asked: list[str]) -> None:
    """A forged answer, the real one, a refresh, and the end of the grant."""
    with client.waiting(*asked) as login:
        expect(login.answer(code="forged", state="another") >= 400, "an answer with another state was taken")
        person.sign_in(login.address)
        login.end()
    # The access token of the sign-in has expired; from here on, requests use a refreshed one.
    time.sleep(LIFETIME)
    expect(client.claims() == ALICE, f"the server says {client.claims()}")
    expect(client.call(f"{client.issuer}/userinfo") == ALICE, "UserInfo says something else")
    expect(client.logout()["revoked"] is False, "it was told to revoke, which it cannot")

    client.login(*asked)
    end_everything(client.issuer)
    time.sleep(LIFETIME)
    said = client.run("token", wanted=SIGN_IN_AGAIN)
    expect("ended" in said, f"a refresh token that was revoked: {said}")


def end_everything(issuer: str) -> None:
    """Revokes every token of the person, by the interface of the mock."""
    request = urllib.request.Request(f"{issuer}/users/alice/revoke-tokens", method="POST")
    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30).close()


if __name__ == "__main__":
    sys.exit(drive(journey))
