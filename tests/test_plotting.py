"""Drawings: the data they show, and that matplotlib can draw them."""

import builtins

import numpy as np
import pytest

import infimum
from infimum.plotting import convergence, region_map


def test_bounds_close_in():
    r = infimum.minimize(lambda x: (x[0] ** 2 - 1) ** 2 + x[0] * x[1] ** 2, [(-2, 2), (-1, 1)])
    shown = convergence(r)
    known = shown.lower[~np.isnan(shown.lower)]
    assert len(known) and (np.diff(known) >= 0).all() and (np.diff(shown.upper) <= 0).all()
    assert (np.diff(shown.seconds) >= 0).all()
    assert shown.upper[-1] == r.upper and known[-1] == r.lower


def test_map_of_regions():
    r = infimum.minimize(lambda x: (x[0] ** 2 - 1) ** 2 + x[1] ** 2, [(-2, 2), (-1, 1)], xtol=1e-3)
    shown = region_map(r)
    assert shown.values.shape == (200, 200) and len(shown.boxes) == len(r.boxes) == 2
    i, j = np.unravel_index(np.argmin(shown.values), shown.values.shape)
    assert abs(abs(shown.axes[0][i]) - 1) < 0.02 and abs(shown.axes[1][j]) < 0.01


@pytest.mark.parametrize("n, drawings", [(1, 2), (2, 2), (3, 1)])
def test_drawn(n, drawings, tmp_path):
    figure = infimum.minimize(lambda x: np.sum((x - 0.25) ** 4), [(-1, 1)] * n).plot()
    assert len(figure.axes) == drawings
    figure.savefig(tmp_path / "run.png")
    assert (tmp_path / "run.png").stat().st_size > 5000


def test_without_matplotlib(monkeypatch):
    r = infimum.minimize(lambda x: x[0] ** 2, [(-1, 1)])
    real = builtins.__import__

    def hidden(name, *rest):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest)
    monkeypatch.setattr(builtins, "__import__", hidden)
    with pytest.raises(infimum.OptionError, match="pip install"):
        r.plot()
