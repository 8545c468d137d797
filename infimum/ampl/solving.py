"""A model goes to `minimize`, and the result becomes what AMPL is told."""

import sys
from typing import Any

import infimum
from infimum.ampl.model import Model, Objective
from infimum.ampl.solution import Solution
from infimum.errors import InfimumError
from infimum.result import Result, Verdict
from infimum.solve import minimize

_UNBOUNDED, _FAILURE = 300, 500
# AMPL's codes of the verdicts; with UNDECIDED the point is verified, and the enclosure is as narrow as doubles allow
_CODES = {Verdict.PROVED: 0, Verdict.CANDIDATE: 100, Verdict.UNDECIDED: 100, Verdict.INFEASIBLE: 200, Verdict.STOPPED: 400}
_OF_A_MAXIMUM = {Verdict.PROVED: "the global maximum is proved to lie between lower and upper",
                 Verdict.CANDIDATE: "a search found this point; lower is verified, but higher values may exist"}


def solve(model: Model, number: int = 1, settings: dict[str, Any] | None = None) -> tuple[Result, Solution]:
    """Minimises or maximises the objective of this number. The result is that of the function that was minimised: of a maximised
    objective, its negative."""
    objective = model.objective(number)
    result = _minimised(model, objective, settings or {})
    return result, Solution(code_of(result), _message(result, objective.maximise), result.x, number)


def code_of(result: Result) -> int:
    """AMPL's solve_result_num."""
    if result.upper <= -sys.float_info.max:
        return _UNBOUNDED
    code = _CODES[result.verdict]
    return _FAILURE if result.x is None and code < _CODES[Verdict.INFEASIBLE] else code


def failed(error: InfimumError, number: int = 1) -> Solution:
    """What AMPL is told of a run without a result."""
    return Solution(_FAILURE, f"infimum {infimum.__version__}: {' '.join(str(error).split())}", None, number)


def _minimised(model: Model, objective: Objective, settings: dict[str, Any]) -> Result:
    fun = objective.fun
    bounds = list(zip(model.lo.tolist(), model.hi.tolist(), strict=True))
    return minimize((lambda x: -fun(x)) if objective.maximise else fun, bounds, x0=model.x0, constraints=model.constraints,
                    integrality=model.integrality.astype(int) if model.integrality.any() else None, **settings)


def _message(result: Result, maximise: bool) -> str:
    """The verdict's sentence, and the enclosure of the minimum or maximum."""
    sentence = _OF_A_MAXIMUM.get(result.verdict, result.verdict.value) if maximise else result.verdict.value
    lines = [f"infimum {infimum.__version__}: {result.verdict.name}: {sentence}"]
    if result.verdict is not Verdict.INFEASIBLE:
        low, high = (0.0 - result.upper, 0.0 - result.lower) if maximise else (result.lower, result.upper)
        lines.append(f"{'maximum' if maximise else 'minimum'} in [{low!r}, {high!r}]")
    return "\n".join(lines)
