"""Interval matrices: products hold the exact ones, and nothing that may be singular is called positive definite."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from infimum.linear_algebra.interval_matrices import matrix_product, minus, plus, times
from infimum.linear_algebra.krawczyk import krawczyk
from infimum.linear_algebra.lane_algebra import inverse, inverse_factor
from infimum.linear_algebra.positive_definite import dominance, midpoint, positive_definite


def random_intervals(rng, *shape):
    lo = rng.choice([0.0, 1.0, -1.0, 0.1, 1e-300, 5e-324, -1e200, 1e10, 1 / 3], shape) * rng.uniform(0.5, 1.5, shape)
    return lo, lo + rng.choice([0.0, 1e-300, 1e-16, 1.0], shape) * np.abs(lo)


def test_operations_hold_the_exact_results_at_all_ends():
    rng = np.random.default_rng(0)
    a, b = random_intervals(rng, 4000), random_intervals(rng, 4000)
    for operation, exact in ((plus, Fraction.__add__), (minus, Fraction.__sub__), (times, Fraction.__mul__)):
        with np.errstate(all="ignore"):  # as in our environment
            lo, hi = operation(a, b)
        for k in range(4000):
            for x in (a[0][k], a[1][k]):
                for y in (b[0][k], b[1][k]):
                    value = exact(Fraction(float(x)), Fraction(float(y)))
                    assert lo[k] == -np.inf or Fraction(float(lo[k])) <= value
                    assert hi[k] == np.inf or value <= Fraction(float(hi[k]))


def test_products_of_matrices_hold_the_exact_ones():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(4, 5, 3)), rng.normal(size=(5, 2, 3)) * 10.0 ** rng.integers(-20, 20, (5, 2, 3))
    lo, hi = matrix_product((a, a), (b, b))
    for i, j, k in np.ndindex(4, 2, 3):
        value = sum(Fraction(float(a[i, m, k])) * Fraction(float(b[m, j, k])) for m in range(5))
        assert Fraction(float(lo[i, j, k])) <= value <= Fraction(float(hi[i, j, k]))


@pytest.mark.parametrize("n", (1, 2, 5, 32))
def test_the_factor_of_an_inverse(n):
    rng = np.random.default_rng(n)
    root = rng.normal(size=(n, n, 3)) + 3 * np.eye(n)[..., None]
    a = np.einsum("ikl,jkl->ijl", root, root)
    factor = inverse_factor(a)
    for k in range(3):
        np.testing.assert_allclose(factor[..., k] @ a[..., k] @ factor[..., k].T, np.eye(n), atol=1e-9)
        np.testing.assert_allclose(inverse(factor)[..., k] @ a[..., k], np.eye(n), atol=1e-8)


@pytest.mark.parametrize("matrix", ([[0.0]], [[-1.0]], [[1.0, 1.0], [1.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]], [[np.nan]],
                                    [[1.0, 0.0], [0.0, 0.0]], [[2.0, 1.0, 1.0], [1.0, 2.0, -1.0], [1.0, -1.0, 2.0]]))
def test_a_matrix_that_is_not_positive_definite_is_never_called_so(matrix):
    matrix = np.array(matrix)[..., None]
    for factor in (inverse_factor(matrix), np.eye(len(matrix))[..., None], np.ones_like(matrix)):
        assert not positive_definite((matrix, matrix), factor).any()


def test_wide_matrices_that_hold_a_singular_one():
    """The midpoint is positive definite, and so is each end taken alone; a matrix between them is singular."""
    lo, hi = np.array([[1.0, -1.0], [-1.0, 1.0]])[..., None], np.array([[1.0, 1.0], [1.0, 1.0]])[..., None]
    assert not positive_definite((lo, hi), inverse_factor(midpoint((lo, hi)))).any()
    just = (np.array([[1.0, -1.0], [-1.0, 1.0]]) * [[1, 1 - 1e-9], [1 - 1e-9, 1]])[..., None]
    assert positive_definite((just, np.abs(just)), inverse_factor(midpoint((just, np.abs(just))))).all()


@pytest.mark.parametrize("n", (2, 4, 8))
def test_random_interval_matrices_against_eigenvalues_inside(n):
    rng = np.random.default_rng(n)
    proved = 0
    for _ in range(60):
        root = rng.normal(size=(n, n))
        centre, radius = root @ root.T, rng.uniform(0, 10.0 ** rng.uniform(-4, 1), (n, n))
        radius = radius + radius.T
        matrix = (centre - radius)[..., None], (centre + radius)[..., None]
        if positive_definite(matrix, inverse_factor(midpoint(matrix))).all():
            proved += 1
            for _ in range(40):
                signs = rng.choice([-1.0, 1.0], n)
                inside = centre - radius * np.outer(signs, signs)  # the vertices on which definiteness depends
                assert np.linalg.eigvalsh(inside)[0] > 0
    assert 5 < proved < 60


def test_krawczyk_on_a_parabola():
    """g(x) = x² - 2: boxes around the root are sent into themselves, boxes with both roots or none are not."""
    def sent(lo, hi, c):
        factor = np.array([[[1 / np.sqrt(2 * c)]]])
        slope = np.array([[np.nextafter(c * c - 2, -9)]]), np.array([[np.nextafter(c * c - 2, 9)]])
        return krawczyk(np.array([c]), slope, (np.array([[[2 * lo]]]), np.array([[[2 * hi]]])), factor,
                        (np.array([[lo]]), np.array([[hi]])))
    near = sent(1.4, 1.43, 1.4142)
    assert near.inside.all() and near.lo[0, 0] < np.sqrt(2) < near.hi[0, 0]
    assert not sent(-2.0, 2.0, 1.4142).inside.any() and not sent(1.5, 1.6, 1.55).inside.any()
    assert not sent(1.4142135623730951, 1.5, 1.45).inside.any(), "the root is an end, or just outside"


@pytest.mark.parametrize("seed", range(20))
def test_no_eigenvalue_lies_below_the_dominance(seed):
    """Exactly: A less that multiple of the unit matrix has no negative principal minor, for the matrices at all ends."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 4))
    middle, radius = rng.normal(size=(n, n)) + 3 * np.eye(n), 2.0 ** -rng.integers(1, 20) * rng.random((n, n))
    middle, radius = middle + middle.T, radius + radius.T
    lo, hi = middle - radius, middle + radius
    least = Fraction(float(dominance((lo[..., None], hi[..., None]))[0]))
    for ends in product((0, 1), repeat=n * (n + 1) // 2):
        matrix, chosen = [[Fraction(0)] * n for _ in range(n)], iter(ends)
        for i in range(n):
            for j in range(i, n):
                matrix[i][j] = matrix[j][i] = Fraction(float((lo, hi)[next(chosen)][i, j])) - (least if i == j else 0)
        for size in range(1, n + 1):
            for rows in combinations(range(n), size):
                assert determinant([[matrix[i][j] for j in rows] for i in rows]) >= 0


def determinant(matrix):
    return matrix[0][0] if len(matrix) == 1 else sum(
        (-1) ** j * matrix[0][j] * determinant([[row[k] for k in range(len(matrix)) if k != j] for row in matrix[1:]])
        for j in range(len(matrix)))
