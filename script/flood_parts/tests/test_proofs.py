from __future__ import annotations

import base64
import hashlib
import json
import unittest

from flood_parts.proofs import A, B, G, N, P, Key, add, multiply


def decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class ProofTests(unittest.TestCase):
    def test_a_signature_verifies(self) -> None:
        # FIPS 186-5 §6.4.2.
        key = Key()
        for message in (b"one", b"another"):
            r, s = key.sign(message)
            digest = int.from_bytes(hashlib.sha256(message).digest(), "big")
            inverse = pow(s, -1, N)
            point = add(multiply(digest * inverse % N, G), multiply(r * inverse % N, key.public))
            assert point is not None
            self.assertEqual(point[0] % N, r)

    def test_a_public_key_is_on_the_curve(self) -> None:
        point = Key().public
        assert point is not None
        self.assertEqual((point[1] ** 2 - point[0] ** 3 - A * point[0] - B) % P, 0)

    def test_a_proof_has_the_claims_of_its_request(self) -> None:
        head, claims, _ = Key().proof("POST", "https://id.example.com/oauth2/token", "token", ahead=290).split(".")
        self.assertEqual(json.loads(decoded(head))["typ"], "dpop+jwt")
        self.assertEqual(
            {name: value for name, value in json.loads(decoded(claims)).items() if name in ("htm", "htu", "ath")},
            {
                "htm": "POST", "htu": "https://id.example.com/oauth2/token",
                "ath": "PEaenWxYddN6Q_NT1PiOYfz4EsZu7jRXRlpAsNpBU-A",
            })

    def test_no_two_proofs_have_the_same_identifier(self) -> None:
        key = Key()
        proofs = [key.proof("POST", "https://id.example.com/oauth2/par").split(".")[1] for _ in range(50)]
        self.assertEqual(len({json.loads(decoded(claims))["jti"] for claims in proofs}), 50)
