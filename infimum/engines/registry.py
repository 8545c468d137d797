"""The engines that prove, by name: with their options, with constraints and without, and with what each of them can be given."""

from collections.abc import Callable
from functools import partial
from typing import Any

from infimum.engines.complete_options import CompleteOptions
from infimum.engines.newton_options import NewtonOptions
from infimum.engines.subdomain_options import SubdomainOptions
from infimum.errors import OptionError
from infimum.evaluation.evaluator import Evaluator
from infimum.points.swarm_options import SwarmOptions
from infimum.problem.problem import Problem
from infimum.problem.settings import Method
from infimum.search.rounds import StepRounds


# engines are imported when they are asked for
def _auto(problem: Problem, evaluator: Evaluator, method: Method, *asked: Any, **settings: Any) -> Any:
    if method.options.lp:
        from infimum.bounds.root_linear_programs import without_constraints

        evaluator.linear_programs.version()  # an error where it is missing
        system = without_constraints(evaluator)
        if system is not None:
            return _constrained(problem, system, method, *asked, **settings)
    from infimum.engines.auto import Auto

    return Auto(problem, evaluator, method, *asked, **settings)


def _newton(*asked: Any, **settings: Any) -> Any:
    from infimum.engines.newton_run import NewtonRun

    return NewtonRun(*asked, **settings)


def _complete(*asked: Any, **settings: Any) -> Any:
    from infimum.engines.complete_run import CompleteRun

    return CompleteRun(*asked, **settings)


def _constrained(problem: Problem, evaluator: Evaluator, method: Method, *asked: Any, **settings: Any) -> Any:
    from infimum.engines.constrained_run import ConstrainedRun
    from infimum.engines.substituted_objective import Substituted, substitution, with_completed_squares

    found = substitution(problem, evaluator, method.goal)
    if found is None:
        problem, evaluator = with_completed_squares(problem, evaluator)
        return ConstrainedRun(problem, evaluator, method, *asked, **settings)
    problem, evaluator = with_completed_squares(found.problem, found.evaluator)
    kind = _auto if evaluator.system is None else ConstrainedRun
    return Substituted(found, kind(problem, evaluator, method, *asked, **settings))


def _subdomain(*asked: Any, **settings: Any) -> Any:
    from infimum.engines.subdomain_run import SubdomainRun

    return SubdomainRun(*asked, **settings)


def _constrained_newton(*asked: Any, **settings: Any) -> Any:
    from infimum.engines.constrained_newton_run import ConstrainedNewtonRun

    return ConstrainedNewtonRun(*asked, **settings)


PROVERS = {"auto": (_auto, SwarmOptions), "newton": (_newton, NewtonOptions), "complete": (_complete, CompleteOptions),
           "subdomain": (_subdomain, SubdomainOptions)}
# with constraints or whole numbers
_CONSTRAINED = {"auto": _constrained, "newton": _constrained_newton, "complete": _complete, "subdomain": _subdomain}


def prover(engine: str, batch: int | None, may_move_to_gpu: bool, constrained: bool,
           rounds: StepRounds | None = None) -> Callable:
    """What makes the engine from a problem, its evaluator, the method and the limits, with the batch and the rounds if it has
    them. Where regions are dealt it does not move to a GPU: workers do the long part of the work, on theirs."""
    kind, batch = _CONSTRAINED[engine] if constrained else PROVERS[engine][0], None if batch is None else int(batch)
    shared = {} if rounds is None else {"rounds": rounds}
    if engine == "auto" and not constrained:
        return partial(kind, batch=batch, may_move_to_gpu=may_move_to_gpu and rounds is None, **shared)
    return partial(kind, batch=batch, **shared) if engine != "complete" else partial(kind, **shared)


def check_portions(options: Any) -> None:
    """Raises where regions cannot be dealt to workers."""
    if getattr(options, "lp", False):
        raise OptionError("option 'lp' solves linear programs one after the other, and these are not dealt to workers: leave out "
                          "workers=, or the option")
