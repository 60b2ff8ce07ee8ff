"""Certificates and settings of a running server that change under load, and a check of every connection and answer."""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import socket
import ssl
import subprocess
import threading
import time
import urllib.parse
from pathlib import Path

from local_servers import Counterfoil, Failed, free_ports, tail

HOST = "localhost"
# A reload takes a fraction of a second; one that takes so long does not end.
PATIENCE = 30.0


class Authority:
    """A certificate authority of its own, which issues certificates for the host."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.root = folder / "root.pem"
        self._key = folder / "root.key"
        self._run("req", "-x509", *self._curve, "-keyout", str(self._key), "-out", str(self.root), "-days", "2",
                  "-subj", "/CN=Reload root", "-addext", "keyUsage=critical,keyCertSign")

    def issue(self, serial: int) -> None:
        """Replaces the certificate and its key, one file after the other."""
        key, certificate = self._folder / "new.key", self._folder / "new.pem"
        self._run("req", "-x509", *self._curve, "-keyout", str(key), "-out", str(certificate), "-days", "1",
                  "-set_serial", str(serial), "-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}",
                  "-addext", "basicConstraints=critical,CA:FALSE", "-CA", str(self.root), "-CAkey", str(self._key))
        key.chmod(0o600)
        key.replace(self._folder / "key.pem")
        certificate.replace(self._folder / "certificate.pem")

    @property
    def _curve(self) -> list[str]:
        return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]

    @staticmethod
    def _run(*words: str) -> None:
        result = subprocess.run(["openssl", *words], capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise Failed(f"openssl {words[0]} failed: {result.stderr}")


class Caller(threading.Thread):
    """A service that gets a token again and again, on one connection, which the server must not close."""

    def __init__(self, port: int, tls: ssl.SSLContext, form: str) -> None:
        super().__init__(daemon=True)
        self._form = form
        self._connection = http.client.HTTPSConnection(HOST, port, timeout=PATIENCE, context=tls)
        self._ended = threading.Event()
        self.answers = 0
        self.wrong: list[str] = []

    def finish(self) -> None:
        self._ended.set()

    def run(self) -> None:
        try:
            self._connection.connect()
        except OSError as fault:
            self.wrong.append(f"a service cannot connect: {fault!r}")
            return
        first = self._connection.sock
        while not self._ended.is_set():
            try:
                status, body = get_token(self._connection, self._form)
            except (OSError, http.client.HTTPException) as fault:
                self.wrong.append(f"a request got no answer after {self.answers}: {fault!r}")
                return
            self.answers += 1
            if status != 200:
                self.wrong.append(f"a request got {status}: {body[:200]!r}")
            if self._connection.sock is not first:
                self.wrong.append(f"a connection was closed after {self.answers} answers")
                return
        self._connection.close()


def get_token(connection: http.client.HTTPSConnection, form: str) -> tuple[int, bytes]:
    connection.request("POST", "/oauth2/token", form, {"Content-Type": "application/x-www-form-urlencoded"})
    answer = connection.getresponse()
    return answer.status, answer.read()


class ReloadDrill:
    """A server with TLS and a file of settings, and the services that call it meanwhile."""

    def __init__(self, programs: Path, folder: Path, callers: int) -> None:
        self._folder = folder
        self._authority = Authority(folder)
        self._port = free_ports(1)[0]
        self._settings = folder / "server.yaml"
        self._log = folder / "reloads.log"
        self._programs = programs
        self._callers = callers
        self._notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._notices.bind(str(folder / "notify"))
        self._notices.settimeout(PATIENCE)
        self._setup = Counterfoil(folder / "data", programs, store=["--config", str(self._settings)])
        self._form = ""
        self._serial = 1
        self.wrong: list[str] = []
        self.longest = 0.0

    def run(self, count: int) -> int:
        """Changes the certificate and the settings so often, by turns; the number of answers meanwhile."""
        self._authority.issue(1)
        self._write_settings(lifetime=60)
        setup = self._setup
        setup.administer("scope", "create", "photos.read", "--description", "See your photos.")
        service = json.loads(setup.administer(
            "app", "create", "--json", "--type", "service", "--name", "Reloads", "--scope", "photos.read"))
        form = urllib.parse.urlencode({
            "grant_type": "client_credentials", "client_id": service["client_id"],
            "client_secret": service["client_secret"], "scope": "photos.read"})
        self._form = form
        self._serial = count + 1
        tls = ssl.create_default_context(cafile=str(self._authority.root))
        process = self._open()
        callers = [Caller(self._port, tls, form) for _ in range(self._callers)]
        try:
            self._wait_for("READY=1")
            for caller in callers:
                caller.start()
            for number in range(2, count + 2):
                self._authority.issue(number)
                self._reload(process)
                self._expect(tls, form, serial=number, lifetime=60 + number - 2)
                self._write_settings(lifetime=60 + number - 1)
                self._reload(process)
                self._expect(tls, form, serial=number, lifetime=60 + number - 1)
        finally:
            for caller in callers:
                caller.finish()
            for caller in callers:
                if caller.ident is not None:
                    caller.join(2 * PATIENCE)
            process.terminate()
            status = process.wait(PATIENCE)
        if status != 0:
            self.wrong.append(f"the server ended with {status}")
        self.wrong += [text for caller in callers for text in caller.wrong]
        self.wrong += ["a service got no answer" for caller in callers if not caller.answers]
        self.wrong += ["a service does not end" for caller in callers if caller.is_alive()]
        return sum(caller.answers for caller in callers)

    def kill(self, count: int, chance: random.Random) -> None:
        """Kills the server so often while it reads settings again, which it notes for commands one file after another.

        A command works with what is noted, and the server starts with the settings of the file.
        """
        tls = ssl.create_default_context(cafile=str(self._authority.root))
        for number in range(count + 1):
            self._forget_notices()
            process = self._open()
            try:
                self._wait_for("READY=1")
                if number > 0:
                    self._expect(tls, self._form, serial=self._serial, lifetime=1000 + number - 1)
                if number == count:
                    break
                schemes = [f"scheme{number + place}" for place in range(number % 3)]
                self._write_settings(lifetime=1000 + number, schemes=schemes, development=number % 2 == 0)
                process.send_signal(signal.SIGHUP)
                time.sleep(chance.uniform(0, max(0.05, 1.5 * self.longest)))
            finally:
                process.kill()
                process.wait()
            try:
                self._setup.administer(
                    "app", "create", "--type", "native", "--name", f"Editor {number}", "--scope", "photos.read",
                    "--redirect-uri", "com.example.editor:/callback")
            except Failed as fault:
                self.wrong.append(f"a command fails after a kill during a reload: {fault}")

    def _forget_notices(self) -> None:
        self._notices.setblocking(False)
        try:
            while self._notices.recv(4096):
                pass
        except BlockingIOError:
            pass
        self._notices.settimeout(PATIENCE)

    def _write_settings(self, lifetime: int, schemes: list[str] | None = None, *, development: bool = True) -> None:
        new = self._folder / "server.yaml.new"
        new.write_text(
            f"issuer: https://{HOST}:{self._port}\n"
            f"data-dir: {self._folder / 'data'}\n"
            f"listen: 127.0.0.1:{self._port}\n"
            f"tls-certificate: {self._folder / 'certificate.pem'}\n"
            f"tls-key: {self._folder / 'key.pem'}\n"
            f"default-audience: https://api.example.com\n"
            f"access-token-lifetime: {lifetime}s\n"
            f"plain-scheme: {json.dumps(schemes or [])}\n"
            f"no-development-redirect-uris: {'false' if development else 'true'}\n"
            "log-level: error\n", "utf-8")
        new.replace(self._settings)

    def _open(self) -> subprocess.Popen[bytes]:
        with self._log.open("wb") as output:
            return subprocess.Popen(
                [str(self._programs / "counterfoil-server"), "serve", "--config", str(self._settings)],
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                env={**os.environ, "NOTIFY_SOCKET": str(self._folder / "notify")})

    def _reload(self, process: subprocess.Popen[bytes]) -> None:
        begun = time.monotonic()
        process.send_signal(signal.SIGHUP)
        self._wait_for("RELOADING=1")
        self._wait_for("READY=1")
        self.longest = max(self.longest, time.monotonic() - begun)

    def _wait_for(self, notice: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                if notice in self._notices.recv(4096).decode().splitlines():
                    return
            except TimeoutError:
                break
        raise Failed(f"the server does not say {notice}:\n{tail(self._log)}")

    def _expect(self, tls: ssl.SSLContext, form: str, serial: int, lifetime: int) -> None:
        """The first new connection has the certificate, and a token on it the lifetime, of now."""
        connection = http.client.HTTPSConnection(HOST, self._port, timeout=PATIENCE, context=tls)
        try:
            connection.connect()
            shown = int(str((connection.sock.getpeercert() or {}).get("serialNumber")), 16)
            if shown != serial:
                self.wrong.append(f"a new connection got certificate {shown} instead of {serial}")
            status, body = get_token(connection, form)
            if status != 200:
                self.wrong.append(f"a new connection got {status}")
            elif json.loads(body)["expires_in"] != lifetime:
                self.wrong.append(f"a token lives for {json.loads(body)['expires_in']} s instead of {lifetime} s")
        except (OSError, http.client.HTTPException) as fault:
            self.wrong.append(f"a new connection failed: {fault!r}")
        finally:
            connection.close()
