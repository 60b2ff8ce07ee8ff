from __future__ import annotations

import unittest

from flood_parts.judgement import RATIO, SLACK, Times, Verdict, idle_share


def verdict(calm: list[float], flood: list[float], errors: list[str] | None = None) -> Verdict:
    return Verdict("refresh", "address", Times(calm), Times(flood, errors or []), {429: 7, 200: 3})


class JudgementTests(unittest.TestCase):
    def test_the_median_decides(self) -> None:
        self.assertIsNone(verdict([10, 10, 500], [12, 20, 900]).problem)
        self.assertIsNone(verdict([100], [RATIO * 100 + SLACK]).problem)
        self.assertEqual(
            verdict([100], [RATIO * 100 + SLACK + 1]).problem, "the user waited 2.2 times as long as usual")

    def test_one_request_that_is_not_answered_is_a_failure(self) -> None:
        self.assertEqual(
            verdict([10], [10, 10], ["Failed: 429"]).problem,
            "1 requests of the user failed, the first with Failed: 429")

    def test_a_flood_without_requests_proves_nothing(self) -> None:
        self.assertEqual(verdict([10], []).problem, "the user sent no request")
        self.assertEqual(
            Verdict("refresh", "address", Times([1]), Times([1]), {}).problem, "the attacker sent no request")
        self.assertEqual(
            Verdict("refresh", "address", Times([1], ["Lost: x"]), Times([1]), {200: 1}).problem,
            "failed without a flood: Lost: x")

    def test_times_on_a_busy_machine_are_not_judged(self) -> None:
        busy = Verdict("refresh", "address", Times([10]), Times([900]), {200: 1}, idle=0.4)
        self.assertIsNone(busy.problem)
        self.assertIn("ratio 90.00 (not judged: the machine is busy)", str(busy))
        busy.flood.errors.append("Failed: 503")
        self.assertIsNotNone(busy.problem)

    def test_the_idle_share_is_that_between_two_readings(self) -> None:
        before = "cpu  100 0 50 1000 10 0 0 0 0 0\ncpu0 1 2 3\n"
        after = "cpu  130 0 70 1040 20 0 0 0 0 0\ncpu0 1 2 3\n"
        self.assertEqual(idle_share(before, after), 0.5)

    def test_the_figures_are_one_line(self) -> None:
        self.assertEqual(
            str(verdict([10], [12])),
            "refresh, address: 1 answered, 0 failed; median 10.0 → 12.0 ms, ratio 1.20; "
            "longer than 2 × the usual median: 0.0% → 0.0%, than 2 × the usual 99th percentile: 0.0% → 0.0%; "
            "attacker: 3 × 200, 7 × 429")

    def test_the_shares_of_slow_requests_are_shown_and_not_judged(self) -> None:
        slow = verdict([10] * 98 + [30, 30], [11] * 95 + [21, 40, 59, 61, 900])
        self.assertIn(
            "longer than 2 × the usual median: 2.0% → 5.0%, than 2 × the usual 99th percentile: 0.0% → 2.0%;",
            str(slow))
        self.assertIsNone(slow.problem)
        self.assertEqual(Times([7]).slowest, 7)
        self.assertEqual(Times().share_above(1), 0)
