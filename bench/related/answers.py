"""What a run claims, and what claims contradict: each other, or what is exact."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from bench.related.balls import PRECISIONS, Undefined, Unsure, ball, precision
from bench.related.expressions import value
from bench.related.problems import Problem, View, numbers

_INF = math.inf
ENDED = ("PROVED", "INFEASIBLE")
Exact = Fraction | float  # a fraction, or an infinity


@dataclass(frozen=True)
class Answer:
    """An enclosure of an infimum; a point that is proved to be feasible, or the box around one; boxes with all minimisers."""

    verdict: str
    lower: Exact
    upper: Exact
    point: tuple[list, list] | None = None
    boxes: list[tuple[list, list]] | None = None
    attained: bool = False

    @property
    def ended(self) -> bool:
        """The run reached its goal."""
        return self.verdict in ENDED

    @property
    def possible(self) -> bool:
        """A feasible point is proved."""
        return self.upper < _INF

    def through(self, view: View) -> "Answer":
        """In the variables of the expressions."""
        def seen(box: tuple[list, list]) -> tuple[list, list]:
            pairs = [sorted(pair) for pair in zip(*(_viewed(view, end) for end in box), strict=True)]
            return [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        return replace(self, point=None if self.point is None else seen(self.point),
                       boxes=None if self.boxes is None else [seen(box) for box in self.boxes])

    def times(self, factor: Exact) -> "Answer":
        """Of the function divided by this number."""
        ends = sorted((_divided(self.lower, factor), _divided(self.upper, factor)))
        return replace(self, lower=ends[0], upper=ends[1]) if self.verdict != "INFEASIBLE" else self


def _viewed(view: View, y: Sequence[Exact]) -> list[Exact]:
    return [v * Fraction(s) + Fraction(t) if math.isfinite(v) else math.copysign(_INF, v * s)
            for v, s, t in ((y[k], s, t) for k, s, t in zip(view.order, view.scale, view.shift, strict=True))]


def _divided(v: Exact, factor: Exact) -> Exact:
    return v / factor if math.isfinite(v) else math.copysign(_INF, v * factor)


def exact(v: float) -> Exact:
    return Fraction(v) if math.isfinite(v) else float(v)


def answer_of(result: Any) -> Answer:
    """What a Result of minimize or feasible claims; of maximize, about the negative."""
    lower, upper = exact(result.lower), exact(result.upper)
    if result.maximised:
        lower, upper = -upper, -lower
    verdict, point = result.verdict.name, result.feasible
    if verdict == "INFEASIBLE":
        lower = upper = _INF
    pair = point if isinstance(point, tuple) else (point, point)
    boxes = None if result.boxes is None else [(numbers(lo), numbers(hi)) for lo, hi in result.boxes]
    return Answer(verdict, lower, upper, None if point is None else (numbers(pair[0]), numbers(pair[1])), boxes,
                  result.attained is True)


# ---- what contradicts
def against_exact(answer: Answer, problem: Problem, known: Sequence[Sequence[Any]] = ()) -> str:
    """A point that is no feasible one, or not as good as claimed; a lower bound above the value at a known feasible point."""
    if answer.point is not None and (wrong := _wrong_point(answer, problem)):
        return wrong
    for point in known:
        v = problem.feasible_value(point)
        if v is None:
            continue
        if answer.verdict == "INFEASIBLE":
            return f"INFEASIBLE, but {list(point)!r} is feasible, with the value {v.str(17)}"
        with precision(PRECISIONS[-1]):
            if math.isfinite(answer.lower) and ball(answer.lower) > v:
                return f"lower {float(answer.lower)!r} is above the value {v.str(17)} at {list(point)!r}"
    return ""


def _wrong_point(answer: Answer, problem: Problem) -> str:
    lo, hi = answer.point
    if outside := problem.outside(lo, hi):
        return f"the feasible point is wrong: {outside}"
    for bits in PRECISIONS:
        with precision(bits):
            y = problem.place(lo, hi)
            for k, row in enumerate(problem.rows):
                if problem.row_holds(row, y) is False:
                    return f"constraint {k} does not hold at the feasible point {lo!r} to {hi!r}"
            try:
                v = value(problem.f, problem.seen(y))
            except Undefined:
                return f"f is undefined at the feasible point {lo!r} to {hi!r}"
            except Unsure:
                continue
            if math.isfinite(answer.upper) and v > ball(answer.upper):
                return f"upper {float(answer.upper)!r} is below f = {v.str(17)} at {lo!r} to {hi!r}"
            return ""
    return ""


def same_infimum(a: Answer, b: Answer) -> str:
    """Two enclosures of one infimum."""
    for one, other in ((a, b), (b, a)):
        if one.verdict == "INFEASIBLE" and other.possible:
            return "one run says INFEASIBLE, the other has a feasible point"
        if one.lower > other.upper:
            return f"[{_shown(a)}] and [{_shown(b)}] have no number in common"
    if a.verdict == b.verdict == "PROVED" and (a.attained or b.attained) and not _meet(a.boxes, b.boxes):
        return f"no box of minimisers of one run meets one of the other: {_few(a.boxes)} and {_few(b.boxes)}"
    return ""


def no_lower(part: Answer, whole: Answer) -> str:
    """The infimum over a part of the feasible set is not below that over all of it."""
    if whole.verdict == "INFEASIBLE" and part.possible:
        return "a part has a feasible point, and the whole is INFEASIBLE"
    return f"a part has the upper bound {float(part.upper)!r}, the whole the lower bound {float(whole.lower)!r}" \
        if part.upper < whole.lower else ""


def least_of(answers: Sequence[Answer]) -> Answer:
    """Of the union of their feasible sets."""
    verdicts = {a.verdict for a in answers}
    verdict = "INFEASIBLE" if verdicts == {"INFEASIBLE"} else "PROVED" if all(a.ended for a in answers) else "STOPPED"
    return Answer(verdict, min(a.lower for a in answers), min(a.upper for a in answers))


def _meet(some: list | None, others: list | None) -> bool:
    if not some or not others:  # nothing is said
        return True
    return any(all(not below and not above for below, above in (
        (b1 < a2, b2 < a1) for a1, b1, a2, b2 in zip(*one, *other, strict=True))) for one in some for other in others)


def _shown(a: Answer) -> str:
    return f"{float(a.lower)!r}, {float(a.upper)!r}, {a.verdict}"


def _few(boxes: list) -> str:
    return ", ".join(" x ".join(f"[{float(lo)!r}, {float(hi)!r}]" for lo, hi in zip(*box, strict=True)) for box in boxes[:4])


# ---- bits
_BITS = ("verdict", "fun", "lower", "upper", "nit", "nfev", "attained", "purpose", "message", "obstacle")


def other_bits(a: Any, b: Any) -> str:
    """The first field in which two Results differ that are to have the same bits; times and history aside."""
    for name in _BITS:
        if not _same(getattr(a, name), getattr(b, name)):
            return f"{name} is {getattr(a, name)!r} in one run and {getattr(b, name)!r} in the other"
    for name in ("x", "feasible", "boxes"):
        if not _same_numbers(getattr(a, name), getattr(b, name)):
            return f"{name} is {getattr(a, name)!r} in one run and {getattr(b, name)!r} in the other"
    return ""


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (a != a and b != b)
    return a == b


def _same_numbers(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return a is b
    if isinstance(a, (list, tuple)):
        return isinstance(b, (list, tuple)) and len(a) == len(b) and all(map(_same_numbers, a, b))
    return not isinstance(b, (list, tuple)) and np.array_equal(np.asarray(a), np.asarray(b), equal_nan=True)
