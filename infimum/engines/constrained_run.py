"""Branch and bound with constraints as an engine: a feasible point first, then regions that are shrunk, cut and discarded until
the infimum over the feasible points is enclosed, or no region is left that could hold a feasible point.

Proof: docs/proofs/constraints.md.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.bounds.bound_order import region_tests_of
from infimum.bounds.convex_tangent import tangent_bound
from infimum.bounds.convexifying_terms import convexity
from infimum.bounds.interface import LocalSolution, RegionTest
from infimum.bounds.propagation import Box, propagate, propagate_each
from infimum.certify.equation_solutions import FailureReason
from infimum.engines import counted_starts
from infimum.evaluation.evaluator import Evaluator
from infimum.points.constrained_search import ConstrainedSearch
from infimum.problem.problem import Problem
from infimum.problem.settings import UNLIMITED, Limits, Method
from infimum.problem.text import replaced_ends
from infimum.result import Progress, Result, Verdict
from infimum.search.branch_and_bound import BranchAndBound
from infimum.search.checkpoint import State
from infimum.search.feasible_incumbent import FeasibleIncumbent
from infimum.search.policy.bounds import ROOT_LINEAR_PROGRAMS as PROGRAMS
from infimum.search.policy.points import MANY_STARTS as STARTS
from infimum.search.policy.search import CONSTRAINED as POLICY
from infimum.search.progress import Figures, known_bounds
from infimum.search.search_run import SearchRun
from infimum.support.clock import in_stoppable_steps, stoppable
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.bounds.linear_programs import root_linear_programs
    from infimum.bounds.quadratics import quadratic_lagrangian
    from infimum.engines import rewritten_rows
    from infimum.points.diving import many_starts, whole_number_search
    from infimum.search.rounds import StepRounds
else:  # most runs need none of them
    quadratic_lagrangian = LazyModule("bounds.quadratics.quadratic_lagrangian")
    root_linear_programs = LazyModule("bounds.linear_programs.root_linear_programs")
    rewritten_rows = LazyModule("engines.rewritten_rows")
    many_starts = LazyModule("points.diving.many_starts")
    whole_number_search = LazyModule("points.diving.whole_number_search")

_SINGULAR = (FailureReason.DEPENDENT, FailureReason.WIDE)


class ConstrainedRun(SearchRun):
    """A point search, bounds of the whole box, then branch and bound, with further searches between its steps."""

    name = "auto"
    stops_at_clusters = localises = True
    bounded_at_once = True  # where the problem is convex, or quadratic
    rewrites = True         # what is bounded; points are proved by what the user wrote, which may hold there with equality

    def __init__(self, problem: Problem, evaluator: Evaluator, method: Method, limits: Limits = UNLIMITED,
                 batch: int | None = None, rounds: "StepRounds | None" = None):
        super().__init__(problem, evaluator, method, limits, batch, rounds)
        boxes = problem.several and problem.several.with_doubles()
        self.search = ConstrainedSearch(evaluator, self.lo, self.hi, method.seed, problem.x0, boxes)
        self.search.begin = problem.region
        self.begun: BranchAndBound | None = None  # the search of regions, while a first point is looked for
        self.elimination = counted_starts.EliminationStage(evaluator.system, problem, limits.memory_limit)
        wanted = getattr(method.options, "lp", False)
        self.lp = root_linear_programs.RootLinearPrograms.of(self.bounding, problem) if wanted else None
        self.programs = counted_starts.ProgramsStage(wanted is None and rounds is None)
        self.closing = counted_starts.ClosingStage(evaluator)
        self.whole = whole_number_search.WholeNumberSearch(evaluator, self.search, self.incumbent, self._offer_points,
                                                           lambda: self.branch.done) \
            if evaluator.system.integers and self.start is None and not self.search.is_large else None
        self.asked = np.inf  # the upper bound with which the whole box was bounded at last
        self.quadratic_steps, self.quadratic_waits = 0, True  # taken by quadratic bounds; is one to be asked (again) later?
        self.state_before_search: State | None = None  # everything, as bounds or a look for points began that are not over yet

    def first_incumbent(self) -> FeasibleIncumbent:
        return FeasibleIncumbent(self.evaluator, self.lo, self.hi, self.start, self.problem.outer)

    @cached_property
    def bounding(self) -> Evaluator:
        return rewritten_rows.rewritten_for_bounds(self.evaluator, *self.problem.region) if self.rewrites else self.evaluator

    @cached_property
    def quadratic(self) -> "quadratic_lagrangian.QuadraticLagrangian":
        return quadratic_lagrangian.QuadraticLagrangian(self.evaluator)

    @cached_property
    def _quadratic_steps_an_evaluation(self) -> float:
        return counted_starts.quadratic_steps_an_evaluation(self.evaluator.system, len(self.lo))

    @property
    def _quadratic_budget(self) -> float:
        """Steps that a quadratic bound may take now: all of them together cost no more than the evaluations until then."""
        share = PROGRAMS.quadratic_share if self._dives else 1.0
        return self._quadratic_steps_an_evaluation * (self.searched + self.branch.boxes) * share - self.quadratic_steps

    # ---- what a reader of the progress sees
    @property
    def x(self) -> np.ndarray:
        return self.search.x if self.incumbent.x is None else self.incumbent.x.copy()

    @property
    def searched(self) -> int:
        return self.before + self.search.evaluations

    @property
    def shown_lower(self) -> float:
        """The lower bound that is shown: also while a first point is looked for."""
        return self.lower if self.branch is not None or self.begun is None else self.begun.lower()

    def figures(self) -> Figures:
        shown = super().figures() if self.branch is not None else known_bounds(self.shown_lower, self.incumbent.upper) | \
            self.search.figures()
        return shown if self.lp is None else shown | {"linear programs": self.lp.test.bounding.counts.solved}

    # ---- checkpoints: what comes before branching is quick, and begins anew
    def state(self) -> State | None:
        if self.branch is None or self.begun is not None:
            return None
        if self.state_before_search is not None:
            kept = self.state_before_search
            return State(kept.values, self.branch.best_arrays(kept.arrays))
        state, many = self.branch.state(), self.many.values() if "many" in vars(self) else {}
        solver, programs = ({}, {}) if self.lp is None else ({"lp": self.lp.version}, self.lp.test.state())
        counts = {"before": self.searched, "asked": self.asked, "quadratic_steps": self.quadratic_steps,
                  "quadratic_waits": self.quadratic_waits, "batch": self.batch, "step_to_end": self.step_to_end}
        stages = self.programs.values() | self.elimination.values() | self.closing.values()
        arrays = state.arrays | self.learned_arrays() | self.search.arrays() | programs
        return State(state.values | counts | many | stages | solver, arrays)

    def _keep_state(self) -> None:
        """A run that is stopped from here on continues here. Where there is no memory for that, with what is known by then."""
        if self.state_before_search is None:
            with suppress(MemoryError):
                self.state_before_search = self.state()

    def restore(self, state: State) -> None:
        self.batch, begun = state.values["batch"], self.programs.waits and "lp" in state.values
        self.programs.restore(state.values)
        if begun:
            self.lp = root_linear_programs.RootLinearPrograms.by_themselves(self.bounding, self.problem)
        self.branch_of(state)
        self.search.restore(state.arrays)
        if begun and self.lp is not None:
            self.lp.test.compare_with(*self._box)
        self.before, self.asked = state.values["before"], state.values.get("asked", np.inf)
        if "start_rounds" in state.values:
            self.many.restore(state.values)
        self.quadratic_steps = state.values.get("quadratic_steps", 0)
        self.quadratic_waits = state.values.get("quadratic_waits", True)
        if self.lp is not None:
            self.lp.restore(state)
        self.elimination.restore(state.values)
        self.closing.restore(state.values)
        self.step_to_end = state.values.get("step_to_end", False if state.values.get("looking") else None)  # before release 0.4

    def branch_of(self, state: State) -> BranchAndBound:
        self.branch = self._made()
        self.branch.restore(state)
        if "search.better" in state.arrays:
            self._compare_with(state.arrays["search.better"].copy())
        for test in self._learning_tests():
            test.given = state.arrays.get(f"taught.{test.name}", test.given)
        return self.branch

    def learned_arrays(self) -> dict[str, np.ndarray]:
        """What tests were told of the best point, and of the box around all better ones."""
        better = {} if self.search.better is None else {"search.better": np.stack(self.search.better)}
        return better | {f"taught.{test.name}": test.given for test in self._learning_tests() if test.given is not None}

    def _made(self) -> BranchAndBound:
        self.search.narrowing = self.bounding
        return BranchAndBound(self.bounding, self.goal, self.incumbent, self.batch, self.start, self._tests())

    def _tests(self) -> list[RegionTest]:
        """Those that bound f, and where narrow regions are asked for, one that speaks of minimisers."""
        asked = [] if self.lp is None else [self.lp.test]
        if self.start is None and self.goal.xtol is not None:
            asked += self._stationary()
        tests = region_tests_of(self.bounding, self.lo, self.hi, self.start, asked)
        if self.lp is not None:
            self.lp.delay(tests)
        return tests

    def _stationary(self) -> list[RegionTest]:
        """The test that speaks of minimisers, where it applies."""
        from infimum.bounds.fritz_john.fritz_john import FritzJohn
        return [FritzJohn(self.bounding, self.lo, self.hi)] if FritzJohn.applies(self.bounding) else []

    def _begun(self) -> BranchAndBound:
        """With what propagation leaves of the whole box, or of the start boxes; with nothing where that is nothing."""
        branch, boxes = self._made(), self.start
        if boxes is None:
            with stoppable():
                left = propagate(self.bounding, *self.incumbent.region)
            left = None if left is None or self.incumbent.lies_beyond(*(end[:, None] for end in left))[0] else left
            self.search.begin = self.search.begin if left is None else left
            left = None if left is None else tuple(end[:, None] for end in left)
        else:
            left = propagate_each(self.bounding, boxes)
        if left is not None and left[0].shape[1]:
            branch.begin(*left)
        return branch

    def _learning_tests(self) -> list[RegionTest]:
        return [test for test in self.branch.tests if test.learns]

    # ---- linear programs that nobody asked for
    def before_step(self) -> Iterator[None]:
        """By counts. A run that is stopped meanwhile begins with that when it is resumed."""
        self.elimination.look(self.branch, self.search.begin)
        due = self.programs.are_due(self.bounding.system, self.branch, self.problem.region)
        if due and self.branch.is_between_steps:
            self._keep_state()
            yield from self._begin_programs(self.branch)
            self.state_before_search = None
        return self.branch.done

    def _is_large_lattice(self) -> bool:
        return counted_starts.is_large_lattice(self.evaluator.system, self.search.begin)

    def _begin_programs(self, branch: BranchAndBound) -> Iterator[None]:
        """From here on linear programs bound regions, where they have something to say; at first the whole box."""
        self.programs.waits = False
        with stoppable():
            self.lp = root_linear_programs.RootLinearPrograms.by_themselves(self.bounding, self.problem)
        if self.lp is None:
            return
        self.lp.test.compare_with(*self._box)
        self.lp.test.payoff.due = branch.steps
        branch.add_test(self.lp.test)
        self.lp.delay(branch.tests, branch.steps)
        yield from self.lp.before(branch, self.search, self._offer)
        if branch is self.branch:
            yield from self.lp.tighten(branch, self.search, self._compare_with, self._offer)

    # ---- the work
    def prepare(self) -> Iterator[None]:
        branch = self.begun = self._begun()
        self.elimination.look(branch, self.search.begin)
        if self.lp is not None:
            yield from self.lp.before(branch, self.search, self._offer)
        elif self.programs.waits and counted_starts.find_the_first_point(self.bounding.system, branch, self.search.begin):
            yield from self._begin_programs(branch)
        later = self.incumbent.upper < np.inf  # a point is known, and linear programs may show that it is the best one
        if self.whole is not None and self.whole.is_first and not (branch.done or (later and self.lp and self.lp.is_convex)):
            yield from in_stoppable_steps(self.whole.first())
            later = later or (self.whole.all_whole and self.incumbent.upper < np.inf)
        if not later and not (self._dives and self._is_large_lattice()):
            yield from self._search(branch)
        self.branch = branch
        self._close()
        yield from self._narrow() if self.search.is_wide else ()
        branch.prune()
        if self.lp is not None:
            if not self.lp.alternates:  # else there are products, of which tightening says more at less cost
                self._bound_at_once()
                yield from self._follow()
            yield from self.lp.tighten(branch, self.search, self._compare_with, self._offer)
            if later and not branch.done and not (self.lp.alternates or self.lp.whole):
                yield from self._search(branch)
                yield from self.lp.tighten(branch, self.search, self._compare_with, self._offer)
        self._bound_at_once()
        yield from self._follow()
        if self.lp is None or not branch.done:
            self._update_learning_tests()
        if self.lp is not None:
            self.lp.warm_start(branch.tests)
        self._ask_whole()
        self.begun = None
        yield

    def after_step(self, was_round: bool) -> Iterator[None]:
        self._close()
        if self.quadratic_waits and self._quadratic_budget >= max(POLICY.least_quadratic_steps, self.quadratic_steps):
            self._keep_state()
            self.asked = np.inf
            self._bound_at_once()
            yield from self._follow()
        if self._looks() or self._many_are_due() or (was_round and self.incumbent.upper == np.inf):
            self._keep_state()
            yield from self._search_once()
        yield from super().after_step(was_round)
        self.state_before_search = None

    def tests_for_localising(self) -> list[RegionTest]:
        return region_tests_of(self.bounding, self.lo, self.hi, None, self._stationary())

    def _search(self, branch: BranchAndBound) -> Iterator[None]:
        """Looks for points in rounds, until one is proved to be feasible."""
        if len(branch.pool) and not branch.done:
            for steps in self.search.rounds():
                yield from self._tried(steps)
                if self.incumbent.upper == np.inf and self.whole is not None and not self.whole.is_first:
                    yield from in_stoppable_steps(self.whole.first())
                if self.programs.waits and self.incumbent.upper == np.inf and len(self.search.integers):
                    yield from self._begin_programs(branch)
                if self.incumbent.upper < np.inf or self._dives:
                    break

    @property
    def _dives(self) -> bool:
        """Do linear programs look for whole numbers?"""
        return self.lp is not None and self.lp.whole

    def _close(self) -> None:
        """Nearer bounds in the place of very wide ones, at first and with a much better point. None: no point is feasible."""
        upper = self.incumbent.upper
        if self.start is not None or not len(self.branch.pool) or not self.closing.is_due(self._box, upper):
            return
        self._keep_state()
        left = self.closing.left(self.bounding, self._box, self.x, upper)
        if left is not None:
            self._go_on_in(left)
        elif upper == np.inf:
            self.branch.discard_all()

    def _go_on_in(self, box: Box) -> None:
        """This box holds all points that are better than the best one. Branching begins anew with it, if it has not cut yet."""
        self.search.better = box
        self._compare_with(box)
        if self.branch.steps:
            self.branch.clip(*box)
        else:
            self.branch.begin_again(*(end[:, None] for end in box))

    def _narrow(self) -> Iterator[None]:
        """Where bounds are so wide that they say little, a point says more: no better one lies where f is certainly larger. What
        that leaves is where to look again, what to cut, and what the sides of regions are compared with."""
        for _ in range(POLICY.most_narrowed_searches):
            if self.start is not None or self.incumbent.x is None or self.branch.done:
                return
            left, before = self.closing.left(self.bounding, self._box, self.x, self.incumbent.upper), self.incumbent.upper
            if left is None:
                return
            self._go_on_in(left)
            yield from self._tried(self.search.again())
            if self.incumbent.upper >= before:
                return

    @property
    def _box(self) -> Box:
        """It holds all points that are better than the best one."""
        return self.search.begin if self.search.better is None else self.search.better

    def _compare_with(self, box: Box) -> None:
        for test in self.branch.tests:
            test.compare_with(*box)

    def _ask_whole(self) -> None:
        """What multipliers say of the whole box, where most of it is known: often all."""
        asked = [test for test in self.branch.tests if test.uses_multipliers and test.given is not None]
        if asked and not self.branch.done:
            self.branch.ask([*self.branch.cutting, *asked])

    def _looks(self) -> bool:
        """By counts: a run that is resumed looks after the same steps."""
        steps = self.branch.steps
        if self.lp is not None and self.lp.looks(steps):
            return True
        if steps & (steps - 1) == 0:
            if self._relaxed() is not None:
                return steps >= POLICY.first_search_step
            return self.incumbent.upper == np.inf or (steps >= 8 and steps.bit_length() % 2 == 0)
        return self.incumbent.upper == np.inf and steps % POLICY.longest_search_period == 0

    @cached_property
    def many(self) -> "many_starts.ManyStarts":
        return many_starts.ManyStarts(self.evaluator, self.search)

    def _many_are_due(self) -> bool:
        """Where all variables are real: with whole numbers, dives begin elsewhere as well."""
        boxes, system = self.branch.boxes, self.evaluator.system
        usable = boxes >= STARTS.least_boxes and not (self.search.is_large or system.integers) and self.start is None
        return usable and system.m > 0 and self.many.is_due(boxes)

    def _relaxed(self) -> RegionTest | None:
        """The relaxation that lower bounds come from: its solutions in the lowest regions are good places to start from. It was
        asked before, so that nothing need be compiled for it."""
        return next((test for test in self.branch.tests if test.proposes_points and test.payoff.tried), None)

    def _search_once(self) -> Iterator[None]:
        lower, upper = self.branch.lower(), self.incumbent.upper
        yield from self._look()
        if self.lp is not None and self.lp.again(lower, upper, self.branch):
            yield from self.lp.tighten(self.branch, self.search, self._compare_with, self._offer)

    def _look(self) -> Iterator[None]:
        """Looks for a better point in the lowest regions; before any search, at the corners and in the middle of some."""
        if self._many_are_due():
            yield from in_stoppable_steps(self.many.look(self.incumbent, self._offer))
            self.branch.prune()
            return
        lo, hi = self.branch.lowest(POLICY.regions_sampled)
        self.incumbent.offer_as_they_are(np.concatenate([lo, hi, 0.5 * lo + 0.5 * hi], axis=1))
        if self.incumbent.x is not None and self.search.zeros(self.incumbent.x).any():
            yield from self._tried(self.search.with_zeros_held(self.incumbent.x))
        lo, hi = self.branch.lowest(POLICY.regions_searched_at_once)
        if self._dives and lo.shape[1]:
            yield from self.lp.dive(self.branch, self.search, lo[:, 0], hi[:, 0])
        steps = self.branch.steps
        if self.whole is not None and not self.branch.done and (self.incumbent.x is None or steps & (steps - 1) == 0):
            relaxed = self._relaxed() if lo.shape[1] else None
            starts = None if relaxed is None else relaxed.points(lo, hi, self.incumbent.upper)
            yield from in_stoppable_steps(self.whole.again(steps, lo, hi, starts))
            self.branch.prune()
            if self.whole.all_whole and self.incumbent.x is not None:
                return
            lo, hi = self.branch.lowest(POLICY.regions_searched_at_once)
        if lo.shape[1] and not self.branch.done and not (self._dives and (self._is_large_lattice() or self.lp.is_convex
                                                 or self.searched > PROGRAMS.search_share * self.branch.boxes)):
            relaxed = self._relaxed()
            starts = None if relaxed is None else relaxed.points(lo, hi, self.incumbent.upper)
            if self.lp is not None and starts is not None and self.lp.alternate(self.branch, self.search, starts):
                yield from self._tried(self.search.from_points(self.incumbent.x[:, None]))
            known, before = self.search.value + POLICY.relative_excess * max(1.0, abs(self.search.value)), self.incumbent.upper
            yield from self._tried(self.search.in_boxes(lo, hi, starts, self.incumbent.upper <= known, self.branch.boxes))
            if self.lp is not None and self.incumbent.upper < before:
                self.lp.alternate(self.branch, self.search, self.incumbent.x[:, None])
            self.branch.prune()

    def _tried(self, steps: Iterator[None]) -> Iterator[None]:
        """A search for points, and what it has found is offered."""
        yield from in_stoppable_steps(steps)
        self._offer()

    def _offer(self) -> None:
        """Offers what was found; a better point brings better multipliers."""
        if found := self.search.candidates():
            self._offer_points(np.stack(found, axis=1))

    def _offer_points(self, points: np.ndarray) -> bool:
        """Is one of these points better than what was known?"""
        with stoppable():
            better = self.incumbent.offer(points)
        if better and self.whole is not None and self.whole.all_whole:
            self.search.know(self.incumbent.x, self.incumbent.upper)
        if better and self.branch is not None:
            self._bound_at_once()
            self._update_learning_tests()
        return better

    def _bound_at_once(self) -> None:
        """By what holds wherever f is not above the best point, if the problem is convex there, or quadratic."""
        upper, branch, at = self.incumbent.upper, self.branch, (self.search.x, self.search.multipliers)
        slack = self.goal.slack(upper)
        if not self.bounded_at_once or branch.done or not upper < self.asked - slack:
            return
        self.asked = upper
        left = propagate(self.bounding, *self._box, upper)
        budget = self._quadratic_budget
        self.quadratic_waits = left is not None and budget < POLICY.least_quadratic_steps
        if left is not None:
            branch.floor = max(branch.floor, tangent_bound(self.evaluator, *left, *at))
            if not self.quadratic_waits and not branch.done and self.quadratic.applies:
                before = self.quadratic.steps
                with stoppable():
                    branch.floor = max(branch.floor, self.quadratic.bound(*left, *at, slack, budget))
                taken = self.quadratic.steps - before
                self.quadratic_steps, self.quadratic_waits = self.quadratic_steps + taken, taken >= budget

    def _follow(self) -> Iterator[None]:
        """Where a solution cannot be proved to be the least, what was in the way shows where better ones may be."""
        for _ in range(POLICY.most_repairs):
            upper = self.incumbent.upper
            if self.branch.done or "quadratic" not in vars(self) or self.quadratic.starts is None:
                return
            yield from self._tried(self.search.from_points(self.quadratic.starts))
            if not self.incumbent.upper < upper - self.goal.slack(upper):
                return

    def _update_learning_tests(self) -> None:
        x = self.search.x
        for test in self._learning_tests() if self.incumbent.x is not None else ():
            test.learn(LocalSolution(x, partial(convexity, self.evaluator, x, self.search.multipliers)))

    # ---- the answer
    def conclude(self) -> None:
        self.branch = self.branch or self.begun

    def details(self) -> dict[str, Any]:
        rows = rewritten_rows.said(self.bounding.system, self.evaluator.system) if self.bounding is not self.evaluator else None
        eliminated = "variables eliminated one after the other, which gives the least value" if self.elimination.done else None
        said = replaced_ends(self.problem.region, self._box), rows, eliminated  # what was done before branching
        return {"lp": None if self.lp is None else self.lp.report(), "presolve": tuple(filter(None, said))}

    def finish(self, stopped: str | None, seconds: float, history: list[Progress]) -> Result:
        result = super().finish(stopped, seconds, history)
        if self.lp is not None and self.lp.notes:
            result = replace(result, message="; ".join([result.message, *self.lp.notes]))
        if self.incumbent.x is None and self.incumbent.why_not in _SINGULAR and result.verdict is not Verdict.INFEASIBLE:
            why = f"near the best point that was found, {self.incumbent.why_not.value} (feasibility=1e-8 relaxes the equations)"
            result = replace(result, message=f"{result.message}; {why}")
        return result
