"""Judges whether an attacker has stopped a user, or slowed the user down."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field

#: The largest ratio of the time during the flood to the usual time.
RATIO = 2.0
#: What a machine that also runs the attacker may add, in milliseconds.
SLACK = 15.0
#: The share of the cores that has to be idle without a flood; otherwise other programs decide how long a request takes.
IDLE = 0.5


@dataclass
class Times:
    """The times of the requests of a user in milliseconds, and the reasons of those that failed."""

    taken: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.taken) if self.taken else 0.0

    @property
    def slowest(self) -> float:
        """The 99th percentile: 99 of 100 requests take at most this time."""
        if len(self.taken) < 2:
            return self.median
        return statistics.quantiles(self.taken, n=100, method="inclusive")[98]

    def share_above(self, limit: float) -> float:
        """The share of the requests that took longer than a time."""
        return sum(time > limit for time in self.taken) / max(1, len(self.taken))


@dataclass
class Verdict:
    """The times of a user without a flood and during one."""

    part: str
    attacker: str
    calm: Times
    flood: Times
    #: The number of requests of the attacker by status.
    statuses: dict[int, int]
    #: The share of the cores that was idle without a flood.
    idle: float = 1.0

    @property
    def ratio(self) -> float:
        return self.flood.median / self.calm.median if self.calm.median else 0.0

    @property
    def problem(self) -> str | None:
        """Why the part fails; None if it does not.

        Medians decide, because single times vary with the machine; the report shows the shares of slow requests.
        """
        if self.calm.errors:
            return f"failed without a flood: {self.calm.errors[0]}"
        if self.flood.errors:
            return f"{len(self.flood.errors)} requests of the user failed, the first with {self.flood.errors[0]}"
        if not self.calm.taken or not self.flood.taken:
            return "the user sent no request"
        if not self.statuses:
            return "the attacker sent no request"
        if self.idle >= IDLE and self.flood.median > RATIO * self.calm.median + SLACK:
            return f"the user waited {self.ratio:.1f} times as long as usual"
        return None

    def __str__(self) -> str:
        sent = ", ".join(f"{count} × {status}" for status, count in sorted(self.statuses.items()))
        return (
            f"{self.part}, {self.attacker}: {len(self.flood.taken)} answered, {len(self.flood.errors)} failed; "
            f"median {self.calm.median:.1f} → {self.flood.median:.1f} ms, ratio {self.ratio:.2f}"
            f"{'' if self.idle >= IDLE else ' (not judged: the machine is busy)'}; "
            f"longer than {RATIO:g} × the usual median: {self._shares(self.calm.median)}, "
            f"than {RATIO:g} × the usual 99th percentile: {self._shares(self.calm.slowest)}; attacker: {sent}"
        )

    def _shares(self, usual: float) -> str:
        before, during = (times.share_above(RATIO * usual) for times in (self.calm, self.flood))
        return f"{before:.1%} → {during:.1%}"


def idle_share(before: str, after: str) -> float:
    """The share of the cores that was idle between two readings of /proc/stat."""
    first, second = ([int(word) for word in text.split("\n", 1)[0].split()[1:]] for text in (before, after))
    spent = [late - early for early, late in zip(first, second)]
    return (spent[3] + spent[4]) / max(1, sum(spent[:8]))
