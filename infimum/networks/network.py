"""A trained network as a function of NumPy arrays."""

import math
from typing import Any

import numpy as np

from infimum.errors import NetworkError, ShapeError
from infimum.expr.recording import recorded
from infimum.networks.graph import Graph, shapes_of
from infimum.networks.node import Node
from infimum.networks.values import flat, read_input
from infimum.text import counted

_SHOWN = 40  # layers of a table


class Network:
    """A trained network: an ordinary function of a NumPy vector, `net(x)`, which can be traced like any other.

    `x` has one number for each input, as a vector or in the shape of the network's input. The result is a number if the network
    has one output, and else an array in the shape of its output, without the batch axis. On NumPy's arrays it computes with
    doubles. Traced, in `minimize`, `maximize`, `enclose` or as a constraint, it is the real function of the weights as they
    are: float32 weights are doubles, and nothing is rounded.

    inputs, outputs: how many there are. input_shape, output_shape: without the batch axis. parameters: the number of weights.
    name: of the file, or the kind of source.
    """

    is_ours = True  # there is no code of the user's to compare with what was traced

    def __init__(self, graph: Graph, name: str, batch: bool = False):
        self.name = self.__qualname__ = name  # errors of the tracer name a function by its __qualname__
        self._graph = graph
        seen, output = shapes_of(graph)
        self.input_shape = graph.shape[1:] if batch else graph.shape
        shape = tuple(np.shape(output))
        if not isinstance(output, np.ndarray | np.floating) or output.dtype.kind != "f":
            raise NetworkError(f"{name}: the output {graph.output!r} is not an array of floats")
        self.output_shape = shape[1:] if len(shape) > 1 and shape[0] == 1 else shape
        self.inputs, self.outputs = math.prod(self.input_shape), math.prod(self.output_shape)
        if not self.inputs or not self.outputs:
            raise NetworkError(f"{name}: the network has no {'inputs' if not self.inputs else 'outputs'}")
        self.parameters = sum(value.size for value in graph.constants.values() if value.dtype.kind == "f")
        self._rows = _table(seen, graph.input)

    def __call__(self, x: Any) -> Any:
        x = read_input(x)
        if math.prod(x.shape) != self.inputs or (x.ndim > 1 and tuple(x.shape) not in (self.input_shape, self._graph.shape)):
            raise ShapeError(f"{self.name} takes {counted(self.inputs, 'number')}, as a vector or in the shape "
                             f"{self.input_shape}, and was given an array of the shape {tuple(x.shape)}")
        return recorded(lambda: self._output(x), self, (x,))

    def _output(self, x: Any) -> Any:
        y = self._graph.run(x.reshape(self._graph.shape))
        return flat(y)[0] if self.outputs == 1 else y.reshape(self.output_shape)

    def __repr__(self) -> str:
        head = f"Network {self.name}: {self.input_shape} -> {self.output_shape}, {counted(self.parameters, 'parameter')}"
        rows = self._rows if len(self._rows) <= _SHOWN else [*self._rows[:_SHOWN], ("…", f"{len(self._rows):,} in all", "", "")]
        lines = [f"  {op:<20} {inputs:<28} {output:<20} {parameters:>10}" for op, inputs, output, parameters in
                 [("layer", "input", "output", "parameters"), *rows]]
        return "\n".join([head, *(line.rstrip() for line in lines)])


def _table(seen: list[tuple[Node, list[Any], list[Any]]], input: str) -> list[tuple[str, str, str, str]]:
    """A row for each node that computes something from the input: what it does, shapes, parameters."""
    rows, computed = [], {input}
    for node, arguments, results in seen:
        fed = [value for name, value in zip(node.inputs, arguments, strict=True) if name in computed]
        if fed:
            known = [value for name, value in zip(node.inputs, arguments, strict=True) if name and name not in computed]
            weights = sum(v.size for v in known if v.dtype.kind == "f")
            shapes = " ".join(str(tuple(v.shape)) for v in fed)
            rows.append((node.op, shapes, str(tuple(np.shape(results[0]))), f"{weights:,}" if weights else ""))
            computed.update(node.outputs)
    return rows
