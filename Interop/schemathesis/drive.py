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
import subprocess
import sys
import urllib.parse
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from local_servers import Counterfoil, drive, expect, products  # noqa: E402

#: The most requests of one client in a minute are 1,200.
RATE = "19/s"


def scopes(server: Counterfoil) -> list[str]:
    """The scopes of the administration API."""
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


def journey(folder: Path) -> str:
    server = Counterfoil(folder / "data", products(), options=["--administration-api"])
    for name in ("alice", "bob"):
        server.create_person(name, f"{name} likes long walks")
    with server.serving(folder / "server.log"):
        service = server.register("service", "Examiner", scopes(server))
        api = f"{server.issuer}/api/v1"
        command = [
            str(Path(sys.executable).with_name("schemathesis")),
            "--config-file", str(Path(__file__).with_name("schemathesis.toml")), "run", f"{api}/openapi.json", "--url", api,
            "--header", f"Authorization: Bearer {token(server, service)}", "--rate-limit", RATE, "--generation-deterministic",
            "--max-examples", str(OPTIONS.examples), "--phases", "examples,coverage,fuzzing",
            "--continue-on-failure", "--no-color",
        ]
        log = folder / "schemathesis.log"
        with log.open("wb") as output:
            status = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, cwd=folder
            ).returncode
    text = log.read_text("utf-8", "replace")
    expect(status == 0, f"schemathesis ended with {status}:\n{text[-6000:]}")
    return f"schemathesis {importlib.metadata.version('schemathesis')}: nothing that the document does not describe"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=5, help="the most generated requests of an operation")
    OPTIONS = parser.parse_args()
    sys.exit(drive(journey))
