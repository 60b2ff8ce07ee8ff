"""Pebble on this machine: an authority for tests of clients of ACME (RFC 8555)."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from apache import Authority
from local_servers import Failed, free_ports, stop, tail

PROGRAM = "/usr/bin/pebble"


@dataclass(frozen=True)
class Pebble:
    """A running Pebble, which connects to `validation_port` for `http-01`."""

    directory: str
    management: str
    validation_port: int
    #: Certifies Pebble itself, which is not the root of the certificates that it issues.
    authority: Authority

    def root(self) -> str:
        """The root certificate of the issued certificates, in PEM format."""
        context = ssl.create_default_context(cafile=self.authority.certificate)
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
        )
        with opener.open(f"{self.management}/roots/0", timeout=10) as answer:
            return str(answer.read().decode("ascii"))


@contextmanager
def pebble(folder: Path, validity: int, tls_port: int = 1) -> Iterator[Pebble]:
    """Pebble, until the block ends; `validity` is that of its certificates, in seconds.

    It connects to `tls_port` for `tls-alpn-01`.
    """
    folder.mkdir()
    authority = Authority(folder / "tls", ["localhost"])
    port, management, validation = free_ports(3)
    configuration = folder / "pebble.json"
    configuration.write_text(json.dumps({"pebble": {
        "listenAddress": f"127.0.0.1:{port}",
        "managementListenAddress": f"127.0.0.1:{management}",
        "certificate": str(authority.site_certificate),
        "privateKey": str(authority.site_key),
        "httpPort": validation,
        "tlsPort": tls_port,
        "certificateValidityPeriod": validity,
    }}), "utf-8")
    log = folder.parent / "pebble.log"
    # By default Pebble refuses one nonce in twenty, and certbot gives up at the second refusal of one request.
    environment = {"PEBBLE_VA_NOSLEEP": "1", "PEBBLE_WFE_NONCEREJECT": "0"}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [PROGRAM, "-config", str(configuration)], env={**os.environ, **environment},
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
        )
    try:
        deadline = time.monotonic() + 30
        while "ACME directory available at" not in log.read_text("utf-8", "replace"):
            if process.poll() is not None or time.monotonic() > deadline:
                raise Failed(f"Pebble does not start:\n{tail(log)}")
            time.sleep(0.05)
        yield Pebble(
            f"https://localhost:{port}/dir", f"https://localhost:{management}", validation, authority
        )
    finally:
        stop(process)
