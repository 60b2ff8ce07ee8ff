#!/usr/bin/env python3
"""Apache with mod_auth_openidc, configured as its README says, signs people in on http://localhost without PKCE.

OpenID Connect's `nonce` does what PKCE does elsewhere; without either, and with an injected
code, there is no sign-in.
"""

from __future__ import annotations

import json
import secrets
import sys
import urllib.parse
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import chromium  # noqa: E402
from apache import MODULES, PROGRAM, Site, apache  # noqa: E402
from header_echo import application  # noqa: E402
from local_servers import MISSING, Counterfoil, drive, expect, free_ports, products  # noqa: E402
from person import Person, noting, origin  # noqa: E402


class Portal:
    """The portal as a user sees it, and an attacker who has an account too."""

    def __init__(self, address: str, server: Counterfoil, browser: chromium.Chromium, password: str) -> None:
        self.address = address
        self._server = server
        self._browser = browser
        self._password = password

    @property
    def redirect_uri(self) -> str:
        return f"{self.address}/secure/redirect_uri"

    def sign_in(self) -> dict[str, str]:
        """Opens the protected page and does what is asked; what the application was told."""
        self._browser.open(f"{self.address}/secure/")
        self._browser.sign_in(self._server.issuer, "alice", self._password)
        self._browser.until("the page", lambda: self._browser.address() == f"{self.address}/secure/")
        return dict(json.loads(self._browser.text()))

    def asked(self) -> dict[str, str]:
        """Opens the protected page; the authorization request to which it leads."""
        self._browser.open(f"{self.address}/secure/")
        request = self._browser.until(
            "the server", lambda: self._browser.address() if self._at(self._server.issuer) else None
        )
        return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(request).query))

    def answer(self, **parameters: str) -> str:
        """Opens the redirect URI with a response; where it ended, and what the page says."""
        self._browser.open(f"{self.redirect_uri}?{urllib.parse.urlencode(parameters)}")
        return f"{self._browser.address()} {self._browser.text()}"

    def sign_out(self) -> None:
        """Signs out as the module wants it, at our server too."""
        self._browser.open(f"{self.redirect_uri}?{urllib.parse.urlencode({'logout': f'{self.address}/bye'})}")
        self._browser.until("the page after it", lambda: self._browser.address() == f"{self.address}/bye")

    def _at(self, place: str) -> bool:
        return origin(self._browser.address()) == place


def response_to(person: Person, server: Counterfoil, request: dict[str, str]) -> dict[str, str]:
    """The response that a user with another browser gets."""
    url = f"{server.issuer}/oauth2/authorize?{urllib.parse.urlencode(request)}"
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(person.sign_in(url)).query))


def refuse_without_either(portal: Portal, server: Counterfoil, person: Person) -> None:
    """The same request without its nonce gets no code, and an error that says what is missing."""
    request = portal.asked()
    expect("code_challenge" not in request and "nonce" in request, f"the module sends {sorted(request)}")
    response = response_to(person, server, {name: request[name] for name in request if name != "nonce"})
    expect(response.get("error") == "invalid_request" and "code" not in response, f"without either: {response}")
    expect("code_challenge" in response["error_description"], f"it says “{response['error_description']}”")


def refuse_injected_code(portal: Portal, server: Counterfoil, person: Person, log: Path) -> None:
    """A code that an attacker injects does not sign the user in as the attacker: its ID token has another nonce."""
    request = portal.asked()
    injected = response_to(person, server, {**request, "nonce": secrets.token_urlsafe(16)})
    ended = portal.answer(code=injected["code"], state=request["state"], iss=server.issuer)
    expect("mallory" not in ended, f"the user is signed in as the attacker: {ended}")
    expect("oidc_proto_validate_nonce: the nonce value" in log.read_text("utf-8"), "the module accepts any nonce")
    expect(portal.asked()["redirect_uri"] == portal.redirect_uri, "the module does not ask for a sign-in")


def journey(folder: Path) -> str:
    passwords = {name: secrets.token_urlsafe(18) for name in ("alice", "mallory")}
    server = Counterfoil(folder / "data", products())
    for name, password in passwords.items():
        server.create_person(name, password)
    port = free_ports(1)[0]
    place = f"http://localhost:{port}"
    client = server.register(
        *("web", "Portal", ["openid", "email"], "--redirect-uri", f"{place}/secure/redirect_uri"),
        *("--post-logout-redirect-uri", f"{place}/bye"),
    )
    mallory = Person("mallory", passwords["mallory"], stop=place, note=noting(folder / "person.log"))
    with server.serving(folder / "server.log"), application() as behind, chromium.chromium(folder) as browser:
        values = {
            "issuer": server.issuer,
            "portal": place,
            "client_id": client["client_id"],
            "client_secret": client["client_secret"],
            "passphrase": secrets.token_urlsafe(24),
            "application": behind,
        }
        configuration = Path(__file__).with_name("quickstart.conf").read_text("utf-8")
        for key, value in values.items():
            configuration = configuration.replace(f"@{key}@", value)
        site = Site("localhost", port, configuration.splitlines(), tls=False)
        modules = ("authn_core", "authz_user", "auth_openidc")
        with apache(folder / "apache", None, [site], folder / "apache.log", modules):
            portal = Portal(place, server, browser, passwords["alice"])
            refuse_without_either(portal, server, mallory)
            refuse_injected_code(portal, server, mallory, folder / "apache.log")
            told = portal.sign_in()
            expect(told.get("oidc_claim_email") == "alice@example.com", f"the portal was told {sorted(told)}")
            portal.sign_out()
            portal.asked()
    return "mod_auth_openidc by its quickstart, without PKCE: signed in and out; an injected code was refused"


if __name__ == "__main__":
    if not (MODULES / "mod_auth_openidc.so").exists():
        print("mod_auth_openidc is not installed")
        sys.exit(MISSING)
    sys.exit(drive(journey, (PROGRAM, *chromium.PROGRAMS)))
