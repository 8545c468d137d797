"""Bounds of regions by linear programs: solved by a library for multipliers alone, from which `safe_conclusions.py` concludes.

In each round the columns of the region are enclosed and its rows written; the program is solved; a bound of f follows, and what
is left of every column where f <= upper. Another round, with lines that touch curves where the solution was, follows if that
brought enough.

Proof: docs/proofs/linear_programs.md.
"""

from dataclasses import field
from typing import Any, NamedTuple

import numpy as np

from infimum.relax.relaxation import RegionProgram, Relaxation
from infimum.relax.safe_conclusions import LinearCost, contracted, lowest, usable, weighted
from infimum.relax.scaling import ScaledProgram, scaled
from infimum.relax.value_grid import ValueGrid
from infimum.search.policy.bounds import LINEAR_PROGRAMS as POLICY
from infimum.support.clock import stop_if_over
from infimum.support.lazy import dataclass

_SOLVED, _NO_POINT, _FAILED = "solved", "no point", "failed"


@dataclass
class SolverCounts:
    """What was done: programs, their iterations, those that failed, and those that were given up by their iterations."""

    solved: int = 0
    iterations: int = 0
    failed: int = 0
    limited: int = 0

    def state(self) -> np.ndarray:
        return np.array([self.solved, self.iterations, self.failed, self.limited], np.int64)

    def restore(self, state: np.ndarray) -> None:
        self.solved, self.iterations, self.failed, self.limited = map(int, state)


class TightenedRegion(NamedTuple):
    """What is left of a region: the columns between low and high, f not below `lower`. `empty`: nothing, of f <= upper. `point`:
    the columns at the solution, and `weights` of all rows, estimates; None where there are none."""

    low: np.ndarray
    high: np.ndarray
    lower: float
    empty: bool = False
    point: np.ndarray | None = None
    weights: np.ndarray | None = None
    region: RegionProgram | None = None


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
    program: ScaledProgram | None = None  # the last one that a region had, and its least cost, about
    cost: float = 0.0

    def session(self) -> None:
        """From here on nothing depends on what was solved before, but for the basis."""
        self.solver, self.warm = self.library.Highs(), self.basis

    def keep_basis(self) -> None:
        """Later sessions begin with the last basis."""
        self.basis = self.library.numbers(self.warm)

    def columns_of(self, lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ends of all columns, of which those of variables are known."""
        more = self.relaxation.columns - self.relaxation.n
        return np.concatenate([lo, np.full(more, -np.inf)]), np.concatenate([hi, np.full(more, np.inf)])

    def bound(self, low: np.ndarray, high: np.ndarray, upper: float, rounds: int) -> TightenedRegion:
        """What is left where all columns lie between low and high and f <= upper."""
        best, points = TightenedRegion(low, high, -np.inf), []
        for _ in range(rounds):
            stop_if_over()
            region = self.relaxation.at(best.low, best.high, upper, self.touches(best, points))
            if region is None:
                return best
            if (region.low > region.high).any():
                return best._replace(empty=True)
            found = self._once(region, upper)
            before, best = best, found._replace(lower=max(found.lower, best.lower))
            if best.empty or best.point is None or best.lower > upper or not self._again(before, best, upper):
                return best
            points.append(best.point[self.relaxation.arguments])
        return best

    def solution(self, lo: np.ndarray, hi: np.ndarray) -> np.ndarray | None:
        """All columns at the solution of the program of the box [lo, hi], if there is one. An estimate."""
        stop_if_over()
        known = TightenedRegion(*self.columns_of(lo, hi), -np.inf)
        region = self.relaxation.at(known.low, known.high, np.inf, self.touches(known, []))
        if region is None or (region.low > region.high).any():
            return None
        return self.multipliers(scaled(region, cutoff=self.relaxation.first_plane - 1))[1]

    def optimum(self, program: ScaledProgram) -> np.ndarray | None:
        """The solution of a program of another shape than those of regions, if there is one. An estimate."""
        kept, self.warm = self.warm, None
        found = self.multipliers(program)[1]
        self.warm = kept
        return found

    def touches(self, known: TightenedRegion, points: list[np.ndarray]) -> np.ndarray:
        """The middle of arguments, near both ends of them, and where solutions were."""
        if not len(self.relaxation.curves):
            return np.zeros((0, 1))
        low, high = known.low[self.relaxation.arguments], known.high[self.relaxation.arguments]
        if not (np.isfinite(low) & np.isfinite(high)).all():  # sums and products are enclosed first
            low, high = (end[self.relaxation.arguments] for end in self.relaxation.enclosed(known.low, known.high))
        with np.errstate(all="ignore"):
            parts = [np.nan_to_num(low + part * (high - low)) for part in (0.5, POLICY.tangent_inset, 1.0 - POLICY.tangent_inset)]
        return np.stack([*parts, *(np.minimum(np.maximum(p, low), high) for p in points)], axis=1)

    def _again(self, before: TightenedRegion, after: TightenedRegion, upper: float) -> bool:
        if upper < np.inf and after.lower - before.lower > POLICY.worth_progress * (upper - after.lower):
            return True
        n = self.relaxation.n
        return bool((after.high[:n] - after.low[:n] < POLICY.notable_shrinkage * (before.high[:n] - before.low[:n])).any())

    def _once(self, region: RegionProgram, upper: float) -> TightenedRegion:
        program = scaled(region, cutoff=self.relaxation.first_plane - 1)
        y, z = self.multipliers(program)
        if y is None:
            return TightenedRegion(region.low, region.high, -np.inf)
        if z is not None:
            with np.errstate(all="ignore"):
                self.program, self.cost = program, float((program.cost * np.nan_to_num((z - program.low) / program.width)).sum())
        return self.concluded(region, y, z, upper)

    def multipliers(self, program: ScaledProgram, primal: bool = False) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Of the rows, and the solution; (None, None) if it failed, no solution where none was found."""
        size = program.rows + program.columns
        if not primal:
            if not self.solver.load(program.cost, program.matrix, program.lower, program.upper):
                self.counts.failed += 1
                return None, None
            self.solver.start_from(self.warm, program.columns)
        else:
            self.solver.change_cost(program.cost)
        found = self.solver.solve(POLICY.least_iterations + POLICY.iterations_a_row * size, primal)
        self.counts.solved, self.counts.iterations = self.counts.solved + 1, self.counts.iterations + found.iterations
        if found.status == _FAILED or not _sound(found.multipliers, program.rows):
            self.counts.failed += 1
            self.session()
            return None, None
        if found.status not in (_SOLVED, _NO_POINT):
            self.counts.limited += 1
        elif not primal:
            self.warm = self.solver.basis()
        factor = 1.0 if found.status == _NO_POINT else program.unit
        point = found.point if found.status == _SOLVED and _sound(found.point, program.columns) else None
        with np.errstate(all="ignore"):
            return found.multipliers * program.scales * factor, None if point is None else program.unscaled(point)

    def rise(self, column: int, low: float, high: float) -> float:
        """By how much the least cost of the last region's program rises where a scaled column is between these; NaN where that is
        not known. An estimate."""
        cost, iterations = self.solver.cost_within(column, low, high, POLICY.probe_iterations)
        self.counts.iterations += iterations
        return max(0.0, (cost - self.cost) * self.program.unit)

    def concluded(self, region: RegionProgram, y: np.ndarray, z: np.ndarray | None, upper: float) -> TightenedRegion:
        """What these multipliers prove: of f, or, where there is no solution, without f."""
        rows, low, high = region.rows, region.low, region.high
        y = usable(rows, y)
        nothing = LinearCost(np.zeros(len(low)), np.zeros(len(low)), 0.0)
        if z is None:
            line = weighted(rows, y, nothing)
            if lowest(line, low, high) > 0:
                return TightenedRegion(low, high, -np.inf, empty=True)
            low, high = self._rounded(*contracted(line, 0.0, low, high))
            if (low > high).any():
                return TightenedRegion(low, high, -np.inf, empty=True)
        line = weighted(rows, y, region.cost)
        lower = lowest(line, low, high)
        if self.grid is not None:
            lower = self.grid.raised(lower)
        if lower > upper:
            return TightenedRegion(low, high, lower)
        low, high = self._rounded(*contracted(line, upper, low, high))
        return TightenedRegion(low, high, lower, bool((low > high).any()), z, y, region)

    def _rounded(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        whole = self.relaxation.whole
        if len(whole):
            low, high = low.copy(), high.copy()
            low[whole], high[whole] = np.ceil(low[whole]), np.floor(high[whole])
        return low, high


def _sound(numbers: Any, count: int) -> bool:
    """Are there as many as there should be, none of them NaN or infinite?"""
    return isinstance(numbers, np.ndarray) and numbers.shape == (count,) and bool(np.isfinite(numbers).all())
