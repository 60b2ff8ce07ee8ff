#!/usr/bin/env python3
"""JupyterHub signs a user in with oauthenticator, as a web client on http://localhost.

It sends a code challenge and no nonce, authenticates by client_secret_post, and reads the user
from UserInfo.
"""

from __future__ import annotations

import html
import importlib.metadata
import os
import re
import secrets
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from local_servers import Counterfoil, drive, expect, free_ports, products, running  # noqa: E402
from person import ErrorPage, Page, Person, noting  # noqa: E402

# The commands `jupyterhub` and `configurable-http-proxy`; the latter is a port to Python of the one for Node.js.
PROGRAMS = Path(sys.executable).parent
CONFIGURATION = Path(__file__).with_name("jupyterhub_config.py")
SCOPES = ["openid", "email"]


class Hub:
    """The hub, as a user with a browser sees it."""

    def __init__(self, address: str, issuer: str, person: Person) -> None:
        self.address = address
        self.issuer = issuer
        self.person = person

    def home(self) -> Page:
        """The home page, or the sign-in page for a user who is not signed in."""
        return self.person.read(f"{self.address}/hub/home")

    def user(self) -> str | None:
        """The user that the home page names next to the sign-out button."""
        named = re.search(r'<span class="me-1">([^<]+)</span>\s*<a id="logout"', self.home().text)
        return named and html.unescape(named[1])

    def sign_in(self) -> None:
        """Follows the button of the sign-in page, and completes the pages of our server."""
        button = re.search(r"""href=['"](/hub/oauth_login[^'"]*)""", self.home().text)
        expect(button is not None, "the hub shows no sign-in button")
        arrived = self.person.sign_in(f"{self.address}{html.unescape(button[1] if button else '')}", self.issuer)
        expect(arrived == f"{self.address}/hub/home", f"the sign-in ended at {arrived.split('?')[0]}")

    def refusal(self) -> tuple[int, str]:
        """The status and the text of the error page that the hub shows instead of signing the user in."""
        try:
            self.sign_in()
        except ErrorPage as answer:
            expect(answer.page.origin == self.address, f"the error page is not of the hub: {answer}")
            expect(self.user() is None, "the hub has a user after an error")
            shown = re.search(r'<div class="error">(.*?)</div>', answer.page.text, re.DOTALL)
            return answer.status, " ".join(re.sub(r"<[^>]+>", " ", shown[1] if shown else "").split())
        return 200, ""


def sign_in_and_out(hub: Hub) -> None:
    """The user signs in, and out of the hub and then of our server."""
    hub.sign_in()
    expect(hub.person.agreed, "the user was not asked for consent")
    expect(hub.user() == "alice@example.com", f"the hub names {hub.user()}")

    page = hub.person.read(f"{hub.address}/hub/logout")
    expect(page.origin == hub.issuer, f"sign-out leads to {page.url.split('?')[0]}")
    hub.person.press(page, "decision", "sign-out")
    expect(hub.user() is None, "the hub has a user after sign-out")
    account = hub.person.read(f"{hub.issuer}/account")
    expect(any(form.asks_for_password for form in account.forms), "sign-out did not end the session at our server")


def be_refused(hub: Hub, server: Counterfoil, client_id: str) -> None:
    """The user denies; then the secret of the hub is deleted."""
    hub.person.denies = True
    status, said = hub.refusal()
    expect(status == 400 and "OAuth error" in said, f"after the user denied, the hub answers {status}: {said}")
    hub.person.denies = False
    server.replace_secret(client_id)
    status, said = hub.refusal()
    expect(status == 500, f"after its secret was deleted, the hub answers {status}: {said}")


def journey(folder: Path) -> str:
    password = secrets.token_urlsafe(18)
    server = Counterfoil(folder / "data", products())
    server.create_person("alice", password)
    port, hub_port, proxy_port = free_ports(3)
    address = f"http://localhost:{port}"
    client = server.register("web", "Notebooks", SCOPES, "--redirect-uri", f"{address}/hub/oauth_callback")
    configuration = {
        "PATH": f"{PROGRAMS}:{os.environ.get('PATH', os.defpath)}",
        "ISSUER": server.issuer,
        "HUB_URL": address,
        "HUB_PORT": str(hub_port),
        "PROXY_API_URL": f"http://127.0.0.1:{proxy_port}",
        "CLIENT_ID": client["client_id"],
        "CLIENT_SECRET": client["client_secret"],
    }
    jupyterhub = [str(PROGRAMS / "jupyterhub"), "--config", str(CONFIGURATION)]
    hub = Hub(address, server.issuer, Person("alice", password, note=noting(folder / "person.log")))
    with (
        server.serving(folder / "server.log"),
        running(
            *(jupyterhub, f"{address}/hub/health", folder / "hub.log"),
            folder=folder,
            environment=configuration,
        ),
    ):
        sign_in_and_out(hub)
        be_refused(hub, server, client["client_id"])
    versions = " with ".join(f"{name} {importlib.metadata.version(name)}" for name in ("jupyterhub", "oauthenticator"))
    return f"{versions}: PKCE without nonce, email from UserInfo, sign-out at both; errors shown"


if __name__ == "__main__":
    sys.exit(drive(journey))
