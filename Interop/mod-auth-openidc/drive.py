#!/usr/bin/env python3
"""Apache with mod_auth_openidc signs people in at our server, and protects an API by asking what a token is worth.

A relying party and an introspecting resource server over TLS.
"""

from __future__ import annotations

import json
import os
import secrets
import ssl
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import own_network  # noqa: E402
from apache import MODULES, PROGRAM, Authority, Site, apache, proxy  # noqa: E402
from header_echo import application  # noqa: E402
from local_servers import MISSING, Counterfoil, drive, expect, free_ports, products  # noqa: E402
from person import LOOPBACK, Page, Person, noting, origin  # noqa: E402

SCOPES = ["openid", "profile", "email", "offline_access", "photos.read"]
NAME = "portal.example.com"


class Portal:
    """The portal as a person with a browser, and as a program with a token, see it."""

    def __init__(self, address: str, server: Counterfoil, person: Person, authority: Path) -> None:
        self.address = address
        self.server = server
        self.person = person
        self._context = ssl.create_default_context(cafile=authority)

    def sign_in(self) -> dict[str, str]:
        """Opens the protected page and does what is asked; what the application was told."""
        self.person.agreed = False
        arrived = self.person.sign_in(f"{self.address}/account/", origin(self.server.issuer))
        expect(arrived == f"{self.address}/account/", f"signing in ended at {arrived.split('?')[0]}")
        expect(self.person.agreed, "the person was not asked")
        return self.told()

    def told(self) -> dict[str, str]:
        return dict(json.loads(self.person.read(f"{self.address}/account/").text))

    def knows_nobody(self) -> bool:
        """Whether the protected page leads to our server again."""
        return origin(self.person.read(f"{self.address}/account/").url) == origin(self.server.issuer)

    def hook(self, **parameters: str) -> Page:
        """Opens the redirect URI as the module wants it for refreshing and signing out."""
        return self.person.read(f"{self.address}/account/signed-in?{urllib.parse.urlencode(parameters)}")

    def call_api(self, token: str | None) -> tuple[int, dict[str, str]]:
        """Calls the API; the status, and what the application was told."""
        request = urllib.request.Request(f"{self.address}/photos")
        if token is not None:
            request.add_header("Authorization", f"Bearer {token}")
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=self._context)
        )
        try:
            with opener.open(request, timeout=30) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as answer:
            return answer.code, {}


def be_relying_party(portal: Portal) -> str:
    """Sign-in, claims and refresh; the access token that the portal holds at the end."""
    told = portal.sign_in()
    expect(told.get("portal-user") == "alice", f"the portal takes the person for {told.get('portal-user')}")
    expect(told.get("oidc_claim_email") == "alice@example.com", "the portal does not know the address")
    expect(told.get("oidc_claim_iss") == portal.server.issuer, f"the claims are of {told.get('oidc_claim_iss')}")

    first = told["oidc_access_token"]
    arrived = portal.hook(refresh=f"{portal.address}/account/", access_token=first).url
    expect(arrived == f"{portal.address}/account/", f"the refresh ended at {arrived}")
    second = portal.told()["oidc_access_token"]
    expect(second != first, "the refresh gave the same access token")
    return second


def be_resource_server(portal: Portal, token: str) -> None:
    """A valid token, none, one that no server issued, and one for another audience."""
    status, told = portal.call_api(token)
    expect(status == 200, f"the API answered {status} to a good token")
    expect("photos.read" in told["oidc_claim_scope"].split(), f"the API got the scope {told['oidc_claim_scope']}")
    expect(told["oidc_claim_username"] == "alice", "the API does not know whose token it is")
    for wrong in (None, "garbage", token[:-8] + "AAAAAAAA"):
        status, _ = portal.call_api(wrong)
        expect(status == 401, f"the API answered {status} to {'no' if wrong is None else 'a wrong'} token")


def sign_out(portal: Portal, token: str) -> None:
    """The portal ends the session at our server too and revokes its tokens; it redirects to no other URL."""
    arrived = portal.hook(logout=f"{portal.address}/bye").url
    expect(arrived == f"{portal.address}/bye", f"signing out ended at {arrived.split('?')[0]}")
    expect(portal.knows_nobody(), "the portal still knows the person")
    status, _ = portal.call_api(token)
    expect(status == 401, f"the API answered {status} to a token that the portal has revoked")

    portal.sign_in()
    arrived = portal.hook(logout=f"{portal.address}/elsewhere").url
    expect(origin(arrived) == origin(portal.server.issuer), "the person was sent to an address that is not registered")
    expect(portal.knows_nobody(), "the portal still knows the person")


def hear_of_sign_out(portal: Portal) -> None:
    """The person signs out at our server, and the portal is told by back channel."""
    portal.sign_in()
    page = portal.person.read(f"{portal.server.issuer}/oauth2/logout")
    portal.person.press(page, "decision", "sign-out")
    deadline = time.monotonic() + 20
    while not portal.knows_nobody():
        expect(time.monotonic() < deadline, "the portal was not told that the person has signed out")
        time.sleep(0.2)


def filled_in(values: dict[str, object]) -> list[str]:
    """The lines of the portal's configuration."""
    text = Path(__file__).with_name("portal.conf").read_text("utf-8")
    for name, value in values.items():
        text = text.replace(f"@{name}@", str(value))
    return text.splitlines()


def journey(folder: Path) -> str:
    password = secrets.token_urlsafe(18)
    authority = Authority(folder / "tls", ["localhost", NAME])
    if IN_OWN_NETWORK:
        address = own_network.be_known_as([NAME], authority.certificate, folder)
    else:
        address = own_network.call_loopback(NAME)
    tls_port, portal_port, port = free_ports(3)
    place = f"https://{NAME}:{portal_port}"
    server = Counterfoil(folder / "data", products(), port, issuer=f"https://localhost:{tls_port}")
    server.create_person("alice", password)
    server.create_scope("photos.read", "See your photos and albums")
    client = server.register(
        *("web", "Portal", SCOPES, "--redirect-uri", f"{place}/account/signed-in"),
        *("--post-logout-redirect-uri", f"{place}/bye"),
        *("--backchannel-logout-uri", f"{place}/account/signed-in?logout=backchannel"),
    )
    api = server.create_resource(server.issuer, "Photo library", ["photos.read"])

    person = Person(
        *("alice", password),
        note=noting(folder / "person.log"),
        authority=authority.certificate,
        hosts=LOOPBACK | {NAME},
    )
    portal = Portal(place, server, person, authority.certificate)
    with application() as behind, server.serving(folder / "server.log"):
        values = {
            "authority": authority.certificate,
            "passphrase": secrets.token_urlsafe(24),
            "issuer": server.issuer,
            "portal": place,
            "client_id": client["client_id"],
            "client_secret": client["client_secret"],
            "api_id": api["client_id"],
            "api_secret": api["client_secret"],
            "application": behind,
        }
        sites = [
            proxy("localhost", tls_port, f"http://127.0.0.1:{port}"),
            Site(NAME, portal_port, filled_in(values), address),
        ]
        modules = ("authn_core", "authz_user", "auth_openidc")
        with apache(folder / "apache", authority, sites, folder / "apache.log", modules):
            token = be_relying_party(portal)
            be_resource_server(portal, token)
            sign_out(portal, token)
            if IN_OWN_NETWORK:
                hear_of_sign_out(portal)
    done = "mod_auth_openidc: relying party (claims, refresh, logout) and introspecting API over TLS"
    if IN_OWN_NETWORK:
        return f"{done}; heard of a sign-out by back channel"
    expect(os.environ.get("CI") != "true", "no network of its own, so that back-channel logout was not tried")
    return f"{done}; back-channel logout left out, which needs root and a network of its own"


if __name__ == "__main__":
    if not (MODULES / "mod_auth_openidc.so").exists():
        print("mod_auth_openidc is not installed")
        sys.exit(MISSING)
    IN_OWN_NETWORK = own_network.enter()
    sys.exit(drive(journey, (PROGRAM, "openssl")))
