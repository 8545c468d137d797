"""Relations between a problem in a box and the same problem transformed, or asked of another engine."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bench.related import transformations as to
from bench.related.answers import Answer, against_exact, answer_of, least_of, no_lower, same_infimum
from bench.related.asking import Judgement, ask, run
from bench.related.balls import ball
from bench.related.draws import Draw, known_points, problem, value_at
from bench.related.problems import numbers
from bench.related.transformations import FAR, Transform

_INF = math.inf
_TRIES = 8  # problems that are drawn until one has what a relation needs


@dataclass(frozen=True)
class Comparison:
    """wrong: what the answers contradict. decided: do they constrain each other?"""

    wrong: Callable[[Answer, Sequence[Answer]], str]
    decided: Callable[[Answer, Sequence[Answer]], bool]


def _first(found: Iterable[str]) -> str:
    return next((text for text in found if text), "")


SAME = Comparison(lambda base, others: _first(same_infimum(base, other) for other in others),
                  lambda base, others: base.ended and all(other.ended for other in others))
PART = Comparison(lambda base, others: _first(no_lower(other, base) for other in others),
                  lambda base, others: (base.lower > -_INF) and any(other.possible for other in others))
UNION = Comparison(lambda base, others: same_infimum(base, least_of(others)) or PART.wrong(base, others), SAME.decided)
CLAIMS = Comparison(SAME.wrong, lambda base, others: all(a.verdict == "INFEASIBLE" or (a.possible and a.lower > -_INF)
                                                        for a in (base, *others)))
POINT = Comparison(SAME.wrong, lambda base, others: base.lower > -_INF and any(other.possible for other in others))


def _impossible(base: Answer, others: Sequence[Answer]) -> str:
    """One run has a feasible point, and another says that there is none."""
    one, other = base.verdict == "INFEASIBLE", any(a.verdict == "INFEASIBLE" for a in others)
    found = (one and any(a.possible for a in others)) or (other and base.possible)
    return "one run says INFEASIBLE, the other has a feasible point" if found else ""


def _is_near(a: Answer) -> bool:
    """Bounds of a variable that stands for the objective do not cut its infimum off."""
    return a.verdict == "INFEASIBLE" or (-FAR < a.lower and a.upper < FAR)


POSSIBLE = Comparison(_impossible, lambda base, others: all(a.verdict == "INFEASIBLE" or a.possible for a in (base, *others)))
MOVED = Comparison(lambda base, others: SAME.wrong(base, others) if _is_near(base) else "",
                   lambda base, others: SAME.decided(base, others) and _is_near(base))


def judged(d: Draw, transform: Transform, comparison: Comparison, **kind: Any) -> Judgement:
    """Draws a problem, asks it and its variants, and compares."""
    for _ in range(_TRIES):
        drawn, p = problem(d, **kind)
        found = transform(d, drawn, p)
        if found is not None:
            break
    else:
        return Judgement(False, note="no problem of this kind")
    base, variants = found
    points = known_points(d, base, p)
    answers = []
    for q, door, settings, back in ((base, "minimize", {}, None), *((v.problem, v.door, v.settings, v.back) for v in variants)):
        answer = ask(q, door, **settings)
        exact = q if door != "maximize" else q.having(f=("neg", q.f))
        wrong = against_exact(answer, exact, points if back is None else ())
        if wrong:
            return Judgement(True, f"{wrong}\n{q.snippet(door, settings)}", answer.verdict)
        answers.append(answer if back is None else back(answer))
    note = " ".join(a.verdict for a in answers)
    theirs = [a.point[0] for a in answers[1:] if a.point is not None and a.point[0] == a.point[1]]
    wrong = comparison.wrong(answers[0], answers[1:]) or against_exact(replace(answers[0], point=None), base, theirs)
    if wrong:
        programs = [base.snippet(), *(v.problem.snippet(v.door, v.settings) for v in variants)]
        return Judgement(True, "\n".join([wrong, *programs]), note)
    return Judgement(comparison.decided(answers[0], answers[1:]), "", note)


def unique(d: Draw) -> Judgement:
    """A box with exactly one global minimiser, and those of the same problem in other variables."""
    drawn, p = problem(d, rows=0.2, infinite=0.0, whole=0.0, kinds=("smooth", "array", "squares", "hilly"))
    found = to.shifted(d, drawn, p) or to.scaled(d, drawn, p)
    if found is None:
        return Judgement(False, note="no other variables")
    (base, (variant,)), claims, ones = found, [], 0
    for q, back in ((base, lambda a: a), (variant.problem, variant.back)):
        result = run(q, xtol=0.02)
        answer, known = answer_of(result), result.minimisers
        if known is not None and known.exactly_one:
            one, = known.may_be_global
            answer, ones = replace(answer, boxes=[(numbers(one.lo), numbers(one.hi))], attained=True), ones + 1
        claims.append(back(answer))
    wrong = same_infimum(*claims)
    return Judgement(ones > 0 and all(claim.ended for claim in claims), wrong and "\n".join([wrong, base.snippet(),
                     variant.problem.snippet()]), f"{ones} of 2 with exactly one")


def constraint_values(d: Draw) -> Judgement:
    """The values of constraints that a result tells, and their exact values at its point."""
    q, _ = problem(d, rows=1.0)
    result = run(q)
    told = result.constraints
    if told is None or not isinstance(result.feasible, np.ndarray):
        return Judgement(False, note=f"{result.verdict.name}, no point")
    wrong = ""
    for row in told:
        v = value_at(q, q.rows[row.number].e, numbers(result.feasible))
        if v is not None and (v < ball(row.value.lo) or v > ball(row.value.hi)):
            at = result.feasible.tolist()
            wrong = wrong or f"constraint {row.number} is {v.str(17)} at {at!r}, and its value is told as {row.value}"
    return Judgement(len(told) > 0, wrong and f"{wrong}\n{q.snippet()}", result.verdict.name)


# name: (transformation, comparison, what is special about the problems drawn)
BOXES: dict[str, tuple[Transform, Comparison, dict[str, Any]]] = {
    "part of the box": (to.part, PART, {}),
    "bound fixed": (to.fixed, SAME, {}),
    "permuted": (to.permuted, SAME, {}),
    "shifted": (to.shifted, SAME, {}),
    "scaled": (to.scaled, SAME, {}),
    "maximised": (to.negated, SAME, {}),
    "redundant row": (to.redundant, SAME, {}),
    "objective moved": (to.moved, MOVED, {"infinite": 0.0}),
    "unrelated term": (to.unrelated, SAME, {"most": 2}),
    "whole as choice": (to.choice, UNION, {"whole": 0.7, "infinite": 0.0}),
    "split": (to.split, UNION, {}),
    "start boxes": (to.started, SAME, {}),
    "feasible": (to.possible, POSSIBLE, {"rows": 1.0}),
    "limits": (to.coarse, CLAIMS, {}),
    "engine newton": (to.engine("newton"), SAME, {"infinite": 0.0, "whole": 0.0}),
    "engine complete": (to.engine("complete"), SAME, {"infinite": 0.0}),
    "engine subdomain": (to.engine("subdomain"), SAME, {"infinite": 0.0}),
    "engine swarm": (to.engine("swarm"), POINT, {"infinite": 0.0}),
    "lp": (to.linear_programs, SAME, {}),
}


def ask_boxes(name: str) -> Callable[[Draw], Judgement]:
    transform, comparison, kind = BOXES[name]
    return lambda d: judged(d, transform, comparison, **kind)
