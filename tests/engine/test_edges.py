"""Functions with poles and edges, as users write them: whole runs."""

import numpy as np
import pytest

import infimum
from infimum.problem.settings import Goal
from infimum.search.branch_and_bound import BranchAndBound
from infimum.search.incumbent import Incumbent

INF = np.inf


def atoms(n: int, energy, x):
    """The energy of n atoms: one at the origin, the second on an axis, the third in a plane."""
    p = np.zeros((n, 3))
    p[1, 0], p[2, :2] = x[0], x[1:3]
    p[3:] = x[3:].reshape(-1, 3)
    return sum(energy(np.sum((p[i] - p[j]) ** 2)) for i in range(n) for j in range(i))


PAIRS = {
    "as it is taught": lambda r2: 4 * (np.sqrt(r2) ** -12 - np.sqrt(r2) ** -6), "of squares": lambda r2: 4 * (r2**-6 - r2**-3),
    "of inverses": lambda r2: 4 * ((1 / r2) ** 6 - (1 / r2) ** 3),
}


@pytest.mark.parametrize("name", PAIRS)
def test_three_atoms(name):
    r = infimum.minimize(lambda x: atoms(3, PAIRS[name], x), [(0, 3), (-3, 3), (0, 3)], max_boxes=200_000)
    assert r.verdict.name == "PROVED" and r.lower <= -3 <= r.upper


def test_terms_that_stand_apart():
    def f(x):
        e = 0.0
        for i in range(3):
            r2 = (x[i] - x[i - 1]) ** 2 + (1.0 if i else 0.0)
            e = e + r2**-6 - 2 * r2**-3
        return e
    r = infimum.minimize(f, [(0, 2), (0, 2), (0, 2)], max_boxes=2000)
    assert r.lower > -10


@pytest.mark.parametrize("f, bounds, infimum_of", [
    (lambda x: x[0] * np.log(x[0]), [(0, 1)], -np.exp(-1)), (lambda x: np.sum(x * np.log(x)), [(0, 2)] * 3, -3 * np.exp(-1)),
    (lambda x: x[0] ** x[0], [(0, 2)], np.exp(-np.exp(-1))), (lambda x: 4 * (x[0] ** -12 - x[0] ** -6), [(0, INF)], -1.0),
    (lambda x: -np.sin(x[0]) / x[0], [(-20, 20)], -1.0), (infimum.problems.get("keane").fun, [(0, 10)] * 2, -0.6736675211468547)])
def test_proved(f, bounds, infimum_of):
    r = infimum.minimize(f, bounds, max_boxes=200_000)
    assert r.verdict.name == "PROVED" and r.lower - 1e-12 <= infimum_of <= r.upper + 1e-12


WRITTEN = {  # as users write them, each with its bounds and its infimum
    "exponential of a pole": (lambda x: np.exp(1 / x) - 1 / x, (0, 2), np.exp(0.5) - 0.5),
    "inverse gamma": (lambda x: -(x**-3) * np.exp(-1 / x), (0, 10), -27 * np.exp(-3)),
    "log-normal": (lambda x: -np.exp(-(np.log(x) ** 2) / 2) / x, (0, 10), -np.exp(0.5)),
    "Planck, frequency": (lambda x: -(x**3) / np.expm1(x), (0, INF), -1.4214354727477365),
    "Planck, wavelength": (lambda x: -1 / (x**5 * (np.exp(1 / x) - 1)), (0, 3), -21.201435660549907),
    "Langevin": (lambda x: x / 2 - (1 / np.tanh(x) - 1 / x), (-5, 0), -1.6999091960179806),
    "Kullback-Leibler": (lambda x: x * np.log(x / 0.3) + (1 - x) * np.log((1 - x) / 0.7), (0, 1), 0.0),
    "logit": (lambda x: np.log(x / (1 - x)) ** 2 - np.log(x / (1 - x)), (0, 1), -0.25),
    "tangents": (lambda x: np.tan(x) ** 2 - np.tan(x), (-1.6, 1.6), -0.25),
    "gamma density": (lambda x: -(x**2) * np.exp(-x), (0, INF), -4 * np.exp(-2)),
    "polynomial": (lambda x: x**4 - 4 * x**3, (-INF, INF), -27.0),
    "Cauchy": (lambda x: x / (1 + x**2), (-INF, INF), -0.5),
}


@pytest.mark.parametrize("n", (1, 3))
@pytest.mark.parametrize("name", WRITTEN)
def test_as_users_write_them(name, n):
    f, bounds, least = WRITTEN[name]
    r = infimum.minimize(lambda x: np.sum(f(x)), [bounds] * n, max_boxes=100_000)
    assert r.verdict.name == "PROVED" and r.lower - 1e-12 <= n * least <= r.upper + 1e-12


@pytest.mark.parametrize("f", [
    lambda x: 50 * np.exp(-3 * x) - 5 / x**6, lambda x: x**-9 - np.exp(1 / x), lambda x: np.exp(-1 / x) / x**3 - 1 / x,
    lambda x: np.log(x / (5 - x)) + 1 / (5 - x) - 2 / x])
def test_a_real_pole_is_never_proved(f):
    r = infimum.minimize(lambda x: f(x[0]), [(0, 5)], max_boxes=20_000)
    assert r.verdict.name != "PROVED" and r.lower == -INF


def test_pieces_are_used_where_nothing_else_gives_a_lower_bound():
    """Not only after a trial, and from then on: they have paid."""
    lo, hi = np.array([[0.0, -3.0, 0.0], [3.0, 3.0, 3.0]])
    f = infimum.compile(lambda x: atoms(3, PAIRS["of squares"], x), 3)
    b = BranchAndBound(f, Goal(), Incumbent(f, lo, hi))
    b.begin(lo[:, None], hi[:, None])
    pieces = b.cutting[-1].payoff
    assert b.lower() >= -3.001 and pieces.pays and pieces.due == pieces.schedule.period
