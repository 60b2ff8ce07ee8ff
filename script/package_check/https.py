"""The authority of certificates and the browser, both outside of the system in which the server is installed."""

from __future__ import annotations

import http.client
import os
import re
import ssl
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "Interop"), str(ROOT / "Interop" / "certificates")]

from chromium import Chromium, Lost  # noqa: E402
from local_servers import Failed as Stopped  # noqa: E402
from pebble import Pebble, pebble  # noqa: E402

from .journey import journal, until  # noqa: E402
from .system import Failed, System, expect, quietly  # noqa: E402

#: Where the settings of the server name the certificate of the authority itself.
AUTHORITY = "/etc/counterfoil/acme-root.pem"
NAME, PASSWORD = "ada", "a long passphrase of the first administrator"
FORM = "form:has(input[name=password])"


@contextmanager
def authority(folder: Path, port: int) -> Iterator[Pebble]:
    """Pebble outside of the system, which validates `localhost` by tls-alpn-01 at the port of the server."""
    try:
        with pebble(folder / "pebble", 24 * 3600, tls_port=port) as running:
            yield running
    except Stopped as fault:
        raise Failed(str(fault)) from None


def settings(system: System, running: Pebble) -> dict[str, str]:
    """What a server needs to order its certificate from this authority instead of Let's Encrypt."""
    system.path(AUTHORITY).write_bytes(running.authority.certificate.read_bytes())
    return {"acme-directory": running.directory, "acme-root": AUTHORITY}


def wait_for_certificate(running: Pebble, port: int) -> None:
    """Waits until the server has a certificate that the authority has issued."""
    expect(bool(certified(running, port)), "the server shows no certificate")


def allow(chromium: Chromium, url: str) -> None:
    """Opens an authorization request as the user who is signed in, and allows it."""
    chromium.open(url)
    chromium.press("button[name=decision][value=allow]")


def certified(running: Pebble, port: int) -> bytes:
    """Waits until the server answers with a certificate of the authority, and returns this certificate."""
    context = ssl.create_default_context(cadata=running.root())
    shown = b""

    def answers() -> bool:
        nonlocal shown
        connection = http.client.HTTPSConnection("localhost", port, context=context, timeout=10)
        try:
            connection.connect()
            shown = connection.sock.getpeercert(binary_form=True) or b""
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    until("an answer with a certificate of the authority", answers)
    return shown


@contextmanager
def browser(running: Pebble) -> Iterator[Chromium]:
    """A Chromium that trusts the root certificate of the authority, as a user would add it."""
    with tempfile.TemporaryDirectory(prefix="counterfoil-chromium-") as name:
        home = Path(name)
        database = home / ".pki" / "nssdb"
        database.mkdir(parents=True)
        root = home / "root.pem"
        root.write_text(running.root(), "ascii")
        quietly("certutil", "-N", "-d", f"sql:{database}", "--empty-password")
        quietly("certutil", "-A", "-d", f"sql:{database}", "-n", "authority", "-t", "C,,", "-i", str(root))
        former = os.environ.get("HOME", "/root")
        os.environ["HOME"] = name
        try:
            with Chromium(home) as started:
                yield started
        except (Stopped, Lost) as fault:
            raise Failed(str(fault)) from None
        finally:
            os.environ["HOME"] = former


def sign_in(system: System, chromium: Chromium, port: int) -> None:
    """The link in the log creates the first administrator, who then signs in and sees the account."""
    issuer = f"https://localhost:{port}"
    links = re.findall(rf"{re.escape(issuer)}/setup\?token=[\w-]+", journal(system))
    expect(bool(links), "the log has no link for the first administrator")
    chromium.open(links[-1])
    submit(chromium)
    chromium.press("a.button.primary")
    submit(chromium)
    chromium.until("the page after the sign-in", lambda: chromium.find(FORM) is None or None)
    see_account(chromium, port)


def submit(chromium: Chromium) -> None:
    """Types the name and the password, and presses the button."""
    chromium.fill(f"{FORM} input[name=username]", NAME)
    chromium.fill(f"{FORM} input[name=password]", PASSWORD)
    chromium.press(f"{FORM} button.primary")


def see_account(chromium: Chromium, port: int) -> None:
    """The account shows the name of the signed-in user."""
    chromium.open(f"https://localhost:{port}/account")
    chromium.until("the account", lambda: NAME in chromium.text() and chromium.find(FORM) is None or None)
    expect(chromium.address() == f"https://localhost:{port}/account", f"the account is at {chromium.address()}")
    expect(bool(chromium.run("return window.isSecureContext")), "the browser does not trust the page")
