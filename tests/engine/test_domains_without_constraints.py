"""Bounds are narrowed to where a function may be defined: nothing that is feasible is lost, and more is proved."""

from fractions import Fraction

import numpy as np
import pytest

import infimum
from infimum import Verdict
from infimum.expr.rewriting_switches import without
from infimum.presolve.domain_bounds import DomainBounds
from infimum.presolve.presolve_stack import Formulation

INF = np.inf


def narrowed(fun, bounds, **more):
    found = DomainBounds().apply(Formulation(infimum.Problem.read(fun, bounds, **more), infimum.compile(fun, len(bounds))))
    return None if found is None else list(zip(found.problem.lo.tolist(), found.problem.hi.tolist(), strict=True))


@pytest.mark.parametrize(("fun", "bounds", "left"), [
    (lambda x: np.log(x[0]) + np.sqrt(x[1]), [(-1, 2)] * 2, [(0, 2)] * 2),
    (lambda x: np.sqrt(1 - x[0]) + x[1], [(-1, 2)] * 2, [(-1, 1), (-1, 2)]),
    (lambda x: np.log(x[0]) + x[1], [(-INF, INF)] * 2, [(0, INF), (-INF, INF)]),
    (lambda x: x[0] + x[1], [(-1, 2)] * 2, None), (lambda x: np.sqrt(x[0]) + x[1], [(0, 2)] * 2, None),
    (lambda x: np.sqrt(x[0]) + x[1], [(-2, -1)] * 2, None), (lambda x: np.sqrt(x[0]), [(Fraction(-1, 3), 2)], None),
    (lambda x: np.where(x[0] > 0, np.sqrt(x[0]), x[0] ** 2), [(-1, 2)], None)])
def test_bounds(fun, bounds, left):
    found = narrowed(fun, bounds)
    assert found == left if left is None else np.allclose(found, left, atol=1e-12)


def test_no_point_is_lost():
    """At random points at which functions are defined."""
    rng = np.random.default_rng(0)
    for fun in (lambda x: np.log(x[0] * x[1] - x[2]), lambda x: np.sqrt(1 - np.sum(x**2)),
                lambda x: np.arcsin(x[0] + x[1]) + x[2], lambda x: (x[0] - x[1]) ** 1.5 + np.log(2 - x[2])):
        found, points = narrowed(fun, [(-3, 3)] * 3), rng.uniform(-3, 3, (3, 4000))
        with np.errstate(invalid="ignore"):
            defined = points[:, [bool(np.isfinite(fun(x))) for x in points.T]]
        lo, hi = np.array([(-3, 3)] * 3 if found is None else found, float).T
        assert defined.shape[1] > 20 and ((defined >= lo[:, None]) & (defined <= hi[:, None])).all()


def test_x0_is_moved_inside():
    fun = lambda x: np.sqrt(x[0]) + x[0]  # noqa: E731
    found = DomainBounds().apply(Formulation(infimum.Problem.read(fun, [(-1, 2)], x0=[-0.5]), infimum.compile(fun, 1)))
    assert found.problem.x0.tolist() == [[0.0]]


def test_more_is_proved():
    def f(x):
        return np.log(x[0]) ** 2 + np.sqrt(x[1]) + 1 / x[0]
    r = infimum.minimize(f, [(-1, 2)] * 2, max_boxes=20_000)
    assert r.verdict is Verdict.PROVED and r.lower <= 0.8271840 <= r.upper + 1e-5
    with without("domain bounds"):
        assert infimum.minimize(f, [(-1, 2)] * 2, max_boxes=20_000).lower == -INF


def test_where_nothing_is_defined():
    assert infimum.minimize(lambda x: np.sqrt(x[0]), [(-2, -1)]).verdict is Verdict.INFEASIBLE


def test_a_minimiser_at_the_edge_of_the_domain():
    r = infimum.minimize(lambda x: x[0] + np.sqrt(x[0] - 0.3), [(-5, 5)], xtol=1e-6)
    assert r.verdict is Verdict.PROVED and r.lower <= 0.3 <= r.upper + 1e-6 and any(lo[0] <= 0.3 <= hi[0] for lo, hi in r.boxes)


def test_resume(tmp_path):
    def f(x):
        return np.log(x[0]) ** 2 * (1 + np.sin(7 * x[1])) + np.sqrt(x[1]) + 1 / x[0]
    path, bounds = tmp_path / "run.inf", [(-1, 20), (-2, 20)]
    whole = infimum.minimize(f, bounds, max_boxes=8000, batch=64)
    infimum.minimize(f, bounds, max_boxes=1000, batch=64, checkpoint=path)
    again = infimum.resume(path, f, max_boxes=8000)
    assert (again.lower, again.upper) == (whole.lower, whole.upper) and again.x.tolist() == whole.x.tolist()
