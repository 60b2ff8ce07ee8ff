#!/usr/bin/env python3
"""Our client signs a person in at LemonLDAP::NG, a single sign-on portal in Perl.

A public client and one with a secret; a forged answer, and an ended session.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from local_servers import drive, expect, free_ports, person_environment, running  # noqa: E402
from our_client import REFUSED, UNSAFE, Client, metadata  # noqa: E402
from person import Person, noting  # noqa: E402

PORTAL = Path("/usr/share/lemonldap-ng/portal")
# A person of its sample directory, whose password is the name.
DWHO = "dwho"
# Of access tokens, in seconds: too short to be used twice.
LIFETIME = 5
SCOPES = ["openid", "profile", "email"]


def openssl(*words: str, text: str | None = None) -> str:
    """Runs openssl; what it printed."""
    return subprocess.run(["openssl", *words], input=text, capture_output=True, text=True, check=True).stdout


def relying_party(client_id: str, redirect_uri: str) -> dict[str, object]:
    """An application; people are asked before it gets anything."""
    options = {
        "ClientID": client_id,
        "RedirectUris": redirect_uri,
        "IDTokenSignAlg": "RS256",
        "AccessTokenExpiration": LIFETIME,
        "AllowOffline": 1,
        "RefreshToken": 1,
        "BypassConsent": 0,
    }
    return {f"oidcRPMetaDataOptions{name}": value for name, value in options.items()}


def configuration(folder: Path, issuer: str, redirect_uri: str, secret: str) -> dict[str, object]:
    """The settings of the portal."""

    def storage(name: str) -> dict[str, str]:
        places = {"Directory": folder / name, "LockDirectory": folder / name / "lock"}
        places["LockDirectory"].mkdir(parents=True)
        generator = "Lemonldap::NG::Common::Apache::Session::Generate::SHA256"
        return {**{key: str(place) for key, place in places.items()}, "generateModule": generator}

    key = openssl("genrsa", "2048")
    public = {"oidcRPMetaDataOptionsPublic": 1, "oidcRPMetaDataOptionsRequirePKCE": 1}
    applications = {
        "lightbox": {**relying_party("lightbox", redirect_uri), **public},
        "darkroom": {**relying_party("darkroom", redirect_uri), "oidcRPMetaDataOptionsClientSecret": secret},
    }
    return {
        "cfgNum": 1,
        "cfgAuthor": "Interop",
        "cfgDate": int(time.time()),
        "key": secrets.token_hex(16),
        "portal": f"{issuer}/",
        "domain": "localhost",
        "authentication": "Demo",
        "userDB": "Same",
        "passwordDB": "Null",
        "registerDB": "Null",
        "demoExportedVars": {"cn": "cn", "mail": "mail", "uid": "uid"},
        # No page shows a captcha, but the server does not start without a captcha module; its own needs ImageMagick.
        "captcha": "::Main::Menu",
        "portalDisplayRegister": 0,
        "portalDisplayResetPassword": 0,
        "locationRules": {"localhost": {"default": "accept"}},
        "globalStorage": "Apache::Session::File",
        "globalStorageOptions": storage("sessions"),
        "persistentStorage": "Apache::Session::File",
        "persistentStorageOptions": storage("persistent-sessions"),
        "localSessionStorage": "Cache::FileCache",
        "localSessionStorageOptions": {"namespace": "lemonldap-ng-sessions", "cache_root": str(folder / "cache")},
        "issuerDBOpenIDConnectActivation": 1,
        "oidcServiceMetaDataIssuer": issuer,
        "oidcServicePrivateKeySig": key,
        "oidcServicePublicKeySig": openssl("rsa", "-pubout", text=key),
        "oidcServiceKeyIdSig": "key",
        "oidcServiceAllowAuthorizationCodeFlow": 1,
        "oidcRPMetaDataOptions": applications,
        "oidcRPMetaDataExportedVars": {name: {"name": "cn", "email": "mail"} for name in applications},
    }


@contextmanager
def portal(folder: Path, redirect_uri: str, secret: str) -> Iterator[str]:
    """The portal, for as long as the block runs; its issuer."""
    port = free_ports(1)[0]
    issuer = f"http://localhost:{port}"
    kept = folder / "conf"
    kept.mkdir()
    (kept / "lmConf-1.json").write_text(json.dumps(configuration(folder, issuer, redirect_uri, secret)), "utf-8")
    settings = folder / "lemonldap-ng.ini"
    lines = ["[all]", "logLevel = warn", "[configuration]", "type = File", f"dirName = {kept}"]
    lines += ["localStorage = Cache::FileCache", f"localStorageOptions = {{ 'cache_root' => '{folder}/conf-cache' }}"]
    lines += ["[portal]", "staticPrefix = /static", f"templateDir = {PORTAL}/templates", "languages = en"]
    settings.write_text("\n".join(lines) + "\n", "utf-8")
    os.environ["LLNG_DEFAULTCONFFILE"] = str(settings)
    command = ["plackup", "--env", "deployment", "--host", "127.0.0.1", "--port", str(port)]
    command += [str(PORTAL / "htdocs" / "index.psgi")]
    with running(command, f"{issuer}/.well-known/openid-configuration", folder / "portal.log"):
        yield issuer


def journey(folder: Path) -> str:
    environment = person_environment(folder, DWHO, DWHO)
    person = Person(DWHO, DWHO, note=noting(folder / "person.log"))
    secret = folder / "client-secret"
    secret.touch(0o600)
    secret.write_text(secrets.token_urlsafe(24), "utf-8")
    # It compares the ports of loopback addresses too.
    redirect_uri = f"http://127.0.0.1:{free_ports(1)[0]}/callback"
    asked = ["--scope", " ".join(SCOPES), "--redirect-uri", redirect_uri]
    with portal(folder, redirect_uri, secret.read_text("utf-8")) as issuer:
        sign_in_without_secret(Client(folder, environment, issuer, "lightbox"), person, asked)
        with_secret = [*asked, "--client-secret-file", str(secret)]
        sign_in_with_secret(Client(folder, environment, issuer, "darkroom"), folder, asked, with_secret)
    return f"LemonLDAP::NG {version()}: signed in, refreshed, with a secret too; what is forged or over is refused"


def version() -> str:
    """The version of the installed package."""
    shown = subprocess.run(
        ["dpkg-query", "--show", "--showformat=${Version}", "liblemonldap-ng-portal-perl"],
        capture_output=True,
        text=True,
    )
    return shown.stdout.strip() or "unknown"


def sign_in_without_secret(client: Client, person: Person, asked: list[str]) -> None:
    """The journey of a native application."""
    with client.waiting(*asked) as login:
        login.answer(code="forged", iss="https://id.example.com")
        login.end(UNSAFE)
    with client.waiting(*asked) as login:
        expect(login.answer(code="forged", state="another") >= 400, "an answer with another state was taken")
        person.sign_in(login.address)
        login.end()
    expect(person.agreed, "the person was not asked")
    client.wait_for_refresh(client.token())
    claims = {"sub": DWHO, "name": "Doctor Who", "email": "dwho@badwolf.org", "acr": "loa-1"}
    expect(client.claims() == claims, f"the server says {client.claims()}")
    expect(client.logout()["revoked"] is False, "it was told to revoke, which it cannot")


def sign_in_with_secret(client: Client, folder: Path, asked: list[str], with_secret: list[str]) -> None:
    """The journey of an application whose secret is in a file, until the portal has forgotten the person.

    It calls that an invalid request and not an invalid grant: for our client the sign-in has not ended by that.
    """
    said = client.login(*asked, wanted=REFUSED)
    expect("the server refused" in said, f"without the secret: {said}")
    client.login(*with_secret)
    expect(client.call(metadata(client.issuer)["userinfo_endpoint"])["sub"] == DWHO, "UserInfo says something else")
    for session in (folder / "sessions").iterdir():
        if session.is_file():
            session.unlink()
    time.sleep(LIFETIME)
    said = client.run("token", wanted=REFUSED)
    expect("the server refused" in said, f"a refresh token of an ended session: {said}")


if __name__ == "__main__":
    sys.exit(drive(journey, ("plackup", "openssl")))
