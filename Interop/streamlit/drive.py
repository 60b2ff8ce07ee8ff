#!/usr/bin/env python3
"""A Streamlit app signs a user in with `st.login` in Chromium, as a web client on http://localhost.

It sends a nonce, a code challenge and prompt=select_account, and reads the user from the
ID token only.
"""

from __future__ import annotations

import importlib.metadata
import secrets
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from chromium import PROGRAMS, Chromium, chromium  # noqa: E402
from local_servers import Counterfoil, drive, expect, free_ports, products, running  # noqa: E402
from person import origin  # noqa: E402

APP = Path(__file__).with_name("app.py")
SCOPES = ["openid", "profile", "email"]
SIGN_IN = "form:has(input[name=password])"
DENY = "button[name=decision][value=deny]"
BUTTON = "[data-testid=stButton] button"


class Visit:
    """The app in a browser."""

    def __init__(self, browser: Chromium, address: str, issuer: str, password: str) -> None:
        self._browser = browser
        self._address = address
        self._issuer = issuer
        self._password = password

    def press(self, label: str) -> None:
        """Presses the only button of the app as soon as it has this label."""
        self._browser.until(f"the button “{label}” of the app", lambda: self._shows(label))
        self._browser.press(BUTTON)

    def _shows(self, label: str) -> bool:
        return origin(self._browser.address()) == self._address and self._browser.text_of(BUTTON) == label

    def open(self) -> None:
        self._browser.open(self._address)

    def sign_in(self) -> None:
        self.press("Log in")
        self._browser.sign_in(self._issuer, "alice", self._password)

    def greeting(self) -> str:
        """The text that the app shows to a signed-in user."""
        self._browser.until("the button “Log out” of the app", lambda: self._shows("Log out"))
        return str(self._browser.until("the greeting", lambda: self._browser.text_of("[data-testid=stMarkdown]")))

    def deny(self) -> None:
        """Signs in at our server, but denies consent."""
        self.press("Log in")
        self._browser.until("the sign-in page", lambda: self._browser.find(SIGN_IN))
        self._browser.fill("input[name=username]", "alice")
        self._browser.fill("input[name=password]", self._password)
        self._browser.press(f"{SIGN_IN} :is(button:not([type=button]), input[type=submit])")
        self._browser.press(DENY)
        self.expect_no_user()

    def expect_no_user(self) -> None:
        """Waits for the app, and fails if a user is signed in there."""
        self._browser.until("the app without a user", lambda: self._shows("Log in"))

    def expect_no_session(self) -> None:
        """Fails if the session at our server has not ended."""
        self._browser.open(f"{self._issuer}/account")
        self._browser.until("the sign-in page of our server", lambda: self._browser.find(SIGN_IN))
        self.open()


def configure(folder: Path, **values: str) -> None:
    """Writes `.streamlit/secrets.toml`, readable by its owner only."""
    place = folder / ".streamlit"
    place.mkdir(0o700)
    lines = [f'{name} = "{value}"' for name, value in values.items()]
    (place / "secrets.toml").write_text("\n".join(["[auth]", *lines, ""]), "utf-8")


def journey(folder: Path) -> str:
    password = secrets.token_urlsafe(18)
    server = Counterfoil(folder / "data", products())
    server.create_person("alice", password)
    port = free_ports(1)[0]
    address = f"http://localhost:{port}"
    callback = f"{address}/oauth2callback"
    client = server.register(
        *("web", "Charts", SCOPES, "--redirect-uri", callback),
        # Streamlit uses its redirect URI after sign-out too.
        *("--post-logout-redirect-uri", callback),
    )
    configure(
        folder,
        redirect_uri=callback,
        cookie_secret=secrets.token_urlsafe(32),
        client_id=client["client_id"],
        client_secret=client["client_secret"],
        server_metadata_url=f"{server.issuer}/.well-known/openid-configuration",
    )
    log = folder / "app.log"
    serve = [sys.executable, "-m", "streamlit", "run", str(APP), "--server.port", str(port)]
    serve += ["--server.address", "localhost", "--server.headless", "true", "--browser.gatherUsageStats", "false"]
    with (
        server.serving(folder / "server.log"),
        running(serve, f"{address}/_stcore/health", log, folder=folder),
        chromium(folder) as browser,
    ):
        visit = Visit(browser, address, server.issuer, password)
        visit.open()
        visit.deny()
        expect("access_denied" in log.read_text("utf-8"), "the app does not log that the user denied")

        visit.sign_in()
        said = visit.greeting()
        expect(said == "Hello, alice! Your email is alice@example.com.", f"the app says “{said}”")
        visit.press("Log out")
        visit.expect_no_user()
        visit.expect_no_session()

        server.replace_secret(client["client_id"])
        visit.sign_in()
        visit.expect_no_user()
        expect("invalid_client" in log.read_text("utf-8"), "the app does not log that its secret was refused")
    version = importlib.metadata.version("streamlit")
    return f"Streamlit {version}: PKCE and nonce, name and email from the ID token, sign-out at both; errors logged"


if __name__ == "__main__":
    sys.exit(drive(journey, PROGRAMS))
