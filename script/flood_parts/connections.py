"""Floods a server with silent connections and slow uploads, while a user at another address signs in."""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import os
import re
import secrets
import select
import socket
import statistics
import sys
import time
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path

from local_servers import Counterfoil, Failed, free_ports, running, tail
from person import Lost, Person, opener_from

from .parts import CHALLENGE, REDIRECT_URI, VERIFIER

SILENT_ADDRESS, USER_ADDRESS = "127.0.0.2", "127.0.0.9"
UPLOAD_ADDRESSES = ["127.0.0.3", "127.0.0.4", "127.0.0.5", "127.0.0.6"]
# One user may have only so many approvals in a minute.
USERS = 24
# A process has descriptors for so many sockets.
SOCKETS_PER_PROCESS = 4000

UPLOADS = [
    b"POST /oauth2/token HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    b"Content-Length: 16000\r\n\r\n",
    b"POST /oauth2/authorize/sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    b"Content-Length: 131000\r\n\r\n",
    b"POST /admin/branding HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: multipart/form-data; boundary=x\r\n"
    b"Content-Length: 650000\r\n\r\n",
]


@dataclass
class Counts:
    """What the processes that flood have done, together."""

    opened: Synchronized[int]
    closed: Synchronized[int]


def add(value: Synchronized[int], number: int) -> None:
    with value.get_lock():
        value.value += number


def flood(port: int, addresses: list[str], count: int, rate: float, uploads: bool, counts: Counts, stop: float) -> None:
    """Holds so many connections open until a time; one that the server ends is opened again."""
    poll = select.epoll()
    sockets: dict[int, socket.socket] = {}
    sent: dict[int, int] = {}
    opened, allowance, last, next_piece = 0, 0.0, time.monotonic(), time.monotonic() + 1
    while (now := time.monotonic()) < stop:
        allowance, last = min(allowance + (now - last) * rate, rate / 4), now
        while len(sockets) < count and allowance >= 1:
            allowance -= 1
            each = socket.socket()
            each.setblocking(False)
            each.bind((addresses[opened % len(addresses)], 0))
            if each.connect_ex(("127.0.0.1", port)) not in (0, 115):
                each.close()
                continue
            sockets[each.fileno()] = each
            poll.register(each.fileno(), select.EPOLLIN | select.EPOLLHUP | select.EPOLLERR)
            if uploads:
                sent[each.fileno()] = opened % len(UPLOADS)
            opened += 1
            add(counts.opened, 1)
        for descriptor, _ in poll.poll(0.02):
            each = sockets[descriptor]
            try:
                gone = not each.recv(65536)
            except BlockingIOError:
                gone = False
            except OSError:
                gone = True
            if gone:
                poll.unregister(descriptor)
                del sockets[descriptor]
                sent.pop(descriptor, None)
                each.close()
                add(counts.closed, 1)
        if uploads and now > next_piece:
            next_piece = now + 1
            for descriptor, state in list(sent.items()):
                # The head first, and then a piece in each second.
                piece = UPLOADS[state] if state < len(UPLOADS) else b"a" * (1000 if state == len(UPLOADS) else 4000)
                try:
                    sockets[descriptor].send(piece)
                    sent[descriptor] = len(UPLOADS) + (state > 0) if state < len(UPLOADS) else state
                except OSError:
                    pass
    for each in sockets.values():
        each.close()


@dataclass
class Seen:
    """What the user at the other address has met with."""

    flows: list[float] = field(default_factory=list)
    health: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def sign_in(issuer: str, client_id: str, name: str, password: str) -> None:
    """One flow in a browser without a session: authorization request, sign-in page, code, tokens."""
    state = secrets.token_urlsafe(12)
    query = urllib.parse.urlencode({
        "response_type": "code", "client_id": client_id, "redirect_uri": REDIRECT_URI, "scope": "openid",
        "state": state, "code_challenge": CHALLENGE, "code_challenge_method": "S256",
    })
    person = Person(name, password, stop=REDIRECT_URI, source=USER_ADDRESS)
    answer = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(
        person.sign_in(f"{issuer}/oauth2/authorize?{query}")).query))
    if answer.get("state") != state or "code" not in answer:
        raise Failed(f"no code: {sorted(answer)}")
    form = urllib.parse.urlencode({
        "grant_type": "authorization_code", "client_id": client_id, "code": answer["code"],
        "redirect_uri": REDIRECT_URI, "code_verifier": VERIFIER,
    }).encode()
    with opener_from(USER_ADDRESS, None).open(f"{issuer}/oauth2/token", form, timeout=30) as tokens:
        if "access_token" not in json.load(tokens):
            raise Failed("no access token")


def use(issuer: str, client_id: str, password: str, stop: float) -> Seen:
    """Signs in again and again until a time."""
    seen = Seen()
    names = itertools.cycle(f"user-{number}" for number in range(USERS))
    while time.monotonic() < stop:
        for figures, step in (
            (seen.health, lambda: opener_from(USER_ADDRESS, None).open(f"{issuer}/livez", timeout=30).read()),
            (seen.flows, lambda: sign_in(issuer, client_id, next(names), password)),
        ):
            began = time.monotonic()
            try:
                step()
                figures.append((time.monotonic() - began) * 1000)
            except (OSError, Failed, Lost) as fault:
                seen.errors.append(f"{type(fault).__name__}: {fault}")
        time.sleep(0.1)
    return seen


def figures(times: list[float]) -> str:
    if not times:
        return "none"
    ordered = sorted(times)
    return (
        f"{len(times)}, median {statistics.median(times):.1f} ms, "
        f"p99 {ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)]:.1f} ms, most {ordered[-1]:.1f} ms"
    )


def process_figure(process: int, name: str) -> str:
    found = re.search(rf"^{name}:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text("utf-8"), re.MULTILINE)
    return f"{int(found[1]) / 1024:.0f} MiB" if found else "unknown"


def metrics(url: str) -> dict[str, str]:
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=10) as answer:
        lines = answer.read().decode("utf-8").splitlines()
    return dict(line.rsplit(" ", 1) for line in lines if re.match("counterfoil_(connections|bod)", line))


def run(options: argparse.Namespace, folder: Path, programs: Path) -> int:
    seconds = options.minutes * 60
    server = Counterfoil(folder / "data", programs)
    password = secrets.token_urlsafe(18)
    for number in range(USERS):
        server.create_person(f"user-{number}", password)
    client_id = server.create_application("Flood", REDIRECT_URI, ["openid"], "--first-party")
    port = free_ports(1)[0]
    limit = f"ulimit -n {options.descriptors}; " if options.descriptors else ""
    command = ["/bin/sh", "-c", limit + 'exec "$@"', "sh", *server.serve_command]
    command += ["--metrics-listen", f"127.0.0.1:{port}"]
    if options.connections:
        command += ["--connections", str(options.connections)]
    log = folder / "server.log"
    with running(command, server.metadata_url, log) as process:
        calm = use(server.issuer, client_id, password, time.monotonic() + min(5, seconds))
        print(f"before: flows {figures(calm.flows)}; memory {process_figure(process.pid, 'VmRSS')}", flush=True)
        stop = time.monotonic() + seconds
        counts = Counts(*(multiprocessing.Value("q", 0) for _ in range(2)))
        floods = []
        for number, addresses, uploads in (
            (options.silent, [SILENT_ADDRESS], False), (options.uploads, UPLOAD_ADDRESSES, True),
        ):
            parts = -(-number // SOCKETS_PER_PROCESS)
            for part in range(parts):
                share = number // parts + (part < number % parts)
                arguments = (server.port, addresses, share, options.rate / parts, uploads, counts, stop)
                floods.append(multiprocessing.Process(target=flood, args=arguments, daemon=True))
        for each in floods:
            each.start()
        seen = use(server.issuer, client_id, password, stop - 1)
        at_end = metrics(f"http://127.0.0.1:{port}/metrics")
        memory, peak = (process_figure(process.pid, name) for name in ("VmRSS", "VmHWM"))
        descriptors = len(os.listdir(f"/proc/{process.pid}/fd"))
        for each in floods:
            each.join()
        print(f"flood: {counts.opened.value} connections opened, {counts.closed.value} ended by the server")
        print(f"during: flows {figures(seen.flows)}")
        print(f"during: /livez {figures(seen.health)}")
        print(f"server: {descriptors} descriptors, memory {memory}, at most {peak}")
        for name, value in at_end.items():
            print(f"server: {name} {value}")
        for line in log.read_text("utf-8").splitlines():
            if "refused connections" in line or "lowered" in line:
                print(f"log: {line}")
        for error in seen.errors[:10]:
            print(f"error: {error}")
        if seen.errors or not seen.flows:
            print(f"{len(seen.errors)} errors in {len(seen.flows)} flows", file=sys.stderr)
            print(tail(log), file=sys.stderr)
            return 1
    print("no errors")
    return 0
