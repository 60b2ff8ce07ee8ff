#!/usr/bin/env python3
"""msal signs a person in at our server behind TLS, takes the answer in a form, and refreshes.

The issuer has a path, a proxy ends TLS, `response_mode=form_post` goes to a free port of
`http://localhost`; a service signs in with the assertion that msal makes of its key.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import secrets
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from apache import PROGRAM, Authority, apache, proxy  # noqa: E402
from local_servers import Counterfoil, drive, expect, free_ports, person_environment, products  # noqa: E402

# What msal asks for by itself, and one more.
SCOPES = ["openid", "profile", "offline_access", "photos.read"]


def journey(folder: Path) -> str:
    password = secrets.token_urlsafe(18)
    authority = Authority(folder / "tls", ["localhost"])
    tls_port, port = free_ports(2)
    server = Counterfoil(folder / "data", products(), port, issuer=f"https://localhost:{tls_port}/photos")
    server.create_person("alice", password)
    server.create_scope("photos.read", "See your photos and albums")
    client_id = server.create_application("Lightbox", "http://localhost", SCOPES)
    private, keys = service_key(folder)
    service = server.register("service", "Nightly", ["photos.read"], "--jwks", str(keys))

    os.environ.update(person_environment(folder, "alice", password))
    os.environ.update(PERSON_AUTHORITY=str(authority.certificate), REQUESTS_CA_BUNDLE=str(authority.certificate))
    front = proxy("localhost", tls_port, f"http://127.0.0.1:{port}")
    with server.serving(folder / "server.log"), apache(folder / "apache", authority, [front], folder / "apache.log"):
        sign_in(server.issuer, client_id)
        run_service(server.issuer, service["client_id"], private)
    version = importlib.metadata.version("msal")
    return f"msal {version}: signed in by form_post over TLS, refreshed; a service with its key"


def sign_in(issuer: str, client_id: str) -> None:
    """An interactive sign-in, and a silent one with the refresh token."""
    import msal

    app = msal.PublicClientApplication(client_id, oidc_authority=issuer)
    first = app.acquire_token_interactive(["photos.read"], prompt="consent", timeout=60)
    expect("access_token" in first, f"msal got {first.get('error')}: {first.get('error_description')}")
    claims = first["id_token_claims"]
    expect((claims["iss"], claims["aud"]) == (issuer, client_id), f"the ID token is of {claims['iss']}")
    expect("photos.read" in first["scope"].split(), f"the token is for {first['scope']}")

    accounts = app.get_accounts()
    expect(len(accounts) == 1, f"msal knows {len(accounts)} accounts")
    kept = app.acquire_token_silent_with_error(["photos.read"], account=accounts[0])
    expect(bool(kept) and kept["access_token"] == first["access_token"], "msal does not find its token again")
    second = app.acquire_token_silent_with_error(["photos.read"], account=accounts[0], force_refresh=True)
    expect(bool(second) and "access_token" in second, f"the refresh gave {second}")
    expect(second["access_token"] != first["access_token"], "the refresh gave the same access token")

    unknown = msal.PublicClientApplication(client_id, oidc_authority=issuer).acquire_token_by_refresh_token(
        secrets.token_urlsafe(32), ["photos.read"]
    )
    expect(unknown.get("error") == "invalid_grant", f"an unknown refresh token gave {sorted(unknown)}")


def run_service(issuer: str, client_id: str, private: str) -> None:
    """client_credentials: the key that is registered is taken, another is not."""
    import msal

    def ask(key: str) -> dict[str, str]:
        credential = {"private_key": key, "thumbprint": "0" * 40}
        app = msal.ConfidentialClientApplication(client_id, client_credential=credential, oidc_authority=issuer)
        return dict(app.acquire_token_for_client(["photos.read"]))

    token = ask(private)
    expect("access_token" in token, f"the service got {token.get('error')}: {token.get('error_description')}")
    refused = ask(new_key())
    expect(refused.get("error") == "invalid_client", f"with another key the service got {sorted(refused)}")


def new_key() -> str:
    from cryptography.hazmat.primitives.asymmetric import rsa
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = rsa.generate_private_key(65537, 2048)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def service_key(folder: Path) -> tuple[str, Path]:
    """A key, and the file with its public half."""
    from cryptography.hazmat.primitives.serialization import load_pem_private_key
    from jwt.algorithms import RSAAlgorithm

    private = new_key()
    public = load_pem_private_key(private.encode(), None).public_key()
    keys = folder / "keys.json"
    keys.write_text(json.dumps({"keys": [{**RSAAlgorithm.to_jwk(public, as_dict=True), "use": "sig"}]}), "utf-8")
    return private, keys


if __name__ == "__main__":
    sys.exit(drive(journey, (PROGRAM, "openssl")))
