"""What was shown about a property of a network."""

from dataclasses import field
from enum import Enum
from typing import Any

import numpy as np

from infimum.problem.json_values import plain
from infimum.problem.text import counted, point
from infimum.result import Result
from infimum.support import environment
from infimum.support.lazy import dataclass

_SHOWN = 12  # checks of a table


class Outcome(Enum):
    """What was shown. The value is a sentence that explains it."""

    HOLDS = "proved for every input within the bounds"
    VIOLATED = "proved to fail at the counterexample"
    BOUNDED = "no limit was given; the value is proved to lie between lower and upper"
    UNKNOWN = "it could not be decided, or a limit was reached before it was"


@dataclass(frozen=True, eq=False)
class Check:
    """One of the questions that a property consists of. text: what is asked. lower, upper: proved bounds of its value; where the
    question is whether inequalities can hold together, there are none. result: of the run; None where the enclosure over the
    whole box decided, or there was no time left for a run. note: why it was left open, if that is known."""

    text: str
    outcome: Outcome
    lower: float
    upper: float
    x: np.ndarray | None = None
    result: Result | None = field(default=None, repr=False)
    note: str = ""


@dataclass(frozen=True, eq=False)
class Verification:
    """The result of `infimum.verify`. Printed, it is a table.

    verdict: HOLDS, VIOLATED, UNKNOWN, or BOUNDED where only bounds were asked for. property: in words. counterexample: a point
    within the bounds at which the violation is proved by an enclosure; None if there is none. Where a VNN-LIB file leaves no
    double to an input, it has the nearest one, and the proof is for all numbers between the doubles around. outputs: of the
    network there, computed with doubles. lower, upper: proved bounds of the largest or smallest value that the property is about,
    from all its checks; infinite where nothing was proved. checks: the questions that it consists of. seconds: the time all of it
    took.
    """

    verdict: Outcome
    property: str
    counterexample: np.ndarray | None
    outputs: np.ndarray | None
    lower: float
    upper: float
    checks: tuple[Check, ...]
    seconds: float

    @property
    @environment.ours
    def holds(self) -> bool:
        """Is the property proved?"""
        return self.verdict is Outcome.HOLDS

    @environment.ours
    def to_dict(self) -> dict[str, Any]:
        """As plain Python."""
        checks = [{"text": c.text, "outcome": c.outcome.name, "lower": c.lower, "upper": c.upper, "note": c.note}
                  for c in self.checks]
        return {"verdict": self.verdict.name, "property": self.property, "counterexample": plain(self.counterexample),
                "outputs": plain(self.outputs), "lower": self.lower, "upper": self.upper, "checks": checks,
                "seconds": self.seconds}

    def __repr__(self) -> str:
        rows = [("verdict", f"{self.verdict.name}: {self.verdict.value}"), ("property", self.property)]
        if np.isfinite(self.lower) or np.isfinite(self.upper):
            rows.append(("bounds", f"[{self.lower!r}, {self.upper!r}] (proved)"))
        if self.counterexample is not None:
            rows += [("x", point(self.counterexample)), ("outputs", f"{point(self.outputs)} (about)")]
        if len(self.checks) > 1:
            rows += [("checks" if i == 0 else "", f"{c.outcome.name:<8} {c.text}" + (
                f": [{c.lower:.6g}, {c.upper:.6g}]" if c.lower > -np.inf or c.upper < np.inf else ""))
                for i, c in enumerate(self.checks[:_SHOWN])]
            if len(self.checks) > _SHOWN:
                rows.append(("", f"and {len(self.checks) - _SHOWN:,} more"))
        rows += [("note", note) for note in dict.fromkeys(c.note for c in self.checks if c.note)]
        evaluations = sum(c.result.nfev for c in self.checks if c.result is not None)
        rows.append(("work", f"{counted(evaluations, 'evaluation')}, {self.seconds:.3f} s"))
        return "\n".join(f"{name:<12} {text}" for name, text in rows)
