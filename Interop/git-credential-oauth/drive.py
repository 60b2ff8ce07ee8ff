#!/usr/bin/env python3
"""git-credential-oauth signs a person in at our server and gives git an access token.

It brings PKCE and a free port; its redirect URI is `http://127.0.0.1:PORT`, without a path.
"""

from __future__ import annotations

import base64
import json
import secrets
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from local_servers import Counterfoil, Failed, drive, expect, person_environment, products  # noqa: E402


def credential(server: Counterfoil, client_id: str, environment: dict[str, str]) -> dict[str, str]:
    """Asks for a credential as git does, and returns its lines."""
    settings = {
        "oauthClientId": client_id,
        "oauthAuthURL": "/oauth2/authorize",
        "oauthTokenURL": "/oauth2/token",
        "oauthScopes": "profile",
    }
    for name, value in settings.items():
        subprocess.run(
            ["git", "config", "--global", f"credential.{server.issuer}.{name}", value], env=environment, check=True
        )
    asked = f"protocol=http\nhost=127.0.0.1:{server.port}\n\n"
    result = subprocess.run(
        ["git-credential-oauth", "get"], input=asked, env=environment, capture_output=True, text=True, timeout=60
    )
    if result.returncode != 0:
        raise Failed(f"git-credential-oauth ended with {result.returncode}:\n{result.stderr}")
    return dict(line.split("=", 1) for line in result.stdout.splitlines() if "=" in line)


def access_token_client(token: str) -> str:
    """The application that a JWT access token names, unverified: the test asks only whose token git received."""
    payload = token.split(".")[1]
    return str(json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["client_id"])


def journey(folder: Path) -> str:
    password = secrets.token_urlsafe(18)
    server = Counterfoil(folder / "data", products())
    server.create_person("alice", password)
    client_id = server.create_application("git", "http://127.0.0.1", ["profile"])
    environment = person_environment(folder, "alice", password)
    environment.update(HOME=str(folder), GIT_CONFIG_NOSYSTEM="1", XDG_CONFIG_HOME=str(folder))
    environment.pop("GIT_CONFIG_GLOBAL", None)
    with server.serving(folder / "server.log"):
        lines = credential(server, client_id, environment)
    token = lines.get("password", "")
    expect(bool(token), f"no password in the credential, only {sorted(lines)}")
    expect(access_token_client(token) == client_id, "the access token names another application")
    return f"git-credential-oauth: signed in, git received an access token for {lines.get('username', 'oauth2')}"


if __name__ == "__main__":
    sys.exit(drive(journey, ("git", "git-credential-oauth")))
