#!/usr/bin/env python3
"""certbot and lego order and renew the certificate of a server that runs with --tls-certificate, and their hook is
Server/Packaging/certificate-hook.

Pebble is the authority. While the certificate is renewed, requests arrive on connections that stay open and on new
ones; none of them may fail.
"""

from __future__ import annotations

import grp
import http.client
import os
import shlex
import signal
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))
from local_servers import ROOT, Counterfoil, Failed, drive, expect, free_ports, products, stop, tail  # noqa: E402
from pebble import PROGRAM as PEBBLE  # noqa: E402
from pebble import Pebble, pebble  # noqa: E402

HOOK = ROOT / "Server" / "Packaging" / "certificate-hook"
#: Both programs renew a certificate by default when less than 30 days are left, so this one is due at once.
VALIDITY = 24 * 3600
#: The server looks at the files every ten seconds, and reads new ones at the second look. A reload must be faster.
RELOAD_SECONDS = 8


@dataclass
class Place:
    """What stands for /etc/counterfoil and for systemd: a folder, a hook for it, and a `systemctl` that sends SIGHUP."""

    folder: Path
    authority: Pebble
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.settings = self.folder / "etc"
        programs = self.folder / "bin"
        for each in (self.folder, self.settings, programs):
            each.mkdir()
        self.hook = self._script("certificate-hook", self._hook())
        # `systemctl try-reload-or-restart` does nothing while the unit is not active.
        self._script("bin/systemctl", (
            f'#!/bin/sh\necho "$@" >>{self.folder}/systemctl.called\n'
            f"[ ! -e {self.pid} ] || kill -HUP $(cat {self.pid})\n"
        ))
        trusted = str(self.authority.authority.certificate)
        self.environment = {
            **os.environ, "PATH": f"{programs}:{os.environ.get('PATH', os.defpath)}",
            "REQUESTS_CA_BUNDLE": trusted, "LEGO_CA_CERTIFICATES": trusted,
        }

    @property
    def pid(self) -> Path:
        return self.folder / "pid"

    @property
    def chain(self) -> Path:
        return self.settings / "fullchain.pem"

    @property
    def key(self) -> Path:
        return self.settings / "privkey.pem"

    def called(self) -> list[str]:
        """How the hook called `systemctl`."""
        record = self.folder / "systemctl.called"
        return record.read_text("utf-8").splitlines() if record.exists() else []

    def _hook(self) -> str:
        """The hook with the folder and a group of this test; both have to be in it, so that the file is what is tried."""
        text = HOOK.read_text("utf-8")
        for given, value in {
            "-g counterfoil ": f"-g {grp.getgrgid(os.getgid()).gr_name} ", "/etc/counterfoil/": f"{self.settings}/",
        }.items():
            lines = [line for line in text.splitlines() if not line.startswith("#")]
            expect(any(given in line for line in lines), f"{HOOK.name} does not contain “{given}”")
            text = text.replace(given, value)
        return text

    def _script(self, name: str, text: str) -> Path:
        file = self.folder / name
        file.write_text(text, "utf-8")
        file.chmod(0o755)
        return file

    def run(self, command: list[str], log: Path) -> None:
        """Runs a program with this `systemctl` and the authority of Pebble."""
        result = subprocess.run(
            command, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120
        )
        with log.open("a", encoding="utf-8") as output:
            output.write(f"$ {shlex.join(command)}\n{result.stdout}{result.stderr}")
        if result.returncode != 0:
            raise Failed(f"{command[0]} ended with {result.returncode}:\n{tail(log)}")


def certbot(place: Place) -> tuple[list[str], list[str]]:
    """The commands of certbot for the first certificate and for a renewal, in folders of this test."""
    state = place.folder / "certbot"
    folders = [f"--{each}-dir={state / each}" for each in ("config", "work", "logs")]
    first = ["certbot", "certonly", "--standalone", "--domain", "localhost", "--deploy-hook", str(place.hook)]
    test = ["--non-interactive", "--agree-tos", "--register-unsafely-without-email", "--server",
            place.authority.directory, "--http-01-port", str(place.authority.validation_port), *folders]
    return first + test, ["certbot", "renew", "--no-random-sleep-on-renew", *folders]


def lego(place: Place) -> tuple[list[str], list[str]]:
    """The same of lego."""
    place_of_port = f"127.0.0.1:{place.authority.validation_port}"
    common = ["lego", "--accept-tos", "--email", "owner@example.com", "--domains", "localhost", "--http",
              "--path", str(place.folder / "lego"), "--server", place.authority.directory, "--http.port", place_of_port]
    return [*common, "run", "--run-hook", str(place.hook)], [
        *common, "renew", "--no-random-sleep", "--renew-hook", str(place.hook),
    ]


PROGRAMS = {"certbot": certbot, "lego": lego}


def journey(folder: Path) -> str:
    said = []
    with pebble(folder / "pebble", VALIDITY) as authority:
        for name, commands in PROGRAMS.items():
            place = Place(folder / name, authority)
            requests = renew(name, *commands(place), place, folder)
            said.append(f"{name} ({requests} requests)")
    return f"ordered and renewed by {' and '.join(said)}; the hook installed each certificate, and no request failed"


def renew(name: str, first: list[str], renewal: list[str], place: Place, folder: Path) -> int:
    """Orders a certificate, starts the server with it, and renews it under load; the number of requests."""
    log = folder / f"{name}.log"
    place.run(first, log)
    expect(place.chain.exists() and place.key.exists(), f"{name} did not run its hook")
    expect(place.key.stat().st_mode & 0o777 == 0o640, "the key has another mode")
    port = free_ports(1)[0]
    context = ssl.create_default_context(cadata=place.authority.root())
    with serving(place, port, folder / f"{name}-server.log"):
        before = shown(port, context)
        expect(before == issued(place), "the server shows another certificate")
        with load(port, context) as made:
            place.run(renewal, log)
            renewed = issued(place)
            expect(renewed != before, f"{name} renewed nothing")
            deadline = time.monotonic() + RELOAD_SECONDS
            while shown(port, context) != renewed:
                expect(time.monotonic() < deadline, "the server still shows the former certificate")
                time.sleep(0.05)
    expect(place.called() == ["try-reload-or-restart counterfoil-server"] * 2, f"systemctl was called {place.called()}")
    return sum(made)


def issued(place: Place) -> bytes:
    """The certificate that the hook has installed."""
    end = "-----END CERTIFICATE-----"
    first, _, _ = place.chain.read_text("ascii").partition(end)
    return ssl.PEM_cert_to_DER_cert(first + end)


def shown(port: int, context: ssl.SSLContext) -> bytes:
    """The certificate that a new connection gets."""
    connection = http.client.HTTPSConnection("localhost", port, context=context, timeout=10)
    connection.connect()
    try:
        return connection.sock.getpeercert(binary_form=True) or b""
    finally:
        connection.close()


@contextmanager
def serving(place: Place, port: int, log: Path) -> Iterator[None]:
    """The server with the installed certificate, until the block ends."""
    server = Counterfoil(place.folder / "data", products(), port, issuer=f"https://localhost:{port}", options=[
        "--tls-certificate", str(place.chain), "--tls-key", str(place.key),
    ])
    with log.open("wb") as output:
        process = subprocess.Popen(server.serve_command, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, start_new_session=True)
    try:
        place.pid.write_text(str(process.pid), "utf-8")
        deadline = time.monotonic() + 30
        health = [str(products() / "counterfoil-server"), "health", f"https://127.0.0.1:{port}/readyz"]
        while subprocess.run(health, capture_output=True).returncode != 0:
            if process.poll() is not None or time.monotonic() > deadline:
                raise Failed(f"the server does not start:\n{tail(log)}")
            time.sleep(0.05)
        yield
        expect(process.poll() is None, f"the server ended:\n{tail(log)}")
        process.send_signal(signal.SIGTERM)
        expect(process.wait(20) == 0, f"the server ended with {process.returncode}")
    finally:
        place.pid.unlink(missing_ok=True)
        stop(process)


@contextmanager
def load(port: int, context: ssl.SSLContext) -> Iterator[list[int]]:
    """Requests on two connections that stay open, and on one new connection after the other, until the block ends."""
    ended = threading.Event()
    faults: list[str] = []
    made = [0, 0, 0]

    def ask(number: int, keeps: bool) -> None:
        connection = http.client.HTTPSConnection("localhost", port, context=context, timeout=10)
        connection.connect()
        # A request on a connection that the server has closed must fail; http.client would connect again.
        connection.auto_open = 0
        try:
            while not ended.is_set():
                if not keeps:
                    connection.close()
                    connection.connect()
                connection.request("GET", "/livez")
                response = connection.getresponse()
                response.read()
                expect(response.status == 200, f"a request was answered with {response.status}")
                made[number] += 1
        except Exception as fault:  # noqa: BLE001 - any fault is a request that failed
            faults.append(f"{type(fault).__name__}: {fault}")
        finally:
            connection.close()

    threads = [threading.Thread(target=ask, args=(number, number < 2), daemon=True) for number in range(len(made))]
    for thread in threads:
        thread.start()
    try:
        yield made
    finally:
        ended.set()
        for thread in threads:
            thread.join(15)
    expect(not faults, f"requests failed: {faults}")
    expect(all(made), f"not every connection had requests: {made}")


if __name__ == "__main__":
    sys.exit(drive(journey, (PEBBLE, *PROGRAMS)))
