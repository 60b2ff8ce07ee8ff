#!/usr/bin/env python3
"""Our client signs a person in with the profiles of FotoWare, iTwin and Zoho, at our own server set up in their place.

The commands are those of the guide `moving-from-NAME.md`, with the host and the ports of this machine.
"""

from __future__ import annotations

import base64
import json
import os
import re
import secrets
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from apache import PROGRAM, Authority, apache, proxy  # noqa: E402
from local_servers import ROOT, Failed, drive, expect, free_ports, person_environment, products, running  # noqa: E402

VENDORS = ("fotoware", "itwin", "zoho")


@dataclass(frozen=True)
class Guide:
    """The commands of a guide, each as its words."""

    commands: list[list[str]]

    @staticmethod
    def read(vendor: str, tls_port: int, port: int) -> Guide:
        """The first block of commands, for a server on these ports of this machine."""
        text = (ROOT / "docs" / "guide" / f"moving-from-{vendor}.md").read_text("utf-8")
        block = re.search(r"```sh\n(.*?)```", text, re.DOTALL)
        if block is None:
            raise Failed(f"moving-from-{vendor}.md has no commands")
        lines = block[1].replace("\\\n", " ")
        host = re.search(r"--issuer https://([a-z.]+)", lines)
        if host is None:
            raise Failed(f"moving-from-{vendor}.md names no issuer")
        here = lines.replace(host[1], f"localhost:{tls_port}").replace("127.0.0.1:8080", f"127.0.0.1:{port}")
        return Guide([shlex.split(line) for line in here.splitlines()])

    def those(self, program: str, *verbs: str) -> list[list[str]]:
        """The commands of a program that begin with one of the verbs."""
        return [words for words in self.commands if words[0] == program and words[1] in verbs]

    def the(self, program: str, verb: str) -> list[str]:
        """The only command of a program with this verb."""
        (words,) = self.those(program, verb)
        return words

    def option(self, words: list[str], name: str) -> str:
        """The value of an option."""
        return words[words.index(name) + 1]


def journey(folder: Path) -> str:
    password = secrets.token_urlsafe(18)
    authority = Authority(folder / "tls", ["localhost"])
    os.environ.update(person_environment(folder, "alice", password))
    os.environ.update(PERSON_AUTHORITY=str(authority.certificate), SSL_CERT_FILE=str(authority.certificate))
    for vendor in VENDORS:
        sign_in(vendor, folder, authority, password)
    return f"our server in place of {', '.join(VENDORS)}: the commands of the guides sign in by the vendor's profile"


def sign_in(vendor: str, folder: Path, authority: Authority, password: str) -> None:
    """Runs the guide of a vendor, and checks whose token came of it."""
    place = folder / vendor
    place.mkdir()
    tls_port, port = free_ports(2)
    guide = Guide.read(vendor, tls_port, port)
    run(["counterfoil-server", "user", "create", "alice", "--email", "alice@example.com", "--password-stdin",
         "--data-dir", "./data"], place, password)
    for words in guide.those("counterfoil-server", "scope", "app"):
        run(words, place)

    serve, login = guide.the("counterfoil-server", "serve"), guide.the("counterfoil", "login")
    issuer = guide.option(serve, "--issuer")
    path = issuer.removeprefix(f"https://localhost:{tls_port}")
    ready = f"http://127.0.0.1:{port}/.well-known/oauth-authorization-server{path}"
    front = proxy("localhost", tls_port, f"http://127.0.0.1:{port}")
    with running([program(serve[0]), *serve[1:]], ready, folder / f"{vendor}.log", folder=place), apache(
        place / "apache", authority, [front], folder / f"{vendor}-apache.log"
    ):
        store = ["--store", f"file:{place / 'tokens'}"]
        run([*login, "--timeout", "60", *store], place)
        first = claims(run(["counterfoil", "token", *store], place))
        expect(first["iss"] == issuer, f"{vendor}: the token is of {first['iss']}")
        expect(first["client_id"] == guide.option(login, "--client-id"), f"{vendor}: it is of {first['client_id']}")
        # Three seconds later, the stored token no longer lives as long as a new one does.
        while time.time() < first["iat"] + 3:
            time.sleep(0.2)
        lifetime = str(first["exp"] - first["iat"] - 2)
        later = claims(run(["counterfoil", "token", "--min-lifetime", lifetime, *store], place))
        expect(later["jti"] != first["jti"] and later["sub"] == first["sub"], f"{vendor}: no refreshed token")
        run(["counterfoil", "logout", *store], place)
        run(["counterfoil", "token", *store], place, wanted=3)


def program(name: str) -> str:
    """The path of one of our programs."""
    return str(products() / name)


def run(words: list[str], folder: Path, line: str | None = None, wanted: int = 0) -> str:
    """Runs a command of one of our programs in a folder; what it printed."""
    result = subprocess.run(
        [program(words[0]), *words[1:]], cwd=folder, input="" if line is None else f"{line}\n", capture_output=True,
        text=True, timeout=120,
    )
    if result.returncode != wanted:
        raise Failed(f"{' '.join(words[:3])} ended with {result.returncode}, not {wanted}:\n{result.stderr}")
    return result.stdout


def claims(token: str) -> dict[str, Any]:
    """The claims of an access token, read without a check of the signature."""
    payload = token.strip().split(".")[1]
    return dict(json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))))


if __name__ == "__main__":
    sys.exit(drive(journey, (PROGRAM, "openssl")))
