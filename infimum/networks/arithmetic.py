"""Sums, products, elementary functions and reductions."""

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from infimum.networks.node import Node, single
from infimum.networks.values import axis_of, exact, flat, refuse, traced


def product(a: Any, b: Any) -> Any:
    """The matrix product. A row times a known matrix is written as that matrix times a vector: one loop over its rows."""
    if a.ndim == 2 and a.shape[0] == 1 and b.ndim == 2 and a.shape[1] == b.shape[0]:
        return (b.T @ flat(a)).reshape(1, b.shape[1])
    return np.matmul(a, b)


def dense(h: Any, weights: Any, bias: Any = None) -> Any:
    """weights @ h + bias for a vector h."""
    y = weights @ h
    return y if bias is None else y + bias


def _gemm(node: Node, a: Any, b: Any, c: Any = None) -> Any:
    alpha, beta = node.get("alpha", 1.0), node.get("beta", 1.0)
    a, b = a.T if node.get("transA", 0) else a, b.T if node.get("transB", 0) else b
    y = product(a, b)
    y = y if alpha == 1.0 else alpha * y
    if c is None or beta == 0.0:
        return y
    return y + (c if beta == 1.0 else beta * (exact(c) if traced(y) else c))


def _flat_integers(values: Any) -> tuple[int, ...] | None:
    return None if values is None else tuple(int(v) for v in np.ravel(values))


def _reduction(function: Callable[..., Any], axes_are_input: int) -> Callable[..., Any]:
    """A reduction; from that operator set on its axes are an input."""
    def run(node: Node, x: Any, axes: Any = None) -> Any:
        chosen = _flat_integers(axes if node.opset >= axes_are_input else node.get("axes"))
        keep = bool(node.get("keepdims", 1))
        if not chosen:
            if node.get("noop_with_empty_axes", 0):
                refuse("noop_with_empty_axes is not known")
            chosen = tuple(range(x.ndim))
        return function(x, tuple(axis_of(a, x.ndim) for a in chosen), keep)
    return run


def _mean(x: Any, axes: tuple[int, ...], keep: bool) -> Any:
    return np.sum(x, axis=axes, keepdims=keep) / float(np.prod([x.shape[a] for a in axes]))


def _power(node: Node, x: Any, exponent: Any) -> Any:
    if not traced(exponent) and np.size(exponent) == 1:
        return x ** float(np.ravel(exponent)[0])
    return x ** exponent


def _each(ufunc: Callable[..., Any]) -> Callable[..., Any]:
    return lambda node, *x: ufunc(*x)


def _many(ufunc: Callable[..., Any]) -> Callable[..., Any]:
    return lambda node, *x: reduce(ufunc, x)


def _mean_of(node: Node, *x: Any) -> Any:
    return reduce(np.add, x) / float(len(x))


def _norm(x: Any, axes: tuple[int, ...], keep: bool) -> Any:
    return np.sqrt(np.sum(x * x, axis=axes, keepdims=keep))


def _batch_normalization(node: Node, x: Any, scale: Any, shift: Any, mean: Any, variance: Any) -> Any:
    """Written with constants that are not rounded: scale / sqrt(variance + epsilon) is a number of its own."""
    if node.get("training_mode", 0):
        refuse("training_mode is set: export the network for inference")
    shape = (-1,) + (1,) * max(x.ndim - 2, 0)
    scale, shift, mean, variance = (v.reshape(shape) for v in (scale, shift, mean, variance))
    return scale / np.sqrt(variance + node.get("epsilon", single(1e-5))) * (x - mean) + shift


# constants among the arguments of these are made exact first
ARITHMETIC: dict[str, Callable[..., Any]] = {
    "Add": _each(np.add), "Sub": _each(np.subtract), "Mul": _each(np.multiply), "Div": _each(np.divide),
    "Neg": _each(np.negative), "Abs": _each(np.absolute), "Sqrt": _each(np.sqrt), "Exp": _each(np.exp), "Log": _each(np.log),
    "Sin": _each(np.sin), "Cos": _each(np.cos), "Tan": _each(np.tan), "Sinh": _each(np.sinh), "Cosh": _each(np.cosh),
    "Asin": _each(np.arcsin), "Acos": _each(np.arccos), "Atan": _each(np.arctan), "Asinh": _each(np.arcsinh),
    "Reciprocal": lambda node, x: 1.0 / x, "Min": _many(np.minimum), "Max": _many(np.maximum), "Sum": _many(np.add),
    "Mean": _mean_of,
    "ReduceSum": _reduction(lambda x, axes, keep: np.sum(x, axis=axes, keepdims=keep), 13),
    "ReduceMean": _reduction(_mean, 18),
    "ReduceMax": _reduction(lambda x, axes, keep: np.max(x, axis=axes, keepdims=keep), 18),
    "ReduceMin": _reduction(lambda x, axes, keep: np.min(x, axis=axes, keepdims=keep), 18),
    "ReduceSumSquare": _reduction(lambda x, axes, keep: np.sum(x * x, axis=axes, keepdims=keep), 18),
    "ReduceL1": _reduction(lambda x, axes, keep: np.sum(np.abs(x), axis=axes, keepdims=keep), 18),
    "ReduceL2": _reduction(_norm, 18),
    "BatchNormalization": _batch_normalization,
}
# constants among the arguments of these stay as they are: one product or power is all that is done with them
LINEAR: dict[str, Callable[..., Any]] = {
    "Gemm": _gemm, "MatMul": lambda node, a, b: product(a, b), "Pow": _power,
    "Dense": lambda node, h, *weights: dense(h, *weights),
}
