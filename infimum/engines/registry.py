"""The engines that prove, by name: with their options, with constraints and without, and with what each of them can be given."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from infimum.errors import OptionError
from infimum.presolve.presolve_stack import PresolveStep
from infimum.problem.settings import Method
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.search.rounds import StepRounds


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


_PROVERS = {"auto": _auto, "newton": _newton, "complete": _complete, "subdomain": _subdomain}
PROVERS = tuple(_PROVERS)
# where the class of each engine's options is
_OPTIONS = {"auto": ("points.swarm_options", "SwarmOptions"), "newton": ("engines.newton_options", "NewtonOptions"),
            "complete": ("engines.complete_options", "CompleteOptions"),
            "subdomain": ("engines.subdomain_options", "SubdomainOptions")}
# with constraints or whole numbers
_CONSTRAINED = {"auto": _constrained, "newton": _constrained_newton, "complete": _complete, "subdomain": _subdomain}


def options_of(engine: str) -> Any:
    """The class of an engine's options."""
    module, name = _OPTIONS[engine]
    return getattr(LazyModule(module), name)


def prover(engine: str, batch: int | None, may_move_to_gpu: bool, constrained: bool,
           rounds: "StepRounds | None" = None) -> Callable:
    """What makes the engine from a problem, its evaluator, the method and the limits, with the batch and the rounds if it has
    them. Where regions are dealt it does not move to a GPU: workers do the long part of the work, on theirs."""
    kind, batch = _CONSTRAINED[engine] if constrained else _PROVERS[engine], None if batch is None else int(batch)
    shared = {} if rounds is None else {"rounds": rounds}
    if engine == "auto" and not constrained:
        return partial(kind, batch=batch, may_move_to_gpu=may_move_to_gpu and rounds is None, **shared)
    return partial(kind, batch=batch, **shared) if engine != "complete" else partial(kind, **shared)


def presolve_steps(method: Method) -> list[PresolveStep]:
    """The steps that prepare a problem for an engine, in their order."""
    from infimum.presolve.defined_objective import DefinedObjective
    from infimum.presolve.system_forms import CompletedSquares, EmptySystem

    if method.engine == "auto":
        programs = [EmptySystem(linear_programs=True)] if method.options.lp else []
        return [DefinedObjective(method.goal), *programs, CompletedSquares()]
    return [EmptySystem()] if method.engine == "subdomain" else []


def check_portions(options: Any) -> None:
    """Raises where regions cannot be dealt to workers."""
    if getattr(options, "lp", False):
        raise OptionError("option 'lp' solves linear programs one after the other, and these are not dealt to workers: leave out "
                          "workers=, or the option")
