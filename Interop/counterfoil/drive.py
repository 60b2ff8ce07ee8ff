#!/usr/bin/env python3
"""Our client signs a person in at our own server and calls the sample API: what other servers are compared with.

A forged answer, a server mix-up, a token that was revoked. At an MCP server it registers itself, and
again when our server has forgotten it.
"""

from __future__ import annotations

import json
import secrets
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from local_servers import Counterfoil, drive, expect, person_environment, photo_library, products  # noqa: E402
from notes import Notes  # noqa: E402
from our_client import REDIRECT_URI, REFUSED, SIGN_IN_AGAIN, UNSAFE, Client, status  # noqa: E402
from person import Person, noting  # noqa: E402

SCOPES = ["openid", "profile", "offline_access", "photos.read"]
ASKED = ["--scope", " ".join(SCOPES)]


def journey(folder: Path) -> str:
    password = secrets.token_urlsafe(18)
    server = Counterfoil(folder / "data", products())
    server.create_person("alice", password)
    server.create_scope("photos.read", "See your photos and albums")
    environment = person_environment(folder, "alice", password)
    native = server.create_application("Lightbox", REDIRECT_URI, SCOPES)
    person = Person("alice", password, note=noting(folder / "person.log"))
    with server.serving(folder / "server.log"), photo_library(products(), server.issuer, folder / "api.log") as api:
        sign_in_and_out(Client(folder, environment, server.issuer, native), api)
        refuse_forged_answers(Client(folder, environment, server.issuer, native), person)
    notes = Notes(folder, "alice", password)
    with notes.serving():
        register_itself(Client(folder, environment, notes.server.issuer, None, "own-tokens"), notes)
    return (
        "our own server: signed in, the API answered; what is forged or revoked is refused; registered itself at an "
        "MCP server"
    )


def sign_in_and_out(client: Client, api: str) -> None:
    """The journey of a client, and of an attacker with a copy of its tokens."""
    client.login(*ASKED, "--api", api, "--api", client.issuer)
    first = client.token()
    expect(client.claims().get("preferred_username") == "alice", f"the server says {client.claims()}")
    expect(bool(client.call(f"{api}/photos")["photos"]), "the API shows no photos")

    userinfo = f"{client.issuer}/oauth2/userinfo"
    copy = client.copy("copied-tokens")
    expect(client.logout()["revoked"] is True, "the tokens were not revoked")
    expect(status(userinfo, first) == 401, "the server takes an access token that was revoked")
    said = copy.run("call", userinfo, wanted=SIGN_IN_AGAIN)
    expect("ended" in said, f"a refresh token that was revoked: {said}")
    client.run("token", wanted=SIGN_IN_AGAIN)


def refuse_forged_answers(client: Client, person: Person) -> None:
    """An answer with another state does not count; one in the name of another server ends the sign-in."""
    with client.waiting(*ASKED) as login:
        expect(login.answer(code="forged", state="another") >= 400, "an answer with another state was taken")
        person.sign_in(login.address)
        login.end()
    with client.waiting(*ASKED) as login:
        login.answer(code="forged", iss="https://id.example.com")
        login.end(UNSAFE)
    with client.waiting(*ASKED) as login:
        login.answer(error="access_denied", iss=client.issuer)
        login.end(REFUSED)


def register_itself(client: Client, notes: Notes) -> None:
    """The URL of an MCP server is enough to sign in, and the same registration is used until the server forgets it."""
    client.login_at(notes.url)
    (first,) = notes.server.self_registered()
    call(client, notes, "list_notes", wanted="")
    call(client, notes, "add_note", "--step-up", wanted="added", text="Milk")
    call(client, notes, "list_notes", wanted="Milk")
    client.login_at(notes.url)
    expect(notes.server.self_registered() == [first], "it registered itself a second time")

    for words in ([], ["--par", "never"]):
        notes.server.end_unregistered(first)
        client.login_at(notes.url, *words)
        (again,) = notes.server.self_registered()
        expect(again != first, "it has the identifier of the ended registration")
        call(client, notes, "list_notes", wanted="Milk")
        first = again


def call(client: Client, notes: Notes, tool: str, *words: str, wanted: str, **arguments: str) -> None:
    """Calls a tool of the MCP server, which has to give this text."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    said = client.run(
        *("call", notes.url, "--header", "Content-Type: application/json", "--data", json.dumps(message)), *words
    )
    text = json.loads(said)["result"]["content"][0]["text"]
    expect(text == wanted, f"{tool} gave “{text}”")


if __name__ == "__main__":
    sys.exit(drive(journey))
