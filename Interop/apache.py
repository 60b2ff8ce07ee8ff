"""Apache on this machine: TLS in front of a server, by an authority that this test alone trusts."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from local_servers import Failed, stop, tail

PROGRAM = "/usr/sbin/apache2"
MODULES = Path("/usr/lib/apache2/modules")

# What every configuration needs; the rest is the driver's.
ALWAYS = ("mpm_event", "authz_core", "ssl", "proxy", "proxy_http", "headers", "setenvif")


class Authority:
    """A certificate authority and a certificate that it has given to some names of this machine."""

    def __init__(self, folder: Path, names: list[str]) -> None:
        folder.mkdir(exist_ok=True)
        self.certificate = folder / "authority.pem"
        self.site_certificate = folder / "site.pem"
        self.site_key = folder / "site.key"
        key = folder / "authority.key"
        curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
        self._openssl(
            *("req", "-x509", *curve, "-keyout", str(key), "-out", str(self.certificate), "-subj", "/CN=Interop"),
            *("-addext", "keyUsage=critical,keyCertSign,cRLSign"),
        )
        request = folder / "site.csr"
        extensions = folder / "site.ext"
        extensions.write_text(
            f"subjectAltName={','.join(f'DNS:{name}' for name in names)}\n"
            "basicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\nauthorityKeyIdentifier=keyid\n",
            "utf-8",
        )
        self._openssl(
            *("req", *curve[:5], "-keyout", str(self.site_key), "-out", str(request), "-subj", f"/CN={names[0]}"),
        )
        self._openssl(
            *("x509", "-req", "-in", str(request), "-CA", str(self.certificate), "-CAkey", str(key), "-CAcreateserial"),
            *("-days", "2", "-extfile", str(extensions), "-out", str(self.site_certificate)),
        )
        for public in (folder, self.certificate):
            public.chmod(0o755 if public.is_dir() else 0o644)

    @property
    def lines(self) -> list[str]:
        """What Apache needs to use the certificate."""
        return [f"SSLCertificateFile {self.site_certificate}", f"SSLCertificateKeyFile {self.site_key}"]

    @staticmethod
    def _openssl(*words: str) -> None:
        result = subprocess.run(["openssl", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if result.returncode != 0:
            raise Failed(f"openssl {words[0]} failed:\n{result.stderr}")


@dataclass(frozen=True)
class Site:
    """A virtual host; `lines` are what it does, over TLS unless it says otherwise."""

    name: str
    port: int
    lines: list[str]
    address: str = "127.0.0.1"
    tls: bool = True

    @property
    def configuration(self) -> str:
        place = f"{self.address}:{self.port}"
        tls = [f"SSLEngine {'on' if self.tls else 'off'}"]
        inside = "\n".join([*tls, f"ServerName {self.name}:{self.port}", *self.lines])
        return f"Listen {place}\n<VirtualHost {place}>\n{inside}\n</VirtualHost>\n"


def proxy(name: str, port: int, to: str) -> Site:
    """A virtual host that ends TLS in front of a server."""
    return Site(name, port, ["ProxyPreserveHost On", f"ProxyPass / {to}/", f"ProxyPassReverse / {to}/"])


@contextmanager
def apache(
    folder: Path, authority: Authority | None, sites: list[Site], log: Path, modules: tuple[str, ...] = ()
) -> Iterator[None]:
    """Apache with these virtual hosts, for as long as the block runs."""
    folder.mkdir(exist_ok=True)
    for each in (folder, folder.parent):
        each.chmod(0o711)
    loaded = [f"LoadModule {name}_module {MODULES / f'mod_{name}.so'}" for name in (*ALWAYS, *modules)]
    configuration = folder / "apache.conf"
    configuration.touch(0o600)
    configuration.write_text(
        "\n".join(
            [
                f"ServerRoot {folder}",
                f"DefaultRuntimeDir {folder}",
                f"PidFile {folder / 'apache.pid'}",
                f"ErrorLog {log}",
                "ServerName localhost",
                *loaded,
                *(["User www-data", "Group www-data"] if os.geteuid() == 0 else []),
                "StartServers 1",
                "SSLSessionCache none",
                *(authority.lines if authority else []),
                *(each.configuration for each in sites),
            ]
        ),
        "utf-8",
    )
    command = [PROGRAM, "-f", str(configuration), "-D", "FOREGROUND"]
    with log.open("ab") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        wait_for(sites, process, log)
        yield
    finally:
        stop(process)


def wait_for(sites: list[Site], process: subprocess.Popen[bytes], log: Path, seconds: float = 30) -> None:
    """Waits until Apache listens for every site."""
    deadline = time.monotonic() + seconds
    for each in sites:
        while True:
            try:
                socket.create_connection((each.address, each.port), timeout=1).close()
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise Failed(f"Apache does not listen on port {each.port}:\n{tail(log)}") from None
                time.sleep(0.05)
