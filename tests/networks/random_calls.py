"""Random calls of every operator of ONNX: attributes, further inputs and how many outputs, right ones and wrong ones."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Rng = np.random.Generator
IT = "it"  # the array that the call is about, among its inputs


class Call(NamedTuple):
    """inputs: IT, arrays, or None for one that is left out. outputs: how many."""

    attributes: dict[str, Any] = {}
    inputs: tuple[Any, ...] = (IT,)
    outputs: int = 1


def ints(*values: Any) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def maybe(rng: Rng, chance: float = 0.5, **values: Any) -> dict[str, Any]:
    """Each of them, perhaps."""
    return {name: value for name, value in values.items() if rng.random() < chance}


def dtype_of(kind: str) -> np.dtype:
    """"f" for float64, "b" for bool, or a name."""
    return np.dtype({"f": "float64", "b": "bool"}.get(kind, kind))


def numbers(rng: Rng, shape: Any, kind: str = "f") -> np.ndarray:
    """Multiples of 1/16, so that sums are exact; small integers; truth values."""
    if kind == "b":
        return rng.random(size=shape) < 0.5
    if kind in ("int32", "int64"):
        return rng.integers(-7, 8, size=shape).astype(kind)
    return (np.round(rng.normal(size=shape) * 16) / 16 + 0.0).astype(dtype_of(kind))  # no -0.0


def some_axis(rng: Rng, ndim: int) -> int:
    """Mostly one that there is."""
    return int(rng.integers(-ndim, max(ndim, 1))) if rng.random() < 0.95 else ndim


def some_axes(rng: Rng, ndim: int) -> list[int]:
    """Mostly different ones."""
    if ndim == 0 or rng.random() < 0.1:
        return []
    axes = rng.permutation(ndim)[:rng.integers(1, ndim + 1)].tolist()
    axes += axes[:1] if rng.random() < 0.05 else []
    return [int(a) - (ndim if rng.random() < 0.3 else 0) for a in axes]


def fitting(rng: Rng, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that broadcasts with the other, mostly."""
    kept = list(shape[rng.integers(0, len(shape) + 1):])
    kept = [1 if rng.random() < 0.3 else d for d in kept]
    if rng.random() < 0.1:
        kept = [int(rng.integers(1, 4)), *kept] if len(kept) >= len(shape) else kept
    return tuple(kept)


# ---- one function an operator, or a kind of them: (rng, operator set, shape, type) -> Call
def plain(rng: Rng, opset: int, shape: tuple, kind: str) -> Call:
    return Call()


def with_attributes(**choices: Callable[[Rng], Any]) -> Callable[..., Call]:
    return lambda rng, opset, shape, kind: Call(maybe(rng, **{name: draw(rng) for name, draw in choices.items()}))


def number(low: float, high: float) -> Callable[[Rng], float]:
    return lambda rng: float(np.float32(rng.uniform(low, high)))


def along_axis(rng: Rng, opset: int, shape: tuple, kind: str) -> Call:
    return Call(maybe(rng, axis=some_axis(rng, len(shape))))


def clip(rng: Rng, opset: int, shape: tuple, kind: str) -> Call:
    low, high = rng.normal(size=2).astype(np.float32).astype(float)
    if opset < 11:
        return Call(maybe(rng, 0.7, min=float(low), max=float(high)))
    low, high = (-2, 3) if dtype_of(kind).kind in "ib" else (low, high) if rng.random() < 0.8 else (-np.inf, np.inf)
    ends = [None if rng.random() < 0.2 else np.array(v).astype(dtype_of(kind)) for v in (low, high)]
    return Call({}, (IT, *ends) if rng.random() < 0.8 else (IT, *ends[:1]))


def slopes(rng: Rng, opset: int, shape: tuple, kind: str) -> Call:
    return Call({}, (IT, numbers(rng, fitting(rng, shape), kind)))


def binary(rng: Rng, opset: int, shape: tuple, kind: str) -> Call:
    other = IT if rng.random() < 0.2 else numbers(rng, fitting(rng, shape), kind)
    return Call({}, (IT, other) if rng.random() < 0.6 else (other, IT))


def division(rng: Rng, opset: int, shape: tuple, kind: str) -> Call:
    call = binary(rng, opset, shape, kind)
    parts = [part if isinstance(part, str) else np.where(part == 0, part.dtype.type(3), part) for part in call.inputs]
    return call._replace(inputs=tuple(parts))


def modulo(rng: Rng, opset: int, shape: tuple, kind: str) -> Call:
    return division(rng, opset, shape, kind)._replace(attributes=maybe(rng, fmod=int(rng.integers(2))))


def power(rng: Rng, opset: int, shape: tuple, kind: str) -> Call:
    exponents = rng.integers(0, 4, size=fitting(rng, shape))
    return Call({}, (IT, exponents.astype(dtype_of(kind if rng.random() < 0.7 else str(rng.choice(["f", "int64"]))))))


def several(rng: Rng, opset: int, shape: tuple, kind: str) -> Call:
    others = [IT if rng.random() < 0.2 else numbers(rng, shape if rng.random() < 0.5 else fitting(rng, shape), kind)
              for _ in range(rng.integers(0, 3))]
    return Call({}, (IT, *others))


def gemm(rng: Rng, opset: int, shape: tuple, kind: str) -> Call:
    rows, inner = shape if len(shape) == 2 else (2, 3)
    turned, n = rng.random() < 0.3, int(rng.integers(1, 4))
    rows, inner = (inner, rows) if turned else (rows, inner)
    attributes = {"transA": 1} if turned else {}
    attributes |= {"transB": 1} if (across := rng.random() < 0.5) else {}
    attributes |= maybe(rng, alpha=float(np.float32(rng.normal())), beta=float(np.float32(rng.normal())))
    c = [numbers(rng, fitting(rng, (rows, n)) if rng.random() < 0.9 else (rows + 2, n), kind)]
    return Call(attributes, (IT, numbers(rng, (n, inner) if across else (inner, n), kind), *(c if rng.random() < 0.7 else ())))


def product(rng: Rng, opset: int, shape: tuple, kind: str) -> Call:
    if not shape:
        return Call({}, (IT, numbers(rng, (2, 2), kind)))
    stacks = fitting(rng, shape[:-2])
    if rng.random() < 0.5:
        return Call({}, (IT, numbers(rng, (*stacks, shape[-1], 2) if rng.random() < 0.8 else (shape[-1],), kind)))
    return Call({}, (numbers(rng, (*stacks, 2, shape[-2] if len(shape) > 1 else shape[0]), kind), IT))


def reduction(since: int) -> Callable[..., Call]:
    def draw(rng: Rng, opset: int, shape: tuple, kind: str) -> Call:
        axes, attributes = some_axes(rng, len(shape)), maybe(rng, keepdims=int(rng.integers(2)))
        if opset < since:
            return Call(attributes | (maybe(rng, 0.8, axes=axes) if axes else {}))
        attributes |= maybe(rng, 0.1, noop_with_empty_axes=1)
        return Call(attributes, (IT, ints(*axes)) if rng.random() < 0.8 else (IT,))
    return draw


def batch_normalization(rng: Rng, opset: int, shape: tuple, kind: str) -> Call:
    c = shape[1] if len(shape) > 1 and rng.random() < 0.95 else 1
    attributes = maybe(rng, epsilon=float(np.float32(rng.uniform(0, 0.1))), momentum=0.5)
    attributes |= maybe(rng, 0.2, spatial=int(rng.integers(2))) if opset < 9 else {}
    attributes |= maybe(rng, 0.2, training_mode=int(rng.integers(2))) if opset >= 14 else {}
    weights = [numbers(rng, c, kind) for _ in range(3)]
    return Call(attributes, (IT, *weights, np.abs(numbers(rng, c, kind)) + weights[0].dtype.type(1)))


def _window(rng: Rng, opset: int, sizes: tuple, dilated: bool, same: float) -> tuple[list[int], dict[str, Any]]:
    axes = len(sizes)
    kernel = [int(rng.integers(1, min(size, 3) + 1)) if rng.random() < 0.9 else 3 for size in sizes]
    attributes = maybe(rng, strides=[int(v) for v in rng.integers(1, 4, size=axes)])
    attributes |= maybe(rng, 0.4, dilations=[int(v) for v in rng.integers(1, 3, size=axes)]) if dilated else {}
    if rng.random() < same:
        return kernel, attributes | {"auto_pad": str(rng.choice(["SAME_UPPER", "SAME_LOWER", "VALID"]))}
    pads = rng.integers(0, max(kernel) + (rng.random() < 0.2), size=2 * axes)
    return kernel, attributes | maybe(rng, 0.7, pads=pads.tolist())


def convolution(rng: Rng, opset: int, shape: tuple, kind: str) -> Call:
    shape = shape if len(shape) > 2 else (1, 2, 4)
    kernel, attributes = _window(rng, opset, shape[2:], True, 0.3)
    group = int(rng.choice([g for g in (1, 2, 3) if shape[1] % g == 0]))
    outputs = group * int(rng.integers(1, 3))
    attributes |= ({"group": group} if group > 1 else {}) | maybe(rng, 0.4, kernel_shape=kernel)
    bias = [numbers(rng, outputs, kind)] if rng.random() < 0.5 else []
    return Call(attributes, (IT, numbers(rng, (outputs, shape[1] // group, *kernel), kind), *bias))


def pool(dilated_since: int, **more: Callable[[Rng], Any]) -> Callable[..., Call]:
    def draw(rng: Rng, opset: int, shape: tuple, kind: str) -> Call:
        kernel, attributes = _window(rng, opset, shape[2:] if len(shape) > 2 else (4,), opset >= dilated_since, 0.25)
        attributes |= maybe(rng, **{name: choose(rng) for name, choose in more.items()})
        return Call(attributes | {"kernel_shape": kernel} | (maybe(rng, 0.4, ceil_mode=1) if opset >= 10 else {}))
    return draw


def reshape(rng: Rng, opset: int, shape: tuple, kind: str) -> Call:
    size = int(np.prod(shape))
    wanted = [d for d in (1, 2, 3, 4) if size % d == 0][:int(rng.integers(1, 4))]
    first = int(rng.choice(wanted)) if wanted else 1
    target = [first, size // first if rng.random() < 0.5 else -1]
    target = [0, *target[1:]] if shape and rng.random() < 0.3 else target
    return Call(maybe(rng, 0.2, allowzero=1) if opset >= 14 else {}, (IT, ints(*target)))


def flatten(rng: Rng, opset: int, shape: tuple, kind: str) -> Call:
    return Call(maybe(rng, axis=int(rng.integers(0 if opset < 11 else -len(shape), len(shape) + 1))))


def transpose(rng: Rng, opset: int, shape: tuple, kind: str) -> Call:
    order = [int(v) for v in rng.permutation(len(shape))]
    order = order[:-1] + order[:1] if rng.random() < 0.05 else order
    return Call(maybe(rng, 0.8, perm=order) if order else {})


def squeeze(rng: Rng, opset: int, shape: tuple, kind: str) -> Call:
    axes = [i for i, d in enumerate(shape) if d == 1 and rng.random() < 0.7] or some_axes(rng, len(shape))[:1]
    if rng.random() < 0.3 or not axes:
        return Call()
    return Call({"axes": axes}) if opset < 13 else Call({}, (IT, ints(*axes)))


def unsqueeze(rng: Rng, opset: int, shape: tuple, kind: str) -> Call:
    count = int(rng.integers(1, 3))
    ndim = len(shape) + count
    axes = [int(a) for a in rng.permutation(ndim)[:count]]
    axes = [a - ndim if opset >= 11 and rng.random() < 0.3 else a for a in axes]
    axes = axes[:1] * 2 if rng.random() < 0.05 else axes
    return Call({"axes": axes}) if opset < 13 else Call({}, (IT, ints(*axes)))


_FAR = (2**63 - 1, -2**63, -2**63 + 1, 100, -100)


def slices(rng: Rng, opset: int, shape: tuple, kind: str) -> Call:
    axes = some_axes(rng, len(shape))
    if not axes:
        return Call({"starts": [0], "ends": [1]}) if opset < 10 else Call({}, (IT, ints(0), ints(1)))
    steps = [1 if opset < 10 else int(rng.choice([1, 1, 2, -1, -2, 3])) for _ in axes]
    far = [[int(rng.choice(_FAR)) if rng.random() < 0.3 else int(rng.integers(-5, 6)) for _ in range(2)] for _ in axes]
    far = [sorted(pair, reverse=step < 0) if rng.random() < 0.7 else pair for pair, step in zip(far, steps, strict=True)]
    starts, ends = ([pair[k] for pair in far] for k in range(2))
    if opset < 10:
        return Call({"starts": starts, "ends": ends, "axes": axes})
    return Call({}, (IT, ints(*starts), ints(*ends), ints(*axes), *([ints(*steps)] if rng.random() < 0.7 else [])))


def gather(rng: Rng, opset: int, shape: tuple, kind: str) -> Call:
    axis = some_axis(rng, len(shape))
    size = shape[axis] if -len(shape) <= axis < len(shape) else 1
    low = -size if opset >= 11 and rng.random() < 0.5 else 0
    indices = rng.integers(low, max(size, low + 1) + (rng.random() < 0.05), size=[(), (2,), (2, 2)][rng.integers(3)])
    return Call({"axis": axis} if axis else {}, (IT, indices.astype(rng.choice(["int32", "int64"]))))


def concat(rng: Rng, opset: int, shape: tuple, kind: str) -> Call:
    axis = some_axis(rng, len(shape)) if opset >= 11 else int(rng.integers(0, max(len(shape), 1)))
    other = list(shape)
    if shape and -len(shape) <= axis < len(shape):
        other[axis] = int(rng.integers(0, 3))
    return Call({"axis": axis} if rng.random() < 0.97 else {}, (IT, numbers(rng, tuple(other), kind), *((IT,) * rng.integers(2))))


def split(rng: Rng, opset: int, shape: tuple, kind: str) -> Call:
    axis = some_axis(rng, len(shape)) if opset >= 11 else int(rng.integers(0, max(len(shape), 1)))
    size, outputs = (shape[axis] if -len(shape) <= axis < len(shape) else 2), int(rng.integers(1, 4))
    cuts = sorted(rng.integers(0, size + (rng.random() < 0.2), size=outputs - 1).tolist())
    parts = [b - a for a, b in zip([0, *cuts], [*cuts, size], strict=True)]
    attributes = {"axis": axis} if axis else {}
    if rng.random() < 0.4:
        return Call(attributes | ({"num_outputs": outputs} if opset >= 18 else {}), (IT,), outputs)
    return Call(attributes | {"split": parts}, (IT,), outputs) if opset < 13 else Call(attributes, (IT, ints(*parts)), outputs)


def pad(rng: Rng, opset: int, shape: tuple, kind: str) -> Call:
    axes = some_axes(rng, len(shape)) if opset >= 18 and rng.random() < 0.4 else None
    pads = [int(v) for v in rng.integers(-1 if rng.random() < 0.1 else 0, 3, size=2 * len(shape if axes is None else axes))]
    attributes = maybe(rng, 0.2, mode=str(rng.choice(["constant", "reflect", "edge"])))
    value = numbers(rng, (), kind)
    if opset < 11:
        return Call(attributes | {"pads": pads or [0]} | maybe(rng, value=float(value)))
    given = [value] if rng.random() < 0.6 else []
    if axes is not None:
        given = [*(given or [None]), ints(*axes)]
    return Call(attributes, (IT, ints(*pads), *given))


def expand(rng: Rng, opset: int, shape: tuple, kind: str) -> Call:
    target = [int(rng.integers(1, 4)) if d == 1 else 1 if rng.random() < 0.3 else d for d in shape]
    target = [2, *target] if rng.random() < 0.3 else target[int(rng.random() < 0.3):]
    return Call({}, (IT, ints(*target)))


def shape_of(rng: Rng, opset: int, shape: tuple, kind: str) -> Call:
    return Call(maybe(rng, start=int(rng.integers(-5, 4)), end=int(rng.integers(-5, 4))) if opset >= 15 else {})


def constant_of_shape(rng: Rng, opset: int, shape: tuple, kind: str) -> Call:
    value = [np.array([1.5]), ints(3), np.array([True]), np.array([0.25], dtype=np.float32), ints(1, 2)][rng.integers(5)]
    return Call(maybe(rng, 0.8, value=value), (ints(*rng.integers(0, 4, size=rng.integers(0, 3))),))


def constant(rng: Rng, opset: int, shape: tuple, kind: str) -> Call:
    value = {"value": np.asarray(numbers(rng, shape, kind))}
    others = {"value_float": 0.5, "value_floats": [0.5, -1.5], "value_int": 3, "value_ints": [3, -4], "value_string": "a"}
    name = str(rng.choice(list(others)))
    return Call(value if opset < 12 or rng.random() < 0.5 else {name: others[name]}, ())


def cast(rng: Rng, opset: int, shape: tuple, kind: str) -> Call:
    targets = {"f": [11, 11, 1, 7, 9], "float32": [1, 11], "b": [11, 7, 9]}.get(kind, [6, 7, 7, 11, 11, 9, 5])
    return Call({"to": int(rng.choice(targets))})


def dropout(rng: Rng, opset: int, shape: tuple, kind: str) -> Call:
    if opset < 12:
        return Call(maybe(rng, ratio=0.25))
    training = [np.array(rng.random() < 0.3)] if rng.random() < 0.5 else []
    return Call(maybe(rng, seed=3), (IT, np.array(0.25, dtype=np.float32), *training))


_alpha = number(0.05, 2.0)
DRAWS: dict[str, Callable[..., Call]] = {
    **dict.fromkeys(("Relu", "Tanh", "Sigmoid", "Softplus", "Softsign", "Mish", "HardSwish", "Erf", "Exp", "Log", "Sqrt", "Sin",
                     "Cos", "Tan", "Sinh", "Cosh", "Asin", "Acos", "Atan", "Asinh", "Abs", "Neg", "Reciprocal", "Identity",
                     "GlobalAveragePool", "GlobalMaxPool"), plain),
    **dict.fromkeys(("LeakyRelu", "Elu", "Celu", "Swish"), with_attributes(alpha=_alpha)),
    "HardSigmoid": with_attributes(alpha=_alpha, beta=_alpha), "Selu": with_attributes(alpha=_alpha, gamma=_alpha),
    "Gelu": with_attributes(approximate=lambda rng: str(rng.choice(["none", "tanh"]))),
    "Softmax": along_axis, "LogSoftmax": along_axis, "Clip": clip, "PRelu": slopes, "Add": binary, "Sub": binary, "Mul": binary,
    "Div": division, "Mod": modulo, "Pow": power, **dict.fromkeys(("Min", "Max", "Sum", "Mean"), several), "Gemm": gemm,
    "MatMul": product, "ReduceSum": reduction(13),
    **{f"Reduce{name}": reduction(18) for name in ("Mean", "Max", "Min", "SumSquare", "L1", "L2")},
    "BatchNormalization": batch_normalization, "Conv": convolution,
    "MaxPool": pool(10), "AveragePool": pool(19, count_include_pad=lambda rng: int(rng.integers(2))),
    "Reshape": reshape, "Flatten": flatten, "Transpose": transpose, "Squeeze": squeeze, "Unsqueeze": unsqueeze, "Slice": slices,
    "Gather": gather, "Concat": concat, "Split": split, "Pad": pad, "Expand": expand, "Shape": shape_of, "Cast": cast,
    "Dropout": dropout, "ConstantOfShape": constant_of_shape, "Constant": constant,
}
