#!/usr/bin/env python3
"""requests-oauth2client pushes its requests, binds tokens to a key, and signs a device in, where nonces are required.

It follows RFC 8628, RFC 9126 and RFC 9449 without any help by the driver.
"""

from __future__ import annotations

import importlib.metadata
import secrets
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from local_servers import Counterfoil, drive, expect, products  # noqa: E402
from our_client import status  # noqa: E402
from person import Person, noting  # noqa: E402

SCOPES = ["openid", "profile", "offline_access"]
PORTAL = "https://portal.example.com"


def party(server: Counterfoil, **more: Any):  # type: ignore[no-untyped-def]
    """A client that binds its tokens; `testing` lets it use the http URLs of this machine."""
    from requests_oauth2client import OAuth2Client

    # The library reads every endpoint from the metadata but this one.
    device = f"{server.issuer}/oauth2/device_authorization"
    return OAuth2Client.from_discovery_endpoint(
        issuer=server.issuer, dpop_bound_access_tokens=True, testing=True, device_authorization_endpoint=device, **more
    )


def refused(step: Callable[[], Any]) -> str:
    """The error code with which the server refuses a step."""
    from requests_oauth2client.exceptions import EndpointError

    try:
        step()
    except EndpointError as refusal:
        return str(refusal.error)
    return "nothing"


def sign_in_on_the_web(server: Counterfoil, client: dict[str, str], person: Person) -> None:
    """A web application whose request, code and tokens are bound to one key; a thief has another one."""
    from requests_oauth2client import DPoPKey

    web = party(
        server, client_id=client["client_id"], client_secret=client["client_secret"], redirect_uri=f"{PORTAL}/back"
    )
    request = web.authorization_request(scope=SCOPES, prompt="consent")
    response = request.validate_callback(person.sign_in(web.pushed_authorization_request(request).uri))
    stolen = {"code_verifier": response.code_verifier, "redirect_uri": response.redirect_uri}
    error = refused(lambda: web.authorization_code(response.code, dpop_key=DPoPKey.generate(), **stolen))
    expect(error == "invalid_grant", f"a code with another key was refused with {error}")

    # It copies a response whose ID token is valid without the key, and so can validate none with a bound token.
    token = web.authorization_code(response, validate=False)
    expect(token.token_type == "DPoP", f"the token type is {token.token_type}")
    use_and_revoke(web, server, token)


def sign_in_on_a_device(server: Counterfoil, client: dict[str, str], person: Person) -> None:
    """A device polls with proofs until the person has typed its code; another one is denied."""
    from requests_oauth2client import DeviceAuthorizationPollingJob, DPoPKey

    device = party(server, client_id=client["client_id"])
    begun = device.authorize_device(scope=" ".join(SCOPES))
    job = DeviceAuthorizationPollingJob(device, begun, dpop=True, dpop_key=DPoPKey.generate())
    expect(job() is None, "the device got tokens before the approval")
    expect(job.interval == begun.interval, "the device is told to slow down, although it keeps the interval")
    person.approve_device(begun.verification_uri, begun.user_code)
    token = job()
    expect(token is not None, "the device got no tokens after the approval")
    use_and_revoke(device, server, token)

    begun = device.authorize_device(scope=" ".join(SCOPES))
    person.denies = True
    person.approve_device(begun.verification_uri_complete)
    error = refused(DeviceAuthorizationPollingJob(device, begun, dpop=True, dpop_key=DPoPKey.generate()))
    expect(error == "access_denied", f"after a denial the device gets {error}")


def use_and_revoke(client, server: Counterfoil, token) -> None:  # type: ignore[no-untyped-def]
    """UserInfo with a proof and without one, a refresh with the same key, and the end."""
    # The library learns the nonce of an API only if the first challenge of a 401 is DPoP, as it is for its request.
    said = client.userinfo(token)
    expect(said["preferred_username"] == "alice", f"UserInfo says {said}")
    userinfo = f"{server.issuer}/oauth2/userinfo"
    expect(status(userinfo, token.access_token) == 401, "UserInfo takes a bound token without a proof")

    fresh = client.refresh_token(token)
    expect(fresh.access_token != token.access_token, "the refresh gave the same access token")
    expect(client.userinfo(fresh)["sub"] == said["sub"], "the refreshed token is of another person")
    expect(client.revoke_refresh_token(token), "the refresh token was not revoked")
    error = refused(lambda: client.refresh_token(token))
    expect(error == "invalid_grant", f"a refresh token that was revoked is refused with {error}")


def journey(folder: Path) -> str:
    password = secrets.token_urlsafe(18)
    server = Counterfoil(
        folder / "data", products(), options=["--require-pushed-requests", "--require-dpop-nonce"]
    )
    server.create_person("alice", password)
    portal = server.register("web", "Portal", SCOPES, "--redirect-uri", f"{PORTAL}/back")
    television = server.register("device", "Television", SCOPES)
    person = Person("alice", password, stop=PORTAL, note=noting(folder / "person.log"))
    with server.serving(folder / "server.log"):
        sign_in_on_the_web(server, portal, person)
        sign_in_on_a_device(server, television, person)
    version = importlib.metadata.version("requests-oauth2client")
    return f"requests-oauth2client {version}: pushed requests, DPoP with nonces, a device; what is wrong was refused"


if __name__ == "__main__":
    sys.exit(drive(journey))
