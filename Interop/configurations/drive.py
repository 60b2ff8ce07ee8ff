#!/usr/bin/env python3
"""Reads every ready configuration of `app show` with a parser of its format, and compares the values.

The clients have names, scopes and redirect URIs with the characters that end literals of one format or another. What a
parser reads must be what is registered, so that no value gets out of its literal. Other clients of each type have the
registrations that change a configuration: keys, other algorithms and policies, other kinds of redirect URIs, and scopes of
several APIs. The programs in Python and Go also run: each signs a person in.
"""

from __future__ import annotations

import ast
import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import tomllib
import urllib.parse
from collections.abc import Callable
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from apache import MODULES, PROGRAM  # noqa: E402
from literals import c_sharp, go, javascript, kotlin, scripts, swift  # noqa: E402
from local_servers import MISSING, ROOT, Counterfoil, Failed, drive, expect, products, stop  # noqa: E402
from person import Person, noting  # noqa: E402

NAME = "\"Gallery\" ${HOME} `id` $(id) </script> 'x' \\ # %h"
# RFC 6749 §3.3 allows every printable character of ASCII but the quotation mark and the backslash.
SCOPES = ["openid", "email", "it's", "${HOME}", "$(id)", "`id`", "</script>", "#x", "%{HTTP_HOST}e", "{{x}}"]
PLAIN_SCOPES = [scope for scope in SCOPES if scope != "email"]
WEB = "https://gallery.example.com/it's/$(id)/callback"
AFTER_SIGN_OUT = "https://gallery.example.com/it's/$(id)/signed-out"
CLAIMED = "https://gallery.example.com/it's/app"
NATIVE = ["http://127.0.0.1/it's/$(id)", "com.example.gallery:/it's/$(id)"]
SECRET = "the client secret"
# Where Debian keeps the sources of Go libraries.
GO_LIBRARIES = Path("/usr/share/gocode")
PHOTOS, ALBUMS = "https://photos.example.com/it's", "https://albums.example.com/$(id)"
# The example of RFC 7517 Appendix A.1, with a `kid` that needs escapes.
PUBLIC_KEY = {
    "kty": "EC", "crv": "P-256", "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
    "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM", "use": "sig", "alg": "ES256", "kid": "it's </script>",
}


class Case:
    """A client as it is registered, and its ready configurations."""

    def __init__(
        self, server: Counterfoil, kind: str, uris: list[str], *options: str, scopes: list[str] = SCOPES
    ) -> None:
        more = [word for uri in uris for word in ("--redirect-uri", uri)]
        created = server.register(kind, NAME, scopes, *more, *options)
        shown = json.loads(server.administer("app", "show", created["client_id"], "--json"))
        self.kind = kind
        self.uris = uris
        self.client_id: str = created["client_id"]
        self.scope: str = shown["machine_scope" if kind == "service" else "scope"]
        self.algorithm: str = shown["id_token_signed_response_alg"]
        self.shown = shown
        self.connection = shown["connection"]
        self.issuer: str = self.connection["issuer"]
        self.texts: dict[str, str] = self.connection["configurations"]
        # A service has no user, and so no scopes of OpenID Connect.
        wanted = set(scopes) - ({"openid", "email"} if kind == "service" else set())
        expect(set(self.scope.split()) == wanted, f"the {kind} client has the scope {self.scope}")
        for name, text in self.texts.items():
            secret = created.get("client_secret")
            expect(secret is None or secret not in text, f"{name} contains the secret")
            printed = server.administer("app", "show", self.client_id, "--configuration", name)
            expect(printed.strip() == text.strip(), f"--config {name} prints another text than the JSON has")

    def holds(self, name: str, found: object, wanted: object) -> None:
        expect(found == wanted, f"{self.kind}, {name}: {found!r} instead of {wanted!r}")

    def contains(self, name: str, found: set[str], wanted: list[str]) -> None:
        for each in wanted:
            expect(each in found, f"{self.kind}, {name}: {each!r} is not among {sorted(found)}")


# Formats


def spring(case: Case) -> None:
    client = yaml.safe_load(case.texts["spring"])["spring"]["security"]["oauth2"]["client"]
    registration = client["registration"]["counterfoil"]
    grant = "client_credentials" if case.kind == "service" else "authorization_code"
    case.holds("spring", registration["client-id"], case.client_id)
    case.holds("spring", registration["client-secret"], "${CLIENT_SECRET}")
    case.holds("spring", registration["authorization-grant-type"], grant)
    case.holds("spring", client["provider"]["counterfoil"]["issuer-uri"], case.issuer)
    scopes = [scope.replace("\\${", "${") for scope in registration["scope"]]
    case.holds("spring", scopes, case.scope.split(" "))
    expect("${HOME}" not in [scope for scope in registration["scope"]], "Spring would replace ${HOME}")
    if case.uris:
        case.holds("spring", registration["redirect-uri"], case.uris[0])


def spring_notes(case: Case) -> None:
    """What YAML cannot say is in comments: beans for the algorithm and for PKCE."""
    spring(case)
    comments = "\n".join(line for line in case.texts["spring"].splitlines() if line.startswith("#"))
    for code in ('SignatureAlgorithm.from("ES256")', "OAuth2AuthorizationRequestCustomizers.withPkce()"):
        expect(code in comments, f"the comments have no {code}:\n{case.texts['spring']}")


def authlib(case: Case) -> None:
    program = ast.parse(case.texts["authlib"])
    constants = [node.value for node in ast.walk(program) if isinstance(node, ast.Constant)]
    strings = {constant for constant in constants if isinstance(constant, str)}
    wanted = [case.connection["openid_configuration"], case.client_id, case.scope, case.uris[0], "S256"]
    case.contains("authlib", strings, wanted)


def authlib_native(case: Case) -> None:
    constants = [node.value for node in ast.walk(ast.parse(case.texts["authlib"])) if isinstance(node, ast.Constant)]
    strings = {constant for constant in constants if isinstance(constant, str)}
    endpoints = [case.connection["authorization_endpoint"], case.connection["token_endpoint"]]
    path = urllib.parse.urlsplit(case.uris[0]).path
    case.contains("authlib", strings, [case.issuer, case.client_id, case.scope, path, *endpoints])


def go_oauth2(case: Case) -> None:
    strings = go("go-oauth2", case.texts["go-oauth2"])
    endpoints = [case.connection["authorization_endpoint"], case.connection["token_endpoint"]]
    path = urllib.parse.urlsplit(case.uris[0]).path
    case.contains("go-oauth2", strings, [case.issuer, case.client_id, path, *case.scope.split(), *endpoints])


def dotnet(case: Case) -> None:
    strings = c_sharp("dotnet", case.texts["dotnet"])
    path = urllib.parse.urlsplit(case.uris[0]).path
    case.contains("dotnet", strings, [case.issuer, case.client_id, case.scope, path])


def go_environment() -> dict[str, str]:
    """The environment of a compiler that uses the system's libraries and nothing from the network."""
    cache = ROOT / ".build" / "interop" / "go"
    return {**os.environ, "GO111MODULE": "off", "GOPATH": str(GO_LIBRARIES), "GOCACHE": str(cache)}


def program(case: Case, name: str, folder: Path) -> list[str]:
    """The command that runs a configuration as a program."""
    place = folder / case.client_id
    place.mkdir(exist_ok=True)
    if name == "authlib":
        source = place / "sign_in.py"
        source.write_text(case.texts[name], "utf-8")
        return [sys.executable, str(source)]
    source = place / "main.go"
    source.write_text(case.texts[name], "utf-8")
    built = place / "sign-in"
    command = ["go", "build", "-o", str(built), str(source)]
    result = subprocess.run(command, env=go_environment(), capture_output=True, text=True, timeout=240)
    expect(result.returncode == 0, f"{name} does not compile:\n{result.stderr}\n{case.texts[name]}")
    formatted = subprocess.run(["gofmt", "-l", str(source)], capture_output=True, text=True, timeout=60)
    expect(formatted.stdout == "", f"{name} is not formatted like Go:\n{case.texts[name]}")
    return [str(built)]


def sign_in(case: Case, name: str, folder: Path, person: Person) -> None:
    """Runs a program, and signs the person in at the URL that it prints."""
    # A program that opens a browser has none here.
    environment = {**os.environ, "BROWSER": "true", "PYTHONUNBUFFERED": "1"}
    log = folder / f"{name}-{case.client_id}.log"
    with log.open("wb") as errors:
        process = subprocess.Popen(
            program(case, name, folder), env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors
        )
    try:
        assert process.stdout is not None
        printed = process.stdout.readline().decode()
        address = printed.removeprefix("Sign in at ").strip()
        expect(address.startswith(case.issuer), f"{name} prints {printed!r}: {log.read_text('utf-8')}")
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(address).query)
        apis = [api["resource"] for api in case.connection["apis"]]
        case.holds(f"{name}, resource", query.get("resource", []), [*apis, case.issuer] if len(apis) > 1 else [])
        person.sign_in(address)
        rest = process.stdout.read().decode()
        expect(process.wait(60) == 0, f"{name} ended with {process.returncode}: {log.read_text('utf-8')}")
        expect(rest.startswith("Signed in; "), f"{name} prints {rest!r}")
    finally:
        stop(process)


def express(case: Case) -> None:
    strings = javascript("express-openid-connect", case.texts["express-openid-connect"])
    wanted = [case.issuer, case.client_id, case.scope, case.algorithm, "https://gallery.example.com"]
    case.contains("express-openid-connect", strings, [*wanted, "/it's/$(id)/callback"])


def openid_client(case: Case) -> None:
    strings = javascript("openid-client", case.texts["openid-client"])
    case.contains("openid-client", strings, [case.issuer, case.client_id, case.scope, *case.uris])


def openid_client_with_key(case: Case) -> None:
    """private_key_jwt: the algorithm and the name of the key, and no secret."""
    openid_client(case)
    [key] = case.shown["jwks"]["keys"]
    text = case.texts["openid-client"]
    case.contains("openid-client", javascript("openid-client", text), [key["kid"], key["alg"]])
    expect("client.PrivateKeyJwt(" in text and "CLIENT_SECRET" not in text, f"openid-client uses no key:\n{text}")


def oidc_client_ts(case: Case) -> None:
    strings = javascript("oidc-client-ts", case.texts["oidc-client-ts"])
    wanted = [case.issuer, case.client_id, case.scope, *case.uris, *case.connection["post_logout_redirect_uris"]]
    case.contains("oidc-client-ts", strings, wanted)


def page(case: Case) -> None:
    [script] = scripts(case.texts["fetch"])
    endpoints = [case.connection[name] for name in ("authorization_endpoint", "token_endpoint", "userinfo_endpoint")]
    wanted = [case.issuer, case.client_id, case.scope, *case.uris, *endpoints]
    case.contains("fetch", javascript("fetch", script), wanted)


def fetch_with_apis(case: Case) -> None:
    page(case)
    [script] = scripts(case.texts["fetch"])
    case.contains("fetch", javascript("fetch", script), [PHOTOS, ALBUMS])


def oidc_client_ts_with_apis(case: Case) -> None:
    oidc_client_ts(case)
    strings = javascript("oidc-client-ts", case.texts["oidc-client-ts"])
    case.contains("oidc-client-ts", strings, [PHOTOS, ALBUMS, case.issuer])


def dotnet_with_apis(case: Case) -> None:
    dotnet(case)
    case.contains("dotnet", c_sharp("dotnet", case.texts["dotnet"]), [PHOTOS, ALBUMS, case.issuer])


def oauth2_proxy(case: Case) -> None:
    settings = tomllib.loads(case.texts["oauth2-proxy"])
    wanted = {
        "provider": "oidc", "oidc_issuer_url": case.issuer, "client_id": case.client_id, "redirect_url": case.uris[0],
        "scope": case.scope, "code_challenge_method": "S256", "proxy_prefix": "/it's/$(id)",
    }
    for name, value in wanted.items():
        case.holds(f"oauth2-proxy, {name}", settings.get(name), value)


def oauth2_proxy_without_email(case: Case) -> None:
    """The subject takes the place of the email address, and a comment says that the redirect URI does not fit."""
    settings = tomllib.loads(case.texts["oauth2-proxy"])
    case.holds("oauth2-proxy, oidc_email_claim", settings.get("oidc_email_claim"), "sub")
    case.holds("oauth2-proxy, redirect_url", settings.get("redirect_url"), case.uris[0])
    case.holds("oauth2-proxy, proxy_prefix", settings.get("proxy_prefix"), None)
    expect("# oauth2-proxy needs a redirect URI" in case.texts["oauth2-proxy"], "no comment about the redirect URI")


def mod_auth_openidc(case: Case, folder: Path) -> None:
    """Apache accepts the directives, and reads the values as they are registered.

    Apache shows no values of directives, but those of `Define`, whose words it reads in the same way.
    """
    text = case.texts["mod-auth-openidc"]
    words = re.findall(r"^(OIDC\w+) (.*)$", text, re.MULTILINE)
    modules = ["mpm_event", "authz_core", "authz_user", "authn_core", "auth_openidc"]
    configuration = folder / "openidc.conf"
    configuration.write_text(
        "\n".join(
            [
                f"ServerRoot {folder}",
                f"ErrorLog {folder / 'apache.log'}",
                f"PidFile {folder / 'apache.pid'}",
                "ServerName localhost",
                "Listen 127.0.0.1:1",
                *(f"LoadModule {name}_module {MODULES / f'mod_{name}.so'}" for name in modules),
                text,
                *(f"Define READ_{name} {word}" for name, word in words),
            ]
        ),
        "utf-8",
    )
    environment = {**os.environ, "CLIENT_SECRET": SECRET, "CRYPTO_PASSPHRASE": "a passphrase"}
    command = [PROGRAM, "-t", "-D", "DUMP_RUN_CFG", "-f", str(configuration)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    expect(result.returncode == 0, f"Apache refuses the configuration:\n{result.stderr}\n{text}")
    expect("is not defined" not in result.stderr, f"Apache misses a variable:\n{result.stderr}")
    values = dict(re.findall(r"^Define: READ_(\w+)=(.*)$", result.stdout, re.MULTILINE))
    wanted = {
        "OIDCProviderMetadataURL": case.connection["openid_configuration"],
        "OIDCClientID": case.client_id,
        "OIDCClientSecret": SECRET,
        "OIDCRedirectURI": case.uris[0],
        "OIDCScope": case.scope,
        "OIDCIDTokenSignedResponseAlg": case.algorithm,
    }
    for name, value in wanted.items():
        case.holds(f"mod_auth_openidc, {name}", values.get(name), value)


def shell(case: Case, name: str, program: str, folder: Path) -> tuple[list[str], str]:
    """The arguments that a script gives to a program, and its input."""
    arguments, given = folder / "arguments", folder / "input"
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    recorder = programs / program
    recorder.write_text(f"#!/bin/sh\nprintf '%s\\0' \"$@\" >'{arguments}'\ncat >'{given}'\n", "utf-8")
    recorder.chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "CLIENT_SECRET": SECRET}
    result = subprocess.run(
        ["sh", "-eu"], input=case.texts[name], env=environment, capture_output=True, text=True, timeout=60
    )
    expect(result.returncode == 0, f"{name} ended with {result.returncode}: {result.stderr}")
    return arguments.read_text("utf-8").split("\0")[:-1], given.read_text("utf-8")


def counterfoil_login(case: Case, folder: Path) -> None:
    arguments, _ = shell(case, "counterfoil-login", "counterfoil", folder)
    receiver = ["--redirect-uri", case.uris[0]] if case.uris else ["--device"]
    options = ["--client-id", case.client_id, *receiver, "--scope", case.scope]
    case.holds("counterfoil-login", arguments, ["login", case.issuer, *options])


def curl(case: Case, folder: Path) -> None:
    arguments, given = shell(case, "curl", "curl", folder)
    apis = [api["resource"] for api in case.connection["apis"]]
    resources = [f"resource={api}" for api in apis] if len(apis) > 1 else []
    case.contains("curl", set(arguments), [f"scope={case.scope}", case.connection["token_endpoint"], *resources])
    case.holds("curl", given, f'user = "{case.client_id}:{SECRET}"\n')


def kubelogin(case: Case, address: str = "127.0.0.1:8000") -> None:
    [user] = yaml.safe_load(case.texts["kubelogin"])["users"]
    arguments = user["user"]["exec"]["args"]
    wanted = [f"--oidc-issuer-url={case.issuer}", f"--oidc-client-id={case.client_id}", f"--listen-address={address}"]
    path = urllib.parse.urlsplit(case.uris[0]).path
    wanted.append(f"--oidc-redirect-url=http://{address}{path}")
    wanted += [f"--oidc-extra-scope={scope}" for scope in case.scope.split() if scope != "openid"]
    case.contains("kubelogin", set(arguments), wanted)


def counterfoil_swift(case: Case) -> None:
    strings = swift("counterfoil-swift", case.texts["counterfoil-swift"])
    case.contains("counterfoil-swift", strings, [case.issuer, case.client_id, case.scope, *case.uris])


def appauth_ios(case: Case) -> None:
    strings = swift("appauth-ios", case.texts["appauth-ios"])
    case.contains("appauth-ios", strings, [case.issuer, case.client_id, case.uris[-1], *case.scope.split()])


def appauth_android(case: Case) -> None:
    strings = kotlin("appauth-android", case.texts["appauth-android"])
    case.contains("appauth-android", strings, [case.issuer, case.client_id, case.uris[-1], case.scope])


def appauth_android_claimed(case: Case) -> None:
    """A claimed https URI needs an intent filter with its host and path, which a comment contains."""
    appauth_android(case)
    text = case.texts["appauth-android"]
    target = urllib.parse.urlsplit(case.uris[-1])
    for value in (target.hostname, target.path):
        expect(json.dumps(value) in text, f"appauth-android does not name {value}:\n{text}")


def others(server: Counterfoil, folder: Path) -> list[tuple[Case, dict[str, Callable[[Case], None]]]]:
    """Clients whose registration changes the text of a configuration, with the parsers of what changes."""
    keys = folder / "keys.json"
    keys.write_text(json.dumps({"keys": [PUBLIC_KEY]}), "utf-8")
    own_rules = ("--id-token-signed-response-alg", "ES256", "--pkce", "s256")
    return [
        (Case(server, "web", [WEB], "--jwks", str(keys)), {"openid-client": openid_client_with_key}),
        (Case(server, "service", [], "--jwks", str(keys)), {"openid-client": openid_client_with_key}),
        (Case(server, "web", [WEB], *own_rules), {"spring": spring_notes, "express-openid-connect": express}),
        (
            Case(server, "web", ["https://gallery.example.com/it's/back"], scopes=PLAIN_SCOPES),
            {"oauth2-proxy": oauth2_proxy_without_email},
        ),
        (
            Case(server, "spa", [WEB], "--post-logout-redirect-uri", AFTER_SIGN_OUT),
            {"oidc-client-ts": oidc_client_ts},
        ),
        (
            Case(server, "native", [CLAIMED]),
            {
                "counterfoil-swift": counterfoil_swift, "appauth-ios": appauth_ios,
                "appauth-android": appauth_android_claimed,
            },
        ),
        (
            Case(server, "native", ["http://[::1]/it's/$(id)"]),
            {"kubelogin": lambda case: kubelogin(case, "[::1]:8000")},
        ),
        (
            Case(server, "native", ["http://127.0.0.1:9123/back"]),
            {"kubelogin": lambda case: kubelogin(case, "127.0.0.1:9123")},
        ),
        (
            Case(server, "spa", [WEB], scopes=["openid", "photos", "albums"]),
            {"fetch": fetch_with_apis, "oidc-client-ts": oidc_client_ts_with_apis},
        ),
        (
            Case(server, "service", [], scopes=["photos", "albums"]),
            {"curl": lambda case: curl(case, folder), "spring": spring},
        ),
        (Case(server, "native", NATIVE, scopes=["openid", "photos", "albums"]), {"dotnet": dotnet_with_apis}),
    ]


def journey(folder: Path) -> str:
    if shutil.which("swiftc") is None:
        raise Failed("swiftc is not installed")
    server = Counterfoil(folder / "data", products())
    password = secrets.token_urlsafe(18)
    server.create_person("alice", password)
    for scope in [*SCOPES, "photos", "albums"]:
        if scope not in ("openid", "email"):
            server.create_scope(scope, "A scope with a difficult name")
    server.create_resource(PHOTOS, "Photos", ["photos"])
    server.create_resource(ALBUMS, "Albums", ["albums"])
    with server.serving(folder / "server.log"):
        cases = {
            "web": Case(server, "web", [WEB]), "spa": Case(server, "spa", [WEB]),
            "native": Case(server, "native", NATIVE), "device": Case(server, "device", []),
            "service": Case(server, "service", []),
        }
        variants = others(server, folder)
        runs = [
            Case(server, "native", ["http://127.0.0.1/back"], scopes=["openid", "photos"]),
            Case(server, "native", ["http://[::1]/back"], scopes=["openid", "photos", "albums"]),
        ]
        for case in runs:
            for name in ("authlib", "go-oauth2"):
                sign_in(case, name, folder, Person("alice", password, note=noting(folder / "person.log")))
    parsers: dict[str, dict[str, Callable[[Case], None]]] = {
        "web": {
            "spring": spring, "authlib": authlib, "express-openid-connect": express, "openid-client": openid_client,
            "oauth2-proxy": oauth2_proxy, "mod-auth-openidc": lambda case: mod_auth_openidc(case, folder),
        },
        "spa": {"fetch": page, "oidc-client-ts": oidc_client_ts},
        "native": {
            "counterfoil-swift": counterfoil_swift, "counterfoil-login": lambda case: counterfoil_login(case, folder),
            "appauth-ios": appauth_ios, "appauth-android": appauth_android, "authlib": authlib_native,
            "go-oauth2": go_oauth2, "dotnet": dotnet, "kubelogin": kubelogin,
        },
        "device": {"counterfoil-login": lambda case: counterfoil_login(case, folder)},
        "service": {"spring": spring, "openid-client": openid_client, "curl": lambda case: curl(case, folder)},
    }
    for kind, case in cases.items():
        without = set(case.texts) ^ set(parsers[kind])
        expect(not without, f"no parser, or no configuration, for {kind}: {', '.join(sorted(without))}")
        for parse in parsers[kind].values():
            parse(case)
    for case, changed in variants:
        for name, parse in changed.items():
            expect(name in case.texts, f"{case.kind} has no {name}, only {', '.join(sorted(case.texts))}")
            parse(case)
    checked = [*parsers.values(), *(changed for _, changed in variants)]
    count = sum(len(each) for each in checked)
    return (
        f"{count} configurations of {len(checked)} clients parse, and have the values of the registration; "
        f"the programs in Python and Go signed a person in {2 * len(runs)} times"
    )


if __name__ == "__main__":
    if not (GO_LIBRARIES / "src" / "golang.org" / "x" / "oauth2").exists():
        print("the Go library golang.org/x/oauth2 is not installed")
        sys.exit(MISSING)
    sys.exit(drive(journey, programs=(PROGRAM, "go")))
