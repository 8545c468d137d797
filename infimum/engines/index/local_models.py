"""Models of a function from values near a point: what neighbours say of a trial, and where a quadratic has its least value."""

import numpy as np

from infimum.search.policy.index import MODEL_DESCENT as POLICY


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
    for _ in range(POLICY.coordinate_rounds):
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
