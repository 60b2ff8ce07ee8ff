"""Makes DPoP proofs (RFC 9449) as fast as a flood needs them.

The signatures are ES256 and valid, but give the private key away: all of one key have the same nonce, so each is one
multiplication. A key lives as long as a flood and protects nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import time

# The curve P-256 (SEC 2 §2.4.2).
P = 0xFFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF
A = P - 3
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)
Point = tuple[int, int]


def add(one: Point | None, other: Point | None) -> Point | None:
    """The sum of two points; None is the point at infinity."""
    if one is None or other is None:
        return one or other
    if one[0] == other[0]:
        if (one[1] + other[1]) % P == 0:
            return None
        slope = (3 * one[0] * one[0] + A) * pow(2 * one[1], -1, P) % P
    else:
        slope = (other[1] - one[1]) * pow(other[0] - one[0], -1, P) % P
    x = (slope * slope - one[0] - other[0]) % P
    return x, (slope * (one[0] - x) - one[1]) % P


def multiply(number: int, point: Point | None) -> Point | None:
    total = None
    while number:
        if number & 1:
            total = add(total, point)
        point, number = add(point, point), number >> 1
    return total


def encoded(data: bytes) -> str:
    """Base64url without padding (RFC 7515 §2)."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Key:
    """A key pair, and the proofs that it signs."""

    def __init__(self) -> None:
        self._secret = secrets.randbelow(N - 1) + 1
        nonce = secrets.randbelow(N - 1) + 1
        self.public, shared = multiply(self._secret, G), multiply(nonce, G)
        assert self.public is not None and shared is not None
        self._r, self._inverse = shared[0] % N, pow(nonce, -1, N)
        x, y = (encoded(value.to_bytes(32, "big")) for value in self.public)
        self._jwk = {"crv": "P-256", "kty": "EC", "x": x, "y": y}

    @property
    def private(self) -> bytes:
        return self._secret.to_bytes(32, "big")

    def sign(self, message: bytes) -> tuple[int, int]:
        """The ECDSA signature of a message with SHA-256."""
        digest = int.from_bytes(hashlib.sha256(message).digest(), "big")
        return self._r, self._inverse * (digest + self._r * self._secret) % N

    def proof(self, method: str, url: str, token: str | None = None, ahead: int = 0) -> str:
        """A proof for a request, with a token if the request carries one; `ahead` moves its time to the future."""
        claims = {
            "jti": secrets.token_urlsafe(12), "htm": method, "htu": url, "iat": int(time.time()) + ahead,
        }
        if token is not None:
            claims["ath"] = encoded(hashlib.sha256(token.encode()).digest())
        head = {"typ": "dpop+jwt", "alg": "ES256", "jwk": self._jwk}
        text = ".".join(encoded(json.dumps(part).encode()) for part in (head, claims))
        r, s = self.sign(text.encode())
        return f"{text}.{encoded(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"
