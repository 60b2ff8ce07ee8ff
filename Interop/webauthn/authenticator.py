"""An authenticator and a browser in one, whose responses can be falsified."""

from __future__ import annotations

import hashlib
import json
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256, SHA384

RELYING_PARTY_ID = "id.example.com"
ORIGIN = "https://id.example.com"
CHALLENGE = bytes(range(32))
USER = b"user-1"


def base64url(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


class Key:
    """A private key of an algorithm of COSE."""

    def __init__(self, algorithm: int) -> None:
        self.algorithm = algorithm
        private: Any
        if algorithm in (-7, -35):
            private = ec.generate_private_key(ec.SECP256R1() if algorithm == -7 else ec.SECP384R1())
            size = private.curve.key_size // 8
            point = private.public_key().public_numbers()
            x, y = point.x.to_bytes(size, "big"), point.y.to_bytes(size, "big")
            self.cose = {1: 2, 3: algorithm, -1: 1 if algorithm == -7 else 2, -2: x, -3: y}
        elif algorithm == -8:
            private = ed25519.Ed25519PrivateKey.generate()
            self.cose = {1: 1, 3: -8, -1: 6, -2: private.public_key().public_bytes_raw()}
        else:
            private = rsa.generate_private_key(65537, 2048)
            self.cose = {1: 3, 3: -257, -1: private.public_key().public_numbers().n.to_bytes(256, "big"), -2: b"\1\0\1"}
        self._private = private

    def sign(self, data: bytes) -> bytes:
        if self.algorithm in (-7, -35):
            return bytes(self._private.sign(data, ec.ECDSA(SHA256() if self.algorithm == -7 else SHA384())))
        if self.algorithm == -8:
            return bytes(self._private.sign(data))
        return bytes(self._private.sign(data, padding.PKCS1v15(), SHA256()))


@dataclass
class Authenticator:
    """What a test can change."""

    key: Key
    credential_id: bytes = bytes([7] * 32)
    aaguid: bytes = bytes(16)
    flags: int = 0x1D
    counter: int = 0
    relying_party_id: str = RELYING_PARTY_ID
    challenge: bytes = CHALLENGE
    origin: str = ORIGIN
    type: str | None = None
    members: dict[str, Any] = field(default_factory=lambda: {"crossOrigin": False})
    rest: bytes = b""
    user: bytes = USER
    signer: Key | None = None
    #: Changes the client data, the public key, the authenticator data or the attestation object once they are encoded.
    client_data_change: Callable[[bytes], bytes] = bytes
    key_change: Callable[[bytes], bytes] = bytes
    data_change: Callable[[bytes], bytes] = bytes
    object_change: Callable[[bytes], bytes] = bytes
    #: Changes the signature.
    signature_change: Callable[[bytes], bytes] = bytes

    def but(self, **changes: Any) -> Authenticator:
        return replace(self, **changes)

    def _client_data(self, usual: str) -> bytes:
        members = {"type": self.type or usual, "challenge": base64url(self.challenge), "origin": self.origin}
        return self.client_data_change(json.dumps({**members, **self.members}, separators=(",", ":")).encode())

    def _data(self, attested: bytes = b"") -> bytes:
        flags = self.flags | (0x40 if attested else 0)
        identifier = hashlib.sha256(self.relying_party_id.encode()).digest()
        head = identifier + bytes([flags]) + self.counter.to_bytes(4, "big")
        return self.data_change(head + attested + self.rest)

    def _response(self, response: dict[str, Any]) -> dict[str, Any]:
        name = base64url(self.credential_id)
        return {"id": name, "rawId": name, "type": "public-key", "clientExtensionResults": {}, "response": response}

    def registration(self, fmt: str = "none", change: Callable[[dict[str, Any]], Any] = dict) -> dict[str, Any]:
        """A response of `create()`; a statement of the format `packed` is signed by the key itself."""
        client_data = self._client_data("webauthn.create")
        key = self.key_change(cbor2.dumps(self.key.cose))
        data = self._data(self.aaguid + len(self.credential_id).to_bytes(2, "big") + self.credential_id + key)
        statement: dict[str, Any] = {}
        if fmt == "packed":
            signed = data + hashlib.sha256(client_data).digest()
            signature = self.signature_change((self.signer or self.key).sign(signed))
            statement = {"alg": self.key.algorithm, "sig": signature}
        attestation = cbor2.dumps({"fmt": fmt, "attStmt": change(statement), "authData": data})
        return self._response(
            {
                "clientDataJSON": base64url(client_data),
                "attestationObject": base64url(self.object_change(attestation)),
                "transports": ["internal"],
            }
        )

    def assertion(self) -> dict[str, Any]:
        """A response of `get()`."""
        client_data, data = self._client_data("webauthn.get"), self._data()
        signature = (self.signer or self.key).sign(data + hashlib.sha256(client_data).digest())
        return self._response(
            {
                "clientDataJSON": base64url(client_data),
                "authenticatorData": base64url(data),
                "signature": base64url(self.signature_change(signature)),
                "userHandle": base64url(self.user),
            }
        )
