"""Operators that rearrange elements and compute nothing: what is known stays a plain array, so that it can say shapes."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from infimum.networks.node import Node
from infimum.networks.values import axis_of, refuse, traced, within_limit

_FLOATS = (1, 10, 11, 16)   # float32, float16, float64, bfloat16 as ONNX numbers them
_INTEGERS = (6, 7)          # int32, int64


def _integers(values: Any, what: str) -> list[int]:
    if values is None:
        refuse(f"{what} is missing")
    if traced(values) or np.asarray(values).dtype.kind not in "iu":
        refuse(f"{what} is not an array of known integers")
    return [int(v) for v in np.ravel(values)]


def _axes(node: Node, given: Any, since: int, ndim: int, what: str = "axes") -> list[int] | None:
    """The axes, an attribute before an operator set and an input from there on; None if there are none."""
    found = given if node.opset >= since else node.get("axes")
    if found is None:
        return None
    axes = [int(a) for a in found] if isinstance(found, (list, tuple)) else _integers(found, what)
    return [axis_of(a, ndim) for a in axes]


def _reshape(node: Node, x: Any, shape: Any) -> Any:
    wanted = _integers(shape, "the shape")
    if not node.get("allowzero", 0):
        if any(d == 0 and i >= x.ndim for i, d in enumerate(wanted)):
            refuse(f"the shape {wanted} asks for axes that the input does not have")
        wanted = [x.shape[i] if d == 0 else d for i, d in enumerate(wanted)]
    return x.reshape(tuple(wanted))


def _flatten(node: Node, x: Any) -> Any:
    axis = node.get("axis", 1)
    axis = x.ndim if axis == x.ndim else axis_of(axis, x.ndim)
    return x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))


def _transpose(node: Node, x: Any) -> Any:
    return np.transpose(x, node.get("perm") or tuple(range(x.ndim))[::-1])


def _squeeze(node: Node, x: Any, axes: Any = None) -> Any:
    chosen = _axes(node, axes, 13, x.ndim)
    chosen = [i for i, d in enumerate(x.shape) if d == 1] if chosen is None else chosen
    if any(x.shape[a] != 1 for a in chosen):
        refuse(f"axes {chosen} of the shape {tuple(x.shape)} are not all of length 1")
    return x.reshape(tuple(d for i, d in enumerate(x.shape) if i not in chosen))


def _unsqueeze(node: Node, x: Any, axes: Any = None) -> Any:
    given = axes if node.opset >= 13 else node.get("axes")
    count = x.ndim + np.size(given)
    chosen = _axes(node, axes, 13, count) or refuse("axes are missing")
    rest = iter(x.shape)
    return x.reshape(tuple(1 if i in chosen else next(rest) for i in range(count)))


def _slice(node: Node, x: Any, starts: Any = None, ends: Any = None, axes: Any = None, steps: Any = None) -> Any:
    if node.opset < 10:
        starts, ends, axes = (None if (v := node.get(name)) is None else np.array(v, dtype=np.int64)
                              for name in ("starts", "ends", "axes"))
    starts, ends = _integers(starts, "starts"), _integers(ends, "ends")
    axes = list(range(len(starts))) if axes is None else [axis_of(a, x.ndim) for a in _integers(axes, "axes")]
    steps = [1] * len(starts) if steps is None else _integers(steps, "steps")
    if not len(starts) == len(ends) == len(axes) == len(steps) or 0 in steps:
        refuse("starts, ends, axes and steps do not fit together")
    key = [slice(None)] * x.ndim
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        size = x.shape[axis]
        # an end before the first element is none for Python, which counts -1 from the other side
        key[axis] = slice(start, None if step < 0 and end < -size else end, step)
    return x[tuple(key)]


def _gather(node: Node, x: Any, indices: Any) -> Any:
    axis = axis_of(node.get("axis", 0), x.ndim)
    if traced(indices) or indices.dtype.kind not in "iu":
        refuse("its indices are not known integers")
    size = x.shape[axis]
    if ((indices < -size) | (indices >= size)).any():
        refuse(f"an index is beyond the {size} elements of axis {axis}")
    return x[(slice(None),) * axis + ((int(indices) if indices.ndim == 0 else indices),)]


def _concat(node: Node, *parts: Any) -> Any:
    return np.concatenate(parts, axis=node.get("axis", 0))


def _split(node: Node, x: Any, sizes: Any = None) -> list[Any]:
    axis = axis_of(node.get("axis", 0), x.ndim)
    size = x.shape[axis]
    given = sizes if node.opset >= 13 else node.get("split")
    each = -(-size // len(node.outputs))
    counts = [int(v) for v in np.ravel(given)] if given is not None else \
        [min(each, size - i * each) for i in range(len(node.outputs))]
    if sum(counts) != size or len(counts) != len(node.outputs) or min(counts) < 0:
        refuse(f"parts of {counts} do not make the {size} elements of axis {axis}")
    ends = np.cumsum([0, *counts]).tolist()
    return [x[(slice(None),) * axis + (slice(a, z),)] for a, z in zip(ends, ends[1:], strict=False)]


def _pad(node: Node, x: Any, pads: Any = None, value: Any = None, axes: Any = None) -> Any:
    node.one_of("mode", "constant", ("constant",))
    given = _integers(pads, "pads") if node.opset >= 11 else list(node.get("pads", ()))
    fill = value if node.opset >= 11 else node.get("value", 0.0)
    if traced(fill):
        refuse("the value of its padding is not known")
    which = list(range(x.ndim)) if axes is None else [axis_of(a, x.ndim) for a in _integers(axes, "axes")]
    if len(given) != 2 * len(which) or min(given, default=0) < 0:
        refuse(f"pads = {given} do not fit {len(which)} axes")
    for axis, before, after in zip(which, given, given[len(which):], strict=False):
        parts = [_filled((*x.shape[:axis], count, *x.shape[axis + 1:]), 0.0 if fill is None else float(np.ravel(fill)[0]))
                 for count in (before, after)]
        x = np.concatenate([parts[0], x, parts[1]], axis=axis)
    return x


def _filled(shape: tuple[int, ...], value: float) -> np.ndarray:
    return np.full(within_limit(shape), value)


def _expand(node: Node, x: Any, shape: Any) -> Any:
    wanted = np.broadcast_shapes(tuple(x.shape), tuple(_integers(shape, "the shape")))
    return np.broadcast_to(x, within_limit(wanted))


def _shape(node: Node, x: Any) -> np.ndarray:
    return np.array(x.shape[slice(node.get("start", 0), node.get("end"))], dtype=np.int64)


def _constant_of_shape(node: Node, shape: Any) -> np.ndarray:
    value = node.get("value")
    return np.full(within_limit(tuple(_integers(shape, "the shape"))), 0.0 if value is None else np.ravel(value)[0])


def _constant(node: Node) -> np.ndarray:
    """Its value, in one of the forms in which it may be given."""
    kinds = {"value": None, "value_float": np.float64, "value_floats": np.float64, "value_int": np.int64, "value_ints": np.int64}
    found = [(name, kind) for name, kind in kinds.items() if node.get(name) is not None]
    if len(found) != 1:
        refuse(f"it has no value of the kinds {', '.join(kinds)}")
    name, kind = found[0]
    return np.asarray(node.get(name), dtype=kind)


def _cast(node: Node, x: Any, *like: Any) -> Any:
    """Between kinds of floats nothing changes: the real number is meant."""
    wanted = node.get("to")
    if traced(x) and wanted in _FLOATS:
        return x
    if not traced(x) and wanted in _FLOATS:
        return x.astype(np.float64)
    if not traced(x) and wanted in _INTEGERS and x.dtype.kind in "iu":
        return x.astype(np.int64)
    return refuse("it rounds to integers or to another kind of number; only casts between floats are known")


def _dropout(node: Node, x: Any, ratio: Any = None, training: Any = None) -> Any:
    if training is not None and (traced(training) or bool(np.ravel(training)[0])):
        refuse("training_mode is set: export the network for inference")
    return x


ARRANGEMENT: dict[str, Callable[..., Any]] = {
    "Identity": lambda node, x: x, "Dropout": _dropout, "Constant": _constant, "Cast": _cast, "Reshape": _reshape,
    "Flatten": _flatten, "Transpose": _transpose, "Squeeze": _squeeze, "Unsqueeze": _unsqueeze, "Slice": _slice,
    "Gather": _gather, "Concat": _concat, "Split": _split, "Pad": _pad, "Expand": _expand, "Shape": _shape,
    "ConstantOfShape": _constant_of_shape,
}
