#!/usr/bin/env python3
"""schemathesis reads the OpenAPI document of the administration API and sends what it allows, and what it does not.

Each response must be one that the document describes. The tests are the same in each run; with `--examples`, there are
more of them.
"""

from __future__ import annotations

import argparse
import base64
import importlib.metadata
import json
import re
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from local_servers import Counterfoil, drive, expect, products  # noqa: E402

#: The most requests of one client in a minute are 1,200.
RATE = "19/s"
#: Two halves of the operations, each with a client of its own, so that it takes half the time.
PARTS = [[option, "^/(users|clients|invitations)"] for option in ("--include-path-regex", "--exclude-path-regex")]


def scopes(server: Counterfoil) -> list[str]:
    """The scopes of the administration API, once the server has registered it, which is after all of them."""
    end = time.monotonic() + 30
    while not any(api["resource"].endswith("/api/v1") for api in json.loads(server.administer("resource", "list", "--json"))):
        expect(time.monotonic() < end, "the server has not registered the administration API")
        time.sleep(0.1)
    listed = json.loads(server.administer("scope", "list", "--json"))
    return [scope["scope"] for scope in listed if scope["scope"].startswith("counterfoil.admin.")]


def token(server: Counterfoil, service: dict[str, str]) -> str:
    """An access token of a service for the administration API."""
    credentials = base64.b64encode(f"{service['client_id']}:{service['client_secret']}".encode()).decode()
    request = urllib.request.Request(
        f"{server.issuer}/oauth2/token",
        data=urllib.parse.urlencode({"grant_type": "client_credentials"}).encode(),
        headers={"Authorization": f"Basic {credentials}"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return str(json.load(answer)["access_token"])


def identifiers(server: Counterfoil, access: str) -> dict[str, str]:
    """Records that exist, by the segments of paths that name them."""

    def send(path: str, body: dict[str, str] | None = None) -> dict[str, Any]:
        request = urllib.request.Request(
            f"{server.issuer}/api/v1{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {access}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return dict(json.load(answer))

    server.create_scope("prints.read", "Read prints")
    api = server.create_resource("https://prints.example.com/api", "Prints", ["prints.read"])
    hook = {"url": "https://hooks.example.com/", "label": "Prints"}
    return {
        "user": send("/users?limit=1")["items"][0]["id"],
        "client": server.create_application("Prints", "http://127.0.0.1/callback", ["openid"]),
        "scope": "prints.read",
        "api": api["client_id"],
        "webhook": send("/webhooks", hook)["id"],
    }


def configuration(existing: dict[str, str]) -> str:
    """The configuration, with which operations that delete nothing find the records."""
    values = ", ".join(f"{json.dumps('path.' + name)} = {json.dumps(value)}" for name, value in existing.items())
    return Path(__file__).with_name("schemathesis.toml").read_text("utf-8") + (
        "\n[[operations]]\n"
        'include-method = ["GET", "PATCH", "POST", "PUT"]\n'
        'exclude-path-regex = "^/unregistered/|/deletion$"\n'
        f"parameters = {{ {values} }}\n"
    )


def failures(log: str) -> str:
    """The part of the log with the failures, without the warnings after it."""
    begin = re.search(r"^=+ (FAILURES|ERRORS) =+$", log, re.MULTILINE)
    found = log[begin.start() :] if begin else log[-6000:]
    return re.split(r"^=+ WARNINGS =+$", found, maxsplit=1, flags=re.MULTILINE)[0][:20_000]


def examine(api: str, access: str, settings: Path, part: list[str], folder: Path) -> subprocess.Popen[bytes]:
    """schemathesis with a part of the operations."""
    folder.mkdir()
    command = [
        str(Path(sys.executable).with_name("schemathesis")), "--config-file", str(settings), "run",
        f"{api}/openapi.json", "--url", api, *part,
        "--header", f"Authorization: Bearer {access}", "--rate-limit", RATE, "--generation-deterministic",
        "--max-examples", str(OPTIONS.examples), "--phases", "examples,coverage,fuzzing",
        "--continue-on-failure", "--no-color",
    ]
    with (folder / "schemathesis.log").open("wb") as output:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, cwd=folder
        )


def journey(folder: Path) -> str:
    server = Counterfoil(folder / "data", products(), options=["--administration-api"])
    for name in ("alice", "bob"):
        server.create_person(name, f"{name} likes long walks")
    with server.serving(folder / "server.log"):
        access = [token(server, server.register("service", "Examiner", scopes(server))) for _ in PARTS]
        settings = folder / "schemathesis.toml"
        settings.write_text(configuration(identifiers(server, access[0])), "utf-8")
        running = [
            examine(f"{server.issuer}/api/v1", access[number], settings, part, folder / f"part-{number}")
            for number, part in enumerate(PARTS)
        ]
        ended = [process.wait() for process in running]
    for number, status in enumerate(ended):
        text = (folder / f"part-{number}" / "schemathesis.log").read_text("utf-8", "replace")
        expect(status == 0, f"schemathesis ended with {status}:\n{failures(text)}")
    return f"schemathesis {importlib.metadata.version('schemathesis')}: nothing that the document does not describe"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=5, help="the most generated requests of an operation")
    OPTIONS = parser.parse_args()
    sys.exit(drive(journey))
