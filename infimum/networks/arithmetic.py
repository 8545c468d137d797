"""Sums, products, elementary functions and reductions."""

from collections.abc import Callable
from functools import partial, reduce
from typing import Any

import numpy as np

from infimum.networks.integer_arithmetic import INTEGER, is_integer, power, reduced_sum, remainder
from infimum.networks.node import Node, single
from infimum.networks.signature import Constants, Operator
from infimum.networks.values import broadcast, doubles_of, exact, flat, integers, refuse, several_axes, traced, within_limit


def product(a: Any, b: Any) -> Any:
    """The matrix product. A row times a known matrix is written as that matrix times a vector: one loop over its rows."""
    if a.ndim == 2 and a.shape[0] == 1 and b.ndim == 2 and a.shape[1] == b.shape[0]:
        return (b.T @ flat(a)).reshape(1, b.shape[1])
    if a.ndim and b.ndim:  # without axes there is no product, as NumPy says
        stacks = np.broadcast_shapes(tuple(a.shape[:-2]), tuple(b.shape[:-2]))
        within_limit((*stacks, *a.shape[-2:-1], *(b.shape[-1:] if b.ndim > 1 else ())))
    return np.matmul(a, b)


def dense(h: Any, weights: Any, bias: Any = None) -> Any:
    """weights @ h + bias for a vector h."""
    y = weights @ h
    return y if bias is None else y + bias


def _linear(node: Node, x: Any, weights: Any, bias: Any = None) -> Any:
    """Along the last axis, as torch has it: weights of the shape (outputs, inputs)."""
    y = product(x, weights.T)
    return y if bias is None else y + bias


def _gemm(node: Node, a: Any, b: Any, c: Any = None) -> Any:
    alpha, beta = node.get("alpha", 1.0), node.get("beta", 1.0)
    if a.ndim != 2 or b.ndim != 2:
        refuse(f"it multiplies two matrices, and was given arrays of the shapes {tuple(a.shape)} and {tuple(b.shape)}")
    a, b = a.T if node.get("transA", 0) else a, b.T if node.get("transB", 0) else b
    y = product(a, b)
    y = y if alpha == 1.0 else alpha * y
    if c is None or (beta == 0.0 and not traced(c)):
        return y
    if broadcast(y, c) != tuple(y.shape):
        refuse(f"its third input of the shape {tuple(c.shape)} does not fit a product of the shape {tuple(y.shape)}")
    return y + (c if beta == 1.0 else beta * (exact(c) if traced(y) else c))


# ---- reductions
def _axes(node: Node, axes: Any, since: int, ndim: int) -> tuple[int, ...]:
    """The axes of a reduction: an attribute before that operator set, and an input from there on."""
    chosen = node.get("axes") if node.opset < since else None if axes is None else integers(axes, "axes")
    if not chosen:
        if node.get("noop_with_empty_axes", 0):
            refuse("it has no axes, and noop_with_empty_axes = 1 is not known: export the network with the axes")
        return tuple(range(ndim))
    return tuple(several_axes(chosen, ndim))


def _reduction(function: Callable[..., Any], since: int, takes: str = "float",
               of_integers: Callable[..., Any] | None = None) -> Operator:
    """A reduction; from that operator set on its axes are an input."""
    def run(node: Node, x: Any, axes: Any = None) -> Any:
        whole = of_integers is not None and is_integer(x)
        return (of_integers if whole else function)(x, _axes(node, axes, since, x.ndim), bool(node.get("keepdims", 1)))
    return Operator(run, f"{takes} integer?@{since}", f"keepdims:int axes:ints@7-{since - 1} noop_with_empty_axes:int@{since}")


def _sum(x: Any, axes: tuple[int, ...], keep: bool) -> Any:
    return np.sum(x, axis=axes, keepdims=keep)


def _mean(x: Any, axes: tuple[int, ...], keep: bool) -> Any:
    count = int(np.prod([x.shape[a] for a in axes]))
    if not count:
        refuse("it takes the mean of no elements")
    return np.sum(x, axis=axes, keepdims=keep) / float(count)


def _norm(x: Any, axes: tuple[int, ...], keep: bool) -> Any:
    return np.sqrt(np.sum(x * x, axis=axes, keepdims=keep))


# ---- element by element
def _power(node: Node, x: Any, exponent: Any) -> Any:
    shape = broadcast(x, exponent)
    if is_integer(x):
        return power(x, exponent) if is_integer(exponent) else refuse("it raises an integer to a power that is no integer")
    if is_integer(exponent):
        exponent = doubles_of(exponent)
    if not traced(exponent) and np.size(exponent) == 1:
        y = x ** float(np.ravel(exponent)[0])
        return y if tuple(y.shape) == shape else y.reshape(shape)
    return x ** exponent


def _each(ufunc: Callable[..., Any]) -> Callable[..., Any]:
    def run(node: Node, *x: Any) -> Any:
        if is_integer(x[0]):
            return INTEGER[node.op](*x)
        broadcast(*x)
        return ufunc(*x)
    return run


def _modulo(node: Node, a: Any, b: Any) -> Any:
    return remainder(a, b, bool(node.get("fmod", 0)))


def _many(node: Node, ufunc: Callable[..., Any], x: tuple[Any, ...]) -> Any:
    if node.opset < 8 and len({tuple(v.shape) for v in x}) > 1:
        refuse(f"{node.op} takes inputs of one shape before the operator set 8")
    broadcast(*x)
    return reduce(ufunc, x)


def _all(ufunc: Callable[..., Any]) -> Callable[..., Any]:
    return lambda node, *x: _many(node, ufunc, x)


def _batch_normalization(node: Node, x: Any, scale: Any, shift: Any, mean: Any, variance: Any) -> Any:
    """Written with constants that are not rounded: scale / sqrt(variance + epsilon) is a number of its own."""
    if node.get("training_mode", 0) or sum(map(bool, node.outputs)) > 1:
        refuse("it is in training mode (training_mode = 1, or outputs after the first): export the network for inference")
    if node.get("spatial", 1) != 1:
        refuse("spatial = 0 (statistics of each element of an image) is not known: export the network with a newer operator set")
    if x.ndim < 2 or any(tuple(v.shape) != (x.shape[1],) for v in (scale, shift, mean, variance)):
        refuse(f"scale, shift, mean and variance must have the length of axis 1 of an input of the shape {tuple(x.shape)}, and "
               f"have the shapes {', '.join(str(tuple(v.shape)) for v in (scale, shift, mean, variance))}")
    shape = (-1,) + (1,) * (x.ndim - 2)
    scale, shift, mean, variance = (v.reshape(shape) for v in (scale, shift, mean, variance))
    return scale / np.sqrt(variance + node.get("epsilon", single(1e-5))) * (x - mean) + shift


def _functions(since: int, **ufuncs: np.ufunc) -> dict[str, Operator]:
    return {name: Operator(_each(ufunc), since=since) for name, ufunc in ufuncs.items()}


# constants among the arguments of these are made exact first
ARITHMETIC: dict[str, Operator] = {
    "Add": Operator(_each(np.add), "number number"), "Sub": Operator(_each(np.subtract), "number number"),
    "Mul": Operator(_each(np.multiply), "number number"), "Div": Operator(_each(np.divide), "number number"),
    "Mod": Operator(_modulo, "integer integer", "fmod:int", 10),
    "Neg": Operator(_each(np.negative), "number"), "Abs": Operator(_each(np.absolute), "number"),
    **_functions(7, Sqrt=np.sqrt, Exp=np.exp, Log=np.log, Sin=np.sin, Cos=np.cos, Tan=np.tan, Asin=np.arcsin, Acos=np.arccos,
                 Atan=np.arctan),
    **_functions(9, Sinh=np.sinh, Cosh=np.cosh, Asinh=np.arcsinh),
    "Reciprocal": Operator(lambda node, x: 1.0 / x),
    "Min": Operator(_all(np.minimum), "number*"), "Max": Operator(_all(np.maximum), "number*"),
    "Sum": Operator(_all(np.add), "float*"), "Mean": Operator(lambda node, *x: _many(node, np.add, x) / float(len(x)), "float*"),
    "ReduceSum": _reduction(_sum, 13, "number", reduced_sum),
    "ReduceMean": _reduction(_mean, 18),
    "ReduceMax": _reduction(lambda x, axes, keep: np.max(x, axis=axes, keepdims=keep), 18, "number"),
    "ReduceMin": _reduction(lambda x, axes, keep: np.min(x, axis=axes, keepdims=keep), 18, "number"),
    "ReduceSumSquare": _reduction(lambda x, axes, keep: _sum(x * x, axes, keep), 18),
    "ReduceL1": _reduction(lambda x, axes, keep: _sum(np.abs(x), axes, keep), 18),
    "ReduceL2": _reduction(_norm, 18),
    # momentum is used in training alone
    "BatchNormalization": Operator(_batch_normalization, "float float float float float",
                                   "epsilon:float momentum:float spatial:int@7-8 training_mode:int@14"),
}
# constants among the arguments of these stay as they are: one product or power is all that is done with them
_alone = partial(Operator, constants=Constants.ALONE)
LINEAR: dict[str, Operator] = {
    "Gemm": _alone(_gemm, "float float float?", "alpha:float beta:float transA:int transB:int"),
    "MatMul": _alone(lambda node, a, b: product(a, b), "float float"), "Pow": _alone(_power, "number exponent"),
    "Dense": _alone(lambda node, h, *weights: dense(h, *weights), "float float float?"),
    "Linear": _alone(_linear, "float float float?"),
}
