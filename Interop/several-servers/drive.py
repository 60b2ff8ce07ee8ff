#!/usr/bin/env python3
"""One program signs a person in at two servers that send no `iss`: each has a redirect URI of its own.

The servers are two sites with django-oauth-toolkit, whose responses have no `iss` unless a setting says so. Both are
public hosts behind TLS, because our client makes no difference between servers on loopback.
"""

from __future__ import annotations

import importlib.metadata
import secrets
import subprocess
import sys
import urllib.parse
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import own_network  # noqa: E402
from apache import PROGRAM, Authority, Site, apache  # noqa: E402
from local_servers import MISSING, drive, expect, free_ports, person_environment, products, site  # noqa: E402

NAMES = ["id.counterfoil.test", "login.counterfoil.test"]
DJANGO = Path(__file__).resolve().parent.parent / "django-oauth-toolkit" / "app.py"


def journey(folder: Path) -> str:
    authority = Authority(folder / "tls", NAMES)
    address = own_network.be_known_as(NAMES, authority.certificate, folder)
    environment = {
        **person_environment(folder, "alice", secrets.token_urlsafe(18)),
        "PERSON_AUTHORITY": str(authority.certificate),
        "PERSON_HOSTS": ",".join(NAMES),
        "HOME": str(folder),
        "XDG_DATA_HOME": str(folder / "data"),
    }
    with ExitStack() as stack:
        sites, issuers = [], []
        for name, port in zip(NAMES, free_ports(len(NAMES)), strict=True):
            place = folder / name
            place.mkdir()
            program = [sys.executable, str(DJANGO), str(place / "site.db"), environment["PERSON_PASSWORD_FILE"], name]
            sites.append(tls_in_front(name, port, stack.enter_context(site(program, place)), address))
            issuers.append(f"https://{name}:{port}/o")
        stack.enter_context(apache(folder / "apache", authority, sites, folder / "apache.log"))
        result = subprocess.run(
            [str(products() / "several-servers"), *issuers], env=environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=120,
        )
    expect(result.returncode == 0, f"several-servers ended with {result.returncode}:\n{result.stderr}")
    signed_in = dict(line.split("\t") for line in result.stdout.splitlines())
    expect(list(signed_in) == issuers and all(signed_in.values()), f"it signed in as {signed_in}")
    paths = [redirect_path(line.removeprefix("Open: ")) for line in result.stderr.splitlines()]
    expect(len(set(paths)) == len(NAMES), f"the redirect URIs have the paths {paths}")
    version = importlib.metadata.version("django-oauth-toolkit")
    return f"django-oauth-toolkit {version}, two sites without iss: one process, two sign-ins, two redirect URIs"


def tls_in_front(name: str, port: int, to: str, address: str) -> Site:
    """A virtual host that ends TLS and says so."""
    said = ['RequestHeader set X-Forwarded-Proto "https"', "ProxyPreserveHost On", f"ProxyPass / {to}/"]
    return Site(name, port, said, address)


def redirect_path(url: str) -> str:
    """The path of the redirect URI in an authorization request."""
    asked = urllib.parse.parse_qs(urllib.parse.urlsplit(url).query)
    return urllib.parse.urlsplit(asked["redirect_uri"][0]).path


if __name__ == "__main__":
    if not own_network.enter():
        print("two public hosts on one machine need root and a network of their own")
        sys.exit(MISSING)
    sys.exit(drive(journey, (PROGRAM, "openssl")))
