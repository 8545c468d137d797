"""FeasibleIncumbent: the best point known that certainly obeys all constraints, with a verified upper bound of the infimum."""

import numpy as np

from infimum.engine.points.equations import Proved, WhyNot, prove
from infimum.engine.points.incumbent import Incumbent
from infimum.engine.points.inside import Moved, moved_inside
from infimum.evaluate import Evaluator
from infimum.start_boxes import StartBoxes

_NEAR = 4     # points that do not quite obey the constraints, the lowest ones, that are moved inside
_ROUNDED = 2.0**-10, 2.0**-20, 2.0**-30  # nice numbers nearby are tried too: what holds only just may hold there exactly
_LASTING = {True: {WhyNot.CROWDED, WhyNot.DEPENDENT, WhyNot.ROUGH, WhyNot.WIDE},  # where variables stay at their bounds,
            False: {WhyNot.ROUGH, WhyNot.CROWDED}}                                # and where they leave them
_LITTLE = 2.0**-40  # of its size that f must be lower by, before a proof is tried


class FeasibleIncumbent(Incumbent):
    """`box` certainly holds a point within the bounds that obeys every constraint of the evaluator's system, and `upper` is at
    least the value of f there. Without equations, or where they hold exactly, the box is the point x; otherwise x is its middle,
    and the equations have exactly one solution in the box, with the variables in which it has no width as they are.

    `why_not` tells of the last points that were offered why the best of them could not be taken, None if one was.
    """

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, start: StartBoxes | None = None):
        super().__init__(evaluator, lo, hi, start)
        self.system, self.integers = evaluator.system, list(evaluator.system.integers)
        self.box: tuple[np.ndarray, np.ndarray] | None = None
        self.why_not: WhyNot | None = None

    def offer(self, points: np.ndarray) -> bool:
        """Moves the points (n, N) within the bounds and to whole numbers, judges them there, and those that almost obey the
        constraints where they are moved inside; True if one of them is proved and better than what was known."""
        before = self.upper
        points = self._admitted(points)
        if not points.shape[1]:
            return False
        left = self._judge(points)
        close = self._promising(np.compress(left, points, axis=1))
        if close.shape[1]:
            self._move(close)
        better = self.upper < before
        self.why_not = None if better else self.why_not
        return better

    def _admitted(self, points: np.ndarray) -> np.ndarray:
        points = np.compress(np.isfinite(points).all(axis=0), points, axis=1)
        points = np.minimum(np.maximum(points, self.lo[:, None]), self.hi[:, None])
        points[self.integers] = np.rint(points[self.integers])
        inside = ((points >= self.lo[:, None]) & (points <= self.hi[:, None])).all(axis=0)
        if self.start is not None:
            inside &= self.start.holds(points)
        return np.compress(inside, points, axis=1)

    def _judge(self, points: np.ndarray) -> np.ndarray:
        """Takes the best of the points that certainly obey all constraints; tells which do not."""
        rows = self.evaluator.rows(points, points)
        lower, upper = self.system.lower[:, None], self.system.upper[:, None]
        holds = (rows.defined & ~rows.empty).all(axis=0) & ((rows.lo[1:] >= lower) & (rows.hi[1:] <= upper)).all(axis=0)
        values = np.where(holds, rows.hi[0], np.inf)
        k = int(np.argmin(values))
        if values[k] < self.upper:
            self._accept(Proved(points[:, k].copy(), points[:, k].copy(), float(values[k])))
        return ~holds

    def _promising(self, points: np.ndarray) -> np.ndarray:
        """Those where f is lowest, and lower than what is known."""
        if not points.shape[1]:
            return points
        values = self.evaluator.estimate_jacobian(points)[0][0]
        wanted = values < (self.upper - _LITTLE * abs(self.upper) if self.upper < np.inf else np.inf)
        order = np.argsort(np.where(wanted, values, np.inf), kind="stable")[:np.count_nonzero(wanted)]
        return np.take(points, order[:_NEAR], axis=1)

    def _move(self, points: np.ndarray) -> None:
        self._judge(self._admitted(np.concatenate([np.rint(points / digit) * digit for digit in _ROUNDED], axis=1)))
        points = self._promising(points)
        if not points.shape[1]:
            return
        moved = moved_inside(self.evaluator, (self.lo, self.hi), points)
        self.why_not = WhyNot.TIGHT if moved.x.shape[1] else WhyNot.FAR
        if self.system.equal.any():
            self._solve(moved)
        elif moved.x.shape[1]:
            self._judge(self._admitted(moved.x))

    def _solve(self, moved: Moved) -> None:
        """Proves that the equations have a solution near the first of the points for which that can be done. What fails for
        reasons that a little more distance to the inequalities does not change is not tried again."""
        failed: set[tuple[int, bool]] = set()
        for x, kind in zip(moved.x.T, zip(moved.source.tolist(), moved.held.tolist(), strict=True), strict=True):
            if kind not in failed and self._admitted(x[:, None]).shape[1]:
                found = prove(self.evaluator, self._bounds_around(x), x)
                if not isinstance(found, WhyNot):
                    return self._accept(found) if found.upper < self.upper else None
                self.why_not = found
                failed |= {kind} if found in _LASTING[kind[1]] else set()

    def _bounds_around(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return (self.lo, self.hi) if self.start is None else self.start.box(int(self.start.around(x)[0]))

    def _accept(self, found: Proved) -> None:
        lo, hi = found.lo, found.hi
        middle = np.minimum(np.maximum(lo + (hi - lo) / 2, lo), hi)
        self.x, self.upper, self.box = middle, found.upper, (lo, hi)

    def take(self, x: np.ndarray, upper: float) -> None:
        """Whoever found the point knows nothing of constraints: it is judged as any other."""
        self.offer(x[:, None])

    def sharpen(self, slack: float) -> None:
        """To the last bit only where x itself is feasible, and not just near."""
        if self.box is not None and np.array_equal(*self.box):
            super().sharpen(slack)

    def arrays(self) -> dict[str, np.ndarray]:
        box = {} if self.box is None else {"incumbent.box": np.stack(self.box)}
        return super().arrays() | box

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        super().restore(arrays)
        self.box = tuple(arrays["incumbent.box"].copy()) if "incumbent.box" in arrays else None
