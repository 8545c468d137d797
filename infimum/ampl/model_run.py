"""A model goes to `minimize`, `maximize` or `feasible`, and the result becomes what AMPL is told."""

from dataclasses import replace
from typing import Any

import infimum
from infimum.ampl.model import Model
from infimum.ampl.model_wording import about_model, for_model
from infimum.ampl.result_codes import code_of, message_of, suffixes_of
from infimum.ampl.solution import Solution
from infimum.errors import InfimumError
from infimum.result import Result, Verdict
from infimum.search.callbacks import Snapshot

_FAILURE = 500
_LEAST_SECONDS = 1e-3  # seconds that a run has at least


def solve(model: Model, number: int = 1, settings: dict[str, Any] | None = None, spent: float = 0.0) -> tuple[Result, Solution]:
    """Minimises or maximises the objective of this number; looks for a feasible point if there is none. The result is about the
    objective as it is, and speaks of variables and constraints by their names, if they have any. `spent`: seconds
    of the time limit that are over already."""
    model.check()
    settings = dict(settings or {})
    limit = settings.get("time_limit", 0.0)
    if limit > 0:
        settings["time_limit"] = max(limit - spent, _LEAST_SECONDS)
    try:
        found = _solved(model, number, settings)
    except InfimumError as error:
        error.args = (for_model(str(error), model.called), *error.args[1:])
        raise
    left = settings.get("time_limit", limit)
    message = found.message.replace(f"time limit of {left:g} s", f"time limit of {limit:g} s")
    return _told(replace(found, message=message), model, number)


def interrupted(model: Model, number: int, last: Snapshot | None) -> tuple[Result, Solution]:
    """What is known of a run that was broken off, if this was the last to be seen of it."""
    purpose = _purpose(model, number)
    known = last is not None and last.x is not None and abs(last.lower if purpose == "maximise" else last.upper) < float("inf")
    lower, upper = (-float("inf"), float("inf")) if last is None else (last.lower, last.upper)
    result = Result(x=last.x if known else None, fun=last.fun if known else float("nan"), success=False, status=1, nit=0,
                    message="interrupted", nfev=0 if last is None else last.nfev, verdict=Verdict.STOPPED, lower=lower,
                    upper=upper, purpose=purpose)
    return _told(result, model, number)


def failed(error: InfimumError, number: int = 1) -> Solution:
    """What AMPL is told of a run without a result."""
    return Solution(_FAILURE, f"infimum {infimum.__version__}, {' '.join(str(error).split())}", None, number)


def _purpose(model: Model, number: int) -> str:
    objective = model.objective(number)
    return "feasible" if objective is None else "maximise" if objective.maximise else "minimise"


def _solved(model: Model, number: int, settings: dict[str, Any]) -> Result:
    bounds = list(zip(model.lo.tolist(), model.hi.tolist(), strict=True))
    integrality = model.integrality.astype(int) if model.integrality.any() else None
    given = {"x0": model.x0, "integrality": integrality, **settings}
    objective = model.objective(number)
    if objective is None:
        return infimum.feasible(bounds, model.constraints, **given)
    call = infimum.maximize if objective.maximise else infimum.minimize
    return call(objective.fun, bounds, constraints=model.constraints, **given)


def _told(found: Result, model: Model, number: int) -> tuple[Result, Solution]:
    result, count = about_model(found, model.called), len(model.objectives)
    which = f"\nThis is about {model.called.objective(number - 1)}, which is number {number} of {count} (objno={number})." \
        if count > 1 and number else ""
    return result, Solution(code_of(found), message_of(result) + which, result.x, number, suffixes_of(result))
