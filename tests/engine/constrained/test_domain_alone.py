"""Constraints without finite ends: they only restrict where the problem is defined, so that no test has a row of a constraint."""

import numpy as np
import pytest

import infimum

FREE = [infimum.Constraint(lambda x: np.log(x[0] + x[1]), lb=-np.inf, ub=np.inf)]
OBJECTIVES = {
    "constant": (lambda x: 0 * x[0] + 3.0, 3.0),
    "linear": (lambda x: x[0] - x[1], -2.0),
    "quadratic": (lambda x: (x[0] - 0.5) ** 2 + x[1] ** 2 / 2 - x[1], -0.5),
    "indefinite": (lambda x: x[0] * x[1] - x[0] ** 2 / 4, -1.25),
    "curved": (lambda x: np.sin(3 * x[0]) + np.exp(x[1]) * x[0] ** 2, None),
}


@pytest.mark.parametrize("asked", [{}, {"xtol": 1e-3}, {"options": {"lp": True}}, {"integrality": [1, 0]}, {"engine": "newton"},
                                   {"engine": "subdomain"}, {"engine": "complete", "max_boxes": 100_000}],
                         ids=lambda asked: " ".join(f"{k}={v}" for k, v in asked.items()))
@pytest.mark.parametrize("name", OBJECTIVES)
def test_domains_alone(name, asked):
    """The infimum is that on the closure of the domain, x[0] + x[1] > 0."""
    if "options" in asked:
        pytest.importorskip("highspy")
    f, known = OBJECTIVES[name]
    r = infimum.minimize(f, [(-1, 1)] * 2, constraints=FREE, **{"max_boxes": 200_000, "time_limit": 20} | asked)
    assert r.verdict.name in ("PROVED", "STOPPED", "UNDECIDED")
    points = np.random.default_rng(0).uniform(-1, 1, (2, 4000))
    if "integrality" in asked:
        points[0] = np.round(points[0])
    values = np.array([f(p) for p in points.T[points.sum(axis=0) > 0]])
    assert r.lower <= values.min()
    if known is not None and "integrality" not in asked:
        assert r.lower <= known <= r.upper
