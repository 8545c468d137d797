"""A network as a list of operations on named arrays, and what it computes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from infimum.errors import NetworkError
from infimum.networks.node import Node
from infimum.networks.operators import OPERATORS, OWN
from infimum.networks.values import MOST_ELEMENTS, traced, within_limit

_CLIPPED = "Clip"  # its limits may be infinite


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """input, output: the names of the arrays that come in and go out. shape: of the input, with the batch axis if there is one.
    constants: the known arrays; floats are doubles."""

    nodes: tuple[Node, ...]
    constants: Mapping[str, np.ndarray]
    input: str
    output: str
    shape: tuple[int, ...]

    @classmethod
    def of(cls, nodes: Sequence[Node], constants: Mapping[str, np.ndarray], input: str, output: str,
           shape: tuple[int, ...]) -> "Graph":
        """Without the nodes and constants that the output does not depend on; checked."""
        kept, wanted = [], {output}
        for node in reversed(nodes):
            if wanted.intersection(node.outputs):
                kept.insert(0, node)
                wanted.update(node.inputs)
        graph = cls(tuple(kept), {name: value for name, value in constants.items() if name in wanted}, input, output, shape)
        graph._check()
        return graph

    def _check(self) -> None:
        unknown = sorted({node.op for node in self.nodes} - set(OPERATORS))
        if unknown:
            known = ", ".join(sorted(set(OPERATORS) - set(OWN)))
            raise NetworkError(f"the operator{'s' if len(unknown) > 1 else ''} {', '.join(unknown)} of the network "
                               f"{'are' if len(unknown) > 1 else 'is'} not known. Known are {known}")
        limits = {name for node in self.nodes if node.op == _CLIPPED for name in node.inputs[1:]}
        limits -= {name for node in self.nodes for name in node.inputs[:1 if node.op == _CLIPPED else None]}
        there = {self.input, "", *self.constants}
        for name, value in self.constants.items():
            _check_constant(name, value, name in limits)
        for node in self.nodes:
            missing = [name for name in node.inputs if name not in there]
            if missing:
                raise NetworkError(f"{node} reads {missing[0]!r}, which no node before it computes")
            there.update(node.outputs)
        if self.output not in there:
            raise NetworkError(f"the output {self.output!r} is not computed by any node")

    def run(self, x: Any, see: Callable[[Node, list[Any], list[Any]], None] | None = None) -> Any:
        """The output for the input x, which has the shape of the input: doubles, or traced and then not rounded. `see` is told
        of each node, its arguments and its results."""
        values: dict[str, Any] = {**self.constants, self.input: x, "": None}
        exactly = traced(x)
        for node in self.nodes:
            row = OPERATORS[node.op]
            arguments = [values[name] for name in node.inputs]
            found = row.run(node, *(row.exactly(arguments) if exactly else arguments))
            results = found if isinstance(found, list) else [found]
            values.update(zip(node.outputs, results, strict=False))
            if see is not None:
                see(node, arguments, results)
        return values[self.output]


def _check_constant(name: str, value: np.ndarray, may_be_infinite: bool) -> None:
    if value.dtype.kind == "f" and not np.isfinite(value).all() and not (may_be_infinite and not np.isnan(value).any()):
        at = tuple(int(i) for i in np.argwhere(~np.isfinite(value))[0])
        raise NetworkError(f"the weights {name!r} have {value[at]} at {list(at)}: a network with NaN or infinite weights "
                           "computes nothing; train or export it anew")


def shapes_of(graph: Graph) -> tuple[list[tuple[Node, list[Any], list[Any]]], Any]:
    """Each node with its arguments and results for the input 0, and the output: errors name the node."""
    seen: list[tuple[Node, list[Any], list[Any]]] = []

    def see(node: Node, arguments: list[Any], results: list[Any]) -> None:
        if any(np.size(value) > MOST_ELEMENTS for value in results):
            raise NetworkError(f"an array would have more than {MOST_ELEMENTS:,} elements")
        seen.append((node, arguments, results))

    try:
        within_limit(graph.shape)
    except NetworkError as error:
        raise NetworkError(f"the input {graph.input!r}: {error}") from error
    try:
        with np.errstate(all="ignore"):
            output = graph.run(np.zeros(graph.shape), see)
    except (NetworkError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, MemoryError) as error:
        node = graph.nodes[len(seen)]
        raise NetworkError(f"{node}: {error}") from error
    return seen, output
