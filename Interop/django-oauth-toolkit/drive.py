#!/usr/bin/env python3
"""Our client signs a person in at django-oauth-toolkit and calls the API that it protects.

Nothing in the client's requests is made for our own server; a forged answer, a revoked token.
"""

from __future__ import annotations

import importlib.metadata
import secrets
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from local_servers import drive, expect, person_environment, site  # noqa: E402
from our_client import REFUSED, SIGN_IN_AGAIN, Client  # noqa: E402
from person import Person, noting  # noqa: E402

ASKED = ["--scope", "openid", "--scope", "photos.read"]


def journey(folder: Path) -> str:
    """The journey of an application: sign in, take the token, call the API, sign out."""
    password = secrets.token_urlsafe(18)
    environment = person_environment(folder, "alice", password)
    person = Person("alice", password, note=noting(folder / "person.log"))
    program = [sys.executable, str(Path(__file__).with_name("app.py")), str(folder / "site.db")]
    with site([*program, environment["PERSON_PASSWORD_FILE"]], folder) as address:
        client = Client(folder, environment, f"{address}/o", "lightbox")
        client.login(*ASKED)
        client.token()
        call_api(client, f"{address}/photos")
        with client.waiting(*ASKED) as login:
            expect(login.answer(code="forged", state="another") >= 400, "an answer with another state was taken")
            person.sign_in(login.address)
            login.end()
        sign_out(client, f"{address}/photos")
    version = importlib.metadata.version("django-oauth-toolkit")
    return f"django-oauth-toolkit {version}: signed in, the API answered; what is forged or revoked is refused"


def call_api(client: Client, address: str) -> None:
    photos = client.call(address)
    expect(photos == {"owner": "alice", "photos": ["Fjord", "Harbour"]}, f"the API answered {photos}")


def sign_out(client: Client, address: str) -> None:
    """Revokes tokens of which an attacker has a copy."""
    call_api(client, address)
    copy = client.copy("copied-tokens")
    expect(client.logout()["revoked"] is True, "the tokens were not revoked")
    copy.run("call", address, wanted=REFUSED)
    client.run("token", wanted=SIGN_IN_AGAIN)


if __name__ == "__main__":
    sys.exit(drive(journey))
