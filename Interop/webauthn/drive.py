#!/usr/bin/env python3
"""Responses of passkeys, valid and falsified, as our verifier, fido2 and webauthn of PyPI judge them.

The responses are the test vectors of WebAuthn Level 3 (§16), and those of an authenticator of our own.

Our verifier must accept nothing that one of the others refuses. Where it refuses what one of them accepts, the case
says so.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from base64 import urlsafe_b64decode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from local_servers import MISSING, drive, expect, products  # noqa: E402

try:
    import cbor2
    import fido2.webauthn
    import webauthn
    from fido2.attestation import Attestation
    from fido2.cose import CoseKey
    from fido2.server import Fido2Server
    from webauthn.helpers.cose import COSEAlgorithmIdentifier

    from authenticator import CHALLENGE, ORIGIN, RELYING_PARTY_ID, USER, Authenticator, Key, base64url
except ImportError as reason:
    print(f"{reason.name} is not installed")
    sys.exit(MISSING)

ALGORITHMS = [-7, -8, -35, -257]
ES512, ED448 = -36, -53
# By implementation; webauthn does not know ES384, and none knows Ed448.
KNOWN_ALGORITHMS = {"fido2": [*ALGORITHMS, ES512], "webauthn": [-7, -8, -257, ES512]}
VECTORS = Path(__file__).resolve().parents[2] / "Server" / "Tests" / "WebAuthnTests" / "Vectors" / "vectors.json"
SEED = 20261129
MUTATIONS = 4000


@dataclass(frozen=True)
class PublicKey:
    """The public key of a credential."""

    algorithm: int
    cose: dict[int, Any]


@dataclass(frozen=True)
class Expectation:
    """What a server expects of a response."""

    challenge: bytes = CHALLENGE
    relying_party_id: str = RELYING_PARTY_ID
    origin: str = ORIGIN
    credential_id: bytes = bytes([7] * 32)
    verifies_user: bool = True
    algorithms: tuple[int, ...] = tuple(ALGORITHMS)


@dataclass
class Case:
    """A response, the step at which we must refuse it (0: accepted), and who accepts it all the same."""

    name: str
    response: dict[str, Any]
    step: int
    key: Key | PublicKey
    accepted_by: frozenset[str] = frozenset()
    #: None for a registration.
    counter: int | None = None
    expected: Expectation = Expectation()

    def task(self) -> str:
        """The line for our verifier."""
        task: dict[str, Any] = {
            "response": json.dumps(self.response),
            "challenge": base64url(self.expected.challenge),
            "relyingPartyID": self.expected.relying_party_id,
            "origin": self.expected.origin,
            "algorithms": self.expected.algorithms,
            "requiresUserVerification": self.expected.verifies_user,
        }
        if self.counter is not None:
            task["credential"] = {
                "id": base64url(self.expected.credential_id),
                "publicKey": base64url(cbor2.dumps(self.key.cose)),
                "signatureCounter": self.counter,
                "userHandle": base64url(USER),
            }
        return json.dumps(task)


def decoded(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def judged_by_fido2(case: Case) -> bool:
    def attestation(found: Any, client_data_hash: bytes) -> None:
        if found.fmt in ("none", "packed"):
            Attestation.for_type(found.fmt)().verify(found.att_stmt, found.auth_data, client_data_hash)

    expected = case.expected
    server = Fido2Server(
        fido2.webauthn.PublicKeyCredentialRpEntity(name="Example", id=expected.relying_party_id),
        attestation=fido2.webauthn.AttestationConveyancePreference.DIRECT,
        verify_origin=lambda origin: origin == expected.origin,
        verify_attestation=attestation,
    )
    wanted = "required" if expected.verifies_user else "discouraged"
    state = {"challenge": base64url(expected.challenge), "user_verification": wanted}
    try:
        if case.counter is None:
            data = server.register_complete(state, case.response)
            # It leaves the judgement of the algorithm to the browser.
            return data.credential_data is not None and data.credential_data.public_key[3] in expected.algorithms
        key = CoseKey.parse(case.key.cose)
        credential = fido2.webauthn.AttestedCredentialData.create(bytes(16), expected.credential_id, key)
        server.authenticate_complete(state, [credential], case.response)
        return True
    except Exception:  # noqa: BLE001 - any exception is a refusal
        return False


def judged_by_webauthn(case: Case) -> bool:
    expected = {
        "expected_challenge": case.expected.challenge,
        "expected_rp_id": case.expected.relying_party_id,
        "expected_origin": case.expected.origin,
        "require_user_verification": case.expected.verifies_user,
    }
    try:
        if case.counter is None:
            webauthn.verify_registration_response(
                credential=case.response,
                supported_pub_key_algs=[COSEAlgorithmIdentifier(each) for each in KNOWN_ALGORITHMS["webauthn"]],
                **expected,
            )
        else:
            webauthn.verify_authentication_response(
                credential=case.response,
                credential_public_key=cbor2.dumps(case.key.cose),
                credential_current_sign_count=case.counter,
                **expected,
            )
        return True
    except Exception:  # noqa: BLE001 - any exception is a refusal
        return False


OTHERS: dict[str, Callable[[Case], bool]] = {"fido2": judged_by_fido2, "webauthn": judged_by_webauthn}


def by_others(case: Case) -> dict[str, bool]:
    """Whether each of the others that knows the algorithm and the format accepts a response."""
    known = {name for name in OTHERS if case.key.algorithm in KNOWN_ALGORITHMS[name]}
    if has_unread_format(case):
        # webauthn refuses a format that it does not know. The server requests no attestation, so we do not.
        known.discard("webauthn")
    return {name: OTHERS[name](case) for name in sorted(known)}


def has_unread_format(case: Case) -> bool:
    """Whether the attestation object of a registration has a format other than those that we read."""
    if case.counter is not None:
        return False
    text = case.response["response"]["attestationObject"]
    try:
        return cbor2.loads(decoded(text))["fmt"] not in ("none", "packed")
    except Exception:  # noqa: BLE001 - a malformed object has no format
        return False


Respond = Callable[[Authenticator], dict[str, Any]]


def common(one: Authenticator, respond: Respond) -> Iterator[tuple[str, dict[str, Any], tuple[int, int], set[str]]]:
    """What both ceremonies refuse: the response, the steps of a registration and an authentication, who accepts it."""
    both = {"fido2", "webauthn"}
    yield "another challenge", respond(one.but(challenge=bytes(32))), (8, 11), set()
    yield "a longer challenge", respond(one.but(challenge=CHALLENGE + b"\0")), (8, 11), set()
    for origin in (ORIGIN + ".attacker.example", "https://a.id.example.com", "http://id.example.com", ORIGIN + "/"):
        yield f"origin {origin}", respond(one.but(origin=origin)), (9, 12), set()
    yield "a page in a frame", respond(one.but(members={"crossOrigin": True})), (10, 13), both
    yield "topOrigin", respond(one.but(members={"topOrigin": "https://attacker.example"})), (11, 14), both
    twice = one.but(client_data_change=lambda data: data[:-1] + b',"crossOrigin":false}')
    yield "a member twice", respond(twice), (6, 9), both
    yield "no JSON", respond(one.but(client_data_change=lambda data: data[:-1])), (6, 9), set()
    yield "another RP ID", respond(one.but(relying_party_id="example.com")), (14, 15), set()
    yield "no UP", respond(one.but(flags=0x1C)), (15, 16), set()
    yield "no UV", respond(one.but(flags=0x19)), (16, 17), set()
    yield "BS without BE", respond(one.but(flags=0x15)), (17, 18), {"fido2"}
    yield "a byte more", respond(one.but(rest=b"\0")), (13, 7), set()
    yield "extensions that are missing", respond(one.but(flags=0x9D)), (13, 7), set()
    yield "extensions", respond(one.but(flags=0x9D, rest=cbor2.dumps({"credProtect": 2}))), (0, 0), set()
    yield "cut authenticator data", respond(one.but(data_change=lambda data: data[:36])), (13, 7), set()


def cases(keys: list[Key]) -> Iterator[Case]:
    """Valid responses with each algorithm, and a falsified one for each refusal."""
    for key, other in zip(keys, keys[1:] + keys[:1]):
        one = Authenticator(key)
        for fmt in ("none", "packed"):
            yield Case(f"{fmt} {key.algorithm}", one.registration(fmt), 0, key)
        yield Case(f"assertion {key.algorithm}", one.assertion(), 0, key, counter=0)
        yield Case("a statement of another key", one.but(signer=Key(key.algorithm)).registration("packed"), 22, key)
        yield Case("a statement of another algorithm", one.but(signer=other).registration("packed"), 22, key)
        yield Case("another key", one.but(signer=Key(key.algorithm)).assertion(), 21, key, counter=0)
        yield Case("another algorithm", one.but(signer=other).assertion(), 21, key, counter=0)
    key = keys[0]
    one = Authenticator(key)
    for name, response, steps, accepted in common(one, lambda each: each.registration()):
        yield Case(f"registration: {name}", response, steps[0], key, frozenset(accepted))
    for name, response, steps, accepted in common(one, lambda each: each.assertion()):
        yield Case(f"authentication: {name}", response, steps[1], key, frozenset(accepted), counter=0)
    yield Case("get as create", one.but(type="webauthn.get").registration(), 7, key)
    yield Case("create as get", one.but(type="webauthn.create").assertion(), 10, key, counter=0)
    # fido2 and webauthn leave the user and the flag AT to the caller; a counter is an error for webauthn only.
    both = frozenset(OTHERS)
    yield Case("another user", one.but(user=b"user-2").assertion(), 6, key, both, counter=0)
    yield Case("a greater counter", one.but(counter=8).assertion(), 0, key, counter=7)
    attested = bytes(16) + b"\0\1\1" + cbor2.dumps(key.cose)
    yield Case("AT in an assertion", one.but(flags=0x5D, rest=attested).assertion(), 7, key, both, counter=0)
    yield from registrations(one)


def registrations(one: Authenticator) -> Iterator[Case]:
    """Falsified keys, statements and attestation objects."""
    key = one.key

    def with_key(**changes: Any) -> dict[str, Any]:
        labels = {"type": 1, "algorithm": 3, "curve": -1, "x": -2, "y": -3}
        cose = {**key.cose, **{labels[name]: value for name, value in changes.items()}}
        return one.but(key_change=lambda _: cbor2.dumps(cose)).registration()

    # For the format none, webauthn does not use the key, and fido2 reads it only.
    lazy = frozenset(OTHERS)
    yield Case("an algorithm that was not offered", with_key(algorithm=-37), 20, key)
    yield Case("the curve of another algorithm", with_key(curve=2), 20, key, lazy)
    yield Case("a point that is not on its curve", with_key(y=bytes(32)), 20, key, lazy)
    yield Case("a short coordinate", with_key(x=bytes(31)), 20, key, lazy)
    yield Case("none with a statement", one.registration("none", lambda _: {"alg": -7}), 22, key)
    unsigned = one.registration("packed", lambda found: {"alg": found["alg"]})
    yield Case("packed without a signature", unsigned, 22, key)
    other_algorithm = one.registration("packed", lambda found: {**found, "alg": -35})
    yield Case("packed with another algorithm", other_algorithm, 22, key)
    no_certificate = one.registration("packed", lambda found: {**found, "x5c": []})
    yield Case("packed without certificates", no_certificate, 22, key, lazy)
    yield Case("another format", one.registration("apple", lambda _: {"x5c": [b"1"]}), 0, key)
    longer = one.but(object_change=lambda data: data + b"\0").registration()
    yield Case("a byte more", longer, 13, key, frozenset({"webauthn"}))
    cut = one.but(object_change=lambda data: data[:-1]).registration()
    yield Case("a cut object", cut, 13, key, frozenset({"fido2"}))
    indefinite = one.but(object_change=lambda data: b"\xbf" + data[1:] + b"\xff").registration()
    yield Case("a map of indefinite length", indefinite, 13, key, frozenset({"webauthn"}))
    again = cbor2.dumps("fmt") + cbor2.dumps("none")
    twice = one.but(object_change=lambda data: bytes([data[0] + 1]) + data[1:] + again)
    yield Case("a key twice", twice.registration(), 13, key, frozenset({"fido2"}))
    yield Case("another credential", {**one.registration(), "id": "AQID", "rawId": "AQID"}, 27, key, lazy)
    yield Case("id is not rawId", {**one.registration(), "id": "AQID"}, 3, key)
    yield Case("a password", {**one.registration(), "type": "password"}, 3, key, frozenset({"fido2"}))


def vectors() -> Iterator[Case]:
    """The registration and the authentication of each test vector (WebAuthn §16)."""
    # We accept no page in a frame, and offer no Ed448; the others leave frames to the caller.
    both = frozenset(OTHERS)
    for vector in json.loads(VECTORS.read_text("utf-8")):
        created, asserted = (
            {name: bytes.fromhex(text) for name, text in vector[part].items() if text}
            for part in ("registration", "authentication")
        )
        identifier = created["credential_id"]
        data = cbor2.loads(created["attestationObject"])["authData"]
        cose = cbor2.loads(data[55 + len(identifier) :])
        framed, unknown = vector["name"].endswith("Origin"), cose[3] == ED448
        steps = (10, 13) if framed else (20, 21) if unknown else (0, 0)

        def case(ceremony: str, step: int, members: dict[str, bytes], counter: int | None, challenge: bytes) -> Case:
            response = {name: base64url(value) for name, value in members.items()}
            name = base64url(identifier)
            shown = {"id": name, "rawId": name, "type": "public-key", "clientExtensionResults": {}, "response": response}
            expected = Expectation(
                challenge, "example.org", "https://example.org", identifier, False, (*ALGORITHMS, ES512))
            accepted = both if framed else frozenset()
            return Case(
                f"vector {vector['name']}: {ceremony}", shown, step, PublicKey(cose[3], cose), accepted, counter, expected)

        made = {name: created[name] for name in ("clientDataJSON", "attestationObject")}
        yield case("registration", steps[0], made, None, created["challenge"])
        if not unknown:
            used = {name: asserted[name] for name in ("clientDataJSON", "authenticatorData", "signature")}
            yield case("authentication", steps[1], {**used, "userHandle": USER}, 0, asserted["challenge"])


def mutations(keys: list[Key], generator: random.Random) -> Iterator[Case]:
    """Responses in which random bytes of one member were changed, removed or repeated."""
    for index in range(MUTATIONS):
        key = generator.choice(keys)
        one = Authenticator(key)
        is_registration = generator.random() < 0.6
        response = one.registration(generator.choice(["none", "packed"])) if is_registration else one.assertion()
        others = ["attestationObject"] if is_registration else ["authenticatorData", "signature"]
        name = generator.choice(["clientDataJSON", *others])
        text = response["response"][name]
        data = bytearray(decoded(text))
        start = generator.randrange(len(data))
        end = min(len(data), start + generator.randint(1, 4))
        kind = generator.choice(["bit", "byte", "cut", "repeat"])
        if kind == "bit":
            data[start] ^= 1 << generator.randrange(8)
        elif kind == "byte":
            data[start] = generator.choice([0, 0x40, 0x7F, 0x80, 0xA0, 0xBF, 0xF6, 0xFF])
        elif kind == "cut":
            del data[start:end]
        else:
            data[start:start] = data[start:end]
        response["response"][name] = base64url(bytes(data))
        counter = None if is_registration else 0
        yield Case(f"mutation {index}: {kind} of {name} at {start}", response, -1, key, counter=counter)


def our_verdicts(program: Path, judged: list[Case]) -> list[str]:
    lines = "".join(case.task() + "\n" for case in judged)
    said = subprocess.run([str(program)], input=lines, capture_output=True, text=True, check=True).stdout.splitlines()
    expect(len(said) == len(judged), f"{len(said)} verdicts of {len(judged)}")
    return said


def journey(_: Path) -> str:
    program = products() / "webauthn-verdicts"
    generator = random.Random(SEED)
    keys = [Key(algorithm) for algorithm in ALGORITHMS]
    known = [*vectors(), *cases(keys)]
    wrong = []
    for case, verdict in zip(known, our_verdicts(program, known)):
        if not verdict.startswith(f"step {case.step}: " if case.step else "accepted"):
            wrong.append(f"{case.name}: we say {verdict}, not step {case.step}")
        for name, accepted in by_others(case).items():
            if accepted != (case.step == 0 or name in case.accepted_by):
                wrong.append(f"{case.name}: {name} {'accepts' if accepted else 'refuses'} it; we say {verdict}")
    random_ones = list(mutations(keys, generator))
    accepted_by_us = stricter = 0
    for case, verdict in zip(random_ones, our_verdicts(program, random_ones)):
        verdicts = by_others(case)
        expect(verdict == "accepted" or verdict.startswith("step "), f"{case.name}: {verdict}")
        if verdict == "accepted":
            accepted_by_us += 1
            if not all(verdicts.values()):
                wrong.append(f"{case.name}: we accept what is refused: {verdicts}")
        elif all(verdicts.values()):
            stricter += 1
            # They do not read a cut object to its end, judge no key of a registration, and compare no credential ID.
            if case.counter is not None or not verdict.startswith(("step 13: ", "step 20: ", "step 27: ")):
                wrong.append(f"{case.name}: the others accept what we refuse: {verdict}")
    expect(not wrong, "\n".join(wrong))
    return (
        f"{len(known)} cases as expected; of {len(random_ones)} mutations we accept {accepted_by_us}, "
        f"as the others do, and refuse {stricter} that they accept"
    )


if __name__ == "__main__":
    sys.exit(drive(journey))
