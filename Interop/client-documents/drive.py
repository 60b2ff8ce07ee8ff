#!/usr/bin/env python3
"""A client in plain Python signs in at our server by its document, and by a registration that ends meanwhile.

On loopback every port matches, whether the document names one or none. A document
that breaks a rule is refused, and so is the client after the end of its registration.
"""

from __future__ import annotations

import base64
import hashlib
import json
import queue
import secrets
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import own_network  # noqa: E402
from local_servers import MISSING, Failed, drive, expect, free_ports  # noqa: E402
from notes import READING, Documents, Notes, documents  # noqa: E402
from our_client import metadata, status  # noqa: E402
from person import ErrorPage, Person, noting  # noqa: E402

SECONDS = 30


@dataclass(frozen=True)
class Answer:
    """A response of a server, with its JSON."""

    status: int
    fields: Any
    body: dict[str, Any]


def ask(
    url: str, form: dict[str, str] | None = None, document: dict[str, Any] | None = None, token: str | None = None
) -> Answer:
    """Posts a form or a JSON document to an address."""
    request = urllib.request.Request(url, method="POST")
    if form is not None:
        request.data = urllib.parse.urlencode(form).encode()
    if document is not None:
        request.data = json.dumps(document).encode()
        request.add_header("Content-Type", "application/json")
    if token is not None:
        request.add_header("Authorization", f"Bearer {token}")
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=SECONDS) as answer:
            return Answer(answer.status, answer.headers, json.loads(answer.read() or b"{}"))
    except urllib.error.HTTPError as answer:
        return Answer(answer.code, answer.headers, json.loads(answer.read() or b"{}"))


class Listener:
    """The loopback server of a client, which receives the authorization response."""

    def __init__(self) -> None:
        responses: queue.SimpleQueue[dict[str, str]] = queue.SimpleQueue()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:  # noqa: N802 - the name is that of the library
                responses.put(dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query)))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._responses = responses
        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_port

    @contextmanager
    def serving(self) -> Iterator[None]:
        thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()

    def response(self) -> dict[str, str]:
        return self._responses.get(timeout=SECONDS)


class Program:
    """A client that knows the URL of an MCP server alone."""

    def __init__(self, notes: Notes, person: Person, listener: Listener) -> None:
        self.notes = notes
        self.redirect_uri = f"http://localhost:{listener.port}/callback"
        self._person = person
        self._listener = listener
        self._issuer = self._found_issuer()
        self.server = metadata(self._issuer)

    def _found_issuer(self) -> str:
        """The server that the metadata of the API name, to which the first refusal leads (RFC 9728 §5.1)."""
        refused = ask(self.notes.url, document={})
        expect(refused.status == 401, f"without a token the MCP server answered {refused.status}")
        _, _, place = refused.fields["WWW-Authenticate"].partition('resource_metadata="')
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(place.partition('"')[0], timeout=SECONDS) as answer:
            described = json.load(answer)
        expect(described["resource"] == self.notes.url, f"the metadata are of {described['resource']}")
        return str(described["authorization_servers"][0])

    def register(self) -> dict[str, Any]:
        """Registers the client (RFC 7591 §3); the response."""
        answer = ask(self.server["registration_endpoint"], document={
            "client_name": "Plain Python", "redirect_uris": ["http://localhost/callback"],
            "grant_types": ["authorization_code", "refresh_token"], "token_endpoint_auth_method": "none",
            "application_type": "native",
        })
        expect(answer.status == 201, f"the registration was answered with {answer.status}: {answer.body}")
        expect("no-store" in answer.fields.get("Cache-Control", ""), "the registration may be cached")
        return answer.body

    def code(self, client_id: str, redirect_uri: str | None = None) -> dict[str, str]:
        """Lets the user allow the client something; the form that redeems the code."""
        verifier, state = secrets.token_urlsafe(48), secrets.token_urlsafe(24)
        digest = hashlib.sha256(verifier.encode()).digest()
        asked = {
            "response_type": "code", "client_id": client_id, "redirect_uri": redirect_uri or self.redirect_uri,
            "state": state, "scope": f"{READING} offline_access", "resource": self.notes.url,
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(), "code_challenge_method": "S256",
        }
        self._person.agreed = False
        self._person.sign_in(f"{self.server['authorization_endpoint']}?{urllib.parse.urlencode(asked)}")
        response = self._listener.response()
        expect(self._person.agreed, "the user was not asked")
        expect(response.get("state") == state and response.get("iss") == self._issuer, f"the answer has {response}")
        return {
            "grant_type": "authorization_code", "code": response["code"], "redirect_uri": asked["redirect_uri"],
            "client_id": client_id, "code_verifier": verifier, "resource": self.notes.url,
        }

    def redeem(self, form: dict[str, str]) -> Answer:
        return ask(self.server["token_endpoint"], form)

    def sign_in(self, client_id: str) -> dict[str, Any]:
        """Signs in and calls a tool; the token response."""
        answer = self.redeem(self.code(client_id))
        expect(answer.status == 200, f"the code was answered with {answer.status}: {answer.body}")
        called = ask(self.notes.url, token=answer.body["access_token"], document={
            "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_notes", "arguments": {}},
        })
        expect(called.status == 200 and "result" in called.body, f"the tool answered {called.status}: {called.body}")
        return answer.body

    def is_refused(self, client_id: str, why: str, redirect_uri: str | None = None) -> None:
        """Expects a page with an error, and no redirect (RFC 6749 §4.1.2.1)."""
        try:
            self.code(client_id, redirect_uri)
        except ErrorPage as page:
            expect(page.status == 400, f"{why} was answered with {page.status}")
            return
        raise Failed(f"{why} was accepted")


def sign_in_by_document(program: Program, published: Documents) -> None:
    """Every port of the device matches, whether the document names none or another one."""
    without = published.publish("/without-port.json", "Without port", "http://localhost/callback")
    (other,) = free_ports(1)
    fixed = published.publish("/fixed-port.json", "Fixed port", f"http://localhost:{other}/callback")
    expect(program.server["client_id_metadata_document_supported"] is True, "the metadata do not say it")
    for client_id in (without, fixed):
        tokens = program.sign_in(client_id)
        refreshed = program.redeem({
            "grant_type": "refresh_token", "refresh_token": tokens["refresh_token"], "client_id": client_id,
            "resource": program.notes.url,
        })
        expect(refreshed.status == 200, f"the refresh was answered with {refreshed.status}: {refreshed.body}")

    program.is_refused(without, "another path", program.redirect_uri.replace("/callback", "/elsewhere"))
    program.is_refused(without, "another host", program.redirect_uri.replace("localhost", "127.0.0.1"))
    form = program.code(without)
    stolen = program.redeem({**form, "client_id": fixed})
    expect(stolen.body.get("error") == "invalid_grant", f"a code of another client gave {stolen.body}")


def refuse_documents(program: Program, published: Documents) -> None:
    """A document of another URL, one with a secret, none, and what is no document."""
    uri = "http://localhost/callback"
    for path, why, more in (
        ("/copied.json", "a document of another URL", {"client_id": "https://client.example.com/client.json"}),
        ("/secret.json", "a document with a secret", {"client_secret": "not-a-secret"}),
        ("/basic.json", "a document with client_secret_basic", {"token_endpoint_auth_method": "client_secret_basic"}),
    ):
        program.is_refused(published.publish(path, "Refused", uri, **more), why)
    present = published.publish("/present.json", "Present", uri)
    program.is_refused(present.replace("present", "missing"), "a document that does not exist")
    program.is_refused(present.replace("https:", "http:"), "a document without TLS")


def register_again(program: Program) -> None:
    """The registration ends; the client learns of it at every endpoint, and registers again."""
    first = program.register()
    client_id = first["client_id"]
    tokens = program.sign_in(client_id)
    once = program.code(client_id)
    expect(program.redeem(once).status == 200, "the second code was refused")
    twice = program.redeem(once)
    expect(twice.body.get("error") == "invalid_grant", f"a code that came twice gave {twice.body}")
    manages = first["registration_client_uri"], first["registration_access_token"]
    expect(status(*manages) == 200, "the client cannot read its registration")

    program.notes.server.end_unregistered(client_id)
    refused = program.redeem({
        "grant_type": "refresh_token", "refresh_token": tokens["refresh_token"], "client_id": client_id,
        "resource": program.notes.url,
    })
    expect(refused.body.get("error") == "invalid_client", f"the refresh was answered with {refused.body}")
    program.is_refused(client_id, "a client whose registration has ended")
    expect(status(*manages) == 401, "the client can still read its registration")

    again = program.register()["client_id"]
    expect(again != client_id, "the new registration has the identifier of the old one")
    program.sign_in(again)


def journey(folder: Path) -> str:
    password = secrets.token_urlsafe(18)
    notes = Notes(folder, "alice", password)
    person = Person("alice", password, note=noting(folder / "person.log"))
    listener = Listener()
    with documents(folder, True) as published, notes.serving(), listener.serving():
        assert published is not None
        program = Program(notes, person, listener)
        sign_in_by_document(program, published)
        refuse_documents(program, published)
        register_again(program)
    return "plain Python: documents without a port and with another one; a registration that ended, and a new one"


if __name__ == "__main__":
    if not own_network.enter():
        print("a public host on this machine needs root and a network of its own")
        sys.exit(MISSING)
    sys.exit(drive(journey, ("openssl",)))
