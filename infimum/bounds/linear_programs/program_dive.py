"""Points with whole numbers, by linear programs: of a region the variables that are nearest to whole numbers at the solution are
fixed there, constraints are propagated, and the program is solved again, until all are whole. These are estimates: whoever takes
such a point proves what it is.
"""

import numpy as np

from infimum.bounds.propagation import propagate
from infimum.relax.program_bounds import LinearProgramBounding
from infimum.search.policy.bounds import LINEAR_PROGRAMS as POLICY
from infimum.support.clock import stop_if_over

Box = tuple[np.ndarray, np.ndarray]


class ProgramDive:
    """Of one problem."""

    def __init__(self, bounding: LinearProgramBounding):
        self.bounding, self.relaxation = bounding, bounding.relaxation
        self.n, self.whole = self.relaxation.n, self.relaxation.whole

    def point(self, lo: np.ndarray, hi: np.ndarray, upper: float) -> np.ndarray | None:
        """A point of the box [lo, hi] at which whole variables are whole, and what is linear then about holds; None if none was
        found with f below `upper`, neither by rounding to the nearest whole number nor by rounding upwards."""
        for upwards in (0.0, POLICY.dive_upwards):
            found = self._dive(lo, hi, upper, upwards)
            if found is not None:
                return found
        return None

    def _dive(self, lo: np.ndarray, hi: np.ndarray, upper: float, upwards: float) -> np.ndarray | None:
        """`upwards` is added before rounding."""
        self.bounding.session()
        box, before, tried = (lo, hi), None, None
        for _ in range(POLICY.dive_programs):
            stop_if_over()
            left = self.bounding.bound(*self.bounding.columns_of(*box), upper, 1)
            if left.empty or left.lower > upper or left.point is None:
                box = None if before is None else self._opposite(before, tried, upper)
                if box is None:
                    return None
                before = None
                continue
            z = np.minimum(np.maximum(left.point[:self.n], box[0]), box[1])
            free = self.whole[box[0][self.whole] < box[1][self.whole]]
            if not len(free):
                return z
            before = box
            tried, box = self._fixed(box, np.minimum(np.where(_is_whole(z), z, z + upwards), box[1]), free, upper)
            if box is None:
                box, before = self._opposite(before, tried, upper), None
                if box is None:
                    return None
        return None

    def _fixed(self, box: Box, z: np.ndarray, free: np.ndarray, upper: float) -> tuple[tuple[int, float], Box | None]:
        """What is left with some of the variables fixed: all if they are whole, else those that are nearly, or else the nearest.
        With the last one alone, and where it is fixed, in case that nothing is left."""
        away = np.abs(z[free] - np.rint(z[free]))
        broken = free[away > POLICY.whole_tolerance]
        if not len(broken):
            chosen = free
        else:
            away = np.abs(z[broken] - np.rint(z[broken]))
            order = broken[np.argsort(away, kind="stable")]
            near = int((away <= POLICY.dive_certain).sum())
            chosen = order[:max(1, min(near, int(np.ceil(POLICY.dive_share * len(broken)))))]
        first = int(chosen[0]), float(np.rint(z[chosen[0]]))
        left = self._with(box, chosen, np.rint(z[chosen]), upper)
        if left is None and len(chosen) > 1:
            left = self._with(box, chosen[:1], np.rint(z[chosen[:1]]), upper)
        return first, left

    def _with(self, box: Box, which: np.ndarray, values: np.ndarray, upper: float) -> Box | None:
        lo, hi = box[0].copy(), box[1].copy()
        lo[which] = hi[which] = np.minimum(np.maximum(values, lo[which]), hi[which])
        return propagate(self.relaxation.evaluator, lo, hi, upper)

    def _opposite(self, box: Box, tried: tuple[int, float], upper: float) -> Box | None:
        """What is left without the value that was tried: on the side of it that is larger."""
        (lo, hi), (j, value) = (box[0].copy(), box[1].copy()), tried
        if hi[j] - value >= value - lo[j]:
            lo[j] = value + 1.0
        else:
            hi[j] = value - 1.0
        return propagate(self.relaxation.evaluator, lo, hi, upper) if lo[j] <= hi[j] else None


def _is_whole(z: np.ndarray) -> np.ndarray:
    return np.abs(z - np.rint(z)) <= POLICY.whole_tolerance
