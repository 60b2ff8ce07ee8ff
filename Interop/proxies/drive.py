#!/usr/bin/env python3
"""Our server behind nginx, HAProxy, Caddy and Apache, each with its configuration in Server/Packaging/proxies.

A user signs in through each of them. A client cannot choose its address or the identifiers in the log, a large body is
refused and a long request target is not, and a POST request whose connection to the server breaks is not sent a second
time.
"""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import secrets
import ssl
import sys
import threading
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))
from apache import Authority  # noqa: E402
from local_servers import Counterfoil, drive, expect, free_ports, products  # noqa: E402
from person import Person, noting  # noqa: E402
from proxies import PROXIES, Place, Proxy  # noqa: E402

SCOPES = ["openid", "profile", "offline_access"]
CALLBACK = "http://127.0.0.1/callback"
#: The address of the client, which is that of no proxy; and those that it pretends to have.
CLIENT, FORGED = "127.0.0.2", ("203.0.113.7", "203.0.113.8")
#: The identifiers that a client sends in each request, and that only a proxy may choose.
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
IDENTIFIERS = {"X-Request-ID": "forged-request", "traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}


class Client:
    """A client that connects to a proxy from its own address."""

    def __init__(self, port: int, authority: Authority) -> None:
        self._port = port
        self._context = ssl.create_default_context(cafile=authority.certificate)

    def send(self, method: str, path: str, body: bytes | None = None, **fields: str) -> tuple[int, bytes]:
        """Sends a request on a new connection; the status and the content of the response."""
        connection = http.client.HTTPSConnection(
            "localhost", self._port, context=self._context, timeout=30, source_address=(CLIENT, 0)
        )
        try:
            headers = {name.replace("_", "-"): value for name, value in fields.items()}
            connection.request(method, path, body, {**IDENTIFIERS, **headers})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def post(self, path: str, form: dict[str, str]) -> tuple[int, dict[str, str]]:
        """Sends a form, and reads the JSON of the response."""
        status, content = self.send(
            "POST", path, urllib.parse.urlencode(form).encode(), Content_Type="application/x-www-form-urlencoded"
        )
        return status, dict(json.loads(content))


class Breaking(ThreadingTCPServer):
    """A server that reads each POST request and closes the connection without a response, and answers GET requests."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self) -> None:
        self.posts = 0
        super().__init__(("127.0.0.1", 0), BreakingConnection)


class BreakingConnection(StreamRequestHandler):
    """A connection of that server."""

    server: Breaking

    def handle(self) -> None:
        while line := self.rfile.readline():
            length = 0
            while (field := self.rfile.readline().strip()) != b"":
                name, _, value = field.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            self.rfile.read(length)
            if line.startswith(b"POST"):
                self.server.posts += 1
                return
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


def journey(folder: Path) -> str:
    authority = Authority(folder / "tls", ["localhost"])
    folder.chmod(0o711)
    passed = []
    for proxy in PROXIES:
        sign_in_through(proxy, authority, folder)
        send_no_request_twice(proxy, authority, folder)
        passed.append(f"{proxy.name} {proxy.version()}")
    return f"{', '.join(passed)}: signed in; no forged address or identifier, no large body, no POST request twice"


def place_for(proxy: Proxy, purpose: str, server: int, authority: Authority, folder: Path) -> Place:
    """A folder and a port for a proxy."""
    own = folder / f"{proxy.name}-{purpose}"
    own.mkdir()
    own.chmod(0o711)
    return Place(free_ports(1)[0], server, authority, own, twice=purpose == "breaking")


def sign_in_through(proxy: Proxy, authority: Authority, folder: Path) -> None:
    """The whole flow through a proxy, and the address that the server has seen."""
    upstream = free_ports(1)[0]
    place = place_for(proxy, "server", upstream, authority, folder)
    issuer = f"https://localhost:{place.port}"
    server = Counterfoil(
        place.folder / "data", products(), upstream, issuer=issuer,
        options=["--log-format", "json", "--log-level", "debug"],
    )
    password = secrets.token_urlsafe(18)
    server.create_person("alice", password)
    client_id = server.create_application("Lightbox", CALLBACK, SCOPES)
    person = Person("alice", password, stop=CALLBACK.rsplit("/", 1)[0], note=noting(folder / "person.log"),
                    authority=authority.certificate, source=CLIENT)
    person.headers = {"X-Forwarded-For": FORGED[0], **IDENTIFIERS}
    client = Client(place.port, authority)
    log = folder / f"{proxy.name}-server.log"
    with server.serving(log), proxy.running(place, folder / f"{proxy.name}.log"):
        _, metadata = client.send("GET", "/.well-known/openid-configuration", Forwarded=f"for={FORGED[1]}")
        expect(json.loads(metadata)["issuer"] == issuer, f"{proxy.name}: the issuer is another one")
        tokens = sign_in(client, client_id, issuer, person)
        status, claims = client.send("GET", "/oauth2/userinfo", Authorization=f"Bearer {tokens['access_token']}")
        expect(status == 200 and json.loads(claims)["preferred_username"] == "alice", f"{proxy.name}: UserInfo {status}")
        status, refreshed = client.post("/oauth2/token", {
            "grant_type": "refresh_token", "refresh_token": tokens["refresh_token"], "client_id": client_id,
        })
        expect(status == 200 and refreshed["access_token"] != tokens["access_token"], f"{proxy.name}: {refreshed}")
        limits(proxy, client)
    believes_no_identifier(proxy, log)
    sources = {event.get("source") for event in json.loads(server.administer("audit", "list", "--json"))}
    expect(CLIENT in sources, f"{proxy.name}: the server has seen the addresses {sources}")
    expect(sources.isdisjoint(FORGED), f"{proxy.name}: the server believed a client: {sources}")


def believes_no_identifier(proxy: Proxy, log: Path) -> None:
    """The server has logged its requests under no identifier that the client sent."""
    lines = log.read_text("utf-8")
    expect('"request":' in lines, f"{proxy.name}: the server has logged no request")
    for forged in (IDENTIFIERS["X-Request-ID"], TRACE):
        expect(forged not in lines, f"{proxy.name}: the server has logged “{forged}”, which a client sent")


def sign_in(client: Client, client_id: str, issuer: str, person: Person) -> dict[str, str]:
    """An authorization code flow with PKCE."""
    verifier, state = secrets.token_urlsafe(48), secrets.token_urlsafe(16)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    redirect_uri = "http://127.0.0.1:49152/callback"
    request = urllib.parse.urlencode({
        "response_type": "code", "client_id": client_id, "redirect_uri": redirect_uri, "scope": " ".join(SCOPES),
        "state": state, "code_challenge": challenge, "code_challenge_method": "S256", "prompt": "consent",
    })
    answer = person.sign_in(f"{issuer}/oauth2/authorize?{request}")
    parameters = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(answer).query))
    expect(parameters.get("state") == state and parameters.get("iss") == issuer, f"the answer is {sorted(parameters)}")
    status, tokens = client.post("/oauth2/token", {
        "grant_type": "authorization_code", "code": parameters["code"], "redirect_uri": redirect_uri,
        "client_id": client_id, "code_verifier": verifier,
    })
    expect(status == 200, f"the token endpoint answered {status}: {tokens.get('error')}")
    return tokens


def limits(proxy: Proxy, client: Client) -> None:
    """A request target that the server accepts comes through, and a body that it would refuse does not."""
    status, page = client.send("GET", f"/oauth2/authorize?client_id=unknown&state={'s' * 30_000}")
    expect(status == 400 and b"<html" in page, f"{proxy.name}: a request target of 30 KB was answered with {status}")
    try:
        status, _ = client.send("POST", "/oauth2/token", b"a" * (2 << 20))
    except OSError:  # The proxy answered and closed the connection while the client was sending.
        status = 413
    # Caddy notices it while it forwards the body, and answers 502 if the connection to the server broke first.
    expect(status == 413 or (proxy.name, status) == ("caddy", 502), f"{proxy.name}: a body of 2 MiB: {status}")


def send_no_request_twice(proxy: Proxy, authority: Authority, folder: Path) -> None:
    """A POST request whose connection breaks arrives once, on a new connection and on one that was used before."""
    with breaking_server() as server:
        place = place_for(proxy, "breaking", server.server_address[1], authority, folder)
        client = Client(place.port, authority)
        with proxy.running(place, folder / f"{proxy.name}-breaking.log"):
            for used_before in (False, True):
                before = server.posts
                if used_before:
                    expect(client.send("GET", "/")[0] == 200, f"{proxy.name}: no answer")
                status, _ = client.send("POST", "/oauth2/token", b"code=c")
                expect(status in (500, 502, 503), f"{proxy.name}: a broken connection was answered with {status}")
                expect(server.posts == before + 1, f"{proxy.name} sent a POST request {server.posts - before} times")


@contextmanager
def breaking_server() -> Iterator[Breaking]:
    """That server, until the block ends."""
    with Breaking() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


if __name__ == "__main__":
    sys.exit(drive(journey, ("openssl", *(proxy.program for proxy in PROXIES))))
