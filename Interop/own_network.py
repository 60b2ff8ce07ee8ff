"""A network that belongs to a driver alone, in which this machine is a host of the public internet as well.

Our server sends logout tokens only to public hosts, and only over https that it trusts. In namespaces of its own a
driver can be such a host, and nothing of it is visible outside.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

# An address of the public internet; nothing goes there from this network.
PUBLIC = "198.41.0.4"
TRUSTED = Path("/etc/ssl/certs/ca-certificates.crt")

_MARK = "INTEROP_OWN_NETWORK"


def enter() -> bool:
    """Starts the driver again in namespaces of its own, where root can; whether it is in them."""
    if os.environ.get(_MARK) == str(os.getpid()):
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        subprocess.run(["ip", "address", "add", f"{PUBLIC}/32", "dev", "lo"], check=True)
        return True
    namespaces = ["unshare", "--net", "--mount"]
    if os.geteuid() != 0 or not all(map(shutil.which, ("unshare", "ip", "mount"))):
        return False
    if not TRUSTED.exists() or subprocess.run([*namespaces, "true"], capture_output=True).returncode != 0:
        return False
    os.environ[_MARK] = str(os.getpid())  # It stays the same process.
    os.execvp(namespaces[0], [*namespaces, sys.executable, *sys.argv])


def be_known_as(names: list[str], authority: Path, folder: Path) -> str:
    """Gives the public address these names in this network and trusts an authority there; returns the address."""
    hosts = folder / "hosts"
    hosts.write_text(f"127.0.0.1 localhost\n{PUBLIC} {' '.join(names)}\n", "utf-8")
    hosts.chmod(0o644)
    for ours, theirs in ((hosts, Path("/etc/hosts")), (authority, TRUSTED)):
        subprocess.run(["mount", "--bind", str(ours), str(theirs)], check=True)
    return PUBLIC


def be_unknown() -> None:
    """Takes the names and the authority of `be_known_as` away, so that other ones can follow."""
    for theirs in (Path("/etc/hosts"), TRUSTED):
        subprocess.run(["umount", "--lazy", str(theirs)], check=True)


def call_loopback(name: str) -> str:
    """Makes this program alone know the loopback address by a name; the address."""
    resolve = socket.getaddrinfo
    address = "127.0.0.1"

    def getaddrinfo(host, *rest, **more):  # type: ignore[no-untyped-def]
        return resolve(address if host == name else host, *rest, **more)

    socket.getaddrinfo = getaddrinfo
    return address
