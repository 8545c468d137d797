"""How a drawn problem is asked: a door, its settings, and what came back; and the judgement of one draw."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import infimum
from bench.related.answers import Answer, answer_of
from bench.related.problems import Problem
from infimum.backend import cpu
from infimum.backend.cpu import CompiledKernel, CpuBackend
from infimum.kernel.ir import Kernel

SETTINGS = {"atol": 1e-3, "rtol": 1e-3, "max_boxes": 3000, "threads": 1, "progress": False}


class Refused(Exception):
    """infimum does not take this question, and says so: nothing is claimed."""


@dataclass(frozen=True)
class Judgement:
    """decided: both sides ended with claims that the relation constrains. wrong: the contradiction. note: what was answered."""

    decided: bool
    wrong: str = ""
    note: str = ""


@contextmanager
def refusing() -> Iterator[None]:
    """Errors that are answers become `Refused`; all others are defects and pass."""
    try:
        yield
    except infimum.InternalError:
        raise
    except infimum.InfimumError as error:
        raise Refused(f"{type(error).__name__}: {error}") from error


def run(problem: Problem, door: str = "minimize", **settings: Any) -> Any:
    """The Result of a door: minimize, maximize or feasible."""
    asked = SETTINGS | settings | problem.arguments
    with refusing():
        if door == "feasible":
            return infimum.feasible(problem.box, asked.pop("constraints", []), **asked)
        return getattr(infimum, door)(problem.fun, problem.box, **asked)


def ask(problem: Problem, door: str = "minimize", **settings: Any) -> Answer:
    """What a door claims."""
    return answer_of(run(problem, door, **settings))


# ---- how kernels are run
_COMPILE = CpuBackend.compile  # these ways may stand within each other


@contextmanager
def patched(owner: Any, name: str, value: Any) -> Iterator[Any]:
    """Another value of an attribute for a while; yields the usual one."""
    usual = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield usual
    finally:
        setattr(owner, name, usual)


@contextmanager
def interpreting(only: bool = False) -> Iterator[None]:
    """Kernels are interpreted first, as those of constrained problems are, until compiling is worth its price; or `only`."""
    def make(backend: CpuBackend, kernel: Kernel) -> CompiledKernel:
        return _COMPILE(backend, kernel) if backend.plain else backend.interpret(kernel)
    improve = (lambda self, ahead=0.0: None) if only else CompiledKernel._improve_if_worth_it
    with patched(CpuBackend, "compile", make), patched(CompiledKernel, "_improve_if_worth_it", improve):
        yield


@contextmanager
def compiling() -> Iterator[None]:
    """Kernels are compiled at once, in the way that makes the fastest code."""
    with patched(CpuBackend, "compile", lambda backend, kernel: _COMPILE(backend, replace(kernel, soon=False))):
        yield


@contextmanager
def all_threads_working() -> Iterator[None]:
    """Boxes are shared evenly among the threads, one block each, however little work that is."""
    def split(self: CompiledKernel, count: int, threads: int) -> tuple[int, int]:
        block = -(-count // threads // self.lanes) * self.lanes
        return -(-count // block), block
    with patched(CompiledKernel, "_split", split), patched(cpu, "_PIECE_SECONDS", 1e9):  # a run is not cut on a slow machine
        yield
