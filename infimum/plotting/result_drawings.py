"""Drawings of a result: how the gap closed, and for one or two variables where the minimisers can be."""

from typing import Any

import numpy as np

from infimum.plotting.figures import figures, legend
from infimum.support.lazy import dataclass

_GRID, _LEVELS = 200, 30
_LARGEST_BOUND, _MAP_RADIUS = 1e100, 10.0  # bounds beyond that are not shown, and how far a map looks instead
_BOXES = 2000                              # drawn at most, those that come first
_TINY = 1e-300                             # a gap below that is drawn as 0


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
    reach = max(_MAP_RADIUS, 2 * abs(x))
    low = lo if lo > -_LARGEST_BOUND else min(x, hi) - reach
    high = hi if hi < _LARGEST_BOUND else max(x, low) + reach
    return np.linspace(low, high, _GRID)


def draw(result: Any, ax: Any = None) -> Any:
    """The figure; or, where an Axes is given, the first drawing there is of map and convergence, and that Axes."""
    new_figure = figures("plot()")
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


def _draw_convergence(axis: Any, shown: Convergence) -> None:
    axis.step(shown.seconds, shown.values, where="post", marker=".")
    if shown.is_gap:
        axis.set_yscale("log", nonpositive="mask")
        closed = np.flatnonzero(shown.values == 0)
        if len(closed):  # 0 has no place on the scale
            axis.axvline(shown.seconds[closed[0]], linestyle=":", label="upper = lower")
    axis.set(xlabel="seconds", ylabel="upper - lower" if shown.is_gap else "best value")
    axis.locator_params(axis="x", nbins=5)
    legend(axis)


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
            axis.add_collection(PatchCollection(boxes, edgecolor="tab:red", facecolor=(1, 0, 0, 0.15)))
            # boxes may be too small to be seen, and collections of them have no place in the legends of matplotlib before 3.11
            axis.plot(*ends.mean(axis=1).T, ".", color="tab:red", markersize=3, label="minimisers")
        if shown.x is not None:
            axis.plot(*shown.x, "k+", label="x")
        axis.set(xlabel="x[0]", ylabel="x[1]", xlim=shown.axes[0][[0, -1]], ylim=shown.axes[1][[0, -1]])
    legend(axis)
