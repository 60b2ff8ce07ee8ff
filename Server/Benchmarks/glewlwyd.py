"""glewlwyd, an authorization server written in C, set up to do the same work as ours."""

from __future__ import annotations

import base64
import gzip
import json
import secrets
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

SETTINGS = Path("/etc/glewlwyd/glewlwyd.conf")
SCHEMA = Path("/usr/share/doc/glewlwyd/database/init.sqlite3.sql.gz")

# Replaced by our own lines below; the package's file has the rest: modules, limits, media types.
REPLACED = ("port", "external_url", "log_mode", "log_file", "log_level", "@include", "bind_address", "#")

REDIRECT_URI = "http://127.0.0.1:9999/callback"
CLIENT_ID = "bench"
CONFIDENTIAL_ID = "bench-web"
RESOURCE_ID = "bench-api"
# The scope with which an API may ask about tokens.
INTROSPECTION_SCOPE = "introspection"


def version() -> str:
    """The version of the installed package."""
    shown = subprocess.run(
        ["dpkg-query", "--show", "--showformat=${Version}", "glewlwyd"], capture_output=True, text=True
    )
    return shown.stdout.strip() or "unknown"


def prepare(folder: Path, port: int, write_ahead_log: bool) -> list[str]:
    """Makes the database and the settings; returns the command that serves them."""
    if not SETTINGS.exists() or not SCHEMA.exists():
        raise RuntimeError(f"{SETTINGS} or {SCHEMA} is missing: reinstall the package glewlwyd with its documentation")
    database = folder / "glewlwyd.db"
    subprocess.run(["sqlite3", str(database)], input=gzip.decompress(SCHEMA.read_bytes()), check=True)
    if write_ahead_log:
        subprocess.run(["sqlite3", str(database), "pragma journal_mode=wal"], check=True, capture_output=True)
    kept = [line for line in SETTINGS.read_text("utf-8").splitlines() if not line.startswith(REPLACED)]
    own = [
        f"port={port}",
        'bind_address="127.0.0.1"',
        f'external_url="http://localhost:{port}"',
        'log_mode="file"',
        f'log_file="{folder / "glewlwyd.log"}"',
        'log_level="WARNING"',
        f'database = {{ type="sqlite3"; path="{database}"; }};',
    ]
    settings = folder / "glewlwyd.conf"
    settings.write_text("\n".join([*kept, *own]) + "\n", "utf-8")
    return ["glewlwyd", f"--config-file={settings}"]


def first_address(port: int) -> str:
    """What a new database already answers."""
    return f"http://127.0.0.1:{port}/config"


def discovery_address(port: int) -> str:
    """What a database that is set up answers."""
    return f"http://127.0.0.1:{port}/api/oidc/.well-known/openid-configuration"


def basic(name: str, secret: str) -> str:
    """The `Authorization` field of RFC 7617; neither half has a character that RFC 6749 §2.3.1 would encode."""
    return "Basic " + base64.b64encode(f"{name}:{secret}".encode()).decode()


class Interface:
    """The API that configures a running server. It keeps the session of the last sign-in."""

    def __init__(self, port: int) -> None:
        self.base = f"http://localhost:{port}/api"
        self.cookies = CookieJar()
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(self.cookies)
        )

    def send(self, request: urllib.request.Request) -> bytes:
        """Sends a request; the body of the answer."""
        try:
            with self._opener.open(request, timeout=30) as answer:
                return bytes(answer.read())
        except urllib.error.HTTPError as refusal:
            what = f"{request.get_method()} {request.selector}"
            raise RuntimeError(f"glewlwyd answers {what} with {refusal.code}: {refusal.read(300)!r}") from None

    def call(self, method: str, path: str, body: dict[str, Any]) -> None:
        """Sends JSON to one of its addresses."""
        kind = {"Content-Type": "application/json"}
        self.send(urllib.request.Request(self.base + path, json.dumps(body).encode(), kind, method=method))

    def sign_in(self, person: dict[str, str]) -> None:
        """Signs in as one user and ends the session of the previous one."""
        self.cookies.clear()
        self.call("POST", "/auth/", person)

    def sign_in_as_administrator(self) -> None:
        """With the password of a new database."""
        self.sign_in({"username": "admin", "password": "password"})


def openssl(*words: str, text: str | None = None) -> str:
    """Runs openssl; what it printed."""
    return subprocess.run(["openssl", *words], input=text, capture_output=True, text=True, check=True).stdout


def set_up(port: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Configures a running server through its own interface.

    Returns the targets for the load generator: as a public application and as a confidential one.
    """
    interface = Interface(port)
    call = interface.call
    interface.sign_in_as_administrator()
    scope = {"name": INTROSPECTION_SCOPE, "display_name": INTROSPECTION_SCOPE, "description": "Ask about tokens"}
    call("POST", "/scope/", {**scope, "password_required": False, "scheme": {}})
    call("POST", "/mod/plugin/", plugin(port))
    application = {
        "client_id": CLIENT_ID,
        "name": CLIENT_ID,
        "enabled": True,
        "confidential": False,
        "scope": [],
        "redirect_uri": [REDIRECT_URI],
        "authorization_type": ["code", "refresh_token"],
        "token_endpoint_auth_method": ["none"],
    }
    call("POST", "/client/", application)
    secret, resource_secret = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    confidential = {**application, "confidential": True, "token_endpoint_auth_method": ["client_secret_basic"]}
    call("POST", "/client/", {
        **confidential, "client_id": CONFIDENTIAL_ID, "name": CONFIDENTIAL_ID, "client_secret": secret,
    })
    call("POST", "/client/", {
        **confidential, "client_id": RESOURCE_ID, "name": RESOURCE_ID, "client_secret": resource_secret,
        "scope": [INTROSPECTION_SCOPE], "authorization_type": ["client_credentials"],
    })
    person = {"username": "alice", "password": "alice-password"}
    profile = {"name": "Alice", "email": "alice@example.com", "enabled": True, "scope": ["g_profile", "openid"]}
    call("POST", "/user/", {**person, **profile})
    interface.sign_in(person)
    for client_id in (CLIENT_ID, CONFIDENTIAL_ID):
        call("PUT", f"/auth/grant/{client_id}/", {"scope": "openid"})

    # An API that asks about a token shows a token of its own; to one that shows its secret no other's token is active.
    wanted = urllib.parse.urlencode({"grant_type": "client_credentials", "scope": INTROSPECTION_SCOPE}).encode()
    given = json.loads(interface.send(urllib.request.Request(
        f"{interface.base}/oidc/token", wanted, {"Authorization": basic(RESOURCE_ID, resource_secret)}
    )))
    bearer = f"Bearer {given['access_token']}"
    target = {
        "port": port,
        "host": f"localhost:{port}",
        "authorize_path": "/api/oidc/auth",
        "token_path": "/api/oidc/token",
        "discovery_path": "/api/oidc/.well-known/openid-configuration",
        "revocation_path": "/api/oidc/revoke",
        "introspection_path": "/api/oidc/introspect",
        "introspection_authorization": bearer,
        "revocation_authorization": bearer,
        "client_id": CLIENT_ID,
        "redirect_uri": REDIRECT_URI,
        "scope": "openid",
        "cookie": "; ".join(f"{cookie.name}={cookie.value}" for cookie in interface.cookies),
        # Its way to say that the person has seen the sign-in page.
        "more_parameters": {"g_continue": ""},
    }
    return target, {**target, "client_id": CONFIDENTIAL_ID, "client_authorization": basic(CONFIDENTIAL_ID, secret)}


def plugin(port: int, **more: Any) -> dict[str, Any]:
    """OpenID Connect with ES256, PKCE for public clients, codes that revoke when they are replayed; and `more`."""
    key = openssl("ecparam", "-genkey", "-name", "prime256v1", "-noout")
    parameters = {
        "iss": f"http://localhost:{port}/api/oidc",
        "jwt-type": "ecdsa",
        "jwt-key-size": "256",
        "key": key,
        "cert": openssl("ec", "-pubout", text=key),
        "access-token-duration": 3600,
        "refresh-token-duration": 1209600,
        "code-duration": 600,
        "refresh-token-rolling": False,
        "refresh-token-one-use": "always",
        "allow-non-oidc": True,
        "auth-type-code-enabled": True,
        "auth-type-code-revoke-replayed": True,
        "auth-type-token-enabled": False,
        "auth-type-id-token-enabled": True,
        "auth-type-none-enabled": False,
        "auth-type-password-enabled": False,
        "auth-type-client-enabled": True,
        "auth-type-device-enabled": False,
        "auth-type-refresh-enabled": True,
        "pkce-allowed": True,
        "pkce-method-plain-allowed": False,
        "pkce-required": False,
        "pkce-required-public-client": True,
        "pkce-scopes": [],
        "introspection-revocation-allowed": True,
        "introspection-revocation-auth-scope": [INTROSPECTION_SCOPE],
        "introspection-revocation-allow-target-client": True,
        "register-client-allowed": False,
        "request-parameter-allow": False,
        "secret-type": "public",
        "subject-type": "public",
        "session-management-allowed": False,
        "allowed-scope": ["openid"],
        "oauth-par-allowed": False,
        "oauth-dpop-allowed": False,
        "oauth-as-iss-id": True,
        "jwks-show": True,
        **more,
    }
    return {"module": "oidc", "name": "oidc", "display_name": "OIDC", "enabled": True, "parameters": parameters}
