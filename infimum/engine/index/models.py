"""Models of a function from values near a point: what neighbours say of a trial, and where a quadratic has its least value."""

import math
from dataclasses import dataclass

import numpy as np

_ROUNDS = 30     # of coordinate steps in a box
_OUTER = 15      # of steps with other forces of constraints


def predicted(points: np.ndarray, values: np.ndarray, at: np.ndarray) -> float:
    """The value at a point by the trials near it: linear, with squares of single variables where there are enough of them."""
    away = points - at
    scale = np.abs(away).max() or 1.0
    away = away / scale
    columns = [np.ones(len(away)), *away.T]
    if len(away) >= 2 * away.shape[1] + 2:
        columns += list((away**2).T)
    weights = 1 / (0.1 + np.sum(away**2, axis=1))
    design = np.stack(columns, axis=1) * weights[:, None]
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

    def at(self, step: np.ndarray) -> float:
        """The value a step away."""
        return float(self.value + (self.gradient + 0.5 * self.hessian @ step) @ step)

    def slope(self, step: np.ndarray) -> np.ndarray:
        """The gradient a step away."""
        return self.gradient + self.hessian @ step

    def scaled(self, inside: float) -> "Restraint":
        """In units of distance, and only where it holds with a distance to spare."""
        scale = float(np.linalg.norm(self.gradient)) or 1.0
        return Restraint(self.value / scale + inside, self.gradient / scale, self.hessian / scale)


def least_restrained(gradient: np.ndarray, hessian: np.ndarray, restraints: list[Restraint], lo: np.ndarray, hi: np.ndarray,
                     inside: float) -> np.ndarray:
    """A step to a low value of a quadratic in a box where restraints hold with a distance to spare: augmented Lagrangian."""
    scaled = [r.scaled(inside) for r in restraints]
    size = float(np.max(hi - lo))
    stiff = 10 * float(np.linalg.norm(gradient)) / size + float(np.abs(hessian).max()) + 1e-300
    x, forces = np.zeros(len(gradient)), np.zeros(len(scaled))
    best, least = x, math.inf
    for _ in range(_OUTER):
        values, slopes = np.array([r.at(x) for r in scaled]), np.array([r.slope(x) for r in scaled])
        push = np.maximum(forces + stiff * values, 0.0)
        bend = hessian + (slopes.T * (stiff * (push > 0))) @ slopes + sum(p * r.hessian for p, r in zip(push, scaled, strict=True))
        new = np.clip(x + _newton(gradient + hessian @ x + push @ slopes, bend, lo - x, hi - x), lo, hi)
        values = np.array([r.at(new) for r in scaled])
        forces = np.maximum(forces + stiff * values, 0.0)
        merit = float((gradient + 0.5 * hessian @ new) @ new) + stiff * size * float(np.maximum(values, 0.0).sum())
        if merit < least:
            best, least = new, merit
        moved, x = float(np.abs(new - x).max()), new
        if moved <= 1e-3 * size:
            break
    return best


def _newton(gradient: np.ndarray, hessian: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """Newton's step in a box, with curvatures made positive; where it meets a side it goes on along that."""
    x, free = np.zeros(len(gradient)), np.ones(len(gradient), dtype=bool)
    for _ in range(len(gradient)):
        slope = gradient + hessian @ x
        free &= ~((x <= lo) & (slope > 0) | (x >= hi) & (slope < 0))
        if not free.any():
            break
        bends, axes = np.linalg.eigh(hessian[np.ix_(free, free)])
        bends = np.maximum(np.abs(bends), 1e-9 * np.abs(bends).max() + 1e-300)
        step = np.zeros(len(x))
        step[free] = -axes @ ((axes.T @ slope[free]) / bends)
        room = np.where(step > 0, hi - x, lo - x)
        shares = np.divide(room, step, out=np.full(len(x), math.inf), where=step != 0)
        first = int(np.argmin(shares))
        if shares[first] >= 1:
            return x + step
        x = x + max(shares[first], 0.0) * step
        x[first], free[first] = room[first] + x[first] - max(shares[first], 0.0) * step[first], False
    return x
