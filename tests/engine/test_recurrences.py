"""Fits of recurrences, written as loops over time: proved by affine bounds within so many boxes as do not suffice without."""

import numpy as np

import infimum

BOUNDS, MOST = [(0.01, 2.0), (10.0, 100.0), (0.1, 10.0)], 600_000


def growth(p, steps=20, step=0.5):
    """Logistic growth by explicit Euler: rate, capacity, beginning."""
    u, found = p[2], []
    for _ in range(steps):
        u = u + step * p[0] * u * (1 - u / p[1])
        found.append(u)
    return found


DATA = (np.array(growth((0.8, 50.0, 2.0))) + np.sin(np.arange(20.0) ** 2)).tolist()


def misfit(p):
    return sum((u - y) ** 2 for u, y in zip(growth(p), DATA, strict=True))


def test_logistic_growth_is_proved():
    r = infimum.minimize(misfit, BOUNDS, rtol=1e-3, atol=0, max_boxes=MOST)
    assert r.verdict.name == "PROVED" and r.lower <= misfit(r.x) <= r.upper * (1 + 1e-12)
    assert misfit((0.8, 50.0, 2.0)) >= r.lower


def test_a_run_that_is_resumed_goes_on_alike(tmp_path):
    whole = infimum.minimize(misfit, BOUNDS, rtol=1e-2, atol=0)
    path = tmp_path / "run.inf"
    infimum.minimize(misfit, BOUNDS, rtol=1e-2, atol=0, max_boxes=whole.nfev // 2, checkpoint=path)
    r = infimum.resume(path, misfit, max_boxes=None)
    assert (r.lower, r.upper, r.nfev, r.verdict) == (whole.lower, whole.upper, whole.nfev, whole.verdict)
