#!/usr/bin/env python3
"""The shop of Server/Examples/SignInPage signs its users in for our server, as docs/guide/your-own-sign-in.md says.

The code in the guide is that of the example. A key that is withdrawn signs no user in after a reload.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import json
import os
import secrets
import signal
import sys
import time
import urllib.parse
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from guide_page import Page  # noqa: E402
from local_servers import ROOT, Counterfoil, drive, expect, free_ports, products, running  # noqa: E402
from person import ErrorPage, Person, noting  # noqa: E402

EXAMPLE = ROOT / "Server" / "Examples" / "SignInPage"


class App:
    """A native app that signs users in."""

    def __init__(self, server: Counterfoil) -> None:
        self.server = server
        self.callback = f"http://127.0.0.1:{free_ports(1)[0]}/callback"
        self.client_id = server.create_application("Lightbox", "http://127.0.0.1/callback", ["openid", "profile"])

    def sign_in(self, person: Person, **more: str) -> dict[str, object]:
        """The claims of the ID token after a sign-in."""
        verifier = secrets.token_urlsafe(32)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        query = {"response_type": "code", "client_id": self.client_id, "redirect_uri": self.callback,
                 "scope": "openid profile", "state": "s", "code_challenge": challenge,
                 "code_challenge_method": "S256", **more}
        answer = person.sign_in(f"{self.server.issuer}/oauth2/authorize?{urllib.parse.urlencode(query)}")
        code = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(answer).query)).get("code")
        expect(code is not None, f"the sign-in ended at {answer.split('?')[0]} without a code")
        form = {"grant_type": "authorization_code", "client_id": self.client_id, "code": code or "",
                "redirect_uri": self.callback, "code_verifier": verifier}
        request = urllib.request.Request(f"{self.server.issuer}/oauth2/token", urllib.parse.urlencode(form).encode())
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as response:
            token = json.load(response)["id_token"]
        part = token.split(".")[1]
        return dict(json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))))


def journey(folder: Path) -> str:
    code = Page("docs/guide/your-own-sign-in.md").under("The page in Python", "python")
    shown = (EXAMPLE / "counterfoil.py").read_text("utf-8")
    expect([block.text for block in code] == [shown], "the code in the guide is not that of the example")

    password = secrets.token_urlsafe(18)
    port = free_ports(1)[0]
    server = Counterfoil(folder / "data", products())
    app = App(server)
    shop = [sys.executable, str(EXAMPLE / "shop.py"), server.issuer, "--port", str(port), "--folder", str(folder)]
    environment = {"SHOP_PASSWORD": password}
    keys = folder / "keys.json"
    page = f"http://localhost:{port}/login/counterfoil"
    options = ["--external-sign-in", page, "--external-sign-in-keys", str(keys), "--external-sign-in-name", "Shop"]

    def person(name: str) -> Person:
        return Person(name, password, stop=app.callback, note=noting(folder / "person.log"))

    with running(shop, f"http://localhost:{port}/", folder / "shop.log", folder=folder, environment=environment):
        with server.adding(options, {}).serving(folder / "server.log") as process:
            ada = person("ada")
            first = app.sign_in(ada)
            expect(first.get("name") == "Ada Lovelace", f"the ID token says {first}")
            expect(first.get("amr") == ["pwd"], f"amr is {first.get('amr')}")
            expect(first.get("sub") == "customer-1", f"the identifier of the shop was not kept: {first.get('sub')}")
            again = app.sign_in(person("ada"))
            expect(again["sub"] == first["sub"], "a second sign-in is another account")
            # The shop asks for the password again, and says when.
            time.sleep(1.1)
            fresh = app.sign_in(ada, prompt="login")
            expect(fresh["auth_time"] > first["auth_time"], "prompt=login did not ask again")
            grace = app.sign_in(person("grace"))
            expect(grace["sub"] == "customer-2", f"the identifier of the shop was not kept: {grace['sub']}")

            former = json.loads(keys.read_text("utf-8"))
            other = folder / "other"
            other.mkdir()
            replace_key(other, keys)
            os.kill(process.pid, signal.SIGHUP)
            expect_refusal(app, lambda: person("ada"))
            keys.write_text(json.dumps(former), "utf-8")
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("Flask", "PyJWT"))
    return f"{versions}: accounts by issuer and subject, prompt=login, a withdrawn key; the guide has the code"


def replace_key(folder: Path, keys: Path) -> None:
    """Puts another public key into the file of the server."""
    sys.path.insert(0, str(EXAMPLE))
    from shop import create_key

    create_key(folder)
    keys.write_text((folder / "keys.json").read_text("utf-8"), "utf-8")


def expect_refusal(app: App, new_person) -> None:  # type: ignore[no-untyped-def]
    """Waits until the server has read the keys again, and refuses the responses of the shop."""
    end = time.monotonic() + 20
    while True:
        try:
            app.sign_in(new_person())
        except ErrorPage as answer:
            expect(answer.page.title.startswith("The sign-in failed"), f"the error page is “{answer.page.title}”")
            return
        expect(time.monotonic() < end, "a withdrawn key still signs users in")
        time.sleep(0.2)


if __name__ == "__main__":
    sys.exit(drive(journey))
