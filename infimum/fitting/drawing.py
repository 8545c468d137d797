"""Drawings of a fit: data, the best fit and its residuals. Needs matplotlib."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from infimum.errors import InfimumError, OptionError

_MOST_RESPONSES = 10
_CURVE = 400  # points of a curve


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """One response over the abscissa: measured, with error bars if there are any, and fitted; `smooth` is (x, y) of the curve
    between the data, or None where x is not a single variable."""

    x: np.ndarray
    y: np.ndarray
    sigma: np.ndarray | None
    fitted: np.ndarray
    smooth: tuple[np.ndarray, np.ndarray] | None


def curves(result: Any) -> tuple[str, list[Curve]]:
    """What is drawn: the name of the abscissa, and a curve for each response."""
    data, fitted = result.problem.data, result.best_fit
    single = isinstance(data.x, np.ndarray) and data.x.ndim == 1
    by_column = single and data.y.ndim == 2 and data.y.shape[1] != len(data.x)  # (N, r)
    y, best, sigma = (None if a is None else np.atleast_2d(a.T if by_column else a) for a in (data.y, fitted, data.sigma))
    x = data.x if single else np.arange(y.shape[1])
    dense = _between(result, x) if single and len(np.unique(x)) > 1 else None
    found = []
    for k in range(min(len(y), _MOST_RESPONSES)):
        smooth = None if dense is None else (dense[0], np.atleast_2d(dense[1].T if by_column else dense[1])[k])
        found.append(Curve(x, y[k], None if sigma is None else sigma[k], best[k], smooth))
    return ("x" if single else "number of the measurement"), found


def _between(result: Any, x: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    if result.problem.model.function is None:
        return None
    at = np.linspace(x.min(), x.max(), _CURVE)
    try:
        value = result.predict(at).value
    except InfimumError:  # the model may know the x of the data alone
        return None
    return (at, value) if np.isfinite(value).all() and _CURVE in value.shape else None


def draw(result: Any, ax: Any = None) -> Any:
    """The figure; or, where an Axes is given, data and fit there, and that Axes."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise OptionError("plot() needs matplotlib: pip install infimum[plot]") from None
    name, found = curves(result)
    if ax is not None:
        _draw_fit(ax, found)
        ax.set(xlabel=name, ylabel="y")
        return ax
    figure = Figure(figsize=(7, 6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, gridspec_kw={"height_ratios": (3, 1)})
    _draw_fit(above, found)
    above.set(ylabel="y")
    for k, curve in enumerate(found):
        below.errorbar(curve.x, curve.y - curve.fitted, curve.sigma, fmt=".", color=f"C{k}")
    below.axhline(0.0, color="black", linewidth=0.8)
    below.set(xlabel=name, ylabel="residual")
    figure.suptitle(f"{result.verdict.name}: {result.uniqueness}", fontsize="medium", wrap=True)
    return figure


def _draw_fit(axis: Any, found: list[Curve]) -> None:
    for k, curve in enumerate(found):
        axis.errorbar(curve.x, curve.y, curve.sigma, fmt=".", color=f"C{k}", label="data" if not k else None)
        line = (curve.x, curve.fitted, "x") if curve.smooth is None else (*curve.smooth, "-")
        axis.plot(*line, color=f"C{k}", alpha=0.7, label="best fit" if not k else None)
    axis.legend(fontsize="small")
