#!/usr/bin/env python3
"""Our client signs a person in at glewlwyd, whose pages are a program and so want a real browser.

By a redirect, by a code on another device, with a secret and with DPoP; a forged answer, and a
refresh token that was used twice.
"""

from __future__ import annotations

import secrets
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER.parent), str(FOLDER), str(FOLDER.parent.parent / "Server" / "Benchmarks")]
import glewlwyd  # noqa: E402
from local_servers import drive, expect, free_ports, person_environment, running  # noqa: E402
from our_client import UNAVAILABLE, UNSAFE, Client, metadata  # noqa: E402
from person import noting  # noqa: E402
from person_in_chromium import sign_in  # noqa: E402

PAGES = Path("/usr/share/glewlwyd/webapp")
# The package has a folder where its pages look for this.
PAGE_SETTINGS = Path("/usr/share/glewlwyd/templates/config.json")
# Of access tokens, in seconds: too short to be used twice.
LIFETIME = 5


@contextmanager
def server(folder: Path, password: str, secret: str, redirect_uri: str) -> Iterator[str]:
    """A glewlwyd with its pages, one person and two applications, for as long as the block runs; its issuer."""
    port = free_ports(1)[0]
    command = glewlwyd.prepare(folder, port, write_ahead_log=True)
    pages = folder / "pages"
    shutil.copytree(PAGES, pages, ignore=shutil.ignore_patterns("config.json"))
    shutil.copy(PAGE_SETTINGS, pages / "config.json")
    with (folder / "glewlwyd.conf").open("a", encoding="utf-8") as settings:
        settings.write(f'static_files_path="{pages}/"\n')
    with running(command, glewlwyd.first_address(port), folder / "out.log"):
        administrator = glewlwyd.Interface(port)
        administrator.sign_in_as_administrator()
        more = {"auth-type-device-enabled": True, "device-authorization-expiration": 600}
        more |= {"device-authorization-interval": 1, "oauth-dpop-allowed": True, "oauth-dpop-iat-duration": 120}
        more |= {"access-token-duration": LIFETIME}
        administrator.call("POST", "/mod/plugin/", glewlwyd.plugin(port, **more))
        application = {"enabled": True, "scope": [], "redirect_uri": [redirect_uri]}
        application["authorization_type"] = ["code", "refresh_token", "device_authorization"]
        administrator.call("POST", "/client/", {
            **application, "client_id": "lightbox", "name": "Lightbox", "confidential": False,
            "token_endpoint_auth_method": ["none"],
        })
        administrator.call("POST", "/client/", {
            **application, "client_id": "darkroom", "name": "Darkroom", "confidential": True,
            "client_secret": secret, "token_endpoint_auth_method": ["client_secret_basic"],
        })
        alice = {"name": "Alice", "email": "alice@example.com", "enabled": True, "scope": ["g_profile", "openid"]}
        administrator.call("POST", "/user/", {**alice, "username": "alice", "password": password})
        yield f"{administrator.base}/oidc"


def journey(folder: Path) -> str:
    password, secret = secrets.token_urlsafe(18), folder / "client-secret"
    secret.touch(0o600)
    secret.write_text(secrets.token_urlsafe(24), "utf-8")
    environment = person_environment(folder, "alice", password, FOLDER / "person_in_chromium.py")
    # It compares the ports of loopback addresses too.
    redirect_uri = f"http://127.0.0.1:{free_ports(1)[0]}/callback"
    asked = ["--scope", "openid", "--redirect-uri", redirect_uri]
    with server(folder, password, secret.read_text("utf-8"), redirect_uri) as issuer:
        native = Client(folder, environment, issuer, "lightbox")
        sign_in_and_refresh(native, asked)
        sign_in_on_device(native, password, noting(folder / "person.log"))
        sign_out(Client(folder, environment, issuer, "darkroom"), [*asked, "--client-secret-file", str(secret)])
    return f"glewlwyd {glewlwyd.version()}: signed in by Chromium, on a device, with a secret and DPoP; refreshed"


def sign_in_and_refresh(client: Client, asked: list[str]) -> None:
    """An attacker who has copied the tokens cannot use the refresh token a second time.

    This server refuses it with a status and not a word, which our client does not take for the end of the sign-in.
    """
    with client.waiting(*asked) as login:
        expect(login.answer(code="forged", state="another") >= 400, "an answer with another state was taken")
        login.answer(code="forged", iss="https://id.example.com")
        login.end(UNSAFE)
    client.login(*asked)
    copy = client.copy("copied-tokens")
    client.wait_for_refresh(client.token())
    refuse_refresh(copy)


def refuse_refresh(copy: Client) -> None:
    """After the access token has expired, a copy of the tokens cannot get another one."""
    time.sleep(LIFETIME)
    said = copy.run("token", wanted=UNAVAILABLE)
    expect("refused (status 400)" in said, f"a refresh token that is not good any more: {said}")


def sign_in_on_device(client: Client, password: str, note: Callable[[str], None]) -> None:
    """The person opens the address that the device shows, and signs in there."""
    with client.waiting("--scope", "openid", "--device") as login:
        expect(login.address_with_code.endswith(login.code), "the address does not hold the code")
        sign_in(login.address_with_code, "alice", password, note)
        login.end()
    expect(bool(client.claims()["sub"]), "the server does not know who signed in on the device")
    said = client.run("logout", wanted=UNAVAILABLE)
    expect("deleted here" in said and "401" in said, f"a public client that wants to revoke: {said}")


def sign_out(client: Client, asked: list[str]) -> None:
    """An application with a secret, whose tokens are bound to a key; what was revoked is refused."""
    client.login(*asked, "--dpop")
    userinfo = metadata(client.issuer)["userinfo_endpoint"]
    expect(bool(client.call(userinfo)["sub"]), "UserInfo does not say who signed in")
    copy = client.copy("tokens-of-somebody-else")
    expect(client.logout()["revoked"] is True, "the tokens were not revoked")
    refuse_refresh(copy)


if __name__ == "__main__":
    sys.exit(drive(journey, ("glewlwyd", "sqlite3", "openssl", "chromedriver")))
