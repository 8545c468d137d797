"""Subdomains: no feasible point is lost, whatever is divided; and the engine made of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infimum
from infimum.bounds.function_bounds import subdomain_kernel
from infimum.bounds.function_bounds.subdomain_kernel import ADAPTIVE, AFFINE, LARGEST, MEAN_VALUE, NATURAL
from infimum.bounds.function_bounds.subdomains import SubdomainBound
from infimum.bounds.interface import StepContext
from infimum.engines.subdomain_options import SubdomainOptions
from infimum.kernel.region_cut import DISCARDED_AXIS
from tests.engine.constrained.planted_systems import INF, check_nothing_lost, evaluator_of, planted, regions_around


def region(*sides):
    lo, hi = zip(*sides, strict=True)
    return np.array([*lo, *hi, -INF, 0.0, 3.0])[:, None]


def part_of(evaluator, *how, lo=-2.0, hi=2.0):
    return SubdomainBound(evaluator, np.full(evaluator.n, lo), np.full(evaluator.n, hi), *how)


# ---- the test
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 3), pieces=st.integers(2, 5), variables=st.integers(1, 3),
       form=st.sampled_from([NATURAL, MEAN_VALUE, AFFINE]), choice=st.sampled_from([LARGEST, ADAPTIVE]))
def test_no_feasible_point_is_lost(seed, n, pieces, variables, form, choice):
    at, rng = planted(seed, n), np.random.default_rng(seed)
    part = part_of(at.evaluator, pieces, variables, form, choice)
    before = regions_around(rng, at, 64)
    for upper in (INF, float(max(at.values)), float(min(at.values))):
        check_nothing_lost(at, before, part.test(before.copy(), StepContext(upper)).regions, upper, DISCARDED_AXIS)


@pytest.mark.parametrize("seed", range(5))
def test_the_pieces_of_a_region_lose_no_point_either(seed):
    at, rng = planted(seed, 2), np.random.default_rng(seed)
    part, before = part_of(at.evaluator, 3, 2), regions_around(rng, at, 64)
    before[5] = rng.integers(0, 2, 64)
    found = [outcome.regions for outcome in part.cut(before, 4, StepContext(float(max(at.values))))]
    for k in range(at.points.shape[1]):
        p = at.points[:, k, None]
        held = ((before[:2] <= p) & (p <= before[2:4])).all(axis=0)
        kept = [((left[:2] <= p) & (p <= left[2:4])).all(axis=0) & (left[5] != DISCARDED_AXIS) for left in found]
        assert np.any(kept, axis=0)[held].all()


def test_the_check_would_notice(monkeypatch):
    """Gaps between subdomains; of systems that no other test has, since kernels are kept."""
    part_of_side = subdomain_kernel.SubdomainKernel._part

    def short(self, *asked):
        left, right = part_of_side(self, *asked)
        return left, self.b.max(left, self.b.fma(self.b.sub(right, left), -0.25, right))
    monkeypatch.setattr(subdomain_kernel.SubdomainKernel, "_part", short)
    with pytest.raises(AssertionError):
        for seed in range(20):
            at, rng = planted(2 * 10**6 + seed, 2), np.random.default_rng(seed)
            before, upper = regions_around(rng, at, 256), float(max(at.values))
            left = part_of(at.evaluator, 3, 2).test(before.copy(), StepContext(upper)).regions
            check_nothing_lost(at, before, left, upper, DISCARDED_AXIS)


def test_a_region_shrinks_to_the_subdomains_that_are_left():
    evaluator = evaluator_of(lambda x: x[0] + x[1], [(lambda x: x[0], 0.75, 0.875)], 2)
    left = part_of(evaluator, 8, 2).test(region((-2, 2), (-2, 2)), StepContext(INF)).regions[:, 0]
    assert left[:4].tolist() == [0.5, -2.0, 1.0, 2.0] and left[4] == -1.5
    nothing = part_of(evaluator, 8, 2).test(region((-2, 0), (-2, 2)), StepContext(INF)).regions[:, 0]
    assert nothing[5] == DISCARDED_AXIS


def test_what_only_the_upper_bound_excludes_is_not_infeasible():
    evaluator = evaluator_of(lambda x: x[0], [(lambda x: x[0], -1.0, INF)], 1)
    left = part_of(evaluator, 4, 1).test(region((0, 2)), StepContext(-0.5)).regions[:, 0]
    assert left[2] == INF and left[3] != DISCARDED_AXIS


def test_whole_numbers_are_rounded_inward():
    evaluator = evaluator_of(lambda x: (x[0] - 3.5) ** 2 + x[1], [], 2, integers=(0,))
    part = part_of(evaluator, 5, 1, lo=-8.0, hi=8.0)
    left = part.test(region((0.5, 5.5), (1.0, 1.0)), StepContext(INF)).regions[:, 0]
    assert left[[0, 2]].tolist() == [1.0, 5.0] and 1.24 < left[4] <= 1.25
    assert part.test(region((3.25, 3.75), (1.0, 1.0)), StepContext(INF)).regions[5, 0] == DISCARDED_AXIS


@pytest.mark.parametrize("form", (NATURAL, MEAN_VALUE, AFFINE))
@pytest.mark.parametrize("choice", (LARGEST, ADAPTIVE))
def test_unbounded_sides_are_not_divided(form, choice):
    evaluator = evaluator_of(lambda x: x[0] ** 2 + np.exp(-x[1]), [(lambda x: x[0] * x[1], -INF, 4.0)], 2)
    part = SubdomainBound(evaluator, np.array([-2.0, -INF]), np.array([2.0, INF]), 4, 2, form, choice)
    left = part.test(region((-2, 2), (0, INF)), StepContext(1.5)).regions[:, 0]
    assert left[[1, 3]].tolist() == [0.0, INF] and left[4] >= 0.0 and left[5] in (0.0, 1.0)
    assert (left[0], left[2]) == (-2.0, 2.0)


# ---- the engine
CASES = {
    "no constraints": (lambda x: np.sum(x**4 - 16 * x**2 + 5 * x) / 2, {"bounds": [(-5, 5)] * 2}, -78.33233140754282),
    "a circle": (lambda x: x[0] + x[1], {"bounds": [(-2, 2)] * 2, "constraints": lambda x: x[0] ** 2 + x[1] ** 2 == 1}, -2**0.5),
    "unbounded": (lambda x: x[0] + x[1], {"bounds": [(-INF, INF)] * 2, "constraints": lambda x: x[0]**2 + x[1]**2 <= 1}, -2**0.5),
    "whole": (lambda x: (x[0] - 3.6) ** 2 + x[1] ** 2, {"bounds": [(-9, 9)] * 2, "integrality": [1, 0]}, 0.16),
}


@pytest.mark.parametrize("partition", ("largest", "uniform", "adaptive"))
@pytest.mark.parametrize("name", CASES)
def test_the_engine_proves(name, partition):
    fun, question, value = CASES[name]
    for form in ("mean_value", "natural", "affine") if partition == "largest" else ("mean_value", "natural"):
        options = {"partition": partition, "form": form}
        r = infimum.minimize(fun, **question, engine="subdomain", options=options, atol=1e-2, rtol=0)
        assert r.verdict.name == "PROVED" and r.engine == "subdomain"
        assert r.lower <= value + 1e-12 and value - 1e-12 <= r.upper and r.upper - r.lower <= 1e-2


def test_affine_bounds_of_a_recurrence():
    """Forty steps of a decay: what is lost of the least value in a region, 0.104, with sixteen subdomains."""
    def decayed(x):
        u = x[1]
        for _ in range(40):
            u = u - 0.05 * x[0] * u
        return u
    evaluator, lost = evaluator_of(decayed, [], 2), {}
    for form in (NATURAL, MEAN_VALUE, AFFINE):
        left = part_of(evaluator, 4, 2, form).test(region((0.5, 1.1), (1.0, 1.5)), StepContext(INF)).regions[:, 0]
        lost[form] = (1 - 0.05 * 1.1) ** 40 - left[4]
    assert 0 <= lost[AFFINE] < 0.005 < 0.03 < lost[MEAN_VALUE] < lost[NATURAL]


def test_infeasible_and_maximise():
    r = infimum.minimize(lambda x: x[0], [(-2, 2)] * 2, constraints=lambda x: x[0] ** 2 + x[1] ** 2 >= 10, engine="subdomain")
    assert r.verdict.name == "INFEASIBLE"
    r = infimum.maximize(lambda x: x[0] * x[1], [(0, 3)] * 2, constraints=lambda x: x[0] + x[1] <= 2, engine="subdomain",
                         atol=1e-3)
    assert r.verdict.name == "PROVED" and r.lower <= 1.0 <= r.upper


def test_places_are_narrowed():
    r = infimum.minimize(lambda x: (x[0] ** 2 - 2) ** 2, [(-4, 4)], engine="subdomain", xtol=1e-3)
    assert r.verdict.name == "PROVED" and (r.regions.hi - r.regions.lo <= 1e-3).all() and len(r.boxes) == 2


@pytest.mark.parametrize("name", ("no constraints", "a circle"))
def test_a_run_that_is_resumed_has_the_same_bits(name, tmp_path):
    fun, question, _ = CASES[name]
    path, settings = tmp_path / "run.inf", {"engine": "subdomain", "options": {"partition": "adaptive", "pieces": 2}}
    whole = infimum.minimize(fun, **question, **settings)
    part = infimum.minimize(fun, **question, **settings, max_boxes=200, checkpoint=path)
    rest = infimum.resume(path, fun, constraints=question.get("constraints", ()))
    assert part.verdict.name == "STOPPED" and whole.verdict.name == rest.verdict.name == "PROVED"
    assert (rest.lower, rest.upper, rest.engine) == (whole.lower, whole.upper, "subdomain")


@pytest.mark.parametrize("options, words", [
    ({"partition": "thirds"}, "'partition' must be one of 'largest'"), ({"form": 3}, "'form' must be one of"),
    ({"pieces": 1}, "'pieces' must be a whole number from 2"), ({"variables": 0}, "'variables' must be"),
    ({"pieces": True}, "'pieces'"), ({"particles": 3}, "option of engine 'auto'"),
    ({"partition": "uniform", "pieces": 9}, "give fewer 'pieces', or partition='largest'"),
    ({"pieces": 9}, "fewer 'variables'")])
def test_options_are_checked(options, words):
    with pytest.raises(infimum.OptionError, match=words):
        infimum.minimize(lambda x: np.sum(x**2), [(-1, 1)] * 4, engine="subdomain", options=options)


def test_as_many_pieces_as_are_usual():
    assert [SubdomainOptions().division(n) for n in (1, 2, 3, 9)] == [(64, 1), (8, 2), (4, 3), (2, 4)]
