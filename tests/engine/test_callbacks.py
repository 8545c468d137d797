"""Callbacks in all their forms."""

import functools

import numpy as np
import pytest

import infimum
from infimum.search.callbacks import Snapshot, read_callback

SEEN = Snapshot(np.array([1.0, 2.0]), 3.0, 40, 0.5, -1.0)


class Method:
    def plain(self, snapshot):
        return snapshot.fun

    def scipys(self, xk):
        return xk[0]

    def __call__(self, state):
        return state.lower


@pytest.mark.parametrize(("callback", "told"), [
    (lambda snapshot: snapshot.fun, 3.0),
    (lambda s, more=1: s.nfev + more, 41),
    (lambda *args: len(args), 1),
    (lambda xk: xk[1], 2.0),
    (lambda x, /: x[1], 2.0),
    (lambda intermediate_result: intermediate_result.x[0] + intermediate_result.fun, 4.0),
    (lambda *, intermediate_result: intermediate_result.fun, 3.0),
    (lambda xk, convergence: (xk[0], convergence), (1.0, 0.0)),
    (lambda xk, convergence=0.25: (xk[0], convergence), (1.0, 0.25)),
    (lambda x, f, context: (x[0], f, context), (1.0, 3.0, 0)),
    (lambda x, f, accept: (f, accept), (3.0, True)),
    (Method().plain, 3.0), (Method().scipys, 1.0), (Method(), -1.0),
    (functools.partial(lambda factor, xk: factor * xk[0], 5), 5.0),
])
def test_forms(callback, told):
    assert read_callback(callback)(SEEN) == told


@pytest.mark.parametrize("callback", [lambda: True, lambda a, b: True, lambda *, a: True, lambda xk, unknown: True, 5, "stop"])
def test_other_forms_are_refused_before_any_work(callback):
    with pytest.raises(infimum.OptionError, match=r"callback\(snapshot\), or in scipy's forms callback\(xk\)"):
        infimum.minimize(lambda x: x[0], [(0, 1)], callback=callback)


def test_a_callback_of_scipys_stops_a_run():
    points = []

    def callback(xk, convergence):
        points.append(xk)
        return len(points) == 3
    r = infimum.minimize(lambda x: np.sin(x[0] * x[1]) + x[1] ** 2, [(-9, 8)] * 2, callback=callback)
    assert r.message.startswith("stopped by the callback") and len(points) == 3 and all(p.shape == (2,) for p in points)
