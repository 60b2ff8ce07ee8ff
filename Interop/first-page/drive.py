#!/usr/bin/env python3
"""A newcomer's first page: the configuration that `app show` prints, on an empty page of http://localhost, in Chromium.

`app create --type spa` with a redirect URI only, `app show --configuration fetch` as index.html, signed in. With
another redirect URI, the page of the server names what it received, the nearest registered URI and the difference.
"""

from __future__ import annotations

import json
import secrets
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from chromium import PROGRAMS, chromium  # noqa: E402
from local_servers import Counterfoil, drive, expect, free_ports, products  # noqa: E402
from static_site import static_site  # noqa: E402


def journey(folder: Path) -> str:
    password = secrets.token_urlsafe(18)
    server = Counterfoil(folder / "data", products())
    server.create_person("alice", password)
    port = free_ports(1)[0]
    page = f"http://localhost:{port}/"
    with server.serving(folder / "server.log"), chromium(folder) as browser:
        registered = json.loads(
            server.administer("app", "create", "--type", "spa", "--name", "First", "--redirect-uri", page, "--json")
        )
        expect(registered["scope"] == "openid profile email", f"the scope is {registered['scope']}")
        shown = server.administer("app", "show", registered["client_id"], "--configuration", "fetch")
        texts = {"index.html": shown}
        with static_site(folder, texts, port):
            browser.open(page)
            browser.press("#sign-in")
            browser.sign_in(server.issuer, "alice", password)
            browser.until("the email address", lambda: "alice@example.com" in browser.text_of("#user"))
            expect(browser.address() == page, f"the sign-in ended at {browser.address()}")

            wrong = f"http://127.0.0.1:{port}/"
            texts["index.html"] = shown.replace(json.dumps(page), json.dumps(wrong))
            expect(texts["index.html"] != shown, "the configuration does not name the redirect URI")
            browser.open(page)
            browser.press("#sign-in")
            said = browser.until("the error page", lambda: browser.run("return document.querySelector('details')?.textContent"))
            for part in (wrong, page, registered["client_id"]):
                expect(part in said, f"the section for developers does not name {part}: {said}")
    return "the configuration of app show, as the first page of an app on localhost: signed in"


if __name__ == "__main__":
    sys.exit(drive(journey, PROGRAMS))
