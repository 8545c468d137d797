"""Arrays that a network computes with: NumPy's, or traced ones, in which nothing is rounded."""

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

from infimum.errors import NetworkError
from infimum.expr import build as b
from infimum.trace.component_arrays import Components
from infimum.trace.trace import Tracer
from infimum.trace.tracer import has_tracer, joined, lift
from infimum.trace.user_source import user_line

MOST_ELEMENTS = 2**24  # of one array: a small file can ask for any number of them


def traced(x: Any) -> bool:
    """Is it a traced array?"""
    return isinstance(x, Tracer)


def exact(x: Any) -> Any:
    """Doubles as a traced constant, so that what is computed from constants alone is not rounded; anything else as it is."""
    return Tracer(lift(x)) if isinstance(x, np.ndarray) and x.dtype.kind == "f" else x


def read_input(x: Any) -> Any:
    """What a network is called with: doubles, or traced values in one array."""
    if traced(x):
        return x
    if isinstance(x, Components) or has_tracer(x):
        return joined(np.asarray(x) if isinstance(x, np.ndarray) else x)
    return np.asarray(x, dtype=np.float64)


def doubles_of(x: np.ndarray) -> np.ndarray:
    """Integers or truth values as doubles, which must be exact."""
    doubles = x.astype(np.float64)
    with np.errstate(invalid="ignore"):
        if (doubles.astype(x.dtype) != x).any():
            refuse("an integer is no double")
    return doubles


def flat(x: Any) -> Any:
    """The elements in row-major order."""
    return x.reshape(math.prod(x.shape))


def refuse(what: str) -> NoReturn:
    """The error about a node; whoever runs the node adds its name."""
    raise NetworkError(what)


def within_limit(shape: Iterable[int]) -> tuple[int, ...]:
    """The shape, unless it has too many elements: asked before there is such an array. Axes of length 0 do not help, since a sum
    over them has the other axes."""
    shape = tuple(shape)
    if min(shape, default=0) < 0:
        refuse(f"an array cannot have the shape {shape}")
    if math.prod(filter(None, shape)) > MOST_ELEMENTS:
        refuse(f"an array of the shape {shape} would have more than {MOST_ELEMENTS:,} elements")
    return shape


def broadcast(*x: Any) -> tuple[int, ...]:
    """The shape that arrays have together, unless it has too many elements."""
    try:
        return within_limit(np.broadcast_shapes(*(tuple(v.shape) for v in x)))
    except ValueError:
        refuse(f"arrays of the shapes {', '.join(str(tuple(v.shape)) for v in x)} do not fit together")


def several_axes(axes: Iterable[int], ndim: int) -> list[int]:
    """The axes, counted from the first; none may be given twice."""
    found = [axis_of(axis, ndim) for axis in axes]
    if len(set(found)) < len(found):
        refuse(f"the axes {found} name one axis twice")
    return found


def integers(values: np.ndarray, what: str) -> list[int]:
    """The elements of an array of integers with one axis, or of a single integer."""
    if np.ndim(values) > 1:
        refuse(f"{what} has the shape {np.shape(values)} instead of one axis")
    return [int(v) for v in np.ravel(values)]


def axis_of(axis: int, ndim: int) -> int:
    """The axis, counted from the first; negative ones count from the last."""
    if not -ndim <= axis < ndim:
        refuse(f"there is no axis {axis} of {ndim}")
    return axis % ndim


# ---- functions that NumPy lacks

def _sigmoid(x: np.ndarray) -> np.ndarray:
    return np.exp(-np.logaddexp(0.0, -x))


_IN_NUMPY: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "expit": _sigmoid, "erf": np.vectorize(math.erf, otypes=[float]), "erfc": np.vectorize(math.erfc, otypes=[float])}


def special(operation: str, x: Any) -> Any:
    """An operation of infimum that is no function of NumPy's: expit, erf, erfc."""
    if traced(x):
        return Tracer(b.build(operation, lift(x), line=user_line()))
    return _IN_NUMPY[operation](x)


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x))."""
    return special("expit", x)


def softplus(x: Any) -> Any:
    """log(1 + exp(x)), which cannot overflow."""
    return np.logaddexp(0.0, x)


def relu(x: Any) -> Any:
    """The larger of x and 0."""
    return np.maximum(x, 0.0)


def number(value: Fraction, like: Any) -> Any:
    """A rational number, exact beside traced arrays, and the nearest double beside NumPy's."""
    return value if traced(like) else float(value)
