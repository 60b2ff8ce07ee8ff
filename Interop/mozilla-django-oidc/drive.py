#!/usr/bin/env python3
"""A Django site signs a user in with mozilla-django-oidc, as a web client on http://localhost.

It sends a nonce and no code challenge, authenticates by client_secret_post, and
reads the user from UserInfo.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import secrets
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from local_servers import Counterfoil, Failed, drive, expect, free_ports, products, running  # noqa: E402
from person import ErrorPage, Page, Person, noting  # noqa: E402

DJANGO = [sys.executable, "-m", "django"]
SCOPES = ["openid", "email"]


class Site:
    """The site, as a user with a browser sees it."""

    def __init__(self, address: str, issuer: str, person: Person) -> None:
        self.address = address
        self.issuer = issuer
        self.person = person

    def home(self) -> Page:
        return self.person.read(f"{self.address}/")

    def user(self) -> str | None:
        """The user that the home page names."""
        named = re.search(r"Current user: <b>(.+)</b>", self.home().text)
        return named and named[1]

    def sign_in(self) -> None:
        """Follows the sign-in link of the home page, and completes the pages of our server."""
        link = re.search(r'<a href="(.+)">Log in</a>', self.home().text)
        expect(link is not None, "the home page has no sign-in link")
        arrived = self.person.sign_in(f"{self.address}{link and link[1]}", self.issuer)
        expect(arrived == f"{self.address}/", f"the sign-in ended at {arrived.split('?')[0]}")

    def sign_out(self) -> Page:
        """Presses the sign-out button of the home page, and returns the page after all redirects."""
        return self.person.press(self.home(), "action", "logout")


def sign_in_and_out(site: Site) -> None:
    """The user denies, then signs in; sign-out ends both sessions."""
    site.person.denies = True
    site.sign_in()
    expect(site.user() is None, "the site has a user although consent was denied")
    site.person.denies = False
    site.sign_in()
    expect(site.person.agreed, "the user was not asked for consent")
    expect(site.user() == "alice@example.com", f"the page names {site.user()}")

    arrived = site.sign_out().url
    expect(arrived == f"{site.address}/", f"the sign-out ended at {arrived.split('?')[0]}")
    expect(site.user() is None, "the site has a user after sign-out")
    account = site.person.read(f"{site.issuer}/account")
    expect(any(form.asks_for_password for form in account.forms), "sign-out did not end the session at our server")


def be_refused(site: Site) -> None:
    """The site shows an error page after its secret was deleted."""
    try:
        site.sign_in()
        raise Failed("after its secret was deleted, the site shows no error")
    except ErrorPage as answer:
        expect(answer.page.origin == site.address, f"the error page is not of the site: {answer}")
        expect(answer.status == 500, f"after its secret was deleted, the site answers {answer.status}")
        expect("invalid_client" in answer.page.text, f"the page does not show the error: {answer.page.title}")
    expect(site.user() is None, "the site has a user although its secret was deleted")


def journey(folder: Path) -> str:
    password = secrets.token_urlsafe(18)
    server = Counterfoil(folder / "data", products())
    server.create_person("alice", password)
    port = free_ports(1)[0]
    address = f"http://localhost:{port}"
    client = server.register(
        *("web", "Prints", SCOPES, "--redirect-uri", f"{address}/oidc/callback/"),
        *("--post-logout-redirect-uri", f"{address}/"),
    )
    configuration = {
        "DJANGO_SETTINGS_MODULE": "settings",
        "PYTHONPATH": str(Path(__file__).parent),
        "SECRET_KEY": secrets.token_urlsafe(32),
        "DATABASE": str(folder / "site.db"),
        "ISSUER": server.issuer,
        "OIDC_RP_CLIENT_ID": client["client_id"],
        "OIDC_RP_CLIENT_SECRET": client["client_secret"],
    }
    subprocess.run(
        [*DJANGO, "migrate", "--verbosity", "0"], env={**os.environ, **configuration}, cwd=folder, check=True
    )
    serve = [*DJANGO, "runserver", "--noreload", str(port)]
    site = Site(address, server.issuer, Person("alice", password, note=noting(folder / "person.log")))
    with (
        server.serving(folder / "server.log"),
        running(serve, f"{address}/", folder / "site.log", folder=folder, environment=configuration),
    ):
        sign_in_and_out(site)
        server.replace_secret(client["client_id"])
        be_refused(site)
    version = importlib.metadata.version("mozilla-django-oidc")
    return f"mozilla-django-oidc {version}: nonce without PKCE, email from UserInfo, sign-out at both; errors shown"


if __name__ == "__main__":
    sys.exit(drive(journey))
