"""Gaussian processes and kernel models: what is traced is what NumPy computes, status at data, proofs against a grid."""

import numpy as np
import pytest
from scipy.special import ndtr

import infimum

RNG = np.random.default_rng(11)
X = RNG.uniform(-1, 1, (15, 2))
Y = np.sin(3 * X[:, 0]) + X[:, 1] ** 2
KERNELS = {
    "rbf": lambda d2: np.exp(-0.5 * d2),
    "matern 1/2": lambda d2: np.exp(-np.sqrt(d2)),
    "matern 3/2": lambda d2: (1 + np.sqrt(3 * d2)) * np.exp(-np.sqrt(3 * d2)),
    "matern 5/2": lambda d2: (1 + np.sqrt(5 * d2) + 5 * d2 / 3) * np.exp(-np.sqrt(5 * d2)),
    "rational quadratic": lambda d2: (1 + d2 / 3) ** -1.5,
}


def model(kernel, acquisition):
    K = kernel(np.sum((X[:, None] - X) ** 2, axis=-1) / 0.16) + 1e-3 * np.eye(len(X))
    alpha, root = np.linalg.solve(K, Y), np.linalg.inv(np.linalg.cholesky(K))

    def f(x):
        k = kernel(np.sum(((x - X) / 0.4) ** 2, axis=1))
        mean = k @ alpha
        if acquisition == "mean":
            return mean
        deviation = np.sqrt(np.maximum(1 - np.sum((root @ k) ** 2), 1e-3))
        if acquisition == "lower confidence bound":
            return mean - 2 * deviation
        z = (Y.min() - mean) / deviation
        return -((Y.min() - mean) * ndtr(z) + deviation * np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi))
    return f


@pytest.mark.parametrize("acquisition", ["mean", "lower confidence bound", "expected improvement"])
@pytest.mark.parametrize("name", KERNELS)
def test_a_model_is_traced_as_numpy_computes_it(name, acquisition):
    f = model(KERNELS[name], acquisition)
    traced = infimum.compile(f, n=2)
    points = np.concatenate([np.random.default_rng(2).uniform(-1, 1, (40, 2)), X])
    expected = np.array([f(p) for p in points])
    np.testing.assert_allclose(traced.estimate(points.T), expected, rtol=1e-9, atol=1e-9)
    found = traced.value(points.T - 0.01, points.T + 0.01)
    assert found.lipschitz.all() and (found.lo <= expected + 1e-9).all() and (expected - 1e-9 <= found.hi).all()


@pytest.mark.parametrize("name, acquisition", [("rbf", "mean"), ("matern 5/2", "lower confidence bound")])
def test_the_inner_step_of_surrogate_optimisation_is_proved(name, acquisition):
    f = model(KERNELS[name], acquisition)
    r = infimum.minimize(f, [(-1, 1)] * 2, atol=1e-2)
    grid = min(f(np.array([a, c])) for a in np.linspace(-1, 1, 41) for c in np.linspace(-1, 1, 41))
    assert r.verdict.name == "PROVED" and r.lower <= grid and r.upper <= grid + 0.02
