#!/usr/bin/env python3
"""Our client signs a person in at canaille, which asks for the name on one page and for the password on the next.

A public client and one with a secret; the answer names its issuer; revoked tokens are refused.
"""

from __future__ import annotations

import importlib.metadata
import secrets
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from local_servers import drive, expect, free_ports, person_environment, site  # noqa: E402
from our_client import REFUSED, SIGN_IN_AGAIN, UNSAFE, Client, metadata, status  # noqa: E402
from person import Person, noting  # noqa: E402

SCOPES = "openid profile email offline_access"
# Of the access token that comes with a sign-in, as `app.py` has it.
LIFETIME = 5


def journey(folder: Path) -> str:
    password = secrets.token_urlsafe(18)
    environment = person_environment(folder, "alice", password)
    person = Person("alice", password, note=noting(folder / "person.log"))
    secret = folder / "client-secret"
    secret.touch(0o600)
    secret.write_text(secrets.token_urlsafe(32), "utf-8")
    # It compares the ports of loopback addresses too.
    redirect_uri = f"http://127.0.0.1:{free_ports(1)[0]}/callback"
    asked = ["--scope", SCOPES, "--redirect-uri", redirect_uri]
    program = [sys.executable, str(Path(__file__).with_name("app.py")), str(folder / "canaille.db")]
    with site([*program, environment["PERSON_PASSWORD_FILE"], str(secret), redirect_uri], folder) as issuer:
        sign_in_without_secret(Client(folder, environment, issuer, "lightbox"), person, asked)
        sign_in_with_secret(Client(folder, environment, issuer, "darkroom"), secret, asked)
    version = importlib.metadata.version("canaille")
    return f"canaille {version}: signed in, refreshed, with a secret too; what is forged or revoked is refused"


def sign_in_without_secret(client: Client, person: Person, asked: list[str]) -> None:
    """The journey of a native application, which this server does not let revoke."""
    with client.waiting(*asked) as login:
        login.answer(code="forged", iss="https://id.example.com")
        login.end(UNSAFE)
    with client.waiting(*asked) as login:
        expect(login.answer(code="forged", state="another") >= 400, "an answer with another state was taken")
        person.sign_in(login.address)
        login.end()
    expect(person.agreed, "the person was not asked")
    # That access token has expired; from here on, requests use a refreshed one.
    time.sleep(LIFETIME)
    claims = client.claims()
    expect((claims["sub"], claims["email"]) == ("alice", "alice@example.com"), f"the server says {claims}")
    said = client.run("logout", wanted=REFUSED)
    expect("deleted here" in said and "invalid_client" in said, f"a public client that wants to revoke: {said}")
    client.run("token", wanted=SIGN_IN_AGAIN)


def sign_in_with_secret(client: Client, secret: Path, asked: list[str]) -> None:
    """The journey of an application whose secret is in a file."""
    wrong = secret.with_name("another-secret")
    wrong.touch(0o600)
    wrong.write_text(secrets.token_urlsafe(32), "utf-8")
    said = client.login(*asked, "--client-secret-file", str(wrong), wanted=REFUSED)
    expect("invalid_client" in said, f"with another secret: {said}")

    client.login(*asked, "--client-secret-file", str(secret))
    token = client.token()
    userinfo = metadata(client.issuer)["userinfo_endpoint"]
    expect(client.call(userinfo)["sub"] == "alice", "UserInfo says something else")
    copy = client.copy("copied-tokens")
    expect(client.logout()["revoked"] is True, "the tokens were not revoked")
    expect(status(userinfo, token) == 401, "the server takes an access token that was revoked")
    said = copy.run("call", userinfo, wanted=SIGN_IN_AGAIN)
    expect("ended" in said, f"a refresh token that was revoked: {said}")


if __name__ == "__main__":
    sys.exit(drive(journey))
