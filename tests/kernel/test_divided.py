"""Divided differences and their derivatives, against mpmath with many digits."""

from itertools import combinations_with_replacement

import mpmath
import numpy as np
import pytest

import infimum
from infimum.backend.python import PythonBackend
from infimum.interval.pair import Pair
from infimum.kernel.constant_data import Data
from infimum.kernel.forms.divided_differences import DividedDifferences, node_of
from infimum.kernel.ir import Builder
from infimum.kernel.meaning import Enclosures

T, ROW = np.arange(1, 6) / 2, 3
FUNCTIONS = {  # of NumPy, of mpmath, and how many of them
    "decays": (lambda a, t: np.exp(-a * t), lambda a, t: mpmath.exp(-a * t), 2),
    "three decays": (lambda a, t: np.exp(-a * t), lambda a, t: mpmath.exp(-a * t), 3),
    "periods": (lambda a, t: np.sin(2 * t / a), lambda a, t: mpmath.sin(2 * t / a), 2),
    "peaks": (lambda a, t: np.exp(-((t - a) ** 2)), lambda a, t: mpmath.exp(-((t - a) ** 2)), 2),
    "three poles": (lambda a, t: 1 / (a + t), lambda a, t: 1 / (a + t), 3),
}


def difference(g, nodes: list) -> mpmath.mpf:
    if len(nodes) == 1:
        return g(nodes[0])
    return (difference(g, nodes[1:]) - difference(g, nodes[:-1])) / (nodes[-1] - nodes[0])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_divided_differences_and_their_derivatives_are_enclosed(name):
    numpy_g, mp_g, p = FUNCTIONS[name]
    evaluator = infimum.compile(lambda x: np.sum((sum(x[p + k] * numpy_g(x[k], T) for k in range(p)) - T) ** 2), 2 * p)
    family, = evaluator.facts.separable.families
    rng, lanes, pairs = np.random.default_rng(p), 6, tuple(combinations_with_replacement(range(p), 2))
    centre, width = rng.uniform(0.8, 1.2, (p, lanes)), rng.choice((1e-6, 1e-2, 0.2), (p, lanes))
    lo, hi = centre - width, centre + width
    t = (lo + hi) / 2
    t[:, 0] = lo[:, 0] = hi[:, 0] = 1.0  # the same number
    b, data = Builder(), Data()
    rows = [[b.input(0, 3 * i + k) for k in range(3)] for i in range(p)]
    nodes = [node_of(b, i, *rows[i], family.inverse) for i in range(p)]
    divided = DividedDifferences(b, data, family, nodes, Enclosures())
    value, first, slopes, bends, sound = divided._difference(tuple(range(p)), (ROW,), p, pairs, True)
    b.output(0, 0, b.select(sound, 1.0, 0.0))
    found: list[Pair] = [value, *first, *slopes, *bends]
    for row, pair in enumerate(found):
        b.output(0, 1 + 2 * row, pair.nlo)
        b.output(0, 2 + 2 * row, pair.hi)
    out = np.empty((1 + 2 * len(found), lanes))
    inputs = np.stack([lo, hi, t], axis=1).reshape(3 * p, lanes)
    PythonBackend().compile(b.kernel("divided", 1, 1)).run([inputs], [out], data.doubles(), data.positions())
    assert (out[0] == 1).all()

    def node(x: mpmath.mpf) -> mpmath.mpf:
        return 1 / x if family.inverse else x

    def whole(*x: mpmath.mpf) -> mpmath.mpf:
        """As a function of the variables."""
        return difference(lambda u: mp_g(node(u), mpmath.mpf(float(T[ROW]))), [node(v) for v in x])
    with mpmath.workdps(120):
        for lane in range(lanes):
            for s in (None, *rng.uniform(-1, 1, (4, p))):
                x = t[:, lane] if s is None else np.clip(t[:, lane] + s * width[:, lane], lo[:, lane], hi[:, lane])
                x = [mpmath.mpf(float(v)) + mpmath.mpf(10) ** -40 * i for i, v in enumerate(x)]  # never the same
                orders = [*([0] * p for _ in range(s is None)), *(np.eye(p, dtype=int)[k].tolist() for k in range(p))]
                second = [(np.eye(p, dtype=int)[k] + np.eye(p, dtype=int)[m]).tolist() for k, m in pairs]
                expected, curved = ([mpmath.diff(whole, tuple(x), tuple(n), h=mpmath.mpf(10) ** -50) if any(n) else whole(*x)
                                     for n in each] for each in (orders, second))
                begin = 0 if s is None else 1 + p
                checks = [*enumerate(expected, begin), *enumerate(curved, 1 + 2 * p)]
                for place, v in checks:
                    nlo, high = out[1 + 2 * place, lane], out[2 + 2 * place, lane]
                    assert -nlo <= v + abs(v) * 1e-25 + 1e-25 and v - abs(v) * 1e-25 - 1e-25 <= high, (lane, place)
