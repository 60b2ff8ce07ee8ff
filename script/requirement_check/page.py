"""Writes docs/requirements.md."""

from __future__ import annotations

import os
import re

from .proofs import Proof
from .security import Promise, Promises
from .table import STATUSES, Case, Requirement, Tables

PROSE = """\
# Requirements

Every requirement of this product, its status, and the tests that prove it. `script/requirements` generates this page
from the tables in [docs/requirements](requirements/), and the promises in [SECURITY.md](../SECURITY.md).

| status | meaning | requirements |
|---|---|---|
| built | The statement holds, with the decision below it where there is one. A test proves it. | {built} |
| partly | A part of the statement holds, and a test proves that part. The note names what is missing. | {partly} |
| not built | Nothing of it is there. The note names the feature. | {not built} |
| not applicable | The product has no part that the statement is about. The note says why. | {not applicable} |

`client` is the SDK and the command line, `AS` the authorization server, `RS` the resource server. `Lnn` is a line of
the source document. `R` ids are statements of the source documents and standards, in their words. `B` ids are
decisions where sources disagree: the conflict is in parentheses. Text in italics is our decision or note.
"""
AUTHENTICATION = """
## Authentication by OWASP ASVS

Chapter V6, Authentication, of the [OWASP Application Security Verification Standard 5.0.0](https://github.com/OWASP/ASVS/tree/v5.0.0_release/5.0/en)
(© The OWASP Foundation, [CC BY-SA 4.0](https://creativecommons.org/licenses/by-sa/4.0/)), line by line. The words are
ours and shorter; those of the standard decide. `V6.1.1` is its requirement 6.1.1.
"""
CASES = """
## Cases

Requests and situations that tests try, with the right outcome. Those with an `OK` id and those marked as positive must
succeed; all others must be refused or contained.
"""
PROMISES = """
## Promises

The sentences of [SECURITY.md](../SECURITY.md) that promise something, and the tests that fail where one is untrue.
"""


def text(tables: Tables, promises: Promises, proofs: dict[str, tuple[Proof, ...]]) -> str:
    """The whole page."""
    requirements = (*tables.requirements, *tables.authentication)
    counts = {status: sum(row.status == status for row in requirements) for status in STATUSES}
    prose = PROSE
    for status, count in counts.items():
        prose = prose.replace("{" + status + "}", str(count))
    head = ["| id | requirement | level | role | status | proved by |", "|---|---|---|---|---|---|"]
    lines = [prose, *head]
    lines += [_requirement(row, proofs.get(row.id, ())) for row in tables.requirements]
    lines += [AUTHENTICATION, *head]
    lines += [_requirement(row, proofs.get(row.id, ())) for row in tables.authentication]
    lines += [CASES, "| id | situation | right outcome | proved by |", "|---|---|---|---|"]
    lines += [_case(case, proofs.get(case.id, ())) for case in tables.cases]
    lines += [PROMISES, "| id | promise | proved by |", "|---|---|---|"]
    lines += [_promise(promise, proofs.get(promise.id, ())) for promise in promises.promises]
    return "\n".join(lines) + "\n"


def _requirement(row: Requirement, proofs: tuple[Proof, ...]) -> str:
    note = f"<br>*{_cell(row.note)}*" if row.note else ""
    statement = f"{_cell(row.statement)} ({_cell(row.source)}){note}"
    return f"| {row.id} | {statement} | {row.level} | {row.role} | {row.status} | {_links(proofs)} |"


def _case(case: Case, proofs: tuple[Proof, ...]) -> str:
    situation = f"{_cell(case.situation)} ({_cell(case.source)})"
    return f"| {case.id} | {situation} | {_cell(case.outcome)} | {_links(proofs)} |"


def _promise(promise: Promise, proofs: tuple[Proof, ...]) -> str:
    return f"| {promise.id} | {_cell(_without_targets(promise.sentence))} | {_links(proofs)} |"


def _without_targets(words: str) -> str:
    """The text with its links as plain words: their targets are relative to another folder."""
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", words)


def _links(proofs: tuple[Proof, ...]) -> str:
    return "<br>".join(dict.fromkeys(_link(proof) for proof in proofs))


def _link(proof: Proof) -> str:
    return f"[{_cell(proof.name)}]({os.path.relpath(proof.path, 'docs').replace(' ', '%20')})"


def _cell(words: str) -> str:
    """Text that is one cell of a Markdown table; angle brackets would be taken for HTML."""
    inside_code = False
    out = []
    for character in words.replace("|", "\\|").strip():
        inside_code ^= character == "`"
        out.append("&lt;" if character == "<" and not inside_code else character)
    return "".join(out)
