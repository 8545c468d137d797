"""Pinned measurements: a few standard deviations so tiny that the model has to pass through these points, or nearly so.

In units of such a sigma every residual is huge: the sum of squares has valleys whose walls are 1e24 times as steep as their
floors, and no double lies at the bottom. So these residuals become equations, with the residual s, in units of sigma, as a
variable of its own: minimise Σ e² + Σ s² where m(p) - y = sigma s. That is the same question, and well scaled. It is asked only
where best fits can be: in the set on which a *relaxed* sum, with larger standard deviations for pinned measurements, is not above
a loss that is attained. The relaxed sum is nowhere above the loss, and is searched as that of any fit. See docs/proof.md.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np

from infimum.engine.answer.verdict import proved_result
from infimum.engine.goal import Goal
from infimum.engine.points.feasible import FeasibleIncumbent
from infimum.engine.points.incumbent import Incumbent
from infimum.engine.regions.pool import Regions
from infimum.engine.sublevel.run import run
from infimum.engine.sublevel.search import Search
from infimum.errors import InternalError
from infimum.evaluate import Evaluator, compile
from infimum.expr.real import round_down, round_up
from infimum.fitting.problem import FitProblem, Rows
from infimum.fitting.zero import loss_that_counts_as_zero
from infimum.minimisers import Minimisers
from infimum.problem import Interval
from infimum.result import Result
from infimum.solve import minimize

_HEAVY, _RELAXED = 2.0**16, 2.0**14  # times the weight of others: what is pinned, and what it counts in the relaxed sum
_LOOKED_AT = 64                      # rows that may not depend on the parameters
_FOUND = 1e-3                        # of the relaxed sum, within which it is to be proved: it is no more than a first step
_SMALL = 1e-3                        # a part of its bounds: the size of a parameter near 0
_AROUND = 2.0**-12                   # of its size, around the set that holds the best fits
_TINY = 2.0**-300                    # parameters of such sizes are left in their units
_COVERING = 1 << 16                  # boxes that are spent on that set
_RELAXED_MORE = 2.0**7               # the same of losses whose searches know nothing of least squares
_ROUNDING = 2.0**-20                 # more than rounding errors
_LARGEST = 2.0**500                  # of a residual in units of sigma: its square is a double
_ABOVE_ZERO = 2.0**10                # times a loss that counts as 0: what rounding errors can tell from it
_LEAST_TIME = 0.05                   # seconds for a step
_TOO_FAR = "no double is left to cut at, and the gap is still open"
_OF_THE_FIRST = frozenset(("checkpoint", "options", "workers", "portions"))  # settings of the search of the relaxed sum alone

Box = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, slots=True, eq=False)
class Pinned:
    """The residuals of `rows` with these `numbers` are pinned; the usual standard deviation is that of the next."""

    problem: FitProblem
    rows: Rows
    numbers: np.ndarray
    usual: float

    @classmethod
    def of(cls, problem: FitProblem, rows: Rows) -> "Pinned | None":
        """None if none is. As many as there are parameters can be: a model cannot be made to pass through more points."""
        n = len(problem.parameters.lo)
        if not problem.loss.takes_equations or rows.sigma is None or len(rows.sigma) <= n:
            return None
        usual = float(np.sort(rows.sigma)[n])
        numbers = np.flatnonzero(rows.sigma < usual / _HEAVY)
        return cls(problem, rows, numbers, usual) if len(numbers) else None

    def relaxed(self) -> Callable[[Any], Any]:
        """A loss that is nowhere above that of the fit, since no standard deviation is smaller."""
        relaxed = _RELAXED if self.problem.loss.name == "squares" else _RELAXED_MORE
        return self.problem.objective(replace(self.rows, sigma=np.maximum(self.rows.sigma, self.usual / relaxed)))

    def question(self, units: np.ndarray) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
        """The objective and the equations, functions of the parameters, in these units, and of the residuals that are pinned."""
        function, x, arguments = self.problem.model.function, self.problem.data.x, self.problem.arguments
        deviations, sigma, numbers, n = self.rows.deviations, self.rows.sigma, self.numbers, len(self.problem.parameters.lo)
        others, tiny = _without(len(sigma), numbers), sigma[numbers]
        of, joined, scale = self.problem.loss.of, self.problem.loss.joined, self.problem.scale

        def objective(z: Any) -> Any:
            positional, by_name = arguments([z[i] * unit for i, unit in enumerate(units)])
            e = deviations(function(x, *positional, **by_name)) * others / sigma
            return joined(of(e, scale), of(z[n:], scale))

        def equations(z: Any) -> Any:
            positional, by_name = arguments([z[i] * unit for i, unit in enumerate(units)])
            return deviations(function(x, *positional, **by_name))[numbers] == tiny * z[n:]
        return objective, equations

    def solve(self, settings: dict[str, Any]) -> tuple[Result, Minimisers | None]:
        """As `minimize` of the loss; and the minimisers, where they were isolated."""
        return _Solving(self, settings).run()


class _Solving:
    """One run: what is left of its limits after each step."""

    def __init__(self, pinned: Pinned, settings: dict[str, Any]):
        self.pinned, self.settings, self.begun = pinned, settings, perf_counter()
        self.lo, self.hi = pinned.problem.parameters.lo, pinned.problem.parameters.hi
        self.n, self.boxes, self.units = len(self.lo), 0, np.ones(len(self.lo))  # units: powers of two, of the parameters' sizes

    def run(self) -> tuple[Result, Minimisers | None]:
        own = self.settings
        first = minimize(self.pinned.relaxed(), _pairs(self.lo, self.hi),
                         **own | {"rtol": max(float(own["rtol"]), _FOUND), "xtol": None})
        if first.x is None:
            return first, None
        self.units = _powers_of_two(np.maximum(np.abs(first.x), _SMALL * (self.hi - self.lo)))
        best, z = self._attained(first.x)
        threshold = max(best.upper, _ABOVE_ZERO * loss_that_counts_as_zero(self.pinned.problem))
        if not first.success or not np.isfinite(threshold):
            return self._answer([first], best, _regions([(self.lo, self.hi)], first.lower)), None
        cover, stopped = self._cover(first.x, threshold)
        regions = _regions(cover, first.lower)
        if stopped is not None:
            return self._answer([first], best, regions, stopped), None
        last = self._last(cover, z, threshold)
        if last.upper < best.upper:
            best.take(last.x[:self.n] * self.units, last.upper)
        if last.regions is not None and last.regions.kept:
            regions = _regions(self._shared(cover, last), last.lower)
        return self._answer([first, last], best, regions), self._minimisers(last)

    def _attained(self, x: np.ndarray) -> tuple[Incumbent, np.ndarray | None]:
        """A point near x, of doubles or not, with a verified loss; and that point with the residuals that are pinned."""
        objective, equations = self.pinned.question(self.units)
        count, plain = len(self.pinned.numbers), Incumbent(self._loss(), self.lo, self.hi)
        plain.offer(x[:, None])
        reach = np.full(count, _LARGEST)
        near = FeasibleIncumbent(compile(objective, self.n + count, constraints=equations, check=False),
                                 np.append(self.lo / self.units, -reach), np.append(self.hi / self.units, reach))
        near.offer(np.append(x / self.units, np.zeros(count))[:, None])
        if near.upper < plain.upper:
            plain.take(near.x[:self.n] * self.units, near.upper)
        return plain, near.x

    def _loss(self) -> Evaluator:
        return compile(self.pinned.problem.objective(self.pinned.rows), self.n, check=False)  # the first search compares it

    def _cover(self, x: np.ndarray, threshold: float) -> tuple[list[Box], str | None]:
        """Boxes that hold every point at which the relaxed sum is at most that; and what ended the search early, if anything."""
        ordered = tuple((a[0], b[0]) for a, b in pairwise(self.pinned.problem.groups or []))
        search = Search(compile(self.pinned.relaxed(), self.n, check=False), self.lo, self.hi, threshold, threshold, x[:, None],
                        ratio=None, width_ratio=None, ordered=ordered)
        limit = self._boxes_left()
        stopped = run(search, self._time_left(), min(_COVERING, limit), self.settings.get("progress"))
        stopped = None if _COVERING <= search.evaluations < limit else stopped  # few boxes are enough
        self.boxes += search.evaluations
        parts = search.components or [search.covering]
        boxes = [(part.lo, part.hi) if part is not search.covering else (part.lo.min(axis=1), part.hi.max(axis=1))
                 for part in parts if part is not search.covering or len(part)]
        if not boxes:
            raise InternalError("a loss that was verified is attained nowhere")
        return boxes, stopped

    def _last(self, cover: list[Box], z: np.ndarray | None, threshold: float) -> Result:
        """The question with equations, on boxes around all best fits."""
        problem = self.pinned.problem
        most = (1 + _ROUNDING) * problem.loss.reach(threshold, problem.scale)
        reach = np.full(len(self.pinned.numbers), min(most, _LARGEST))
        boxes = [_pairs(np.append(np.maximum(lo / self.units - _AROUND, self.lo / self.units), -reach),
                        np.append(np.minimum(hi / self.units + _AROUND, self.hi / self.units), reach)) for lo, hi in cover]
        objective, equations, limit = *self.pinned.question(self.units), self.settings.get("max_boxes")
        own = {name: value for name, value in self.settings.items() if name not in _OF_THE_FIRST}
        inside = z is not None and any(all(lo <= v <= hi for v, (lo, hi) in zip(z, box, strict=True)) for box in boxes)
        whole = [(min(lo for lo, _ in ends), max(hi for _, hi in ends)) for ends in zip(*boxes, strict=True)]
        return minimize(objective, whole, **own | {
            "constraints": equations, "start_boxes": None if len(boxes) == 1 else boxes, "x0": z if inside else None,
            "time_limit": self._time_left(), "max_boxes": None if limit is None else self._boxes_left()})

    def _shared(self, cover: list[Box], last: Result) -> list[Box]:
        """What the regions of the last search share with the set that holds all best fits: they began in boxes around it."""
        pairs = [(np.maximum(lo[:self.n] * self.units, low), np.minimum(hi[:self.n] * self.units, high))
                 for lo, hi in last.regions for low, high in cover]
        found = [(lo, hi) for lo, hi in pairs if (lo <= hi).all()]
        if not found:
            raise InternalError("no best fit is left of a set that holds them all")
        return found

    def _answer(self, runs: list[Result], best: Incumbent, regions: Regions, stopped: str | None = None) -> Result:
        """What all of them have shown."""
        own, last = self.settings, runs[-1]
        goal = Goal(float(own["atol"]), float(own["rtol"]), own.get("xtol"))
        lower = min(max(run.lower for run in runs), best.upper)
        stopped = stopped or (None if last.success else last.message) or _TOO_FAR
        found = proved_result(
            regions, lower, best, goal, stopped, nit=sum(run.nit for run in runs),
            nfev=self.boxes + sum(run.nfev for run in runs), history=runs[0].history, engine=last.engine,
            seconds=perf_counter() - self.begun, seed=last.seed)
        return replace(found, device=last.device, batch=runs[0].batch, view=runs[0].view,
                       plain_calls=sum(run.plain_calls or 0 for run in runs))

    def _minimisers(self, last: Result) -> Minimisers | None:
        """Those of the question with equations, as far as they are parameters: the residuals follow from these."""
        known = last.minimisers if last.success else None
        if known is None:
            return None
        return Minimisers([replace(m, lo=m.lo[:self.n] * self.units, hi=m.hi[:self.n] * self.units) for m in known], known.rest)

    def _time_left(self) -> float | None:
        limit = self.settings.get("time_limit")
        return None if limit is None else max(_LEAST_TIME, limit - (perf_counter() - self.begun))

    def _boxes_left(self) -> float:
        limit = self.settings.get("max_boxes")
        return np.inf if limit is None else max(1, limit - self.boxes)


def without_constant_rows(problem: FitProblem, rows: Rows) -> Rows:
    """Without pinned residuals that no parameter changes, as those of a (1 - exp(-b x)) at x = 0: all others would be nothing
    beside them."""
    heavy = np.empty(0, np.intp)
    if problem.loss.name == "squares" and rows.sigma is not None:
        heavy = np.flatnonzero(rows.sigma < np.median(rows.sigma) / _HEAVY)[:_LOOKED_AT]
    if not len(heavy):
        return rows
    (lo, hi), deviations = problem.parameters.bounds.region, rows.deviations
    function, x, arguments = problem.model.function, problem.data.x, problem.arguments

    def some(p: Any) -> Any:
        positional, by_name = arguments(p)
        return deviations(function(x, *positional, **by_name))[heavy] == 0
    found = compile(lambda p: p[0], len(lo), constraints=some, check=False).rows(lo, hi)
    constant = (found.defined & (found.lo == found.hi))[1:]
    if not constant.any():
        return rows
    numbers, sigma = heavy[constant], rows.sigma.copy()
    squares = sum((Fraction(v) / Fraction(unit)) ** 2 for v, unit in zip(found.lo[1:][constant], sigma[numbers], strict=True))
    kept, sigma[numbers] = _without(len(sigma), numbers), np.median(sigma)
    return replace(rows, deviations=lambda response: deviations(response) * kept, sigma=sigma,
                   constant=Interval(round_down(squares), round_up(squares)))


def _without(count: int, numbers: np.ndarray) -> np.ndarray:
    """1 for each row, and 0 for those with these numbers."""
    kept = np.ones(count)
    kept[numbers] = 0.0
    return kept


def _powers_of_two(sizes: np.ndarray) -> np.ndarray:
    """The nearest ones: nothing is rounded in such units, and engines see parameters of the size of 1."""
    exponents = np.log2(np.where((sizes > _TINY) & (sizes < 1 / _TINY), sizes, 1.0))
    return np.ldexp(1.0, np.rint(exponents).astype(int))


def _pairs(lo: np.ndarray, hi: np.ndarray) -> list[tuple[float, float]]:
    return list(zip(lo.tolist(), hi.tolist(), strict=True))


def _regions(boxes: list[Box], lower: float) -> Regions:
    lo, hi = (np.stack([box[k] for box in boxes], axis=1) for k in (0, 1))
    return Regions(lo, hi, np.full(len(boxes), lower), np.zeros(len(boxes), np.int32), np.zeros(len(boxes), np.int8))
