"""What ONNX means by a list of nodes, node by node: by onnx's reference evaluator, or by the text of the specification where the
evaluator is known to deviate from it."""

import itertools
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from infimum.networks.operators import OPERATORS


class NoReference(Exception):
    """The reference does not take the node."""


def values_of(nodes: list[tuple], given: dict[str, np.ndarray], opset: int) -> dict[str, np.ndarray]:
    """All arrays, from those that are given."""
    values: dict[str, Any] = {"": None, **given}
    for op, inputs, outputs, attributes in nodes:
        arguments = [values[name] for name in inputs]
        own = SPECIFICATION.get(op)
        found = None if own is None else own(opset, attributes, *arguments)
        found = [found] if found is not None else _by_onnx(op, arguments, len(outputs), attributes, opset)
        values.update(zip(outputs, found, strict=True))
    return values


def _by_onnx(op: str, arguments: list, outputs: int, attributes: dict[str, Any], opset: int) -> list[np.ndarray]:
    from onnx import helper, numpy_helper
    from onnx.reference import ReferenceEvaluator

    names = ["" if value is None else f"i{k}" for k, value in enumerate(arguments)]
    made = {k: numpy_helper.from_array(v) if isinstance(v, np.ndarray) else v for k, v in attributes.items()}
    node = helper.make_node(op, names, [f"o{k}" for k in range(outputs)], **made)
    given = {name: value for name, value in zip(names, arguments, strict=True) if name}
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info(
        name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape) for name, value in given.items()],
        [helper.make_tensor_value_info(name, 0, None) for name in node.output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [np.asarray(v) for v in ReferenceEvaluator(model).run(None, given)]
    except Exception as error:  # whatever it raises where a node is wrong, or beyond it
        raise NoReference(f"{op}: {type(error).__name__}: {error}") from error


# ---- by the text of the specification; None where the reference evaluator follows it
def _softmax(log: bool) -> Callable[..., np.ndarray | None]:
    """Before operator set 13 all axes from `axis` on are taken together; the evaluator has the newer meaning only."""
    def value(opset: int, attributes: dict[str, Any], x: np.ndarray) -> np.ndarray | None:
        axis = attributes.get("axis", 1)
        if opset >= 13 or not -x.ndim <= axis < x.ndim:
            return None
        rows = x.reshape(int(np.prod(x.shape[:axis % x.ndim])), -1)
        shares = np.exp(rows) / np.exp(rows).sum(axis=1, keepdims=True)
        return (np.log(shares) if log else shares).reshape(x.shape)
    return value


def _slice(opset: int, attributes: dict[str, Any], x: np.ndarray, starts: Any = None, ends: Any = None, axes: Any = None,
           steps: Any = None) -> np.ndarray | None:
    """With a negative step a start before the first element is moved to it, and an end to the place before it; the evaluator
    slices as Python does, where such numbers are counted from the other side once more, or select nothing."""
    if opset < 10 or steps is None or (steps > 0).all() or 0 in steps or len(set(axes % x.ndim)) < len(axes):
        return None
    for start, end, axis, step in zip(*(v.tolist() for v in (starts, ends, axes, steps)), strict=True):
        n = x.shape[axis]
        low, high = (0, n - 1) if step < 0 else (0, n)
        start = np.clip(start + n if start < 0 else start, low, high)
        end = np.clip(end + n if end < 0 else end, -1 if step < 0 else 0, high)
        x = np.take(x, np.array(range(start, end, step) if n else [], dtype=np.int64), axis=axis)
    return x


def _pool(name: str) -> Callable[..., np.ndarray | None]:
    """Windows begin at -pads[i] and step on; with ceil_mode there may be one more, but none begins after the input. The evaluator
    deals out what such a window lacks to both sides, and leaves dilations out of auto_pad."""
    def value(opset: int, attributes: dict[str, Any], x: np.ndarray) -> np.ndarray | None:
        if x.ndim < 3 or (attributes.get("auto_pad", "NOTSET") != "NOTSET" and attributes.get("ceil_mode")):
            return None
        sizes, kernel = x.shape[2:], attributes["kernel_shape"]
        if len(kernel) != len(sizes):
            return None
        strides, dilations = (attributes.get(k, [1] * len(sizes)) for k in ("strides", "dilations"))
        along = [_places(attributes, i, size, *parts) for i, (size, *parts) in
                 enumerate(zip(sizes, kernel, strides, dilations, strict=True))]
        y = np.empty((*x.shape[:2], *(len(windows) for windows, _ in along)))
        for at in itertools.product(*(range(len(windows)) for windows, _ in along)):
            seen = [windows[k] for (windows, _), k in zip(along, at, strict=True)]
            inside = [[p for p in places if 0 <= p < size] for places, size in zip(seen, sizes, strict=True)]
            part = x[(slice(None), slice(None), *np.ix_(*inside))].reshape(*x.shape[:2], -1)
            counted = [sum(p < end for p in places) for places, (_, end) in zip(seen, along, strict=True)]
            with np.errstate(all="ignore"):
                y[(slice(None), slice(None), *at)] = (part.max(axis=2) if part.shape[2] else np.nan) if name == "MaxPool" else \
                    part.sum(axis=2) / np.float64(np.prod(counted) if attributes.get("count_include_pad") else part.shape[2])
        return y
    return value


def _places(attributes: dict[str, Any], i: int, size: int, k: int, stride: int, dilation: int) -> tuple[list[list[int]], int]:
    """The positions that each window sees along an axis, negative before the first element; and where the padding ends."""
    span, kind = (k - 1) * dilation + 1, attributes.get("auto_pad", "NOTSET")
    pads = attributes.get("pads", [0] * 20)
    before, after = (pads[i], pads[i + len(pads) // 2]) if kind == "NOTSET" else (0, 0)
    if kind.startswith("SAME"):
        missing = max((-(-size // stride) - 1) * stride + span - size, 0)
        before, after = (missing // 2, missing - missing // 2) if kind == "SAME_UPPER" else (missing - missing // 2, missing // 2)
    starts = list(range(-before, size + after - span + 1, stride))
    if not starts:
        raise NoReference(f"a window of {span} does not fit into {size + before + after}")
    if attributes.get("ceil_mode"):
        starts += [starts[-1] + stride] if starts[-1] + span < size + after else []
        starts = starts[:-1] if starts[-1] >= size else starts
    return [[start + j * dilation for j in range(k)] for start in starts], size + after


def _elementwise(formula: Callable[[np.ndarray], Any]) -> Callable[..., np.ndarray]:
    return lambda opset, attributes, x: np.asarray(formula(x), dtype=x.dtype) if x.dtype.kind == "f" else None


_erf = np.vectorize(math.erf, otypes=[float])


def _gelu(opset: int, attributes: dict[str, Any], x: np.ndarray) -> np.ndarray | None:
    """The evaluator computes erf and the constants of both forms with the accuracy of float32."""
    if x.dtype.kind != "f":
        return None
    by_tanh = attributes.get("approximate") == "tanh"
    return np.asarray(0.5 * x * (1 + (np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)) if by_tanh else _erf(x / np.sqrt(2)))))


def _batch_normalization(opset: int, attributes: dict[str, Any], x: np.ndarray, scale: np.ndarray, shift: np.ndarray,
                         mean: np.ndarray, variance: np.ndarray) -> np.ndarray | None:
    """Before operator set 14 a node with one output is in test mode; the evaluator then normalises by the input itself."""
    if opset >= 14 or attributes.get("spatial", 1) != 1 or x.ndim < 2 or x.shape[1:2] != scale.shape:
        return None
    scale, shift, mean, variance = (v.reshape(-1, *[1] * (x.ndim - 2)) for v in (scale, shift, mean, variance))
    return scale * (x - mean) / np.sqrt(variance + attributes.get("epsilon", 1e-5)) + shift


def _pad(opset: int, attributes: dict[str, Any], x: np.ndarray, pads: Any = None, value: Any = None,
         axes: Any = None) -> np.ndarray | None:
    """The evaluator does not take axes without a value, nor numbers without axes."""
    pads, value = (attributes["pads"], attributes.get("value", 0.0)) if opset < 11 else (pads.tolist(), value)
    axes = list(range(x.ndim)) if axes is None else [a % x.ndim for a in axes.tolist()]
    if min(pads, default=0) < 0 or attributes.get("mode", "constant") != "constant" or len(pads) != 2 * len(axes) or \
            len(set(axes)) < len(axes):
        return None
    if not x.ndim:
        return x
    around = np.zeros((x.ndim, 2), dtype=int)
    for i, axis in enumerate(axes):
        around[axis] = pads[i], pads[i + len(axes)]
    return np.pad(x, around, constant_values=0 if value is None else value)


def _shape(opset: int, attributes: dict[str, Any], x: np.ndarray) -> np.ndarray:
    """Axes that are beyond the first or the last are moved there; the evaluator counts negative ones twice."""
    given = attributes.get("start", 0), attributes.get("end", x.ndim)
    start, end = (min(max(a + x.ndim if a < 0 else a, 0), x.ndim) for a in given)
    return np.array([x.shape[i] for i in range(start, end)], dtype=np.int64)


def _unsqueeze(opset: int, attributes: dict[str, Any], x: np.ndarray, axes: Any = None) -> np.ndarray | None:
    """Axes are those of the result, in any order; the evaluator inserts one after the other."""
    axes = attributes["axes"] if opset < 13 else axes.tolist()
    ndim = x.ndim + len(axes)
    found = {a % ndim for a in axes if -ndim <= a < ndim}
    return np.expand_dims(x, tuple(sorted(found))) if len(found) == len(axes) else None


SPECIFICATION: dict[str, Callable[..., np.ndarray | None]] = {
    "Gelu": _gelu, "BatchNormalization": _batch_normalization, "Pad": _pad, "Shape": _shape, "Unsqueeze": _unsqueeze,
    "Erf": _elementwise(_erf),                                                  # the evaluator has a polynomial for it
    "HardSwish": _elementwise(lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),        # 1/6, which the evaluator rounds to float32
    "Softsign": _elementwise(lambda x: x / (1 + np.abs(x))),                    # the evaluator does not take numbers
    "Mean": lambda opset, attributes, *x: sum(x) / len(x) if x[0].dtype.kind == "f" else None,  # the evaluator adds up in place
    "GlobalMaxPool": lambda opset, attributes, x: None if x.ndim < 3 else       # of three axes the evaluator makes two
    x.max(axis=tuple(range(2, x.ndim)), keepdims=True),
    "Softmax": _softmax(False), "LogSoftmax": _softmax(True), "Slice": _slice, "MaxPool": _pool("MaxPool"),
    "AveragePool": _pool("AveragePool"),
}
assert set(SPECIFICATION) < set(OPERATORS)
