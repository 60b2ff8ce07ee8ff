"""The example MCP server behind our server, which accepts clients that no user registered."""

from __future__ import annotations

import json
import os
import ssl
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import own_network
from apache import Authority
from local_servers import Counterfoil, expect, free_ports, products, running

READING, WRITING = "notes.read", "notes.write"
DOCUMENT_HOST = "app.counterfoil.test"


class Notes:
    """Our server with one user, and the MCP server with the notes of users."""

    def __init__(self, folder: Path, name: str, password: str) -> None:
        self.port, port = free_ports(2)
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        accepted = ["--unregistered-clients", "both"]
        self.server = Counterfoil(folder / "notes-data", products(), port, options=accepted)
        self._folder = folder
        self.server.create_person(name, password)
        # An unregistered client can request only scopes that the metadata of the server list.
        self.server.create_scope(READING, "Read your notes", "--listed")
        self.server.create_scope(WRITING, "Add notes", "--listed")
        self.server.create_resource(self.url, "Notes", [READING, WRITING])

    @contextmanager
    def serving(self, *options: str) -> Iterator[None]:
        """Both servers, for as long as the block runs; `options` are those of the MCP server."""
        place = ["--issuer", self.server.issuer, "--audience", self.url, "--listen", f"127.0.0.1:{self.port}"]
        ready = f"http://127.0.0.1:{self.port}/.well-known/oauth-protected-resource/mcp"
        with ExitStack() as stack:
            stack.enter_context(self.server.serving(self._folder / "notes-server.log"))
            command = [str(products() / "mcp-server"), *place, *options]
            stack.enter_context(running(command, ready, self._folder / "mcp-server.log"))
            yield


class Documents:
    """A web server with the documents of clients, behind TLS."""

    def __init__(self, name: str, address: str, authority: Authority) -> None:
        documents: dict[str, bytes] = {}

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:  # noqa: N802 - the name is that of the library
                document = documents.get(self.path)
                self.send_response(404 if document is None else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(document or b"")))
                self.end_headers()
                self.wfile.write(document or b"")

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            def finish_request(self, request: Any, client_address: Any) -> None:
                # The handshake belongs to the thread of the connection, and not to that which accepts connections.
                with context.wrap_socket(request, server_side=True) as secured:
                    super().finish_request(secured, client_address)

            def handle_error(self, *_: object) -> None:
                pass

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(authority.site_certificate, authority.site_key)
        self._documents = documents
        self._server = Server((address, 0), Handler)
        self._origin = f"https://{name}:{self._server.server_port}"

    def publish(self, path: str, name: str, *redirect_uris: str, **more: object) -> str:
        """Publishes the document of a public client; its URL, which is the `client_id`."""
        url = f"{self._origin}{path}"
        document = {
            "client_id": url,
            "client_name": name,
            "redirect_uris": list(redirect_uris),
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            **more,
        }
        self._documents[path] = json.dumps(document).encode()
        return url

    @contextmanager
    def serving(self) -> Iterator[None]:
        """The web server, for as long as the block runs."""
        thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()


@contextmanager
def documents(folder: Path, isolated: bool) -> Iterator[Documents | None]:
    """The web server with the documents, for as long as the block runs; None without a network of its own.

    Our server fetches documents from public hosts only.
    """
    if not isolated:
        yield None
        return
    authority = Authority(folder / "tls", [DOCUMENT_HOST])
    address = own_network.be_known_as([DOCUMENT_HOST], authority.certificate, folder)
    try:
        published = Documents(DOCUMENT_HOST, address, authority)
        with published.serving():
            yield published
    finally:
        own_network.be_unknown()


def without_documents(isolated: bool) -> str:
    """What a driver adds to its result if it could not publish documents; a failure in continuous integration."""
    if isolated:
        return ""
    expect(os.environ.get("CI") != "true", "no network of its own, so that client documents were not tried")
    return "; client documents left out, which need root and a network of their own"
