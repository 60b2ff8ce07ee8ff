#!/usr/bin/env python3
"""A Flask app signs a user in with Authlib, as a web client on http://localhost.

It sends a nonce and no code challenge, and reads the user from the ID token only.
"""

from __future__ import annotations

import importlib.metadata
import json
import secrets
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from local_servers import Counterfoil, drive, expect, free_ports, products, running  # noqa: E402
from person import ErrorPage, Person, noting  # noqa: E402

APP = Path(__file__).with_name("app.py")
SCOPES = ["openid", "profile", "email"]


class Site:
    """The app, as a user with a browser sees it."""

    def __init__(self, address: str, issuer: str, person: Person) -> None:
        self.address = address
        self.issuer = issuer
        self.person = person

    def user(self) -> dict[str, object] | None:
        """The user in the session of the app."""
        return json.loads(self.person.read(f"{self.address}/").text)

    def sign_in(self) -> dict[str, object]:
        self.person.agreed = False
        arrived = self.person.sign_in(f"{self.address}/login", self.issuer)
        expect(arrived == f"{self.address}/", f"the sign-in ended at {arrived.split('?')[0]}")
        expect(self.person.agreed, "the user was not asked for consent")
        user = self.user()
        expect(user is not None, "the app has no user after the sign-in")
        return user or {}

    def refusal(self) -> str:
        """The error that the app shows instead of signing the user in."""
        try:
            self.person.sign_in(f"{self.address}/login", self.issuer)
        except ErrorPage as answer:
            expect(answer.page.origin == self.address, f"the error page is not of the app: {answer}")
            expect(self.user() is None, "the app has a user after an error")
            return answer.page.text
        return "no error"


def journey(folder: Path) -> str:
    password = secrets.token_urlsafe(18)
    server = Counterfoil(folder / "data", products())
    server.create_person("alice", password)
    port = free_ports(1)[0]
    address = f"http://localhost:{port}"
    client = server.register("web", "Prints", SCOPES, "--redirect-uri", f"{address}/auth")
    configuration = {
        "FLASK_SECRET_KEY": secrets.token_urlsafe(32),
        "FLASK_METADATA_URL": f"{server.issuer}/.well-known/openid-configuration",
        "FLASK_COUNTERFOIL_CLIENT_ID": client["client_id"],
        "FLASK_COUNTERFOIL_CLIENT_SECRET": client["client_secret"],
    }
    flask = [sys.executable, "-m", "flask", "--app", str(APP), "run", "--port", str(port)]
    site = Site(address, server.issuer, Person("alice", password, note=noting(folder / "person.log")))
    with (
        server.serving(folder / "server.log"),
        running(flask, f"{address}/", folder / "site.log", folder=folder, environment=configuration),
    ):
        check(site.sign_in(), client["client_id"], server.issuer)
        site.person.read(f"{address}/logout")
        expect(site.user() is None, "the app has a user after sign-out")
        site.sign_in()  # It asks for consent again.
        site.person.read(f"{address}/logout")

        site.person.denies = True
        said = site.refusal()
        expect(said.startswith("access_denied: "), f"after the user denied, the app shows {said}")
        site.person.denies = False
        server.replace_secret(client["client_id"])
        said = site.refusal()
        expect(said.startswith("invalid_client: "), f"after its secret was deleted, the app shows {said}")
    versions = " with ".join(f"{name} {importlib.metadata.version(name)}" for name in ("Flask", "Authlib"))
    return f"{versions}: nonce without PKCE, name and email from the ID token, sign-out; errors shown"


def check(user: dict[str, object], client_id: str, issuer: str) -> None:
    """Checks the claims of the ID token, which Authlib has verified."""
    wanted = {
        "iss": issuer,
        "aud": client_id,
        "name": "alice",
        "preferred_username": "alice",
        "email": "alice@example.com",
    }
    for name, value in wanted.items():
        expect(user.get(name) in (value, [value]), f"{name} of the user is {user.get(name)}")
    expect(bool(user.get("nonce")), "the ID token has no nonce")


if __name__ == "__main__":
    sys.exit(drive(journey))
