"""One operation of a network."""

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

import numpy as np

from infimum.networks.values import refuse
from infimum.support.lazy import dataclass


def single(decimal: float) -> float:
    """The float32 number nearest to a decimal: what ONNX has where a node gives no other."""
    return float(np.float32(decimal))


OLDEST, LATEST = 7, 26  # the operator sets of ONNX that are known; before, shapes did not broadcast as in NumPy


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """op: what is done, as ONNX calls it. inputs, outputs: names of arrays; "" for an input that is left out. name: for errors
    and tables. opset: the version of ONNX's operators that is meant."""

    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    opset: int = LATEST

    def get(self, attribute: str, default: Any = None) -> Any:
        """The attribute, or what holds without it."""
        return self.attributes.get(attribute, default)

    def one_of(self, attribute: str, default: str, known: Iterable[str]) -> str:
        """An attribute that is one of a few words."""
        word = self.get(attribute, default)
        word = word.decode("utf-8", "replace") if isinstance(word, bytes) else word
        if word not in known:
            refuse(f"{attribute} = {word!r} is not one of {', '.join(known)}")
        return word

    def __str__(self) -> str:
        return f"node {self.name!r} ({self.op})" if self.name else f"node {self.op} of {', '.join(self.outputs)}"
