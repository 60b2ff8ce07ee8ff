#!/usr/bin/env python3
"""Authlib is a native application, a web application with a secret and a service with a key at our server.

It signs a person in, refreshes, asks what a token is worth and
revokes it.
"""

from __future__ import annotations

import importlib.metadata
import json
import secrets
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from local_servers import Counterfoil, Failed, drive, expect, free_ports, products  # noqa: E402
from person import Person, noting  # noqa: E402

SCOPES = ["openid", "profile", "email", "offline_access", "photos.read"]
PHOTOS = "https://photos.example.com"


class Journey:
    """The applications, the API and the person at one server."""

    def __init__(self, folder: Path) -> None:
        from joserfc.jwk import ECKey

        password = secrets.token_urlsafe(18)
        self.server = server = Counterfoil(folder / "data", products())
        server.create_person("alice", password)
        server.create_scope("photos.read", "See your photos and albums")
        self.photos = server.create_resource(PHOTOS, "Photo library", ["photos.read"])
        self.native_callback = f"http://127.0.0.1:{free_ports(1)[0]}/back"
        self.web_callback = "https://app.example.com/back"
        self.native = server.register("native", "Lightbox", SCOPES, "--redirect-uri", "http://127.0.0.1/back")
        self.web = server.register("web", "Prints", SCOPES, "--redirect-uri", self.web_callback)
        self.key = ECKey.generate_key("P-256", {"use": "sig", "alg": "ES256"}, auto_kid=True)
        keys = folder / "keys.json"
        keys.write_text(json.dumps({"keys": [self.key.as_dict(private=False)]}), "utf-8")
        self.service = server.register("service", "Nightly", ["photos.read"], "--jwks", str(keys))
        self._password, self._log = password, folder / "person.log"

    def person(self, stop: str) -> Person:
        return Person("alice", self._password, stop=stop, note=noting(self._log))

    def endpoint(self, name: str) -> str:
        return f"{self.server.issuer}/oauth2/{name}"

    def session(self, client: dict[str, str], callback: str):  # type: ignore[no-untyped-def]
        """A session of Authlib for an application that signs people in."""
        from authlib.integrations.requests_client import OAuth2Session

        secret = client.get("client_secret")
        return OAuth2Session(
            client["client_id"],
            secret,
            redirect_uri=callback,
            scope=" ".join(SCOPES),
            code_challenge_method="S256",
            token_endpoint_auth_method="client_secret_basic" if secret else "none",
            revocation_endpoint_auth_method="client_secret_basic" if secret else "none",
        )

    def authorize(self, session, person: Person, verifier: str) -> tuple[str, str]:  # type: ignore[no-untyped-def]
        """Signs the person in; the answer, and what the ID token has to repeat."""
        nonce = secrets.token_urlsafe(16)
        address, _ = session.create_authorization_url(
            self.endpoint("authorize"), code_verifier=verifier, nonce=nonce, prompt="consent", resource=PHOTOS
        )
        return person.sign_in(address), nonce

    def is_active(self, token: str) -> bool:
        """The introspection response for a token, as the API reads it."""
        from authlib.integrations.requests_client import OAuth2Session

        api = OAuth2Session(self.photos["client_id"], self.photos["client_secret"])
        said = api.introspect_token(self.endpoint("introspect"), token=token, token_type_hint="access_token").json()
        if not said["active"]:
            expect(said == {"active": False}, f"of a token that is over it is told {said}")
        return bool(said["active"])


def sign_in(at: Journey, client: dict[str, str], callback: str, algorithm: str) -> None:
    """Code with PKCE, ID token of this algorithm, refresh, introspection, revocation."""
    session, person, verifier = at.session(client, callback), at.person(callback), secrets.token_urlsafe(48)
    answer, nonce = at.authorize(session, person, verifier)
    first = session.fetch_token(at.endpoint("token"), authorization_response=answer, code_verifier=verifier)
    check_id_token(at, first["id_token"], client["client_id"], nonce, algorithm)
    expect("photos.read" in first["scope"].split(), f"the token is for {first['scope']}")
    expect(at.is_active(first["access_token"]), "the token of a new sign-in is not active")

    second = session.refresh_token(at.endpoint("token"), refresh_token=first["refresh_token"])
    check_id_token(at, second["id_token"], client["client_id"], None, algorithm)
    expect(second["access_token"] != first["access_token"], "the refresh gave the same access token")
    expect(at.is_active(second["access_token"]), "the refreshed token is not active")

    revoked = session.revoke_token(
        at.endpoint("revoke"), token=second["refresh_token"], token_type_hint="refresh_token"
    )
    expect(revoked.status_code == 200, f"the revocation was answered with {revoked.status_code}")
    expect(not at.is_active(second["access_token"]), "after the revocation the access token is active")
    expect_refused(
        "invalid_grant", lambda: session.refresh_token(at.endpoint("token"), refresh_token=second["refresh_token"])
    )


def check_id_token(at: Journey, token: str, client_id: str, nonce: str | None, algorithm: str) -> None:
    """Verifies an ID token with the keys that the server publishes."""
    import requests
    from joserfc import jwt
    from joserfc.jwk import KeySet

    metadata = requests.get(f"{at.server.issuer}/.well-known/openid-configuration", timeout=30).json()
    keys = KeySet.import_key_set(requests.get(metadata["jwks_uri"], timeout=30).json())
    claims = jwt.decode(token, keys, algorithms=[algorithm]).claims
    wanted = {"iss": at.server.issuer, "aud": client_id}
    if nonce is not None:
        wanted["nonce"] = nonce
    for name, value in wanted.items():
        expect(claims.get(name) in (value, [value]), f"{name} of the ID token is {claims.get(name)}")


def refuse_what_is_wrong(at: Journey) -> None:
    """A wrong verifier, a code that is redeemed twice, a wrong secret, a token of another client."""
    callback = at.native_callback
    session, person, verifier = at.session(at.native, callback), at.person(callback), secrets.token_urlsafe(48)
    answer, _ = at.authorize(session, person, verifier)

    def redeem(proof: str):  # type: ignore[no-untyped-def]
        return session.fetch_token(at.endpoint("token"), authorization_response=answer, code_verifier=proof)

    expect_refused("invalid_grant", lambda: redeem(secrets.token_urlsafe(48)))
    answer, _ = at.authorize(session, person, verifier)
    token = redeem(verifier)
    other = at.session(at.web, at.web_callback)
    refused = other.revoke_token(at.endpoint("revoke"), token=token["access_token"])
    expect(refused.status_code == 400, f"revoking another application's token was answered with {refused.status_code}")
    expect(at.is_active(token["access_token"]), "another application could revoke the token")
    expect_refused("invalid_grant", lambda: redeem(verifier))
    expect(not at.is_active(token["access_token"]), "the token of a code that came twice is active")

    stranger = at.session({**at.web, "client_secret": "wrong"}, at.web_callback)
    expect_refused(
        "invalid_client", lambda: stranger.refresh_token(at.endpoint("token"), refresh_token=token["refresh_token"])
    )


def run_service(at: Journey) -> None:
    """client_credentials with an assertion, as long-lived as Authlib makes it; and one that another key has signed."""
    from authlib.integrations.requests_client import OAuth2Session
    from authlib.oauth2.rfc7523 import PrivateKeyJWT
    from joserfc.jwk import ECKey

    def ask(key: ECKey) -> dict[str, str]:
        session = OAuth2Session(at.service["client_id"], key, token_endpoint_auth_method="private_key_jwt")
        session.register_client_auth_method(PrivateKeyJWT(at.endpoint("token"), alg="ES256"))
        return dict(
            session.fetch_token(
                at.endpoint("token"), grant_type="client_credentials", scope="photos.read", resource=PHOTOS
            )
        )

    token = ask(at.key)
    expect(at.is_active(token["access_token"]), "the token of the service is not active")
    expect("refresh_token" not in token, "a service got a refresh token")
    expect_refused("invalid_client", lambda: ask(ECKey.generate_key("P-256")))


def expect_refused(error: str, step) -> None:  # type: ignore[no-untyped-def]
    """Fails unless the server answers with this error."""
    from authlib.integrations.base_client import OAuthError

    try:
        step()
    except OAuthError as refusal:
        expect(refusal.error == error, f"refused with {refusal.error} instead of {error}: {refusal.description}")
        return
    raise Failed(f"it was not refused with {error}")


def journey(folder: Path) -> str:
    at = Journey(folder)
    with at.server.serving(folder / "server.log"):
        sign_in(at, at.native, at.native_callback, "ES256")
        sign_in(at, at.web, at.web_callback, "RS256")
        refuse_what_is_wrong(at)
        run_service(at)
    version = importlib.metadata.version("Authlib")
    return f"Authlib {version}: native, web (client_secret_basic), service (private_key_jwt); refreshed, asked, revoked"


if __name__ == "__main__":
    sys.exit(drive(journey))
