"""Bounds of regions by linear programs: solved by a library for multipliers alone, from which `safe_conclusions.py` concludes.

Everything but the solver itself works on all regions of a step at once. In each round the columns of regions are enclosed and
their rows written. First multipliers that are known (of the region that one was cut from) bound f, and may spare the program.
Then it is solved; a bound of f follows, and what is left of every column where f <= upper. Another round, with lines that touch
curves where the solution was, follows if that brought enough.

Proof: docs/proofs/linear_programs.md.
"""

from dataclasses import field
from typing import Any, NamedTuple

import numpy as np

from infimum.relax.relaxation import RegionPrograms, Relaxation
from infimum.relax.safe_conclusions import LinearCost, contracted, lowest, usable, weighted
from infimum.relax.scaling import ScaledProgram, scaled
from infimum.relax.value_grid import ValueGrid
from infimum.search.policy.bounds import LINEAR_PROGRAMS as POLICY
from infimum.support.clock import stop_if_over
from infimum.support.lazy import dataclass

_SOLVED, _NO_POINT, _ABOVE, _FAILED = "solved", "no point", "above", "failed"
Box = tuple[np.ndarray, np.ndarray]


@dataclass
class SolverCounts:
    """What was done: programs, their iterations, those that failed, those that were given up by their iterations, and those that
    multipliers spared that were known."""

    solved: int = 0
    iterations: int = 0
    failed: int = 0
    limited: int = 0
    spared: int = 0

    def state(self) -> np.ndarray:
        return np.array([self.solved, self.iterations, self.failed, self.limited, self.spared], np.int64)

    def restore(self, state: np.ndarray) -> None:
        self.solved, self.iterations, self.failed, self.limited, self.spared = (*map(int, state), 0)[:5]  # earlier ones had four


class ProgramStart(NamedTuple):
    """What the program of a region leaves to those within it. `points` (arguments of curves, places): where curves are touched
    beside fixed places; `turn`: how many such points there were. `weights` of all rows, estimates, if there are any."""

    basis: Any = None
    weights: np.ndarray | None = None
    points: np.ndarray | None = None
    turn: int = 0

    def touching(self, point: np.ndarray) -> "ProgramStart":
        """With lines that touch curves at this point too, in the place of the oldest ones."""
        points = np.repeat(point[:, None], POLICY.touched_solutions, axis=1) if self.points is None else self.points.copy()
        points[:, self.turn % POLICY.touched_solutions] = point
        return self._replace(points=points, turn=self.turn + 1)


class TightenedRegion(NamedTuple):
    """What is left of a region: the columns between low and high, f not below `lower`. `empty`: nothing, of f <= upper. `point`:
    the columns at the solution, and `weights` of all rows, estimates; None where there are none. `start`: for regions within it;
    `program`: what was solved last, and its least cost, about."""

    low: np.ndarray
    high: np.ndarray
    lower: float
    empty: bool = False
    point: np.ndarray | None = None
    weights: np.ndarray | None = None
    start: ProgramStart = ProgramStart()
    program: ScaledProgram | None = None
    cost: float = 0.0


@dataclass
class LinearProgramBounding:
    """Asks a solver, which is made anew for each `session`, so that nothing depends on what was before; `basis` is where it
    begins."""

    relaxation: Relaxation
    library: Any
    basis: np.ndarray | None = None
    counts: SolverCounts = field(default_factory=SolverCounts)
    grid: ValueGrid | None = None  # of the values that f can have
    solver: Any = None
    warm: Any = None
    loaded: ScaledProgram | None = None  # what the solver has now
    last_basis: Any = None               # of the last program, and its least cost, about
    last_cost: float = 0.0

    def session(self) -> None:
        """From here on nothing depends on what was solved before, but for the basis."""
        self.solver, self.warm, self.loaded = self.library.Highs(), self.basis, None

    def keep_basis(self) -> None:
        """Later sessions begin with the last basis."""
        self.basis = self.library.numbers(self.warm)

    def columns_of(self, lo: np.ndarray, hi: np.ndarray) -> Box:
        """Ends of all columns, the last axis, of which those of variables are known."""
        more = (*lo.shape[:-1], self.relaxation.columns - self.relaxation.n)
        return np.concatenate([lo, np.full(more, -np.inf)], axis=-1), np.concatenate([hi, np.full(more, np.inf)], axis=-1)

    def bound(self, low: np.ndarray, high: np.ndarray, upper: float, rounds: int) -> TightenedRegion:
        """What is left where all columns lie between low and high and f <= upper, from the last basis on."""
        left, = self.bound_each([TightenedRegion(low, high, -np.inf, start=ProgramStart(self.warm))], upper, rounds)
        if left.start.basis is not None:
            self.warm = left.start.basis
        return left

    def bound_each(self, regions: list[TightenedRegion], upper: float, rounds: int) -> list[TightenedRegion]:
        """The same of several regions, each from where it starts."""
        best, open_ = list(regions), list(range(len(regions)))
        for turn in range(rounds):
            going_on: list[int] = []
            most = max(1, POLICY.entries_together // max(1, self.relaxation.entries))
            for begin in range(0, len(open_), most):
                some = open_[begin:begin + most]
                for k, found in zip(some, self._round([best[k] for k in some], upper, turn == 0), strict=True):
                    before, best[k] = best[k], found._replace(lower=max(found.lower, best[k].lower))
                    ended = found.empty or found.point is None or found.lower > upper
                    if not ended and turn + 1 < rounds and self._again(before, best[k], upper):
                        going_on.append(k)
                        best[k] = best[k]._replace(start=best[k].start.touching(found.point[self.relaxation.arguments]))
            open_ = going_on
        return best

    def solution(self, lo: np.ndarray, hi: np.ndarray) -> np.ndarray | None:
        """All columns at the solution of the program of the box [lo, hi], if there is one. An estimate."""
        stop_if_over()
        program = self.program_of(TightenedRegion(*self.columns_of(lo, hi), -np.inf), np.inf)
        return None if program is None else self.multipliers(program[1])[1]

    def program_of(self, region: TightenedRegion, upper: float,
                   cutoff: bool = False) -> tuple[RegionPrograms, ScaledProgram] | None:
        """The program of a single region, with f <= upper if that is asked for; None if there is none, or nothing is left."""
        regions = self._rows([region], upper)
        if not regions.known[0] or (regions.low > regions.high).any():
            return None
        return regions.at(0), next(scaled(regions, None if cutoff else self.relaxation.first_plane - 1))

    def optimum(self, program: ScaledProgram) -> np.ndarray | None:
        """The solution of a program of another shape than those of regions, if there is one. An estimate."""
        kept, self.warm = self.warm, None
        found = self.multipliers(program)[1]
        self.warm = kept
        return found

    def _rows(self, regions: list[TightenedRegion], upper: float) -> RegionPrograms:
        low, high = np.stack([region.low for region in regions]), np.stack([region.high for region in regions])
        return self.relaxation.at(low, high, upper, self.touches(low, high, [region.start.points for region in regions]))

    def touches(self, low: np.ndarray, high: np.ndarray, points: list[np.ndarray | None]) -> np.ndarray:
        """Of regions, the middle axis: the middle of arguments, near both ends of them, and the points that are given."""
        arguments = self.relaxation.arguments
        if not len(arguments):
            return np.zeros((0, len(low), 1))
        low, high = (end[:, arguments] for end in self.relaxation.enclosed(low, high))
        with np.errstate(all="ignore"):
            parts = [np.nan_to_num(low + part * (high - low)) for part in (0.5, POLICY.tangent_inset, 1.0 - POLICY.tangent_inset)]
        if any(p is not None for p in points):
            for turn in range(POLICY.touched_solutions):
                given = np.stack([parts[0][k] if p is None else p[:, turn] for k, p in enumerate(points)])
                parts.append(np.minimum(np.maximum(given, low), high))
        return np.ascontiguousarray(np.stack(parts, axis=2).transpose(1, 0, 2))

    def _again(self, before: TightenedRegion, after: TightenedRegion, upper: float) -> bool:
        if upper < np.inf and after.lower - before.lower > POLICY.worth_progress * (upper - after.lower):
            return True
        n = self.relaxation.n
        return bool((after.high[:n] - after.low[:n] < POLICY.notable_shrinkage * (before.high[:n] - before.low[:n])).any())

    def _round(self, before: list[TightenedRegion], upper: float, first: bool) -> list[TightenedRegion]:
        """One program for each region, but for those of which known multipliers say enough."""
        found = list(before)
        programs = self._rows(before, upper)
        gone = (programs.low > programs.high).any(axis=1)
        for k in np.flatnonzero(gone & programs.known):
            found[k] = found[k]._replace(empty=True)
        open_ = np.flatnonzero(~gone & programs.known)
        if first and any(before[k].start.weights is not None for k in open_):
            programs, open_ = self._by_known_weights(programs, open_, found, upper)
        if not len(open_):
            return found
        solved, asked = [], programs.at(open_)
        for k, program in zip(open_, scaled(asked, self.relaxation.first_plane - 1), strict=True):
            stop_if_over()
            y, z = self.multipliers(program, start=found[k].start.basis, enough=upper)
            start = found[k].start if y is None or z is None else found[k].start._replace(basis=self.last_basis)
            found[k] = found[k]._replace(low=programs.low[k], high=programs.high[k], start=start, program=program,
                                         cost=self.last_cost, point=z, weights=y)
            if y is not None:
                solved.append(k)
        groups = [[k for k in solved if (found[k].point is None) == rays] for rays in (False, True)]
        for some, rays in zip(groups, (False, True), strict=True):
            if some:  # multipliers without a solution may show that there is no point
                self._conclude(programs.at(np.array(some)), np.array(some), found, upper, rays)
        return found

    def _by_known_weights(self, programs: RegionPrograms, open_: np.ndarray, found: list[TightenedRegion],
                          upper: float) -> tuple[RegionPrograms, np.ndarray]:
        """What multipliers of other regions say of these without a program; the programs of what is left, and of which."""
        rows, some = programs.rows.lower.shape[1], []
        for k in open_:
            weights = found[k].start.weights
            if weights is not None and len(weights) <= rows:
                some.append(k)
                found[k] = found[k]._replace(weights=np.append(weights, np.zeros(rows - len(weights))))
        if not some:
            return programs, open_
        before = [found[k] for k in some]
        self._conclude(programs.at(np.array(some)), np.array(some), found, upper, False)
        low, high = programs.low.copy(), programs.high.copy()
        for k, old in zip(some, before, strict=True):
            new = found[k]
            found[k] = new._replace(lower=max(old.lower, new.lower), weights=None)
            low[k], high[k] = new.low, new.high
        self.counts.spared += (spared := sum(found[k].empty or found[k].lower > upper for k in some))
        left = [k for k in open_ if not (found[k].empty or found[k].lower > upper)] if spared else open_
        return programs._replace(low=low, high=high), np.array(left, np.intp)

    def multipliers(self, program: ScaledProgram, primal: bool = False, start: Any = None,
                    enough: float = np.inf) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Of the rows, and the solution; (None, None) if it failed, no solution where none was found. From the last basis on, if
        there is no other `start`; until f is known to be above what is `enough`."""
        size = program.rows + program.columns
        if not primal:
            if not self._loads(program, self.warm if start is None else start):
                self.counts.failed += 1
                return None, None
        else:
            self.loaded = None
            self.solver.change_cost(program.cost)
        enough = (enough - program.offset) / program.unit
        enough = enough + POLICY.beyond_enough * max(1.0, abs(enough)) if enough < np.inf else np.inf
        found = self.solver.solve(POLICY.least_iterations + POLICY.iterations_a_row * size, primal, enough)
        self.counts.solved, self.counts.iterations = self.counts.solved + 1, self.counts.iterations + found.iterations
        self.last_cost = found.cost
        if found.status == _FAILED or not _sound(found.multipliers, program.rows):
            self.counts.failed += 1
            self.session()
            return None, None
        if found.status not in (_SOLVED, _NO_POINT, _ABOVE):
            self.counts.limited += 1
        elif not primal:
            self.warm = self.last_basis = self.solver.basis()
        factor = 1.0 if found.status == _NO_POINT else program.unit
        point = found.point if found.status == _SOLVED and _sound(found.point, program.columns) else None
        with np.errstate(all="ignore"):
            return found.multipliers * program.scales * factor, None if point is None else program.unscaled(point)

    def _loads(self, program: ScaledProgram, basis: Any) -> bool:
        """Has the solver this program now, and this basis?"""
        loaded = self.solver.load(program.cost, program.matrix, program.lower, program.upper)
        if loaded:
            self.solver.start_from(basis, program.columns)
        self.loaded = program if loaded else None
        return loaded

    def rise(self, left: TightenedRegion, column: int, low: float, high: float) -> float:
        """By how much the least cost of a region's program rises where a scaled column is between these; NaN where that is not
        known. An estimate."""
        if self.loaded is not left.program and not self._loads(left.program, left.start.basis):
            return np.nan
        cost, iterations = self.solver.cost_within(column, low, high, POLICY.probe_iterations)
        self.counts.iterations += iterations
        return max(0.0, (cost - left.cost) * left.program.unit)

    def concluded(self, region: RegionPrograms, y: np.ndarray, z: np.ndarray | None, upper: float) -> TightenedRegion:
        """What these multipliers prove of a single region."""
        one = region._replace(low=region.low[None], high=region.high[None], rows=region.rows._replace(
            **{name: getattr(region.rows, name)[None] for name in ("low", "high", "lower", "upper")}))
        found = [TightenedRegion(region.low, region.high, -np.inf, weights=y, point=z)]
        self._conclude(one, np.zeros(1, np.intp), found, upper, z is None)
        return found[0]

    def _conclude(self, regions: RegionPrograms, which: np.ndarray, found: list[TightenedRegion], upper: float,
                  rays: bool) -> None:
        """What the multipliers in `found` prove of the regions `which`: of f, or, if they may be rays, at first without f."""
        rows, low, high = regions.rows, regions.low, regions.high
        y = usable(rows, np.stack([found[k].weights for k in which]))
        empty = np.zeros(len(which), bool)
        if rays:
            none = np.zeros(low.shape[1])
            line = weighted(rows, y, LinearCost(none, none, 0.0))
            empty = lowest(line, low, high) > 0
            low, high = self._rounded(*contracted(line, 0.0, low, high))
            empty |= (low > high).any(axis=1)
        line = weighted(rows, y, regions.cost)
        lower = lowest(line, low, high)
        if self.grid is not None:
            lower = np.array([self.grid.raised(float(number)) for number in lower])
        lower[empty] = -np.inf
        new_low, new_high = self._rounded(*contracted(line, upper, low, high))
        left = ~(empty | (lower > upper))
        for i, k in enumerate(which):
            if left[i]:
                gone = bool((new_low[i] > new_high[i]).any())
                found[k] = found[k]._replace(low=new_low[i], high=new_high[i], lower=float(lower[i]), empty=gone, weights=y[i],
                                             start=found[k].start._replace(weights=y[i]))
            else:
                found[k] = found[k]._replace(lower=float(lower[i]), empty=bool(empty[i]), point=None, weights=None)

    def _rounded(self, low: np.ndarray, high: np.ndarray) -> Box:
        whole = self.relaxation.whole
        if len(whole):
            low, high = low.copy(), high.copy()
            low[..., whole], high[..., whole] = np.ceil(low[..., whole]), np.floor(high[..., whole])
        return low, high


def _sound(numbers: Any, count: int) -> bool:
    """Are there as many as there should be, none of them NaN or infinite?"""
    return isinstance(numbers, np.ndarray) and numbers.shape == (count,) and bool(np.isfinite(numbers).all())
