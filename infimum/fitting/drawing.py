"""Drawings of a fit: data, the best fit and its residuals. Needs matplotlib."""

from typing import Any

import numpy as np

from infimum.fitting.data import Columns
from infimum.fitting.model import plain_call
from infimum.plotting.figures import figures
from infimum.support.lazy import dataclass

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


def curves(result: Any) -> list[Curve]:
    """What is drawn: a curve for each response."""
    data, fitted = result.problem.data, result.best_fit
    y, best, sigma = (None if a is None else data.by_response(a) for a in (data.y, fitted, data.sigma))
    single = data.single_x
    x = np.arange(y.shape[1]) if single is None or len(single) != y.shape[1] else single
    dense = _between(result, x) if x is single and len(np.unique(x)) > 1 else None
    found = []
    for k in range(min(len(y), _MOST_RESPONSES)):
        smooth = None if dense is None else (dense[0], dense[1][k])
        found.append(Curve(x, y[k], None if sigma is None else sigma[k], best[k], smooth))
    return found


def _between(result: Any, x: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The curve of each response on points between the data, by plain calls of the model; None where it knows those alone."""
    problem = result.problem
    if problem.model.function is None:
        return None
    at = np.linspace(x.min(), x.max(), _CURVE)
    given = Columns({name: at for name, _ in problem.data.x.items()}) if isinstance(problem.data.x, Columns) else at
    value = plain_call(problem.model, given, list(result.values.values()))
    if value is None or _CURVE not in value.shape or value.ndim != problem.data.y.ndim:
        return None
    return at, np.atleast_2d(value.T if value.shape[0] == _CURVE != value.shape[-1] else value)


def labels(result: Any) -> tuple[str, str, list[str]]:
    """What the user calls the abscissa, the ordinate, and the responses, if they have names of their own."""
    data, model = result.problem.data, result.problem.model
    single = data.single_x is not None
    x = (data.x_name or model.variable) if single else "number of the measurement"
    names = list(data.y_names) if len(data.y_names) == len(data.by_response(data.y)) else []
    return x, names[0] if len(names) == 1 else "y", names if len(names) > 1 else []


def draw(result: Any, ax: Any = None) -> Any:
    """The figure; or, where an Axes is given, data and fit there, and that Axes."""
    new_figure, found, (x, y, names) = figures("plot()"), curves(result), labels(result)
    if ax is not None:
        _draw_fit(ax, found, names)
        ax.set(xlabel=x, ylabel=y)
        return ax
    figure = new_figure(figsize=(7, 6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, gridspec_kw={"height_ratios": (3, 1)})
    _draw_fit(above, found, names)
    above.set(ylabel=y)
    for k, curve in enumerate(found):
        below.errorbar(curve.x, curve.y - curve.fitted, curve.sigma, fmt=".", color=f"C{k}")
    below.axhline(0.0, color="black", linewidth=0.8)
    below.set(xlabel=x, ylabel="residual")
    figure.suptitle(f"{result.verdict.name}: {result.uniqueness}", fontsize="medium", wrap=True)
    return figure


def _draw_fit(axis: Any, found: list[Curve], names: list[str]) -> None:
    for k, curve in enumerate(found):
        measured, best = (names[k], None) if names else ("data", "best fit") if not k else (None, None)
        axis.errorbar(curve.x, curve.y, curve.sigma, fmt=".", color=f"C{k}", label=measured)
        line = (curve.x, curve.fitted, "x") if curve.smooth is None else (*curve.smooth, "-")
        axis.plot(*line, color=f"C{k}", alpha=0.7, label=best)
    axis.legend(fontsize="small")
