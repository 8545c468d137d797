"""Points moved to where all constraints hold with a little to spare: Newton's method of least steps, many lanes at once.
Estimates, which a proof is then tried with."""

from typing import NamedTuple

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.linear_algebra.lane_algebra import gram, total
from infimum.search.policy.points import INTERIOR_SHIFT as POLICY
from infimum.support.clock import stop_if_over


class ShiftedPoints(NamedTuple):
    """Points (n, N), the number of the point that each comes from, and where variables at their bounds have stayed there."""

    x: np.ndarray
    source: np.ndarray
    held: np.ndarray


def shift_inside(evaluator: Evaluator, bounds: tuple[np.ndarray, np.ndarray], points: np.ndarray) -> ShiftedPoints:
    """For each of the points (n, N) some nearby, those with the lowest values first. Variables at a bound stay there in one half
    of them, and are moved inside too in the other half; of each point one of either half comes in turn, as what fails for one
    may do for the other."""
    system, (lo, hi) = evaluator.system, (end[:, None] for end in bounds)
    n = len(lo)
    values, jacobian = evaluator.estimate_jacobian(points)
    rows, c, lower, upper = evaluator.rows(points, points), values[1:], system.lower[:, None], system.upper[:, None]
    with np.errstate(all="ignore"):
        terms = np.abs(jacobian[1:] * points)
        size = np.maximum(total(np.where(np.isfinite(terms), terms, 0.0).swapaxes(0, 1)), np.abs(c))
        errors = POLICY.error_factor * (rows.hi - rows.lo)[1:]
        near = np.minimum(c - lower, upper - c) <= POLICY.near_active * size + errors
        near = near | (lower == upper) | _violated(c, lower, upper)
    used = np.flatnonzero(near.any(axis=1))
    most = POLICY.most_operations // max(1, len(used) ** 2 * max(n, len(used)))
    spares = np.array(POLICY.margins if most >= 2 * len(POLICY.margins) else POLICY.few_margins)
    points = points[:, :max(1, most // (2 * len(spares)))]
    source = np.repeat(np.arange(points.shape[1]), 2 * len(spares))
    spare, held = np.tile(np.repeat(spares, 2), points.shape[1]), np.tile([True, False], len(spares) * points.shape[1])
    margins = _Margins(held, spare, size[:, source] * spare + errors[:, source])
    lanes = _Lanes(evaluator, used, points[:, source], (lo, hi), margins)
    for _ in range(POLICY.steps):
        stop_if_over()
        lanes.step()
    value = lanes.values_where_obeyed(POLICY.equation_tolerance * size[:, source])
    value[(np.abs(lanes.x - points[:, source]) > POLICY.farthest_move * lanes.unit).any(axis=0)] = np.inf
    order = np.argsort(value, kind="stable")[:np.count_nonzero(value < np.inf)]
    new = np.ones(len(order), bool)
    new[1:] = (lanes.x[:, order[1:]] != lanes.x[:, order[:-1]]).any(axis=0)
    order = _interleaved(order[new], source, held)
    return ShiftedPoints(lanes.x[:, order], source[order], held[order])


def _interleaved(order: np.ndarray, source: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Lanes, lowest first, arranged so that those of one source stay together, and one that is held and one that is not take
    turns."""
    place, first, turn = np.arange(len(order)), np.zeros(len(order), np.intp), np.zeros(len(order), np.intp)
    for s in np.flatnonzero(np.bincount(source[order])):  # `np.unique` would import numpy.ma, which takes longer than all this
        mine = source[order] == s
        first[mine] = np.argmax(mine)
        for half in (mine & held[order], mine & ~held[order]):
            turn[half] = np.arange(np.count_nonzero(half))
    return order[np.lexsort((place, turn, first))]


def _violated(values: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    return ~((values >= lower) & (values <= upper))


class _Margins(NamedTuple):
    """What lanes keep away from: are variables `held` at bounds (N); else `spare` (N), their distance from bounds in units of the
    variables; and the distance from the ends of constraints (m, N)."""

    held: np.ndarray
    spare: np.ndarray
    constraints: np.ndarray


class _Lanes:
    """Lanes on their way inside; the ends of constraints, and where bounds are left too those of the variables, lie within by
    what each lane spares."""

    def __init__(self, evaluator: Evaluator, used: np.ndarray, x: np.ndarray, bounds: tuple[np.ndarray, np.ndarray],
                 margins: _Margins):
        self.evaluator, self.used = evaluator, used
        (lo, hi), (held, spare, margin) = bounds, margins
        system = evaluator.system
        fixed = lo == hi
        fixed[list(system.integers)] = True
        with np.errstate(all="ignore"):
            width = hi - lo
            self.unit = np.minimum(np.maximum(np.abs(x), 1.0), np.where(width > 0, width, 1.0))
            snapped = np.where(x - lo <= POLICY.at_bound * self.unit, lo, np.where(hi - x <= POLICY.at_bound * self.unit, hi, x))
            inward = np.minimum(spare * self.unit, width / 4)
            within = np.minimum(np.maximum(x, lo + inward), hi - inward)
            self.x = np.where(fixed, x, np.where(held, snapped, within))
            self.lo, self.hi = (np.where(held | fixed, end, end + sign * inward) for end, sign in ((lo, 1), (hi, -1)))
            self.stays = fixed | (held & ((self.x == lo) | (self.x == hi)))
            lower, upper = (end[used, None] for end in (system.lower, system.upper))
            middle = lower / 2 + upper / 2
            both, margin = (lower > -np.inf) & (upper < np.inf), margin[used]
            self.lower = np.minimum(lower + margin, np.where(both, middle, np.inf))
            self.upper = np.maximum(upper - margin, np.where(both, middle, -np.inf))

    def values_where_obeyed(self, nearly: np.ndarray) -> np.ndarray:
        """f where all inequalities hold, and equations nearly; infinite elsewhere. """
        values, system = self.evaluator.estimate_jacobian(self.x)[0], self.evaluator.system
        with np.errstate(all="ignore"):
            wide = np.where(system.equal[:, None], nearly, 0.0)
            holds = ~_violated(values[1:], system.lower[:, None] - wide, system.upper[:, None] + wide).any(axis=0)
        return np.where(holds & np.isfinite(values[0]), values[0], np.inf)

    def step(self) -> None:
        """One step of Newton's method: the least one, in units of the variables, with which everything that is broken holds."""
        values, jacobian = self.evaluator.estimate_jacobian(self.x)
        c = values[1 + self.used]
        with np.errstate(all="ignore"):
            wanted = np.where(c > self.upper, self.upper - c, np.where(c < self.lower, self.lower - c, 0.0))
            jacobian = np.where(self.stays, 0.0, jacobian[1 + self.used] * self.unit)
            known = np.isfinite(wanted).all(axis=0) & np.isfinite(jacobian).all(axis=(0, 1))
            jacobian = np.where(known & ((wanted != 0) | (self.lower == self.upper))[:, None], jacobian, 0.0)
            stays, step = self.stays, np.zeros_like(self.x)
            for _ in range(POLICY.passes):
                step = self._least(np.where(stays, 0.0, jacobian), np.where(known, wanted, 0.0))
                x = self.x + self.unit * step
                leaves = ~stays & (((x < self.lo) & (self.x <= self.lo)) | ((x > self.hi) & (self.x >= self.hi)))
                if not leaves.any():
                    break
                stays = stays | leaves
            x = np.where(stays, self.x, np.minimum(np.maximum(self.x + self.unit * step, self.lo), self.hi))
        self.x = np.where(np.isfinite(x).all(axis=0), x, self.x)

    def _least(self, jacobian: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        steep = np.abs(jacobian).max(axis=1, initial=0.0)
        scale = np.where(steep > 0, steep, 1.0)
        jacobian, wanted = jacobian / scale[:, None], wanted / scale
        matrix, each = gram(jacobian.swapaxes(0, 1), np.ones(jacobian.shape[1:])), np.arange(len(wanted))
        matrix[each, each] += np.where(steep > 0, POLICY.regularisation, 1.0)
        weights, good, _ = self.evaluator.host_arrays.solve_symmetric(matrix, wanted, len(wanted))
        return np.where(good, total(jacobian * weights[:, None]), 0.0)
