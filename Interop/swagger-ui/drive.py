#!/usr/bin/env python3
"""Swagger UI in Chromium on localhost gets a token from our server, by OAuth and by OpenID, and calls the sample API.

A single-page client with PKCE whose page, server and API are three origins.
"""

from __future__ import annotations

import secrets
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from chromium import PROGRAMS, Chromium, chromium  # noqa: E402
from local_servers import Counterfoil, drive, expect, free_ports, photo_library, products  # noqa: E402
from static_site import static_site  # noqa: E402

SCOPES = ["openid", "photos.read"]

# An element of the dialog “Available authorizations”, in the part of one scheme and of the flow with a code.
IN_DIALOG = """
const [scheme, selector] = arguments;
return [...document.querySelectorAll(".auth-container")]
  .filter((part) => part.querySelector("h4")?.textContent.startsWith(`${scheme} `))
  .find((part) => /authorization_?code/i.test(part.textContent))?.querySelector(selector);
"""


class Documentation:
    """The documentation of the API, as a developer who tries it sees it."""

    def __init__(self, browser: Chromium, server: Counterfoil, password: str) -> None:
        self.browser = browser
        self._server = server
        self._password = password

    def open(self, address: str) -> None:
        """Opens the page and the operation that lists photos."""
        self.browser.open(address)
        self.browser.press(".opblock-summary-control")
        self.browser.press(".try-out__btn")

    def authorize(self, scheme: str, scopes: list[str]) -> None:
        """Presses “Authorize”, does what our pages ask in a window of their own, and closes the dialog."""
        page = self.browser.windows()
        self.browser.press(".auth-wrapper > .authorize")
        for scope in scopes:
            self._press_in_dialog(scheme, f"input[data-value='{scope}'] + label")
        self._press_in_dialog(scheme, "button.authorize")
        popup = self.browser.until("a window of our server", lambda: set(self.browser.windows()) - set(page)).pop()
        self.browser.switch_to(popup)
        self.browser.sign_in(self._server.issuer, "alice", self._password)
        self.browser.until("the end of the window", lambda: self.browser.windows() == page)
        self.browser.switch_to(page[0])
        self.browser.until("“Authorized”", lambda: "Authorized" in self.browser.text_of(".modal-ux-content"))
        self.browser.press(".close-modal")

    def forget(self, scheme: str) -> None:
        """Presses “Logout”, with which the page forgets its token."""
        self.browser.press(".auth-wrapper > .authorize")
        self._press_in_dialog(scheme, ".auth-btn-wrapper button:not(.btn-done)")
        self.browser.press(".close-modal")

    def _press_in_dialog(self, scheme: str, selector: str) -> None:
        found = self.browser.until(
            f"{selector} of {scheme}", lambda: self.browser.found_by(IN_DIALOG, scheme, selector)
        )
        self.browser.click(found)

    def execute(self) -> tuple[str, str]:
        """Presses “Execute”; the status of the answer, and what it says."""
        if self.browser.find(".btn-clear"):
            self.browser.press(".btn-clear")
        self.browser.press(".execute")
        row = ".live-responses-table tbody .response"
        status = self.browser.until("a response", lambda: self.browser.text_of(f"{row} .response-col_status"))
        return status.split()[0], self.browser.text_of(f"{row} .response-col_description")


def try_out(documentation: Documentation) -> None:
    """No token, one by OAuth, none again, and one by OpenID."""
    status, _ = documentation.execute()
    expect(status == "401", f"the API answered {status} without a token")
    for scheme, scopes in (("oauth", ["photos.read"]), ("openid", SCOPES)):
        documentation.authorize(scheme, scopes)
        status, body = documentation.execute()
        expect(status == "200" and "Harbour at dawn" in body, f"by {scheme}, the API answered {status}: {body}")
        documentation.forget(scheme)
        status, _ = documentation.execute()
        expect(status == "401", f"by {scheme}, the API answered {status} without a token")


def filled_in(name: str, values: dict[str, str]) -> str:
    """The text of a file of this folder."""
    text = Path(__file__).with_name(name).read_text("utf-8")
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    return text


def journey(folder: Path) -> str:
    from swagger_ui_bundle import swagger_ui_path

    password = secrets.token_urlsafe(18)
    server = Counterfoil(folder / "data", products())
    server.create_person("alice", password)
    # By OpenID Connect discovery, Swagger UI offers the scopes that the metadata list.
    server.administer("scope", "create", "photos.read", "--description", "See your photos and albums", "--listed")
    port = free_ports(1)[0]
    place = f"http://localhost:{port}"
    client = server.register("spa", "Photo library API", SCOPES, "--redirect-uri", f"{place}/oauth2-redirect.html")
    api = photo_library(products(), server.issuer, folder / "api.log", "--allow-origin", place)
    with server.serving(folder / "server.log"), api as photos, chromium(folder) as browser:
        values = {"issuer": server.issuer, "client_id": client["client_id"], "api": photos}
        files = {name: filled_in(name, values) for name in ("openapi.json", "swagger-initializer.js")}
        with static_site(Path(str(swagger_ui_path)), files, port) as site:
            documentation = Documentation(browser, server, password)
            documentation.open(site)
            try_out(documentation)
    version = Path(str(swagger_ui_path)).name.rpartition("-")[2]
    return f"Swagger UI {version}: a token by OAuth and by OpenID Connect discovery; the API answered"


if __name__ == "__main__":
    sys.exit(drive(journey, PROGRAMS))
