"""Which variable of a region is cut next, by its linear program. Estimates: every choice leads to a proof.

**Whole numbers** that the solution has between two whole numbers come first: the one for which both halves would have the highest
bounds. How much a bound rises for each unit that a half is away from the solution is known of a variable after some probes, which
solve the program on both halves in few iterations; from then on the mean of what was seen counts (pseudocosts with reliability).
**Others**: the variable whose products and curves the solution has most wrong, weighed by multipliers, of which none counts less
than if the whole range of the product were worth the distance to the upper bound: multipliers are 0 where another solution of the
same cost has it right, which cutting has to rule out as well.
"""

import numpy as np

from infimum.kernel.region_cut import NO_AXIS
from infimum.relax.program_bounds import LinearProgramBounding, TightenedRegion
from infimum.search.policy.bounds import LINEAR_PROGRAMS as POLICY
from infimum.search.region_pool import can_be_cut

_TINY = 1e-300  # fixed: products of gains are compared where nothing rises


class ProgramBranching:
    """`gains`: of each variable, downwards and upwards, the sum of what bounds rose for each unit, and of how many programs.
    `units`, `column_units`: what sides of regions, and columns, are multiplied by before they are compared."""

    def __init__(self, bounding: LinearProgramBounding, variables: int):
        self.bounding, self.n = bounding, variables
        self.units, self.column_units = np.ones(variables), np.zeros(bounding.relaxation.columns)
        self.gains = np.zeros((2, 2, variables))

    def axis(self, left: TightenedRegion, now: float, upper: float) -> float:
        """The variable to cut next of what is left of a region; `now`: where nothing is wrong or it is not known."""
        n = self.n
        cut = can_be_cut(left.low[:n], left.high[:n])
        if not cut.any():
            return NO_AXIS
        if left.point is not None and left.weights is not None and len(self.bounding.relaxation.whole):
            chosen = self._whole(left, cut, upper)
            if chosen is not None:
                return float(chosen)
        scores = np.where(cut, self.scores(left, upper), -1.0)
        best = int(np.argmax(scores))
        if scores[best] > 0 or not 0 <= now or not cut[int(now)]:
            return float(best)
        return now

    # ---- whole numbers
    def _whole(self, left: TightenedRegion, cut: np.ndarray, upper: float) -> int | None:
        """The one of those that are not whole at the solution; None if there are none."""
        z, whole = left.point[:self.n], self.bounding.relaxation.whole
        broken = np.array([j for j in whole if cut[j] and abs(z[j] - np.rint(z[j])) > POLICY.whole_tolerance], np.intp)
        if not len(broken):
            return None
        middle = np.floor(left.low[broken] / 2 + left.high[broken] / 2)
        away = np.maximum(0.0, np.stack([z[broken] - middle, middle + 1.0 - z[broken]]))
        rises, counts = self._expected(broken, away), self.gains[1][:, broken]
        unreliable = (counts < POLICY.reliable_probes) & (away > 0)
        order = np.argsort(-_score(rises), kind="stable")
        for k in order[unreliable.any(axis=0)[order]][:POLICY.most_probed_variables]:
            j = int(broken[k])
            rises[:, k] = self._probed(left, j, middle[k], away[:, k], rises[:, k])
            if (rises[:, k] == np.inf).any() or (rises[:, k] > upper - left.lower).all():
                return j
        return int(broken[np.argmax(_score(rises))])

    def _expected(self, which: np.ndarray, away: np.ndarray) -> np.ndarray:
        """What bounds of both halves are expected to rise by: of a variable that was never probed as for the mean of all."""
        total, count = self.gains
        mean = total.sum() / count.sum() if count.any() else 1.0
        known = np.where(count > 0, total / np.maximum(count, 1.0), mean)
        return known[:, which] * away

    def _probed(self, left: TightenedRegion, j: int, middle: float, away: np.ndarray, expected: np.ndarray) -> np.ndarray:
        """What the program says of both halves; infinite where nothing is left."""
        bounding, found = self.bounding, expected.copy()
        low, width = left.program.low[j], left.program.width[j]
        sides = ((0.0, (middle - low) / width), ((middle + 1.0 - low) / width, 1.0))
        for side, (least, most) in enumerate(sides):
            if not (away[side] > 0 and 0.0 <= least <= most <= 1.0):
                continue
            rise = bounding.rise(left, j, least, most)
            if np.isnan(rise):
                continue
            found[side] = rise
            if rise < np.inf:
                self.gains[:, side, j] += rise / away[side], 1.0
        return found

    # ---- others
    def scores(self, left: TightenedRegion, upper: float) -> np.ndarray:
        """Of each variable: by how much its products and curves are wrong, times their multipliers, times its width."""
        r, n = self.bounding.relaxation, self.n
        if left.point is None or left.weights is None:
            return np.zeros(n)
        z, y = left.point, np.abs(left.weights)
        planes, curves = np.split(y[r.first_plane:], [4 * len(r.products)])
        lifted = np.concatenate([r.products, r.curves])
        weight = np.concatenate([planes.reshape(-1, 4).sum(axis=1),
                                 curves.reshape(-1, len(r.curves)).sum(axis=0) if len(r.curves) else np.zeros(0)])
        with np.errstate(all="ignore"):
            exact = np.concatenate([z[r.factors[:, 0]] * z[r.factors[:, 1]], self._curves_at(z)])
            distance = upper - left.lower if upper < np.inf else abs(left.lower)
            wrong = np.abs(exact - z[lifted]) * (weight + np.nan_to_num(distance * self.column_units[lifted], posinf=0.0))
            wrong = np.where(np.isfinite(wrong), wrong, 0.0)
            return np.where(r.lift.reads[lifted], wrong[:, None], 0.0).sum(axis=0) * (left.high - left.low)[:n] * self.units

    def _curves_at(self, z: np.ndarray) -> np.ndarray:
        """About what curves are at these arguments: the program of the columns that are a point."""
        r = self.bounding.relaxation
        if not len(r.curves):
            return np.zeros(0)
        low, high = np.full(r.columns, -np.inf), np.full(r.columns, np.inf)
        low[:self.n] = high[:self.n] = z[:self.n]
        low[r.arguments] = high[r.arguments] = z[r.arguments]
        found = r.enclosed(low, high)
        return found[1][r.curves]



def _score(rises: np.ndarray) -> np.ndarray:
    """Large where both halves rise."""
    least = POLICY.least_rise * float(np.where(np.isfinite(rises), rises, 0.0).max(initial=0.0)) + _TINY
    return np.maximum(rises[0], least) * np.maximum(rises[1], least)
