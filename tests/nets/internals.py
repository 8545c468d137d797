"""The internal names that the nets need. A move or a renaming inside the package is followed in this file alone.

The nets' own names of programs (the keys of `kernels.json`) are those of the table below; where the package calls a program
otherwise later, this file translates. Nothing that is kept depends on the names of modules, classes or functions.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np

from infimum.ampl import read as read_model  # noqa: F401 - used by the runs
from infimum.ampl.model_run import solve as solve_model  # noqa: F401
from infimum.backend import cpu
from infimum.cli.main import main as command_line  # noqa: F401
from infimum.engines.newton_search import NewtonSearch
from infimum.evaluation import programs
from infimum.expr import real
from infimum.expr.differentiate import gradient, hessian_vector
from infimum.expr.node import var
from infimum.kernel.ir import Instr, Kernel, Loop, Step  # noqa: F401 - used by the serialisation
from infimum.problem.system import System
from infimum.search.branch_and_bound import BranchAndBound
from infimum.trace.constraint_reading import read_constraints
from infimum.trace.trace import trace
from tests.backend.cases import parameters_of

OF_FUNCTION, OF_SYSTEM = tuple(programs.PROGRAMS), tuple(programs.OF_SYSTEM)


def function_of(fun: Callable, n: int) -> Any:
    """A function of n variables, traced."""
    return trace(fun, n, ())


def system_of(fun: Callable, n: int, constraints: Any, integers: tuple[int, ...] = ()) -> System:
    """A function with constraints in the user's form, traced."""
    found = read_constraints(constraints, n).system(trace(fun, n, ()))
    return System(found.f, found.bodies, found.lower, found.upper, integers)


def written(what: Any, n: int, program: str, sizes: tuple[int, ...]) -> tuple[Kernel, np.ndarray, np.ndarray, Any, int]:
    """(kernel, constant doubles, constant positions, rows of the outputs, where parameters begin) of a program."""
    table = programs.OF_SYSTEM if isinstance(what, System) else programs.PROGRAMS
    found = table[program](what, var("x", (n,)), **parameters_of(program, sizes))
    return found.kernel, found.data.doubles(), found.data.positions(), found.rows, found.at


def derivatives(what: Any, n: int) -> list[Any]:
    """First and second derivatives of all functions. Programs share the constants of expressions that are alive: where constants
    are placed is the same in every process only if somebody holds these."""
    x, v = var("x", (n,)), var("v", (n,))
    functions = [what.f, *what.bodies] if isinstance(what, System) else [what]
    return [derivative for f in functions if not f.shape for derivative in (gradient(f, x), hessian_vector(f, x, v))]


@contextmanager
def counting() -> Iterator[dict[str, list[int]]]:
    """By the name of each test of a proof: how many regions it was asked about and how many of them it discarded, in all searches
    within the block. Of the Newton loop, whose tests are one kernel, the second number alone is known. Filled at the end."""
    found: dict[str, list[int]] = {}
    loops: list[NewtonSearch] = []
    begin, sort = NewtonSearch.__init__, BranchAndBound._sorted

    def __init__(self: NewtonSearch, *given: Any, **named: Any) -> None:
        begin(self, *given, **named)
        loops.append(self)

    def _sorted(self: BranchAndBound, part: Any, outcomes: list) -> Any:
        sorted_outcomes, paid = sort(self, part, outcomes)
        counts = found.setdefault(part.name, [0, 0])
        counts[0] += sum(outcome.regions.shape[1] for outcome in outcomes)
        counts[1] += sum(f.discarded for f in sorted_outcomes)
        return sorted_outcomes, paid
    with mock.patch.object(NewtonSearch, "__init__", __init__), mock.patch.object(BranchAndBound, "_sorted", _sorted):
        yield found
    for loop in loops:
        for name, count in loop.discarded.items():
            found.setdefault(f"loop: {name}", [0, 0])[1] += count


@contextmanager
def numbers_anew() -> Iterator[None]:
    """No number between two doubles was met before, as in a new process: which ends the second of two such numbers gets depends
    on the first."""
    with mock.patch.object(real, "_taken", {}):
        yield


@contextmanager
def processor(lanes: int) -> Iterator[None]:
    """Kernels are compiled for a processor with that many SIMD lanes: no bit may depend on it."""
    begin = cpu.CpuBackend.__init__

    def __init__(self: Any, given: int | None = None, *more: Any, **named: Any) -> None:
        begin(self, given or lanes, *more, **named)
    with mock.patch.object(cpu.CpuBackend, "__init__", __init__):
        yield
