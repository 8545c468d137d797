"""A search ends when every point was tried, however narrow the box is."""

import math

import pytest

import infimum


@pytest.mark.parametrize(("bounds", "settings", "count"), [
    ([(1, 1 + 1e-15)], {"time_limit": 60}, 6), ([(0, 0), (1, 1 + 1e-15)], {}, 6), ([(-5e-324, 5e-324)] * 2, {}, 9),
    ([(2**53, 2**53 + 4)], {"integrality": 1}, 3), ([(1, 1 + 1e-15), (0, 2)], {"integrality": [0, 1]}, 18),
    ([(1e308, 1e308)], {}, 1),
    ([(1e300, math.nextafter(1e300, 2e300))] * 3, {}, 8), ([(1, 1 + 1e-15)] * 2, {"options": {"asynchronous": True}}, 36),
    ([(1, 1 + 1e-15)] * 2, {"options": {"curve": "shifted", "order": 3}}, 36), ([(1, 1 + 1e-15)] * 2, {"batch": 7}, 36),
    ([(1, 1 + 1e-15)] * 2, {"options": {"curve": "nodes", "order": 1}}, 36), ([["a", "b"], (1, 1 + 4e-16)], {}, 6)])
def test_a_search_ends_when_every_point_was_tried(bounds, settings, count):
    seen = []

    def fun(x):
        seen.append(tuple(x))
        return float(len(seen) % 3)
    r = infimum.minimize(fun, bounds, engine="index", max_trials=200, **settings)
    assert len(seen) == len(set(seen)) == r.trials.count == count and r.success
    assert ("the only point there is was tried" if count == 1 else f"all {count} points there are were tried") in r.message


def test_a_study_ends_when_every_point_was_asked_for():
    study, asked = infimum.study([(1, 1 + 1e-15)]), []
    while (trial := study.ask()) is not None:
        asked.append(float(trial.x[0]))
        if len(asked) % 2:
            study.tell(trial, 1.0)
    assert len(asked) == len(set(asked)) == 6 and study.done == "every point was asked for" and study.ask() is None
