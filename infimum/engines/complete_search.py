"""The complete search of Zhang, Shan and Cagan: a list of regions, the lowest of which is cut into a million, again and again.

An iteration takes the region with the smallest lower end, cuts the next block of its variables (cyclically; ten of them into four
pieces each), samples every subregion, and keeps those that neither the best sample nor a first derivative rules out. A region is
kept as its subregion index and lower end, with the iteration it is of; its box is rebuilt when it is taken.
Derivatives are taken by the variables of the block only: by the others they are the same for nearly all subregions, and computing
them would cost n for each of a million lanes.

With constraints a lane encloses these as well, and the region that is cut is first shrunk by propagation. Regions begin with the
start boxes, numbered, which is the whole box where none are given.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from infimum.bounds.propagation import propagate
from infimum.engines.complete_kernel import LEFT, LOWER, SAMPLE, UPPER
from infimum.engines.complete_lanes import HoistedLanes, JointLanes
from infimum.engines.complete_options import ENDS, CompleteOptions
from infimum.engines.region_list import RegionList, RegionPlace
from infimum.errors import BoundsError
from infimum.evaluation.evaluator import Evaluator
from infimum.points.random_numbers import uniform
from infimum.problem.cover import widths
from infimum.problem.problem import Problem
from infimum.problem.settings import Goal
from infimum.problem.start_boxes import StartBoxes
from infimum.problem.variable_bounds import OuterBox
from infimum.search.feasible_incumbent import FeasibleIncumbent
from infimum.search.incumbent import Incumbent
from infimum.search.policy.search import PUBLISHED_ENGINES as POLICY
from infimum.search.region_pool import Regions, can_be_cut
from infimum.search.region_search import RegionSearch

_STREAM = 5  # fixed: the stream of random numbers


def _largest(sizes: list[np.ndarray]) -> np.ndarray:
    """The largest size of each combination of pieces, the first variable's digit the lowest."""
    found = np.zeros(1)
    for row in sizes:
        found = np.maximum(row[:, None], found[None, :]).ravel()
    return found


class RegionToCut(NamedTuple):
    """A region that is to be cut: its box, where its block of variables begins, its start box, its lower end."""

    lo: np.ndarray
    hi: np.ndarray
    start: int
    home: int
    least: float


class CompleteSearch(RegionSearch):
    """The list of regions and the iterations on it."""

    def __init__(self, problem: Problem, evaluator: Evaluator, options: CompleteOptions, goal: Goal, seed: int):
        self.lo, self.hi, self.n = problem.lo, problem.hi, len(problem.lo)
        bad = np.flatnonzero(~np.isfinite(widths(self.lo, self.hi)))
        if len(bad):
            raise BoundsError(f"the complete search needs finite bounds with a finite distance, and variable {bad[0]} has none; "
                              "engine 'auto' takes any")
        self.evaluator, self.options, self.goal = evaluator, options, goal
        self.block, self.pieces = min(options.partition[0], self.n), options.partition[1]
        self.parts, self.system = self._parts(seed), evaluator.system
        self.integers = np.array(() if self.system is None else self.system.integers, np.intp)
        lanes, incumbent = (HoistedLanes, Incumbent) if self.system is None else (JointLanes, FeasibleIncumbent)
        self.lanes = lanes(evaluator, self.block, self.pieces, self.parts)
        self.incumbent = incumbent(evaluator, self.lo, self.hi, problem.several, problem.outer)
        self.start = problem.several or StartBoxes(self.lo[:, None], self.hi[:, None], problem.outer and OuterBox(
            *(end[:, None] for end in problem.outer)))
        self.list, every = RegionList(evaluator.arrays), np.arange(len(self.start))
        self.list.add(-1, every[None], np.full((1, len(every)), -np.inf), self._wide_of(-1, every))
        self.final = RegionList(evaluator.arrays)  # regions in which no double is left to cut at
        self.every: tuple[int, Any] | None = None  # the numbers of all lanes of a run, where the kernel reads them
        self.taken: list[tuple[np.ndarray, np.ndarray, int]] = []  # the region of each iteration, and where its block begins
        self.homes: list[int] = []  # the start box of each iteration
        self.boxes = 0

    def _parts(self, seed: int) -> np.ndarray:
        """Where each sample lies in each variable, as a part of the width."""
        count = 1 if self.options.samples == "centre" else self.options.points
        if self.options.samples != "latin":
            return np.repeat((np.arange(1, count + 1) / (count + 1))[:, None], self.n, axis=1)
        order = np.argsort(uniform(seed, _STREAM, 0, range(self.n), count), axis=0, kind="stable")
        return (order + 0.5) / count

    # ---- regions
    def boxes_of(self, iterations: np.ndarray, subregions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The boxes (n, N) of regions, rebuilt from the regions they were cut from."""
        lo, hi = (np.take(side, np.where(iterations < 0, subregions, 0), axis=1) for side in self.start.regions)
        for iteration in np.unique(iterations[iterations >= 0]).tolist():
            here = np.flatnonzero(iterations == iteration)
            low, high, start = self.taken[iteration]
            lo[:, here], hi[:, here] = low[:, None], high[:, None]
            for k, ends in enumerate(np.array(self._ends(low, high, start))):
                digit = (subregions[here] // self.pieces**k) % self.pieces
                lo[start + k, here], hi[start + k, here] = ends[digit], ends[digit + 1]
        lo[self.integers], hi[self.integers] = np.ceil(lo[self.integers]), np.floor(hi[self.integers])
        return lo, hi

    def _cut_from(self, iterations: np.ndarray, lower: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The boxes that hold the regions of each iteration, and the lowest of their lower ends."""
        cut, place = np.unique(iterations, return_inverse=True)
        least = np.full(len(cut), np.inf)
        np.minimum.at(least, place, lower)
        boxes = [self.incumbent.region if k < 0 else self.taken[k][:2] for k in cut.tolist()]
        return *(np.stack(sides, axis=1) for sides in zip(*boxes, strict=True)), least

    def _is_wide(self, width: float) -> bool:
        return bool(self.goal.xtol is not None and width > self.goal.xtol)

    def _ends(self, lo: np.ndarray, hi: np.ndarray, start: int) -> list[list[float]]:
        """The ends of the pieces; those of integer variables lie between whole numbers."""
        cut = ENDS[self.options.cuts]
        ends = [cut(float(lo[i]), float(hi[i]), self.pieces) for i in range(start, start + self.block)]
        for k in self.integers[(self.integers >= start) & (self.integers < start + self.block)] - start:
            first, *inner, last = ends[k]
            ends[k] = [first, *(min(math.floor(end) + 0.5, last) for end in inner), last]
        return ends

    @property
    def size(self) -> int:
        return len(self.list)

    @property
    def steps(self) -> int:
        """Iterations."""
        return len(self.taken)

    def takes_more_than(self, memory: float) -> bool:
        return self.list.takes_more(memory, self.incumbent.upper)

    def lower(self) -> float:
        return min(self.list.least(), self.final.least(), self.incumbent.upper)

    @property
    def done(self) -> bool:
        """The gap is closed, and, if xtol is given, no region is wider (the paper stops by that alone)."""
        return not self.list.chunks or (self.list.all_narrow(self.incumbent.upper) and self._closed())

    def _closed(self) -> bool:
        return self.goal.met(self.lower(), self.incumbent.upper)

    def step(self) -> None:
        """Takes the lowest region (where the gap is closed, of those that are too wide) and keeps what is left of it. If that
        fails, time or memory being short, all is as it was, but for a better point."""
        boxes, best, self.known = self.boxes, self.incumbent.arrays(), None
        where = self.list.first(wide=self._closed())
        iteration, subregion, least = self.list.at(*where)
        region = self._to_cut(iteration, subregion, least)
        try:
            is_cut = can_be_cut(region.lo, region.hi).any()
            pieces = self.cut(region) if is_cut else self._enclosed_again(region)
        except BaseException:
            self.boxes, self.known = boxes, best
            raise
        self.list.take_at(*where)
        if not is_cut:
            if pieces is not None:
                self.final.add(iteration, np.array([[subregion]]), np.array([[max(least, pieces)]]), False)
                self.final.prune(self.incumbent.upper)
            return
        try:
            if pieces is not None:
                lo, hi, found = pieces
                self._keep(region._replace(lo=lo, hi=hi), found)
                self.prune()
        except BaseException:  # beside those of its pieces that are there already
            wide = self._is_wide(float(widths(region.lo, region.hi).max()))
            self.list.add(iteration, np.array([[subregion]]), np.array([[least]]), wide)
            raise

    def lowest(self, count: int) -> list[tuple["RegionToCut", RegionPlace]]:
        """Up to the given number of regions that could be taken next, and where they are in the list; none that the goal lets
        be.
        """
        closed, upper = self._closed(), self.incumbent.upper
        below = math.nextafter(upper, math.inf) if closed or upper == np.inf else upper - self.goal.slack(upper)
        found = self.list.lowest(count, below, wide=closed)
        return [(self._to_cut(iteration, subregion, lower), place) for iteration, subregion, lower, place in found]

    def _to_cut(self, iteration: int, subregion: int, least: float) -> "RegionToCut":
        lo, hi = (side[:, 0] for side in self.boxes_of(np.array([iteration]), np.array([subregion])))
        return RegionToCut(lo, hi, self._next_block(iteration), subregion if iteration < 0 else self.homes[iteration], least)

    def cut(self, region: "RegionToCut") -> tuple[np.ndarray, np.ndarray, list[tuple[Any, Any, float]]] | None:
        """The box that was cut, and of its subregions those that are left: see `_left`. None if nothing is left of it before."""
        box = (region.lo, region.hi) if self.system is None else self._shrunk(region.lo, region.hi)
        return None if box is None else (*box, self._cut(*box, region.start, region.least, region.home))

    def keep(self, region: "RegionToCut", numbers: np.ndarray, lower: np.ndarray) -> None:
        """What another has left of a region."""
        here, arrays = ~(lower > self.incumbent.upper), self.evaluator.arrays
        rows = numbers[here].astype(np.int64).view(np.float64), lower[here]
        self._keep(region, [(*(arrays.send(row[None]) for row in rows), self.incumbent.upper)])

    def _keep(self, region: "RegionToCut", found: list[tuple[Any, Any, float]]) -> None:
        """Puts what is left of a region into the list."""
        ends = self._ends(region.lo, region.hi, region.start)
        self.taken.append((region.lo, region.hi, region.start))
        self.homes.append(region.home)
        for numbers, lower, highest in found:
            self._store(len(self.taken) - 1, numbers, lower, highest, ends)

    def prune(self) -> None:
        for regions in (self.list, self.final):
            regions.prune(self.incumbent.upper)

    def _shrunk(self, lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """What propagation leaves of a region, or all of it where nothing of that could be cut; None if nothing is left."""
        self.boxes += 1
        left = propagate(self.evaluator, lo, hi, self.incumbent.upper)
        if left is None or self.incumbent.lies_beyond(*(end[:, None] for end in left))[0]:
            return None
        if can_be_cut(*left).any():
            return left
        self.incumbent.offer(np.stack(left, axis=1))
        return lo, hi

    def _cut(self, lo: np.ndarray, hi: np.ndarray, start: int, least: float, home: int) -> list[tuple[Any, Any, float]]:
        """What is left of the subregions of a region of a start box."""
        ends = self._ends(lo, hi, start)
        parameters = self.lanes.parameters(lo, hi, start, ends, least, self.start.box(home), self.incumbent.upper)
        try:
            found = self._left(lo, hi, start, ends, parameters)
        except MemoryError:
            if not self.list.move_to_host():
                raise
            found = None  # tried again outside, where nothing holds the memory of the first attempt
        found = self._left(lo, hi, start, ends, parameters) if found is None else found
        self.boxes += self.pieces**self.block
        return found

    def _left(self, lo: np.ndarray, hi: np.ndarray, start: int, ends: list, parameters: np.ndarray) \
            -> list[tuple[Any, Any, float]]:
        """(numbers, lower ends, what none of these is above) of the subregions that are left, where the kernel runs."""
        arrays, count, found = self.evaluator.arrays, self.pieces**self.block, []
        for begin in range(0, count, POLICY.lanes_at_once):
            size = min(POLICY.lanes_at_once, count - begin)
            if self.every is None or self.every[0] != begin:
                self.every = begin, arrays.send(np.arange(begin, begin + size).view(np.float64)[None])
            every = self.every[1]
            out, = self.evaluator.run(self.lanes.kinds[0], [every], parameters=parameters[:self.lanes.plain])
            low = self._not_above(out[LOWER:LOWER + 1])  # no sample of the others is better than what is known
            if len(low) and len(self.lanes.parts):
                upper, lane, sample = self._sampled(every if len(low) == size else arrays.gather(every, low), parameters)
                if upper < self.incumbent.upper:
                    self.incumbent.offer(self._sample(lo, hi, start, ends, lane, sample)[:, None])
            kept = self._not_above(out[LEFT:LEFT + 1])
            found.append((arrays.gather(every, kept), arrays.gather(out[LEFT:LEFT + 1], kept), self.incumbent.upper))
        return found

    def _not_above(self, row: Any) -> Any:
        return self.evaluator.arrays.lowest(row, row.shape[1] + 1, math.nextafter(self.incumbent.upper, math.inf))[0]

    def _store(self, iteration: int, numbers: Any, lower: Any, highest: float, ends: list) -> None:
        """Puts subregions into the list; where each has to be looked at, they come here."""
        (lo, hi, start), real = self.taken[iteration], self._real(ends)
        wide = self._wide(lo, hi, start, ends)
        if wide is None or real is not None:
            numbers, lower = (self.evaluator.arrays.fetch(a) for a in (numbers, lower))
            kept = numbers[0].view(np.int64)
            here = np.ones(len(kept), bool) if real is None else real(kept)
            wide = self._each_wide(ends, start, kept[here]) if wide is None else wide
            numbers, lower = numbers[:, here], lower[:, here]
        self.list.add(iteration, numbers, lower, wide, highest)

    def _real(self, ends: list[list[float]]) -> Callable[[np.ndarray], np.ndarray] | None:
        """Which subregions are more than a copy of a neighbour's face: of pieces without width none counts, or the first. None
        if all are."""
        rows = [np.diff(piece) > 0 for piece in ends]
        if all(row.all() for row in rows):
            return None
        for row in rows:
            row[0] |= not row.any()
        return lambda kept: np.logical_and.reduce([row[(kept // self.pieces**k) % self.pieces] for k, row in enumerate(rows)])

    def _enclosed_again(self, region: "RegionToCut") -> float | None:
        """A region that cannot be cut is enclosed, its corners are points like others, and then it stays as it is. The lower end
        of f there; None where it holds no point that counts."""
        lo, hi = region.lo, region.hi
        self.incumbent.offer(np.stack([lo, hi], axis=1))
        value = self.evaluator.value(lo, hi)
        violated = self.system is not None and self.evaluator.violated(lo[:, None], hi[:, None])[0]
        none = value.empty or violated or self.incumbent.lies_beyond(lo[:, None], hi[:, None])[0]
        return None if none else float(value.lo)

    def _next_block(self, iteration: int) -> int:
        """Where the block begins that comes after the one of an iteration, cyclically; the last one is moved back to fit."""
        after = 0 if iteration < 0 else self.taken[iteration][2] + self.block
        return 0 if after >= self.n else min(after, self.n - self.block)

    def _sampled(self, numbers: Any, parameters: np.ndarray) -> tuple[float, int, int]:
        """(the best upper bound, its lane, its sample) of some lanes. The results stay where the kernel runs, but for these."""
        arrays = self.evaluator.arrays
        out, = self.evaluator.run(self.lanes.kinds[1], [numbers], parameters=parameters)
        (upper, at), = arrays.least(out[UPPER:UPPER + 1])
        lane, sample = (arrays.fetch(row[:, at:at + 1]) for row in (numbers, out[SAMPLE:SAMPLE + 1]))
        return upper, int(lane.view(np.int64)[0, 0]), int(sample[0, 0])

    def _sample(self, lo: np.ndarray, hi: np.ndarray, start: int, ends: list, lane: int, sample: int) -> np.ndarray:
        """The sample point that a lane found best, up to rounding."""
        low, high = lo.copy(), hi.copy()
        for k in range(self.block):
            digit = (lane // self.pieces**k) % self.pieces
            low[start + k], high[start + k] = ends[k][digit], ends[k][digit + 1]
        return np.minimum(np.maximum(low + (high - low) * self.parts[sample], low), high)

    def _wide(self, lo: np.ndarray, hi: np.ndarray, start: int, ends: list) -> bool | None:
        """Are the subregions wider than asked for? None if some are and some are not."""
        outside = np.r_[0:start, start + self.block:self.n]
        others = float(widths(lo[outside], hi[outside]).max(initial=0.0))
        if self._is_wide(others) or not self._is_wide(max(float(row.max()) for row in self._sizes(ends, start))):
            return self._is_wide(others)
        return None

    def wide_ones(self, iterations: np.ndarray, subregions: np.ndarray) -> np.ndarray:
        """Which of these regions, those of an iteration together, are wider than asked for."""
        found = np.zeros(len(iterations), bool)
        for here in np.split(np.arange(len(iterations)), np.flatnonzero(np.diff(iterations)) + 1):
            if self.goal.xtol is not None and len(here):
                found[here] = self._wide_of(int(iterations[here[0]]), subregions[here])
        return found

    def _wide_of(self, iteration: int, subregions: np.ndarray) -> np.ndarray | bool:
        if iteration < 0:
            whole = widths(*(side[:, subregions] for side in self.start.regions)).max(axis=0)
            return np.array([self._is_wide(width) for width in whole.tolist()])
        ends = self._ends(*self.taken[iteration])
        wide, start = self._wide(*self.taken[iteration], ends), self.taken[iteration][2]
        return self._each_wide(ends, start, subregions) if wide is None else wide

    def _sizes(self, ends: list, start: int) -> list[np.ndarray]:
        """How wide the pieces are, for integer variables between their whole numbers."""
        sides = [(np.array(piece[:-1]), np.array(piece[1:])) for piece in ends]
        whole = [k for k in range(self.block) if start + k in self.integers]
        return [np.maximum(np.floor(hi) - np.ceil(lo), 0.0) if k in whole else widths(lo, hi) for k, (lo, hi) in enumerate(sides)]

    def _each_wide(self, ends: list, start: int, kept: np.ndarray) -> np.ndarray:
        """Which of these subregions are wider in a variable of the block."""
        sizes, half = self._sizes(ends, start), self.block // 2  # two tables, of the lower and of the upper digits
        low, high = (_largest(part) for part in (sizes[:half], sizes[half:]))
        return np.maximum(low[kept % len(low)], high[kept // len(low)]) > self.goal.xtol

    def regions(self) -> Regions:
        """All regions with their boxes; of a search that was stopped with too many for that, those they were cut from."""
        both = (regions.everything(self.incumbent.upper) for regions in (self.list, self.final))
        iterations, subregions, lower, _ = (np.concatenate(parts) for parts in zip(*both, strict=True))
        if self.n * len(lower) > POLICY.most_ends and not self.done:
            lo, hi, lower = self._cut_from(iterations, lower)
        else:
            lo, hi = self.boxes_of(iterations, subregions)
        level = self.evaluator.value(lo, hi).level
        return Regions(lo, hi, lower, np.zeros(len(lower), np.int32), level.astype(np.int8))
