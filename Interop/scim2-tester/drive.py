#!/usr/bin/env python3
"""scim2-tester checks users by SCIM at our server, with a token of a service.

It reads the description of the server, and then creates, reads, searches, replaces, patches and deletes users.
"""

from __future__ import annotations

import importlib.metadata
import json
import sys
import time
import urllib.parse
import urllib.request
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from local_servers import Counterfoil, Failed, drive, expect, products  # noqa: E402

SCOPES = ["counterfoil.admin.users:read", "counterfoil.admin.users:write"]
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def wait_for_scopes(server: Counterfoil) -> None:
    """Waits until the running server has registered the scopes of the administration API."""
    deadline = time.monotonic() + 90
    while not all(scope in server.administer("scope", "list") for scope in SCOPES):
        if time.monotonic() > deadline:
            raise Failed("the server has not registered the scopes of the administration API")
        time.sleep(0.5)


def token(server: Counterfoil, client: dict[str, str]) -> str:
    """An access token of the service."""
    with OPENER.open(server.metadata_url, timeout=30) as answer:
        endpoint = json.load(answer)["token_endpoint"]
    form = {
        "client_id": client["client_id"], "client_secret": client["client_secret"],
        "grant_type": "client_credentials", "scope": " ".join(SCOPES),
    }
    with OPENER.open(endpoint, urllib.parse.urlencode(form).encode(), timeout=30) as answer:
        return str(json.load(answer)["access_token"])


def journey(folder: Path) -> str:
    import httpx2
    from scim2_client.engines.httpx2 import SyncSCIMClient
    from scim2_tester import Status, check_server

    server = Counterfoil(folder / "data", products(), options=["--administration-api"])
    with server.serving(folder / "server.log"):
        wait_for_scopes(server)
        client = server.register("service", "Directory", SCOPES)
        headers = {"Authorization": f"Bearer {token(server, client)}"}
        with httpx2.Client(base_url=f"{server.issuer}/scim/v2", headers=headers, trust_env=False) as http:
            results = check_server(SyncSCIMClient(http))
    refused = [f"{result.title}: {result.reason}" for result in results if result.status != Status.SUCCESS]
    expect(not refused, "\n".join(refused))
    titles = Counter(result.title for result in results)
    for title in ("object_creation", "object_replacement", "object_deletion", "check_add_attribute"):
        expect(titles[title] > 0, f"{title} was not checked")
    version = importlib.metadata.version("scim2-tester")
    return f"scim2-tester {version}: {len(results)} checks of {len(titles)} kinds succeeded"


if __name__ == "__main__":
    sys.exit(drive(journey))
