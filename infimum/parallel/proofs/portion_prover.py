"""What a worker is sent once: a problem and the engine that proves it, to work off portions of its regions.

The function travels as the expression that was traced: no code of the user's runs there, and lambdas are as good as others.
"""

import pickle
from functools import cached_property
from multiprocessing import parent_process
from time import perf_counter
from typing import Any, ClassVar, NamedTuple

import numpy as np

from infimum.backend.devices import backend_of
from infimum.blackbox.outcome import OutcomeKind, exception_text
from infimum.engines.registry import prover
from infimum.errors import DeviceError, InfimumError, InternalError
from infimum.evaluation.evaluator import Evaluator
from infimum.problem.packing import PackedExprs, PackedSystem
from infimum.problem.problem import Problem
from infimum.problem.settings import Limits, Machine, Method
from infimum.problem.start_boxes import StartBoxes
from infimum.problem.variable_bounds import OuterBox
from infimum.search.checkpoint import State
from infimum.search.rounds import process_portion
from infimum.support import environment
from infimum.support.clock import OutOfTime
from infimum.support.lazy import dataclass

_LOST = 79  # exit status of a worker whose GPU has failed


class Answer(NamedTuple):
    """What is left of a portion, or what went wrong, and the seconds that it took."""

    state: State | None
    error: Exception | None
    seconds: float
    kind: OutcomeKind = OutcomeKind.VALUE


@dataclass(frozen=True, kw_only=True, eq=False)
class PortionProver:
    """For workers (`blackbox.trial_workers`) a black box, whose points are pickled portions and whose outcomes are `Answer`s."""

    constraints: ClassVar[int] = 0  # it says nothing in between
    packed: PackedExprs | PackedSystem
    key: str
    lo: np.ndarray
    hi: np.ndarray
    start: StartBoxes | None
    outer: OuterBox | None
    method: Method
    machine: Machine
    memory_limit: float | None

    @classmethod
    def of(cls, problem: Problem, evaluator: Evaluator, method: Method, machine: Machine,
           memory_limit: float | None) -> "PortionProver":
        """Of the problem that an engine is given."""
        system = evaluator.system
        packed = PackedExprs.of([evaluator.f]) if system is None else PackedSystem.of(system)
        return cls(packed=packed, key=_key(evaluator), lo=problem.lo, hi=problem.hi, start=problem.start, outer=problem.outer,
                   method=method, machine=machine, memory_limit=memory_limit)

    @cached_property
    def _engine(self) -> Any:
        """As the coordinator has it. Kernels are compiled when they are first needed, and kept."""
        backend, n = backend_of(self.machine.device, self.memory_limit, self.machine.threads), len(self.lo)
        system = self.packed.unpacked() if isinstance(self.packed, PackedSystem) else None
        evaluator = Evaluator(self.packed.unpacked()[0] if system is None else system.f, n, backend, None, system)
        if _key(evaluator) != self.key:
            raise InternalError("the function that has arrived is not the one that was sent")
        problem = Problem(None, self.lo, self.hi, None, self.start, self.outer)
        made = prover(self.method.engine, self.machine.batch, False, system is not None)
        return made(problem, evaluator, self.method, Limits(memory_limit=self.memory_limit))

    @environment.ours
    def evaluate(self, x: bytes, note: Any = None) -> Answer:
        """Works off a portion. An exception is an answer too. Only a GPU that fails ends the process, which could not use it any
        more; another takes its place."""
        begin, engine = perf_counter(), None
        try:
            engine, portion = self._engine, pickle.loads(x)
            return Answer(process_portion(engine.branch_of(portion.state), portion.budget), None, perf_counter() - begin)
        except (InfimumError, MemoryError) as error:
            lost = isinstance(error, DeviceError) and not isinstance(error, MemoryError) and engine is not None
            if lost and parent_process() is not None:
                raise SystemExit(_LOST) from error
            return Answer(None, error, perf_counter() - begin)
        except OutOfTime:  # of the run, where a portion is worked off in its own process
            raise
        except Exception as error:
            failed = InternalError(f"a portion of the regions failed: {exception_text(error)}")
            return Answer(None, failed, perf_counter() - begin)


def _key(evaluator: Evaluator) -> str:
    return evaluator.f.key if evaluator.system is None else evaluator.system.key
