"""Functions of one element, and softmax: each written so that an interval loses as little as possible.

Where a formula reads x twice, both occurrences rise with x (or the formula says so), so that the ends of an interval are met.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from infimum.expr.real import pi
from infimum.networks.node import OLDEST, Node, single
from infimum.networks.signature import Constants, Operator
from infimum.networks.values import (
    MOST_ELEMENTS,
    axis_of,
    broadcast,
    flat,
    number,
    refuse,
    relu,
    sigmoid,
    softplus,
    special,
    traced,
)
from infimum.trace.numpy_functions.scipy_special import ROOT_HALF
from infimum.trace.tracer import Tracer

# of the definition of Selu, where a node gives no other
_SELU_ALPHA, _SELU_GAMMA = 1.67326319217681884765625, 1.05070102214813232421875
_CUBIC = Fraction(44715, 10**6)   # of the approximation of gelu by tanh
_LARGE_SOFTMAX = 128              # beyond, the differences of all pairs would be too many
_MOST_FLOAT32 = float(np.finfo(np.float32).max)


def leaky_relu(x: Any, slope: float) -> Any:
    """x where it is positive, else slope * x: a sum of rising functions for slopes from 0 to 1."""
    return slope * x + number(1 - Fraction(slope), x) * relu(x)


def elu(x: Any, alpha: float = 1.0, scale: float | None = None) -> Any:
    """x where it is positive, else alpha (exp(x / scale) - 1): never overflows, since each half reads its own side."""
    below = np.minimum(x, 0.0)
    return relu(x) + alpha * np.expm1(below if scale in (None, 1.0) else below / scale)


def gelu(x: Any) -> Any:
    """x times the normal distribution function."""
    root = Tracer(ROOT_HALF) if traced(x) else np.sqrt(0.5)
    return x * (0.5 * special("erfc", -(x * root)))


def gelu_tanh(x: Any) -> Any:
    """The approximation of gelu by tanh."""
    scale = np.sqrt(2.0 / pi) if traced(x) else np.sqrt(2.0 / np.pi)
    return 0.5 * x * (1.0 + np.tanh(scale * (x + number(_CUBIC, x) * x**3)))


def silu(x: Any, beta: float = 1.0) -> Any:
    """x times the sigmoid of beta x."""
    return x * sigmoid(x if beta == 1.0 else beta * x)


def clip(x: Any, low: float | None, high: float | None) -> Any:
    """x between two numbers; None for no limit. Where low is above high, high."""
    x = x if low is None or low == -np.inf else np.maximum(x, float(low))
    return x if high is None or high == np.inf else np.minimum(x, float(high))


def _others(x: Any) -> Any:
    """log of the sum of exp of all other elements along the last axis, for each element."""
    n = x.shape[-1]
    others = np.array([[j for j in range(n) if j != i] for i in range(n)])
    return np.logaddexp.reduce(x[..., others], axis=-1)


def _is_large(x: Any) -> bool:
    n = x.shape[-1]
    return n > _LARGE_SOFTMAX or x.size * (n - 1) > MOST_ELEMENTS


def _along_last(formula: Callable[[Any], Any], x: Any, axis: int) -> Any:
    return np.moveaxis(formula(np.moveaxis(x, axis, -1)), -1, axis)


def softmax(x: Any, axis: int = -1) -> Any:
    """exp(x) over its sum: the sigmoid of the distance to all others, in which each element is read once."""
    def formula(v: Any) -> Any:
        if v.shape[-1] == 1:
            return 0.0 * v + 1.0
        if _is_large(v):
            return np.exp(v - np.logaddexp.reduce(v, axis=-1, keepdims=True))
        return sigmoid(v - _others(v))
    return _along_last(formula, x, axis)


def log_softmax(x: Any, axis: int = -1) -> Any:
    """The logarithm of softmax."""
    def formula(v: Any) -> Any:
        if v.shape[-1] == 1:
            return 0.0 * v
        if _is_large(v):
            return v - np.logaddexp.reduce(v, axis=-1, keepdims=True)
        return -softplus(_others(v) - v)
    return _along_last(formula, x, axis)


# ---- as operators of ONNX

def _soft(formula: Callable[[Any, int], Any]) -> Operator:
    def run(node: Node, x: Any) -> Any:
        if 0 in x.shape:
            refuse(f"its input of the shape {tuple(x.shape)} has no elements")
        if node.opset >= 13:
            return formula(x, axis_of(node.get("axis", -1), x.ndim))
        axis = axis_of(node.get("axis", 1), x.ndim)  # older ones take all axes from this one on together
        rows = int(np.prod(x.shape[:axis]))
        return formula(x.reshape(rows, -1), -1).reshape(x.shape)
    return Operator(run, reads="axis:int")


def _gelu(node: Node, x: Any) -> Any:
    kinds = {"none": gelu, "tanh": gelu_tanh}
    return kinds[node.one_of("approximate", "none", kinds)](x)


def _clip(node: Node, x: Any, low: Any = None, high: Any = None) -> Any:
    if node.opset < 11:
        low, high = np.array(node.get("min", -_MOST_FLOAT32)), np.array(node.get("max", _MOST_FLOAT32))
    for end, bounded in ((low, np.maximum), (high, np.minimum)):
        if end is not None and np.size(end) != 1:
            refuse(f"its limits are numbers, and one has the shape {tuple(end.shape)}")
        if end is not None and (traced(end) or np.isfinite(end).all()):
            x = bounded(x, flat(end)[0] if traced(end) else float(np.ravel(end)[0]))
        elif end is not None and (np.ravel(end)[0] > 0) == (bounded is np.maximum):
            refuse(f"it clips to {np.ravel(end)[0]}")
    return x


def _prelu(node: Node, x: Any, slope: Any) -> Any:
    if broadcast(x, slope) != tuple(x.shape):
        refuse(f"slopes of the shape {tuple(slope.shape)} do not fit an input of the shape {tuple(x.shape)}")
    return slope * x + (1.0 - slope) * relu(x)


def _hard_sigmoid(node: Node, x: Any) -> Any:
    return clip(node.get("alpha", single(0.2)) * x + node.get("beta", 0.5), 0.0, 1.0)


def _selu(node: Node, x: Any) -> Any:
    return node.get("gamma", _SELU_GAMMA) * elu(x, node.get("alpha", _SELU_ALPHA))


def _celu(node: Node, x: Any) -> Any:
    alpha = node.get("alpha", 1.0)
    return elu(x, alpha, alpha) if alpha else refuse("alpha = 0 divides by 0")


def _of(formula: Callable[[Any], Any], since: int = OLDEST) -> Operator:
    return Operator(lambda node, x: formula(x), since=since)


def _with_alpha(formula: Callable[[Any, float], Any], default: float, since: int = OLDEST) -> Operator:
    return Operator(lambda node, x: formula(x, node.get("alpha", default)), reads="alpha:float", since=since)


ACTIVATIONS: dict[str, Operator] = {
    "Relu": _of(relu), "Tanh": _of(np.tanh), "Sigmoid": _of(sigmoid), "Softplus": _of(softplus),
    "LeakyRelu": _with_alpha(leaky_relu, single(0.01)), "PRelu": Operator(_prelu, "float float"),
    "Elu": _with_alpha(elu, 1.0), "Selu": Operator(_selu, reads="alpha:float gamma:float"),
    "Celu": Operator(_celu, reads="alpha:float", since=12), "Gelu": Operator(_gelu, reads="approximate:text", since=20),
    "Swish": _with_alpha(silu, 1.0, 24), "Mish": _of(lambda x: x * np.tanh(softplus(x)), 18),
    "HardSigmoid": Operator(_hard_sigmoid, reads="alpha:float beta:float"),
    "HardSwish": _of(lambda x: x * clip(x + 3.0, 0.0, 6.0) / 6.0, 14),
    "Softsign": _of(lambda x: x / (1.0 + np.abs(x))), "Softmax": _soft(softmax), "LogSoftmax": _soft(log_softmax),
    "Erf": _of(partial(special, "erf"), 9),
}
CLIP = {"Clip": Operator(_clip, "float float?@11 float?@11", "min:limit@7-10 max:limit@7-10", constants=Constants.ALONE)}
