"""How long points are looked for before a proof begins."""

import numpy as np
import pytest

import infimum


@pytest.mark.parametrize("above", (0.0, 3.0))
def test_a_search_ends_at_the_lowest_value_there_can_be(above):
    """The natural enclosure tells of a sum of squares that it is not negative."""
    def f(x):
        return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2 + above
    r, longer = (infimum.minimize(g, [(-5, 10)] * 2) for g in (f, lambda x: f(x) - x[0] * 1e-3))
    assert r.verdict is longer.verdict is infimum.Verdict.PROVED and r.nfev < 5000 < longer.nfev
    assert np.abs(r.x - 1).max() < 1e-6 and r.lower <= above <= r.upper <= above + 1e-9 * max(1.0, abs(above))


def test_a_function_of_many_data_is_not_searched_by_a_swarm_at_first():
    t = np.linspace(-8, 8, 3000)

    def fit(p):
        return np.sum((np.sin(3 * t) + 0.1 * np.cos(9 * t) - p[0] * np.sin(p[1] * t)) ** 2)
    r = infimum.minimize(fit, [(0, 2), (0, 6)], xtol=1e-3)
    assert r.verdict is infimum.Verdict.PROVED and r.nfev < 20_000 and np.abs(r.x - [1, 3]).max() < 1e-2
