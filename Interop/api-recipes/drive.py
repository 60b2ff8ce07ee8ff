#!/usr/bin/env python3
"""The APIs in Python and Go of docs/guide/apis.md, word for word, with tokens of our server and what they must refuse."""

from __future__ import annotations

import base64
import json
import os
import secrets
import shutil
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import jwt  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import ec  # noqa: E402
from guide_page import Page, Reader  # noqa: E402
from local_servers import MISSING, ROOT, Counterfoil, drive, expect, free_ports, products  # noqa: E402

PAGE = "docs/guide/apis.md"
API, OTHER_API = "https://photos.example.com", "https://prints.example.com"
# Where Debian keeps the sources of Go libraries.
LIBRARIES = Path("/usr/share/gocode")
OIDC = "github.com/coreos/go-oidc"
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Service:
    """A service with a secret, which gets tokens for the APIs."""

    def __init__(self, server: Counterfoil) -> None:
        self._server = server
        server.create_scope("photos.read", "See photos")
        server.create_scope("photos.write", "Add photos")
        server.create_scope("prints.read", "See prints")
        server.create_resource(API, "Photo library", ["photos.read", "photos.write"])
        server.create_resource(OTHER_API, "Prints", ["prints.read"])
        created = server.register("service", "Lightbox nightly", ["photos.read", "photos.write", "prints.read"])
        self._credentials = {"client_id": created["client_id"], "client_secret": created["client_secret"]}

    def token(self, scope: str = "photos.read", resource: str = API, proof: str | None = None) -> str:
        """An access token, bound to the key of a proof where one is given."""
        form = {**self._credentials, "grant_type": "client_credentials", "scope": scope, "resource": resource}
        request = urllib.request.Request(self.endpoint, urllib.parse.urlencode(form).encode())
        if proof is not None:
            request.add_header("DPoP", proof)
        with OPENER.open(request, timeout=30) as answer:
            return str(json.load(answer)["access_token"])

    @property
    def endpoint(self) -> str:
        """The token endpoint, as the metadata name it."""
        with OPENER.open(self._server.metadata_url, timeout=30) as answer:
            return str(json.load(answer)["token_endpoint"])

    def bound_token(self) -> str:
        """An access token that is bound to a key (DPoP, RFC 9449)."""
        key = ec.generate_private_key(ec.SECP256R1())
        public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(key.public_key()))
        claims = {"htm": "POST", "htu": self.endpoint, "iat": int(time.time()), "jti": secrets.token_urlsafe()}
        return self.token(proof=jwt.encode(claims, key, "ES256", {"typ": "dpop+jwt", "jwk": public}))

    def token_of_type_jwt(self) -> str:
        """An access token for the same API, with the type that ID tokens have."""
        self._server.administer("resource", "edit", API, "--jwt-type", "jwt")
        token = self.token()
        self._server.administer("resource", "edit", API, "--jwt-type", "at+jwt")
        return token


def journey(folder: Path) -> str:
    server = Counterfoil(folder / "data", products())
    service = Service(server)
    page = Page(PAGE)
    with server.serving(folder / "server.log"):
        good = service.token()
        refused = {
            "a token for another API": service.token("prints.read", OTHER_API),
            "a token of another type": service.token_of_type_jwt(),
            "a token that is bound to a key": service.bound_token(),
            **forged(good),
        }
        short = service.token("photos.write")
    done = []
    for name, running in (("Flask", flask), ("FastAPI", fastapi), ("net/http", go)):
        with ExitStack() as api:
            with server.serving(folder / "server.log"):
                url = api.enter_context(running(folder, page, server.issuer))
            # The API has no keys yet, so it cannot say whether a token is good.
            status, fields = get(url, f"Bearer {good}")
            wanted = 401 if name == "net/http" else 503
            expect(status == wanted, f"{name} answered {status}, not {wanted}, without the keys of the server")
            expect(status == 401 or "Retry-After" in fields, f"{name} does not say when to try again")
            with server.serving(folder / "server.log"):
                check(name, url, good, short, refused)
            # The keys that the API has are enough.
            status, _ = get(url, f"Bearer {good}")
            expect(status == 200, f"{name} answered {status} without the authorization server")
        done.append(name)
    return f"the APIs of {PAGE}: {', '.join(done)} accepted a token for them, and refused {len(refused) + 3} requests"


def check(name: str, url: str, good: str, short: str, refused: dict[str, str]) -> None:
    """Calls an API with every token, and compares status and challenge (RFC 6750 §3)."""
    for scheme in ("Bearer", "bearer"):
        status, _ = get(url, f"{scheme} {good}")
        expect(status == 200, f"{name} answered {status} to a token for it")
    for field in (None, "Basic YWxpY2U6c2VjcmV0"):
        status, fields = get(url, field)
        expect(status == 401, f"{name} answered {status} without a token")
        expect(fields["WWW-Authenticate"] == 'Bearer scope="photos.read"', f"{name} challenges with {fields}")
    for what, token in refused.items():
        status, fields = get(url, f"Bearer {token}")
        expect(status == 401, f"{name} answered {status} to {what}")
        challenge = fields["WWW-Authenticate"]
        expect(challenge == 'Bearer scope="photos.read", error="invalid_token"', f"{name} challenges with {challenge}")
    status, fields = get(url, f"Bearer {short}")
    expect(status == 403, f"{name} answered {status} to a token without the scope")
    challenge = fields["WWW-Authenticate"]
    expect(challenge == 'Bearer scope="photos.read", error="insufficient_scope"', f"{name} challenges with {challenge}")


def forged(good: str) -> dict[str, str]:
    """Tokens that the server has not signed."""
    header, payload, signature = good.split(".")
    kid = jwt.get_unverified_header(good)["kid"]
    typ = {"kid": kid, "typ": "at+jwt"}
    claims = claims_of(good)
    stranger = ec.generate_private_key(ec.SECP256R1())
    bare = base64.urlsafe_b64encode(json.dumps({"alg": "none", **typ}).encode()).rstrip(b"=").decode()
    other = base64.urlsafe_b64encode(json.dumps({**claims, "scope": "photos.read all"}).encode()).rstrip(b"=").decode()
    return {
        "a token of another key": jwt.encode(claims, stranger, "ES256", typ),
        "a token with a changed payload": f"{header}.{other}.{signature}",
        "a token without a signature": f"{bare}.{payload}.",
        "a token with a symmetric signature": jwt.encode(claims, secrets.token_bytes(32), "HS256", typ),
        "a token without a key identifier": jwt.encode(claims, stranger, "ES256", {"typ": "at+jwt"}),
        "what is no token": "not.a.token",
        "an empty token": "",
    }


def claims_of(token: str) -> dict[str, Any]:
    """The claims of a token, without a check."""
    return dict(jwt.decode(token, options={"verify_signature": False}))


def get(url: str, authorization: str | None) -> tuple[int, Any]:
    """The status and the fields of an answer."""
    request = urllib.request.Request(url)
    if authorization is not None:
        request.add_header("Authorization", authorization)
    try:
        with OPENER.open(request, timeout=60) as answer:
            return int(answer.status), answer.headers
    except urllib.error.HTTPError as answer:
        return answer.code, answer.headers


def flask(folder: Path, page: Page, issuer: str) -> Any:
    return python(folder / "flask", page, issuer, "flask ", "Running on")


def fastapi(folder: Path, page: Page, issuer: str) -> Any:
    return python(folder / "fastapi", page, issuer, "uvicorn ", "Uvicorn running on")


@contextmanager
def python(home: Path, page: Page, issuer: str, program: str, says: str) -> Iterator[str]:
    """The API of the page that a program runs, for as long as the block runs; the URL of its photos."""
    home.mkdir()
    (port,) = free_ports(1)
    command = next(command for command in page.commands("Python") if command.startswith(program))
    (home / "bearer.py").write_text(here(page.file("Python", "bearer.py"), issuer, port), "utf-8")
    (home / "photos.py").write_text(page.file("Python", "photos.py", home.name), "utf-8")
    with Reader(home, dict(os.environ)).running(here(command, issuer, port), says):
        yield f"http://127.0.0.1:{port}/photos"


@contextmanager
def go(folder: Path, page: Page, issuer: str) -> Iterator[str]:
    """The API of the page in Go, made of the system's libraries and nothing from the network."""
    home = folder / "go"
    source = home / "src" / "photos" / "main.go"
    source.parent.mkdir(parents=True)
    (port,) = free_ports(1)
    source.write_text(here(page.file("Go", "main.go"), issuer, port), "utf-8")
    shutil.copytree(LIBRARIES / "src" / OIDC, home / "src" / OIDC / "v3" / "oidc")
    environment = {
        **os.environ, "GO111MODULE": "off", "GOPATH": f"{home}:{LIBRARIES}",
        "GOCACHE": str(ROOT / ".build" / "interop" / "go"),
    }
    reader = Reader(home, environment)
    reader.run(f"go build -o photos {source}")
    with reader.running("./photos", ""):
        url = f"http://127.0.0.1:{port}/photos"
        end = time.monotonic() + 30
        while True:
            try:
                get(url, None)
                break
            except urllib.error.URLError:
                expect(time.monotonic() < end, "the API in Go does not answer")
                time.sleep(0.05)
        yield url


def here(text: str, issuer: str, port: int) -> str:
    """A text of the page with the issuer and the port of this machine."""
    return text.replace("https://id.example.com", issuer).replace("8090", str(port))


if __name__ == "__main__":
    if not (LIBRARIES / "src" / OIDC).exists():
        print(f"the Go library {OIDC} is not installed")
        sys.exit(MISSING)
    sys.exit(drive(journey, ("go",)))
