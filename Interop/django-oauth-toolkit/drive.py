#!/usr/bin/env python3
"""Our client signs a person in at django-oauth-toolkit and calls the API that it protects.

R002, R095: nothing in the client's requests is made for our own server.
"""

from __future__ import annotations

import importlib.metadata
import json
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from local_servers import Failed, drive, person_environment, products, stop  # noqa: E402


@contextmanager
def site(folder: Path, environment: dict[str, str]) -> Iterator[str]:
    """The Django site, for as long as the block runs; its address."""
    program = [sys.executable, str(Path(__file__).with_name("app.py"))]
    printed = folder / "site.out"
    with printed.open("wb") as output, (folder / "site.log").open("wb") as log:
        process = subprocess.Popen(
            [*program, str(folder / "site.db"), environment["PERSON_PASSWORD_FILE"]],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=log,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + 60
        while not printed.read_text("utf-8").endswith("\n"):
            if process.poll() is not None or time.monotonic() > deadline:
                raise Failed("the Django site does not start")
            time.sleep(0.1)
        yield printed.read_text("utf-8").strip()
    finally:
        stop(process)


def counterfoil(folder: Path, environment: dict[str, str], *words: str) -> str:
    """Runs one command of our client and returns what it printed."""
    command = [str(products() / "counterfoil"), *words, "--store", f"file:{folder / 'tokens'}"]
    result = subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120
    )
    if result.returncode != 0:
        raise Failed(f"counterfoil {words[0]} ended with {result.returncode}:\n{result.stderr}")
    return result.stdout


def journey(folder: Path) -> str:
    """The journey of an application: sign in, take the token, call the API."""
    environment = person_environment(folder, "alice", secrets.token_urlsafe(18))
    with site(folder, environment) as address:
        counterfoil(
            folder,
            environment,
            *("login", f"{address}/o", "--client-id", "lightbox", "--redirect-uri", "http://127.0.0.1/callback"),
            *("--scope", "openid", "--scope", "photos.read", "--timeout", "60"),
        )
        token = counterfoil(folder, environment, "token")
        if not token.strip() or len(token.split()) != 1:
            raise Failed("`counterfoil token` prints something else than one token")
        photos = json.loads(counterfoil(folder, environment, "call", f"{address}/photos"))
        if photos != {"owner": "alice", "photos": ["Fjord", "Harbour"]}:
            raise Failed(f"the API answered {photos}")
    version = importlib.metadata.version("django-oauth-toolkit")
    return f"django-oauth-toolkit {version}: `counterfoil login` signed in, the API answered"


if __name__ == "__main__":
    sys.exit(drive(journey))
