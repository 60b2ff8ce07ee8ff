#!/usr/bin/env python3
"""The single-page example signs a user in from Chromium on localhost, calls the sample API, refreshes and signs out.

Page, server and API are three origins; what is forged, used before or of another
origin is refused.
"""

from __future__ import annotations

import json
import secrets
import sys
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from chromium import PROGRAMS, Chromium, chromium  # noqa: E402
from local_servers import ROOT, Counterfoil, drive, expect, free_ports, photo_library, products  # noqa: E402
from person import origin  # noqa: E402
from static_site import static_site  # noqa: E402

EXAMPLE = ROOT / "Examples" / "SinglePage"
SCOPES = ["openid", "profile", "offline_access", "photos.read"]
ASKS_TO_SIGN_IN = "Sign in to see your photos."


class Darkroom:
    """The page as its user sees it, and the server behind it."""

    def __init__(self, browser: Chromium, address: str, server: Counterfoil, client_id: str, password: str) -> None:
        self.browser = browser
        self.address = address
        self._server = server
        self._client_id = client_id
        self._password = password

    def open(self, **response: str) -> None:
        """Opens the page, with an authorization response if there is one."""
        self.browser.open(f"{self.address}?{urllib.parse.urlencode(response)}" if response else self.address)

    def sign_in(self) -> None:
        self.browser.press("#sign-in")
        self.browser.sign_in(self._server.issuer, "alice", self._password)

    def says(self, words: str) -> None:
        """Waits until the page says this."""
        self.browser.until(f"“{words}”", lambda: words in self.browser.text_of("#status"))

    def shows_photos(self) -> None:
        """Waits until the page shows the photos."""
        self.says("Photos of alice")
        expect("Harbour at dawn" in self.browser.text_of("#photos"), "the page shows no photos")
        expect(self.browser.address() == self.address, f"the photos are at {self.browser.address()}")

    def stored(self) -> dict[str, str]:
        """What the tab keeps."""
        expect(self.browser.run("return localStorage.length") == 0, "the page uses localStorage")
        return dict(self.browser.run("return {...sessionStorage}"))

    def reload(self) -> tuple[str, str]:
        """Reloads the page, which has to refresh then; the refresh tokens before and after."""
        before = self.stored()["refresh_token"]
        self.browser.reload()
        self.browser.until("another refresh token", lambda: self.stored().get("refresh_token") != before)
        self.shows_photos()
        return before, self.stored()["refresh_token"]

    def refuses(self, refresh_token: str) -> bool:
        """Whether the server refuses a refresh token, for another program that has a copy of it."""
        form = {"grant_type": "refresh_token", "client_id": self._client_id, "refresh_token": refresh_token}
        request = urllib.request.Request(
            f"{self._server.issuer}/oauth2/token", urllib.parse.urlencode(form).encode()
        )
        try:
            urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30).close()
        except urllib.error.HTTPError as answer:
            return bool(json.load(answer)["error"] == "invalid_grant")
        return False


def sign_in_and_reload(page: Darkroom) -> str:
    """Sign-in and API call, and two refreshes; the first of the refresh tokens."""
    page.open()
    page.says(ASKS_TO_SIGN_IN)
    page.sign_in()
    page.shows_photos()
    expect(sorted(page.stored()) == ["id_token", "refresh_token"], f"the tab keeps {sorted(page.stored())}")
    page.browser.press("#reload")
    page.shows_photos()
    first, second = page.reload()
    third, fourth = page.reload()
    expect(second == third != fourth, "the refresh tokens do not follow one another")
    blocked = [line for line in page.browser.console() if "Content Security Policy" in line]
    expect(not blocked, f"the policy of the page blocks what it needs: {blocked}")
    return first


def notice_a_copy(page: Darkroom, first: str) -> None:
    """A copy of a refresh token that was replaced twice ends the session, and the page asks for a sign-in."""
    expect(page.refuses(first), "a refresh token was taken that has long been replaced")
    page.browser.reload()
    page.says("Your session has ended.")
    expect(page.stored() == {}, "the tab keeps tokens of a session that has ended")


def refuse_forged_responses(page: Darkroom) -> None:
    """A response that was not asked for, one in the name of another server, and one that denies."""
    page.open(code="forged", state="another")
    page.says("This tab did not start this sign-in.")
    for response, words in (
        ({"code": "forged", "iss": "https://id.example.com"}, "The response is not from"),
        ({"code": "forged"}, "The response is not from"),
        ({"error": "access_denied", "iss": origin(page._server.issuer)}, "access_denied"),
    ):
        page.open()
        page.browser.press("#sign-in")
        page.browser.until("the server", lambda: origin(page.browser.address()) == page._server.issuer)
        page.open()
        page.open(**response, state=json.loads(page.stored()["pending"])["state"])
        page.says(words)
        expect(page.stored() == {}, "the tab keeps what belonged to a refused response")


def refuse_other_origins(page: Darkroom, stranger: str, api: str) -> None:
    """A page of another origin reads neither the token endpoint nor the API."""
    page.browser.open(stranger)
    script = "return fetch(arguments[0], arguments[1]).then((response) => response.status, (error) => error.name)"
    for url in (f"{page._server.issuer}/oauth2/token", f"{page._server.issuer}/oauth2/userinfo", f"{api}/photos"):
        method = "POST" if url.endswith("token") else "GET"
        answer = page.browser.run(script, url, {"method": method})
        expect(answer == "TypeError", f"a page of another origin reads {url}: {answer}")


def sign_out(page: Darkroom) -> None:
    """The tokens are revoked, the server's session ends, and the user is back at the page."""
    page.open()
    page.sign_in()
    page.shows_photos()
    copy = page.stored()["refresh_token"]
    page.browser.press("#sign-out")
    page.says(ASKS_TO_SIGN_IN)
    expect(page.stored() == {}, "the tab keeps tokens after the sign-out")
    expect(page.browser.address() == page.address, f"signing out ended at {page.browser.address()}")
    expect(page.refuses(copy), "the refresh token was not revoked")
    page.browser.press("#sign-in")
    page.browser.until("the password again", lambda: page.browser.find("input[name=password]"))


def journey(folder: Path) -> str:
    password = secrets.token_urlsafe(18)
    server = Counterfoil(folder / "data", products())
    server.create_person("alice", password)
    server.create_scope("photos.read", "See your photos and albums")
    port, other = free_ports(2)
    place = f"http://localhost:{port}"
    client_id = server.register(
        *("spa", "Darkroom", SCOPES, "--redirect-uri", f"{place}/", "--post-logout-redirect-uri", f"{place}/"),
    )["client_id"]
    api = photo_library(products(), server.issuer, folder / "api.log", "--allow-origin", place)
    with server.serving(folder / "server.log"), api as photos, chromium(folder) as browser:
        page = (EXAMPLE / "index.html").read_text("utf-8")
        for example, ours in (
            *(("http://127.0.0.1:8080", server.issuer), ("http://127.0.0.1:8090", photos)),
            ('data-client-id="darkroom"', f'data-client-id="{client_id}"'),
        ):
            expect(example in page, f"{example} is not in the example")
            page = page.replace(example, ours)
        empty = {"index.html": "<!doctype html><title>Empty</title>"}
        with static_site(EXAMPLE, {"index.html": page}, port), static_site(folder, empty, other) as stranger:
            darkroom = Darkroom(browser, f"{place}/", server, client_id, password)
            first = sign_in_and_reload(darkroom)
            notice_a_copy(darkroom, first)
            refuse_forged_responses(darkroom)
            refuse_other_origins(darkroom, stranger, photos)
            sign_out(darkroom)
    return "the single-page example in Chromium: sign-in, API call, refresh, sign-out across three origins"


if __name__ == "__main__":
    sys.exit(drive(journey, PROGRAMS))
