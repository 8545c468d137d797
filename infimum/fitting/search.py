"""The search for the least loss of a fit, and how closely it is to be enclosed: relative to the loss that is found."""

from dataclasses import replace
from typing import Any

import numpy as np

from infimum.fitting.model import plain_call
from infimum.fitting.pinned import Pinned
from infimum.fitting.plateau import NOTICED
from infimum.fitting.problem import FitProblem, Rows
from infimum.fitting.zero import is_met, loss_that_counts_as_zero
from infimum.minimisers import Minimisers
from infimum.result import Result
from infimum.solve import minimize

_BOXES = 1 << 20  # of a second search, where no limit is given


def absolute_tolerance(problem: FitProblem, rows: Rows, atol: float | None, rtol: float) -> float:
    """`atol`, by default what counts as 0 for the data; for the loss of these residuals, of which all of the loss is more."""
    return max(loss_that_counts_as_zero(problem) if atol is None else float(atol), float(rtol) * rows.repeated.lo)


def least_loss(problem: FitProblem, rows: Rows, settings: dict[str, Any], closer: bool) -> tuple[Result, Minimisers | None]:
    """The least loss of these residuals, enclosed to `rtol` of it or to `atol`, and the minimisers, if they were isolated on the
    way. Where `atol` has ended a search for a fit that turns out not to be exact, the loss is enclosed `closer`, if wanted."""
    found, known = _searched(problem, rows, settings)
    loss, rtol = found.upper + rows.repeated.hi, float(settings["rtol"])
    if not closer or not found.success or found.upper - found.lower <= NOTICED * loss or _is_exact(problem, found.x):
        return found, known
    limit, most = settings.get("time_limit"), settings.get("max_boxes")
    again, known = _searched(problem, rows, settings | {
        "atol": rtol * loss, "checkpoint": None, "max_boxes": _BOXES if most is None else max(1, most - found.nfev),
        "time_limit": None if limit is None else max(0.1 * limit, limit - found.seconds)})
    best = again if again.upper <= found.upper else found
    return replace(again, x=best.x, fun=best.fun, upper=best.upper, lower=max(found.lower, again.lower),
                   nfev=found.nfev + again.nfev, nit=found.nit + again.nit, seconds=found.seconds + again.seconds), known


def _searched(problem: FitProblem, rows: Rows, settings: dict[str, Any]) -> tuple[Result, Minimisers | None]:
    """By branch and bound; where some measurements are pinned, with equations in place of their squares."""
    bounds = problem.parameters.bounds
    plain = settings.get("engine", "auto") != "auto" or _OTHERS & set(settings) or bounds.outer is not None
    pinned = None if plain else Pinned.of(problem, rows)
    if pinned is not None:
        return pinned.solve(settings)
    return minimize(problem.objective(rows), bounds.pairs(), **settings), None


_OTHERS = {"constraints", "integrality"}  # settings that belong to the variables of the loss


def _is_exact(problem: FitProblem, x: np.ndarray) -> bool:
    """Does the model meet the data up to rounding errors there?"""
    response = plain_call(problem.model, problem.data.x, problem.parameters.all_values(x).tolist())
    return response is not None and is_met(problem, np.broadcast_to(response, problem.data.y.shape) - problem.data.y)
