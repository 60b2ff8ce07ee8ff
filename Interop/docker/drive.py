#!/usr/bin/env python3
"""docker reads a manifest at a registry with tokens of our server, from `counterfoil credential docker`.

The registry is a small one behind TLS, with the token server that the distribution specification describes. It takes
the token as a password (Basic) and as an identity token (`<token>`). `docker manifest inspect` needs no daemon. From a
sign-in for two registries, each gets a token for itself only.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import subprocess
import sys
import urllib.parse
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from apache import Authority  # noqa: E402
from local_servers import Counterfoil, drive, expect, person_environment, products  # noqa: E402
from our_client import REDIRECT_URI, Client  # noqa: E402
from protected_site import Handler, is_for, protected_site, user_of  # noqa: E402

SCOPES = ["openid", "profile", "offline_access"]
CONFIGURATION = json.dumps(
    {"architecture": "amd64", "os": "linux", "config": {}, "rootfs": {"type": "layers", "diff_ids": []}}
).encode()
MANIFEST_TYPE = "application/vnd.docker.distribution.manifest.v2+json"


def digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


MANIFEST = json.dumps(
    {
        "schemaVersion": 2,
        "mediaType": MANIFEST_TYPE,
        "config": {
            "mediaType": "application/vnd.docker.container.image.v1+json",
            "size": len(CONFIGURATION),
            "digest": digest(CONFIGURATION),
        },
        "layers": [],
    }
).encode()


class Registry:
    """What the registry has issued and received."""

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer
        self.issued: set[str] = set()
        self.received: list[tuple[str, str]] = []
        # Whether it takes only tokens whose one audience is the registry.
        self.is_strict = False

    def handler(self) -> type[Handler]:
        registry = self

        class RegistryHandler(Handler):
            def do_GET(self) -> None:
                path = self.path.partition("?")[0]
                if path == "/token":
                    return self.exchange(*self.basic)
                if self.bearer not in registry.issued:
                    realm = f"https://localhost:{self.server.server_address[1]}/token"
                    challenge = f'Bearer realm="{realm}",service="photos"'
                    if path != "/v2/":
                        challenge += ',scope="repository:photos/app:pull"'
                    return self.respond(401, b'{"errors":[{"code":"UNAUTHORIZED"}]}', WWW_Authenticate=challenge)
                if path == "/v2/":
                    return self.respond(200, b"{}")
                if path == "/v2/photos/app/manifests/latest":
                    return self.respond(200, MANIFEST, MANIFEST_TYPE, Docker_Content_Digest=digest(MANIFEST))
                if path == f"/v2/photos/app/blobs/{digest(CONFIGURATION)}":
                    return self.respond(200, CONFIGURATION, "application/octet-stream")
                self.respond(404, b'{"errors":[{"code":"NAME_UNKNOWN"}]}')

            do_HEAD = do_GET

            def do_POST(self) -> None:
                form = urllib.parse.parse_qs(self.body().decode())
                if self.path.partition("?")[0] != "/token" or form.get("grant_type") != ["refresh_token"]:
                    return self.respond(404, b"{}")
                self.exchange("<token>", form["refresh_token"][0])

            def exchange(self, name: str, token: str) -> None:
                """Exchanges a token of our server for one of the registry."""
                if token:
                    registry.received.append((name, token))
                site = f"https://localhost:{self.server.server_address[1]}"
                known = is_for(token, site) if registry.is_strict else user_of(registry.issuer, token) is not None
                if not token or not known:
                    return self.respond(401, b'{"errors":[{"code":"UNAUTHORIZED"}]}')
                issued = secrets.token_urlsafe(24)
                registry.issued.add(issued)
                self.respond(200, json.dumps({"token": issued, "access_token": issued, "expires_in": 60}).encode())

        return RegistryHandler


def journey(folder: Path) -> str:
    password = secrets.token_urlsafe(18)
    server = Counterfoil(folder / "data", products())
    server.create_person("alice", password)
    environment = person_environment(folder, "alice", password)
    authority = Authority(folder / "tls", ["localhost"])
    environment.update(
        HOME=str(folder),
        DOCKER_CONFIG=str(folder / "docker"),
        DOCKER_HOST="unix:///nonexistent",
        DOCKER_CLI_EXPERIMENTAL="enabled",
        COUNTERFOIL_STORE=f"file:{folder / 'tokens'}",
        NO_PROXY="127.0.0.1,localhost",
    )
    counterfoil = products() / "counterfoil"
    (folder / "bin" / "docker-credential-counterfoil").symlink_to(counterfoil)
    script = folder / "bin" / "docker-credential-identity"
    script.write_text(
        f"#!/bin/sh\nexec {counterfoil} credential docker --profile default --username '<token>' \"$@\"\n", "utf-8"
    )
    script.chmod(0o755)
    (folder / "docker").mkdir()
    application = server.create_application("docker", REDIRECT_URI, SCOPES)
    registry = Registry(server.issuer)

    def inspect(port: int, helper: str, works: bool = True) -> str:
        helpers = {"credHelpers": {f"localhost:{port}": helper}}
        (folder / "docker" / "config.json").write_text(json.dumps(helpers), "utf-8")
        result = subprocess.run(
            ["docker", "manifest", "inspect", f"localhost:{port}/photos/app:latest"],
            # docker trusts the authority of this test; our own program needs none here.
            env={**environment, "SSL_CERT_FILE": str(authority.certificate)},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
        )
        expect((result.returncode == 0) == works, f"docker ended with {result.returncode}:\n{result.stderr}")
        return result.stdout if works else result.stderr

    shown = subprocess.run(["docker", "--version"], env=environment, capture_output=True, text=True, check=True)
    with server.serving(folder / "server.log"), protected_site(registry.handler(), authority) as port, \
            protected_site(registry.handler(), authority) as other:
        client = Client(folder, environment, server.issuer, application)
        inspect(port, "counterfoil", works=False)
        client.login("--scope", " ".join(SCOPES), "--api", f"https://localhost:{port}")
        for helper, name in (("counterfoil", "oauth2"), ("identity", "<token>")):
            registry.received.clear()
            manifest = json.loads(inspect(port, helper))
            expect(manifest["config"]["digest"] == digest(CONFIGURATION), f"docker shows {manifest}")
            expect(set(registry.received) == {(name, client.token())}, f"docker sent {len(registry.received)} others")

        first = client.token()
        subprocess.run(
            [str(counterfoil), "credential", "git", "erase"],
            input=f"protocol=https\nhost=localhost:{port}\npassword={first}\n\n",
            env=environment, check=True, text=True, timeout=60,
        )
        inspect(port, "counterfoil")
        expect(registry.received[-1] != ("oauth2", first), "the expired token was not refreshed")

        registry.received.clear()
        inspect(other, "counterfoil", works=False)
        expect(not registry.received, "a registry that the sign-in does not name received a token")

        # A token that the authorization server has revoked is refused; the thief has a copy of the store.
        client.copy("copied-tokens")
        client.logout()
        environment["COUNTERFOIL_STORE"] = f"file:{folder / 'copied-tokens'}"
        inspect(port, "counterfoil", works=False)
        expect(bool(registry.received), "the revoked token was not tried")

        # One sign-in for two APIs: each registry takes only a token for itself.
        environment["COUNTERFOIL_STORE"] = f"file:{folder / 'both'}"
        sites = [f"https://localhost:{port}", f"https://localhost:{other}"]
        scopes = [*SCOPES, *server.create_apis(*sites)]
        registered = server.create_application("docker-both", REDIRECT_URI, scopes)
        both = Client(folder, environment, server.issuer, registered, "both")
        both.login("--scope", " ".join(scopes), "--resource", sites[0], "--resource", sites[1])
        registry.is_strict = True
        registry.received.clear()
        for place in (port, other, port, other):
            inspect(place, "counterfoil")
        sent = {token for _, token in registry.received}
        expect(sent == {both.token("--resource", site) for site in sites}, f"docker sent {len(sent)} tokens")
        expect(both.token() not in sent, "docker sent the token of the whole sign-in")
    version = shown.stdout.strip()
    return (
        f"{version}: read a manifest with our token, as password and as identity token; another registry got none; "
        "from one sign-in for two APIs, each got a token for itself"
    )


if __name__ == "__main__":
    sys.exit(drive(journey, ("docker", "openssl")))
