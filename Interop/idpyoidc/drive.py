#!/usr/bin/env python3
"""idpyoidc is a relying party at our server: discovery, code flow, ID token, UserInfo, refresh, logout.

A relying party that believes only what the metadata say.
Another one registers itself and reads its registration.
A third one has to push its requests and to bind its tokens to a key. `add_ons.py` replaces what the add-ons for that do
against the standards: they take a pushed request for refused unless the status is 200, and hash the token of a proof in
hexadecimal.
"""

from __future__ import annotations

import importlib.metadata
import secrets
import sys
import urllib.parse
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from local_servers import Counterfoil, Failed, drive, expect, products  # noqa: E402
from our_client import status  # noqa: E402
from person import ErrorPage, Person, noting  # noqa: E402

SCOPES = ["openid", "profile", "email", "offline_access"]
PORTAL = "https://portal.example.com"
PKCE = "idpyoidc.client.oauth2.add_on.pkce.add_support"
PROOF = {"code_challenge_length": 64, "code_challenge_method": "S256"}


def relying_party(  # type: ignore[no-untyped-def]
    issuer: str,
    client: dict[str, str] | None,
    add_ons: dict[str, Any] | None = None,
    userinfo: dict[str, Any] | None = None,
):
    """The handler that its documentation shows, for one provider, with further add-ons and settings of UserInfo.

    Without a client it registers itself.
    """
    from cryptojwt.key_jar import init_key_jar
    from idpyoidc.client.defaults import DEFAULT_OIDC_SERVICES
    from idpyoidc.client.rp_handler import RPHandler

    services = {**DEFAULT_OIDC_SERVICES, "end_session": {"class": "idpyoidc.client.oidc.end_session.EndSession"}}
    services["userinfo"] = {**services["userinfo"], "kwargs": userinfo or {}}
    configuration = {
        "client_type": "oidc",
        "issuer": issuer,
        "redirect_uris": [f"{PORTAL}/back"],
        "post_logout_redirect_uris": [f"{PORTAL}/bye"],
        "response_types_supported": ["code"],
        "scopes_supported": SCOPES,
        "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        "client_authn_methods": ["client_secret_basic", "bearer_header"],
        "add_ons": {"pkce": {"function": PKCE, "kwargs": PROOF}, **(add_ons or {})},
        "services": services,
        **({} if client is None else {name: client[name] for name in ("client_id", "client_secret")}),
        # It would register a signed UserInfo response otherwise, which our server does not offer.
        "userinfo_signing_alg_values_supported": [],
    }
    # It wants keys; by itself it would write them into the working directory. It signs request objects with RSA.
    keys = init_key_jar(key_defs=[{"type": "EC", "crv": "P-256", "use": ["sig"]}, {"type": "RSA", "use": ["sig"]}])
    return RPHandler(base_url=PORTAL, client_configs={issuer: configuration}, services=services, keyjar=keys)


def parameters(address: str) -> dict[str, str]:
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(address).query))


def sign_in(handler, issuer: str, person: Person, refreshes: bool = True) -> str:  # type: ignore[no-untyped-def]
    """Signs the person in, refreshes, and checks what the relying party has learnt; its name for the sign-in."""
    begun = handler.begin(issuer, req_args={"prompt": "consent", "scope": SCOPES})
    address = begun if isinstance(begun, str) else begun["url"]
    answer = parameters(person.sign_in(address))
    expect(answer.get("iss") == issuer, f"the answer is of {answer.get('iss')}")
    done = handler.finalize(issuer, answer)
    expect("error" not in done, f"idpyoidc says {done}")
    state = answer["state"]
    claims = done["userinfo"]
    expect(claims["preferred_username"] == "alice", f"UserInfo says {sorted(claims.keys())}")
    expect(claims["email"] == "alice@example.com", "UserInfo has another address")
    expect(done["id_token"]["sub"] == claims["sub"], "the ID token is of another person than UserInfo")

    if not refreshes:
        return str(state)
    refreshed = handler.refresh_access_token(state)
    expect(refreshed["access_token"] != done["token"], "the refresh gave the same access token")
    again = handler.get_user_info(state, access_token=refreshed["access_token"])
    expect(again["sub"] == claims["sub"], "the refreshed token is of another person")
    return str(state)


def refuse_what_is_wrong(handler, issuer: str, person: Person) -> None:  # type: ignore[no-untyped-def]
    """A code that was redeemed already, whose tokens are then over."""
    from idpyoidc.client.exception import OidcServiceError

    begun = handler.begin(issuer, req_args={"prompt": "consent", "scope": SCOPES})
    answer = parameters(person.sign_in(begun if isinstance(begun, str) else begun["url"]))
    expect("error" not in handler.finalize(issuer, answer), "the second sign-in failed")
    # The code a second time; and then the refresh token that it gave.
    for step in (lambda: handler.finalize(issuer, answer), lambda: handler.refresh_access_token(answer["state"])):
        try:
            step()
        except OidcServiceError as refusal:
            expect(str(refusal) == "invalid_grant", f"a code that came twice was refused with {refusal}")
            continue
        raise Failed("a code that came twice, or its refresh token, was taken")


def sign_out(handler, state: str, person: Person) -> None:  # type: ignore[no-untyped-def]
    """The relying party ends the session, and the person is back at its page; at no other."""
    elsewhere = handler.logout(state, post_logout_redirect_uri=f"{PORTAL}/elsewhere")["url"]
    query = {**parameters(elsewhere), "id_token_hint": "not.a.token"}
    page = person.read(f"{elsewhere.split('?')[0]}?{urllib.parse.urlencode(query)}")
    expect(any(form.has("decision", "sign-out") for form in page.forms), "a forged hint is not asked about")

    address = handler.logout(state, post_logout_redirect_uri=f"{PORTAL}/bye")["url"]
    arrived = person.read(address).url
    expect(arrived.split("?")[0] == f"{PORTAL}/bye", f"after signing out the person is at {arrived.split('?')[0]}")
    expect(parameters(arrived)["state"] == parameters(address)["state"], "the state is another one")


def register_itself(server: Counterfoil, person: Person) -> None:
    """A relying party that no person registered signs the person in, until its registration ends."""
    handler = relying_party(server.issuer, None)
    # It registers the grant of the code alone, so that it gets no refresh token.
    sign_in(handler, server.issuer, person, refreshes=False)
    party = handler.client_setup(server.issuer)
    (client_id,) = server.self_registered()
    expect(party.get_client_id() == client_id, f"it is known as {party.get_client_id()}")
    registration = party.get_context().registration_response
    place, token = registration["registration_client_uri"], registration["registration_access_token"]
    expect(status(place, token) == 200, "it cannot read its registration")
    expect(status(place, "garbage") == 401, "its registration is read with another token")

    server.end_unregistered(client_id)
    expect(status(place, token) == 401, "it can read its registration after the end")
    begun = handler.begin(server.issuer, req_args={"prompt": "consent", "scope": SCOPES})
    try:
        person.sign_in(begun if isinstance(begun, str) else begun["url"])
    except ErrorPage as page:
        expect(page.status == 400, f"after the end of its registration the page has status {page.status}")
        return
    raise Failed("it signed the person in after the end of its registration")


def sign_in_with_bound_tokens(issuer: str, client: dict[str, str], person: Person) -> None:
    """The relying party pushes its request, and its code and tokens are bound to a key."""
    from add_ons import DPOP, DPOP_SCHEME, PUSH, proof_of
    from cryptojwt.key_bundle import key_by_alg

    pushed = {"http_client": "add_ons.push", "authn_method": "client_secret_basic"}
    bound = {"dpop_signing_alg_values_supported": ["ES256"], "with_dpop_header": ["accesstoken", "refresh_token"]}
    handler = relying_party(
        issuer, client,
        {"par": {"function": PUSH, "kwargs": pushed}, "dpop": {"function": DPOP, "kwargs": bound}},
        {"default_authn_method": "dpop", "client_authn_methods": {"dpop": DPOP_SCHEME}},
    )
    party = handler.client_setup(issuer)
    key = key_by_alg("ES256")
    party.get_context().add_on["dpop"].update(key=key, alg="ES256")
    party.get_service("userinfo").construct_extra_headers.append(
        lambda context, headers, http_method, endpoint_url, token, **more: {
            **headers, "dpop": proof_of(key, http_method, endpoint_url, token),
        }
    )

    thumbprint = key.thumbprint("SHA-256").decode()
    begun = handler.begin(issuer, req_args={"prompt": "consent", "scope": SCOPES, "dpop_jkt": thumbprint})
    address = begun if isinstance(begun, str) else begun["url"]
    asked = parameters(address)
    expect("request_uri" in asked and "state" not in asked, f"the browser carries {sorted(asked)}")
    answer = parameters(person.sign_in(address))
    done = handler.finalize(issuer, answer)
    expect("error" not in done, f"idpyoidc says {done}")
    expect(done["userinfo"]["preferred_username"] == "alice", f"UserInfo says {sorted(done['userinfo'].keys())}")
    expect(claims_of(done["token"])["cnf"] == {"jkt": thumbprint}, "the access token is not bound to the key")
    expect(status(f"{issuer}/oauth2/userinfo", done["token"]) == 401, "UserInfo takes a bound token without a proof")
    kept = party.get_context().cstate.get_set(answer["state"], claim=["token_type"])
    expect(kept["token_type"] == "DPoP", f"the token type is {kept['token_type']}")

    refreshed = handler.refresh_access_token(answer["state"])
    expect(claims_of(refreshed["access_token"])["cnf"] == {"jkt": thumbprint}, "the refreshed token is not bound")
    again = handler.get_user_info(answer["state"], access_token=refreshed["access_token"])
    expect(again["sub"] == done["userinfo"]["sub"], "the refreshed token is of another person")


def claims_of(token: str) -> dict[str, Any]:
    """The claims of a JWT, unverified: the relying party has them from the token endpoint."""
    from cryptojwt.jws.jws import factory

    return dict(factory(token).jwt.payload())


def journey(folder: Path) -> str:
    password = secrets.token_urlsafe(18)
    server = Counterfoil(folder / "data", products(), options=["--unregistered-clients", "registration"])
    server.create_person("alice", password)
    client = server.register(
        *("web", "Portal", SCOPES, "--redirect-uri", f"{PORTAL}/back"),
        *("--post-logout-redirect-uri", f"{PORTAL}/bye"),
    )
    vault = server.register("web", "Vault", SCOPES, "--redirect-uri", f"{PORTAL}/back")
    required = ("--require-pushed-requests", "true", "--require-bound-tokens", "true")
    server.administer("app", "edit", vault["client_id"], *required)
    person = Person("alice", password, stop=PORTAL, note=noting(folder / "person.log"))
    with server.serving(folder / "server.log"):
        handler = relying_party(server.issuer, client)
        state = sign_in(handler, server.issuer, person)
        refuse_what_is_wrong(handler, server.issuer, person)
        sign_out(handler, state, person)
        register_itself(server, person)
        sign_in_with_bound_tokens(server.issuer, vault, person)
    version = importlib.metadata.version("idpyoidc")
    return f"idpyoidc {version}: discovery, ID token, UserInfo, refresh, logout, registration; pushed requests and DPoP"


if __name__ == "__main__":
    sys.exit(drive(journey))
