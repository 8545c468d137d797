"""curve_fit: under the name, the arguments and the results of scipy.optimize.curve_fit."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from infimum.api.keyword_errors import keywords_of, refuse
from infimum.api.solve import minimize
from infimum.errors import BoundsError, OptionError
from infimum.fitting.data import read_x
from infimum.fitting.entry import OPTIONS, fit
from infimum.fitting.model import Model
from infimum.fitting.report import is_wide
from infimum.fitting.result import FitResult
from infimum.problem.variable_bounds import listed
from infimum.support import environment

# what steers a local iteration from p0, which is not what happens here
_LOCAL = frozenset(("maxfev", "max_nfev", "ftol", "xtol", "gtol", "epsfcn", "factor", "diag", "col_deriv", "x_scale", "diff_step",
                    "tr_solver", "tr_options", "jac_sparsity", "verbose", "workers", "callback"))
_LOSSES = {"linear": "squares", "huber": "huber", "cauchy": "cauchy"}
_POLICIES = (None, "raise", "omit")


@environment.ours
def curve_fit(f: Callable, xdata: Any, ydata: Any, p0: Any = None, sigma: Any = None, absolute_sigma: bool = False,
              check_finite: bool | None = None, bounds: Any = (-np.inf, np.inf), method: str | None = None, jac: Any = None, *,
              full_output: bool = False, nan_policy: str | None = None, **options: Any) -> tuple:
    """The best parameters of `f(xdata, *parameters)`, and an estimate of their covariance, as scipy.optimize.curve_fit returns
    them: (popt, pcov). Unlike there, they are proved to be the best within `bounds`, whatever `p0` is.

    `bounds` are SciPy's, (lower, upper) with an array or one number each, or a scipy.optimize.Bounds, or a dictionary by name;
    all must be finite. If the proof does not end, as with a `time_limit=` that is too short, or leaves the least loss open by
    more than 1e-4 of it, a RuntimeWarning says so. With `full_output`, (popt, pcov, infodict, message, ier) are returned:
    `infodict["result"]` is the FitResult, `ier` is 1 if the fit is proved and 5 if not. `nan_policy="omit"` leaves out rows with
    NaN.

    `method`, `jac`, `maxfev`, `ftol` and other settings of local methods are accepted and have no effect, since there is no local
    iteration to steer. Further options are those of `fit`.

    >>> import numpy as np
    >>> x = np.array([0.0, 1.0, 2.0, 3.0])
    >>> y = np.array([5.1, 3.0, 1.9, 1.1])
    >>> popt, pcov = curve_fit(lambda t, a, b: a * np.exp(-b * t), x, y, bounds=([0, 0], [100, 10]))
    >>> popt.round(4), pcov.shape
    (array([5.0829, 0.5075]), (2, 2))
    """
    if method not in (None, "lm", "trf", "dogbox"):
        raise OptionError(f"there is no method {method!r}; leave it out: every fit is proved, by branch and bound")
    if nan_policy not in _POLICIES:
        raise OptionError(f"nan_policy must be 'raise', 'omit' or None, not {nan_policy!r}")
    if nan_policy == "omit":
        xdata, ydata, sigma = _without_nan(xdata, ydata, sigma)
    asked = {name: value for name, value in options.items() if name not in _LOCAL}
    own = OPTIONS | set(keywords_of(fit))
    refuse({name: value for name, value in asked.items() if name not in own}, curve_fit, fit, minimize)
    if "loss" in asked:
        asked["loss"] = _LOSSES.get(asked["loss"], asked["loss"])
    result = fit(f, xdata, ydata, bounds=_by_name(f, bounds, p0), sigma=sigma, absolute_sigma=absolute_sigma, p0=p0, **asked)
    popt = np.array([p.value for p in result.params.values() if not p.fixed])
    pcov = np.full((len(popt), len(popt)), np.inf) if result.covariance is None else result.covariance
    _warn(result, pcov)
    if not full_output:
        return popt, pcov
    deviation = -result.residuals / result.problem.data.unit
    told = {"nfev": result.minimum.nfev, "fvec": deviation.ravel(), "result": result}
    return popt, pcov, told, result.message, 1 if result.success else 5


def _by_name(f: Callable, bounds: Any, p0: Any) -> Any:
    """SciPy's (lower, upper) as pairs; other forms as they are."""
    if isinstance(bounds, Mapping) or hasattr(bounds, "lb"):
        return bounds
    try:
        lows, highs = bounds
    except (TypeError, ValueError):
        raise BoundsError("bounds must be (lower, upper), each an array with one number for each parameter, or one number for "
                          f"all, not {bounds!r}; a list of (low, high) pairs is understood by infimum.fit") from None
    sizes = {np.size(ends) for ends in (lows, highs) if np.ndim(ends)}
    if len(sizes) > 1:
        raise BoundsError(f"there are {np.size(lows)} lower and {np.size(highs)} upper bounds")
    count = len(Model.read(f, next(iter(sizes), None if p0 is None else np.size(p0))).names)
    if sizes and sizes != {count}:
        raise BoundsError(f"there are {sizes.pop()} lower and upper bounds, and the model has {count} parameters")
    lows, highs = (ends * count if len(ends) == 1 else ends for ends in map(listed, (lows, highs)))
    if any(low == high for low, high in zip(lows, highs, strict=True)):
        raise BoundsError("bounds are (lower, upper), as in SciPy, and a lower one equals the upper one: write (lows, highs) in "
                          "place of pairs; a parameter is fixed by infimum.fit(..., fixed={name: value})")
    return list(zip(lows, highs, strict=True))


def _without_nan(x: Any, y: Any, sigma: Any) -> tuple[Any, np.ndarray, Any]:
    """Without the rows in which x or y is NaN, as SciPy leaves them out."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    keep = ~np.isnan(x).any(axis=tuple(range(x.ndim - 1))) & ~np.isnan(y)
    return read_x(x[..., keep]), y[keep], sigma if sigma is None or np.ndim(sigma) == 0 else np.asarray(sigma)[keep]


def _warn(result: FitResult, pcov: np.ndarray) -> None:
    if not result.success:
        warnings.warn(f"the fit is not proved to be the best one: {result.message}", RuntimeWarning, stacklevel=4)
    elif is_wide(result):
        warnings.warn(f"the least loss is only known to lie between {result.lower:.6g} and {result.upper:.6g}: other parameters "
                      "may fit noticeably better", RuntimeWarning, stacklevel=4)
    elif not np.isfinite(pcov).all():
        why = "it is estimated for least squares alone" if result.covariance is None else \
            "the derivatives at the fit do not determine all parameters"
        warnings.warn(f"the covariance of the parameters is not known: {why}", RuntimeWarning, stacklevel=4)
