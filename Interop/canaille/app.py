#!/usr/bin/env python3
"""canaille with OpenID Connect on a database of its own.

Serves on a free port of this machine, prints its address, and runs until it is stopped:

    app.py DATABASE PASSWORD_FILE SECRET_FILE REDIRECT_URI     one person, alice; a public application, `lightbox`, and
                                                               `darkroom`, whose secret is in the file
"""

from __future__ import annotations

import datetime
import secrets
import sys
from pathlib import Path
from typing import Any

from canaille import create_app
from canaille.app import models
from canaille.backends import Backend
from canaille.oidc.provider import BearerTokenGenerator
from flask import Flask
from joserfc.jwk import ECKey, RSAKey
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

# Of the access token that comes with a sign-in, in seconds; a refresh gives one that lives longer.
LIFETIME = 5
SCOPES = ["openid", "profile", "email", "offline_access"]


class Quiet(WSGIRequestHandler):
    """One line a request, without its query: addresses carry codes."""

    def log_request(self, code: object = "-", size: object = "-") -> None:
        sys.stderr.write(f"{self.command} {self.path.split('?')[0]} {code}\n")


def configuration(database: str, port: int) -> dict[str, Any]:
    """The settings of the site; it wants a key for RS256 even where nothing is signed with it."""
    keys = [ECKey.generate_key("P-256", auto_kid=True), RSAKey.generate_key(2048, auto_kid=True)]
    return {
        "SECRET_KEY": secrets.token_urlsafe(32),
        "SERVER_NAME": f"localhost:{port}",
        "PREFERRED_URL_SCHEME": "http",
        "SESSION_COOKIE_SECURE": False,
        "CANAILLE": {"DATABASE": "sql"},
        "CANAILLE_SQL": {"DATABASE_URI": f"sqlite:///{database}", "AUTO_MIGRATE": True},
        "CANAILLE_OIDC": {"ACTIVE_JWKS": [key.as_dict(private=True) for key in keys]},
    }


def populate(app: Flask, password: str, secret: str, redirect_uri: str) -> None:
    """One person and two applications."""
    with app.app_context():
        backend = Backend.instance
        alice = {"user_name": "alice", "family_name": "Alice", "emails": ["alice@example.com"]}
        backend.save(models.User(**alice, password=password))
        for client_id, method, shared in (("lightbox", "none", None), ("darkroom", "client_secret_basic", secret)):
            client = models.Client(
                client_id=client_id,
                client_name=client_id.title(),
                client_id_issued_at=datetime.datetime.now(datetime.timezone.utc),
                client_secret=shared,
                # People are not asked what an application on a host that it trusts may do; this machine is one.
                client_uri="https://lightbox.example.com",
                redirect_uris=[redirect_uri],
                grant_types=["authorization_code", "refresh_token"],
                response_types=["code"],
                scope=SCOPES,
                token_endpoint_auth_method=method,
                # Two access tokens of one second, signed with RS256, are the same one, which its database refuses.
                id_token_signed_response_alg="ES256",
            )
            backend.save(client)
            client.audience = [client]
            backend.save(client)


def main() -> None:
    BearerTokenGenerator.GRANT_TYPES_EXPIRES_IN = {"authorization_code": LIFETIME}
    database, password, secret, redirect_uri = sys.argv[1:]
    server: BaseWSGIServer = make_server("127.0.0.1", 0, Flask("unready"), threaded=True, request_handler=Quiet)
    app = create_app(configuration(database, server.port))
    populate(app, Path(password).read_text("utf-8").strip(), Path(secret).read_text("utf-8").strip(), redirect_uri)
    server.app = app
    print(f"http://localhost:{server.port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
