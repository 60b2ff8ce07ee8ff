"""Decides whether the requirements and the promises of SECURITY.md are proved."""

from __future__ import annotations

from collections.abc import Iterable

from . import results
from .proofs import Proof, Proofs
from .security import Promises
from .table import Tables

#: More tests than this for one id hide the ones that matter.
MOST_TESTS = 4


def faults(tables: Tables, promises: Promises, proved: Proofs) -> list[str]:
    """What can be seen without running a test."""
    found = [*tables.faults, *promises.faults, *proved.faults]
    requirements = (*tables.requirements, *tables.authentication)
    for row in requirements:
        proofs = proved.of.get(row.id, ())
        if row.needs_test and not proofs:
            found.append(f"{row.id} is {row.status}, but no test proves it: {row.statement}")
        if not row.needs_test and proofs:
            found.append(f"{row.id} is {row.status}, but {proofs[0].path} is to prove it")
    for case in tables.cases:
        if case.id not in proved.of:
            found.append(f"{case.id} is in cases.tsv, but no test proves it")
    for promise in promises.promises:
        if promise.id not in proved.of:
            found.append(f"{promise.id} is in SECURITY.md, but no test proves it: {promise.sentence}")
    known = {row.id for row in (*requirements, *tables.cases, *promises.promises)}
    for identifier, proofs in sorted(proved.of.items()):
        if identifier not in known:
            found.append(f"{identifier} is in tests.tsv, but in no other table of docs/requirements and not in SECURITY.md")
        tests = [proof for proof in proofs if not proof.is_driver]
        if len(tests) > MOST_TESTS:
            found.append(f"{identifier} has {len(tests)} tests: keep the best {MOST_TESTS} at most")
    return found


def unproved_tests(proved: Proofs, outcomes: dict[results.Key, str], partial: bool) -> list[str]:
    """The tests of the table that a run did not show to pass. A partial run is not asked about tests that it left out."""
    found = []
    for proof, identifiers in _proving(proved, drivers=False):
        outcome = outcomes.get(results.key(proof))
        if outcome is None and not partial:
            outcome = "did not run"
        if outcome not in (None, results.PASSED):
            found.append(f"{', '.join(identifiers)}: the test `{proof.name}` in {proof.path} {outcome}")
    return found


def unproved_drivers(proved: Proofs, outcomes: dict[str, str], partial: bool) -> list[str]:
    """The interop drivers of the table that a run did not show to pass."""
    found = []
    for proof, identifiers in _proving(proved, drivers=True):
        outcome = outcomes.get(proof.path)
        if outcome is None and not partial:
            outcome = "did not run"
        if outcome not in (None, results.PASSED):
            found.append(f"{', '.join(identifiers)}: {proof.path} {outcome}")
    return found


def _proving(proved: Proofs, drivers: bool) -> Iterable[tuple[Proof, list[str]]]:
    identifiers: dict[Proof, list[str]] = {}
    for identifier, proofs in proved.of.items():
        for proof in proofs:
            if proof.is_driver == drivers:
                identifiers.setdefault(proof, []).append(identifier)
    return sorted(identifiers.items())
