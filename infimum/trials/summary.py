"""What all trials of a run gave: counts, the best, and what went wrong."""

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

from infimum import environment
from infimum.text import counted
from infimum.trials.outcome import Kind, Outcome

Point = tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TrialSummary:
    """The trials of a black box.

    count: how many there were. evaluations: how often each function was evaluated, g1, g2, … and f. feasible: the trials that met
    all constraints and have a value. failures: how many failed, by kind: "nan", "exception", "crash", "timeout", "no_number".
    last_failure: what is known of the last of them. constraints: their values at x, at most 0; None if no trial met all. point:
    where there are choices, x as the function gets it, with the chosen values. journal: the file that holds them all.
    """

    count: int
    evaluations: tuple[int, ...]
    feasible: int
    failures: dict[str, int]
    last_failure: str = ""
    constraints: tuple[float, ...] | None = None
    point: list | None = None
    journal: str | None = None

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
        return found


class Book:
    """Keeps count of trials as they end, and the best of them."""

    def __init__(self, constraints: int):
        self.constraints, self.count, self.feasible = constraints, 0, 0
        self.evaluations = [0] * (constraints + 1)
        self.failures: Counter[Kind] = Counter()
        self.last_failure = ""
        self.x: Point | None = None                 # of the best trial that met all constraints
        self.outcome: Outcome | None = None
        self.value = math.inf
        self.nearest: tuple[Point, int, float] | None = None  # without one: the point, the constraint it violates, by how much

    def add(self, x: Point, outcome: Outcome) -> None:
        """A trial has ended."""
        self.count += 1
        failed_in = outcome.failure and outcome.index <= self.constraints + 1
        for k in range(max(len(outcome.values), outcome.index if failed_in else 0)):
            self.evaluations[k] += 1
        if outcome.failure:
            self.failures[outcome.kind] += 1
            self.last_failure = outcome.text or outcome.kind.value
        elif outcome.index == self.constraints + 1:
            self.feasible += 1
            if outcome.value < self.value:
                self.x, self.outcome, self.value = x, outcome, outcome.value
        elif self.nearest is None or (-outcome.index, outcome.value) < (-self.nearest[1], self.nearest[2]):
            self.nearest = x, outcome.index, outcome.value

    @property
    def hopeless(self) -> bool:
        """Has every trial failed?"""
        return bool(self.count) and sum(self.failures.values()) == self.count

    def why_hopeless(self) -> str:
        """What to say then."""
        kinds = ", ".join(f"{number:,} {kind.value}" for kind, number in self.failures.items())
        return f"none of {counted(self.count, 'trial')} gave a value ({kinds}); the last: {self.last_failure}"

    def summary(self, point: Any = None, journal: str | None = None) -> TrialSummary:
        """All of it."""
        met = None if self.outcome is None else self.outcome.values[:self.constraints]
        failures = {kind.name.lower(): count for kind, count in self.failures.items()}
        return TrialSummary(self.count, tuple(self.evaluations), self.feasible, failures, self.last_failure, met, point, journal)
