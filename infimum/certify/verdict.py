"""What a proving engine may say: the verdict, and the boxes that hold every minimiser.

Proof: docs/proofs/claims.md.
"""

from typing import Any

import numpy as np

from infimum.certify.uniqueness_question import UniquenessQuestion
from infimum.errors import InternalError
from infimum.evaluation.enclosures import LIPSCHITZ
from infimum.evaluation.evaluator import Evaluator
from infimum.problem.cover import Cover, widths
from infimum.problem.settings import Goal
from infimum.problem.unions import Unions
from infimum.result import Result, Verdict
from infimum.search.incumbent import Incumbent
from infimum.search.policy.bounds import DIAGNOSIS as POLICY
from infimum.search.region_pool import Regions
from infimum.support.clock import briefly, stop_if_over

LOWEST_VALUE = -2.0**1023  # fixed: values below this are next to the last double
_UNDECIDED_VERDICTS = (Verdict.STOPPED, Verdict.UNDECIDED)


def proved_result(regions: Regions, lower: float, incumbent: Incumbent, goal: Goal, stopped: str | None,
                  unions: Unions | None = None, **work: Any) -> Result:
    """The result of a search that keeps `regions`, with the infimum not below `lower`; `stopped` says what ended it early. Where
    `unions` are given, they hold all minimisers too, and `regions` is the one box around them."""
    upper = incumbent.upper
    verdict = _verdict(regions, unions, lower, upper, goal, stopped)
    return Result(
        x=incumbent.x, fun=upper, success=verdict is Verdict.PROVED, status=list(Verdict).index(verdict),
        message=_message(verdict, stopped, lower, upper, goal), verdict=verdict,
        obstacle=_obstacle(regions, lower, incumbent, goal) if verdict in _UNDECIDED_VERDICTS else None,
        lower=np.inf if verdict is Verdict.INFEASIBLE else lower, upper=upper,
        boxes=briefly(lambda: merged(regions), _hull(regions)) if unions is None else listed_boxes(unions),
        attained=briefly(lambda: _attained(regions, incumbent.evaluator)) if incumbent.x is not None else None,
        regions=Cover(regions.lo, regions.hi, regions.lower) if unions is None else Cover.product(unions, lower),
        question=UniquenessQuestion(incumbent.evaluator, incumbent.lo, incumbent.hi, incumbent.start, incumbent.outer), **work)


def _obstacle(*asked: Any) -> str | None:
    from infimum.certify.obstacles import obstacle

    return briefly(lambda: obstacle(*asked))


def _verdict(regions: Regions, unions: Unions | None, lower: float, upper: float, goal: Goal, stopped: str | None) -> Verdict:
    if not len(regions):
        if np.isfinite(upper):
            raise InternalError("every region was discarded although a point with a verified value is known")
        return Verdict.INFEASIBLE
    left = regions if unions is None else unions
    narrow = goal.xtol is None or bool((widths(left.lo, left.hi) <= goal.xtol).all())
    if goal.met(lower, upper) and narrow:
        return Verdict.PROVED
    return Verdict.STOPPED if stopped else Verdict.UNDECIDED


def _attained(regions: Regions, evaluator: Evaluator) -> bool | None:
    """A function that is continuous on closed, bounded regions takes its smallest value there; with constraints, if these are
    continuous too."""
    bounded = np.isfinite(regions.lo).all() and np.isfinite(regions.hi).all()
    if not bounded or not (regions.level >= LIPSCHITZ).all():
        return None
    if evaluator.system is not None:
        few = len(regions) <= POLICY.most_separate_boxes
        return True if few and evaluator.rows(regions.lo, regions.hi).lipschitz.all() else None
    return True


def _message(verdict: Verdict, stopped: str | None, lower: float, upper: float, goal: Goal) -> str:
    if verdict is Verdict.PROVED:
        return within(lower, upper)
    if verdict is Verdict.INFEASIBLE:
        return "the function is defined nowhere within the bounds"
    if upper <= LOWEST_VALUE:
        return "the function falls below every double: as far as doubles can tell, its infimum is -infinity"
    if verdict is Verdict.UNDECIDED:
        open_ = "regions are still wider than xtol" if goal.met(lower, upper) else "the gap is still open"
        return f"no double is left to cut at, and {open_}"
    return stopped or ""


def within(lower: float, upper: float) -> str:
    """How closely an infimum is known.

    >>> within(1.0, 1.0), within(1.0, 1.5)
    ('the value at x is the infimum, to the last bit', 'the infimum lies within 0.5 below the value at x')
    """
    return "the value at x is the infimum, to the last bit" if lower >= upper else \
        f"the infimum lies within {np.nextafter(upper - lower, np.inf):.3g} below the value at x"


def merged(regions: Regions) -> list[tuple[np.ndarray, np.ndarray]]:
    """Boxes that together hold all regions: those that touch become one, and so does what cannot be sorted out quickly."""
    found: list[tuple[np.ndarray, np.ndarray]] = []
    lo, hi, work = regions.lo, regions.hi, 0
    while lo.shape[1] and work < POLICY.merge_work:
        low, high, touches = lo[:, 0].copy(), hi[:, 0].copy(), np.zeros(lo.shape[1], bool)
        while work < POLICY.merge_work:
            stop_if_over()
            work += lo.size
            before, touches = touches, _touching(lo, hi, low, high)
            new = np.flatnonzero(touches & ~before)  # those of before still do
            if not len(new):
                break
            low = np.minimum(low, np.take(lo, new, axis=1).min(axis=1))
            high = np.maximum(high, np.take(hi, new, axis=1).max(axis=1))
        found.append((low, high))
        left = np.flatnonzero(~touches)
        lo, hi = np.take(lo, left, axis=1), np.take(hi, left, axis=1)
    if work >= POLICY.merge_work or lo.shape[1] > POLICY.most_separate_boxes:  # one box for all
        ends = [*found, (lo.min(axis=1, initial=np.inf), hi.max(axis=1, initial=-np.inf))]
        return [(np.min([a for a, _ in ends], axis=0), np.max([b for _, b in ends], axis=0))]
    return found + [(lo[:, k].copy(), hi[:, k].copy()) for k in range(lo.shape[1])]


def _hull(regions: Regions) -> list[tuple[np.ndarray, np.ndarray]]:
    """The one box around all regions, if there are any."""
    return [(regions.lo.min(axis=1), regions.hi.max(axis=1))] if len(regions) else []


def listed_boxes(unions: Unions) -> list[tuple[np.ndarray, np.ndarray]]:
    """The boxes of the product, with intervals that touch merged; the one box around it if they are very many."""
    whole = unions.merged()
    if whole.count > POLICY.most_separate_boxes or whole.count * len(whole) > POLICY.most_listed_numbers:
        return [whole.hull]
    lo, hi = whole.boxes()
    return list(zip(lo.T.copy(), hi.T.copy(), strict=True))


def _touching(lo: np.ndarray, hi: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Which boxes meet this one. Some variables at a time, one if there are many boxes: no array of all of them is made."""
    touches, some = np.ones(lo.shape[1], bool), max(1, POLICY.numbers_at_once // lo.shape[1])
    for begin in range(0, len(lo), some):
        part = slice(begin, begin + some)
        for near in (lo[part] <= high[part, None], hi[part] >= low[part, None]):
            touches &= near[0] if len(near) == 1 else near.all(axis=0)
    return touches
