"""Operators that rearrange elements and compute nothing: what is known stays a plain array, so that it can give shapes."""

import math
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from infimum.networks.node import Node
from infimum.networks.signature import Constants, Operator
from infimum.networks.values import axis_of, doubles_of, integers, refuse, several_axes, traced, within_limit


def _listed(node: Node, name: str, given: Any, since: int) -> list[int] | None:
    """Integers that are an attribute before an operator set and an input from there on; None if there are none."""
    if node.opset < since:
        return node.get(name)
    return None if given is None else integers(given, name)


def _reshape(node: Node, x: Any, shape: Any) -> Any:
    wanted = integers(shape, "the shape")
    if node.get("allowzero", 0):
        if 0 in wanted and -1 in wanted:
            refuse(f"the shape {wanted} has both 0 and -1, which allowzero = 1 excludes")
    else:
        if any(d == 0 and i >= x.ndim for i, d in enumerate(wanted)):
            refuse(f"the shape {wanted} asks for axes that the input does not have")
        wanted = [x.shape[i] if d == 0 else d for i, d in enumerate(wanted)]
    if min(wanted, default=0) < -1:
        refuse(f"the shape {wanted} has a negative length")
    return x.reshape(tuple(wanted))


def _flatten(node: Node, x: Any) -> Any:
    axis = node.get("axis", 1)
    axis = x.ndim if axis == x.ndim else axis_of(axis, x.ndim)
    return x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))


def _transpose(node: Node, x: Any) -> Any:
    order = node.get("perm", range(x.ndim)[::-1])
    if sorted(order) != list(range(x.ndim)):
        refuse(f"perm = {list(order)} is no order of {x.ndim} axes")
    return np.transpose(x, tuple(order))


def _squeeze(node: Node, x: Any, axes: Any = None) -> Any:
    given = _listed(node, "axes", axes, 13)
    if given == []:
        refuse("its axes are empty: leave them out to remove all axes of length 1")
    chosen = [i for i, d in enumerate(x.shape) if d == 1] if given is None else several_axes(given, x.ndim)
    if any(x.shape[a] != 1 for a in chosen):
        refuse(f"axes {chosen} of the shape {tuple(x.shape)} are not all of length 1")
    return x.reshape(tuple(d for i, d in enumerate(x.shape) if i not in chosen))


def _unsqueeze(node: Node, x: Any, axes: Any = None) -> Any:
    given = _listed(node, "axes", axes, 13)
    count = x.ndim + len(given)
    chosen = several_axes(given, count)
    rest = iter(x.shape)
    return x.reshape(tuple(1 if i in chosen else next(rest) for i in range(count)))


def _slice(node: Node, x: Any, starts: Any = None, ends: Any = None, axes: Any = None, steps: Any = None) -> Any:
    first, last, where = (_listed(node, name, given, 10) for name, given in (("starts", starts), ("ends", ends), ("axes", axes)))
    where = list(range(len(first))) if where is None else where
    steps = [1] * len(first) if steps is None else integers(steps, "steps")
    if not len(first) == len(last) == len(where) == len(steps) or 0 in steps:
        refuse("starts, ends, axes and steps do not fit together")
    key = [slice(None)] * x.ndim
    for start, end, axis, step in zip(first, last, several_axes(where, x.ndim), steps, strict=True):
        key[axis] = _span(start, end, step, x.shape[axis])
    return x[tuple(key)]


def _span(start: int, end: int, step: int, size: int) -> slice:
    """What ONNX means, which is not what Python means by the same numbers: first negative ones are counted from the end, then
    both are moved into the range that they may have."""
    start, end = (v + size if v < 0 else v for v in (start, end))
    if step > 0:
        return slice(min(max(start, 0), size), min(max(end, 0), size), step)
    start, end = min(max(start, 0), size - 1), min(max(end, -1), size - 1)
    return slice(start, None if end < 0 else end, step) if size else slice(0)


def _gather(node: Node, x: Any, indices: Any) -> Any:
    axis = axis_of(node.get("axis", 0), x.ndim)
    size = x.shape[axis]
    if ((indices < -size) | (indices >= size)).any():
        refuse(f"an index is beyond the {size} elements of axis {axis}")
    within_limit((*x.shape[:axis], *indices.shape, *x.shape[axis + 1:]))
    return x[(slice(None),) * axis + ((int(indices) if indices.ndim == 0 else indices),)]


def _concat(node: Node, *parts: Any) -> Any:
    axis = axis_of(node.get("axis"), parts[0].ndim)
    within_limit((sum(part.size for part in parts),))
    return np.concatenate(parts, axis=axis)


def _split(node: Node, x: Any, sizes: Any = None) -> list[Any]:
    axis, parts = axis_of(node.get("axis", 0), x.ndim), len(node.outputs)
    size, counts = x.shape[axis], _listed(node, "split", sizes, 13)
    if node.get("num_outputs", parts) != parts or ("num_outputs" in node.attributes and counts is not None):
        refuse(f"num_outputs = {node.get('num_outputs')} does not fit its other input or its {parts} outputs")
    if counts is None:
        if size % parts and "num_outputs" not in node.attributes:
            refuse(f"{size} elements of axis {axis} cannot be split into {parts} equal parts")
        each = -(-size // parts)
        counts = [min(each, size - i * each) for i in range(parts)]
    if sum(counts) != size or len(counts) != parts or min(counts) < 0:
        refuse(f"parts of {counts} do not make the {size} elements of axis {axis}")
    ends = np.cumsum([0, *counts]).tolist()
    return [x[(slice(None),) * axis + (slice(a, z),)] for a, z in zip(ends, ends[1:], strict=False)]


def _pad(node: Node, x: Any, pads: Any = None, value: Any = None, axes: Any = None) -> Any:
    node.one_of("mode", "constant", ("constant",))
    given = _listed(node, "pads", pads, 11)
    fill = np.asarray(node.get("value", 0.0)) if node.opset < 11 else x.dtype.type(0) if value is None else value
    if traced(fill) or np.size(fill) != 1:
        refuse("the value of its padding is not one known number")
    if node.opset < 11 and x.dtype.kind == "i":
        refuse("before the operator set 11 it pads floats only")
    which = list(range(x.ndim)) if axes is None else several_axes(integers(axes, "axes"), x.ndim)
    if len(given) != 2 * len(which) or min(given, default=0) < 0:
        refuse(f"pads = {given} must be a number that is not negative before and after each of {len(which)} axes")
    for axis, before, after in zip(which, given, given[len(which):], strict=False):
        around = [_filled((*x.shape[:axis], count, *x.shape[axis + 1:]), fill) for count in (before, after)]
        within_limit((x.size + sum(part.size for part in around),))
        x = np.concatenate([around[0], x, around[1]], axis=axis)
    return x


def _filled(shape: Iterable[int], value: Any) -> np.ndarray:
    """An array with one value: floats are doubles, other types stay."""
    number = np.ravel(value)[0]
    return np.full(within_limit(shape), number, dtype=np.asarray(number).dtype)


def _expand(node: Node, x: Any, shape: Any) -> Any:
    wanted = within_limit(integers(shape, "the shape"))
    return np.broadcast_to(x, within_limit(np.broadcast_shapes(tuple(x.shape), wanted)))


def _shape(node: Node, x: Any) -> np.ndarray:
    return np.array(x.shape[slice(node.get("start", 0), node.get("end"))], dtype=np.int64)


def _constant_of_shape(node: Node, shape: Any) -> np.ndarray:
    value = node.get("value", np.zeros(1))
    if value.size != 1 or not np.isfinite(value).all():
        refuse("its value is not one finite number")
    return _filled(integers(shape, "the shape"), value)


def _constant(node: Node) -> np.ndarray:
    """Its value, in one of the forms in which it may be given."""
    if len(node.attributes) != 1:
        refuse("it must have one value")
    (name, value), = node.attributes.items()
    return np.asarray(value, dtype=None if name == "value" else np.float64 if name.startswith("value_float") else np.int64)


_FLOATS = {1: "float32", 10: "float16", 11: "float64", 16: "bfloat16"}  # as ONNX numbers types
_WHOLE = {6: np.int32, 7: np.int64, 9: np.bool_}


def _cast(node: Node, x: Any) -> Any:
    """Between kinds of floats nothing changes: the real number is meant. Integers lose the bits that a type has not."""
    wanted = node.get("to")
    if wanted not in _FLOATS and wanted not in _WHOLE:
        refuse(f"it casts to the type number {wanted}; known are "
               f"{', '.join([*_FLOATS.values(), *(np.dtype(kind).name for kind in _WHOLE.values())])}")
    if traced(x) or x.dtype.kind == "f":
        return x if wanted in _FLOATS else refuse("it rounds floats to integers or truth values, which is not known; only casts "
                                                  "between floats, and from integers and truth values, are")
    return x.astype(_WHOLE[wanted]) if wanted in _WHOLE else doubles_of(x)


def _dropout(node: Node, x: Any, ratio: Any = None, training: Any = None) -> Any:
    if training is not None and bool(np.ravel(training).any()):
        refuse("training_mode is set: export the network for inference")
    return x


_moving = partial(Operator, constants=Constants.NEVER)
# attributes without effect here: ratio and seed of Dropout (training), saturate and round_mode of Cast (types that are refused)
ARRANGEMENT: dict[str, Operator] = {
    "Identity": _moving(lambda node, x: x, "any"),
    "Dropout": _moving(_dropout, "float float?@12 truth?@12", "ratio:float@7-11 seed:int@12"),
    "Constant": _moving(_constant, "", "value:tensor value_float:float@12 value_floats:floats@12 value_int:int@12 "
                                       "value_ints:ints@12"),
    "Cast": _moving(_cast, "any", "to:int! saturate:int@19 round_mode:text@24"),
    "Reshape": _moving(_reshape, "any integer", "allowzero:int@14"), "Flatten": _moving(_flatten, "any", "axis:int"),
    "Transpose": _moving(_transpose, "any", "perm:ints"), "Squeeze": _moving(_squeeze, "any integer?@13", "axes:ints@7-12"),
    "Unsqueeze": _moving(_unsqueeze, "any integer@13", "axes:ints!@7-12"),
    "Slice": _moving(_slice, "any integer@10 integer@10 integer?@10 integer?@10",
                     "starts:ints!@7-9 ends:ints!@7-9 axes:ints@7-9"),
    "Gather": _moving(_gather, "any integer", "axis:int"), "Concat": _moving(_concat, "alike*", "axis:int!"),
    "Split": _moving(_split, "any integer?@13", "axis:int split:ints@7-12 num_outputs:int@18", outputs=None),
    "Pad": _moving(_pad, "number integer@11 number?@11 integer?@18", "mode:text pads:ints!@7-10 value:float@7-10"),
    "Expand": _moving(_expand, "any integer", since=8), "Shape": _moving(_shape, "any", "start:int@15 end:int@15"),
    "ConstantOfShape": _moving(_constant_of_shape, "integer", "value:tensor", 9),
}
