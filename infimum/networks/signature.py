"""What a row of the table of operators declares: operator sets, inputs with their types, attributes. Anything else a node has is
refused here, in one place, so that no operator ignores what it does not know."""

import math
import re
from collections.abc import Callable, Iterable
from enum import Enum
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from infimum.networks.node import LATEST, OLDEST, Node
from infimum.networks.values import exact, refuse, traced
from infimum.problem.text import counted
from infimum.support.lazy import dataclass


class Constants(Enum):
    """When the floats among the arguments become traced constants, so that nothing is rounded."""

    ALWAYS = "they are computed with"
    ALONE = "only the first, and only where no argument is traced: each of the others meets it in a single operation"
    NEVER = "elements are only rearranged"


class Input(NamedTuple):
    """An input of an operator: its type, a word of `_TYPES`; may it be left out? Since which operator set is there one? Does it
    stand for any number of inputs?"""

    type: str
    optional: bool
    since: int
    repeated: bool


class Attribute(NamedTuple):
    """An attribute: its kind, a word of `_KINDS`; must it be given, and in which operator sets is there one?"""

    kind: str
    required: bool
    first: int
    last: int


def _whole(value: Any) -> bool:
    return isinstance(value, int)


# kinds of attributes: `limit` is a float that may be infinite
_KINDS: dict[str, Callable[[Any], bool]] = {
    "int": _whole,
    "float": lambda value: isinstance(value, float) and math.isfinite(value),
    "limit": lambda value: isinstance(value, float) and not math.isnan(value),
    "text": lambda value: isinstance(value, (str, bytes)),
    "ints": lambda value: isinstance(value, (list, tuple)) and all(map(_whole, value)),
    "floats": lambda value: isinstance(value, (list, tuple)) and all(isinstance(v, float) for v in value),
    "tensor": lambda value: isinstance(value, np.ndarray),
}
# types of inputs, by the kinds of NumPy's dtypes; all inputs of type `number` of a node, and all of type `alike`, are of one type
_TYPES = {"float": "f", "integer": "i", "number": "fi", "exponent": "fi", "truth": "b", "any": "fib", "alike": "fib"}
_OF_ONE_TYPE = ("number", "alike")
_INPUT = re.compile(r"(?P<type>[a-z]+)(?P<optional>\??)(?P<repeated>\*?)(@(?P<since>\d+))?")
_ATTRIBUTE = re.compile(r"(?P<name>\w+):(?P<kind>[a-z]+)(?P<required>!?)(@(?P<first>\d+)(?P<to>-(?P<last>\d+))?)?")


@cache
def inputs_of(text: str) -> tuple[Input, ...]:
    """The inputs that a row writes as "float integer?@13": a float array, and from operator set 13 on perhaps integers. A star
    stands for any number of them."""
    found = [_INPUT.fullmatch(word) for word in text.split()]
    return tuple(Input(m["type"], bool(m["optional"]), int(m["since"] or OLDEST), bool(m["repeated"])) for m in found)


@cache
def attributes_of(text: str) -> dict[str, Attribute]:
    """The attributes that a row writes as "axes:ints@7-12 keepdims:int": those with their operator sets, if not all. An
    exclamation mark stands behind the kind of one that must be given."""
    found = [_ATTRIBUTE.fullmatch(word) for word in text.split()]
    return {m["name"]: Attribute(m["kind"], bool(m["required"]), int(m["first"] or OLDEST),
                                 int(m["last"] or LATEST)) for m in found}


@dataclass(frozen=True, slots=True)
class Operator:
    """A row of the table: `run(node, *arguments)` gives the output, or a list of them.

    takes: the inputs, as `inputs_of` reads them. reads: the attributes, as `attributes_of` reads them. since: the first operator
    set that has it. outputs: how many are computed; None for any number.
    """

    run: Callable[..., Any]
    takes: str = "float"
    reads: str = ""
    since: int = OLDEST
    outputs: int | None = 1
    constants: Constants = Constants.ALWAYS

    def exactly(self, arguments: list[Any]) -> list[Any]:
        """The arguments for a traced run."""
        if self.constants is Constants.NEVER or (self.constants is Constants.ALONE and any(map(traced, arguments))):
            return arguments
        lifted = 1 if self.constants is Constants.ALONE else len(arguments)
        return [*map(exact, arguments[:lifted]), *arguments[lifted:]]

    def inputs_at(self, opset: int) -> list[Input]:
        return [part for part in inputs_of(self.takes) if part.since <= opset]

    def attributes_at(self, opset: int) -> dict[str, Attribute]:
        return {name: part for name, part in attributes_of(self.reads).items() if part.first <= opset <= part.last}

    def check(self, node: Node) -> None:
        """Refuses a node that has, or lacks, what the row does not say."""
        if node.opset < self.since:
            refuse(f"{node.op} is an operator since the operator set {self.since}, and the file uses {node.opset}: export it "
                   f"with opset_version={self.since} or later")
        self._check_attributes(node)
        self._check_inputs(node)

    def _check_attributes(self, node: Node) -> None:
        known = self.attributes_at(node.opset)
        for name, value in node.attributes.items():
            if name not in known:
                refuse(f"the attribute {name!r} = {_shown(value)} of {node.op} is not known in the operator set {node.opset}; "
                       f"known {_listed(known)}. Export the network without it")
            if not _KINDS[known[name].kind](value):
                refuse(f"the attribute {name!r} = {_shown(value)} of {node.op} is not of the kind {known[name].kind}")
        missing = [name for name, part in known.items() if part.required and name not in node.attributes]
        if missing:
            refuse(f"the attribute {missing[0]!r} of {node.op} is missing")

    def _check_inputs(self, node: Node) -> None:
        parts = self.inputs_at(node.opset)
        needed = sum(not part.optional for part in parts)
        most = math.inf if parts and parts[-1].repeated else len(parts)
        if not needed <= len(node.inputs) <= most:
            refuse(f"{node.op} has {counted(len(node.inputs), 'input')} in the operator set {node.opset}; it takes "
                   f"{needed} {'or more' if most == math.inf else f'to {most}' if most > needed else ''}".rstrip())
        for i, name in enumerate(node.inputs):
            if not name and not parts[min(i, len(parts) - 1)].optional:
                refuse(f"input {i} of {node.op} is left out, and it must be given")

    def check_types(self, node: Node, arguments: list[Any]) -> None:
        """Refuses arguments of types that the operator is not known for. All types of floats are one: real numbers."""
        parts = self.inputs_at(node.opset)
        first: dict[str, str] = {}
        for i, value in enumerate(arguments):
            part = parts[min(i, len(parts) - 1)]
            if value is None:
                continue
            kind = type_of(value)
            if value.dtype.kind not in _TYPES[part.type]:
                refuse(f"input {i} of {node.op} is of type {kind}, and {node.op} is known for "
                       f"{', '.join(_NAMES[k] for k in _TYPES[part.type])} there: cast it to such a type before the export")
            if part.type in _OF_ONE_TYPE and first.setdefault(part.type, kind) != kind:
                refuse(f"input {i} of {node.op} is of type {kind}, and one before it of type {first[part.type]}")


_NAMES = {"f": "float", "i": "int32 or int64", "b": "bool"}


def type_of(value: Any) -> str:
    """The name of an array's type; all floats are real numbers."""
    return "float" if value.dtype.kind == "f" else value.dtype.name


def _shown(value: Any) -> str:
    text = str(value.tolist()) if isinstance(value, np.ndarray) and value.size < 9 else repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _listed(names: Iterable[str]) -> str:
    names = sorted(names)
    return f"{'is' if len(names) == 1 else 'are'} {', '.join(names)}" if names else "is none"
