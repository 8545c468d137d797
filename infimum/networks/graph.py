"""A network as a list of operations on named arrays, and what it computes."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from infimum.errors import NetworkError
from infimum.networks.node import Node
from infimum.networks.operators import OPERATORS, OWN
from infimum.networks.values import refuse, traced, within_limit
from infimum.support.lazy import dataclass

MOST_IN_ALL = 2**27  # elements of all arrays together that a network computes
_CLIPPED = "Clip"    # its limits may be infinite
_FAILURES = (NetworkError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, MemoryError)


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
        """Checked, and without the nodes and constants that the output does not depend on."""
        _check_names(nodes, (input, *constants), output)
        kept, wanted = [], {output}
        for node in reversed(nodes):
            if wanted.intersection(filter(None, node.outputs)):
                kept.append(node)
                wanted.update(node.inputs)
        kept.reverse()
        _check_operators(kept)
        known = {name: value for name, value in constants.items() if name in wanted}
        for node in kept:
            if node.op == "Constant":
                with _named(node):
                    known[node.outputs[0]] = OPERATORS[node.op].run(node)
        graph = cls(tuple(node for node in kept if node.op != "Constant"), known, input, output, shape)
        graph._check_constants()
        return graph

    def _check_constants(self) -> None:
        limits = {name for node in self.nodes if node.op == _CLIPPED for name in node.inputs[1:]}
        limits -= {name for node in self.nodes for name in node.inputs[:1 if node.op == _CLIPPED else None]}
        for name, value in self.constants.items():
            _check_constant(name, value, name in limits)

    def run(self, x: Any) -> Any:
        """The output for the input x, which has the shape of the input: doubles, or traced and then not rounded."""
        values = self.values_at(x)
        for node in self.nodes:
            self.apply(node, values)
        return values[self.output]

    def values_at(self, x: Any) -> dict[str, Any]:
        """All arrays that are known before the first node is run."""
        return {**self.constants, self.input: x, "": None}

    def apply(self, node: Node, values: dict[str, Any]) -> None:
        """Runs a node: its results join the values."""
        row, arguments = OPERATORS[node.op], [values[name] for name in node.inputs]
        found = row.run(node, *(row.exactly(arguments) if traced(values[self.input]) else arguments))
        for name, value in zip(node.outputs, found if isinstance(found, list) else [found], strict=False):
            if name:  # without a name it is not wanted, and "" stands for inputs that are left out
                values[name] = value if traced(value) else np.asarray(value)


# ---- checks
def _check_names(nodes: Iterable[Node], given: Iterable[str], output: str) -> None:
    """Each name must be given or computed once, and read only after that."""
    there: set[str] = {"", *given}
    lost: dict[str, Node] = {}  # outputs that no row computes

    def check(name: str, reader: str) -> None:
        if name in lost:
            raise NetworkError(f"{reader} reads {name!r}, an output of {lost[name]} that is not known")
        if name not in there:
            raise NetworkError(f"{reader} reads {name!r}, which no node before it computes")

    for node in nodes:
        for name in node.inputs:
            check(name, str(node))
        count = OPERATORS[node.op].outputs if node.op in OPERATORS else None
        for i, name in enumerate(node.outputs):
            if name and (name in there or name in lost):
                raise NetworkError(f"{node} computes {name!r}, which is there already: a name may be given to one array only")
            if count is None or i < count:
                there.add(name)
            else:
                lost[name] = node
    if output not in there and output not in lost:
        raise NetworkError(f"the output {output!r} is not computed by any node")
    check(output, "the network")


def _check_operators(nodes: Iterable[Node]) -> None:
    unknown = sorted({node.op for node in nodes} - set(OPERATORS))
    if unknown:
        known = ", ".join(sorted(set(OPERATORS) - set(OWN)))
        raise NetworkError(f"the operator{'s' if len(unknown) > 1 else ''} {', '.join(unknown)} of the network "
                           f"{'are' if len(unknown) > 1 else 'is'} not known. Known are {known}")
    for node in nodes:
        with _named(node):
            OPERATORS[node.op].check(node)


def _check_constant(name: str, value: np.ndarray, may_be_infinite: bool) -> None:
    if not value.size:
        within_limit(value.shape)
    if value.dtype.kind == "f" and not np.isfinite(value).all() and not (may_be_infinite and not np.isnan(value).any()):
        at = tuple(int(i) for i in np.argwhere(~np.isfinite(value))[0])
        raise NetworkError(f"the weights {name!r} have {value[at]} at {list(at)}: a network with NaN or infinite weights "
                           "computes nothing; train or export it anew")


@contextmanager
def _named(node: Node) -> Iterator[None]:
    """Errors inside name the node."""
    try:
        yield
    except _FAILURES as error:
        raise NetworkError(f"{node}: {error}") from error


# ---- shapes
class GraphStep(NamedTuple):
    """A node in a run: the shapes of the arguments that are computed from the input, the elements of all other floats among them,
    and the shape of its first output. No shapes: it does not depend on the input."""

    node: Node
    computed: list[tuple[int, ...]]
    weights: int
    result: tuple[int, ...]


def shapes_of(graph: Graph) -> tuple[list[GraphStep], Any]:
    """A run with the input 0, and the output: types and sizes are checked on the way."""
    try:
        values, left = graph.values_at(np.zeros(within_limit(graph.shape))), MOST_IN_ALL
    except NetworkError as error:
        raise NetworkError(f"the input {graph.input!r}: {error}") from error
    steps, computed = [], {graph.input}
    for node in graph.nodes:
        with _named(node), np.errstate(all="ignore"):
            arguments = [values[name] for name in node.inputs]
            OPERATORS[node.op].check_types(node, arguments)
            graph.apply(node, values)
            results = [values[name] for name in node.outputs if name in values and name]
            left -= sum(math.prod(within_limit(value.shape)) for value in results)
            if left < 0:
                refuse(f"the arrays up to here have more than {MOST_IN_ALL:,} elements together")
        fed = [name in computed for name in node.inputs]
        steps.append(GraphStep(node, [v.shape for v, is_fed in zip(arguments, fed, strict=True) if is_fed],
                               sum(v.size for v, is_fed in zip(arguments, fed, strict=True)
                                   if not is_fed and v is not None and v.dtype.kind == "f"), results[0].shape))
        if any(fed):
            computed.update(filter(None, node.outputs))
    return steps, values[graph.output]
