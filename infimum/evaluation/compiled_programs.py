"""Programs of one function on one machine, compiled when they are first used."""

from collections import OrderedDict
from typing import Any

import numpy as np

from infimum.evaluation import programs
from infimum.evaluation.device_choice import DeviceChoice
from infimum.evaluation.programs import Kind, ProgramKind
from infimum.expr import rewriting_switches
from infimum.expr.node import Expr, var
from infimum.problem.system import System
from infimum.search.policy.search import EVALUATION as POLICY
from infimum.support import environment
from infimum.support.clock import check_time

_lowered: "OrderedDict[tuple, tuple]" = OrderedDict()


@environment.all_ours
class CompiledPrograms(DeviceChoice):
    """The programs of f, a function of n variables, and of the system that has its constraints, if there are any."""

    def __init__(self, f: Expr, n: int, backend: Any, system: System | None):
        super().__init__(backend)
        self.f, self.n, self.system = f, n, system
        self._ready: dict[Kind, tuple] = {}
        self._parameters: dict[Kind, int] = {}

    def run(self, kind: Kind, inputs: list[np.ndarray], outputs: list[np.ndarray] | None = None,
            parameters: np.ndarray | None = None, times: int = 1, doubles: Any = None) -> list[np.ndarray]:
        """Runs a program on float64 arrays of shape (rows, N), NumPy's or those of `arrays`; the results are of the same kind.

        `parameters` are the same for all lanes. They may also be given as `doubles`, made by the method of that name, in any
        memory. `times` runs it that often, alternating between inputs and outputs, which then have the same shapes.
        """
        compiled, _, positions, rows = self.prepare(kind)
        here = isinstance(inputs[0], np.ndarray)
        inputs = [np.ascontiguousarray(a) for a in inputs] if here else inputs
        doubles = self.doubles(kind, parameters) if doubles is None else doubles
        if outputs is None:
            room = np.empty if here else (lambda shape: self.arrays.empty(*shape))
            outputs = [room((count, inputs[0].shape[1])) for count in rows]
        compiled.run(inputs, outputs, doubles, positions, threads=getattr(self.backend, "threads", 1), times=times)
        return outputs if times % 2 else inputs

    def doubles(self, kind: Kind, parameters: np.ndarray | None) -> np.ndarray:
        """The data of a program, including these parameters."""
        doubles = self.prepare(kind)[1]
        if parameters is None:
            return doubles
        doubles, at = doubles.copy(), self.parameters_at(kind)
        doubles[at:at + len(parameters)] = parameters
        return doubles

    def parameters_at(self, kind: Kind) -> int:
        """The position of the parameters in the data of a program."""
        self.prepare(kind)
        return self._parameters[kind]

    def prepare(self, kind: Kind) -> tuple:
        """(compiled kernel, doubles, positions, rows of the outputs) of a program, compiled on first use."""
        if kind not in self._ready:
            name, parameters = ProgramKind.read(kind)
            table, what = (programs.OF_SYSTEM, self.system) if name in programs.OF_SYSTEM else (programs.PROGRAMS, self.f)
            key = (what.key, kind, self.n, self.backend.name, getattr(self.backend, "lanes", 1), self.system is None,
                   rewriting_switches.state())
            if key not in _lowered:
                check_time("compiling")
                with environment.collector_paused():
                    program = table[name](what, var("x", (self.n,)), **dict(parameters))
                    data, program.kernel.soon = program.data, True  # most problems are solved before LLVM has compiled theirs
                    ready = self.backend.compile(program.kernel), data.doubles(), data.positions(), program.rows
                _lowered[key] = ready, program.at
                if len(_lowered) > POLICY.kept_kernels:
                    _lowered.popitem(last=False)
            self._ready[kind], self._parameters[kind] = _lowered[key]
        return self._ready[kind]
