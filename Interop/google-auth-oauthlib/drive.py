#!/usr/bin/env python3
"""google-auth-oauthlib's InstalledAppFlow signs a person in at our server and calls the sample API.

The application listens on a free port of `http://localhost`, and calls the API in the person's name.
"""

from __future__ import annotations

import importlib.metadata
import os
import secrets
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from local_servers import (  # noqa: E402
    Counterfoil,
    Failed,
    drive,
    person_environment,
    photo_library,
    products,
)

# Its HTTP library refuses http; the server of this test is on loopback.
os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"

SCOPES = ["openid", "profile", "photos.read"]


def sign_in(server: Counterfoil, client_id: str, api: str) -> str:
    """Runs the flow as its documentation shows it, and returns what the API answered."""
    from google.auth.transport.requests import AuthorizedSession
    from google_auth_oauthlib.flow import InstalledAppFlow

    flow = InstalledAppFlow.from_client_config(
        {
            "installed": {
                "client_id": client_id,
                "client_secret": "",
                "auth_uri": f"{server.issuer}/oauth2/authorize",
                "token_uri": f"{server.issuer}/oauth2/token",
            }
        },
        scopes=SCOPES,
        autogenerate_code_verifier=True,
    )
    credentials = flow.run_local_server(port=0, timeout_seconds=60, authorization_prompt_message=None)
    if not credentials.token or not credentials.id_token:
        raise Failed("the flow ended without an access token or without an ID token")
    answer = AuthorizedSession(credentials).get(f"{api}/photos", timeout=30)
    if answer.status_code != 200:
        raise Failed(f"the API answered {answer.status_code}: {answer.text[:200]}")
    return answer.text


def journey(folder: Path) -> str:
    password = secrets.token_urlsafe(18)
    server = Counterfoil(folder / "data", products())
    server.create_person("alice", password)
    server.create_scope("photos.read", "See your photos and albums")
    client_id = server.create_application("Lightbox", "http://localhost/", SCOPES)
    os.environ.update(person_environment(folder, "alice", password))
    with server.serving(folder / "server.log"), photo_library(products(), server.issuer, folder / "api.log") as api:
        photos = sign_in(server, client_id, api)
    version = importlib.metadata.version("google-auth-oauthlib")
    return f"google-auth-oauthlib {version}: signed in, the API answered {len(photos)} bytes"


if __name__ == "__main__":
    sys.exit(drive(journey))
