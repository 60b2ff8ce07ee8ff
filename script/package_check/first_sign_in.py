"""The steps of docs/operations/first-sign-in.md, in their order. Pebble replaces Let's Encrypt."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from . import https
from .https import Chromium, Pebble
from .journey import JOURNAL, MARK, SERVER, SETTINGS, free_port, journal, until
from .system import Failed, System, expect

#: The user of the command line in the system.
USER = "terminal"
#: The root certificate of the authority, for clients in the system.
TRUSTED = "/etc/ssl/authority-root.pem"
SCOPES = ("openid", "profile", "offline_access")
#: What `doctor` notes on the first day, as the guide says.
FIRST_DAY = {"backup-missing", "clock-unchecked"}
#: What it notes because the issuer of this check is localhost: clients have a loopback address.
ON_LOOPBACK = {"address-hidden"}
SECONDS = 60


def install(system: System, server: Path, client: Path) -> None:
    """Step 1: both packages, by one command."""
    system.install(server, client)


def configure(system: System, running: Pebble, port: int) -> None:
    """Steps 2 and 3: the settings, the directory of the endings journal, and the check of both."""
    settings = {
        "issuer": f"https://localhost:{port}", "listen": f"127.0.0.1:{port}",
        "redirect-listen": f"127.0.0.1:{free_port()}", "acme-contact": "owner@example.com",
        "acme-terms-agreed": "true", "endings-journal": f"{JOURNAL}/endings", **https.settings(system, running),
    }
    file = system.path(SETTINGS)
    text = file.read_text("utf-8")
    for key, value in settings.items():
        text, count = re.subn(rf"^#? ?{key}:.*$", f"{key}: {value}", text, count=1, flags=re.MULTILINE)
        expect(count == 1, f"{SETTINGS} has no line for {key}")
    file.write_text(text + MARK, "utf-8")
    system.run("install", "-d", "-m", "700", "-o", "counterfoil", "-g", "counterfoil", JOURNAL)
    system.run("counterfoil-server", "config", "check", user="counterfoil")


def start(system: System) -> None:
    """Step 3: systemd starts the server."""
    system.run("systemctl", "enable", "--now", SERVER)


def wait_for_certificate(system: System, running: Pebble, port: int) -> None:
    """Step 4: the log says that there is a certificate, and the server uses it."""
    until("the line of the certificate", lambda: "got a certificate from the authority" in journal(system))
    https.wait_for_certificate(running, port)


def register(system: System) -> str:
    """Step 6: registers an app; its client_id."""
    scopes = [word for scope in SCOPES for word in ("--scope", scope)]
    said = system.run(
        "counterfoil-server", "app", "create", "--type", "native", "--name", "Terminal",
        "--redirect-uri", "http://127.0.0.1/callback", *scopes, user="counterfoil",
    )
    found = re.search(r"client_id: (\S+)", said)
    if found is None:
        raise Failed(f"app create prints no client_id:\n{said}")
    return found[1]


def sign_in(system: System, chromium: Chromium, running: Pebble, port: int, client_id: str) -> None:
    """Step 7: the command line prints the URL, the browser opens it, and the tokens are stored."""
    system.path(TRUSTED).write_text(running.root(), "ascii")
    system.run("useradd", "--create-home", USER)
    process = subprocess.Popen(
        system.command(*client(f"login https://localhost:{port} --client-id {client_id} --browser print --scope"),
                       " ".join(SCOPES), user=USER),
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )
    assert process.stderr is not None
    said = []
    try:
        for line in process.stderr:
            said.append(line)
            if found := re.search(r"Open: (\S+)", line):
                https.allow(chromium, found[1])
        process.wait(SECONDS)
    finally:
        process.kill()
        process.wait()
    expect(process.returncode == 0, f"counterfoil login ended with {process.returncode}:\n{''.join(said)}")
    stay_signed_in(system)


def stay_signed_in(system: System) -> None:
    """The command line is signed in as the administrator."""
    claims = json.loads(system.run(*client("whoami --json"), user=USER))["claims"]
    expect(https.NAME in claims.values(), f"whoami says {claims}")


def examine(system: System) -> None:
    """Step 8: `doctor` finds no fault, and notes only what the guide and this machine explain."""
    said = system.run("counterfoil-server", "doctor", "--tls-authority", TRUSTED, "--json",
                      user="counterfoil")
    findings = [each for each in json.loads(said)["findings"] if each["weight"] != "sound"]
    topics = {each["topic"] for each in findings}
    expect(topics == FIRST_DAY | ON_LOOPBACK, f"doctor finds {findings}")


def sign_out(system: System) -> None:
    """The end of the grant is in the endings journal, which is in the directory of the guide."""
    file = system.path(f"{JOURNAL}/endings")
    before = file.read_text("utf-8")
    system.run(*client("logout"), user=USER)
    after = file.read_text("utf-8")
    expect(after.startswith(before) and len(after) > len(before), "the endings journal has no line for the sign-out")


def client(words: str) -> list[str]:
    """The command line, which trusts the authority."""
    return ["env", f"SSL_CERT_FILE={TRUSTED}", "counterfoil", *words.split()]
