"""What all trials of a run gave: counts, the best, and what went wrong."""

import math
from collections import Counter
from dataclasses import replace
from typing import Any

from infimum.blackbox.outcome import Outcome, OutcomeKind
from infimum.problem.text import counted
from infimum.support import environment
from infimum.support.lazy import dataclass

Point = tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class InnerSummary:
    """The inner problems of a nested one. lower, upper: at the best outer point, the minimum over the inner variables, or the
    maximum, is proved to lie between them. verdict: the name of that proof's, "PROVED" where they are as near as was asked.
    verdicts: how many inner problems ended with each. evaluations: of points and boxes, in all of them. what: "minimum" or
    "maximum"."""

    lower: float
    upper: float
    verdict: str | None
    verdicts: dict[str, int]
    evaluations: int
    what: str = "minimum"

    @environment.ours
    def opposite(self) -> "InnerSummary":
        """What this, of -f, says of f."""
        return replace(self, lower=0.0 - self.upper, upper=0.0 - self.lower, what="maximum")

    @environment.ours
    def lines(self) -> list[str]:
        """For people.

        >>> for line in InnerSummary(0.5, 0.75, "PROVED", {"PROVED": 9, "INFEASIBLE": 1}, 4000).lines():
        ...     print(line)
        10 inner problems (9 proved, 1 infeasible), 4,000 evaluations in them
        at this y the minimum over z is proved to lie in [0.5, 0.75]
        """
        each = ", ".join(f"{number:,} {name.lower()}" for name, number in self.verdicts.items())
        found = [f"{counted(sum(self.verdicts.values()), 'inner problem')} ({each}), {self.evaluations:,} evaluations in them"]
        if self.verdict is None:
            return found
        proved = f"at this y the {self.what} over z is proved to"
        if math.isinf(self.lower) or math.isinf(self.upper):
            known = f"at most {self.upper!r}, and may be any lower" if self.what == "minimum" else \
                f"at least {self.lower!r}, and may be any higher"
            return [*found, f"{proved} be {known}"]
        stopped = "" if self.verdict == "PROVED" else "; the proof was stopped, and this is wider than asked for"
        return [*found, f"{proved} lie in [{self.lower!r}, {self.upper!r}]{stopped}"]


@dataclass(frozen=True, slots=True, eq=False)
class TrialSummary:
    """The trials of a black box.

    count: how many there were. evaluations: how often each function was evaluated, g1, g2, … and f. feasible: the trials that met
    all constraints and have a value. failures: how many failed, by kind: "nan", "exception", "crash", "timeout", "no_number".
    last_failure: what is known of the last of them. constraints: their values at x, at most 0; None if no trial met all. point:
    where there are choices, x as the function gets it, with the chosen values. journal: the file that holds them all. inner: of a
    nested problem, what is proved of its inner problems.
    """

    count: int
    evaluations: tuple[int, ...]
    feasible: int
    failures: dict[str, int]
    last_failure: str = ""
    constraints: tuple[float, ...] | None = None
    point: list | None = None
    journal: str | None = None
    inner: InnerSummary | None = None

    @environment.ours
    def opposite(self) -> "TrialSummary":
        """What this, of -f, says of f."""
        return self if self.inner is None else replace(self, inner=self.inner.opposite())

    @environment.ours
    def lines(self) -> list[str]:
        """For people.

        >>> TrialSummary(9, (9, 5), 4, {"timeout": 1}, "killed after 2 s").lines()
        ['9 trials, 4 of them feasible: g1 9 times, f 5', '1 failed (1 timeout); the last: killed after 2 s']
        """
        names = [*(f"g{k}" for k in range(1, len(self.evaluations))), "f"]
        each = ", ".join(f"{name} {number:,}{' times' if not k else ''}"
                         for k, (name, number) in enumerate(zip(names, self.evaluations, strict=True)))
        constrained = f", {self.feasible:,} of them feasible: {each}" if len(names) > 1 else ""
        found = [f"{counted(self.count, 'trial')}{constrained}"]
        if self.failures:
            kinds = ", ".join(f"{number:,} {kind.replace('_', ' ')}" for kind, number in self.failures.items())
            found.append(f"{sum(self.failures.values()):,} failed ({kinds}); the last: {self.last_failure}")
        return found if self.inner is None else found + self.inner.lines()


class TrialCounter:
    """Keeps count of trials as they end, and the best of them."""

    def __init__(self, constraints: int):
        self.constraints, self.count, self.feasible = constraints, 0, 0
        self.evaluations = [0] * (constraints + 1)
        self.failures: Counter[OutcomeKind] = Counter()
        self.last_failure = ""
        self.x: Point | None = None                 # of the best trial that met all constraints
        self.outcome: Outcome | None = None
        self.value = math.inf
        self.verdicts: Counter[str] = Counter()     # of inner problems, if it is a nested one
        self.inner_evaluations = 0
        self.nearest: tuple[Point, int, float] | None = None  # without one: the point, the constraint it violates, by how much

    def add(self, x: Point, outcome: Outcome) -> None:
        """A trial has ended."""
        self.count += 1
        failed_in = outcome.failure and outcome.index <= self.constraints + 1
        for k in range(max(len(outcome.values), outcome.index if failed_in else 0)):
            self.evaluations[k] += 1
        if outcome.inner is not None:
            self.verdicts[outcome.inner.verdict] += 1
            self.inner_evaluations += outcome.inner.evaluations
        if outcome.failure:
            self.failures[outcome.kind] += 1
            self.last_failure = outcome.text or outcome.kind.value
            if outcome.kind is OutcomeKind.NAN:
                self.last_failure = f"{'f' if outcome.index > self.constraints else f'g{outcome.index}'} returned {outcome.text}"
        elif outcome.index == self.constraints + 1:
            self.feasible += 1
            if outcome.value < self.value:
                self.x, self.outcome, self.value = x, outcome, outcome.value
        elif self.nearest is None or (-outcome.index, outcome.value) < (-self.nearest[1], self.nearest[2]):
            self.nearest = x, outcome.index, outcome.value

    @property
    def is_hopeless(self) -> bool:
        """Has every trial failed?"""
        return bool(self.count) and sum(self.failures.values()) == self.count

    def why_hopeless(self) -> str:
        """What to say then."""
        kinds = ", ".join(f"{number:,} {kind.value}" for kind, number in self.failures.items())
        return f"none of {counted(self.count, 'trial')} gave a value ({kinds}); the last: {self.last_failure}"

    @property
    def point(self) -> Point | None:
        """The best: of a nested problem with its inner variables."""
        if self.outcome is None or self.outcome.inner is None:
            return self.x
        return self.x + self.outcome.inner.z

    def _inner(self) -> InnerSummary | None:
        if not self.verdicts:
            return None
        best = None if self.outcome is None else self.outcome.inner
        lower, verdict = (-math.inf, None) if best is None else (best.lower, best.verdict)
        return InnerSummary(lower, self.value, verdict, dict(self.verdicts), self.inner_evaluations)

    def summary(self, point: Any = None, journal: str | None = None) -> TrialSummary:
        """All of it."""
        met = None if self.outcome is None else self.outcome.values[:self.constraints]
        failures = {kind.name.lower(): count for kind, count in self.failures.items()}
        return TrialSummary(self.count, tuple(self.evaluations), self.feasible, failures, self.last_failure, met, point, journal,
                            self._inner())
