"""Boxes with exactly one minimiser of a problem with constraints: proved where they are, refused where they are not."""

import pickle

import numpy as np
import pytest

import infimum
from infimum.certify.constrained_isolation import isolate
from infimum.certify.isolation import IsolationFailure
from tests.engine.constrained.minimisers_at_constraints import INF, system_with_minimiser
from tests.engine.constrained.planted_systems import evaluator_of

_ROOT = np.sqrt(0.5)


@pytest.mark.parametrize("seed", range(100, 112))
def test_planted_minimisers_are_found_or_refused(seed):
    at = system_with_minimiser(seed)
    reach = tuple(np.clip(at.point + d, at.lo, at.hi) for d in (-0.01, 0.01))
    near = np.clip(at.point + 1e-9 * np.random.default_rng(seed).normal(size=len(at.lo)), at.lo, at.hi)
    found = isolate(at.evaluator, at.lo, at.hi, near, reach)
    if isinstance(found, IsolationFailure):
        return
    assert ((found.lo <= at.point) & (at.point <= found.hi)).all() and (found.hi - found.lo < 1e-9).all()
    assert ((found.neighbourhood[0] <= found.lo) & (found.hi <= found.neighbourhood[1])).all()
    assert ((at.lo <= found.neighbourhood[0]) & (found.neighbourhood[1] <= at.hi)).all()


def _isolated(fun, rows, x, bounds=(-2.0, 2.0), wide=0.01):
    x = np.array(x, float)
    lo, hi = np.full(len(x), bounds[0]), np.full(len(x), bounds[1])
    return isolate(evaluator_of(fun, rows, len(x)), lo, hi, x, (np.maximum(x - wide, lo), np.minimum(x + wide, hi)))


def test_only_minimisers():
    """On the circle x + y has a minimiser and a maximiser, both stationary."""
    circle = [(lambda x: x[0] ** 2 + x[1] ** 2, 1, 1)]
    one = _isolated(lambda x: x[0] + x[1], circle, [-_ROOT, -_ROOT])
    assert (one.lo <= -_ROOT).all() and (-_ROOT <= one.hi).all() and (one.hi - one.lo < 1e-14).all()
    assert (one.neighbourhood[0] < -_ROOT - 0.009).all() and (one.neighbourhood[1] > -_ROOT + 0.009).all()
    assert _isolated(lambda x: x[0] + x[1], circle, [_ROOT, _ROOT]) is IsolationFailure.SINGULAR
    assert isinstance(_isolated(lambda x: x[0] + x[1], [(circle[0][0], -INF, 1)], [_ROOT, _ROOT]), IsolationFailure)
    saddle = _isolated(lambda x: x[0] ** 2 - x[1] ** 2 + x[2], [(lambda x: x[2] - x[0], 0, INF)], [0.5, 0.0, 0.5])
    assert isinstance(saddle, IsolationFailure)


def test_what_cannot_be_told():
    square = [(lambda x: x[0], -INF, 1)]
    assert _isolated(lambda x: (x[0] - 1) ** 2 + x[1] ** 2, square, [1.0, 0.0]) is IsolationFailure.WEAK  # the multiplier is 0
    twice = [(lambda x: x[0], 1, INF), (lambda x: 2 * x[0], 2, INF)]
    assert _isolated(lambda x: x[0] + x[1] ** 2, twice, [1.0, 0.0]) is IsolationFailure.DEPENDENT
    rough = [(lambda x: abs(x[0]) + x[1], 1, 1)]
    assert isinstance(_isolated(lambda x: x[0] ** 2 + x[1], rough, [0.0, 1.0]), IsolationFailure)
    assert isinstance(_isolated(lambda x: x[0] ** 2 + x[1] ** 4, [(lambda x: x[0], 0, INF)], [0.0, 0.0]), IsolationFailure)


def test_another_minimiser_nearby():
    """Two minimisers on a parabola, 2e-3 apart: no box without another one holds both."""
    d = 1e-3
    row = [(lambda x: x[1] - (x[0] ** 2 - d**2) ** 2, 0, 0)]
    one = _isolated(lambda x: x[1], row, [d, 0.0], wide=0.1)
    assert not isinstance(one, IsolationFailure) and one.lo[0] <= d <= one.hi[0]
    assert not one.neighbourhood[0][0] <= -d * (1 + 1e-9)


def test_results_tell_it():
    f, disc = (lambda x: x[0] + x[1]), (lambda x: x[0] ** 2 + x[1] ** 2 <= 1)
    r = infimum.minimize(f, [(-2, 2)] * 2, constraints=disc)
    assert r.minimisers.exactly_one and (r.minimisers[0].lo <= -_ROOT).all() and (-_ROOT <= r.minimisers[0].hi).all()
    assert "exactly one, in" in str(r) and pickle.loads(pickle.dumps(r)).minimisers.exactly_one
    r = infimum.maximize(f, [(-2, 2)] * 2, constraints=disc, xtol=1e-8)
    assert r.minimisers.exactly_one and (r.minimisers[0].lo <= _ROOT).all()
    assert "exactly one global maximiser" in str(r.minimisers)
    assert all((hi - lo <= 1e-8).all() for lo, hi in r.boxes)
    r = infimum.minimize(lambda x: x[0] ** 2 + (x[1] - 1) ** 2, [(-1, 1)] * 2, constraints=lambda x: x[1] == x[0] ** 2)
    assert len(r.minimisers.may_be_global) == 2 and r.minimisers.rest == 0
    assert infimum.feasible([(-2, 2)] * 2, disc).minimisers is None
    assert infimum.minimize(f, [(-2, 2)] * 2, constraints=lambda x: x[0] >= 3).minimisers is None


def test_whole_numbers():
    r = infimum.minimize(lambda x: (x[0] - 3.6) ** 2 + (x[1] - 2.6) ** 2, [(0, 5)] * 2, integrality=[1, 0],
                         constraints=lambda x: x[0] + x[1] <= 5.5, xtol=1e-6)
    assert r.minimisers.exactly_one and r.minimisers[0].lo[0] == r.minimisers[0].hi[0] == 3.0
    assert r.minimisers[0].lo[1] <= 2.5 <= r.minimisers[0].hi[1]


def test_printing_looks_for_no_minimisers():
    """That takes kernels of their own; once they are known they are shown."""
    r = infimum.minimize(lambda x: x[0] + 2 * x[1], [(0, 4)] * 2, constraints=lambda x: x[0] * x[1] >= 1, atol=1e-3)
    assert "r.find_minimisers(time_limit=...) looks for minimisers" in str(r) and "minimisers" not in vars(r)
    assert r.minimisers.exactly_one and "exactly one, in" in str(r)
