#!/usr/bin/env python3
"""requests-oauthlib signs a person in at our server, calls the sample API, and refreshes by itself.

It sends no `resource`, and fails if the response lacks a scope that it asked for: the token is for the registered API
and for UserInfo.

A code counts once and with its verifier only; a refresh gives a token of the same scope.
"""

from __future__ import annotations

import importlib.metadata
import os
import secrets
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from local_servers import Counterfoil, drive, expect, free_ports, photo_library, products  # noqa: E402
from person import Person, noting  # noqa: E402

# Its OAuth library refuses http; the server of this test is on loopback.
os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"

SCOPES = ["openid", "profile", "offline_access", "photos.read"]
PHOTOS = "https://photos.example.com"


def journey(folder: Path) -> str:
    password = secrets.token_urlsafe(18)
    server = Counterfoil(folder / "data", products())
    server.create_person("alice", password)
    server.create_scope("photos.read", "See your photos and albums")
    server.create_resource(PHOTOS, "Photo library", ["photos.read"])
    callback = f"http://127.0.0.1:{free_ports(1)[0]}/callback"
    client_id = server.create_application("Lightbox", "http://127.0.0.1/callback", SCOPES)
    person = Person("alice", password, stop=callback, note=noting(folder / "person.log"))
    library = photo_library(products(), server.issuer, folder / "api.log", audience=PHOTOS)
    with server.serving(folder / "server.log"), library as api:
        sign_in_and_refresh(server, client_id, callback, person, api)
        refuse_what_is_wrong(server, client_id, callback, person)
    version = importlib.metadata.version("requests-oauthlib")
    return f"requests-oauthlib {version}: signed in, the API answered, refreshed by itself; what is wrong was refused"


def sign_in_and_refresh(server: Counterfoil, client_id: str, callback: str, person: Person, api: str) -> None:
    """The journey of its documentation, with a token that is over in between."""
    from requests_oauthlib import OAuth2Session

    saved: list[dict[str, object]] = []
    session = OAuth2Session(
        client_id,
        redirect_uri=callback,
        scope=SCOPES,
        pkce="S256",
        auto_refresh_url=f"{server.issuer}/oauth2/token",
        auto_refresh_kwargs={"client_id": client_id},
        token_updater=saved.append,
    )
    address, _ = session.authorization_url(f"{server.issuer}/oauth2/authorize", prompt="consent")
    first = session.fetch_token(
        f"{server.issuer}/oauth2/token", authorization_response=person.sign_in(address), include_client_id=True
    )
    expect(sorted(first["scope"]) == sorted(SCOPES), f"the token is for {first['scope']}")
    photos = session.get(f"{api}/photos", timeout=30)
    expect(photos.status_code == 200, f"the API answered {photos.status_code}: {photos.text[:200]}")
    expect(not saved, "it refreshed before the token was over")

    session.token = {**first, "expires_at": time.time() - 60}
    photos = session.get(f"{api}/photos", timeout=30)
    expect(photos.status_code == 200, f"after the refresh the API answered {photos.status_code}: {photos.text[:200]}")
    expect(len(saved) == 1, f"it refreshed {len(saved)} times")
    expect(saved[0]["access_token"] != first["access_token"], "the refresh gave the same access token")
    expect(saved[0]["refresh_token"] != first["refresh_token"], "the refresh gave the same refresh token")
    expect(saved[0]["scope"] == first["scope"], f"after the refresh the token is for {saved[0]['scope']}")
    claims = session.get(f"{server.issuer}/oauth2/userinfo", timeout=30).json()
    expect(claims.get("preferred_username") == "alice", f"UserInfo says {claims}")


def refuse_what_is_wrong(server: Counterfoil, client_id: str, callback: str, person: Person) -> None:
    """A verifier of another client, a code a second time, and a refresh token of a revoked grant."""
    from oauthlib.oauth2.rfc6749.errors import InvalidGrantError
    from requests_oauthlib import OAuth2Session

    token_endpoint = f"{server.issuer}/oauth2/token"
    session = OAuth2Session(client_id, redirect_uri=callback, scope=SCOPES, pkce="S256")
    address, _ = session.authorization_url(f"{server.issuer}/oauth2/authorize", prompt="consent")
    session._code_verifier = secrets.token_urlsafe(48)
    answer = person.sign_in(address)
    try:
        session.fetch_token(token_endpoint, authorization_response=answer, include_client_id=True)
        expect(False, "a wrong verifier was taken")
    except InvalidGrantError:
        pass

    session = OAuth2Session(client_id, redirect_uri=callback, scope=SCOPES, pkce="S256")
    address, _ = session.authorization_url(f"{server.issuer}/oauth2/authorize", prompt="consent")
    answer = person.sign_in(address)
    token = session.fetch_token(token_endpoint, authorization_response=answer, include_client_id=True)
    try:
        session.fetch_token(token_endpoint, authorization_response=answer, include_client_id=True)
        expect(False, "a code was taken twice")
    except InvalidGrantError:
        pass
    try:
        session.refresh_token(token_endpoint, refresh_token=token["refresh_token"], client_id=client_id)
        expect(False, "the tokens of a code that came twice still count")
    except InvalidGrantError:
        pass


if __name__ == "__main__":
    sys.exit(drive(journey))
