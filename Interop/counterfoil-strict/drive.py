#!/usr/bin/env python3
"""Our client signs a person in at our own server, which requires pushed requests, bound tokens and nonces.

With all of it by itself, and with a refusal where the user leaves a part of it out.
"""

from __future__ import annotations

import secrets
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from local_servers import Counterfoil, drive, expect, person_environment, products  # noqa: E402
from our_client import REDIRECT_URI, REFUSED, SIGN_IN_AGAIN, USAGE, Client, metadata  # noqa: E402

SCOPES = ["openid", "profile", "offline_access"]
ASKED = ["--scope", " ".join(SCOPES)]


def journey(folder: Path) -> str:
    password = secrets.token_urlsafe(18)
    server = Counterfoil(
        folder / "data", products(), options=["--require-pushed-requests", "--require-dpop-nonce"]
    )
    server.create_person("alice", password)
    native = server.create_application("Lightbox", REDIRECT_URI, SCOPES)
    server.administer("app", "edit", native, "--require-bound-tokens", "true")
    environment = person_environment(folder, "alice", password)
    with server.serving(folder / "server.log"):
        client = Client(folder, environment, server.issuer, native)
        expect(metadata(server.issuer)["require_pushed_authorization_requests"] is True, "the metadata do not say it")
        refuse_what_is_required(client)
        sign_in_and_out(client)
    return "our own server: pushed requests and bound tokens, with nonces; what lacks them is refused"


def refuse_what_is_required(client: Client) -> None:
    """A request in the query, which this client does not even send, and a token request without a proof."""
    said = client.login(*ASKED, "--dpop", "--par", "never", wanted=USAGE)
    expect("requires pushed authorization requests" in said, f"a request that is not pushed: {said}")
    said = client.login(*ASKED, "--par", "always", wanted=REFUSED)
    expect("invalid_dpop_proof" in said, f"a token request without a proof: {said}")


def sign_in_and_out(client: Client) -> None:
    """The journey of a client, with proofs at every step."""
    client.login(*ASKED, "--dpop", "--par", "always")
    userinfo = f"{client.issuer}/oauth2/userinfo"
    expect(client.call(userinfo)["preferred_username"] == "alice", "UserInfo does not say who signed in")
    copy = client.copy("copied-tokens")
    expect(client.logout()["revoked"] is True, "the tokens were not revoked")
    copy.run("call", userinfo, wanted=SIGN_IN_AGAIN)


if __name__ == "__main__":
    sys.exit(drive(journey))
