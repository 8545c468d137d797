"""Branch and bound: every region is cut until it is discarded by proof or the gap is closed."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.bounds.bound_order import in_order, region_tests_of
from infimum.bounds.bound_table import Payoff
from infimum.bounds.interface import Outcome, RegionTest, StepContext
from infimum.certify.uniqueness_question import can_be_isolated
from infimum.certify.verdict import LOWEST_VALUE, merged
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import WIDE
from infimum.kernel.region_cut import ABOVE, DISCARDED, FAR, FINAL, NEAR, rows, rows_of
from infimum.problem.cover import widths
from infimum.problem.settings import LEAST, Goal
from infimum.problem.start_boxes import StartBoxes
from infimum.search.checkpoint import State
from infimum.search.incumbent import Incumbent
from infimum.search.policy.bounds import REGION_ISOLATION
from infimum.search.policy.search import BRANCHING as POLICY
from infimum.search.region_heap import RegionHeap
from infimum.search.region_outcomes import RegionOutcomes
from infimum.search.region_pool import RegionPool, Regions, can_be_cut
from infimum.search.region_search import PooledSearch, StepStart
from infimum.support.clock import stop_if_over, stoppable
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.certify import exact_points, region_isolation
else:
    exact_points = LazyModule("certify.exact_points")
    region_isolation = LazyModule("certify.region_isolation")


class BranchAndBound(PooledSearch):
    """Regions, and the tests that shrink them, in order."""

    judged = -1  # steps after which it is known again of all tests whether they pay

    def __init__(self, evaluator: Evaluator, goal: Goal, incumbent: Incumbent, batch: int | None = None,
                 start: StartBoxes | None = None, tests: list[RegionTest] | None = None):
        super().__init__(evaluator, goal, incumbent, batch, start)
        costly = evaluator.facts.is_costly
        most = max(LEAST, self.batch // POLICY.costly_step) if costly else POLICY.full_step
        self.full = min(POLICY.full_step, self.lanes, most)
        self.most_cuts = POLICY.costly_cuts if costly else POLICY.most_cuts
        self.final = Regions.none(self.n)  # regions in which no double is left to cut at
        self.cuts = 0  # of the step that has begun
        self.ended, self.next_look = False, 0  # boxes from which on minimisers are looked for again
        self.floor = -np.inf    # f is known not to be below it anywhere
        self.alike = False      # is no variable spared from being cut?
        self.narrow = 0.0       # in this step, sides that are wider are cut first
        self.unbounded = False  # have regions of this step no lower bound at all?
        self.tests = region_tests_of(evaluator, self.lo, self.hi, start) if tests is None else tests
        self.cutting = [test for test in self.tests if test.cuts]
        self.discarded = {"value": 0, "second order": 0, **{test.discards: 0 for test in self.tests}}

    def add_test(self, test: RegionTest) -> None:
        """From here on that test is asked as well."""
        self.tests = in_order([*self.tests, test])
        self.discarded.setdefault(test.discards, 0)

    def begin(self, lo: np.ndarray, hi: np.ndarray, lower: float = -np.inf) -> None:
        """Puts the boxes (n, N) to search into the pool; f is known not to be below `lower` on them."""
        self.incumbent.sharpen(self.goal.slack(self.incumbent.upper))
        count = lo.shape[1]
        boxes = Regions(lo, hi, np.full(count, lower), np.zeros(count, np.int32), np.zeros(count, np.int8))
        self.pool.reserve(count)
        least = lower if lower > -np.inf else float(self.incumbent.enclosed(lo, hi).lo.min())
        self.unbounded = least == -np.inf
        if self.goal.xtol is not None and self.goal.met(least, self.incumbent.upper):
            self._cut_alike()
        self.keep(self._tested(self.arrays.send(boxes.columns()), 1))
        self._judge_sharpest_test()

    def begin_again(self, lo: np.ndarray, hi: np.ndarray) -> None:
        """With these boxes instead: elsewhere f is known to be above the best point. If that fails, all is as it was. What was
        proved of f stays."""
        before, final, least = self.pool.everything(), self.final, self.lower()
        self.floor = max(self.floor, least) if least < np.inf else self.floor
        try:
            self.pool.replace(Regions.none(self.n))
            self.final = Regions.none(self.n)
            self.begin(lo, hi)
        except BaseException:  # out of time, as kernels may have to be compiled
            self.pool.replace(before)
            self.final = final
            raise

    def clip(self, lo: np.ndarray, hi: np.ndarray) -> None:
        """Keeps what lies in this box: elsewhere f is known to be above the best point."""
        regions = self.pool.everything()
        low, high = np.maximum(regions.lo, lo[:, None]), np.minimum(regions.hi, hi[:, None])
        left = np.flatnonzero((low <= high).all(axis=0))
        self.discarded["value"] += len(regions) - len(left)
        self.pool.replace(Regions(low, high, regions.lower, regions.axis, regions.level).at(left))

    def discard_all(self) -> None:
        """It is proved that no point is feasible."""
        self.discarded["constraints"] = self.discarded.get("constraints", 0) + len(self.pool) + len(self.final)
        self.pool.replace(Regions.none(self.n))
        self.final = Regions.none(self.n)

    def _cut_alike(self) -> None:
        """Where the infimum is known and only places are asked for, linear parameters have to become narrow as well: to spare
        them from being cut then costs more than it saves."""
        others = [test for test in self.tests if not test.eliminates]
        self.alike, self.tests = self.alike or len(others) < len(self.tests), others

    def lower(self) -> float:
        least = min(self.pool.least(), float(self.final.lower.min()) if len(self.final) else np.inf)
        return min(max(least, self.floor), self.incumbent.upper)

    @property
    def done(self) -> bool:
        """Is nothing left to do: the goal met, or nothing to cut?"""
        if not len(self.pool) or (self.incumbent.upper <= LOWEST_VALUE and self.is_unbounded):
            return True
        return self.goal.met(self.lower(), self.incumbent.upper) and (self.goal.xtol is None or self.wide(1) is None)

    def wide(self, count: int) -> tuple[RegionHeap, Any, Any] | None:
        """(where, which, the sides to cut) of up to the given number of regions that are wider than xtol in a variable that can
        still be cut, lowest first; those that wait come last."""
        for heap in (self.pool.front, self.pool.waiting):
            if len(heap):
                lower, axis = self.evaluator.run(WIDE, [heap.columns()], parameters=np.array([self.goal.xtol]))
                index, _ = heap.arrays.lowest(lower[:, :heap.used], count)
                if len(index):
                    return heap, index, heap.arrays.gather(axis, index)
        return None

    # ---- what is dealt to others in rounds
    def to_distribute(self, count: int) -> Callable[[], tuple[RegionHeap, Any]]:
        pool, upper = self.pool, self.incumbent.upper
        pool.balance()
        if self.goal.xtol is not None and self.goal.met(self.lower(), upper):
            def find() -> tuple[RegionHeap, Any]:
                found = self.wide(count)
                return (pool.front, ()) if found is None else found[:2]
            return find
        below = upper - self.goal.slack(upper) if np.isfinite(upper) else np.inf
        below = below if below > pool.least() else np.inf
        pool.bring(count, below)
        return lambda: (pool.front, pool.front.find(count, below)[0])

    def put_aside_too(self, answers: list[dict[str, np.ndarray]]) -> Callable[[], None]:
        final = self.final
        for arrays in answers:
            final = final.with_(Regions.from_arrays("final", arrays))

        def put() -> None:
            self.final, self.ended = final, False  # it may have been resumed with a narrower goal
        return put

    def none_put_aside(self) -> dict[str, np.ndarray]:
        return Regions.none(self.n).arrays("final")

    @property
    def is_between_steps(self) -> bool:
        """Is no step half done? The next call of `step` continues one that is."""
        return self.cuts == 0

    def take_step(self) -> None:
        """Takes the lowest regions, cuts them in two, and tests the halves. Where regions are few, a step is several of these:
        what tests cost is judged by steps that are worth a trial."""
        before = self.boxes
        upper, room = self.incumbent.upper, 3 * self.lanes  # for the pieces, up to two steps' worth, and for what is put back
        below = upper - self.goal.slack(upper) if np.isfinite(upper) else np.inf
        self.pool.balance()
        self.unbounded = self.pool.least() == -np.inf
        late = self.is_between_steps and self.steps >= POLICY.far_points_step and self.steps & (self.steps - 1) == 0
        if self.unbounded and late and self.incumbent.offer_far_points():
            upper = self.incumbent.upper
        only_wide = self.goal.xtol is not None and self.goal.met(self.lower(), upper)
        few = min((test.step_size for test in self.tests if test.step_size is not None
                   and (test.is_used(self.steps) or test.is_tried(self.steps))), default=None)
        self.narrow = self.goal.xtol if only_wide else 0.0
        if only_wide:
            heap, index, parents = self._lowest_wide(room)
        else:
            below = below if below > self.pool.least() else np.inf
            heap, index, parents = self.pool.lowest((few or self.lanes) // 2, below, room)
        with stoppable():
            found = self._tested(parents, 2)
            final, better = self._enclosed_final(found)
        try:
            heap.remove(index)
            self._put(found, final, better)
        except BaseException:
            self.pool.add(parents)  # beside those of its pieces that are there already
            raise
        self._judge_sharpest_test()
        self.largest_step = max(self.largest_step, self.boxes - before)
        self.cuts, self.ended = self.cuts + 1, False  # it may have been resumed with a narrower goal
        if self.cuts >= self.most_cuts or parents.shape[1] << self.cuts >= min(self.full, few or self.full):
            self.steps, self.cuts = self.steps + 1, 0

    @property
    def is_unbounded(self) -> bool:
        """Has f no lower bound, as far as one can tell? Within finite bounds it may just exceed the doubles."""
        endless = self.steps > POLICY.far_points_step and (np.isinf(self.lo).any() or np.isinf(self.hi).any())
        return bool(endless) and self.incumbent.upper < POLICY.unbounded_below and self.lower() == -np.inf

    def _judge_sharpest_test(self) -> None:
        """The sharpest test that cuts has paid if it gave regions a lower bound that had none."""
        payoff = self.cutting[-1].payoff
        if self.unbounded and payoff is not None and self.pool.least() > -np.inf:
            payoff.has_paid(self.steps)

    def end(self) -> None:
        """What is done once, when nothing is left to cut. Costly tests are asked again that were tried, so that their kernels are
        compiled, and others that are worth that where many regions are left. If time or memory does not suffice for all of
        it, nothing has been done."""
        if self.ended:
            return
        if self.goal.xtol is not None and len(self.pool) <= REGION_ISOLATION.most_regions:
            state, pool, final, many = self.state(), self.pool, self.final, len(self.pool) >= POLICY.few_regions
            start = StepStart(self)
            tests = [test for test in self.tests if test not in self.cutting and test.payoff is not None
                     and (test.payoff.tried or (test.is_tested_at_end and many))]
            try:
                self.pool = RegionPool(self.n, self.arrays, pool.size)
                self.pool.restore(state.arrays)
                self._join()
                self._tighten(tests)
                self.isolate_minimisers(last=True, least=1 if tests else POLICY.few_regions)
            except BaseException:
                self.pool, self.final = pool, final  # as they were: that takes no memory
                start.put_back(self)
                self._restore_counts(state)
                self.known = None
                self.incumbent.restore(state.arrays)
                raise
        self.ended = True

    def _join(self) -> None:
        """Regions that touch and are narrow enough together become one, where they are few: a minimiser on a cut lies in several.
        Of what lies between them only the infimum is known to be a lower bound. With start boxes, the box around them may reach
        beyond the feasible set."""
        if self.start is not None or not 1 < len(self.pool) <= POLICY.few_last_regions:
            return
        regions, joined, lower = self.pool.everything(), Regions.none(self.n), self.lower()
        for lo, hi in merged(regions):
            some = regions.at(np.flatnonzero(((regions.lo >= lo[:, None]) & (regions.hi <= hi[:, None])).all(axis=0)))
            if len(some) > 1 and (widths(lo, hi) <= self.goal.xtol).all():
                axis, level = np.array([np.argmax(hi - lo)], np.int32), np.zeros(1, np.int8)
                some = Regions(lo[:, None], hi[:, None], np.array([lower]), axis, level)
            joined = joined.with_(some)
        self.pool.replace(joined)

    def _tighten(self, tests: list[RegionTest]) -> None:
        """Asks these tests about the regions again, where they are few, while that is worth its cost: narrow enough is not as
        narrow as can be, and regions without a minimiser go."""
        for _ in range(POLICY.last_rounds if self.goal.xtol is not None and tests else 0):
            if not 0 < len(self.pool) <= POLICY.few_last_regions or not self.ask(tests):
                return

    def ask(self, tests: list[RegionTest]) -> int:
        """Asks these tests about all regions; for how many that was worth its cost. If that fails, all is as it was."""
        before, final = self.pool.everything(), self.final
        regions, gained, found = self.arrays.send(before.columns()), 0, []
        for test in tests:
            if regions.shape[1]:
                found, paid = self._in_portions(test, regions, regions.shape[1])
                regions, gained = self._together(found), gained + paid
        try:
            self.pool.replace(Regions.none(self.n))
            self.keep(found)
        except BaseException:
            self.pool.replace(before)
            self.final = final
            raise
        return gained

    def isolate_minimisers(self, last: bool = False, least: int = POLICY.few_regions) -> None:
        """Where the value is known and at least `least` regions are to be narrowed, but not too many, discards what lies around
        proved minimisers: once cutting has cost as much as looking for them. The `last` time wherever regions touch, and what
        a closer look at the others discards."""
        few = least <= len(self.pool) <= REGION_ISOLATION.most_regions
        if self.goal.xtol is None or not few or not can_be_isolated(self.evaluator):
            return
        regions, bounds = self.pool.everything(), (self.lower(), self.incumbent.upper)
        groups = merged(regions) if self.goal.met(*bounds) else []
        pays = len(groups) < len(regions) if last else self.boxes >= max(POLICY.isolation_cost * len(groups), self.next_look)
        if not groups or not pays:
            return
        problem = region_isolation.IsolationProblem(self.evaluator, self.lo, self.hi, self.start, outer=self.incumbent.outer)
        left = region_isolation.isolate_regions(problem, regions, groups, bounds, self.incumbent.x, last).left
        before, after = (max(self.goal.xtol, widths(r.lo, r.hi).max(initial=0.0)) for r in (regions, left))
        changed = not (np.array_equal(left.lo, regions.lo) and np.array_equal(left.hi, regions.hi))
        if not changed or (last and after > before):  # K is wider than the regions that it would replace: none will be cut again
            self.next_look = POLICY.isolation_backoff * self.boxes
            return
        each = np.arange(len(left))
        can = can_be_cut(left.lo[left.axis, each], left.hi[left.axis, each])
        final, better = ([], False) if can.all() else self._enclosed_again([left.at(np.flatnonzero(~can))])
        self.next_look = 0
        self.discarded["second order"] += len(regions) - len(left)
        self.pool.replace(left.at(np.flatnonzero(can)))
        self._put([], final, better)
        self.pool.prune(self.incumbent.upper)

    def _lowest_wide(self, room: int) -> tuple[RegionHeap, Any, Any]:
        """Up to a step's worth of the regions that are wider than xtol: where they lie, which they are, and a copy of them."""
        self.pool.reserve(room)
        heap, index, axis = self.wide(self.lanes // 2)
        parents, row = heap.arrays.gather(heap.data, index), rows(self.n)[1]
        heap.arrays.put(parents[row:row + 1], 0, axis)
        return heap, index, parents if heap.arrays is self.arrays else self.arrays.send(parents)

    # ---- what is left of regions
    @property
    def context(self) -> StepContext:
        """What tests know of this step, as things stand."""
        return StepContext(self.incumbent.upper, self.narrow, self.alike)

    def _tested(self, parents: Any, pieces: int) -> list[RegionOutcomes]:
        """Discards of the pieces of the parents what is proved away, by all tests that pay; the pool is not touched."""
        cutting = next(test for test in reversed(self.cutting) if self.unbounded or test.is_used(self.steps))
        found, _ = self._sorted(cutting, cutting.cut(parents, pieces, self.context))
        for test in self.tests:
            tried = test.is_tried(self.steps)
            asked = tried or (test not in self.cutting and test.is_used(self.steps))
            if asked and any(len(f.kept) for f in found):
                found = self._asked(test, self._together(found), tried)
        return found

    def _asked(self, test: RegionTest, regions: Any, tried: bool) -> list[RegionOutcomes]:
        """What one more test leaves of the regions; where it is only tried, of some of them, and judged by that."""
        count = regions.shape[1]
        some = min(test.sample, count) if tried else count
        found, gone = self._in_portions(test, regions, some)
        if tried:
            test.payoff.judge(self.steps, some if test.capacity is None else max(some, some * count // test.capacity), gone)
        return found if some == count else [*found, *self.classify([self._some(regions, some, count)])[0]]

    def _in_portions(self, test: RegionTest, regions: Any, count: int) -> tuple[list[RegionOutcomes], int]:
        """The outcomes of the first `some` regions, no more at a time than a test takes; for how many it was worth its cost."""
        found, gone = [], 0
        for begin in range(0, count, test.most or count):
            stop_if_over()
            these = self._some(regions, begin, min(begin + (test.most or count), count))
            classified, paid = self._sorted(test, [test.test(these, self.context)])
            found, gone = found + classified, gone + paid
        return found, gone

    def _sorted(self, test: RegionTest, outcomes: list[Outcome]) -> tuple[list[RegionOutcomes], int]:
        """What becomes of the regions that a test leaves, and for how many of them it was worth its cost. Offers its points."""
        self.boxes += sum(outcome.boxes for outcome in outcomes)
        self._offer([outcome for outcome in outcomes if outcome.upper is not None and outcome.upper.shape[1]])
        rows = [outcome.paid for outcome in outcomes if outcome.paid is not None]
        found, counts = self.classify([outcome.regions for outcome in outcomes], *rows)
        for f in found:
            self.discarded[test.discards] += f.counts[DISCARDED]
            self.discarded["value"] += f.counts[ABOVE]
        return found, sum(count[1] for count in counts) if rows else sum(f.discarded for f in found)

    def _offer(self, outcomes: list[Outcome]) -> None:
        """Takes the best of all points, of equal ones the first, if it is better than what was known."""
        if not outcomes:
            return
        best = self.arrays.least(*(outcome.upper for outcome in outcomes))
        k = min(range(len(best)), key=lambda i: best[i][0])
        upper, lane = best[k]
        if upper < self.incumbent.upper:
            self.incumbent.take(self.arrays.fetch(self.arrays.column(outcomes[k].point, lane))[:, 0], upper)
            self.incumbent.sharpen(self.goal.slack(self.incumbent.upper))
            self.overtaken = True  # what the point rules out goes when regions are kept: until then they are as they were

    def keep(self, found: list[RegionOutcomes]) -> None:
        """Puts what is left into the pool, or, where it cannot be cut, aside. Whoever calls has made sure of room."""
        self._put(found, *self._enclosed_final(found))

    def _put(self, found: list[RegionOutcomes], final: list[Regions], better: bool) -> None:
        """`final` is put aside; `better`: has it brought a better point?"""
        if self.overtaken:
            self._drop_overtaken()
        for f in found:
            self.pool.add(f.regions, f.of(NEAR), f.of(FAR))
        for regions in final:
            self.final = self.final.with_(regions)
        if better:
            self._drop_overtaken()

    def _enclosed_final(self, found: list[RegionOutcomes]) -> tuple[list[Regions], bool]:
        """What cannot be cut of this, as it is put aside, and whether that has brought a better point."""
        columns = [self.arrays.fetch(self.arrays.gather(f.regions, f.of(FINAL))) for f in found if f.counts[FINAL]]
        return self._enclosed_again([Regions.from_columns(some) for some in columns])

    def _enclosed_again(self, final: list[Regions]) -> tuple[list[Regions], bool]:
        before = self.incumbent.upper
        return [self._enclosed_alone(regions) for regions in final], self.incumbent.upper < before

    def _enclosed_alone(self, regions: Regions) -> Regions:
        """Regions that cannot be cut are enclosed as they are now, maybe a face of what was; their corners are points like
        others."""
        sides = [np.ascontiguousarray(side) for side in (regions.lo, regions.hi)]
        value = self.incumbent.enclosed(*sides)
        regions.lower = np.fmax(regions.lower, value.lo)
        excluded = value.empty if self.evaluator.system is None else value.empty | self.evaluator.violated(*sides)
        excluded = excluded | self.incumbent.lies_beyond(*sides) | (regions.lower > self.incumbent.upper)
        if self.evaluator.system is not None and self.evaluator.system.integers:
            left = np.flatnonzero(~excluded)
            ends = (np.take(end, left, axis=1) for end in sides)
            excluded[left] = exact_points.violated_points(self.incumbent.evaluator, *ends)
        if self.incumbent.offer(np.concatenate([regions.lo, regions.hi], axis=1)):
            self.incumbent.sharpen(self.goal.slack(self.incumbent.upper))
        return regions.at(np.flatnonzero(~excluded))

    def prune(self) -> None:
        """Drops what the best point rules out."""
        self.incumbent.sharpen(self.goal.slack(self.incumbent.upper))
        self._drop_overtaken()

    def _drop_overtaken(self) -> None:
        self.overtaken = False
        self.pool.prune(self.incumbent.upper)
        self.final = self.final.at(np.flatnonzero(~(self.final.lower > self.incumbent.upper)))

    def _together(self, found: list[RegionOutcomes]) -> Any:
        """What is kept, in one array."""
        whole, at = self.arrays.empty(rows_of(self.n), sum(len(f.kept) for f in found)), 0
        for f in found:
            if len(f.kept):
                self.arrays.gather(f.regions, f.kept, whole, at)
                at += len(f.kept)
        return whole

    def _some(self, regions: Any, begin: int, end: int) -> Any:
        """Some of the regions, as an array of their own."""
        if end - begin == regions.shape[1]:
            return regions
        some = self.arrays.empty(rows_of(self.n), end - begin)
        self.arrays.put(some, 0, regions, begin, end)
        return some

    def lowest(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Up to the given number of the lowest regions, as boxes (n, N), here. They stay where they are."""
        heap = self.pool.front if len(self.pool.front) else self.pool.waiting
        if not len(heap):
            return np.empty((self.n, 0)), np.empty((self.n, 0))
        columns = heap.arrays.fetch(heap.arrays.gather(heap.data, heap.find(count)[0]))
        return np.ascontiguousarray(columns[:self.n]), np.ascontiguousarray(columns[self.n:2 * self.n])

    def put_aside_arrays(self) -> dict[str, np.ndarray]:
        return self.final.arrays("final")

    def state_but_regions(self) -> State:
        """Counts, the best point, and which tests pay."""
        shared = super().state_but_regions()
        counts = {"cuts": self.cuts, "ended": self.ended, "next_look": self.next_look, "alike": self.alike, "floor": self.floor,
                  "judged": self.judged}
        payoffs = {name: payoff.state() for name, payoff in self.payoffs().items()}
        return State(shared.values | counts, shared.arrays | payoffs)

    def payoffs(self) -> dict[str, Payoff]:
        """Of the tests that are used where they pay, under their names in checkpoints."""
        return {f"payoff.{test.name}": test.payoff for test in self.tests if test.payoff is not None}

    def judge_tests(self) -> None:
        """In the next step all tests are tried that are used where they pay."""
        self.judged = self.steps + 1
        for payoff in self.payoffs().values():
            payoff.due = min(payoff.due, self.steps)

    def restore(self, state: State) -> None:
        super().restore(state)
        if state.values.get("alike", False):
            self._cut_alike()
        self.final = Regions.from_arrays("final", state.arrays)
        for name, payoff in self.payoffs().items():
            if name in state.arrays:  # a test that the run did not have begins anew
                payoff.restore(state.arrays[name])

    def _restore_counts(self, state: State) -> None:
        super()._restore_counts(state)
        self.floor, self.cuts = state.values.get("floor", -np.inf), state.values.get("cuts", 0)
        self.ended, self.next_look = state.values.get("ended", False), state.values.get("next_look", 0)
        self.judged = state.values.get("judged", -1)

    def regions(self) -> Regions:
        return self.pool.everything().with_(self.final)
