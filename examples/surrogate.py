"""Bayesian optimisation whose every step is a proved global optimum.

A costly experiment is known at a few points. A Gaussian process through them predicts a mean and a deviation everywhere, and
the next experiment is made where mean - 2 deviations, the lower confidence bound, is least. That function has many local minima;
usually the best of some starts is taken. Here its global minimum is proved, so that the loop may end with a statement: nowhere
does the model expect less than this.
"""

import numpy as np

import infimum

BOUNDS = [(-1.5, 1.5), (-1.5, 1.5)]
LENGTH, NOISE, SIZE = 0.8, 1e-3, 2.0
STEPS = 4


def experiment(x: np.ndarray) -> float:
    """Stands for what takes a day."""
    return float(np.sin(3 * x[0]) * np.cos(2 * x[1]) + 0.3 * x[0] ** 2 + 0.2 * x[1])


def kernel(d2):
    """Matérn's kernel with parameter 5/2, of squared distances."""
    r = np.sqrt(5 * d2)
    return (1 + r + r**2 / 3) * np.exp(-r)


def confidence_bound(points: np.ndarray, values: np.ndarray):
    """The lower confidence bound as a function of x."""
    scaled, middle = points / LENGTH, values.mean()
    K = kernel(np.sum((scaled[:, None] - scaled) ** 2, axis=-1)) + NOISE * np.eye(len(points))
    weights, root = np.linalg.solve(K, values - middle), np.linalg.inv(np.linalg.cholesky(K))

    def bound(x):
        k = kernel(np.sum((x / LENGTH - scaled) ** 2, axis=1))
        variance = 1 - np.sum((root @ k) ** 2)
        return middle + k @ weights - SIZE * np.sqrt(np.maximum(variance, NOISE))
    return bound


def solve() -> list[infimum.Result]:
    """Each step's result; its `x` is the next experiment."""
    points = np.array([[-1.2, -1.0], [-1.1, 1.2], [0.0, 0.1], [1.2, -1.1], [1.0, 1.1], [-0.3, -1.3]])
    values, found = np.array([experiment(p) for p in points]), []
    for _ in range(STEPS):
        found.append(infimum.minimize(confidence_bound(points, values), BOUNDS, atol=1e-2))
        points = np.vstack([points, found[-1].x])
        values = np.append(values, experiment(found[-1].x))
    return found


def main() -> None:
    for r in solve():
        print(f"{r.verdict.name}: nowhere does the model expect less than {r.lower:.4f}; next experiment at {np.round(r.x, 3)}, "
              f"with the result {experiment(r.x):.4f}")


if __name__ == "__main__":
    main()
