"""Drawings of a result: how the gap closed, and for one or two variables where the minimisers can be. And of trials, from plain
arrays: how many problems methods have solved, how the best value fell, where on a space-filling curve they were. Needs
matplotlib.
"""

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from infimum import environment
from infimum.errors import OptionError

_GRID, _LEVELS = 200, 30
_FAR, _REACH = 1e100, 10.0  # bounds beyond that are not shown, and how far a map looks instead
_BOXES = 2000  # drawn at most, those that come first
_TINY = 1e-300  # a gap below that is drawn as 0


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The function, as estimates of points (n, N), and the bounds of the problem. Copies share the function; a pickle holds the
    bounds alone, since compiled kernels stay in their process."""

    estimate: Callable[[np.ndarray], np.ndarray] | None
    lo: np.ndarray
    hi: np.ndarray

    def __reduce__(self) -> tuple:
        return View, (None, self.lo, self.hi)

    def __deepcopy__(self, memo: dict) -> "View":
        return self


@dataclass(frozen=True, slots=True, eq=False)
class Convergence:
    """A quantity over time, the best known from each moment on: the gap of a proof, or the best value of a search."""

    seconds: np.ndarray
    values: np.ndarray
    is_gap: bool


@dataclass(frozen=True, slots=True, eq=False)
class Map:
    """The function on a grid (an estimate; None where it is not known any more), or along a line for one variable, the boxes of
    the minimisers, and x."""

    axes: list[np.ndarray]
    values: np.ndarray | None
    boxes: list[tuple[np.ndarray, np.ndarray]]
    x: np.ndarray | None


def convergence(result: Any) -> Convergence | None:
    """What the first drawing shows; None where there never was a gap to close, nor a value."""
    rows = [(h.seconds, h.upper if result.maximised else h.fun, h.lower) for h in result.history]
    seconds, upper, lower = np.array([*rows, (result.seconds, result.upper, result.lower)]).T
    is_gap = bool((np.isfinite(lower) & np.isfinite(upper)).any())
    with np.errstate(invalid="ignore", over="ignore"):
        values = np.where(upper - lower > _TINY, upper - lower, 0.0) if is_gap else lower if result.maximised else upper
    known = np.isfinite(values)
    best = np.maximum if result.maximised and not is_gap else np.minimum
    values = best.accumulate(values[known])
    if not len(values) or (is_gap and values[0] == 0):
        return None
    return Convergence(seconds[known], values, is_gap)


def region_map(result: Any) -> Map | None:
    """What the second drawing shows; None for more than two variables, and where there is nothing to show."""
    view = result.view
    if view is None or len(view.lo) > 2:
        return None
    boxes = list(result.boxes or [])[:_BOXES]
    x = np.zeros(len(view.lo)) if result.x is None else result.x
    axes = [_axis(*ends) for ends in zip(view.lo, view.hi, x, strict=True)]
    values = None
    if view.estimate is not None:
        points = np.stack([g.ravel() for g in np.meshgrid(*axes, indexing="ij")])
        values = view.estimate(points).reshape([_GRID] * len(axes))
        values = np.where(np.isfinite(values), values, np.nan) if np.isfinite(values).any() else None
    return None if values is None and not boxes and result.x is None else Map(axes, values, boxes, result.x)


def _axis(lo: float, hi: float, x: float) -> np.ndarray:
    """Where a map looks: from bound to bound, or, where one is infinite or nearly so, around x."""
    reach = max(_REACH, 2 * abs(x))
    low = lo if lo > -_FAR else min(x, hi) - reach
    high = hi if hi < _FAR else max(x, low) + reach
    return np.linspace(low, high, _GRID)


def draw(result: Any, ax: Any = None) -> Any:
    """The figure; or, where an Axes is given, the first drawing there is of map and convergence, and that Axes."""
    new_figure = _figures("plot()")
    drawings = [(draws, shown) for draws, shown in ((_draw_convergence, convergence(result)), (_draw_map, region_map(result)))
                if shown is not None]
    if ax is not None:
        for draws, shown in drawings[-1:]:
            draws(ax, shown)
        ax.set_title(result.verdict.name)
        return ax
    figure = new_figure(figsize=(5 * max(1, len(drawings)), 4 if drawings else 0.5), layout="constrained")
    figure.suptitle(f"{result.verdict.name}: {result.message}", fontsize="medium", wrap=True)
    for k, (draws, shown) in enumerate(drawings):
        draws(figure.add_subplot(1, len(drawings), k + 1), shown)
    return figure


def _figures(what: str) -> Callable[..., Any]:
    """What makes a figure."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise OptionError(f"{what} needs matplotlib: pip install infimum[plot]") from None
    return Figure


def _draw_convergence(axis: Any, shown: Convergence) -> None:
    axis.step(shown.seconds, shown.values, where="post", marker=".")
    if shown.is_gap:
        axis.set_yscale("log", nonpositive="mask")
        closed = np.flatnonzero(shown.values == 0)
        if len(closed):  # 0 has no place on the scale
            axis.axvline(shown.seconds[closed[0]], linestyle=":", label="upper = lower")
    axis.set(xlabel="seconds", ylabel="upper - lower" if shown.is_gap else "best value")
    axis.locator_params(axis="x", nbins=5)
    _legend(axis)


def _draw_map(axis: Any, shown: Map) -> None:
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    if len(shown.axes) == 1:
        if shown.values is not None:
            axis.plot(shown.axes[0], shown.values, label="f (an estimate)")
        left, right = shown.axes[0][[0, -1]]
        for k, (lo, hi) in enumerate(shown.boxes):
            axis.axvspan(max(lo[0], left), min(hi[0], right), color="tab:red", alpha=0.3, label=None if k else "minimisers")
        if shown.x is not None:
            axis.axvline(shown.x[0], color="black", linestyle=":", label="x")
        axis.set(xlabel="x[0]", ylabel="f")
    else:
        if shown.values is not None and np.nanmax(shown.values) > np.nanmin(shown.values):
            levels = np.unique(np.nanquantile(shown.values, np.linspace(0, 1, _LEVELS)))  # as many points between any two
            axis.contour(*shown.axes, shown.values.T, levels=levels, linewidths=0.5)
        low, high = ([a[k] for a in shown.axes] for k in (0, -1))
        ends = np.array([np.clip(box, low, high) for box in shown.boxes])
        if len(ends):
            boxes = [Rectangle(lo, *(hi - lo)) for lo, hi in ends]
            axis.add_collection(PatchCollection(boxes, edgecolor="tab:red", facecolor=(1, 0, 0, 0.15), label="minimisers"))
            axis.plot(*ends.mean(axis=1).T, ".", color="tab:red", markersize=3)  # boxes may be too small to be seen
        if shown.x is not None:
            axis.plot(*shown.x, "k+", label="x")
        axis.set(xlabel="x[0]", ylabel="x[1]", xlim=shown.axes[0][[0, -1]], ylim=shown.axes[1][[0, -1]])
    _legend(axis)


def _legend(axis: Any) -> None:
    if axis.get_legend_handles_labels()[1]:
        axis.legend(fontsize="small")


def png(draw: Callable[[], Any]) -> bytes | None:
    """The figure as a PNG file; None without matplotlib."""
    try:
        figure = draw()
    except OptionError:
        return None
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=80)
    return file.getvalue()


# ---- trials, from plain arrays
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


def _on(ax: Any, what: str, draws: Callable[[Any], None]) -> Any:
    """The figure with a drawing; or, where an Axes is given, that Axes."""
    new_figure = _figures(what)
    if ax is not None:
        draws(ax)
        return ax
    figure = new_figure(figsize=(5, 4), layout="constrained")
    draws(figure.add_subplot())
    return figure


@environment.ours
def operating_characteristic(trials: Mapping[str, Sequence[float | None]], ax: Any = None) -> Any:
    """The share of problems solved over the number of trials, a line for each method; see `solved_shares` for `trials`. Returns
    a figure of matplotlib, or `ax`, the Axes to draw on."""
    shown = solved_shares(trials)

    def draws(axis: Any) -> None:
        for name, shares in shown.items():
            axis.step(shares.trials, shares.solved, where="post", label=f"{name} ({shares.text})")
        axis.set(xlabel="trials", ylabel="share of problems solved", ylim=(-0.02, 1.02))
        _legend(axis)
    return _on(ax, "operating_characteristic()", draws)


@environment.ours
def history_of_trials(values: Sequence[float | None], maximised: bool = False, ax: Any = None) -> Any:
    """The value of each trial, and the best so far; see `best_values`. Returns a figure, or `ax`, the Axes to draw on."""
    shown = best_values(values, maximised)

    def draws(axis: Any) -> None:
        axis.plot(shown.numbers, shown.values, ".", color="tab:gray", markersize=3, label="trials")
        axis.step(shown.numbers, shown.best, where="post", label="best value")
        axis.set(xlabel="trials", ylabel="f")
        _legend(axis)
    return _on(ax, "history_of_trials()", draws)


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
        _legend(axis)
    return _on(ax, "curve_with_trials()", draws)
