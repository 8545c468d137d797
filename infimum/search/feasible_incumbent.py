"""FeasibleIncumbent: the best point known that certainly obeys all constraints, with a verified upper bound of the infimum.

Proof: docs/proofs/feasible_points.md.
"""

from typing import TYPE_CHECKING

import numpy as np

from infimum.certify import equation_solutions
from infimum.certify.equation_solutions import FailureReason, ProvedFeasible, is_large
from infimum.evaluation.evaluator import Enclosure, Evaluator
from infimum.points.interior_shift import ShiftedPoints, shift_inside
from infimum.problem.start_boxes import StartBoxes
from infimum.problem.variable_bounds import OuterBox
from infimum.search.incumbent import Incumbent
from infimum.search.policy.search import INCUMBENTS as POLICY
from infimum.support.clock import stop_if_over
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.certify import active_constraints, sparse_equation_solutions
else:
    active_constraints = LazyModule("certify.active_constraints")
    sparse_equation_solutions = LazyModule("certify.sparse_equation_solutions")

# where variables stay at their bounds,
_LASTING = {True: {FailureReason.OVERDETERMINED, FailureReason.DEPENDENT, FailureReason.ROUGH, FailureReason.WIDE},
            False: {FailureReason.ROUGH, FailureReason.OVERDETERMINED}}                                # and where they leave them


class FeasibleIncumbent(Incumbent):
    """`box` certainly holds a point within the bounds that obeys every constraint of the evaluator's system, and `upper` is at
    least the value of f there. Without equations, or where they hold exactly, the box is the point x; otherwise x is its middle,
    and the equations have exactly one solution in the box, with the variables in which it has no width as they are.

    `why_not` tells of the last points that were offered why the best of them could not be taken, None if one was.
    """

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, start: StartBoxes | None = None,
                 outer: OuterBox | None = None):
        super().__init__(evaluator, lo, hi, start, outer)
        self.system, self.integers = evaluator.system, list(evaluator.system.integers)
        self.is_large = is_large(self.system, len(lo))
        self.box: tuple[np.ndarray, np.ndarray] | None = None
        self.why_not: FailureReason | None = None
        self.misses = 0  # times since the last point was accepted that active constraints were solved in vain, or might have been

    def offer(self, points: np.ndarray) -> bool:
        """Moves the points (n, N) within the bounds and to whole numbers, judges them there, and those that almost obey the
        constraints where they are moved inside; True if one of them is proved and better than what was known."""
        before = self.upper
        points = self._admitted(points)
        if points.shape[1]:
            close = self._promising(points, self._judge(points))
            if close.shape[1]:
                self._move(close)
        self.why_not = None if self.upper < before else self.why_not
        return self.upper < before

    def _admitted(self, points: np.ndarray) -> np.ndarray:
        points = np.compress(np.isfinite(points).all(axis=0), points, axis=1)
        points = np.minimum(np.maximum(points, self.lo[:, None]), self.hi[:, None])
        points[self.integers] = np.rint(points[self.integers])
        return self.inside(points)

    def _judge(self, points: np.ndarray) -> Enclosure:
        """Takes the best of the points that certainly obey all constraints."""
        rows, lower, upper = self.evaluator.rows(points, points), self.system.lower[:, None], self.system.upper[:, None]
        holds = (rows.defined & ~rows.empty).all(axis=0) & ((rows.lo[1:] >= lower) & (rows.hi[1:] <= upper)).all(axis=0)
        values = np.where(holds, rows.hi[0], np.inf)
        k = int(np.argmin(values)) if len(values) else 0
        if len(values) and values[k] < self.upper:
            self._accept(ProvedFeasible(points[:, k].copy(), points[:, k].copy(), float(values[k])))
        return rows

    def offer_as_they_are(self, points: np.ndarray) -> None:
        """Judges points (n, N) and moves none: at a jump of a constraint, where no step leads, one may be feasible."""
        admitted = self._admitted(points)
        if admitted.shape[1]:
            self._judge(admitted)

    def _promising(self, points: np.ndarray, rows: Enclosure) -> np.ndarray:
        """Some where f is lower than what is known: those that almost obey the constraints before others, the lowest first."""
        wanted = rows.lo[0] < (self.upper - POLICY.least_gain * abs(self.upper) if self.upper < np.inf else np.inf)
        with np.errstate(all="ignore"):
            broken = np.maximum(self._violations(rows.lo[1:], rows.hi[1:]), 0.0)
            largest = broken.max(axis=1, initial=0.0, where=np.isfinite(broken))
            broken = (broken / np.where(largest > 0, largest, 1.0)[:, None]).max(axis=0, initial=0.0)
        order = np.lexsort((rows.lo[0], np.where(wanted, broken, np.inf)))[:min(POLICY.most_candidates, np.count_nonzero(wanted))]
        points = np.take(points, order, axis=1)
        if self.is_large or not points.shape[1]:
            return points[:, :POLICY.most_shifted_points]
        values, jacobian = self.evaluator.estimate_jacobian(points)
        with np.errstate(all="ignore"):
            steep = np.abs(jacobian[1:] * np.maximum(1.0, np.abs(points))).max(axis=1)
            broken = self._violations(values[1:], values[1:])
            near, almost = (~(broken > part * steep).any(axis=0) for part in (POLICY.farthest_move, POLICY.near_move))
        self.why_not = self.why_not if near.any() else FailureReason.FAR
        order = np.lexsort((values[0], ~almost, ~near))
        return np.take(points, order[:min(POLICY.most_shifted_points, np.count_nonzero(near))], axis=1)

    def _violations(self, above: np.ndarray, below: np.ndarray) -> np.ndarray:
        """By how much values (m, N) are above the upper ends of constraints, or others below the lower ones, about."""
        return np.maximum(above - self.system.upper[:, None], self.system.lower[:, None] - below)

    def _move(self, points: np.ndarray) -> None:
        before = self.upper
        self._judge(self._admitted(np.concatenate([np.rint(points / digit) * digit for digit in POLICY.rounded_parts], axis=1)))
        if self.upper < before:
            points = self._promising(points, self.evaluator.rows(points, points))
            if not points.shape[1]:
                return
        if self.is_large:
            return self._solve(ShiftedPoints(points, np.arange(points.shape[1]), np.ones(points.shape[1], bool)))
        alone = [points] if self.start is None else [x[:, None] for x in points.T]
        for some in alone:
            moved = shift_inside(self.evaluator, self._bounds_around(some[:, 0]), some)
            self.why_not = FailureReason.TIGHT if moved.x.shape[1] else FailureReason.FAR
            if self.system.equal.any():
                self._solve(moved)
            else:
                self._judge(self._admitted(moved.x))
        if not self.upper < before:
            self._solve_active(points)

    def _solve_active(self, points: np.ndarray) -> None:
        """Proves that a point with equality in the constraints that are about active is feasible, near the first of the points
        for which that can be done; after some failures in a row more and more seldom."""
        self.misses += 1
        if self.misses > POLICY.misses_in_a_row and self.misses & (self.misses - 1):
            return
        for x in points.T:
            stop_if_over()
            found = active_constraints.prove_feasible_active(self.evaluator, self._bounds_around(x), x)
            if not isinstance(found, FailureReason):
                if found.upper < self.upper:
                    self._accept(found)
                    return
            elif self.why_not is FailureReason.FAR:
                self.why_not = found

    def _solve(self, moved: ShiftedPoints) -> None:
        """Proves that the equations have a solution near the first of the points for which that can be done. What fails for
        reasons that a little more distance to the inequalities does not change is not tried again."""
        failed: set[tuple[int, bool]] = set()
        prove = sparse_equation_solutions.prove_feasible_sparse if self.is_large else equation_solutions.prove_feasible
        for x, kind in zip(moved.x.T, zip(moved.source.tolist(), moved.held.tolist(), strict=True), strict=True):
            stop_if_over()
            if kind not in failed and (x := self._admitted(x[:, None])).shape[1]:
                found = prove(self.evaluator, self._bounds_around(x[:, 0]), x[:, 0])
                if not isinstance(found, FailureReason):
                    return self._accept(found) if found.upper < self.upper else None
                self.why_not = found
                failed |= {kind} if found in _LASTING[kind[1]] else set()

    def _bounds_around(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return (self.lo, self.hi) if self.start is None else self.start.box(int(self.start.containing(x)[0]))

    def _accept(self, found: ProvedFeasible) -> None:
        lo, hi = found.lo, found.hi
        middle = np.minimum(np.maximum(lo + (hi - lo) / 2, lo), hi)
        self.x, self.upper, self.box, self.misses = middle, found.upper, (lo, hi), 0

    def enclosed(self, lo: np.ndarray, hi: np.ndarray) -> Enclosure:
        """By the kernel of all rows, which is needed anyway."""
        rows = self.evaluator.rows(lo, hi)
        return Enclosure(rows.lo[0], rows.hi[0], rows.level[0])

    def take(self, x: np.ndarray, upper: float) -> None:
        """Whoever found the point knows nothing of constraints: it is judged as any other."""
        self.offer(x[:, None])

    def sharpen(self, slack: float) -> None:
        """To the last bit only where x itself is feasible, and not just near."""
        if self.box is not None and np.array_equal(*self.box):
            super().sharpen(slack)

    def arrays(self) -> dict[str, np.ndarray]:
        box = {} if self.box is None else {"incumbent.box": np.stack(self.box)}
        return super().arrays() | box | ({"incumbent.misses": np.array([float(self.misses)])} if self.misses else {})

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        super().restore(arrays)
        self.box = tuple(arrays["incumbent.box"].copy()) if "incumbent.box" in arrays else None
        self.misses = int(arrays["incumbent.misses"][0]) if "incumbent.misses" in arrays else 0

