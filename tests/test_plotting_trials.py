"""Drawings of trials: the data they show, and that matplotlib can draw them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

import infimum
from infimum.plotting import (
    best_values,
    curve_with_trials,
    history_of_trials,
    operating_characteristic,
    solved_shares,
    trials_on_curve,
)
from tests.test_plotting import hide_matplotlib, labels

CORNERS = [(0, 0), (0, 1), (1, 1), (1, 0)]
NUMBERS = st.one_of(st.none(), st.integers(0, 30), st.just(np.inf), st.just(np.nan))


@given(st.dictionaries(st.text(min_size=1), st.lists(NUMBERS, min_size=1), min_size=1))
def test_shares_are_counts(trials):
    shown = solved_shares(trials)
    assert list(shown) == list(trials)
    last = max((n for numbers in trials.values() for n in numbers if n is not None and n < np.inf), default=0)
    for name, numbers in trials.items():
        shares = shown[name]
        assert shares.trials[0] == 0 and shares.trials[-1] == last and (np.diff(shares.trials) > 0).all()
        for after, share in zip(shares.trials, shares.solved, strict=True):
            assert share == sum(n is not None and n <= after for n in numbers) / len(numbers)


@given(st.lists(st.one_of(st.none(), st.floats()), min_size=1), st.booleans())
def test_the_best_value_so_far(values, maximised):
    shown, best = best_values(values, maximised), max if maximised else min
    assert shown.numbers.tolist() == list(range(1, len(values) + 1))
    for k, found in enumerate(shown.best):
        known = [v for v in values[:k + 1] if v is not None and np.isfinite(v)]
        assert found == best(known) if known else np.isnan(found)


def test_trials_on_a_curve():
    points, values = [(0.1, 0.2), (0.5, 0.5), (0.9, 0.1)], [3.0, None, 1.0]
    shown = trials_on_curve(CORNERS, points, values)
    assert shown.curve.shape == (4, 2) and shown.points.tolist() == [[0.1, 0.2], [0.9, 0.1]] and shown.best == 1
    assert shown.without.tolist() == [[0.5, 0.5]] and trials_on_curve(CORNERS, points, values, maximised=True).best == 0
    assert trials_on_curve(CORNERS, points).best is None and trials_on_curve(CORNERS, points, [None] * 3).best is None


def test_what_is_marked():
    axis, = operating_characteristic({"index": [10, 30, None], "DIRECT": [50, None, None]}).axes
    assert labels(axis) == ["index (2 of 3)", "DIRECT (1 of 3)"] and axis.get_xlabel() == "trials"
    lines = [line.get_xydata().tolist() for line in axis.get_lines()]
    assert lines[1] == [[0, 0], [50, 1 / 3]] and lines[0][-1] == [50, 2 / 3]
    assert labels(history_of_trials([3.0, np.nan, 2.0]).axes[0]) == ["trials", "best value"]
    figure = curve_with_trials(CORNERS, [(0, 0), (1, 1)], [1.0, np.nan])
    assert labels(figure.axes[0]) == ["curve", "trials", "trials without a value", "best value"]
    assert [axis.get_ylabel() for axis in figure.axes] == ["x[1]", "f"]


@pytest.mark.parametrize("draw", [
    lambda ax=None: operating_characteristic({"a": [1, 2], "b": [None, None]}, ax=ax),
    lambda ax=None: history_of_trials([None, 2.0, 1.0], ax=ax), lambda ax=None: history_of_trials([None], ax=ax),
    lambda ax=None: curve_with_trials(CORNERS, [(0.5, 0.5)], [1.0], ax=ax),
    lambda ax=None: curve_with_trials(CORNERS, [(0.5, 0.5)], [np.nan], ax=ax),
    lambda ax=None: curve_with_trials(CORNERS, np.empty((0, 2)), ax=ax)])
def test_drawn_alone_and_on_given_axes(draw, tmp_path, monkeypatch):
    draw().savefig(tmp_path / "trials.png")
    assert (tmp_path / "trials.png").stat().st_size > 5000
    figure = Figure()
    axis = figure.add_subplot()
    assert draw(axis) is axis and axis.has_data() and figure.axes == [axis]
    hide_matplotlib(monkeypatch)
    with pytest.raises(infimum.OptionError, match=r"_.*\(\) needs matplotlib: pip install"):
        draw()


@pytest.mark.parametrize("wrong", [
    lambda: solved_shares({}), lambda: solved_shares([1, 2]), lambda: solved_shares({"a": []}),
    lambda: solved_shares({"a": [-1]}), lambda: solved_shares({"a": 3}), lambda: solved_shares({"a": ["many"]}),
    lambda: best_values([[1.0], [2.0]]), lambda: best_values(None),
    lambda: trials_on_curve(CORNERS, [(0, 0, 0)]), lambda: trials_on_curve([0, 1], [(0, 0)]),
    lambda: trials_on_curve(CORNERS, [(0, 0)], [1.0, 2.0]), lambda: trials_on_curve("curve", [(0, 0)]),
    lambda: trials_on_curve(CORNERS, [(0, np.nan)])])
def test_bad_input(wrong):
    with pytest.raises(infimum.OptionError, match="not|must be"):
        wrong()
