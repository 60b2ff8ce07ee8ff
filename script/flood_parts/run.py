"""Runs one part of a flood against a server of its own."""

from __future__ import annotations

import collections
import multiprocessing
import os
import secrets
import threading
import time
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from pathlib import Path

from local_servers import Counterfoil, running

from .judgement import Times, Verdict, idle_share
from .parts import ATTACKER, PARTS, PROXY_ADDRESS, REDIRECT_URI, USER, Part, Site, repeat

#: The seconds for which the user is watched without a flood, before and again after it.
CALM = 4.0


def site(folder: Path, programs: Path) -> Site:
    """A server with an ordinary attacker, whose proxy at an address of its own is trusted."""
    options = ["--trusted-proxy", PROXY_ADDRESS, "--unregistered-clients", "registration"]
    server = Counterfoil(folder / "data", programs, options=options)
    passwords = {name: secrets.token_urlsafe(18) for name in (USER, ATTACKER)}
    for name, password in passwords.items():
        server.create_person(name, password)
    client_id = server.create_application(
        "Flood", REDIRECT_URI, ["openid", "offline_access"], "--first-party")
    return Site(server, client_id, passwords)


def attack(part: Part, place: Site, attacker: str, rate: float, stop: Event, report: Connection) -> None:
    """Attacks in a process of its own until it is told to stop, and then reports the statuses of its requests.

    It has a low priority: the attacker of a real server uses the cores of other machines.
    """
    os.nice(10)
    statuses: collections.Counter[int] = collections.Counter()
    pause = part.connections / rate

    def one() -> None:
        step = None
        while not stop.is_set():
            began = time.monotonic()
            try:
                step = step or part.attack(place, attacker)
                statuses[step()] += 1
            except Exception:  # noqa: BLE001 - the server may do to an attacker what it wants
                statuses[0] += 1
                step = None
            stop.wait(max(0.0, began + pause - time.monotonic()))

    threads = [threading.Thread(target=one) for _ in range(part.connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    report.send(dict(statuses))


def run(name: str, seconds: float, rate: float, folder: Path, programs: Path) -> list[Verdict]:
    """The verdicts on a part, one for each attacker.

    The usual time is that before and after the flood, because other programs on the machine change it.
    """
    part = PARTS[name]
    place = site(folder, programs)
    log = folder / "server.log"
    verdicts = []
    with running(place.server.serve_command, place.server.metadata_url, log):
        step = part.user(place)

        def watch(times: Times, duration: float) -> None:
            repeat(step, part.pause, time.monotonic() + duration, times.taken, times.errors)

        for attacker in part.attackers:
            calm, flood = Times(), Times()
            before = Path("/proc/stat").read_text("utf-8")
            watch(calm, CALM)
            idle = idle_share(before, Path("/proc/stat").read_text("utf-8"))
            stop, (report, sender) = multiprocessing.Event(), multiprocessing.Pipe(duplex=False)
            process = multiprocessing.Process(
                target=attack, args=(part, place, attacker, rate, stop, sender), daemon=True)
            process.start()
            watch(flood, seconds)
            stop.set()
            statuses = report.recv() if report.poll(90) else {}
            process.join()
            watch(calm, CALM)
            verdicts.append(Verdict(name, attacker, calm, flood, statuses, idle))
            print(verdicts[-1], flush=True)
    return verdicts
