#!/usr/bin/env python3
"""Our client signs a person in at our own server by a code that the person enters on another device.

With the code typed and with the code in the URL, with a bound token, and denied.
"""

from __future__ import annotations

import secrets
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from local_servers import Counterfoil, drive, expect, person_environment, products  # noqa: E402
from our_client import REFUSED, SIGN_IN_AGAIN, Client, status  # noqa: E402
from person import ErrorPage, Lost, Person, noting  # noqa: E402

SCOPES = ["openid", "profile", "offline_access"]
ASKED = ["--scope", " ".join(SCOPES), "--device"]


def journey(folder: Path) -> str:
    password = secrets.token_urlsafe(18)
    server = Counterfoil(folder / "data", products(), options=["--require-pushed-requests"])
    server.create_person("alice", password)
    television = server.register("device", "Television", SCOPES)["client_id"]
    environment = person_environment(folder, "alice", password)

    def person() -> Person:
        return Person("alice", password, note=noting(folder / "person.log"))

    with server.serving(folder / "server.log"):
        client = Client(folder, environment, server.issuer, television)
        type_the_code(client, person())
        open_the_url_with_the_code(client, person())
        deny(client, person())
    return "our own server: the code typed and in the URL, a bound token, a denial"


def type_the_code(client: Client, person: Person) -> None:
    """A code in lower case counts; another one does not. After the sign-out the tokens are revoked."""
    with client.waiting(*ASKED) as login:
        try:
            person.approve_device(login.address, "BBBB-BBBB")
            expect(False, "a code of no device was taken")
        except Lost:
            pass
        person.approve_device(login.address, login.code.lower())
        login.end()
    expect(client.claims().get("preferred_username") == "alice", f"the server says {client.claims()}")
    first = client.token()
    userinfo = f"{client.issuer}/oauth2/userinfo"
    expect(status(userinfo, first) == 200, "UserInfo refuses the access token")
    copy = client.copy("copied-tokens")
    expect(client.logout()["revoked"] is True, "the tokens were not revoked")
    expect(status(userinfo, first) == 401, "the server takes an access token that was revoked")
    copy.run("call", userinfo, wanted=SIGN_IN_AGAIN)


def open_the_url_with_the_code(client: Client, person: Person) -> None:
    """The page with the code still asks, and the token is bound to a key of the device."""
    with client.waiting(*ASKED, "--dpop") as login:
        expect(login.address_with_code.endswith(login.code), "the URL does not hold the code")
        person.approve_device(login.address_with_code)
        login.end()
    expect(person.agreed, "the page with the code did not ask")
    userinfo = f"{client.issuer}/oauth2/userinfo"
    expect(client.call(userinfo)["preferred_username"] == "alice", "UserInfo does not say who signed in")
    client.logout()


def deny(client: Client, person: Person) -> None:
    """The device is told at once that the person denied it, and the code is used up."""
    person.denies = True
    with client.waiting(*ASKED) as login:
        person.approve_device(login.address_with_code)
        login.end(REFUSED)
        code_is_used_up = False
        try:
            person.approve_device(login.address, login.code)
        except (ErrorPage, Lost):
            code_is_used_up = True
        expect(code_is_used_up, "a code that was denied is taken again")


if __name__ == "__main__":
    sys.exit(drive(journey))
