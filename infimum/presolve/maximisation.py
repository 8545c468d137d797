"""Maximising f is minimising -f, told in the signs of f."""

from dataclasses import replace

from infimum.evaluation.evaluator import Evaluator
from infimum.expr.build import build
from infimum.presolve.inner_answers import passed_on
from infimum.presolve.presolve_stack import Formulation, PresolveStep, RunBounds
from infimum.problem.constraint import ConstraintValues
from infimum.problem.minimisers import Minimisers
from infimum.result import Result

# what the answer says of an infimum, and what it means for a supremum
_WORDS = (("is the infimum", "is the supremum"), ("the infimum lies within", "the supremum lies within"),
          ("below the value at x", "above the value at x"), ("falls below every double", "rises above every double"),
          ("no lower bound is known, and values fall to -", "no upper bound is known, and values rise to "),
          ("infimum is -infinity", "supremum is infinity"), ("the lowest minimum", "the highest maximum"),
          (" minima", " maxima"), ("the lowest may be", "the highest may be"), ("minimisers seem", "maximisers seem"),
          ("the function is as low", "the function is as high"))


def opposite(value: float) -> float:
    """-value, without a sign on zero."""
    return 0.0 - value


def negated(evaluator: Evaluator) -> Evaluator:
    """Of -f, with the same constraints."""
    f, fun, system = build("neg", evaluator.f), evaluator.fun, evaluator.system
    return evaluator.rewritten(f, None if system is None else replace(system, f=f), None if fun is None else lambda x: -fun(x))


class Maximisation(PresolveStep):
    """The inner form minimises -f."""

    def apply(self, given: Formulation) -> Formulation:
        return given._replace(evaluator=negated(given.evaluator))

    def bounds(self, known: RunBounds) -> RunBounds:
        return RunBounds(opposite(known.value), opposite(known.upper), opposite(known.lower))

    def postsolve(self, result: Result) -> Result:
        """The history has the signs of f already."""
        message = result.message
        for inner, outer in _WORDS:
            message = message.replace(inner, outer)
        return replace(
            result, fun=opposite(result.fun), lower=opposite(result.upper), upper=opposite(result.lower), message=message,
            obstacle=None if result.obstacle is None else f"For the minimum of -f: {result.obstacle}",
            minima=[replace(m, value=opposite(m.value)) for m in result.minima],
            trials=None if result.trials is None else result.trials.opposite(),
            regions=None if result.regions is None else result.regions.opposite(),
            purpose="maximise", **passed_on(result, _maximisers, _of_maximum))


def _maximisers(found: Minimisers) -> Minimisers:
    mirrored = [replace(m, lower=opposite(m.upper), upper=opposite(m.lower)) for m in found]
    return Minimisers(mirrored, found.rest, found.why, word="maximiser")


def _of_maximum(found: ConstraintValues) -> ConstraintValues:
    return ConstraintValues([replace(row, multiplier=opposite(row.multiplier)) for row in found], found.violation)
