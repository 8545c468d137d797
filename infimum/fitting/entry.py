"""fit: the best fit of a model to data, proved."""

from collections.abc import Callable
from typing import Any

from infimum.api.keyword_errors import by_place, keywords_of, refuse
from infimum.api.solve import minimize
from infimum.errors import DataError, InfimumError, UndefinedError, UserFunctionError
from infimum.fitting.bound_proposals import refuse_missing
from infimum.fitting.budget import Budget
from infimum.fitting.data import Data
from infimum.fitting.losses import read_loss
from infimum.fitting.merge import merged
from infimum.fitting.model import Model
from infimum.fitting.narrowing_run import narrowed
from infimum.fitting.parameter_sets.bounded_error import BoundedError, read_errors
from infimum.fitting.parameter_sets.bounded_error import bounded_error as within_errors
from infimum.fitting.parameters import Parameters, ParameterSettings, check_start, count_of
from infimum.fitting.pinning.pinned_data import without_constant_rows
from infimum.fitting.problem import FitProblem
from infimum.fitting.responses import Responses
from infimum.fitting.result import FitResult
from infimum.fitting.search import absolute_tolerance, least_loss
from infimum.fitting.symmetric import in_order, read_groups, start_boxes
from infimum.problem.text import counted
from infimum.search.interrupts import Interrupts
from infimum.support import environment
from infimum.support.clock import OutOfTime, Watch
from infimum.support.given_numbers import check_number
from infimum.support.other_libraries import OF_FIT

OPTIONS = frozenset(keywords_of(minimize)) - frozenset(OF_FIT)  # that are passed on


@environment.ours
@by_place("fit(model, x, y, bounds={'name': (low, high)})")
def fit(model: Callable, x: Any, y: Any, *, bounds: Any = None, sigma: Any = None, absolute_sigma: bool = False,
        loss: str = "squares", f_scale: float | None = None, fixed: Any = None, p0: Any = None, symmetric: Any = None,
        bounded_error: Any = None, rtol: float = 1e-6, atol: float | None = None, **options: Any) -> FitResult | BoundedError:
    """Find the best fit of `model(x, *parameters)` to the data `y`, and prove it: no parameters within the bounds fit better.

    The model is an ordinary NumPy function of the whole array `x` and of its parameters, which are known by the names in its
    signature. It returns an array like `y`: of shape (N,), or (r, N) or (N, r) for r responses. `x` is an array, (k, N) for k
    independent variables, or a frame or dictionary of columns, which the model reads as `x["name"]`, `x.name` or `a, b = x`;
    columns of pandas will do. What else it is, the model gets as it is.

    `bounds` are a dictionary name: (low, high), a list of pairs, one pair for all, a scipy.optimize.Bounds, or an lmfit
    Parameters. `fixed` holds some parameters, name: value, or names alone if they have a start. `p0`, a dictionary or a list, is
    a point to start from; so are numbers that the signature has as defaults. What is proved does not depend on it.

    `symmetric=[("a1", "b1"), ("a2", "b2")]` names groups of parameters that can be exchanged, as the peaks of a spectrum: each
    fit is then found once, in the order a1 <= a2. Their bounds must be equal.

    `sigma` are the standard deviations of y. With `absolute_sigma=True` they are meant as they are; otherwise only their ratios
    count for the covariance, as in SciPy. `loss` is what is made small, of the residuals e in units of sigma: "squares", Σ e²;
    "huber" and "cauchy", as in scipy.optimize.least_squares, where residuals beyond `f_scale` count less; "absolute", Σ |e|;
    "maximum", the largest |e|.

    With `bounded_error=dy`, one number or one for each y, the answer is not a best fit but the set of all parameters within the
    bounds for which the model meets every y to within dy: a `BoundedError`, with boxes inside and boxes around it; `options` are
    then volume_rtol, principal, time_limit, max_boxes and progress, as of `FitResult.confidence`, and check.

    The proof ends when the least loss is enclosed to `rtol` of it, or to `atol`; the default of that is what counts as 0 for
    these data, which a model may meet exactly. `options` are those of `minimize`: time_limit, device, threads, seed, xtol, ….

    >>> import numpy as np
    >>> def decay(t, amplitude, rate):
    ...     return amplitude * np.exp(-rate * t)
    >>> r = fit(decay, [0, 1, 2, 3], [5.1, 3.0, 1.9, 1.1], bounds={"amplitude": (0, 100), "rate": (0, 10)})
    >>> r.verdict.name, r.unique, round(r.params["rate"].value, 6), r.params["rate"].hi - r.params["rate"].lo < 1e-9
    ('PROVED', True, 0.507488, True)
    """
    if bounded_error is None:
        refuse({name: value for name, value in options.items() if name not in OPTIONS}, fit, fit, minimize)
    loss, scale = read_loss(loss, f_scale)
    data = Data.read(x, y, sigma) if bounded_error is None else read_errors(x, y, bounded_error, sigma, loss.name)
    parameters, read = read_model(model, data, bounds, fixed, p0)
    groups = None if symmetric is None else read_groups(symmetric, parameters, read, data)
    problem = FitProblem(read, data, parameters, loss, scale, groups)
    if bounded_error is not None:
        return within_errors(problem, **options)
    for name, value in (("rtol", rtol), ("atol", atol)):
        check_number(name, value, optional=name == "atol")
    settings = {"rtol": rtol, "atol": atol, "x0": parameters.start, **options}
    if groups is not None:
        settings |= {"start_boxes": start_boxes(groups, parameters),
                     "x0": None if parameters.start is None else in_order(groups, parameters.start)}
    return _fitted(problem, settings, bool(absolute_sigma))


def read_model(function: Callable, data: Data, bounds: Any, fixed: Any, p0: Any) -> tuple[Parameters, Model]:
    """The parameters, and the model with their names."""
    model = Model.read(function, count_of(bounds, p0))
    asked = ParameterSettings.read(model, bounds, fixed, p0)
    refuse_missing(model, data, asked)
    parameters = asked.parameters(model.names)
    check_start(parameters, p0)
    if data.size < len(parameters.lo):
        raise DataError(f"{counted(data.size, 'measurement')} cannot determine {counted(len(parameters.lo), 'parameter')}: "
                        "measure more, or hold some parameters with fixed=")
    return parameters, model


def _fitted(problem: FitProblem, settings: dict[str, Any], absolute_sigma: bool) -> FitResult:
    """The least loss; errors are about the model."""
    budget = Budget(settings)
    try:
        rows = without_constant_rows(problem, merged(problem) or problem.rows())
        default = settings["atol"] is None
        settings = settings | {"atol": absolute_tolerance(problem, rows, settings["atol"], settings["rtol"])}
        found, known = least_loss(problem, rows, settings, default, budget)
    except UserFunctionError as error:
        if isinstance(error.__cause__, InfimumError):  # of ours, about what the model returned
            raise error.__cause__ from None
        raise
    if found.x is None:
        what = "is undefined for all parameters within the bounds, proved" if found.verdict.name == "INFEASIBLE" else \
            f"had no finite value for any parameters that were tried ({found.message})"
        raise UndefinedError(f"the model {what}: give bounds within its natural domain, or correct it")
    with Interrupts() as interrupts:  # what is proved is returned
        responses = _responses(problem, budget.seconds) if found.success and not budget.is_late else None
        quick = responses is not None and responses.is_small and not interrupts.heard
        if quick and known is None:
            found = narrowed(problem, rows, found, settings, budget)
        result = FitResult(found, problem, absolute_sigma, rows.beside, known, responses)
        if quick and not interrupts.heard:  # otherwise it is looked for when somebody asks
            result.find_minimisers(budget.seconds)
            _ = result.undefined, result.plateaus
        _ = result.statistics, result.residuals
    return result


def _responses(problem: FitProblem, seconds: float | None) -> Responses | None:
    """The responses at the x of the data, traced within that time; None if it does not suffice."""
    try:
        with Watch(seconds):
            return Responses(problem, problem.data.x, problem.data.y.shape)
    except OutOfTime:
        return None
