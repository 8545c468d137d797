"""Hessians by structure hold the true second derivatives, and nothing that may be indefinite is called positive definite."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb

import infimum
from infimum.certify.term_sums.diagonal_convexity import HeldTermSum
from infimum.certify.term_sums.elimination_order import order_of
from infimum.certify.term_sums.term_hessians import TermSum
from infimum.linear_algebra.low_rank import low_rank_loss
from infimum.linear_algebra.outward_sums import SumTargets, total
from infimum.search.policy.bounds import TERM_SUM_ISOLATION
from tests.engine.second_order.structured_functions import FUNCTIONS, matrix
from tests.kernel.test_curvature import second_along
from tests.oracle.arb_values import precision

N = 11


def terms_of(name, n=N):
    evaluator = infimum.compile(FUNCTIONS[name], n)
    return evaluator, TermSum.of(evaluator)


def within(ball: arb, ends) -> bool:
    """Is the number in the ball surely not outside?"""
    lo, hi = (arb(end.numerator) / arb(end.denominator) for end in ends)
    return not (ball < lo) and not (ball > hi)


# ---- enclosures
@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_derivatives_against_arb(name):
    """At points of boxes: entries (i, j) from the second derivatives along e_i + e_j, e_i and e_j."""
    evaluator, terms = terms_of(name)
    rng = np.random.default_rng(len(name))
    pairs = [(0, 0), (N - 1, N - 1), (0, 1), (3, 4), (3, 5), (2, 5), (0, N - 1), (1, 7), (4, 9)]
    for radius in (0.0, 1e-9, 1e-2):
        centre = rng.uniform(0.3, 0.8, N)
        lo, hi = centre - radius, centre + radius
        bends, point = terms.enclose(lo, hi), np.minimum(np.maximum(rng.uniform(lo, hi), lo), hi)
        assert bends.smooth
        found, unit = matrix(terms, bends), np.eye(N)
        for i, j in pairs:
            both, one, other = (second_along(evaluator.f, point, d) for d in (unit[i] + unit[j], unit[i], unit[j]))
            with precision(200):
                assert within(one if i == j else (both - one - other) / 2, found[i][j])
        dense = evaluator.gradient(lo, hi)
        assert ((bends.gradient[0] <= dense.hi) & (dense.lo <= bends.gradient[1])).all()


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in ("ackley", "norm")])
def test_along_directions_it_is_the_same_matrix(name):
    """Two enclosures of T A Tᵀ for each clique, at a point: from its entries, and from derivatives along the rows of T."""
    _, terms = terms_of(name)
    rng = np.random.default_rng(1)
    x = rng.uniform(0.3, 0.8, N)
    bends, t = terms.enclose(x, x), rng.integers(-4, 5, terms.order.where.shape) / 4.0
    t[:, terms.order.members >= N] = 0.0
    low, high = terms.enclose_along(x, x, t, bends.weights)
    expected = np.einsum("abn,bcn,dcn->adn", t, 0.5 * (bends.cliques[0] + bends.cliques[1]), t)
    slack = 1e-11 * (1 + np.abs(expected))
    assert ((low <= expected + slack) & (expected - slack <= high)).all() and (high - low < 1e-9).all()


def test_what_has_no_such_structure():
    for f in (lambda x: np.sum(np.outer(x, x) * np.cos(np.add.outer(x, x))), lambda x: np.max(x) + np.sum(x) ** 2 * np.prod(x)):
        assert TermSum.of(infimum.compile(f, 40)) is None


@pytest.mark.parametrize(("name", "width"), [("separable", 0), ("rosenbrock", 1), ("two terms", 2), ("ring", 2), ("band", 3),
                                             ("star", 1), ("tree", 1), ("mean", 1), ("norm", 0)])
def test_cliques_are_as_narrow_as_they_can_be(name, width):
    assert terms_of(name, 50)[1].order.width == width


def test_every_term_lies_in_a_clique():
    rng = np.random.default_rng(0)
    for n in (6, 20, 60):
        band = np.array([rng.permutation(6)[:3] for _ in range(n)]).T + rng.integers(0, n - 5, n)
        tree = np.stack([np.arange(1, n), rng.integers(0, np.arange(1, n))])
        for scopes in ([band], [tree], [band, np.array([[0], [n - 1]])], [tree, np.array([[1, 2], [n - 1, 3]])]):
            order = order_of(scopes, n)
            for scope in scopes if order is not None else ():
                for term in order.position[scope].T:
                    assert set(term) <= set(order.members[:, term.min()])
            assert order is not None or len(scopes) > 1
    assert order_of([np.stack(np.triu_indices(TERM_SUM_ISOLATION.most_links + 2, 1))], TERM_SUM_ISOLATION.most_links + 2) is None


# ---- definiteness
def least(f, lo, hi, held=None, part=0.5):
    terms = TermSum.of(infimum.compile(f, len(lo)))
    held = np.zeros(len(lo), bool) if held is None else held
    return HeldTermSum(terms, held).curvature_at_least(lo, hi, terms.enclose(lo, hi), part)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_hessian_less_d_is_positive_definite_at_points_of_the_box(name):
    evaluator, terms = terms_of(name)
    rng, proved = np.random.default_rng(2), 0
    start = {"griewank": 0.0, "rosenbrock": 1.0, "mean": 0.8, "star": 0.0}.get(name, 0.4)
    for radius in (0.0, 1e-6, 1e-3, 3e-2, 0.2, 1.0):
        for held in (np.zeros(N, bool), rng.random(N) < 0.3):
            centre = start + rng.uniform(-1e-3, 1e-3, N)
            lo, hi = centre - radius, centre + radius
            with np.errstate(all="ignore"):  # as in our environment
                d = HeldTermSum(terms, held).curvature_at_least(lo, hi, terms.enclose(lo, hi), 0.5)
            if d is None:
                continue
            proved, free = proved + 1, np.flatnonzero(~held)
            assert (d[free] > 0).all() and not d[held].any()
            points = np.concatenate([rng.uniform(lo[:, None], hi[:, None], (N, 20)),
                                     np.where(rng.random((N, 20)) < 0.5, lo[:, None], hi[:, None])], axis=1)
            h = evaluator.hessian(points, points)
            for k in range(points.shape[1]):
                inside = (0.5 * (h.lo + h.hi))[..., k] - np.diag(d)
                assert np.linalg.eigvalsh(inside[np.ix_(free, free)])[0] > -1e-12 * np.abs(inside).max()
    assert proved >= 3 or name in ("ackley", "quotient", "norm", "two terms", "terms with a mean")


@pytest.mark.parametrize("n", (3, 33, 200))
def test_a_chain_that_is_just_indefinite_is_never_called_positive_definite(n):
    """Σ (x_i - x_{i+1})² + c Σ x_i²: the least eigenvalue is 2 c, with the vector of ones."""
    for c, proved in ((-1e-9, False), (0.0, False), (1e-6, True)):
        found = least(lambda x, c=c: np.sum((x[1:] - x[:-1]) ** 2) + c * np.sum(x**2), np.zeros(n), np.ones(n))
        assert (found is not None) is proved
    assert least(lambda x: np.sum((x[1:] - x[:-1]) ** 2) - 1e-13 * x[0] ** 2, np.zeros(n), np.ones(n)) is None


@pytest.mark.parametrize("f", [lambda x: np.sum(x**4), lambda x: -np.sum(x**2), lambda x: np.sum(x[1:] * x[:-1]),
                               lambda x: np.sum((x[1:] + x[:-1]) ** 2), lambda x: np.sum(np.abs(x) * x),
                               lambda x: np.sum(np.log(x)), lambda x: np.sum(x**2) - 0.5 * np.sum(x) ** 2, lambda x: np.sum(x**3),
                               lambda x: np.sum(x**2) * (np.sum(x**2) - 1), lambda x: (np.sum(x**2) - 1) ** 2])
def test_functions_that_are_not_convex_around_0(f):
    for radius in (0.0, 1e-8, 0.5):
        with np.errstate(all="ignore"):  # as in our environment
            assert least(f, np.full(40, -radius), np.full(40, radius)) is None


@pytest.mark.parametrize("name", ["rosenbrock", "band", "two terms"])
def test_what_is_shared_among_cliques_is_symmetric(name):
    """To the last bit: what diagonals that dominate prove is about symmetric matrices."""
    _, terms = terms_of(name)
    held, rng = HeldTermSum(terms, np.zeros(N, bool)), np.random.default_rng(5)
    part = rng.uniform(-1, 1, terms.order.where.shape)
    uneven = np.eye(held.m)[..., None] * 9 + part + part.swapaxes(0, 1) * (1 + 2.0**-50)  # as products of doubles are
    change, _ = held._shared_out(np.where(held.both, uneven, 0.0), np.abs(part))
    assert (change == change.swapaxes(0, 1)).all()


def test_d_is_close_to_what_can_be_said():
    assert (least(lambda x: np.sum(x**2), np.zeros(5), np.ones(5), part=0.5) > 0.7).all()
    assert least(lambda x: np.sum(np.cosh(x)), np.full(40, -3.0), np.full(40, 3.0), part=0.0) is not None


@pytest.mark.parametrize("seed", range(20))
def test_matrices_of_low_rank_take_no_more_than_their_loss(seed):
    rng = np.random.default_rng(seed)
    n, k = 7, 1 + seed % 2
    b, j = rng.normal(size=(2, k, n)) * rng.choice([0.0, 0.3, 1.0], (2, 1, 1))
    c, d = rng.normal(size=(k, k)), rng.uniform(0.5, 2.0, n)
    c = c + c.T
    radius = 10.0 ** rng.uniform(-6, -1)
    loss = low_rank_loss((b - radius, b + radius), (j - radius, j + radius), (c, c), d)
    for _ in range(30):
        one, other = (part + rng.uniform(-radius, radius, (k, n)) for part in (b, j))
        whole = one.T @ other + other.T @ one + other.T @ c @ other
        assert np.linalg.eigvalsh(whole + loss * np.diag(d))[0] > -1e-12
    exactly = low_rank_loss((0 * b, 0 * b), (j, j), (np.eye(k), np.eye(k)), d)
    assert exactly < 1e-150, "a positive semidefinite matrix takes nothing"


def test_no_loss_is_told_from_numbers_that_are_none():
    none = np.full((1, 3), np.nan)
    assert not low_rank_loss((none, none), (none, none), (none[:, :1],) * 2, np.ones(3)) < 1.0
    wide = np.full((1, 3), np.inf)
    with np.errstate(all="ignore"):
        assert not low_rank_loss((-wide, wide), (-wide, wide), (np.ones((1, 1)),) * 2, np.ones(3)) < 1.0


# ---- sums
def test_sums_hold_the_exact_ones():
    rng = np.random.default_rng(4)
    at = rng.integers(0, 30, 2000)
    at[at == 7] = 8
    lo = rng.normal(size=2000) * 10.0 ** rng.integers(-300, 300, 2000) * (rng.random(2000) < 0.9)
    hi = lo + rng.choice([0.0, 1e-9, 1.0], 2000) * np.abs(lo)
    low, high = SumTargets([at[:900].reshape(30, 30), at[900:]], 30).total([(lo[:900].reshape(30, 30), hi[:900].reshape(30, 30)),
                                                                            (lo[900:], hi[900:])])
    for place in range(30):
        exact = [sum((Fraction(float(v)) for v in end[at == place]), Fraction(0)) for end in (lo, hi)]
        assert Fraction(float(low[place])) <= exact[0] and exact[1] <= Fraction(float(high[place]))
    assert low[7] == high[7] == 0.0
    with np.errstate(all="ignore"):
        assert np.isnan(total((np.array([np.inf, -np.inf]),) * 2)[0])
