"""The pictures of docs/bounds.md show bounds: f lies between them, and each kind is better than the one before."""

from pathlib import Path

import numpy as np
import pytest

from docs import draw_bounds

PAGE = (Path(draw_bounds.__file__).parent / "bounds.md").read_text()


def lower(name: str) -> np.ndarray:
    return draw_bounds.bounds(name)[2:4].min(axis=0)


@pytest.mark.parametrize("name", draw_bounds.NAMES)
@pytest.mark.parametrize("cells", [1, 4, 50])
def test_the_function_lies_between_its_bounds(name, cells):
    for a, c, low_a, low_c, high_a, high_c in draw_bounds.bounds(name, cells).T:
        x = np.linspace(a, c, 101)
        value, share = draw_bounds.function(x[None]), (x - a) / (c - a)
        assert (low_a + share * (low_c - low_a) <= value + 1e-12).all()
        assert np.isnan(high_a) or (value <= high_a + share * (high_c - high_a) + 1e-12).all()


def test_each_kind_of_bound_is_at_least_as_good_as_the_one_before():
    interval, mean_value, linear, lp = map(lower, draw_bounds.NAMES)
    assert (interval <= mean_value).all() and (mean_value < linear).all() and (linear < lp).all()
    for found in (interval, mean_value, linear, lp):
        assert all(f"| {abs(v) if round(v, 3) == 0 else v:.3f} |" in PAGE for v in found)


def test_the_pictures_are_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    draw_bounds.draw(tmp_path)
    assert len(list(tmp_path.glob("*.svg"))) == 4 and all(p.stat().st_size < 40_000 for p in tmp_path.glob("*.svg"))
