"""The engines that prove, by name: with their options, with constraints and without, and with what each of them can be given."""

from collections.abc import Callable
from functools import partial
from typing import Any

from infimum.engines.complete_options import CompleteOptions
from infimum.engines.newton_options import NewtonOptions
from infimum.engines.subdomain_options import SubdomainOptions
from infimum.errors import OptionError
from infimum.points.swarm_options import SwarmOptions
from infimum.presolve.presolve_step import PresolveStep
from infimum.problem.settings import Method
from infimum.search.rounds import Rounds


# engines are imported when they are asked for
def _auto(*asked: Any, **settings: Any) -> Any:
    from infimum.engines.auto import Auto

    return Auto(*asked, **settings)


def _newton(*asked: Any, **settings: Any) -> Any:
    from infimum.engines.newton_run import NewtonRun

    return NewtonRun(*asked, **settings)


def _complete(*asked: Any, **settings: Any) -> Any:
    from infimum.engines.complete_run import CompleteRun

    return CompleteRun(*asked, **settings)


def _constrained(*asked: Any, **settings: Any) -> Any:
    from infimum.engines.constrained_run import ConstrainedRun

    return ConstrainedRun(*asked, **settings)


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


def prover(engine: str, batch: int | None, may_move_to_gpu: bool, constrained: bool, rounds: Rounds | None = None) -> Callable:
    """What makes the engine from a problem, its evaluator, the method and the limits, with the batch and the rounds if it has
    them. Where regions are dealt it does not move to a GPU: workers do the long part of the work, on theirs."""
    kind, batch = _CONSTRAINED[engine] if constrained else PROVERS[engine][0], None if batch is None else int(batch)
    dealt = {} if rounds is None else {"rounds": rounds}
    if engine == "auto" and not constrained:
        return partial(kind, batch=batch, may_move_to_gpu=may_move_to_gpu and rounds is None, **dealt)
    return partial(kind, batch=batch, **dealt) if engine != "complete" else partial(kind, **dealt)


def presolve_steps(method: Method) -> list[PresolveStep]:
    """The steps that prepare a problem for an engine, in their order."""
    from infimum.presolve.defined_objective import DefinedObjective
    from infimum.presolve.system_forms import CompletedSquares, EmptySystem

    if method.engine == "auto":
        programs = [EmptySystem(linear_programs=True)] if method.options.lp else []
        return [DefinedObjective(method.goal), *programs, CompletedSquares()]
    return [EmptySystem()] if method.engine == "subdomain" else []


def check_dealt(options: Any) -> None:
    """Raises where regions cannot be dealt to workers."""
    if getattr(options, "lp", False):
        raise OptionError("option 'lp' solves linear programs one after the other, and these are not dealt to workers: leave out "
                          "workers=, or the option")
