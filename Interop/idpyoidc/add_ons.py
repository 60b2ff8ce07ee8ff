"""What idpyoidc's add-ons for pushed requests and DPoP leave to do at a server that follows the standards."""

from __future__ import annotations

import base64
import hashlib
import time
import urllib.parse
import uuid
from typing import Any

import requests
from cryptojwt.jwk.ec import ECKey
from cryptojwt.jws.jws import factory
from idpyoidc.client.oauth2.add_on.dpop import DPoPProof
from local_servers import expect

PUSH = "idpyoidc.client.oauth2.add_on.par.add_support"
DPOP = "idpyoidc.client.oauth2.add_on.dpop.add_support"
DPOP_SCHEME = "idpyoidc.client.oauth2.add_on.dpop.DPoPClientAuth"


def push(method: str, url: str, data: str, headers: dict[str, str], **more: Any) -> requests.Response:
    """The HTTP client of the add-on for pushed requests.

    The add-on puts all parameters in a signed request object, which our server refuses. So this sends them as
    parameters. RFC 9126 §2.2: the status of the response is 201; the add-on accepts 200 alone.
    """
    form = dict(urllib.parse.parse_qsl(data))
    refused = requests.request(method, url, data=form, headers=headers, timeout=30)
    said = (refused.status_code, refused.json().get("error"))
    expect(said == (400, "request_not_supported"), f"a pushed request object was answered with {said}")

    claims = factory(form["request"]).jwt.payload()
    parameters = {name: " ".join(value) if isinstance(value, list) else value for name, value in claims.items()}
    answer = requests.request(method, url, data=parameters, headers=headers, timeout=30)
    expect(answer.status_code == 201, f"the pushed request was answered with {answer.status_code}: {answer.text}")
    answer.status_code = 200
    return answer


def proof_of(key: ECKey, method: str, url: str, token: str) -> str:
    """A proof for a request with an access token (RFC 9449 §4.2).

    The add-on writes the hash of the token in hexadecimal, which the standard forbids.
    """
    digest = hashlib.sha256(token.encode()).digest()
    proof = DPoPProof(
        typ="dpop+jwt", alg="ES256", jwk=key.serialize(), jti=uuid.uuid4().hex, htm=method, htu=url,
        iat=int(time.time()), ath=base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
    )
    proof.key = key
    return str(proof.create_header())
