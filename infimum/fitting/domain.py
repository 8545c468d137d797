"""Where a model may be undefined within the bounds: told, since such parameters are no candidates for a fit."""


from infimum.certify.loose_operation import nonsmooth_operation
from infimum.evaluation.compile import compile
from infimum.fitting.problem import FitProblem
from infimum.kernel.node_enclosures import nodes_of

_MOST_NUMBERS = 1 << 20  # inside a function that is looked into
_UNDEFINED = 0


def undefined(problem: FitProblem) -> str | None:
    """What may be undefined somewhere in the bounds, in words; None if the model is defined everywhere in them."""
    lo, hi = problem.parameters.bounds.region
    evaluator = compile(problem.objective(), len(lo), check=False)
    if evaluator.value(lo, hi).defined:
        return None
    small = sum(node.size for node in nodes_of(evaluator.f)) <= _MOST_NUMBERS
    found = nonsmooth_operation(evaluator.f, evaluator.inside(lo, hi), 0, _UNDEFINED) if small else None
    return "it may be undefined somewhere in them" if found is None else found.sentence()
