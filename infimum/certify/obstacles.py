"""What stands in the way of a proof, found in the regions that are left: one or two sentences with a cure.

Nothing here is part of a proof. A few of the lowest regions are looked at once, after the run, with a kernel that is smaller than
the one of branching.
"""

from dataclasses import replace

import numpy as np

from infimum.certify.loose_operation import LooseOperation, loose_angle, nonsmooth_operation, unbounded_operation
from infimum.evaluation.enclosures import LIPSCHITZ, SMOOTH
from infimum.evaluation.evaluator import Enclosure, Evaluator
from infimum.expr.node import Expr
from infimum.kernel.node_enclosures import nodes_of
from infimum.problem.cover import widths
from infimum.problem.settings import Goal
from infimum.problem.text import counted, point
from infimum.search.incumbent import Incumbent
from infimum.search.policy.bounds import DIAGNOSIS as POLICY
from infimum.search.region_pool import Regions
from infimum.support.lazy import dataclass


def obstacle(regions: Regions, lower: float, incumbent: Incumbent, goal: Goal) -> str:
    """Why the gap between `lower` and the incumbent's value is open, where these regions are left."""
    look, upper = _RegionSurvey.at(regions, incumbent), incumbent.upper
    if lower == -np.inf:
        return _no_lower_bound(look, upper)
    if not np.isfinite(upper):
        return _no_point(look)
    if goal.met(lower, upper):
        return _wide_enclosures(regions, goal)
    gap = upper - lower
    return _angle(look, goal) or _rounding_obstacle(look, goal, gap) or _not_smooth(look) or _cluster(look,
                                                                                                      gap) or _everywhere(look)


@dataclass(frozen=True, slots=True, eq=False)
class _RegionSurvey:
    """Regions, the lowest first, with the enclosures of f on some of them, and, if f is not too large, of its operations."""

    regions: Regions
    count: int
    value: Enclosure
    inside: dict[Expr, Enclosure]
    evaluator: Evaluator
    incumbent: Incumbent

    @classmethod
    def at(cls, regions: Regions, incumbent: Incumbent) -> "_RegionSurvey":
        lower = np.where(np.isnan(regions.lower), -np.inf, regions.lower)
        most = max(1, min(POLICY.surveyed_regions, POLICY.most_numbers // len(regions.lo)))
        highest = np.inf if len(lower) <= most else np.partition(lower, most - 1)[most - 1]
        few = np.concatenate([np.flatnonzero(lower < highest), np.flatnonzero(lower == highest)])[:most]  # first ones of equals
        lowest = regions.at(few[np.argsort(lower[few], kind="stable")])
        whole = incumbent.evaluator
        evaluator = Evaluator(whole.f, whole.n, system=whole.system)  # here, wherever the search was
        boxes = lowest.lo[:, :POLICY.enclosed_regions], lowest.hi[:, :POLICY.enclosed_regions]
        nodes = nodes_of(evaluator.f)
        small = 0 < len(nodes) <= POLICY.most_nodes and sum(node.size for node in nodes) <= POLICY.most_elements
        inside = evaluator.inside(*boxes) if small else {}
        return cls(lowest, len(regions), evaluator.value(*boxes), inside, evaluator, incumbent)

    def middle(self, k: int = 0) -> np.ndarray:
        """The middle of a region; for an unbounded one, its finite end."""
        lo, hi = self.regions.lo[:, k], self.regions.hi[:, k]
        with np.errstate(invalid="ignore"):
            middle = lo / 2 + hi / 2
        return np.where(np.isfinite(middle), middle, np.where(np.isfinite(lo), lo, np.where(np.isfinite(hi), hi, 0.0))) + 0.0

    def place(self, x: np.ndarray) -> str:
        """The point in the user's variables, without those that have no choice, if there are any."""
        if self.incumbent.evaluator.numbers is None:
            return f"x = {point(x, POLICY.shown_variables)}"
        shown = ", ".join(f"x[{i}] = {value:.10g}" for i, value in zip(self.numbers[:POLICY.shown_variables], x, strict=False))
        return f"{shown}, …" if len(x) > POLICY.shown_variables else shown

    def where(self, k: int = 0) -> str:
        return self.place(self.middle(k))

    @property
    def numbers(self) -> np.ndarray:
        """Which variables of the user's these are."""
        known = self.incumbent.evaluator
        return np.arange(known.n) if known.numbers is None else known.numbers

    def named(self, found: LooseOperation | None) -> LooseOperation | None:
        return found if found is None else replace(found, numbers=self.numbers)

    @property
    def hull(self) -> tuple[np.ndarray, np.ndarray]:
        """The smallest box around the regions."""
        return self.regions.lo.min(axis=1), self.regions.hi.max(axis=1)

    def holds(self, x: np.ndarray) -> bool:
        lo, hi = self.hull
        return bool(((lo <= x) & (x <= hi)).all())

    def endless(self) -> tuple[np.ndarray, bool]:
        """Which variables are infinite where no lower bound is known: if there are such, those that alone leave f without one
        while the others are held at moderate values; and whether f has one where all are held. None where that is bounded."""
        if not (np.isinf(self.regions.lo[:, 0]) | np.isinf(self.regions.hi[:, 0])).any():
            return np.zeros(0, np.intp), False
        unbounded = self.regions.at(np.flatnonzero(~(self.regions.lower > self.regions.lower[0])))
        ends = unbounded.lo.min(axis=1), unbounded.hi.max(axis=1)
        open_ = np.isinf(ends[0]) | np.isinf(ends[1])
        endless = np.flatnonzero(open_)
        if (len(endless) + 1) * len(open_) > POLICY.most_numbers:
            return endless, False
        boxes = []
        for end in ends:
            moderate = np.where(open_, np.clip(end, -POLICY.moderate_value, POLICY.moderate_value), end)
            boxes.append(np.repeat(moderate[:, None], len(endless) + 1, axis=1))
            boxes[-1][endless, np.arange(len(endless))] = end[endless]  # one is free in each box, none in the last
        lower = self.evaluator.value(*boxes).lo
        to_blame = endless[np.isneginf(lower[:-1])]
        return to_blame if len(to_blame) else endless, bool(lower[-1] > -np.inf)

    @property
    def parts(self) -> np.ndarray:
        """The widest side of each region, as a part of the bounds; 1 where these are infinite and so is the side."""
        whole = widths(self.incumbent.lo, self.incumbent.hi)[:, None]
        with np.errstate(invalid="ignore"):
            return np.nan_to_num(widths(self.regions.lo, self.regions.hi) / np.where(whole > 0, whole, 1.0), nan=1.0).max(axis=0)


def _no_lower_bound(look: _RegionSurvey, upper: float) -> str:
    if look.value.lo[0] > -np.inf:
        return "The run ended before the first region was enclosed: give it more time or boxes."
    found = look.named(unbounded_operation(look.evaluator.f, look.inside, 0))
    endless, alone = look.endless()
    if len(endless) and (alone or found is None or found.fault != "pole"):
        names = ", ".join(f"x[{i}]" for i in look.numbers[endless[:POLICY.shown_variables]])
        names += ", …" if len(endless) > POLICY.shown_variables else ""
        return f"No lower bound was found: the bounds of {names} are infinite, and the function has no finite enclosure over " \
               "them. Give finite bounds."
    reason = "the function has no finite enclosure" if found is None else found.sentence()
    cure = "Choose bounds that stay away from there." if found is None else found.cure()
    if upper < POLICY.possibly_unbounded and look.holds(look.incumbent.x):
        cure = f"x lies there too, with the value {upper:.3g}: the infimum may be minus infinity. Correct the function or the " \
               "bounds."
    return f"No lower bound was found: {reason}, near {look.where()}. {cure}"


def _no_point(look: _RegionSurvey) -> str:
    k, found = _roughest_operation(look)
    reason = f": {found.sentence()}, near {look.where(k)}" if found is not None else ""
    wanted = "the function is certainly defined" if look.evaluator.system is None else "all constraints are proved to hold"
    return f"No point was found at which {wanted}{reason}. Offer one as x0=, or correct the bounds."


def _wide_enclosures(regions: Regions, goal: Goal) -> str:
    wide = widths(regions.lo, regions.hi).max(axis=0)
    return f"The gap is closed, but {_plural(int((wide > goal.xtol).sum()), 'region')} wider than xtol = {goal.xtol:g}, the " \
           f"widest {wide.max():.3g}: on them the function is nearly as low as at x. Ask for a larger xtol, or give it more time."


def _rounding_obstacle(look: _RegionSurvey, goal: Goal, gap: float) -> str | None:
    """A good part of the gap is there at x itself."""
    x, slack = look.incumbent.x[:, None], goal.slack(look.incumbent.upper)
    error = look.incumbent.upper - float(look.evaluator.value(x, x).lo[0])
    if not max(gap / 4, slack / 2) <= error < np.inf:
        return None
    return f"Rounding errors alone leave the value at x uncertain by {error:.2g}, and the allowed gap is {slack:.2g}. Ask for " \
           f"atol={4 * error:.1g} or more, or rewrite the terms that cancel."


def _roughest_operation(look: _RegionSurvey) -> tuple[int, LooseOperation | None]:
    """The first region of those enclosed on which the status is lowest, and the operation that lowers it."""
    level = look.value.level
    k = int(np.argmin(level))
    return k, look.named(nonsmooth_operation(look.evaluator.f, look.inside, k, int(level[k]))) if level[k] < SMOOTH else None


def _not_smooth(look: _RegionSurvey) -> str | None:
    """Many regions, small already, and in half of the lowest or more something that keeps derivatives from helping."""
    cluster = look.count >= POLICY.cluster_regions and np.median(look.parts) <= POLICY.cluster_width
    if not cluster or np.median(look.value.level) >= SMOOTH:
        return None
    k, found = _roughest_operation(look)
    if found is None:
        return None
    return f"{_plural(look.count, 'region')} left; on the lowest {found.sentence()}, near {look.where(k)}. {found.cure()}"


def _angle(look: _RegionSurvey, goal: Goal) -> str | None:
    """Not even at a point is the function known well enough, because of a sine."""
    if not look.inside:
        return None
    x = np.stack([look.incumbent.x, look.middle()], axis=1)
    value, slack = look.evaluator.value(x, x), goal.slack(look.incumbent.upper)
    for k in np.flatnonzero(widths(value.lo, value.hi) > slack / 2):
        found = look.named(loose_angle(look.evaluator.inside(x[:, k], x[:, k])))
        if found is not None:
            return f"{found.sentence()}, for instance at {look.place(x[:, k])}. {found.cure()}"
    return None


def _cluster(look: _RegionSurvey, gap: float) -> str | None:
    """The lowest regions lie around one point."""
    lo, hi = look.hull
    if look.count < POLICY.cluster_regions or not (widths(lo, hi) <= POLICY.cluster_width
                                             * widths(look.incumbent.lo, look.incumbent.hi)).all():
        return None
    begin = f"The lowest of {counted(look.count, 'region')} lie within {widths(lo, hi).max():.2g} of"
    if look.holds(look.incumbent.x):
        return f"{begin} x, where the function is too flat for enclosures to tell its values apart. Ask for a larger atol: the " \
               f"gap is {gap:.2g}."
    return f"{begin} {look.place(lo / 2 + hi / 2)}, where no point as low as the best one was found. Offer one there as x0=."


def _everywhere(look: _RegionSurvey) -> str:
    _, found = _roughest_operation(look) if np.median(look.value.level) < LIPSCHITZ else (0, None)
    reason = "" if found is None else f"; on them {found.sentence()}, so that derivatives do not help"
    return f"{_plural(look.count, 'region')} left, the lowest about {np.median(look.parts):.2g} of the bounds wide, where " \
           f"enclosures are {widths(look.value.lo, look.value.hi)[0]:.2g} wide{reason}."


def _plural(count: int, word: str) -> str:
    return f"{counted(count, word)} {'is' if count == 1 else 'are'}"
