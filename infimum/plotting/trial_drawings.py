"""Drawings of trials, from plain arrays: how many problems methods have solved, how the best value fell, where on a space-filling
curve they were.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from infimum.errors import OptionError
from infimum.plotting.figures import legend, on
from infimum.support import environment
from infimum.support.lazy import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Of a method: after `trials[k]` trials it had solved the share `solved[k]` of its problems; `text`: how many in the end."""

    trials: np.ndarray
    solved: np.ndarray
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class BestValues:
    """The trials, numbered from 1, with their values, NaN where there is none, and the best from each on that has one before."""

    numbers: np.ndarray
    values: np.ndarray
    best: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class CurveMap:
    """A curve in the plane, the trials with a value and those without, and which of the first is the best."""

    curve: np.ndarray
    points: np.ndarray
    values: np.ndarray
    without: np.ndarray
    best: int | None


def solved_shares(trials: Mapping[str, Any]) -> dict[str, Shares]:
    """What an operating characteristic shows. For each method: the number of trials after which each problem was solved, None,
    NaN or infinite where it was not.

    >>> shares = solved_shares({"index": [30, 10, None, 20]})["index"]
    >>> shares.trials.tolist(), shares.solved.tolist(), shares.text
    ([0.0, 10.0, 20.0, 30.0], [0.0, 0.25, 0.5, 0.75], '3 of 4')
    """
    if not isinstance(trials, Mapping) or not trials:
        raise OptionError("an operating characteristic is drawn from a dict {method: numbers of trials}, one number for each "
                          f"problem, not from {trials!r}")
    counts = {str(name): _numbers(given, f"the numbers of trials of {name!r}") for name, given in trials.items()}
    for name, given in counts.items():
        if not len(given) or (given < 0).any():
            raise OptionError(f"the numbers of trials of {name!r} must be at least 0, one for each problem, not {trials[name]!r}")
    solved = {name: np.sort(given[np.isfinite(given)]) for name, given in counts.items()}
    last = max((given[-1] for given in solved.values() if len(given)), default=0.0)
    found = {}
    for name, given in solved.items():
        steps, together = np.unique(np.concatenate([[0.0], given]), return_counts=True)
        together[0] -= 1  # the beginning is no problem
        share = np.cumsum(together) / len(counts[name])
        if steps[-1] < last:  # all lines are of the same length
            steps, share = np.append(steps, last), np.append(share, share[-1])
        found[name] = Shares(steps, share, f"{len(given)} of {len(counts[name])}")
    return found


def best_values(values: Any, maximised: bool = False) -> BestValues:
    """What a history of trials shows. `values`: in the order of the trials, None, NaN or infinite where a trial failed or was not
    feasible.

    >>> best_values([None, 3.0, 5.0, 2.0]).best.tolist()
    [nan, 3.0, 3.0, 2.0]
    """
    found = _numbers(values, "the values of the trials")
    found = np.where(np.isfinite(found), found, np.nan)
    return BestValues(np.arange(1, len(found) + 1), found, (np.fmax if maximised else np.fmin).accumulate(found))


def trials_on_curve(curve: Any, points: Any, values: Any = None, maximised: bool = False) -> CurveMap:
    """What the map of a curve shows. `curve` (m, 2) are the points that it goes through, `points` (k, 2) those of the trials, and
    `values` what they gave, as in `best_values`."""
    line, found = _plane(curve, "the curve"), _plane(points, "the points of the trials")
    if values is None:
        return CurveMap(line, found, np.full(len(found), np.nan), found[:0], None)
    given = best_values(values, maximised).values
    if len(given) != len(found):
        raise OptionError("there must be a value for each trial, None where there is none: "
                          f"{len(found)} points have {len(given)} values")
    known = np.isfinite(given)
    best = (np.argmax if maximised else np.argmin)(given[known]) if known.any() else None
    return CurveMap(line, found[known], given[known], found[~known], None if best is None else int(best))


def _numbers(given: Any, what: str) -> np.ndarray:
    try:
        found = np.array([np.nan if v is None else v for v in given], dtype=np.float64)
    except (TypeError, ValueError):
        found = None
    if found is None or found.ndim != 1:
        raise OptionError(f"{what} must be a list of numbers, with None where there is none, not {given!r}")
    return found


def _plane(given: Any, what: str) -> np.ndarray:
    try:
        found = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.ndim != 2 or found.shape[1] != 2 or not np.isfinite(found).all():
        shape = f" of the shape {found.shape}" if found.size else ""
        raise OptionError(f"{what} must be an array of points with two coordinates, of the shape (n, 2), not one{shape}")
    return found


@environment.ours
def operating_characteristic(trials: Mapping[str, Sequence[float | None]], ax: Any = None) -> Any:
    """The share of problems solved over the number of trials, a line for each method; see `solved_shares` for `trials`. Returns
    a figure of matplotlib, or `ax`, the Axes to draw on."""
    shown = solved_shares(trials)

    def draws(axis: Any) -> None:
        for name, shares in shown.items():
            axis.step(shares.trials, shares.solved, where="post", label=f"{name} ({shares.text})")
        axis.set(xlabel="trials", ylabel="share of problems solved", ylim=(-0.02, 1.02))
        legend(axis)
    return on(ax, "operating_characteristic()", draws)


@environment.ours
def history_of_trials(values: Sequence[float | None], maximised: bool = False, ax: Any = None) -> Any:
    """The value of each trial, and the best so far; see `best_values`. Returns a figure, or `ax`, the Axes to draw on."""
    shown = best_values(values, maximised)

    def draws(axis: Any) -> None:
        axis.plot(shown.numbers, shown.values, ".", color="tab:gray", markersize=3, label="trials")
        axis.step(shown.numbers, shown.best, where="post", label="best value")
        axis.set(xlabel="trials", ylabel="f")
        legend(axis)
    return on(ax, "history_of_trials()", draws)


@environment.ours
def curve_with_trials(curve: Any, points: Any, values: Sequence[float | None] | None = None, maximised: bool = False,
                      ax: Any = None) -> Any:
    """A space-filling curve in two variables and the trials on it, coloured by their values; see `trials_on_curve`. Returns a
    figure, or `ax`, the Axes to draw on."""
    shown = trials_on_curve(curve, points, values, maximised)

    def draws(axis: Any) -> None:
        axis.plot(*shown.curve.T, color="tab:gray", linewidth=0.5, label="curve")
        colours = {} if values is None else {"c": shown.values, "cmap": "viridis"}
        drawn = axis.scatter(*shown.points.T, s=8, label="trials", zorder=2, **colours)
        if len(shown.without):
            axis.plot(*shown.without.T, "x", color="tab:red", markersize=4, label="trials without a value")
        if shown.best is not None:
            axis.plot(*shown.points[shown.best], "k*", label="best value")
            if ax is None:
                axis.figure.colorbar(drawn, ax=axis, label="f")
        axis.set(xlabel="x[0]", ylabel="x[1]")
        legend(axis)
    return on(ax, "curve_with_trials()", draws)
