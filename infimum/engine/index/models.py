"""Models of a function from values near a point: what neighbours say of a trial, and where a quadratic has its least value."""

from dataclasses import dataclass
from functools import cache

import numpy as np

_ROUNDS = 30     # of coordinate steps in a box
_CLOUDS, _POINTS, _CLOSER = 18, 128, 0.72   # in which a step under constraints is sought
_MULTIPLIED, _WEIGHT = 12, 4.0   # rounds of the method of multipliers; of squares, in units of slopes and bends
_PENALTY = 3.0   # of leaving a constraint, in units of the steepest slope


def predicted(points: np.ndarray, values: np.ndarray, at: np.ndarray) -> float:
    """The value at a point by the trials near it: linear, with squares of single variables where there are enough of them."""
    away = points - at
    scale = np.abs(away).max() or 1.0
    away = away / scale
    (count, n), squares = away.shape, away**2
    weights = 1 / (0.1 + np.sum(squares, axis=1))
    design = np.ones((count, 2 * n + 1 if count >= 2 * n + 2 else n + 1))
    design[:, 1:n + 1], design[:, n + 1:] = away, squares if count >= 2 * n + 2 else 0.0
    design *= weights[:, None]
    return float(np.linalg.lstsq(design, values * weights, rcond=1e-9)[0][0])


def quadratic(points: np.ndarray, values: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gradient at a point and Hessian of the quadratic through the values whose Hessian is least, in the Frobenius norm."""
    away = points - at
    scale = np.abs(away).max() or 1.0
    away = away / scale
    count, n = away.shape
    system = np.zeros((count + n + 1, count + n + 1))
    system[:count, :count] = 0.5 * (away @ away.T) ** 2 + 1e-9 * np.eye(count)
    system[:count, count] = system[count, :count] = 1.0
    system[:count, count + 1:] = away
    system[count + 1:, :count] = away.T
    low = values.min()
    solution = np.linalg.lstsq(system, np.concatenate([values - low, np.zeros(n + 1)]), rcond=1e-12)[0]
    return solution[count + 1:] / scale, (away.T * solution[:count]) @ away / scale**2


def least_in_box(gradient: np.ndarray, hessian: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """Steps of single variables from 0 to a low value of a quadratic in a box."""
    x = np.zeros(len(gradient))
    slope = gradient.copy()
    for _ in range(_ROUNDS):
        moved = 0.0
        for i in range(len(x)):
            bend = hessian[i, i]
            if bend > 0:
                new = min(max(x[i] - slope[i] / bend, lo[i]), hi[i])
            else:
                ends = [(slope[i] + 0.5 * bend * (e - x[i])) * (e - x[i]) for e in (lo[i], hi[i])]
                new = lo[i] if ends[0] < ends[1] else hi[i]
                if min(ends) >= 0:
                    continue
            if new != x[i]:
                slope += hessian[:, i] * (new - x[i])
                moved, x[i] = max(moved, abs(new - x[i])), new
        if moved <= 1e-3 * float(np.max(hi - lo)):
            break
    return x


@dataclass(frozen=True, slots=True)
class Restraint:
    """The quadratic model of a constraint around a point where it holds."""

    value: float
    gradient: np.ndarray
    hessian: np.ndarray

    def at(self, steps: np.ndarray) -> np.ndarray:
        """The values at steps away, one a row."""
        return self.value + _rise(self.gradient[None], self.hessian[None], steps)[0]

    def scaled(self, inside: float) -> "Restraint":
        """In units of distance, and only where it holds with a distance to spare."""
        scale = float(np.linalg.norm(self.gradient)) or 1.0
        return Restraint(self.value / scale + inside, self.gradient / scale, self.hessian / scale)


def least_restrained(gradient: np.ndarray, hessian: np.ndarray, restraints: list[Restraint], lo: np.ndarray, hi: np.ndarray,
                     inside: float) -> np.ndarray:
    """A step from 0 to a low value of a quadratic in a box where restraints hold with a distance to spare, if they do somewhere:
    by multipliers, or, where that is better, the best of clouds of points, each smaller than the one before and around its
    best."""
    scaled = [r.scaled(inside) for r in restraints]
    values = np.array([r.value for r in scaled])[:, None]
    gradients, hessians = np.stack([gradient, *(r.gradient for r in scaled)]), np.stack([hessian, *(r.hessian for r in scaled)])
    cloud, size = _cloud(len(gradient)) * (hi - lo), 1.0
    steep = float(np.linalg.norm(gradient)) + float(np.abs(hessian).sum()) * float(np.max(hi - lo))

    def merits_of(steps: np.ndarray) -> np.ndarray:
        rises = _rise(gradients, hessians, steps)
        return rises[0] + _PENALTY * steep * np.maximum(values + rises[1:], 0.0).sum(axis=0)
    best = _by_multipliers(gradient, hessian, scaled, lo, hi)
    least = float(merits_of(best[None])[0])
    for _ in range(_CLOUDS):
        steps = np.minimum(np.maximum(best + size * cloud, lo), hi)
        merits = merits_of(steps)
        first = int(np.argmin(merits))
        if merits[first] < least:
            best, least = steps[first], float(merits[first])
        size *= _CLOSER
    return best


def _by_multipliers(gradient: np.ndarray, hessian: np.ndarray, restraints: list[Restraint], lo: np.ndarray, hi: np.ndarray
                    ) -> np.ndarray:
    """The step by the method of multipliers: squares of what restraints, whose slopes have length 1, are violated by are added,
    and shifted by the multipliers that are learned."""
    step, multipliers = np.zeros(len(gradient)), np.zeros(len(restraints))
    weight = _WEIGHT * (float(np.linalg.norm(gradient)) / float(np.max(hi - lo)) + float(np.abs(hessian).max()))
    for _ in range(_MULTIPLIED):
        slope, bend = gradient + hessian @ step, hessian.copy()
        for r, multiplier in zip(restraints, multipliers, strict=True):
            force = multiplier + weight * float(r.at(step[None])[0])
            if force > 0:
                direction = r.gradient + r.hessian @ step
                slope = slope + force * direction
                bend += force * r.hessian + weight * np.outer(direction, direction)
        step = step + _newton_in_box(slope, bend, lo - step, hi - step)
        violated = np.array([float(r.at(step[None])[0]) for r in restraints])
        multipliers = np.maximum(multipliers + weight * violated, 0.0)
    return np.clip(step, lo, hi)


def _newton_in_box(slope: np.ndarray, bend: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """The step to the least value of a quadratic, of which directions that bend down are turned up, in a box: variables that
    leave it stay on its faces."""
    sizes, ways = np.linalg.eigh(bend)
    sizes = np.maximum(np.abs(sizes), 1e-9 * float(np.abs(sizes).max()) or 1.0)
    bend, step, free = (ways * sizes) @ ways.T, np.zeros(len(slope)), np.ones(len(slope), dtype=bool)
    while free.any():
        step[free] = np.linalg.solve(bend[np.ix_(free, free)], -(slope + bend[:, ~free] @ step[~free])[free])
        inside = np.clip(step, lo, hi)
        left = free & (inside != step)
        step = inside
        if not left.any():
            break
        free &= ~left
    return step


def _rise(gradients: np.ndarray, hessians: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Of several quadratics, a row each, at several steps."""
    return (steps @ gradients[:, :, None])[:, :, 0] + 0.5 * np.einsum("kij,ij->ki", steps @ hessians, steps)


@cache
def _cloud(n: int) -> np.ndarray:
    """Points around 0, the same each time, and 0."""
    spread = np.random.Generator(np.random.PCG64(n)).uniform(-1, 1, (_POINTS, n))
    return np.vstack([spread, np.zeros(n)])
