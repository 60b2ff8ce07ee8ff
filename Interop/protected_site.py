"""A small HTTP server on this machine that requires tokens of our server."""

from __future__ import annotations

import base64
import json
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from apache import Authority


def user_of(issuer: str, token: str) -> str | None:
    """The name of the user of an access token, from UserInfo; None if the server rejects the token."""
    request = urllib.request.Request(f"{issuer}/oauth2/userinfo", headers={"Authorization": f"Bearer {token}"})
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as answer:
            return str(json.load(answer).get("preferred_username"))
    except urllib.error.HTTPError:
        return None


def claims_of(token: str) -> dict[str, object]:
    """The claims of a JWT, or none if it is not one; its signature is a matter of other drivers."""
    try:
        payload = token.split(".")[1]
        return dict(json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))))
    except (IndexError, ValueError):
        return {}


def is_for(token: str, site: str) -> bool:
    """Whether an access token is for one API only, and has not expired."""
    claims = claims_of(token)
    audience = claims.get("aud")
    return audience in (site, [site]) and float(str(claims.get("exp", 0))) > time.time()


class Handler(BaseHTTPRequestHandler):
    """A handler that knows the credentials of a request."""

    protocol_version = "HTTP/1.1"

    @property
    def bearer(self) -> str:
        """The Bearer token of the request; empty if there is none."""
        scheme, _, value = self.headers.get("Authorization", "").partition(" ")
        return value if scheme.lower() == "bearer" else ""

    @property
    def basic(self) -> tuple[str, str]:
        """The user name and the password of the request; empty if there are none."""
        scheme, _, value = self.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "basic":
            return "", ""
        name, _, password = base64.b64decode(value).decode("utf-8", "replace").partition(":")
        return name, password

    def body(self) -> bytes:
        """The body of the request, with or without its length beforehand."""
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        chunks = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def respond(self, status: int, body: bytes = b"", kind: str = "application/json", **fields: str) -> None:
        """Sends a response; the names of header fields are written with `_` for `-`."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Logs nothing."""


@contextmanager
def protected_site(handler: type[Handler], authority: Authority | None = None) -> Iterator[int]:
    """A server on a free port, with TLS where there is an authority, for as long as the block runs; the port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    if authority is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(authority.site_certificate, authority.site_key)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
