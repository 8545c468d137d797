"""The engines that prove, by name: with their options, with constraints and without, and with what each of them can be given."""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from infimum.errors import OptionError
from infimum.presolve.presolve_stack import PresolveStep
from infimum.problem.settings import Method

if TYPE_CHECKING:
    from infimum.problem.system import System
    from infimum.search.rounds import StepRounds


# where the run of each engine is, without constraints and with constraints or whole numbers; a module is imported
# when its engine is asked for
_COMPLETE, _SUBDOMAIN = ("engines.complete_run", "CompleteRun"), ("engines.subdomain_run", "SubdomainRun")
_RUNS = {"auto": (("engines.auto", "Auto"), ("engines.constrained_run", "ConstrainedRun")),
         "newton": (("engines.newton_run", "NewtonRun"), ("engines.constrained_newton_run", "ConstrainedNewtonRun")),
         "complete": (_COMPLETE, _COMPLETE), "subdomain": (_SUBDOMAIN, _SUBDOMAIN)}
_OPTIONS = {"auto": ("points.swarm_options", "SwarmOptions"), "newton": ("engines.newton_options", "NewtonOptions"),
            "complete": ("engines.complete_options", "CompleteOptions"),
            "subdomain": ("engines.subdomain_options", "SubdomainOptions")}
PROVERS = tuple(_RUNS)


def _named(module: str, name: str) -> Any:
    return getattr(import_module(f"infimum.{module}"), name)


def options_of(engine: str) -> Any:
    """The class of an engine's options."""
    return _named(*_OPTIONS[engine])


def prover(engine: str, batch: int | None, may_move_to_gpu: bool, constrained: bool,
           rounds: "StepRounds | None" = None) -> Callable:
    """What makes the run of an engine from a problem, its evaluator, the method and the limits. Where regions are dealt it does
    not move to a GPU: workers do the long part of the work, on theirs."""
    moving = {"may_move_to_gpu": may_move_to_gpu and rounds is None} if engine == "auto" and not constrained else {}
    return partial(_named(*_RUNS[engine][constrained]), batch=None if batch is None else int(batch), rounds=rounds, **moving)


def presolve_steps(method: Method, system: "System | None", derives_bounds: bool = True,
                   exact: bool = True) -> list[PresolveStep]:
    """The steps that prepare a problem for an engine, in their order. Checkpoints of versions that derived no bounds before
    the search, or did nothing in rational numbers, go on without that."""
    from infimum.presolve.defined_objective import DefinedObjective
    from infimum.presolve.domain_bounds import DomainBounds
    from infimum.presolve.system_forms import CompletedSquares, ConvexWithoutBounds, EmptySystem

    if method.engine == "auto":
        programs = [EmptySystem(linear_programs=True)] if method.options.lp is True else []
        bounds = [DomainBounds(), *programs, ConvexWithoutBounds()] if derives_bounds else programs
        rational = _rational_steps(method, system) if exact and system is not None else []
        return [DefinedObjective(method.goal), *rational, *bounds, CompletedSquares()]
    return [EmptySystem()] if method.engine == "subdomain" else []


def _rational_steps(method: Method, system: "System") -> list[PresolveStep]:
    """Those that a system has use for: each is imported for these alone."""
    from infimum.presolve.ordered_blocks import OrderedBlocks

    if not system.integers:
        return [OrderedBlocks(method.goal)]
    from infimum.presolve.probed_bounds import ProbedBounds
    from infimum.presolve.whole_number_rows import WholeNumberRows

    return [WholeNumberRows(), ProbedBounds(), OrderedBlocks(method.goal)]


def check_portions(options: Any) -> None:
    """Raises where regions cannot be dealt to workers."""
    if getattr(options, "lp", None) is True:
        raise OptionError("option 'lp' solves linear programs one after the other, and these are not dealt to workers: leave out "
                          "workers=, or the option")
