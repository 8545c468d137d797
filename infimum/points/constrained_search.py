"""Good points of a function with constraints: the interior point method from many starts, then with integers fixed. Estimates.

All starts take some steps together; the best ends, those that came to the same one counted once, go on to the last digits. Where
integer variables are not whole there, several roundings of them are fixed and the others solved for again. If nothing obeys the
constraints, the starts are first moved to where less is violated.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from infimum.bounds.propagation import propagated_lanes
from infimum.certify.equation_solutions import is_large
from infimum.evaluation.evaluator import Evaluator
from infimum.points import sobol
from infimum.points.interior_point import InteriorEnds, InteriorPoint
from infimum.points.point_search import PointSearch
from infimum.points.random_numbers import uniform
from infimum.problem.start_boxes import StartBoxes
from infimum.search.policy.points import CONSTRAINED_SEARCH as POLICY
from infimum.search.policy.points import DIVES, LINE_MOVES, MANY_STARTS
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.points import restoration
    from infimum.points.diving import line_moves
else:
    line_moves, restoration = LazyModule("points.diving.line_moves"), LazyModule("points.restoration")

_STREAM = 11  # fixed: the stream of random numbers


Box = tuple[np.ndarray, np.ndarray]


class ConstrainedSearch(PointSearch):
    """Looks between the bounds, or in the start `boxes`, from points `given` (n, N) as well. `multipliers` (m,) belong to the
    best point: with them ∇f + Σ y ∇c vanishes there, but for what bounds take. `violation` is its largest one, as part of the
    constraint's scale."""

    tolerated = POLICY.feasible_violation  # violations that count as none among estimates

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, seed: int = 0, given: np.ndarray | None = None,
                 boxes: StartBoxes | None = None):
        self.evaluator, self.lo, self.hi, self.seed, self.boxes = evaluator, lo, hi, seed, boxes
        self.narrowing = evaluator  # by which boxes are narrowed: of equal functions that may be written otherwise
        self.n, self.system = len(lo), evaluator.system
        self.begin = lo, hi  # it starts between these; a proof relies on all feasible points being there
        self.better: Box | None = None  # where the better points are: starts are drawn there
        self.integers = np.array(self.system.integers, dtype=np.intp)
        self.given = np.empty((self.n, 0)) if given is None else given
        self.x, self.value, self.violation = self._spread(np.full((self.n, 1), 0.5), 0)[:, 0], np.inf, np.inf
        self.multipliers = np.zeros(self.system.m)
        self.found = np.empty((self.n, 0))  # to offer
        self.evaluations = self.drawn = 0
        self.first_barrier: float | np.ndarray = POLICY.first_barrier  # of the next first stage, for each lane if it is an array
        self._size, self.is_large = self.n + int(self.system.equal.sum()), is_large(self.system, self.n)

    def rounds(self) -> list[Iterator[None]]:
        return [self._round(k) for k in range(len(POLICY.starts_of_rounds))]

    def candidates(self) -> list[np.ndarray]:
        return [self.x, *(x for x in self.found.T if not np.array_equal(x, self.x))]

    @property
    def is_wide(self) -> bool:
        """Say the bounds little of where to start?"""
        with np.errstate(all="ignore"):
            return bool((self.begin[1] - self.begin[0] > POLICY.wide_bounds).any())

    def again(self) -> Iterator[None]:
        """Another round of starts."""
        return self._round(0)

    def in_boxes(self, lo: np.ndarray, hi: np.ndarray, starts: np.ndarray | None = None, better: bool = False,
                 boxes: int = 0) -> Iterator[None]:
        """Looks from the middles of boxes (n, N), or from `starts` in them, in each of them and, but for integer variables,
        around it; `found` are then the points that it came to, the best ones first. Where only points are of interest that are
        `better` than the best one, it does not go on to others. At last it looks along lines, with a number of
        evaluations in proportion to the number of `boxes` that were enclosed."""
        starts = self._middle(lo, hi) if starts is None else starts
        if self.is_large:
            self._nearby(starts)
            return
        around = self._around(starts, lo, hi)
        inside = (np.minimum(np.maximum(end, around[0]), around[1]) for end in (lo, hi))
        both = (np.concatenate(ends, axis=1) for ends in zip(around, inside, strict=True))
        yield from self._look(np.tile(starts, 2), *both, better and self.violation <= POLICY.feasible_violation)
        if boxes and self.lines.applies:
            yield from self._along_lines(np.concatenate([starts, self.found], axis=1), LINE_MOVES.evaluations_a_box * boxes)

    def _along_lines(self, starts: np.ndarray, most: int) -> Iterator[None]:
        """From the lowest of these points (n, N) that obey the constraints, with about as many evaluations."""
        starts, before = np.unique(starts, axis=1), self.lines.evaluations
        order = np.argsort(self.evaluator.estimate(starts), kind="stable")
        some = order[self.violations(starts[:, order]) <= POLICY.feasible_violation][:LINE_MOVES.starts]
        ends = yield from self.lines.ends(starts[:, some], most)
        self.evaluations += len(order) + 2 * ends.shape[1] + self.lines.evaluations - before
        if not ends.shape[1]:
            return
        values = np.where(self.violations(ends) <= POLICY.feasible_violation, self.evaluator.estimate(ends), np.inf)
        k = int(np.argmin(values))
        if values[k] < self.value:
            self.know(ends[:, k], float(values[k]))
            self.found = np.concatenate([ends[:, k:k + 1], self.found], axis=1)

    @cached_property
    def lines(self) -> "line_moves.LineMoves":
        return line_moves.LineMoves(self.evaluator, self.lo, self.hi)

    def from_points(self, starts: np.ndarray) -> Iterator[None]:
        """Looks from these points (n, N), in pieces."""
        if self.is_large:
            self._nearby(starts)
        else:
            yield from self._look(starts, *self._around(starts, self.lo[:, None], self.hi[:, None]))

    def zeros(self, x: np.ndarray) -> np.ndarray:
        """Which variables are 0, not at a bound, where there are equations?"""
        return (x == 0.0) & (self.lo < 0.0) & (self.hi > 0.0) & self.system.equal.any() & (not self.is_large)

    def with_zeros_held(self, x: np.ndarray) -> Iterator[None]:
        """Looks from this point with its zeros held: where equations are singular there, no other search comes to the points
        beside it at which these variables are 0 as well."""
        self.found = np.empty((self.n, 0))
        held = self.zeros(x)
        held[self.integers] = True
        lo, hi = (np.where(held, x, end)[:, None] for end in (self.lo, self.hi))
        yield from self._solved(x[:, None], lo, hi)

    def with_whole_fixed(self, starts: np.ndarray) -> Iterator[None]:
        """Looks from these points (n, N), whose whole numbers stay as they are, in pieces."""
        self.found = np.empty((self.n, 0))
        if not self.is_large:
            ends = self._around(starts, self.lo[:, None], self.hi[:, None])
            yield from self._fixed(np.rint(starts[self.integers]), starts, *ends)

    def from_many(self, starts: np.ndarray) -> Iterator[None]:
        """Looks from these points (n, N) for local minima, most of which are expected to be higher than the best one."""
        self.found = np.empty((self.n, 0))
        lo, hi = self._around(starts, self.lo[:, None], self.hi[:, None])
        known = self.violation <= POLICY.feasible_violation
        limits = _StageLimits((MANY_STARTS.steps, POLICY.first_stage[1]))
        ends = yield from self._stage(_StageStarts(starts, np.arange(starts.shape[1]), lo, hi), MANY_STARTS.first_barrier, limits)
        ends = self._still_promising(ends) if known else ends
        yield from self._continued(ends, lo, hi, False)

    def spread(self, unit: np.ndarray) -> np.ndarray:
        """Points of the unit cube between the bounds."""
        return self._spread(unit, 0)

    def with_whole_numbers(self, starts: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> Iterator[None]:
        """Looks from these points (n, N), whose integers stay as they are; within these boxes, and for the other variables also
        around them."""
        self.found = np.empty((self.n, 0))
        if self.is_large:
            self._nearby(starts)
            return
        starts = np.minimum(np.maximum(starts, self.lo[:, None]), self.hi[:, None])
        around = self._around(starts, lo, hi)
        inside = [np.minimum(np.maximum(end, around[0]), around[1]) for end in (lo, hi)]
        with np.errstate(all="ignore"):
            known = inside[1] - inside[0] <= DIVES.known_width * np.maximum(1.0, np.abs(starts))
        for end in inside:
            end[known] = starts[known]
        low, high = (np.concatenate(ends, axis=1) for ends in zip(inside, around, strict=True))
        starts = np.tile(starts, 2)
        low[self.integers] = high[self.integers] = starts[self.integers]
        left, low, high = self._held(low, high)
        starts = np.minimum(np.maximum(starts[:, left], low), high)
        restored = restoration.Restoration(self.evaluator, low, high, starts)
        yield from restored.steps(POLICY.restoration_steps)
        self.evaluations += restored.evaluations
        yield from self._solved(restored.x, low, high)

    def know(self, x: np.ndarray, value: float) -> None:
        """Takes over a point that obeys the constraints, if it is better than the best one. Its multipliers are not known."""
        if self.violation > POLICY.feasible_violation or value < self.value:
            self.x, self.value, self.violation = x.copy(), value, 0.0
            self.multipliers = np.zeros(self.system.m)

    @property
    def most_starts(self) -> int:
        """So many can be afforded at a time."""
        return max(POLICY.least_starts, POLICY.most_operations // self._size**3)

    def given_points(self) -> np.ndarray:
        """Those that were given, and the middle of the bounds or of the first box."""
        lo, hi = self._where if self.boxes is None else self.boxes.box(0)
        return np.concatenate([self.given, self._middle(lo[:, None], hi[:, None])], axis=1)

    def violations(self, x: np.ndarray) -> np.ndarray:
        """The largest violation at points (n, N), as part of the constraint's scale there; infinite where nothing is known."""
        self.evaluations += x.shape[1]
        return self._violations(x, *self.evaluator.estimate_jacobian(x))

    def arrays(self) -> dict[str, np.ndarray]:
        """What later looks depend on, for a checkpoint."""
        better = {} if self.better is None else {"search.better": np.stack(self.better)}
        return {"search": np.concatenate([[self.value, self.violation], self.x, self.multipliers]),
                "search.begin": np.stack(self.begin), **better}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """The best point of a checkpoint, and its multipliers."""
        self.value, self.violation = arrays["search"][:2].tolist()
        self.x, self.multipliers = (part.copy() for part in np.split(arrays["search"][2:], [self.n]))
        self.begin = tuple(arrays["search.begin"].copy()) if "search.begin" in arrays else self.begin
        self.better = tuple(arrays["search.better"].copy()) if "search.better" in arrays else None

    # ---- the starts
    def _round(self, k: int) -> Iterator[None]:
        count, first = min(POLICY.starts_of_rounds[k], self.most_starts), self.drawn
        drawn = self._spread(self._drawn(count), first)
        if self.is_large:
            self._nearby(drawn if k else np.concatenate([self.given_points(), drawn], axis=1))
            return
        barrier = np.full(count, POLICY.first_barrier)
        if self.system.m >= POLICY.restored_constraints:
            moved = np.arange(0, count, POLICY.restored_period)
            drawn[:, moved], barrier[moved] = (yield from self._restored(drawn[:, moved])), MANY_STARTS.first_barrier
        given = self.given_points() if k == 0 else np.empty((self.n, 0))
        starts = np.concatenate([given, drawn], axis=1)
        self.first_barrier = np.concatenate([np.full(given.shape[1], POLICY.first_barrier), barrier])
        yield from self.from_points(starts)

    def _restored(self, starts: np.ndarray) -> Iterator[None]:
        """Starts moved to where less is violated: from where much is, few lanes come to points that obey the constraints."""
        lo, hi = self._around(starts, self.lo[:, None], self.hi[:, None])
        restored = restoration.Restoration(self.evaluator, lo, hi, starts)
        yield from restored.steps(POLICY.restoration_steps)
        self.evaluations += restored.evaluations
        return restored.x

    def _nearby(self, starts: np.ndarray) -> None:
        """Where there are very many equations, points at which they about hold are all that is offered."""
        from infimum.certify.sparse_equation_solutions import nearby_solution

        self.found = np.stack([nearby_solution(self.evaluator, (self.lo, self.hi), x) for x in starts[:, :POLICY.most_kept].T],
                              axis=1)

    def _drawn(self, count: int) -> np.ndarray:
        first, self.drawn = self.drawn, self.drawn + count
        if self.n <= sobol.LIMIT:
            return sobol.points(self.seed, _STREAM, first, count, self.n)
        return uniform(self.seed, _STREAM, 0, range(first, first + count), self.n)

    def _spread(self, unit: np.ndarray, first: int) -> np.ndarray:
        """Points of the unit cube between the bounds, or from this box on in one after the other; where these are infinite or
        very far apart, near and far from 0."""
        number = np.arange(unit.shape[1])
        lo, hi = (end[:, None] for end in self._where)
        if self.boxes is not None:
            box = (first + number) % len(self.boxes)
            lo, hi = self.boxes.lo[:, box], self.boxes.hi[:, box]
        with np.errstate(all="ignore"):
            nearest = np.minimum(np.maximum(0.0, lo), hi)
            reach = np.maximum(1.0, np.abs(nearest)) * 2.0 ** (1 + number % POLICY.spread_powers)
            far = (hi - lo > POLICY.wide_bounds) & ((number % POLICY.uniform_period > 0) | (hi - lo == np.inf))
            low, high = np.where(far, np.maximum(lo, nearest - reach), lo), np.where(far, np.minimum(hi, nearest + reach), hi)
        return np.minimum(np.maximum(low * (1 - unit) + high * unit, lo), hi)

    @property
    def _where(self) -> Box:
        return self.begin if self.better is None else self.better

    def _middle(self, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
        """Of boxes; where they are infinite or very wide, a point near 0 or the end next to it."""
        with np.errstate(all="ignore"):
            near = np.minimum(np.maximum(0.0, lo + 1), hi - 1)
            return np.where(hi - lo <= POLICY.wide_bounds, lo / 2 + hi / 2, np.minimum(np.maximum(near, lo), hi))

    def _around(self, starts: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The bounds of each start, but for integer variables the whole numbers that lie between these ends as well; variables
        that can only have one value, to rounding, are held there."""
        low, high = (np.repeat(end[:, None], starts.shape[1], axis=1) for end in (self.lo, self.hi))
        if self.boxes is not None:
            for k, start in enumerate(starts.T):
                for box in self.boxes.containing(start)[:1]:
                    low[:, k], high[:, k] = self.boxes.box(box)
        middle = self._middle(*(end[:, None] for end in self.begin))
        with np.errstate(all="ignore"):
            known = self.begin[1] - self.begin[0] <= POLICY.known_width * np.maximum(1.0, np.abs(middle[:, 0]))
        low[known] = high[known] = middle[known]
        whole = self.integers
        low[whole], high[whole] = np.maximum(np.ceil(lo[whole]), low[whole]), np.minimum(np.floor(hi[whole]), high[whole])
        high = np.maximum(low, high)
        return low, high

    # ---- the work
    def _look(self, starts: np.ndarray, lo: np.ndarray, hi: np.ndarray, better: bool = False) -> Iterator[None]:
        """From these starts between these bounds, and where nothing obeys the constraints from what is nearest to doing so."""
        self.found = np.empty((self.n, 0))
        ends = yield from self._solved(starts, lo, hi, better)
        if not better and not (ends.violation <= POLICY.feasible_violation).any():
            restored = restoration.Restoration(self.evaluator, lo, hi, starts)
            yield from restored.steps(POLICY.restoration_steps)
            self.evaluations += restored.evaluations
            best = np.argsort(restored.left, kind="stable")[:POLICY.most_kept]
            lo, hi = lo[:, best], hi[:, best]
            ends = yield from self._solved(restored.x[:, best], lo, hi)
        if len(self.integers):
            yield from self._round_integers(ends, lo, hi)

    def _solved(self, starts: np.ndarray, lo: np.ndarray, hi: np.ndarray, better: bool = False) -> Iterator[None]:
        """The best ends, from which nothing is offered unless its integers are whole. Those that have converged go on from there,
        others begin anew."""
        count = starts.shape[1]
        if not (lo < hi).any():  # no variable is free: there is nothing to solve
            none = InteriorEnds(lo, np.full(count, np.inf), np.zeros((self.system.m, count)), np.zeros(count))
            ends = self._best(none, np.arange(count))
            self._keep(ends)
            return ends
        fixed = len(self.integers) > 0 and (lo[self.integers] == hi[self.integers]).all()  # then often nothing is feasible
        limits = _StageLimits(POLICY.first_stage, POLICY.patience_steps if better or fixed else None, better,
                              count // POLICY.few_active_ratio)
        first, self.first_barrier = self.first_barrier, POLICY.first_barrier
        ends = yield from self._stage(_StageStarts(starts, np.arange(count), lo, hi), first, limits)
        if better:
            ends = self._still_promising(ends)
        ends = yield from self._continued(ends, lo, hi, better)
        return ends

    def _continued(self, ends: "_Points", lo: np.ndarray, hi: np.ndarray, better: bool) -> Iterator[None]:
        """To the last digits from the best ends of a first stage."""
        known = ends.error <= 2 * POLICY.first_stage[1]
        again = _StageStarts(ends.x, ends.lane, lo[:, ends.lane], hi[:, ends.lane], np.where(known, ends.multipliers, 0.0))
        limits = _StageLimits(POLICY.last_stage, POLICY.patience_steps, better, len(known) // POLICY.few_active_ratio)
        ends = yield from self._stage(again, np.where(known, POLICY.first_stage[1], POLICY.restart_barrier), limits)
        self._keep(ends)
        yield from self._to_bounds(ends, lo[:, ends.lane], hi[:, ends.lane], self.value if better else np.inf)
        return ends

    def _still_promising(self, ends: "_Points") -> "_Points":
        """Those that are not on their way to the best point, or have converged to a higher value."""
        near = (np.abs(ends.x - self.x[:, None]) <= POLICY.same_point * np.maximum(1.0, np.abs(ends.x))).all(axis=0)
        higher = self.value + POLICY.higher_value * max(1.0, abs(self.value))
        above = (ends.error <= 2 * POLICY.first_stage[1]) & (ends.value > higher)
        return _Points(*(np.compress(~(near | above), part, axis=-1) for part in ends))

    def _stage(self, starts: "_StageStarts", first: "float | np.ndarray", limits: "_StageLimits") -> Iterator[None]:
        """The best ends of one run of the method, which begins with the barrier parameter `first`."""
        x, lanes, lo, hi, multipliers = starts
        if not len(lanes):
            return _Points(x, np.empty(0), np.empty(0), np.empty((self.system.m, 0)), np.empty(0), lanes)
        (steps, last), *stopping = limits
        method = InteriorPoint(self.evaluator, lo, hi, x, first, last, multipliers)
        for _ in method.steps(steps, *stopping):
            yield
        self.evaluations += method.evaluations
        return self._best(method.ends, lanes)

    def _to_bounds(self, ends: "_Points", lo: np.ndarray, hi: np.ndarray, known: float) -> Iterator[None]:
        """Lanes that have not converged are often on their way to a bound at which a slope is infinite: variables close to one
        are moved there, and the others solved for again, where that may lead below what is `known`."""
        with np.errstate(all="ignore"):
            close = POLICY.close_to_bound * np.minimum(hi - lo, np.maximum(1.0, np.abs(ends.x)))
            low, high = ends.x - lo <= close, hi - ends.x <= close
        stuck = (ends.error > POLICY.converged_error) & ((low | high) & (lo < hi)).any(axis=0)
        obeys = ends.violation <= POLICY.feasible_violation
        known = ends.value[obeys & (ends.error <= POLICY.converged_error)].min(initial=known)
        stuck = np.flatnonzero(stuck & ~(obeys & (ends.value >= known)))
        if len(stuck):
            lo, hi = np.where(high & ~low, hi, lo)[:, stuck], np.where(low, lo, hi)[:, stuck]
            starts = _StageStarts(ends.x[:, stuck], ends.lane[stuck], lo, hi)
            ends = yield from self._stage(starts, POLICY.restart_barrier,
                                          _StageLimits(POLICY.last_stage, POLICY.patience_steps, known < np.inf))
            self._keep(ends)

    def _round_integers(self, ends: "_Points", lo: np.ndarray, hi: np.ndarray) -> Iterator[None]:
        """Fixes the integers of the ends at whole numbers nearby, in several ways, and solves for the other variables again; then
        at the neighbours of the best of these, while that gains."""
        parts = uniform(self.seed, _STREAM, 1, range(POLICY.roundings), len(self.integers))
        parts[:, 0] = 0.5
        lane = np.repeat(np.arange(len(ends.lane)), [POLICY.roundings >> min(k, 3) for k in range(len(ends.lane))])
        first = np.concatenate([np.arange(POLICY.roundings >> min(k, 3)) for k in range(len(ends.lane))] or [lane])
        lo, hi = (end[:, ends.lane[lane]] for end in (lo, hi))
        found = yield from self._fixed(np.floor(ends.x[self.integers][:, lane] + parts[:, first]), ends.x[:, lane], lo, hi)
        for _ in range(POLICY.neighbour_passes[0]):
            if not len(found.value) or len(self.integers) > POLICY.neighbour_passes[1]:
                return
            change = np.concatenate([np.eye(len(self.integers)), -np.eye(len(self.integers))], axis=1)
            best, value = np.repeat(found.x[:, :1], change.shape[1], axis=1), self.value
            lo, hi = (np.repeat(end[:, found.lane[:1]], change.shape[1], axis=1) for end in (lo, hi))
            upper = value if self.violation <= POLICY.feasible_violation else np.inf
            found = yield from self._fixed(best[self.integers] + change, best, lo, hi, upper)
            if not self.value < value:
                return

    def _fixed(self, whole: np.ndarray, starts: np.ndarray, lo: np.ndarray, hi: np.ndarray,
               upper: float = np.inf) -> Iterator[None]:
        """Ends with the integers fixed at these whole numbers within their bounds, of equal ones once, where f may be at most
        `upper`."""
        whole = np.minimum(np.maximum(whole, lo[self.integers]), hi[self.integers])
        _, first = np.unique(whole, axis=1, return_index=True)
        first = np.sort(first)[:POLICY.starts_of_rounds[0]]
        starts, low, high = (a[:, first] for a in (starts, lo, hi))
        low[self.integers] = high[self.integers] = starts[self.integers] = whole[:, first]
        left, low, high = self._held(low, high, upper)
        starts, first = np.minimum(np.maximum(starts[:, left], low), high), first[left]
        ends = yield from self._solved(starts, low, high)
        return ends._replace(lane=first[ends.lane])

    def _held(self, lo: np.ndarray, hi: np.ndarray, upper: float = np.inf) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Which boxes (n, N) may hold a point that obeys the constraints, with f at most `upper`; and their ends, where variables
        are held that can only have one value, to rounding."""
        low, high, lost, _ = propagated_lanes(self.narrowing, lo, hi, self.begin, upper, POLICY.propagation_rounds)
        self.evaluations += POLICY.propagation_rounds * lo.shape[1]
        left = np.flatnonzero(~lost)
        lo, hi, low, high = (end[:, left] for end in (lo, hi, low, high))
        with np.errstate(all="ignore"):
            middle = low / 2 + high / 2
            known = np.isfinite(middle) & (high - low <= POLICY.known_width * np.maximum(1.0, np.abs(middle)))
        value = np.where(low <= lo, lo, np.where(high >= hi, hi, middle))
        return left, np.where(known, value, lo), np.where(known, value, hi)

    def _best(self, ends: InteriorEnds, lane: np.ndarray) -> "_Points":
        """Some of the points: first those that obey the constraints, by their values, then the others, by violation."""
        x = ends.x
        self.evaluations += x.shape[1]
        values, jacobian = self.evaluator.estimate_jacobian(x)
        violation, unit = self._violations(x, values, jacobian), np.maximum(1.0, np.abs(x))
        order = np.lexsort((values[0], np.where(violation <= POLICY.small_violation, 0.0, violation)))
        chosen: list[int] = []
        for k in order[violation[order] < np.inf]:
            if not any((np.abs(x[:, k] - x[:, j]) <= POLICY.same_point * unit[:, k]).all() for j in chosen):
                chosen.append(int(k))
            if len(chosen) == POLICY.most_kept:
                break
        return _Points(x[:, chosen], values[0, chosen], violation[chosen], ends.multipliers[:, chosen], ends.error[chosen],
                       lane[chosen])

    def _violations(self, x: np.ndarray, values: np.ndarray, jacobian: np.ndarray) -> np.ndarray:
        c = values[1:]
        with np.errstate(all="ignore"):
            scale = np.maximum(np.abs(jacobian[1:] * np.maximum(1.0, np.abs(x))).max(axis=1), POLICY.least_scale * np.abs(c))
            broken = np.maximum(np.maximum(c - self.system.upper[:, None], self.system.lower[:, None] - c), 0.0)
            violation = (broken / np.where((scale > 0) & (scale < np.inf), scale, 1.0)).max(axis=0, initial=0.0)
        return np.where(np.isfinite(values).all(axis=0), violation, np.inf)

    def _keep(self, ends: "_Points") -> None:
        """Offers the ends whose integers are whole."""
        rest = ends.x[self.integers]
        whole = (rest == np.rint(rest)).all(axis=0)
        self.found = np.concatenate([np.compress(whole, ends.x, axis=1), self.found], axis=1)[:, :POLICY.most_kept]
        rank = np.where(ends.violation <= POLICY.feasible_violation, 0.0, ends.violation)
        for k in np.flatnonzero(whole):
            mine = 0.0 if self.violation <= POLICY.feasible_violation else self.violation
            if (rank[k], ends.value[k]) < (mine, self.value):
                self.x, self.value, self.violation = ends.x[:, k].copy(), float(ends.value[k]), float(ends.violation[k])
                self.multipliers = ends.multipliers[:, k].copy()


class _StageStarts(NamedTuple):
    """Points (n, N), the lanes that they come from, their bounds (n, N), and multipliers (m, N) of the constraints, if known."""

    x: np.ndarray
    lanes: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    multipliers: np.ndarray | None = None


class _StageLimits(NamedTuple):
    """The number of steps and the last barrier parameter; what `InteriorPoint.steps` takes to stop earlier."""

    most: tuple[int, float]
    patience: int | None = None
    settled: bool = False
    few: int = 0


class _Points(NamedTuple):
    """Points (n, N), f there, their violations and multipliers, errors of the conditions, and the lanes that they come from."""

    x: np.ndarray
    value: np.ndarray
    violation: np.ndarray
    multipliers: np.ndarray
    error: np.ndarray
    lane: np.ndarray
