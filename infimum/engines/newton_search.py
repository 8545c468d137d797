"""The interval Newton loop: boxes are tested in a fixed order, contracted while that pays, and bisected otherwise.

A step takes the boxes with the lowest bounds, as many as there are lanes. The tests are about the natural enclosures of f, of its
gradient and of its Hessian: bounds test, monotonicity test, convexity test, solution test, Newton step. What a step shrinks to
at most `ratio` of its volume is tested again as it is; otherwise it is bisected where the derivative varies most. A box no wider
than xtol on which f varies by no more than the tolerance of the value is a solution. Where f is not smooth, a box is bisected;
where it is not even Lipschitz, and may vary as much on a narrower one, its lower bound tells if it is a solution.

Two rules of the thesis are left out, since they lose minimisers: that those all lie inside the bounds (here faces are faces, as
for every test), and that the negative part of a second derivative may be deleted (docs/proofs/second_order.md has a
counter-example).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from infimum.bounds.function_bounds.interval_newton import IntervalNewton
from infimum.bounds.start_faces import StartFaces
from infimum.engines.newton_loop_kernel import AGAIN, FIRST, REGIONS, SAMPLED, SECOND, UPPER
from infimum.engines.newton_options import NewtonOptions
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import CENTRE, GRADIENT, LOOP_SPLIT, LOOP_TESTS, SHAVING, ProgramKind
from infimum.kernel.region_cut import ABOVE, DISCARDED, FAR, FINAL, NEAR
from infimum.problem.cover import widths
from infimum.problem.settings import Goal
from infimum.problem.start_boxes import StartBoxes
from infimum.search.checkpoint import State
from infimum.search.incumbent import Incumbent
from infimum.search.policy.search import PUBLISHED_ENGINES as POLICY
from infimum.search.region_heap import RegionHeap
from infimum.search.region_outcomes import RegionOutcomes
from infimum.search.region_pool import Regions, can_be_cut
from infimum.search.region_search import PooledSearch


class NewtonSearch(PooledSearch):
    """The boxes to work on (`pool`), the solutions so far (`solved`), and what happens to them. `lower()` and the incumbent's
    upper bound enclose the infimum; every minimiser lies in one of all these boxes."""

    def __init__(self, evaluator: Evaluator, goal: Goal, incumbent: Incumbent, options: NewtonOptions, batch: int,
                 start: StartBoxes | None = None):
        super().__init__(evaluator, goal, incumbent, batch, start)
        self.options, self.solved = options, RegionHeap(self.arrays, self.n)
        self.newton = IntervalNewton(evaluator, self.lo, self.hi)
        self.newton.recipe = options.recipe
        self.newton.faces = None if start is None else StartFaces(evaluator, start)
        self.discarded = {"value": 0, "derivative": 0, "newton": 0}

    def begin(self) -> None:
        """The whole box, or the start boxes, to work on."""
        lo, hi = self.incumbent.regions
        self._work_on(Regions(lo, hi, np.full(lo.shape[1], -np.inf), np.zeros(lo.shape[1]), np.zeros(lo.shape[1])))

    def _work_on(self, regions: Regions) -> None:
        self.pool.reserve(len(regions))
        self.pool.add(self.arrays.send(regions.columns()))

    def lower(self) -> float:
        return min(self.pool.least(), self.solved.least(), self.incumbent.upper)

    @property
    def size(self) -> int:
        return len(self.pool) + len(self.solved)

    def takes_more_than(self, memory: float) -> bool:
        return self.pool.bytes + 8 * self.solved.rows * len(self.solved) > memory

    @property
    def done(self) -> bool:
        """Is there nothing to work on; or, where no width is asked for, the goal met?"""
        met = self.goal.met(self.lower(), self.incumbent.upper)
        return (self.goal.xtol is None and met) or (not len(self.pool) and not len(self._opened()[0]))

    def _opened(self) -> tuple[Regions, Regions]:
        """(solutions that are none by the goal and the upper bound of now, those that are): the first can still be cut."""
        regions, upper = Regions.from_columns(self.solved.everything()), self.incumbent.upper
        can = can_be_cut(regions.lo, regions.hi)
        wide = can & (widths(regions.lo, regions.hi) > (np.inf if self.goal.xtol is None else self.goal.xtol))
        with np.errstate(all="ignore"):
            gap = np.nextafter(upper - regions.lower, np.inf)
        far = (regions.lower < upper) & ~(gap <= self.goal.slack(upper)) & can.any(axis=0)
        opened = far | wide.any(axis=0)
        return regions.at(np.flatnonzero(opened)), regions.at(np.flatnonzero(~opened))

    # ---- a step
    def take_step(self) -> None:
        """Takes boxes, tests and contracts them, and keeps what is left."""
        before = self.boxes
        if not len(self.pool):
            opened, rest = self._opened()
            opened.axis = np.full_like(opened.axis, AGAIN)
            self._work_on(opened)
            self.solved.replace(rest.columns())
        self.pool.balance()
        self.solved.reserve(self.lanes)
        heap, index, parents = self.pool.lowest(self.lanes, np.inf, 3 * self.lanes)
        found = self._tested(parents)
        try:
            heap.remove(index)
            if self.overtaken:
                self.prune()
            self.keep(found)
        except BaseException:
            self.pool.add(parents)  # beside those of its parts that are there already
            raise
        self.steps, self.largest_step = self.steps + 1, max(self.largest_step, self.boxes - before)

    def _tested(self, parents: Any) -> list[RegionOutcomes]:
        """What is left of the boxes: after the tests with first derivatives, and then after the Newton step."""
        after, = self._sorted([self._first(parents)], "derivative")
        count, most, found = len(after.kept), self.newton.most, []
        for begin in range(0, count, most):
            some = self.arrays.gather(after.regions, after.kept[begin:begin + most])
            found += self._sorted(self._second(some), "newton")
        return found

    def _first(self, parents: Any) -> Any:
        """Bounds test, monotonicity test, solution test."""
        n, run = self.n, self.evaluator.run
        enclosed = run(GRADIENT, [parents[:n], parents[n:2 * n]])
        own = [] if self.newton.faces is None else [self.newton.faces.of(parents)]
        slack, xtol = self.goal.slack(self.incumbent.upper), np.inf if self.goal.xtol is None else self.goal.xtol
        for _ in range(2):  # so that the goal, whose difference is rounded to the next double, is met
            slack = np.nextafter(slack, 0.0)
        low_enough = np.nextafter(self.incumbent.upper - slack, np.inf)
        parameters = np.concatenate([self.lo, self.hi, [xtol, slack, low_enough]])
        out = run(ProgramKind.of(LOOP_TESTS, in_boxes=bool(own)), [parents, *enclosed, *own], parameters=parameters)
        self.boxes += parents.shape[1]
        self._offer(out[UPPER], parents)
        return out[REGIONS]

    def _second(self, regions: Any) -> list[Any]:
        """Convexity test and Newton step; then the two parts of each box, the second of which may be gone."""
        step, gaps = self.newton.step(regions), self.newton.recipe.gaps
        self.boxes += (self.newton.cost + self.n * self.newton.recipe.sequential) * regions.shape[1]
        left, enough = self.evaluator.run(SHAVING, [regions, step.ends],
                                          parameters=np.array([self.incumbent.upper, self.options.ratio]))
        inputs = [regions, left, enough, step.upper, step.level, *([step.ends] if gaps else [])]
        out = self.evaluator.run(ProgramKind.of(LOOP_SPLIT, gaps=bool(gaps)), inputs, parameters=np.array([POLICY.least_gap]))
        if self.options.samples:
            self._offer(out[SAMPLED], regions)
        return [out[FIRST], out[SECOND]]

    def _offer(self, upper: Any, regions: Any) -> None:
        """Takes the best of upper bounds that hold in the middle of regions, if it is better than what was known."""
        (best, lane), = self.arrays.least(upper)
        if best < self.incumbent.upper:
            middle, = self.evaluator.run(CENTRE, [self.arrays.column(regions, lane)])
            self.incumbent.take(self.arrays.fetch(middle)[:, 0], best)
            self.overtaken = True  # what the point rules out goes when boxes are kept: until then they are as they were

    def prune(self) -> None:
        self.overtaken = False
        self.pool.prune(self.incumbent.upper)
        self.solved.prune(self.incumbent.upper)

    def _sorted(self, arrays: list[Any], reason: str) -> list[RegionOutcomes]:
        """What becomes of each region of these arrays."""
        found, _ = self.classify(arrays)
        self.discarded["value"] += sum(classified.counts[ABOVE] for classified in found)
        self.discarded[reason] += sum(classified.counts[DISCARDED] for classified in found)
        return found

    def close(self) -> None:
        """f at the best point itself, where its upper bound is that of a box; no kernel is needed that is not there yet."""
        if self.incumbent.x is not None:
            value = self.evaluator.gradient(self.incumbent.x, self.incumbent.x).value
            if value.defined and value.hi < self.incumbent.upper:
                self.incumbent.take(self.incumbent.x, float(value.hi))
                self.prune()

    # ---- what is dealt to others in rounds
    @property
    def judged(self) -> int:
        """Steps after which it is known whether tests pay: all of them are used always."""
        return self.steps

    def judge_tests(self) -> None:
        """There is nothing to judge."""

    def to_distribute(self, count: int) -> Callable[[], tuple[RegionHeap, Any]]:
        pool, upper = self.pool, self.incumbent.upper
        pool.balance()
        pool.bring(count, np.inf)
        if self.goal.xtol is None and self.goal.met(min(pool.least(), upper), upper):
            count = 0  # who does not know the solutions has nothing to do: these are to be opened, after what is left here
        return lambda: (pool.front, pool.front.find(count)[0])

    def keep(self, found: list[RegionOutcomes]) -> None:
        """Puts what is left to the boxes to work on, and solutions to the solutions. Whoever calls has made sure of room."""
        for classified in found:
            self.pool.add(classified.regions, classified.of(NEAR), classified.of(FAR))
            self.solved.add(classified.regions, classified.of(FINAL))

    def put_aside_too(self, answers: list[dict[str, np.ndarray]]) -> Callable[[], None]:
        """Makes ready the solutions of others, and returns what then puts them to those here, which needs no memory."""
        columns = np.concatenate([arrays["solved"] for arrays in answers], axis=1)
        columns = columns[:, ~(columns[self.solved.row] > self.incumbent.upper)]
        self.solved.reserve(columns.shape[1])
        solutions = self.arrays.send(np.ascontiguousarray(columns))
        return lambda: self.solved.add(solutions)

    def none_put_aside(self) -> dict[str, np.ndarray]:
        return {"solved": np.empty((self.solved.rows, 0))}

    # ---- checkpoints
    def put_aside_arrays(self) -> dict[str, np.ndarray]:
        return {"solved": self.solved.everything()}

    def restore(self, state: State) -> None:
        super().restore(state)
        self.solved.replace(state.arrays["solved"])

    def regions(self) -> Regions:
        return self.pool.everything().with_(Regions.from_columns(self.solved.everything()))
