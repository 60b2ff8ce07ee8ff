"""The part of systemd that a service of Type=notify sees: a socket for its messages."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import time
from pathlib import Path

from .system import Failed, System, expect


def exec_start(unit: str) -> list[str]:
    """The command of a unit."""
    lines = [line.removeprefix("ExecStart=") for line in unit.splitlines() if line.startswith("ExecStart=")]
    expect(len(lines) == 1, f"the unit has {len(lines)} commands")
    return lines[0].split()


class NotifiedService:
    """A service that is started as its unit says, by its user, and that reports its state."""

    def __init__(self, system: System, unit: str, user: str, log: Path) -> None:
        path = system.path("/run/notify")
        path.unlink(missing_ok=True)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(path))
        path.chmod(0o666)
        self._log = log
        state = [f"STATE_DIRECTORY=/var/lib/{line.removeprefix('StateDirectory=')}"
                 for line in unit.splitlines() if line.startswith("StateDirectory=")]
        variables = ["env", "NOTIFY_SOCKET=/run/notify", "HOME=/var/lib/counterfoil", *state]
        command = system.command(*variables, *exec_start(unit), user=user)
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
                umask=0o077,
            )

    def wait_for(self, state: str, seconds: float = 60) -> None:
        """Waits for a message such as READY=1."""
        deadline = time.monotonic() + seconds
        heard: list[str] = []
        while (left := deadline - time.monotonic()) > 0:
            if select.select([self._socket], [], [], min(left, 0.2))[0]:
                heard += self._socket.recv(4096).decode().splitlines()
                if state in heard:
                    return
            elif self._process.poll() is not None:
                raise Failed(f"the server ended with {self._process.returncode}:\n{self.said()}")
        raise Failed(f"the server did not report {state}, only {heard}:\n{self.said()}")

    def signal(self, kind: signal.Signals) -> None:
        """Sends a signal to the server itself, which is the last process below the one that was started."""
        child = self._process.pid
        while children := Path(f"/proc/{child}/task/{child}/children").read_text("ascii").split():
            child = int(children[0])
        os.kill(child, kind)

    def stop(self) -> None:
        """Stops the server with SIGTERM, after which it has to end by itself."""
        if self._process.poll() is None:
            self.signal(signal.SIGTERM)
            try:
                self._process.wait(60)
            except subprocess.TimeoutExpired:
                self.kill()
                raise Failed(f"the server did not end after SIGTERM:\n{self.said()}") from None
        self._socket.close()
        expect(self._process.returncode == 0, f"the server ended with {self._process.returncode}:\n{self.said()}")

    def kill(self) -> None:
        """Ends the server at once."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(10)

    def said(self) -> str:
        """The end of its log."""
        return "\n".join(self._log.read_text("utf-8", "replace").splitlines()[-20:])
