"""Drawings of a result: how the bounds closed in, and for one or two variables where the minimisers can be. Needs matplotlib."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from infimum.errors import OptionError

_GRID = 200


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
    """The bounds over time; lower bounds that are not known are left out."""

    seconds: np.ndarray
    upper: np.ndarray
    lower: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Map:
    """The function on a grid (an estimate), or along a line for one variable, and the boxes of the minimisers."""

    axes: list[np.ndarray]
    values: np.ndarray
    boxes: list[tuple[np.ndarray, np.ndarray]]


def convergence(result: Any) -> Convergence:
    """What the first drawing shows."""
    rows = [(h.seconds, h.fun, h.lower) for h in result.history] + [(result.seconds, result.upper, result.lower)]
    seconds, upper, lower = np.array(rows).T
    return Convergence(seconds, np.where(np.isfinite(upper), upper, np.nan), np.where(np.isfinite(lower), lower, np.nan))


def region_map(result: Any) -> Map | None:
    """What the second drawing shows; None for more than two variables, or where the function is not known any more."""
    if result.view is None or len(result.view.lo) > 2:
        return None
    ends = [np.where(np.isfinite(side), side, edge) for side, edge in ((result.view.lo, -10.0), (result.view.hi, 10.0))]
    axes = [np.linspace(a, b, _GRID) for a, b in zip(*ends, strict=True)]
    points = np.stack([g.ravel() for g in np.meshgrid(*axes, indexing="ij")])
    values = np.nan * points[0] if result.view.estimate is None else result.view.estimate(points)
    values = values.reshape([_GRID] * len(axes))
    return Map(axes, np.where(np.isfinite(values), values, np.nan), list(result.boxes or []))


def draw(result: Any) -> Any:
    """The figure."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.patches import Rectangle
    except ImportError:
        raise OptionError("plot() needs matplotlib: pip install infimum[plot]") from None
    bounds, regions = convergence(result), region_map(result)
    figure = Figure(figsize=(10, 4) if regions else (5, 4), layout="constrained")
    left, *right = np.atleast_1d(figure.subplots(1, 2 if regions else 1))
    left.step(bounds.seconds, bounds.upper, where="post", label="upper")
    left.step(bounds.seconds, bounds.lower, where="post", label="lower")
    left.set(xlabel="seconds", ylabel="bounds of the infimum", title=result.verdict.name)
    left.legend()
    if regions:
        axis = right[0]
        if len(regions.axes) == 1:
            axis.plot(regions.axes[0], regions.values)
            for lo, hi in regions.boxes:
                axis.axvspan(lo[0], hi[0], color="tab:red", alpha=0.5)
            axis.set(xlabel="x[0]", ylabel="f", title="boxes of the minimisers")
        else:
            axis.contour(*regions.axes, regions.values.T, levels=30, linewidths=0.5)
            for lo, hi in regions.boxes:
                axis.add_patch(Rectangle(lo, *(hi - lo), edgecolor="tab:red", facecolor="none"))
                axis.plot(*((lo + hi) / 2), "r+")
            axis.set(xlabel="x[0]", ylabel="x[1]", title="boxes of the minimisers")
    return figure
