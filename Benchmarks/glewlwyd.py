"""glewlwyd, an authorization server written in C, set up to do the same work as ours."""

from __future__ import annotations

import gzip
import json
import subprocess
import urllib.error
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


def set_up(port: int) -> dict[str, Any]:
    """Configures a running server through its own interface, and returns the target for the load generator."""
    base = f"http://localhost:{port}/api"
    jar = CookieJar()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(jar))

    def call(method: str, path: str, body: dict[str, Any]) -> None:
        request = urllib.request.Request(
            base + path, json.dumps(body).encode(), {"Content-Type": "application/json"}, method=method
        )
        try:
            opener.open(request, timeout=30).close()
        except urllib.error.HTTPError as refusal:
            raise RuntimeError(f"glewlwyd answers {method} {path} with {refusal.code}: {refusal.read(300)!r}") from None

    def openssl(*words: str, text: str | None = None) -> str:
        return subprocess.run(["openssl", *words], input=text, capture_output=True, text=True, check=True).stdout

    # The password of a new database.
    call("POST", "/auth/", {"username": "admin", "password": "password"})
    key = openssl("ecparam", "-genkey", "-name", "prime256v1", "-noout")
    call("POST", "/mod/plugin/", plugin(port, key, openssl("ec", "-pubout", text=key)))
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
    person = {"username": "alice", "password": "alice-password"}
    profile = {"name": "Alice", "email": "alice@example.com", "enabled": True, "scope": ["g_profile", "openid"]}
    call("POST", "/user/", {**person, **profile})
    jar.clear()
    call("POST", "/auth/", person)
    call("PUT", f"/auth/grant/{CLIENT_ID}/", {"scope": "openid"})
    return {
        "port": port,
        "host": f"localhost:{port}",
        "authorize_path": "/api/oidc/auth",
        "token_path": "/api/oidc/token",
        "discovery_path": "/api/oidc/.well-known/openid-configuration",
        "client_id": CLIENT_ID,
        "redirect_uri": REDIRECT_URI,
        "scope": "openid",
        "cookie": "; ".join(f"{cookie.name}={cookie.value}" for cookie in jar),
        # Its way to say that the person has seen the sign-in page.
        "more_parameters": {"g_continue": ""},
    }


def plugin(port: int, key: str, public_key: str) -> dict[str, Any]:
    """OpenID Connect with ES256, PKCE for public clients, codes that revoke when they are replayed."""
    parameters = {
        "iss": f"http://localhost:{port}/api/oidc",
        "jwt-type": "ecdsa",
        "jwt-key-size": "256",
        "key": key,
        "cert": public_key,
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
        "auth-type-client-enabled": False,
        "auth-type-device-enabled": False,
        "auth-type-refresh-enabled": True,
        "pkce-allowed": True,
        "pkce-method-plain-allowed": False,
        "pkce-required": False,
        "pkce-required-public-client": True,
        "pkce-scopes": [],
        "introspection-revocation-allowed": False,
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
    }
    return {"module": "oidc", "name": "oidc", "display_name": "OIDC", "enabled": True, "parameters": parameters}
