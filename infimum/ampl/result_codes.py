"""What AMPL is told of a result: a number, a few lines of text, and suffixes of the objective."""

import math
import sys
from typing import TYPE_CHECKING

import numpy as np

import infimum
from infimum.result import Result, Verdict
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.presolve import maximisation
else:
    maximisation = LazyModule("presolve.maximisation")

_LIMIT, _WITHOUT_POINT = 400, 70  # what AMPL's own solvers add where a limit was reached and no feasible point is known
_UNBOUNDED = 300
_CODES = {Verdict.PROVED: 0, Verdict.CANDIDATE: 100, Verdict.UNDECIDED: 100, Verdict.INFEASIBLE: 200}
# of a run that stopped, by what it says of why; the numbers are those of AMPL's own solvers
_REASONS = (("infimum is -infinity", _UNBOUNDED), ("supremum is infinity", _UNBOUNDED), ("interrupted", 401),
            ("the time limit of", 402), ("iteration", 403), ("enclosed, the limit is", 404), ("memory", 410), ("", _LIMIT))


def code_of(result: Result) -> int:
    """AMPL's solve_result_num, of a result whose message has numbers in place of names. With UNDECIDED the point is verified, and
    the enclosure is as narrow as doubles allow."""
    if (maximisation.opposite(result.lower) if result.maximised else result.upper) <= -sys.float_info.max:
        return _UNBOUNDED
    why = result.message.partition(";")[0]  # notes on constraints follow
    code = _CODES[result.verdict] if result.verdict in _CODES else next(code for part, code in _REASONS if part in why)
    if result.x is not None or result.verdict is Verdict.INFEASIBLE:
        return code
    return max(code, _LIMIT) + _WITHOUT_POINT


def message_of(result: Result) -> str:
    """The verdict and what is proved, in a line; then what stands in the way of more, if anything does."""
    if result.verdict is Verdict.INFEASIBLE:
        said = f"proved that {result.message}"
    elif result.purpose == "feasible":
        said = _feasible(result)
    elif result.verdict is Verdict.CANDIDATE:
        said = f"a search without proof {_candidate(result)}"
    else:
        said = enclosure(result) if result.verdict is Verdict.PROVED else f"{result.message}; {enclosure(result)}"
    relaxed = f" (equations are relaxed, and may be off by {result.feasibility:g})" if result.feasibility else ""
    return "\n".join([f"infimum {infimum.__version__}, {result.verdict.name}, {said}{relaxed}",
                      *(text for text in (result.obstacle, result.advice) if text is not None)])


def enclosure(result: Result) -> str:
    """What is proved of the minimum or maximum."""
    what = f"the global {'maximum' if result.maximised else 'minimum'}"
    low, high = result.lower + 0.0, result.upper + 0.0  # no -0.0
    if math.isfinite(low) and math.isfinite(high):
        return f"{what} lies in [{low!r}, {high!r}] (gap {_gap(result)})"
    if math.isfinite(low) or math.isfinite(high):
        return f"{what} is at least {low!r}" if math.isfinite(low) else f"{what} is at most {high!r}"
    return f"nothing is known of {what}"


def suffixes_of(result: Result) -> dict[str, float]:
    """Of the objective, under the names that AMPL's own solvers give them; `bestvalue` is our own."""
    if result.verdict is Verdict.INFEASIBLE or result.purpose == "feasible":
        return {}
    value, bound = (result.lower, result.upper) if result.maximised else (result.upper, result.lower)
    return {"bestbound": bound, "bestvalue": value, "absmipgap": result.gap, "relmipgap": _relative(result)}


def _relative(result: Result) -> float:
    value = abs(result.lower if result.maximised else result.upper)
    return result.gap / value if 0 < value < math.inf else 0.0 if not result.gap else math.inf


def _gap(result: Result) -> str:
    """As a number, and in percent of the best value."""
    part = 100 * _relative(result)
    return f"{result.gap:.3g}" + (f", {part:.3g} %" if math.isfinite(part) else "")


def _feasible(result: Result) -> str:
    if result.feasible is None:
        return result.message
    if not isinstance(result.feasible, tuple):
        return "the point meets all constraints"
    far = float(np.max(np.subtract(*result.feasible[::-1])))
    return f"a point that meets all constraints is proved to exist within {far:.3g} of this one"


def _candidate(result: Result) -> str:
    if result.x is None:
        return f"found no point: {result.message}"
    word, value = ("higher", result.lower) if result.maximised else ("lower", result.upper)
    return f"found the value {value!r}, and {word} values may exist"
