"""Second derivatives with sequential arguments: each column is one of the Hessian on its own part of the box, and no more."""

import numpy as np
import pytest

from infimum.backend.python import PythonBackend
from infimum.evaluation.compile import compile
from infimum.evaluation.programs import SEQUENTIAL
from tests.kernel.test_hessian import FUNCTIONS

SMALL = ("decay", "waves", "product", "guarded", "powers", "quotients", "many")


def matrix(f, lo: np.ndarray, hi: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    n, count = lo.shape
    return tuple(a.reshape(n, n, count) for a in f.run(SEQUENTIAL, [lo, hi, c]))


@pytest.mark.parametrize("name", SMALL)
def test_columns_hold_the_hessians_of_their_part(name):
    """The Hessian at points of B_j, which Arb has checked, lies in column j as far as both can be told apart."""
    fun, n = FUNCTIONS[name]
    f, rng = compile(fun, n), np.random.default_rng(n)
    lo = rng.uniform(0.3, 1.2, (n, 6))
    hi = lo + rng.choice([0.0, 1e-6, 0.1, 0.4], (n, 6))
    c = lo + (hi - lo) * rng.uniform(0, 1, (n, 6))
    c = np.minimum(np.maximum(c, lo), hi)
    low, high = matrix(f, lo, hi, c)
    whole = f.hessian(lo, hi)
    for j in range(0, n, max(1, n // 4)):
        for _ in range(4):
            x = np.where(np.arange(n)[:, None] <= j, lo + (hi - lo) * rng.uniform(0, 1, (n, 6)), c)
            x = np.minimum(np.maximum(x, lo), hi)
            here = f.hessian(x, x)
            sound = whole.value.smooth
            assert ((here.hi[:, j] >= low[:, j]) & (here.lo[:, j] <= high[:, j]))[:, sound].all()


@pytest.mark.parametrize("name", SMALL[:-1])
def test_differences_of_the_gradient_are_sums_of_the_columns(name):
    """g(x) - g(c) lies in the matrix times x - c, for the points c and x of the box that are corners as well."""
    fun, n = FUNCTIONS[name]
    f, rng = compile(fun, n), np.random.default_rng(n)
    lo = rng.uniform(0.3, 1.2, (n, 40))
    hi = lo + rng.choice([1e-6, 0.1, 0.4], (n, 40))
    pick = [np.where(rng.random((n, 40)) < 0.5, lo, hi) for _ in range(2)]
    (c, x), sound = pick, f.hessian(lo, hi).value.smooth
    low, high = matrix(f, lo, hi, c)
    at_c, at_x = f.gradient(c, c), f.gradient(x, x)
    ends = np.stack([low * (x - c), high * (x - c)])
    room = 1e-9 * (1 + np.abs(ends).max(axis=(0, 2)))
    assert (at_x.hi - at_c.lo >= ends.min(axis=0).sum(axis=1) - room)[:, sound].all()
    assert (at_x.lo - at_c.hi <= ends.max(axis=0).sum(axis=1) + room)[:, sound].all()


def test_it_is_narrower_than_the_hessian_and_proves_no_convexity():
    """f = x² y² has the second derivative 2 y² by x; at y = 1, in the middle, it is 2, on the box it may be 0."""
    f = compile(lambda x: x[0] ** 2 * x[1] ** 2, 2)
    lo, hi = np.array([[-1.0], [0.0]]), np.array([[1.0], [2.0]])
    low, high = matrix(f, lo, hi, np.array([[0.0], [1.0]]))
    assert (low[0, 0, 0], high[0, 0, 0]) == (2.0, 2.0) and f.hessian(lo, hi).lo[0, 0, 0] == 0.0
    assert low[1, 1, 0] == f.hessian(lo, hi).lo[1, 1, 0] == 0.0  # the last column is that of the Hessian


def test_the_same_bits_as_the_definition():
    for name in ("decay", "product"):
        fun, n = FUNCTIONS[name]
        lo = np.random.default_rng(0).uniform(0.1, 1.0, (n, 3))
        inputs = [lo, lo + 0.25, lo + 0.125]
        one, other = (compile(fun, n, backend=backend).run(SEQUENTIAL, inputs) for backend in (None, PythonBackend()))
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
