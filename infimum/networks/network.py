"""A trained network as a function of NumPy arrays."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from infimum.errors import NetworkError, OptionError, ShapeError
from infimum.networks.graph import Graph, GraphStep, shapes_of
from infimum.networks.one_output import one_output
from infimum.networks.values import flat, read_input
from infimum.problem.text import counted
from infimum.trace.recording import recorded

_SHOWN = 40  # layers of a table
_compared: ContextVar["Network | None"] = ContextVar("compared", default=None)  # whose outputs a property is called with


class Network:
    """A trained network: an ordinary function of a NumPy vector, `net(x)`, which can be traced like any other.

    `x` has one number for each input, as a vector or in the shape of the network's input. The result is an array in the shape of
    its output, without the batch axis. If the network has one output, the result is a number, and `net(x)[0]` is the same number:
    code for several outputs works as it is. On NumPy's arrays it computes with doubles. Traced, in `minimize`, `maximize`,
    `enclose` or as a constraint, it is the real function of the weights as they are: float32 weights are doubles, and nothing is
    rounded.

    inputs, outputs: how many there are. input_shape, output_shape: without the batch axis. parameters: the number of weights.
    name: of the file, or the kind of source.
    """

    is_ours = True  # there is no code of the user's to compare with what was traced

    def __init__(self, graph: Graph, name: str, batch: bool = False):
        self.name = self.__qualname__ = name  # errors of the tracer name a function by its __qualname__
        self._graph = graph
        steps, output = shapes_of(graph)
        self.input_shape = graph.shape[1:] if batch else graph.shape
        shape = tuple(np.shape(output))
        if not isinstance(output, np.ndarray | np.floating) or output.dtype.kind != "f":
            raise NetworkError(f"{name}: the output {graph.output!r} is not an array of floats")
        self.output_shape = shape[1:] if len(shape) > 1 and shape[0] == 1 else shape
        self.inputs, self.outputs = math.prod(self.input_shape), math.prod(self.output_shape)
        if not self.inputs or not self.outputs:
            raise NetworkError(f"{name}: the network has no {'inputs' if not self.inputs else 'outputs'}")
        self.parameters = sum(value.size for value in graph.constants.values() if value.dtype.kind == "f")
        self._rows = _table(steps)

    def __call__(self, x: Any) -> Any:
        if _compared.get() is self:
            raise OptionError("the property is called with the outputs y of the network, not with its inputs: write lambda y: "
                              "y[0] < 2 instead of lambda x: net(x)[0] < 2, or lambda x, y: ... for both")
        x = read_input(x)
        if math.prod(x.shape) != self.inputs or (x.ndim > 1 and tuple(x.shape) not in (self.input_shape, self._graph.shape)):
            raise ShapeError(f"{self.name} takes {counted(self.inputs, 'number')}, as a vector or in the shape "
                             f"{self.input_shape}, and was given an array of the shape {tuple(x.shape)}")
        return recorded(lambda: self._output(x), self, (x,))

    def _output(self, x: Any) -> Any:
        y = self._graph.run(x.reshape(self._graph.shape))
        return one_output(flat(y)[0]) if self.outputs == 1 else y.reshape(self.output_shape)

    @contextmanager
    def comparing_outputs(self) -> Iterator[None]:
        """Inside, a function of the outputs runs, in which the network itself would be asked for outputs of outputs."""
        token = _compared.set(self)
        try:
            yield
        finally:
            _compared.reset(token)

    def __repr__(self) -> str:
        head = f"Network {self.name}: {self.input_shape} -> {self.output_shape}, {counted(self.parameters, 'parameter')}"
        rows = self._rows if len(self._rows) <= _SHOWN else [*self._rows[:_SHOWN], ("…", f"{len(self._rows):,} in all", "", "")]
        lines = [f"  {op:<20} {inputs:<28} {output:<20} {parameters:>10}" for op, inputs, output, parameters in
                 [("layer", "input", "output", "parameters"), *rows]]
        return "\n".join([head, *(line.rstrip() for line in lines)])


def _table(steps: list[GraphStep]) -> list[tuple[str, str, str, str]]:
    """A row for each node that computes something from the input: what it does, shapes, parameters."""
    return [(step.node.op, " ".join(map(str, step.computed)), str(step.result), f"{step.weights:,}" if step.weights else "")
            for step in steps if step.computed]
