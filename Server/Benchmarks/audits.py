"""Compares the audit log with what the clients of a run have done."""

from __future__ import annotations

import json
from collections import Counter

from local_servers import Counterfoil

# The maximum number of events that one command lists.
PAGE = 1000


def events(setup: Counterfoil, kind: str) -> list[dict[str, str]]:
    """All events of a kind, newest first."""
    found: list[dict[str, str]] = []
    before: list[str] = []
    while True:
        page = json.loads(setup.administer("audit", "--kind", kind, "--limit", str(PAGE), "--json", *before))
        found += page
        if len(page) < PAGE:
            return found
        before = ["--before", page[-1]["position"]]


def judge(setup: Counterfoil, replays: int, refused: int) -> list[str]:
    """What the audit log says of grants that ended, although their clients did nothing to end them.

    A client that sends a code again ends at most one grant: on purpose (`replays`), or because it got no answer and
    then a refusal (`refused`).
    """
    causes = Counter(event["detail"] for event in events(setup, "revocation"))
    reuses = len(events(setup, "refresh-reuse"))
    print(f"audit: revocations {dict(causes)}; {replays} codes were sent twice on purpose, "
          f"{refused} were refused after a lost answer")
    wrong = []
    if reuses:
        wrong.append(f"{reuses} refresh tokens were taken for stolen")
    if causes["code-replay"] > replays + refused:
        wrong.append(f"{causes['code-replay']} codes were taken for stolen, but only {replays + refused} were sent again")
    return wrong + [f"{number} grants were revoked, although no client or user did it: {cause}"
                    for cause, number in causes.items() if cause not in ("code-replay", "refresh-reuse")]
