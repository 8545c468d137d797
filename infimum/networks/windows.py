"""Convolution and pooling: the elements that each window sees are gathered, and one product or reduction follows."""

from collections.abc import Callable
from typing import Any

import numpy as np

from infimum.networks.node import Node
from infimum.networks.signature import Constants, Operator
from infimum.networks.values import MOST_ELEMENTS, flat, refuse, within_limit
from infimum.problem.text import counted

_PADS = ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")
_OUTSIDE = -1  # the position of an element of the padding


def _pads(node: Node, sizes: tuple[int, ...], spans: list[int], strides: list[int]) -> list[tuple[int, int]]:
    """Elements of padding before and after each axis. `spans` are the elements from a window's first to its last."""
    kind = node.one_of("auto_pad", "NOTSET", _PADS)
    given = list(node.get("pads") or [0] * (2 * len(sizes)))
    if len(given) != 2 * len(sizes) or min(given) < 0 or max(given) > MOST_ELEMENTS:
        refuse(f"pads = {given} does not fit {len(sizes)} axes")
    if kind == "NOTSET":
        return list(zip(given[:len(sizes)], given[len(sizes):], strict=True))
    if any(given) or node.get("ceil_mode", 0):
        refuse(f"auto_pad = {kind} cannot be combined with pads = {given} and ceil_mode = {node.get('ceil_mode', 0)}: export the "
               "network with pads alone")
    if kind == "VALID":
        return [(0, 0)] * len(sizes)
    pads = []
    for size, span, stride in zip(sizes, spans, strides, strict=True):
        missing = max((-(-size // stride) - 1) * stride + span - size, 0)
        less = missing // 2
        pads.append((less, missing - less) if kind == "SAME_UPPER" else (missing - less, less))
    return pads


def _counts(node: Node, size: int, pads: tuple[int, int], span: int, stride: int) -> int:
    """How many windows there are along an axis."""
    room = size + sum(pads) - span
    if room < 0:
        refuse(f"a window of {counted(span, 'element')} does not fit into {size + sum(pads)}")
    if node.op == "Conv":
        return room // stride + 1
    count = (-(-room // stride) if node.get("ceil_mode", 0) else room // stride) + 1
    if node.get("ceil_mode", 0):  # without the last one if it begins after the last element
        count -= (count - 1) * stride >= size + pads[0]
    if (count - 1) * stride >= size + pads[0]:
        refuse(f"a window of {counted(span, 'element')} begins in the padding after the last element, where ONNX is not clear: "
               "export the network with less padding")
    return count


def windows(node: Node, sizes: tuple[int, ...], kernel: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, tuple[int, ...]]:
    """What the windows over an array of these sizes see: positions (window, element), row-major, -1 in the padding; which of
    these lie within the array and its declared padding; and the shape that the windows have."""
    axes = len(sizes)
    strides, dilations = (list(node.get(name) or [1] * axes) for name in ("strides", "dilations"))
    every = [*kernel, *strides, *dilations]
    if not len(kernel) == len(strides) == len(dilations) == axes or min(every) < 1 or max(every) > MOST_ELEMENTS:
        refuse(f"a kernel of the shape {kernel}, strides {strides}, dilations {dilations} do not fit {axes} axes")
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    pads = _pads(node, sizes, spans, strides)
    counts = tuple(_counts(node, *along) for along in zip(sizes, pads, spans, strides, strict=True))
    within_limit((*counts, *kernel))
    position, inside, declared = (np.zeros((1, 1), dtype=np.int64), *[np.ones((1, 1), dtype=bool)] * 2)
    for size, (before, after), k, d, stride, count in zip(sizes, pads, kernel, dilations, strides, counts, strict=True):
        at = np.arange(count)[:, None] * stride + np.arange(k)[None] * d - before  # (window, element) along this axis
        position = _outer(np.add, position * size, np.clip(at, 0, size - 1))
        inside = _outer(np.logical_and, inside, (at >= 0) & (at < size))
        declared = _outer(np.logical_and, declared, at < size + after)
    return np.where(inside, position, _OUTSIDE), declared, counts


def _outer(combine: Callable, all_axes: np.ndarray, axis: np.ndarray) -> np.ndarray:
    joined = combine(all_axes[:, None, :, None], axis[None, :, None, :])
    return joined.reshape(all_axes.shape[0] * axis.shape[0], all_axes.shape[1] * axis.shape[1])


def _image(x: Any, least: int = 3) -> tuple[Any, int, tuple[int, ...]]:
    """The rows (channel, position) of an image with a batch axis of 1, the channels, and the sizes of the other axes."""
    if x.ndim < least or x.shape[0] != 1 or 0 in x.shape:
        refuse(f"it needs an input of the shape (1, channels, size, ...), and this one has the shape {tuple(x.shape)}")
    return flat(x), x.shape[1], tuple(x.shape[2:])


def _gathered(x: Any, channels: int, size: int, positions: np.ndarray, padded: bool) -> Any:
    """x at the positions of each channel: an array (channel, *positions.shape). A padded position reads a 0."""
    within_limit((channels, *positions.shape))
    places = np.arange(channels).reshape(-1, *[1] * positions.ndim) * size + positions[None]
    if not padded:
        return x[places]
    return np.concatenate([x, np.zeros(1)])[np.where(positions[None] == _OUTSIDE, channels * size, places)]


def _convolution(node: Node, x: Any, weights: Any, bias: Any = None) -> Any:
    rows, channels, sizes = _image(x)
    groups = node.get("group", 1)
    if not isinstance(weights, np.ndarray):
        refuse("its weights are computed: only known weights are supported")
    if weights.ndim != len(sizes) + 2:
        refuse(f"weights of the shape {weights.shape} do not fit an input of the shape {tuple(x.shape)}")
    outputs, of_group, *kernel = weights.shape
    if groups < 1 or of_group * groups != channels or outputs % groups:
        refuse(f"weights of the shape {weights.shape} in {groups} groups do not fit {channels} channels")
    if list(node.get("kernel_shape", kernel)) != kernel or (bias is not None and tuple(bias.shape) != (outputs,)):
        refuse(f"kernel_shape or bias do not fit weights of the shape {weights.shape}")
    positions, _, counts = windows(node, sizes, tuple(kernel))
    within_limit((outputs, *counts))
    seen = _gathered(rows, channels, int(np.prod(sizes)), positions.T, bool((positions == _OUTSIDE).any()))
    columns = seen.reshape(groups, of_group * positions.shape[1], positions.shape[0])
    matrix = weights.reshape(groups, outputs // groups, of_group * positions.shape[1])
    y = np.concatenate([matrix[g] @ columns[g] for g in range(groups)]) if groups > 1 else matrix[0] @ columns[0]
    y = y if bias is None else y + bias.reshape(-1, 1)
    return y.reshape(1, outputs, *counts)


def _kernel(node: Node, axes: int) -> tuple[int, ...]:
    kernel = tuple(node.get("kernel_shape") or ())
    if len(kernel) != axes:
        refuse(f"kernel_shape = {list(kernel)} does not fit {axes} axes")
    return kernel


def _max_pool(node: Node, x: Any) -> Any:
    rows, channels, sizes = _image(x)
    positions, _, counts = windows(node, sizes, _kernel(node, len(sizes)))
    first = positions.max(axis=1, keepdims=True)  # padding never wins: an element of the window stands in for it
    if (first == _OUTSIDE).any():
        refuse("a window lies in the padding altogether")
    seen = _gathered(rows, channels, int(np.prod(sizes)), np.where(positions == _OUTSIDE, first, positions), False)
    return np.max(seen, axis=2).reshape(1, channels, *counts)


def _average_pool(node: Node, x: Any) -> Any:
    rows, channels, sizes = _image(x)
    positions, declared, counts = windows(node, sizes, _kernel(node, len(sizes)))
    counted = declared if node.get("count_include_pad", 0) else positions != _OUTSIDE
    seen = _gathered(rows, channels, int(np.prod(sizes)), positions, bool((positions == _OUTSIDE).any()))
    numbers = counted.sum(axis=1).astype(np.float64)
    if not numbers.all():
        refuse("a window lies in the padding altogether")
    total = np.sum(seen, axis=2)
    mean = total / numbers[0] if (numbers == numbers[0]).all() else total / numbers
    return mean.reshape(1, channels, *counts)


def _global(reduction: Callable[[Any, int], Any]) -> Operator:
    def run(node: Node, x: Any) -> Any:
        rows, channels, sizes = _image(x)
        size = int(np.prod(sizes))
        return reduction(rows.reshape(channels, size), size).reshape(1, channels, *[1] * len(sizes))
    return Operator(run, constants=Constants.ALONE)


_COMMON = "auto_pad:text kernel_shape:ints{} pads:ints strides:ints "
WINDOWS: dict[str, Operator] = {
    "Conv": Operator(_convolution, "float float float?", _COMMON.format("") + "dilations:ints group:int",
                     constants=Constants.ALONE),
    # storage_order is about the second output, the positions of maxima, which is not computed
    "MaxPool": Operator(_max_pool, "float", _COMMON.format("!") + "ceil_mode:int@10 dilations:ints@10 storage_order:int@8",
                        constants=Constants.ALONE),
    "AveragePool": Operator(_average_pool, "float",
                            _COMMON.format("!") + "ceil_mode:int@10 count_include_pad:int dilations:ints@19",
                            constants=Constants.ALONE),
    "GlobalAveragePool": _global(lambda rows, size: np.sum(rows, axis=1) / float(size)),
    "GlobalMaxPool": _global(lambda rows, size: np.max(rows, axis=1)),
}
