"""The swarm with constraints: points that are proved to be feasible, estimates that are called so, options, the same bits."""

import numpy as np
import pytest

import infimum
from infimum import Verdict
from infimum.points.constrained_swarm import PenaltyFlight
from infimum.problems import constrained
from tests.engine.constrained.planted_systems import evaluator_of

INF = np.inf
BOX = [(-3, 3)] * 2


def radius(x):
    return x[0] ** 2 + x[1] ** 2


def total(x):
    return x[0] + x[1]


@pytest.mark.parametrize(("fun", "bounds", "asked", "optimum"), [
    (total, BOX, {"constraints": lambda x: radius(x) <= 2}, -2.0),
    (total, BOX, {"constraints": lambda x: radius(x) == 2}, -2.0),
    (radius, BOX, {"constraints": lambda x: total(x) == 3, "integrality": [1, 0]}, 5.0),
    (lambda x: (x[0] - 1.4) ** 2 + (x[1] + 0.6) ** 2, BOX, {"integrality": 1}, 0.32),
    (lambda x: x[1] + x[0] / 64, BOX, {"constraints": lambda x: 16 * x[1] == (x[0] ** 2 - 4) ** 2}, -0.03127),
    (radius, [(-INF, INF)] * 2, {"constraints": [lambda x: total(x) >= 1, lambda x: radius(x) <= 9]}, 0.5),
])
def test_known_optima(fun, bounds, asked, optimum):
    r = infimum.minimize(fun, bounds, **asked, engine="swarm")
    assert r.verdict is Verdict.CANDIDATE and r.engine == "swarm" and r.lower == -INF and r.regions is None
    assert r.success == ("integrality" not in asked)
    assert optimum - 1e-4 <= r.upper <= optimum + 1e-7 and r.feasible is not None and r.maxcv < 1e-12 and r.fun == r.upper
    assert r.minima and r.minima[0].value == pytest.approx(r.upper, abs=1e-6)
    if "constraints" in asked:
        assert len(r.constraints) >= 1 and "constraints" in str(r)
    largest = infimum.maximize(lambda x: -fun(x), bounds, **asked, engine="swarm")
    assert largest.lower == 0.0 - r.upper and largest.upper == INF and np.array_equal(largest.x, r.x)


@pytest.mark.parametrize("name", ["g04", "hs_71", "haverly_1", "hs_14", "st_e38"])
def test_the_gallery(name):
    p = constrained.get(name)
    r = infimum.minimize(p.fun, p.bounds, constraints=p.constraints, integrality=p.integrality, engine="swarm")
    assert r.verdict is Verdict.CANDIDATE and p.minimum.lo <= r.upper <= p.minimum.hi + 1e-6 * max(1.0, abs(p.minimum.hi))


def test_nothing_is_claimed_where_nothing_is_feasible():
    """Not even that: the verdict is no proof."""
    r = infimum.minimize(total, BOX, constraints=lambda x: radius(x) >= 20, engine="swarm", options={"restarts": 0})
    assert r.verdict is Verdict.UNDECIDED and r.x is None and not r.success and r.upper == INF and r.feasible is None
    assert r.message == "1 wave is done; no feasible point was found"


def test_a_point_counts_only_if_it_is_proved():
    """x0 is far better, and infeasible; a given point that is feasible is never lost."""
    r = infimum.minimize(total, BOX, constraints=lambda x: radius(x) <= 2, x0=[(-3, -3), (1, 1)], engine="swarm",
                         options={"particles": 1, "swarm_steps": 0, "descent_steps": 1, "restarts": 0})
    assert r.upper >= -2.0 and radius(r.x) <= 2


@pytest.mark.parametrize("options", [{"searches": 2}, {"armijo": 0.1}, {"halvings": 3}, {"samples": 9}])
def test_options_without_a_meaning_are_refused(options):
    with pytest.raises(infimum.OptionError, match=f"option '{next(iter(options))}' is of searches that know no constraints"):
        infimum.minimize(total, BOX, constraints=lambda x: x[0] >= 1, engine="swarm", options=options)


def test_what_else_is_refused(tmp_path):
    with pytest.raises(infimum.OptionError, match="proves nothing and keeps no checkpoint"):
        infimum.minimize(total, BOX, constraints=lambda x: x[0] >= 1, engine="swarm", checkpoint=tmp_path / "run.inf")
    with pytest.raises(infimum.BoundsError, match="the swarm needs finite bounds"):
        infimum.minimize(total, [(0, INF)] * 2, constraints=lambda x: x[0] * x[1] >= 1, engine="swarm")


def test_options_are_honoured():
    def run(**options):
        return infimum.minimize(lambda x: np.sum(np.cos(4 * x) + x / 5), [(-4, 4)] * 2, constraints=lambda x: x[0] + x[1] >= 1,
                                engine="swarm", options=options)
    usual, more = run(), run(particles=300, restarts=3, enough=None)
    assert more.nfev > usual.nfev and more.upper <= usual.upper + 1e-9
    assert sum(m.descents for m in more.minima) > sum(m.descents for m in usual.minima)
    sure = run(confidence=0.2)
    assert sure.confidence >= 0.2 and "confidence of 0.2 is reached" in sure.message
    assert run(start="sobol", swarm_steps=3).upper == pytest.approx(usual.upper, abs=1e-6)


def test_seeds_threads_and_limits():
    p = constrained.get("hs_71")
    asked = {"constraints": p.constraints, "engine": "swarm"}
    one, two, other = (infimum.minimize(p.fun, p.bounds, **asked, threads=threads, seed=seed)
                       for threads, seed in ((1, 0), (2, 0), (1, 1)))
    assert (one.upper, one.nfev, one.nit, one.message) == (two.upper, two.nfev, two.nit, two.message)
    assert np.array_equal(one.x, two.x) and [m.x.tolist() for m in one.minima] == [m.x.tolist() for m in two.minima]
    assert one.nfev != other.nfev and other.upper == pytest.approx(one.upper, rel=1e-7)
    seen = []
    stopped = infimum.minimize(p.fun, p.bounds, **asked, callback=lambda snapshot: seen.append(snapshot) or len(seen) == 30)
    assert stopped.message.startswith("stopped by the callback") and len(seen) == 30
    assert seen[-1].lower == -INF and stopped.nfev <= one.nfev


def test_particles_go_by_what_is_violated():
    e = evaluator_of(lambda x: x[0], [(lambda x: x[0] + x[1], 2.0, INF)], 2, integers=(1,))
    flight = PenaltyFlight(e, np.full(2, -3.0), np.full(2, 3.0), 0)
    first = flight.values(np.array([[-3.0, 3.0, 0.0], [-3.0, 3.0, 0.0]]))
    assert first[1] < first[2] < first[0]
    assert np.array_equal(flight.values(np.array([[0.0], [0.3]])), first[2:])  # whole numbers are rounded


def test_whole_numbers_are_never_a_success():
    """No descents tell their basins apart, so that nothing supports the answer."""
    r = infimum.minimize(lambda x: (x[0] - 2.4) ** 2, [(0, 5)], integrality=1, engine="swarm", options={"restarts": 0})
    assert r.x.tolist() == [2.0] and not r.success and r.status == 1 and "CAUTION" in r.message and r.confidence is None
