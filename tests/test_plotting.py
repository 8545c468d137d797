"""Drawings: the data they show, and that matplotlib can draw them."""

import builtins
import pickle
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

import infimum
from infimum.plotting import convergence, region_map
from infimum.result import Progress


def test_the_gap_closes():
    r = infimum.minimize(lambda x: (x[0] ** 2 - 1) ** 2 + x[0] * x[1] ** 2, [(-2, 2), (-1, 1)])
    shown = convergence(r)
    assert shown.is_gap and (np.diff(shown.values) <= 0).all() and (np.diff(shown.seconds) >= 0).all()
    assert 0 < shown.values[-1] <= r.gap


def test_the_best_value_of_a_search():
    r = infimum.minimize(lambda x: (x[0] - 0.3) ** 2, [(-2, 2)], engine="swarm")
    shown = convergence(r)
    assert not shown.is_gap and shown.values[-1] == r.upper and (np.diff(shown.values) <= 0).all()


def test_nothing_to_close():
    assert convergence(infimum.minimize(lambda x: x[0] ** 2, [(-1, 1)])) is None
    nowhere = infimum.minimize(lambda x: np.log(-1 - x[0] ** 2), [(-1, 1)])
    assert convergence(nowhere) is None and region_map(nowhere) is None and nowhere.plot().axes == []


def test_map_of_regions():
    r = infimum.minimize(lambda x: (x[0] ** 2 - 1) ** 2 + x[1] ** 2, [(-2, 2), (-1, 1)], xtol=1e-3)
    shown = region_map(r)
    assert shown.values.shape == (200, 200) and len(shown.boxes) == len(r.boxes) == 2
    i, j = np.unravel_index(np.argmin(shown.values), shown.values.shape)
    assert abs(abs(shown.axes[0][i]) - 1) < 0.02 and abs(shown.axes[1][j]) < 0.01


def test_infinite_bounds_are_drawn_around_x():
    shown = region_map(infimum.minimize(lambda x: (x[0] - 3) ** 2 + x[1] ** 2, [(0, np.inf), (-np.inf, np.inf)], xtol=1e-3))
    assert shown.axes[0][0] == 0 and 3 < shown.axes[0][-1] < 20 and -20 < shown.axes[1][0] < 0 < shown.axes[1][-1] < 20
    assert np.isfinite(shown.values).all()


def labels(axis) -> list[str]:
    return axis.get_legend_handles_labels()[1]


def test_what_is_marked():
    one, two = (infimum.minimize(lambda x: np.sum((x - 0.25) ** 4 - x), [(-1, 1)] * n) for n in (1, 2))
    assert labels(one.plot().axes[-1]) == ["f (an estimate)", "minimisers", "x"] and labels(two.plot().axes[-1])[-1] == "x"
    assert one.plot().axes[0].get_yscale() == "log" and one.plot().axes[0].get_legend() is None
    swarm = infimum.minimize(lambda x: np.sum(x**2), [(-1, 1)] * 2, engine="swarm").plot().axes
    assert labels(swarm[1]) == ["x"] and swarm[0].get_yscale() == "linear"


def test_what_was_unpickled_is_drawn_without_contours():
    r = infimum.minimize(lambda x: np.sum((x - 0.25) ** 4 - x), [(-1, 1)] * 2)
    copied = pickle.loads(pickle.dumps(r))
    assert region_map(copied).values is None and "x" in labels(copied.plot().axes[-1])


def test_on_given_axes():
    r = infimum.minimize(lambda x: np.sum((x - 0.25) ** 4 - x), [(-1, 1)] * 2)
    axis = Figure().add_subplot()
    assert r.plot(ax=axis) is axis and axis.get_xlabel() == "x[0]" and axis.get_title() == "PROVED"


@pytest.mark.parametrize("case", ["undefined", "no upper", "no lower", "constant"])
def test_odd_results_are_drawn(case, tmp_path):
    f = {"undefined": lambda x: np.log(-1 - x[0] ** 2),
         "no upper": lambda x: np.sqrt(x[0] - x[1] ** 2) + np.sqrt(x[1] ** 2 - x[0]),
         "no lower": lambda x: x[0] * x[1] / (x[0] ** 2 + x[1] ** 2), "constant": lambda x: 3.0 + 0 * x[0]}[case]
    figure = infimum.minimize(f, [(-1.1, 1.3)] * 2, max_boxes=500).plot()
    figure.savefig(tmp_path / "run.png")
    assert all(axis.has_data() for axis in figure.axes)


def test_in_a_notebook(monkeypatch):
    r = replace(infimum.minimize(lambda x: x[0] ** 2, [(-1, 1)]), message="<b> & 'so' on")
    shown = r._repr_html_()
    assert shown.startswith("<table>") and "&lt;b&gt; &amp; &#x27;so&#x27; on" in shown and "<b>" not in shown
    assert shown.endswith("'>") and "<img src='data:image/png;base64," in shown
    hide_matplotlib(monkeypatch)
    assert r._repr_html_().endswith("</table>")


@pytest.mark.parametrize("n, drawings", [(1, 2), (2, 2), (3, 1)])
def test_drawn(n, drawings, tmp_path):
    figure = infimum.minimize(lambda x: np.sum((x - 0.25) ** 4 - x), [(-1, 1)] * n).plot()
    assert len(figure.axes) == drawings
    figure.savefig(tmp_path / "run.png")
    assert (tmp_path / "run.png").stat().st_size > 5000


def test_a_history_that_begins_with_a_closed_gap_is_not_drawn():
    r = infimum.minimize(lambda x: x[0] ** 2, [(-1, 1)])
    early = replace(r, lower=-1e-9, history=[Progress(0.1, 10, 1.0), Progress(0.2, 20, 0.0, 0.0)])
    assert convergence(early) is None and len(early.plot().axes) == 1


def hide_matplotlib(monkeypatch) -> None:
    real = builtins.__import__

    def hidden(name, *rest):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest)
    monkeypatch.setattr(builtins, "__import__", hidden)


def test_without_matplotlib(monkeypatch):
    r = infimum.minimize(lambda x: x[0] ** 2, [(-1, 1)])
    hide_matplotlib(monkeypatch)
    with pytest.raises(infimum.OptionError, match="pip install"):
        r.plot()
