"""The search for the least loss of a fit, and how closely it is to be enclosed: relative to the loss that is found."""

from dataclasses import replace
from typing import Any

import numpy as np

from infimum.api.solve import minimize
from infimum.fitting.budget import Budget
from infimum.fitting.model import plain_call
from infimum.fitting.pinning.pinned_data import PinnedData
from infimum.fitting.pinning.pinned_run import PinnedProblem
from infimum.fitting.plateau import NOTABLE_CHANGE
from infimum.fitting.problem import FitProblem, ResidualRows
from infimum.fitting.zero_residuals import is_zero_residual, loss_that_counts_as_zero
from infimum.problem.minimisers import Minimisers
from infimum.result import Result
from infimum.search.interrupts import Interrupts

_BOXES = 1 << 20  # of a second search, where no limit is given


def absolute_tolerance(problem: FitProblem, rows: ResidualRows, atol: float | None, rtol: float) -> float:
    """`atol`, by default what counts as 0 for the data; for the loss of these residuals, of which all of the loss is more."""
    return max(loss_that_counts_as_zero(problem) if atol is None else float(atol), float(rtol) * rows.repeated.lo)


def least_loss(problem: FitProblem, rows: ResidualRows, settings: dict[str, Any], closer: bool,
               budget: Budget) -> tuple[Result, Minimisers | None]:
    """The least loss of these residuals, enclosed to `rtol` of it or to `atol`, and the minimisers, if they were isolated on the
    way. Where `atol` has ended a search for a fit that turns out not to be exact, the loss is enclosed `closer`, if wanted."""
    found, known = _searched(problem, rows, settings, budget)
    loss, rtol = found.upper + rows.repeated.hi, float(settings["rtol"])
    if not closer or not found.success or found.upper - found.lower <= NOTABLE_CHANGE * loss or _is_exact(problem, found.x):
        return found, known
    with Interrupts():  # what is known by now is kept
        again, known = _searched(problem, rows, settings | {"atol": rtol * loss, "checkpoint": None}, budget, _BOXES)
    begun = again.regions is not None and again.lower > -np.inf  # else nothing was enclosed
    best, regions = again if again.upper <= found.upper else found, again if begun else found
    return replace(again, x=best.x, fun=best.fun, upper=best.upper, lower=max(found.lower, again.lower),
                   boxes=regions.boxes, regions=regions.regions, question=again.question or found.question,
                   nfev=found.nfev + again.nfev, nit=found.nit + again.nit, seconds=found.seconds + again.seconds), known


def _searched(problem: FitProblem, rows: ResidualRows, settings: dict[str, Any], budget: Budget,
              most: int | None = None) -> tuple[Result, Minimisers | None]:
    """By branch and bound, with `most` boxes where the user has set no limit; where some measurements are pinned, with equations
    in place of their squares."""
    limits = budget.settings()
    settings = settings | limits | ({"max_boxes": most} if limits["max_boxes"] is None else {})
    pinned = PinnedData.of(problem, rows) if _may_be_pinned(problem, settings) else None
    if pinned is not None:
        return PinnedProblem(pinned, settings, budget).run()
    found = minimize(problem.objective(rows), problem.parameters.bounds.pairs(), **settings)
    budget.spent += found.nfev
    return replace(found, message=budget.named(found.message)), None


def _may_be_pinned(problem: FitProblem, settings: dict[str, Any]) -> bool:
    """Not where settings belong to the variables of the plain question, nor where a parameter has at most one double within
    bounds that are no doubles."""
    bounds = problem.parameters.bounds
    low, high = bounds.region
    return settings.get("engine", "auto") == "auto" and not _OTHERS & set(settings) and \
        not ((bounds.lo >= bounds.hi) & (low < high)).any()


_OTHERS = {"constraints", "integrality"}  # settings that belong to the variables of the loss


def _is_exact(problem: FitProblem, x: np.ndarray) -> bool:
    """Does the model meet the data up to rounding errors there?"""
    response = plain_call(problem.model, problem.data.x, problem.parameters.all_values(x).tolist())
    return response is not None and is_zero_residual(problem, np.broadcast_to(response, problem.data.y.shape) - problem.data.y)
