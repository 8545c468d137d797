"""A good point of a sum of squares: Levenberg and Marquardt's method from many starts, linear parameters eliminated. Estimates.

The starts fill the bounds of the nonlinear parameters, the linear ones follow them (`points/levenberg_kernel.py`). A few of them
come first: where one meets the data exactly, there is nothing to look for any more. All lanes take a few trials at once; then
those that came to the same end are counted once, the lowest go on, and so forth. From the best end each parameter is then drawn
anew while the others stay: of several peaks or tones some are found before the others. Where data are many, all that is done on a
part of them, and the few lanes that are left see all. What it costs is a number of trials and rows, much the same for every
function of as many data.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import LEVENBERG, ProgramKind
from infimum.points import sobol
from infimum.points.descents import DescentRules, Descents
from infimum.points.point_search import PointSearch
from infimum.problem.start_boxes import StartBoxes
from infimum.search.policy.points import LEVENBERG_MARQUARDT as POLICY
from infimum.structure.separable_residuals import SeparableResiduals
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.points import levenberg_kernel
else:
    levenberg_kernel = LazyModule("points.levenberg_kernel")

_STREAM = 8  # fixed: the stream of random numbers


class LevenbergMarquardt(PointSearch):
    """Looks between `lo` and `hi`, for the nonlinear parameters `within` finite bounds; from points `given` (n, N) as well. Where
    there are `start` boxes, only a point in one of them counts. A value of `enough` cannot be improved on."""

    enough = -np.inf

    @staticmethod
    def fits(evaluator: Evaluator, start: StartBoxes | None = None) -> bool:
        """Is the function a sum of squares with few nonlinear parameters, and do start boxes fill a good part of their hull?"""
        parts = evaluator.facts.sum_of_squares
        return parts is not None and len(parts.nonlinear) <= POLICY.most_parameters and (start is None
                                                                                   or start.part() >= POLICY.least_filled_volume)

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, within: tuple[np.ndarray, np.ndarray], seed: int,
                 given: np.ndarray | None = None, start: StartBoxes | None = None):
        self.evaluator, self.lo, self.hi, self.within, self.seed, self.start = evaluator, lo, hi, within, seed, start
        self.parts = evaluator.facts.sum_of_squares
        self.nonlinear, self.data = list(self.parts.nonlinear), self.parts.rest.size
        self.rows = levenberg_kernel.LaneRows.of(len(self.nonlinear), len(self.parts.columns))
        self.low, self.high = (end[self.nonlinear, None] for end in within)
        self.given = np.empty((len(lo), 0)) if given is None else given
        near, far = np.minimum(np.abs(self.low), np.abs(self.high)), np.maximum(np.abs(self.low), np.abs(self.high))
        self.geometric = ((self.low > 0) | (self.high < 0)) & (near < far / POLICY.logarithmic_ratio)
        self.limits = _products(lo, hi, self.parts)
        self.relaxed = any(len(product) > 1 for product in self.parts.products)
        self.parameters = np.concatenate([*(a[:, 0] for a in (self.low, self.high, self.geometric)), *self.limits])
        self.stride = 1 if self.data <= POLICY.many_data else self.data // POLICY.sampled_data
        self.x, self.value, self.seen = within[0] / 2 + within[1] / 2, np.inf, 0  # rows of residuals
        self.lanes = np.empty((self.rows.count, 0))

    @property
    def evaluations(self) -> int:
        return -(-self.seen // self.data)

    @property
    def lowest(self) -> float:
        """The lowest value of the lanes, whether their points count or not."""
        return float(self.lanes[self.rows.value].min(initial=np.inf))

    def rounds(self) -> list[Iterator[None]]:
        return [self._steps()]

    def candidates(self) -> list[np.ndarray]:
        return [self.x, *self._points(self.lanes[:, :POLICY.offered_points]).T]

    def _steps(self) -> Iterator[None]:
        starts = self._starts()
        yield from self._run(starts[:, :POLICY.first_starts], POLICY.stages_first)
        first = self.lanes
        if self.stride > 1 and self.lowest <= self.enough:
            yield from self._on_all_data()
        yield from self._run(starts[:, POLICY.first_starts:], POLICY.stages)
        self._with(first)
        for _ in range(len(self.nonlinear) if len(self.nonlinear) > 1 else 0):
            before = self.lanes
            if not before.size:
                break
            yield from self._run(self._anew(before[self.rows.point, :1]), POLICY.stages_redrawn)
            self._with(before)
            if not self.lanes[self.rows.value, 0] < (1 - POLICY.same_value) * before[self.rows.value, 0]:
                break
        yield from self._try(POLICY.last_trials, self.stride)
        self._keep(POLICY.offered_points)
        if self.stride > 1:
            yield from self._on_all_data()
        yield from self._descend()

    def _on_all_data(self) -> Iterator[None]:
        """The lanes, which have seen a part of the data, begin again where they are."""
        self.lanes = self._fresh(self.lanes[self.rows.point])
        yield from self._try(POLICY.last_trials, 1)
        self._keep(POLICY.offered_points)

    # ---- the starts
    def _starts(self) -> np.ndarray:
        """Points of the nonlinear parameters all over their bounds, and those that were given."""
        if not self.nonlinear:
            return np.empty((0, 1))
        drawn = self._within_bounds(sobol.points(self.seed, _STREAM, 0, POLICY.starts, len(self.nonlinear)))
        given = np.minimum(np.maximum(self.given[self.nonlinear], self.low), self.high)
        return np.concatenate([given, drawn], axis=1)

    def _anew(self, point: np.ndarray) -> np.ndarray:
        """The point, with one parameter after the other all over its bounds."""
        p = len(point)
        spread = (np.arange(POLICY.redrawn_values) + 0.5) / POLICY.redrawn_values
        values = self._within_bounds(np.broadcast_to(spread, (p, POLICY.redrawn_values)))
        anew = np.where(np.eye(p, dtype=bool)[:, :, None], values[:, None, :], point[:, :, None])
        return anew.reshape(p, p * POLICY.redrawn_values)

    def _within_bounds(self, unit: np.ndarray) -> np.ndarray:
        """Points of the unit cube as points within the bounds; every other one is spaced by factors where lanes move so."""
        low, high = (np.where(self.geometric, np.abs(end), 1.0) for end in (self.low, self.high))
        by_factors = self.geometric & (np.arange(unit.shape[1]) % 2 == 0)
        with np.errstate(over="ignore"):
            points = np.where(by_factors, self.low * _power(np.sqrt(high) / np.sqrt(low), 2 * unit),
                              self.low * (1 - unit) + self.high * unit)
        return np.minimum(np.maximum(points, self.low), self.high)

    def _fresh(self, points: np.ndarray) -> np.ndarray:
        """Lanes that begin there."""
        lanes = np.zeros((self.rows.count, points.shape[1]))
        lanes[self.rows.point], lanes[self.rows.value], lanes[self.rows.damping] = points, np.inf, POLICY.first_damping
        return lanes

    # ---- the lanes
    def _run(self, starts: np.ndarray, stages: tuple[tuple[int, int], ...]) -> Iterator[None]:
        """Lanes from these starts, fewer after each stage."""
        self.lanes = self._fresh(starts)
        for trials, kept in stages:
            yield from self._try(trials, self.stride)
            self._keep(kept)

    def _try(self, trials: int, stride: int) -> Iterator[None]:
        """So many trials, or until all lanes have ended."""
        kind = LEVENBERG if stride == 1 else ProgramKind.of(LEVENBERG, stride=stride)
        look = POLICY.trials_between_checks[self.stride > stride]
        for begin in range(0, trials, look):
            if self._ended().all():
                return
            times = min(look, trials - begin)
            self.lanes, = self.evaluator.run(kind, [self.lanes], [np.empty_like(self.lanes)], self.parameters, times)
            self.seen += times * self.lanes.shape[1] * (self.data // stride)
            if stride == 1 and not self.relaxed:
                self._offer(self._points(self.lanes), self.lanes[self.rows.value])
            yield

    def _ended(self) -> np.ndarray:
        """A lane that has not begun has not ended."""
        value, left = self.lanes[self.rows.value], self.lanes[self.rows.left]
        return (value < np.inf) & ~(left > POLICY.converged_gain * value)

    def _keep(self, most: int) -> None:
        """The lowest lanes, of those that came to the same end one; in and outside start boxes one each."""
        lanes = np.compress(self.lanes[self.rows.value] < np.inf, self.lanes, axis=1)
        outside = ~self._counts(self._points(lanes))
        order = np.lexsort((lanes[self.rows.value], outside))
        lanes, outside = np.take(lanes, order, axis=1), outside[order]
        value, left = lanes[self.rows.value], lanes[self.rows.left]
        near = left <= POLICY.same_value * value
        new = np.ones(len(value), bool)
        equal = near[1:] & near[:-1] & (value[1:] - value[:-1] <= POLICY.same_value * value[1:])
        new[1:] = ~equal | (outside[1:] != outside[:-1])
        lanes = np.compress(new, lanes, axis=1)
        self.lanes = np.take(lanes, np.argsort(lanes[self.rows.value], kind="stable")[:most], axis=1)

    def _with(self, others: np.ndarray) -> None:
        """The lowest of these lanes and others."""
        self.lanes = np.concatenate([others, self.lanes], axis=1)
        self._keep(POLICY.offered_points)

    def _counts(self, points: np.ndarray) -> np.ndarray:
        """Which of the points may be the answer?"""
        return np.ones(points.shape[1], bool) if self.start is None else self.start.holds(points)

    def _offer(self, points: np.ndarray, values: np.ndarray) -> None:
        """The lowest of them."""
        values = np.where(np.isfinite(values) & self._counts(points), values, np.inf)
        best = int(np.argmin(values))
        if values[best] < self.value:
            self.x, self.value = points[:, best].copy(), float(values[best])

    # ---- points of all parameters
    def _points(self, lanes: np.ndarray) -> np.ndarray:
        """The nonlinear parameters as they are, the linear ones from κ; where that is a product, as quotients."""
        x = np.full((len(self.lo), lanes.shape[1]), np.nan)
        x[self.nonlinear] = lanes[self.rows.point]
        kappa, known = lanes[self.rows.kappa], set(self.nonlinear)
        for product, value in sorted(zip(self.parts.products, kappa, strict=True), key=lambda item: len(item[0])):
            *given, last = sorted(product, key=lambda i: i not in known)
            for i in set(given) - known:
                x[i] = np.minimum(np.maximum(1.0, self.lo[i]), self.hi[i])
            if last not in known:
                for i in given:
                    value = np.divide(value, x[i], out=np.zeros_like(value), where=x[i] != 0)
                x[last] = value
            known |= set(product)
        return np.minimum(np.maximum(x, self.lo[:, None]), self.hi[:, None])

    def _descend(self) -> Iterator[None]:
        """Where the lowest fit is not one of the parameters, because κ are products, or is only about the lowest, because some of
        several κ are at their bounds, descends among all parameters."""
        points, kappa, (low, high) = self._points(self.lanes), self.lanes[self.rows.kappa], self.limits
        if not points.size:
            return
        values = self.evaluator.estimate(points) if self.relaxed else self.lanes[self.rows.value]
        self._offer(points, values)
        attained = values[0] <= (1 + POLICY.same_value) * self.lanes[self.rows.value, 0]
        if attained and (len(kappa) < 2 or ((kappa[:, 0] > low) & (kappa[:, 0] < high)).all()):
            return
        lo, hi = np.minimum(self.within[0], points.min(axis=1)), np.maximum(self.within[1], points.max(axis=1))
        trials = max(POLICY.trials[0], min(POLICY.trials[1] // self.data, POLICY.trials[2]))
        descents = Descents(self.evaluator, lo, hi, points, DescentRules(trials=trials))
        while not descents.done:
            descents.advance()
            yield
        ends = descents.ends()
        self.seen += ends.evaluations * self.data
        self._offer(ends.x, ends.value)


def _products(lo: np.ndarray, hi: np.ndarray, parts: SeparableResiduals) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of κ, rounded somehow."""
    low, high = np.ones(len(parts.products)), np.ones(len(parts.products))
    for j, product in enumerate(parts.products):
        for i in product:
            ends = [a * b if a and b else 0.0 for a in (low[j], high[j]) for b in (lo[i], hi[i])]
            low[j], high[j] = min(ends), max(ends)
    return low, high


def _power(base: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    """base**exponent for exponents from 0 to below 2, by square roots: NumPy's power differs from machine to machine."""
    result = np.ones(np.broadcast_shapes(base.shape, exponent.shape))
    for _ in range(POLICY.bits_of_exponent):
        on = exponent >= 1
        result, base, exponent = np.where(on, result * base, result), np.sqrt(base), 2 * (exponent - on)
    return result
