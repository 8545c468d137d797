"""Crossing: starts made of minima; and the swarm that uses its time until its answer can be trusted."""

import numpy as np
import pytest

import infimum
from infimum.points import local_minima
from infimum.points.crossing import Crossing
from infimum.points.descent_kernel import LaneState
from infimum.points.descents import DescentEnds
from infimum.points.local_minima import LocalMinima
from tests.engine.test_swarm import swarm

LO, HI = np.full(3, -1.0), np.full(3, 1.0)


def crossing(count: int = 8, most: int = 8) -> Crossing:
    found = Crossing(LO, HI, 0, most)
    rng = np.random.default_rng(count)
    found.add(rng.uniform(-1, 1, (3, count)), rng.normal(size=count))
    return found


def test_the_lowest_minima_are_kept_once():
    found = Crossing(LO, HI, 0, 4)
    x = np.array([[0.1, 0.2, 0.2, 0.9, 0.3, 0.4], [0.0] * 6, [0.0] * 6])
    assert found.add(x, np.array([3.0, 1.0, 1.0 + 1e-12, 1.0, np.inf, np.nan]))
    assert found.value.tolist() == [1.0, 1.0, 3.0] and found.x[0].tolist() == [0.2, 0.9, 0.1], "two places of one value"
    assert not found.add(x[:, :1], np.array([2.0])) and found.add(x[:, 4:], np.array([0.5, 0.7])) and len(found) == 4
    assert found.value.tolist() == [0.5, 0.7, 1.0, 1.0]


def test_starts_lie_within_the_bounds_and_are_others_each_time():
    a, b = crossing(), crossing()
    first, second = a.starts(64), a.starts(64)
    assert (np.abs(first) <= 1).all() and (first != second).any() and (b.starts(64) == first).all()
    mixed = first[:, 1::2]
    assert all(np.isin(mixed[i], a.x[i]).all() for i in range(3)), "each variable is that of a minimum"
    steps = first[:, ::2]
    assert any(np.abs(steps[:, k:k + 1] - (a.x[:, [p]] + a.x[:, [q]] - a.x[:, [r]])).max() < 1e-12
               for k in range(4) for p in range(8) for q in range(8) for r in range(8))


@pytest.mark.filterwarnings("error")
def test_values_and_bounds_as_far_apart_as_doubles_are():
    found = Crossing(np.array([-8e307]), np.array([8e307]), 0, 8)
    found.add(np.array([[-8e307, 8e307, 0.0, 1.0]]), np.array([-1.7e308, 1.7e308, 0.0, 1.0]))
    assert np.isfinite(found.starts(32)).all()


# ---- time and trust
def rotated_schwefel(n: int = 6):
    q = np.linalg.qr(np.random.default_rng(1).normal(size=(n, n)))[0]

    def f(x):
        y = q @ x
        return -np.sum(y * np.sin(np.sqrt(np.abs(y))))
    return f


def until(value: float, most: int = 20_000):
    """A callback that stops when a value is reached, or after very many steps."""
    steps = []

    def callback(snapshot) -> bool:
        steps.append(snapshot.fun)
        return snapshot.fun <= value or len(steps) > most
    return callback


@pytest.mark.parametrize("seed", (0, 1))
def test_a_time_limit_is_used_until_the_answer_can_be_trusted(seed):
    """Lanes that follow one leader agree soon, on a minimum that is not the lowest: about -2441.7488 by proof."""
    f, bounds = rotated_schwefel(), [(-500, 500)] * 6
    soon = swarm(f, bounds, seed=seed)
    assert not soon.success and "CAUTION" in soon.message
    r = swarm(f, bounds, seed=seed, time_limit=1e6, callback=until(-2441.748))
    assert r.upper <= -2441.748 and not r.success and "the confidence of 0.5 is not reached" in r.message


def test_a_function_of_few_basins_needs_no_time_limit():
    p = infimum.problems.get("camel_six_hump")
    r = swarm(p.fun, p.bounds, time_limit=1e6)
    assert r.message == "the confidence of 0.5 is reached" and r.success and r.confidence >= 0.5 and len(r.minima) == 6
    sure = swarm(p.fun, p.bounds, time_limit=1e6, options={"confidence": 0.9})
    assert sure.success and sure.confidence >= 0.9 and sure.nfev > r.nfev
    quick = swarm(p.fun, p.bounds, time_limit=1e6, options={"enough": 8, "confidence": 0.999})
    assert "descents agree" in quick.message and not quick.success and "0.999 is not reached" in quick.message


def test_minima_that_are_not_told_apart_give_no_trust(monkeypatch):
    """Twenty minima, each met fifty times: that would be trust, if all were counted."""
    found = LocalMinima(np.zeros(1), np.ones(1))
    x = np.tile(np.arange(20) / 20, 50)
    found.add(DescentEnds(x[None], x, np.full(1000, LaneState.CONVERGED), np.arange(1000), 0, 0), independent=True)
    assert found.trust(found.groups())[0] > 0.5
    monkeypatch.setattr(local_minima.POLICY, "most_ends", 5)
    assert found.trust(found.groups())[0] == 0.0 and found.trusted() == 0.0
