"""What a network with one output returns: a number that is the only element of a vector as well. `net(x)` can be minimised, and
`net(x)[0]`, as code for several outputs has it, is the same."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from infimum.trace.tracer import Tracer


class PlainOutput(np.float64):
    """A double that can be indexed like a vector with one element."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        return np.float64(self)[key] if key == () or key is Ellipsis else np.array([self])[key]

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[np.float64]:
        return iter((np.float64(self),))


class TracedOutput(Tracer):
    """A traced number that can be indexed like a vector with one element."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Tracer:
        return super().__getitem__(key) if isinstance(key, tuple) and not key or key is Ellipsis else self.reshape(1)[key]

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[Tracer]:
        return iter((self.reshape(()),))


def one_output(value: Any) -> PlainOutput | TracedOutput:
    """The only element of an array."""
    only = value.reshape(())
    return TracedOutput(only.expr) if isinstance(value, Tracer) else PlainOutput(only)
