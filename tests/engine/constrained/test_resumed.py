"""A run with constraints that was stopped goes on with the same bits: regions, feasible box, multipliers, the best point."""

import numpy as np
import pytest

import infimum
from infimum.engines.constrained_run import ConstrainedRun
from infimum.points.swarm_options import SwarmOptions
from infimum.problem.problem import Problem
from infimum.problem.settings import Goal, Limits, Method
from infimum.problems import constrained


@pytest.mark.parametrize("name, boxes", [("hs_93", 400_000), ("hs_78", 10_000), ("g09", 2_000), ("hs_71", 500)])
def test_the_same_bits(name, boxes, tmp_path):
    p, path = constrained.get(name), tmp_path / "run.inf"
    settings = {"constraints": p.constraints, "rtol": 1e-3, "atol": 1e-7, "seed": 0, "progress": False}
    whole = infimum.minimize(p.fun, p.bounds, **settings)
    part = infimum.minimize(p.fun, p.bounds, **settings, max_boxes=boxes, checkpoint=path)
    rest = infimum.resume(path, p.fun, constraints=p.constraints, progress=False)
    assert part.verdict.name == "STOPPED" and whole.verdict.name == rest.verdict.name == "PROVED"
    assert (rest.lower, rest.upper, rest.nit, rest.nfev) == (whole.lower, whole.upper, whole.nit, whole.nfev)
    assert np.array_equal(rest.x, whole.x) and np.array_equal(rest.regions.lo, whole.regions.lo)


def test_what_a_later_look_for_points_depends_on_is_kept():
    p = constrained.get("hs_78")
    evaluator = infimum.compile(p.fun, p.n, constraints=p.constraints)
    problem = Problem(p.fun, p.lo, p.hi)
    method, limits = Method("auto", SwarmOptions(), Goal()), Limits(max_boxes=5000)
    run, other = (ConstrainedRun(problem, evaluator, method, limits) for _ in range(2))
    for _ in run.steps():
        pass
    other.restore(run.state())
    assert np.isfinite(run.search.value) and run.search.multipliers.any()
    for name in ("x", "value", "violation", "multipliers"):
        assert np.array_equal(getattr(run.search, name), getattr(other.search, name))
    assert np.array_equal(run._learning_tests()[0].given, other._learning_tests()[0].given) and other.lower == run.lower
