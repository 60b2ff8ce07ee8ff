"""Reads what a run of the tests and of the interop drivers recorded."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .proofs import Proof

#: The outcomes of one test, the worst last.
PASSED, SKIPPED, UNFINISHED, FAILED = "passed", "was skipped", "did not end", "failed"
ORDER = (PASSED, SKIPPED, UNFINISHED, FAILED)
#: The module, the file and the name of a test: what a record of Swift Testing and a row of tests.tsv have in common.
Key = tuple[str, str, str]


def key(proof: Proof) -> Key:
    parts = proof.path.removeprefix("Server/").split("/")
    return parts[1], parts[-1], proof.name


def of_tests(paths: Iterable[Path]) -> dict[Key, str]:
    """The outcome of each test in event streams of Swift Testing, one stream for each process."""
    outcomes: dict[Key, str] = {}
    for path in paths:
        for test, outcome in _stream(path).items():
            outcomes[test] = max(outcomes.get(test, PASSED), outcome, key=ORDER.index)
    return outcomes


def _stream(path: Path) -> dict[Key, str]:
    keys: dict[str, Key] = {}
    started: dict[str, str] = {}
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            payload = record["payload"]
            if record["kind"] == "test" and payload["kind"] == "function":
                keys[payload["id"]] = _key(payload)
            elif record["kind"] == "event" and "testID" in payload:
                _apply(payload, started)
    outcomes: dict[Key, str] = {}
    for identifier, outcome in started.items():
        if identifier in keys:
            test = keys[identifier]
            outcomes[test] = max(outcomes.get(test, PASSED), outcome, key=ORDER.index)
    return outcomes


def _key(payload: dict[str, Any]) -> Key:
    module, _, file = payload["sourceLocation"]["fileID"].partition("/")
    name: str = payload["name"]
    return module, file.rpartition("/")[2], name.split("`")[1] if name.startswith("`") else name.partition("(")[0]


def _apply(payload: dict[str, Any], started: dict[str, str]) -> None:
    test, event = payload["testID"], payload["kind"]
    if event == "testStarted":
        started[test] = UNFINISHED
    elif event == "testSkipped":
        started[test] = SKIPPED
    elif event == "issueRecorded" and payload["issue"].get("isFailure", not payload["issue"]["isKnown"]):
        started[test] = FAILED
    elif event == "testEnded" and started.get(test) == UNFINISHED:
        started[test] = PASSED


def of_drivers(path: Path) -> dict[str, str]:
    """The outcome of each interop driver that ran: its name and `passed` or `failed`, one driver a line."""
    rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
    return {f"Interop/{name}/drive.py": outcome for name, outcome in rows}
