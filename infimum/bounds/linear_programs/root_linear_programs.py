"""What linear programs say of the whole box: a first bound and a start before points are looked for, and then, with the value of
a proved point, narrower variables, and further starts. Some tests of regions are tried later then."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from infimum.bounds.interface import LocalSolution, RegionTest
from infimum.bounds.linear_programs.integer_guide import IntegerGuide
from infimum.bounds.linear_programs.linear_program_bound import LinearProgramBound
from infimum.bounds.linear_programs.program_dive import ProgramDive
from infimum.evaluation.evaluator import Evaluator
from infimum.problem.problem import Problem
from infimum.relax.alternation import Alternation
from infimum.relax.bound_tightening import tightened
from infimum.relax.program_bounds import TightenedRegion
from infimum.search.checkpoint import State
from infimum.search.policy.bounds import ROOT_LINEAR_PROGRAMS as POLICY
from infimum.support.clock import in_stoppable_steps, stoppable


class RootLinearPrograms:
    """Of one run. `notes` are to be told with its result."""

    def __init__(self, evaluator: Evaluator, problem: Problem):
        self.version, self.notes = evaluator.linear_programs.version(), []
        self.test = LinearProgramBound(evaluator, *problem.region)
        self.several, self.first = problem.several is not None, None
        self.whole, self.diver = len(self.test.bounding.relaxation.whole) > 0, ProgramDive(self.test.bounding)
        self.guide = IntegerGuide(self.test.bounding)
        self.turns = None if self.whole else Alternation.of(self.test.bounding)  # it knows nothing of whole numbers

    @classmethod
    def of(cls, evaluator: Evaluator, problem: Problem) -> "RootLinearPrograms | None":
        """None where they have nothing to say; an error where the solver is missing."""
        evaluator.linear_programs.version()
        return cls(evaluator, problem) if LinearProgramBound.applies(evaluator) else None

    @classmethod
    def by_themselves(cls, evaluator: Evaluator, problem: Problem) -> "RootLinearPrograms | None":
        """Where nobody asked for them: with constraints or whole numbers on one box. None too where the solver is missing."""
        system = evaluator.system
        if not (system.m or system.integers) or problem.several is not None or not evaluator.linear_programs.is_available():
            return None
        return cls.of(evaluator, problem)

    @property
    def is_convex(self) -> bool:
        """But for whole numbers: dives fix these, and what is left has one solution, which is found."""
        return self.test.is_convex

    @property
    def alternates(self) -> bool:
        """Do linear programs in turn look for points?"""
        return self.turns is not None

    def delay(self, tests: list[RegionTest], step: int = 0) -> None:
        """Tests that were never tried are first tried later: others where programs look for points, else the programs of single
        regions, if the search begins with them."""
        looks = self.alternates or self.whole
        if not self.is_convex:
            self.test.payoff.others = [test.payoff for test in tests if test.payoff is not None and test is not self.test]
        if not looks and not step:
            self.test.payoff.due = max(self.test.payoff.due, POLICY.first_step_if_curved)
        for test in tests if looks else ():
            payoff, later = test.payoff, POLICY.others_after_whole if self.whole else 0
            if payoff is None or test is self.test:
                continue
            if not payoff.tried or (self.whole and payoff.gained < POLICY.much_gained * payoff.tried):
                payoff.pays, payoff.due = False, max(payoff.due, step + max(later, test.schedule.after_programs))

    def before(self, branch: Any, search: Any, offer: Callable[[], None]) -> Iterator[None]:
        """A bound of the whole box, and a look for points from the solution, and from some places that are easily chosen."""
        if self.several or not len(branch.pool):
            return
        lo, hi = search.begin
        with stoppable():
            self.test.bounding.session()
            self.first = left = self.test.bounding.bound(*self.test.bounding.columns_of(lo, hi), np.inf, POLICY.rounds)
        self.test.bounding.keep_basis()
        if left.empty:
            branch.discard_all()
            return
        branch.floor = max(branch.floor, left.lower)
        if branch.steps and not branch.done and self._tells_more(left.lower, branch.pool.least(), branch.incumbent.upper):
            with stoppable():
                branch.begin_again(*(end[:, None] for end in search.better or search.begin))
        yield
        if self.whole:
            if branch.incumbent.upper == np.inf:
                yield from self.dive(branch, search, lo, hi)
        elif left.point is not None:
            ends = [lo, hi, lo / 2 + hi / 2] if self.alternates and np.isfinite([lo, hi]).all() else []
            yield from self._look(branch, search, offer, [left.point, *ends], quick=True)

    @staticmethod
    def _tells_more(program: float, least: float, upper: float) -> bool:
        """Than what was cut until now: has that closed little of the distance from the program's bound to the upper bound? Then
        far fewer regions do, which programs choose."""
        most = program if upper == np.inf else program + POLICY.worth_gap_closed * (upper - program)
        return program > -np.inf and least <= most

    def _look(self, branch: Any, search: Any, offer: Callable[[], None], solutions: list[np.ndarray],
              quick: bool = False) -> Iterator[None]:
        """Looks for points from solutions of linear programs: by linear programs again where that may do, else from some."""
        n, (lo, hi) = len(search.begin[0]), search.begin
        starts = np.stack([np.minimum(np.maximum(z[:n], lo), hi) for z in solutions], axis=1)
        self.alternate(branch, search, starts, quick)
        if self.alternates and branch.incumbent.upper < np.inf:
            return
        yield
        yield from search.from_points(starts[:, -1:] if quick else starts)  # of several the middle: of corners little is learnt
        offer()

    def dive(self, branch: Any, search: Any, lo: np.ndarray, hi: np.ndarray) -> Iterator[None]:
        """Looks for a point with whole numbers from the solution of the program of a box; others than whole numbers are then
        searched for."""
        with stoppable():
            upper, grid = branch.incumbent.upper, self.test.bounding.grid
            x = self.diver.point(lo, hi, upper if grid is None else grid.below(upper))
        yield
        if x is None:
            return
        yield from self._offer(branch, search, x[:, None])

    def guided(self, branch: Any, search: Any, lo: np.ndarray, hi: np.ndarray) -> Iterator[None]:
        """The same from integer programs of a box, where dives do not fix all that is not convex."""
        if self.is_convex or branch.done or not self.guide.applies:
            return
        with stoppable():
            upper, grid = branch.incumbent.upper, self.test.bounding.grid
            points = self.guide.points(lo, hi, upper if grid is None else grid.below(upper))
        yield
        if points:
            yield from self._offer(branch, search, np.stack(points, axis=1))

    def _offer(self, branch: Any, search: Any, points: np.ndarray) -> Iterator[None]:
        """Points (n, N) with whole numbers, as they are, or with other variables searched for."""
        before = branch.incumbent.upper
        branch.incumbent.offer(points)
        if not branch.incumbent.upper < before and len(self.diver.whole) < len(points):
            yield from in_stoppable_steps(search.with_whole_fixed(points))
            branch.incumbent.offer(np.stack(search.candidates(), axis=1))
        if branch.incumbent.upper < before:
            branch.prune()

    def alternate(self, branch: Any, search: Any, starts: np.ndarray, quick: bool = False) -> bool:
        """Where linear programs in turn lead to from these points (n, N), if they do: was that better than the best point?
        `quick`: the best of what they lead to is not improved."""
        if not self.alternates:
            return False
        enough, found = branch.floor + branch.goal.slack(branch.floor) / 2, []
        with stoppable():
            self.turns.session()
            for start in starts.T:
                new = self.turns.from_start(*search.begin, start)
                found += [] if new is None else [new]
                if new is not None and new.value <= enough:
                    break
            if found and not quick:
                found.append(self.turns.improved(*search.begin, min(found, key=lambda f: f.value), enough))
        better = bool(found) and branch.incumbent.offer(np.stack([f.x for f in found], axis=1))
        if better:
            branch.prune()
        return better

    def tighten(self, branch: Any, search: Any, compare_with: Callable[[tuple], None],
                offer: Callable[[], None]) -> Iterator[None]:
        """Bounds, and narrower variables with which branching begins anew; again where a better point is found on the way."""
        for _ in range(POLICY.most_tightenings):
            upper, seen = branch.incumbent.upper, []
            self._tighten(branch, search, compare_with, seen)
            if branch.done or not seen:
                return
            yield
            if self.whole:
                yield from self.dive(branch, search, *(search.begin if search.better is None else search.better))
                yield from self.guided(branch, search, *(search.begin if search.better is None else search.better))
            else:
                yield from self._look(branch, search, offer, seen[::-(-len(seen) // POLICY.starts_between_tightenings)])
            if not upper - branch.incumbent.upper > max(branch.goal.slack(upper), POLICY.least_gain * (upper - branch.floor)):
                return

    def again(self, lower: float, upper: float, branch: Any) -> bool:
        """Are variables tightened again? A much better point was found, early, than when these were the bounds."""
        return branch.steps <= POLICY.longest_period and upper - branch.incumbent.upper > POLICY.large_gain * (upper - lower)

    def _tighten(self, branch: Any, search: Any, compare_with: Callable[[tuple], None], seen: list[np.ndarray]) -> None:
        """Where f is not above the best point."""
        upper = branch.incumbent.upper
        if self.several or branch.done or upper == np.inf:
            return
        lo, hi = search.begin if search.better is None else search.better
        bounding = self.test.bounding
        with stoppable():
            bounding.session()
            left = bounding.bound(*bounding.columns_of(lo, hi), upper, POLICY.rounds)
            left = tightened(bounding, left, upper, lambda lower: branch.goal.met(lower, upper), seen)
        self._conclude(branch, search, compare_with, left, (lo, hi))

    def _conclude(self, branch: Any, search: Any, compare_with: Callable[[tuple], None], left: TightenedRegion,
                  box: tuple) -> None:
        n, upper = len(box[0]), branch.incumbent.upper
        if left.empty:  # only points above the best one, which cannot be: it is one of them
            return
        branch.floor = max(branch.floor, min(left.lower, upper))
        new = left.low[:n].copy(), left.high[:n].copy()
        with np.errstate(all="ignore"):
            part = np.where(box[1] > box[0], (new[1] - new[0]) / (box[1] - box[0]), 1.0)
        if not branch.done and part.mean() < POLICY.worth_width:
            search.better = new
            compare_with(new)
            if branch.steps:
                branch.clip(*new)
            else:
                branch.begin_again(*(end[:, None] for end in new))

    def warm_start(self, tests: list[RegionTest]) -> None:
        """Lagrangian bounds of all regions begin with the multipliers of the whole box, as long as no solution is known."""
        left = self.first
        if left is None or left.point is None or left.weights is None:
            return
        for test in tests:
            if test.uses_multipliers and test.given is None:
                weights = left.weights[:test.evaluator.system.m]
                test.learn(LocalSolution(left.point[:test.n], lambda logarithmic, w=weights: (w, 0.0, None, None)))

    def looks(self, steps: int) -> bool:
        """Are points searched for after this number of steps, which is small?"""
        if self.whole:
            return steps % (POLICY.first_period if steps <= POLICY.longest_period else POLICY.dive_period) == 0
        return self.test.payoff.pays and steps <= POLICY.longest_period and steps % POLICY.first_period == 0

    # ---- what is kept and told
    def restore(self, state: State) -> None:
        self.test.restore(state.arrays)
        before = state.values.get("lp", self.version)
        if before != self.version:
            self.notes.append(f"the checkpoint was written with {before}, and this is {self.version}: all bounds hold, but the "
                              "bits may differ from those of a run that was never interrupted")

    def report(self) -> dict[str, Any]:
        counts = self.test.bounding.counts
        return {"solver": self.version, "solved": counts.solved, "iterations": counts.iterations, "failed": counts.failed,
                "limited": counts.limited, "spared": counts.spared}
