#!/usr/bin/env python3
"""Dovecot lets people read their mail with an access token of our server, by introspection and by validating JWTs.

Tokens that are revoked, expired, altered, or for another API, scope, issuer or user are refused.
"""

from __future__ import annotations

import grp
import imaplib
import json
import os
import pwd
import re
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from local_servers import (  # noqa: E402
    Counterfoil,
    Failed,
    drive,
    expect,
    free_ports,
    person_environment,
    products,
    stop,
    tail,
)
from our_client import REDIRECT_URI, Client, metadata  # noqa: E402

PROGRAM = "/usr/sbin/dovecot"
SCOPES = ["imap", "mail.send", "photos.read"]
MAIL, PHOTOS = "https://mail.example.com", "https://photos.example.com"


class Refused(Exception):
    """The mail server refused a token; `challenge` is what RFC 7628 lets it say."""

    def __init__(self, challenge: dict[str, str]) -> None:
        super().__init__(f"the mail server refused the token: {challenge}")
        self.challenge = challenge


class MailServer:
    """Dovecot as a mail program sees it."""

    def __init__(self, port: int, log: Path) -> None:
        self._port = port
        self._log = log

    def read_mail(self, user: str, token: str, mechanism: str = "OAUTHBEARER") -> None:
        """Signs in with a token and opens the inbox."""
        answers = {
            "OAUTHBEARER": [f"n,a={user},\1host=localhost\1port={self._port}\1auth=Bearer {token}\1\1", "\1"],
            "XOAUTH2": [f"user={user}\1auth=Bearer {token}\1\1", ""],
        }[mechanism]
        challenges: list[bytes] = []

        def answer(challenge: bytes) -> bytes:
            challenges.append(challenge)
            return answers[len(challenges) - 1].encode()

        with imaplib.IMAP4("127.0.0.1", self._port, timeout=30) as connection:
            try:
                connection.authenticate(mechanism, answer)
            except connection.error:
                raise Refused(json.loads(challenges[1]) if len(challenges) > 1 else {}) from None
            status, _ = connection.select("INBOX")
            expect(status == "OK", f"{mechanism}: there is no inbox")

    def refuse(self, user: str, token: str, reason: str) -> None:
        """Expects a refusal for this reason, which is in the log."""
        before = len(self._reasons())
        try:
            self.read_mail(user, token)
        except Refused as refused:
            expect(refused.challenge.get("status") == "invalid_token", f"Dovecot says {refused.challenge}")
        else:
            raise Failed(f"a token was taken that should be refused: {reason}")
        deadline = time.monotonic() + 10
        while len(self._reasons()) == before:
            expect(time.monotonic() < deadline, f"Dovecot logs no reason for a refusal: {reason}")
            time.sleep(0.02)
        given = self._reasons()[-1]
        expect(reason in given, f"Dovecot refused a token because “{given}”, not “{reason}”")

    def _reasons(self) -> list[str]:
        return re.findall(r"oauth2 failed: (.*)", self._log.read_text("utf-8", "replace"))


@contextmanager
def dovecot(folder: Path, name: str, values: dict[str, object]) -> Iterator[MailServer]:
    """Dovecot with one of the configurations of this folder, for as long as the block runs."""
    place = folder / name
    (place / "mail").mkdir(parents=True)
    place.chmod(0o711)
    port = free_ports(1)[0]
    # Dovecot reads no mail as root.
    owner = pwd.getpwuid(os.geteuid() or 65534)
    os.chown(place / "mail", owner.pw_uid, owner.pw_gid)
    log = folder / f"dovecot-{name}.log"
    values = {
        **values,
        "folder": place,
        "log": log,
        "port": port,
        "uid": owner.pw_uid,
        "gid": owner.pw_gid,
        "user": owner.pw_name,
        "group": grp.getgrgid(owner.pw_gid).gr_name,
    }
    text = filled_in("dovecot.conf", values)
    if os.geteuid() != 0:
        text += filled_in("unprivileged.conf", values)
    (place / "dovecot.conf").write_text(text, "utf-8")
    secret = place / "dovecot-oauth2.conf.ext"
    secret.touch(0o600)
    secret.write_text(filled_in(f"{name}.conf.ext", values), "utf-8")
    with (folder / f"{name}-output.log").open("wb") as output:
        process = subprocess.Popen(
            [PROGRAM, "-F", "-c", str(place / "dovecot.conf")],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + 20
        while not greets(port):
            ended = process.poll() is not None
            expect(not ended and time.monotonic() < deadline, f"Dovecot does not start:\n{tail(log)}")
            time.sleep(0.05)
        yield MailServer(port, log)
    finally:
        stop(process)


def greets(port: int) -> bool:
    try:
        with imaplib.IMAP4("127.0.0.1", port, timeout=5) as connection:
            return b"AUTH=OAUTHBEARER" in connection.welcome
    except OSError:
        return False


def filled_in(name: str, values: dict[str, object]) -> str:
    """The text of a file of this folder."""
    text = Path(__file__).with_name(name).read_text("utf-8")
    for key, value in values.items():
        text = text.replace(f"@{key}@", str(value))
    return text


def access_token(client: Client, resource: str, scope: str) -> str:
    """A token of a new sign-in."""
    client.login("--resource", resource, "--scope", scope)
    return client.token()


def altered(token: str) -> str:
    """The token with another signature."""
    return token[:-8] + ("AAAAAAAA" if not token.endswith("AAAAAAAA") else "BBBBBBBB")


def introspect(server: Counterfoil, folder: Path, client: Client, api: dict[str, str]) -> None:
    """The mail server asks our server what a token is worth; its credentials are in the URL, as Dovecot documents."""
    scheme, rest = f"{server.issuer}/oauth2/introspect".split("://")
    url = f"{scheme}://{api['client_id']}:{api['client_secret']}@{rest}"
    with dovecot(folder, "introspection", {"introspection_url": url}) as mail:
        mail.refuse("alice", access_token(client, PHOTOS, "photos.read"), "Provided token is not valid")
        mail.refuse("alice", access_token(client, MAIL, "mail.send"), "scope")
        token = access_token(client, MAIL, "imap")
        mail.read_mail("alice", token)
        mail.read_mail("alice", token, "XOAUTH2")
        mail.refuse("bob", token, "Username 'bob' did not match 'alice'")
        mail.refuse("alice", altered(token), "Provided token is not valid")
        expect(client.logout()["revoked"] is True, "the token was not revoked")
        mail.refuse("alice", token, "Provided token is not valid")


class Keys:
    """The keys of our server where Dovecot looks for them, and one of this test's own beside them."""

    def __init__(self, folder: Path, issuer: str) -> None:
        import jwt
        from cryptography.hazmat.primitives.asymmetric import ec

        self._own = ec.generate_private_key(ec.SECP256R1())
        self._folder = folder / "default"
        self._put("ES256", "interop", self._own.public_key())
        for key in jwt.PyJWKClient(metadata(issuer)["jwks_uri"]).get_jwk_set().keys:
            self._put(key.algorithm_name, key.key_id, key.key)

    def _put(self, algorithm: str, identifier: str, key: Any) -> None:
        """Dovecot finds a key under the `azp` of the token (else `default`), its algorithm and its `kid`."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        if algorithm in ("Ed25519", "EdDSA"):  # Dovecot 2.3 knows no such signature.
            return
        file = self._folder / algorithm / identifier
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))

    def like(self, token: str, **changed: object) -> str:
        """A token that says the same but for these claims, with the signature of this test's own key."""
        import jwt

        return jwt.encode({**claims(token), **changed}, self._own, "ES256", headers={"kid": "interop"})


def claims(token: str) -> dict[str, Any]:
    """What a JWT says, unverified."""
    import jwt

    return dict(jwt.decode(token, options={"verify_signature": False}))


def validate(server: Counterfoil, folder: Path, client: Client) -> None:
    """The mail server validates the token itself; the user is the `sub`, because an access token has no user name."""
    import jwt

    keys = Keys(folder / "local" / "keys", server.issuer)
    with dovecot(folder, "local", {"issuer": server.issuer, "resource": MAIL}) as mail:
        token = access_token(client, PHOTOS, "photos.read")
        user = claims(token)["sub"]
        mail.refuse(user, token, "client_id not found in aud field")
        mail.refuse(user, access_token(client, MAIL, "mail.send"), "scope")
        token = access_token(client, MAIL, "imap")
        mail.read_mail(user, token)
        mail.read_mail(user, token, "XOAUTH2")
        mail.refuse("bob", token, "Username 'bob' did not match")
        mail.refuse(user, altered(token), "signature")
        mail.read_mail(user, keys.like(token))
        mail.refuse(user, keys.like(token, exp=int(time.time()) - 60), "Token has expired")
        mail.refuse(user, keys.like(token, iss="https://id.example.com"), "is not allowed")
        mail.refuse(user, keys.like(token, aud=[PHOTOS, server.issuer]), "client_id not found in aud field")
        unsigned = jwt.encode(claims(token), None, "none", headers={"kid": jwt.get_unverified_header(token)["kid"]})
        mail.refuse(user, unsigned, "Unsupported algorithm")


def journey(folder: Path) -> str:
    password = secrets.token_urlsafe(18)
    server = Counterfoil(folder / "data", products())
    server.create_person("alice", password)
    for scope in SCOPES:
        server.create_scope(scope, f"Use {scope}")
    api = server.create_resource(MAIL, "Mail", ["imap", "mail.send"], "--jwt-type", "jwt")
    server.create_resource(PHOTOS, "Photos", ["photos.read"], "--jwt-type", "jwt")
    native = server.create_application("Letterbox", REDIRECT_URI, ["openid", *SCOPES])
    environment = person_environment(folder, "alice", password)
    folder.chmod(0o711)  # Dovecot's processes have users of their own where root runs this.
    with server.serving(folder / "server.log"):
        client = Client(folder, environment, server.issuer, native)
        introspect(server, folder, client, api)
        validate(server, folder, client)
    version = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout.split()[0]
    return f"Dovecot {version}: mail read with tokens that it introspects, and with tokens that it validates itself"


if __name__ == "__main__":
    sys.exit(drive(journey, (PROGRAM,)))
