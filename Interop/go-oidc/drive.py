#!/usr/bin/env python3
"""A Go program on golang.org/x/oauth2 and go-oidc signs a person in at our server and calls the sample API.

It refreshes by itself, and what is wrong is refused.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from local_servers import (  # noqa: E402
    MISSING,
    ROOT,
    Counterfoil,
    Failed,
    drive,
    person_environment,
    photo_library,
    products,
)

# Where Debian keeps the sources of Go libraries.
LIBRARIES = Path("/usr/share/gocode")
SCOPES = ["openid", "profile", "offline_access", "photos.read"]


def run(command: list[str], environment: dict[str, str], seconds: float) -> None:
    """Runs a program to its end."""
    result = subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds
    )
    if result.returncode != 0:
        raise Failed(f"{Path(command[0]).name} ended with {result.returncode}:\n{result.stderr}")


def built(folder: Path) -> str:
    """The program, made of the system's libraries and nothing from the network."""
    program = folder / "relying-party"
    environment = {
        **os.environ,
        "GO111MODULE": "off",
        "GOPATH": str(LIBRARIES),
        "GOCACHE": str(ROOT / ".build" / "interop" / "go"),
    }
    source = Path(__file__).with_name("main.go")
    run(["go", "build", "-o", str(program), str(source)], environment, 240)
    return str(program)


def journey(folder: Path) -> str:
    password = secrets.token_urlsafe(18)
    program = built(folder)
    server = Counterfoil(folder / "data", products())
    server.create_person("alice", password)
    server.create_scope("photos.read", "See your photos and albums")
    client_id = server.create_application("Lightbox", "http://127.0.0.1/back", SCOPES)
    environment = person_environment(folder, "alice", password)
    with server.serving(folder / "server.log"), photo_library(products(), server.issuer, folder / "api.log") as api:
        run([program, server.issuer, client_id, api], environment, 120)
    return "golang.org/x/oauth2 and go-oidc: signed in, the API answered, refreshed; what is wrong was refused"


if __name__ == "__main__":
    for library in ("golang.org/x/oauth2", "github.com/coreos/go-oidc"):
        if not (LIBRARIES / "src" / library).exists():
            print(f"the Go library {library} is not installed")
            sys.exit(MISSING)
    sys.exit(drive(journey, ("go",)))
