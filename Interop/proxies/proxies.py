"""Each reverse proxy with its configuration in Server/Packaging/proxies, on ports and with a certificate of this test."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from apache import ALWAYS, MODULES, Authority
from apache import PROGRAM as APACHE
from local_servers import ROOT, Failed, stop, tail

EXAMPLES = ROOT / "Server" / "Packaging" / "proxies"

# How each of them names a second server. Apache would need a balancer.
TWICE = {
    "    server 127.0.0.1:8080 max_fails=0;": "    server 127.0.0.1:8080 max_fails=0;\n    server 127.0.0.1:8080 max_fails=0;",
    "    server counterfoil 127.0.0.1:8080": "    server other 127.0.0.1:8080\n    server counterfoil 127.0.0.1:8080",
    "reverse_proxy 127.0.0.1:8080": "reverse_proxy 127.0.0.1:8080 http://127.0.0.1:8080",
}


@dataclass(frozen=True)
class Place:
    """Where a proxy listens, what it forwards to, and the certificate that it shows."""

    port: int
    server: int
    authority: Authority
    folder: Path
    #: Whether the proxy has the same server twice, as if there were two.
    twice: bool = False

    def fill_in(self, example: str, values: dict[str, str]) -> str:
        """The example with the values of this test; each one has to be in it, so that the example is what is tried."""
        text = (EXAMPLES / example).read_text("utf-8")
        if self.twice:
            for one, two in TWICE.items():
                text = text.replace(one, two)
        for given, value in {"127.0.0.1:8080": f"127.0.0.1:{self.server}", **values}.items():
            lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
            if not any(given in line for line in lines):
                raise Failed(f"{example} does not contain “{given}”")
            text = text.replace(given, value)
        return text

    def write(self, name: str, text: str) -> Path:
        """A file of the proxy, which only its user reads."""
        file = self.folder / name
        file.touch(0o600)
        file.write_text(text, "utf-8")
        return file


@dataclass(frozen=True)
class Proxy:
    """A reverse proxy: its program, and the package that has it."""

    name: str
    program: str

    def command(self, place: Place) -> list[str]:
        """Writes the configuration, and returns the command."""
        return getattr(self, f"_{self.name}")(place)  # type: ignore[no-any-return]

    def version(self) -> str:
        """Its version, as it prints it."""
        words = {"haproxy": ["-v"], "caddy": ["version"]}.get(self.name, ["-v"])
        result = subprocess.run([self.program, *words], capture_output=True, text=True)
        return next(word.strip("v") for word in (result.stdout + result.stderr).replace("/", " ").split()
                    if word.strip("v")[:1].isdigit())

    def _nginx(self, place: Place) -> list[str]:
        certificate, key = str(place.authority.site_certificate), str(place.authority.site_key)
        site = place.write("site.conf", place.fill_in("nginx.conf", {
            "listen 443": f"listen 127.0.0.1:{place.port}", "server_name id.example.com": "server_name localhost",
            "/etc/ssl/private/id.example.com.key": key, "/etc/ssl/id.example.com.pem": certificate,
        }))
        paths = "".join(f"{name}_temp_path {place.folder / name};\n"
                        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        main = place.write("nginx.conf", (
            f"{'user root;' if os.geteuid() == 0 else ''}\ndaemon off;\nworker_processes 1;\n"
            f"pid {place.folder}/pid;\nerror_log stderr;\nevents {{}}\n"
            f"http {{\naccess_log off;\n{paths}include {site};\n}}\n"
        ))
        return [self.program, "-c", str(main), "-p", str(place.folder), "-e", "stderr"]

    def _haproxy(self, place: Place) -> list[str]:
        both = place.write("site.pem", place.authority.site_certificate.read_text("utf-8")
                           + place.authority.site_key.read_text("utf-8"))
        file = place.write("haproxy.cfg", place.fill_in("haproxy.cfg", {
            "bind :443": f"bind 127.0.0.1:{place.port}", "/etc/haproxy/id.example.com.pem": str(both),
        }))
        return [self.program, "-f", str(file), "-db"]

    def _caddy(self, place: Place) -> list[str]:
        certificate = f"{place.authority.site_certificate} {place.authority.site_key}"
        site = place.fill_in("Caddyfile", {"id.example.com {": f"https://localhost:{place.port} {{\n\ttls {certificate}"})
        file = place.write("Caddyfile", f"{{\n\tadmin off\n\tauto_https disable_redirects\n}}\n{site}")
        return [self.program, "run", "--config", str(file), "--adapter", "caddyfile"]

    def _apache(self, place: Place) -> list[str]:
        site = place.write("site.conf", place.fill_in("apache.conf", {
            "*:443": f"127.0.0.1:{place.port}", "ServerName id.example.com": f"ServerName localhost:{place.port}",
            "/etc/ssl/private/id.example.com.key": str(place.authority.site_key),
            "/etc/ssl/id.example.com.pem": str(place.authority.site_certificate),
        }))
        modules = "\n".join(f"LoadModule {name}_module {MODULES / f'mod_{name}.so'}" for name in (*ALWAYS, "http2"))
        file = place.write("apache.conf", (
            f"ServerRoot {place.folder}\nDefaultRuntimeDir {place.folder}\nPidFile {place.folder}/pid\n"
            f"ErrorLog {place.folder}/error.log\nServerName localhost\n{modules}\nStartServers 1\nSSLSessionCache none\n"
            f"{'User www-data' if os.geteuid() == 0 else ''}\n{'Group www-data' if os.geteuid() == 0 else ''}\n"
            f"Listen 127.0.0.1:{place.port}\nInclude {site}\n"
        ))
        return [self.program, "-f", str(file), "-D", "FOREGROUND"]

    @contextmanager
    def running(self, place: Place, log: Path) -> Iterator[None]:
        """The proxy, until the block ends."""
        environment = {**os.environ, "HOME": str(place.folder), "XDG_DATA_HOME": str(place.folder),
                       "XDG_CONFIG_HOME": str(place.folder)}
        with log.open("ab") as output:
            process = subprocess.Popen(
                self.command(place), env=environment, stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, start_new_session=True,
            )
        try:
            deadline = time.monotonic() + 30
            while True:
                try:
                    socket.create_connection(("127.0.0.1", place.port), timeout=1).close()
                    break
                except OSError:
                    if process.poll() is not None or time.monotonic() > deadline:
                        raise Failed(f"{self.name} does not listen:\n{tail(log)}") from None
                    time.sleep(0.05)
            yield
        finally:
            stop(process)


PROXIES = (
    Proxy("nginx", "/usr/sbin/nginx"),
    Proxy("haproxy", "/usr/sbin/haproxy"),
    Proxy("caddy", "/usr/bin/caddy"),
    Proxy("apache", APACHE),
)
