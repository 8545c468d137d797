"""Random models of one or a few operators, and whether a network that is read from one agrees with ONNX."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import infimum
from infimum.errors import NetworkError
from infimum.networks import Network, network
from infimum.networks.node import LATEST
from infimum.networks.operators import OPERATORS
from infimum.trace.trace import traced
from tests.expr.evaluate_with_numpy import evaluate
from tests.networks.models import model_of, saved
from tests.networks.random_calls import DRAWS, Call, Rng, numbers
from tests.networks.reference import NoReference, values_of

KINDS = ("f", "f", "f", "int64", "int64", "int32", "b", "float32")
# for shapes: operators of integers
ON_SHAPES = ("Add", "Sub", "Mul", "Div", "Mod", "Neg", "Abs", "Min", "Max", "Pow", "ReduceSum", "ReduceMax", "ReduceMin",
             "Gather", "Slice", "Concat", "Cast", "Unsqueeze", "Squeeze", "Reshape", "Expand", "Identity", "Transpose")


@dataclass
class Draw:
    """A model in the making. `last` is the name of the array that comes next, `shape` that of the input."""

    opset: int
    shape: tuple[int, ...]
    nodes: list[tuple] = field(default_factory=list)
    constants: dict[str, np.ndarray] = field(default_factory=dict)
    last: str = "x"

    def constant(self, value: np.ndarray) -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(value)
        return name

    def call(self, op: str, call: Call) -> None:
        """A node after the last one."""
        inputs = [self.last if isinstance(part, str) else "" if part is None else self.constant(part) for part in call.inputs]
        outputs = [f"n{len(self.nodes)}_{k}" for k in range(call.outputs)]
        self.nodes.append((op, inputs, outputs, call.attributes))
        self.last = outputs[-1]

    def behind_input(self) -> None:
        """The last array, which is known, as floats behind those of the input."""
        minus_one = self.constant(np.array([-1], dtype=np.int64))
        self.nodes += [("Reshape", [self.last, minus_one], ["flat"], {}), ("Cast", ["flat"], ["cast"], {"to": 11}),
                       ("Reshape", ["x", minus_one], ["all"], {}), ("Concat", ["all", "cast"], ["y"], {"axis": 0})]
        self.last = "y"

    def model(self) -> Any:
        from onnx import numpy_helper

        nodes = [(op, inputs, outputs, {name: numpy_helper.from_array(v) if isinstance(v, np.ndarray) else v
                                        for name, v in attributes.items()}) for op, inputs, outputs, attributes in self.nodes]
        return model_of(nodes, self.shape, self.constants, self.opset, (self.last,))

    def value(self, x: np.ndarray) -> np.ndarray:
        return values_of(self.nodes, {"x": x, **self.constants}, self.opset)[self.last]


def some_shape(rng: Rng, op: str = "") -> tuple[int, ...]:
    if op in ("Conv", "MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool") and rng.random() < 0.97:
        return (1, int(rng.integers(1, 4)), *rng.integers(1, 6, size=rng.integers(1, 3)).tolist())
    if op == "Gemm":
        return tuple(rng.integers(1, 4, size=2).tolist())
    shape = rng.integers(1, 5, size=rng.integers(rng.random() < 0.95, 5)).tolist()
    return tuple(1 if rng.random() < 0.3 else d for d in shape)


def newest() -> int:
    import onnx

    return min(LATEST, onnx.defs.onnx_opset_version())


def one_operator(rng: Rng, op: str) -> Draw:
    """One call: of the input, or of constants of any type."""
    opset = int(rng.integers(max(7, OPERATORS[op].since - (rng.random() < 0.02)), newest() + 1))
    shape = some_shape(rng, op)
    if rng.random() < 0.6:
        draw, kind = Draw(opset, shape), "f"
    else:
        kind = str(rng.choice(KINDS))
        draw = Draw(opset, (2,))
        draw.last = draw.constant(numbers(rng, shape, kind))
    call = DRAWS[op](rng, opset, shape, kind)
    if rng.random() < 0.03:
        other = str(rng.choice(["axis", "broadcast", "is_test", "mode", "unknown"]))
        call = call._replace(attributes=call.attributes | {other: 1})
    draw.call(op, call)
    if op == "Shape" or not any("x" in node[1] for node in draw.nodes):
        draw.behind_input()
    return draw


def chain(rng: Rng) -> Draw:
    """Two to four calls, each of what the one before made."""
    draw = Draw(int(rng.integers(18, newest() + 1)), some_shape(rng, str(rng.choice(["Conv", "Gemm", ""]))))
    ops = [op for op in DRAWS if op not in ("Shape", "Constant", "ConstantOfShape", "Mod") and OPERATORS[op].since <= draw.opset]
    x, count = numbers(rng, draw.shape), int(rng.integers(2, 5))
    _extend(draw, rng, ops, x, count, "f")
    return draw


def shape_arithmetic(rng: Rng) -> Draw:
    """A few calls on the shape of the input, cast to floats behind the input itself."""
    draw = Draw(int(rng.integers(7, newest() + 1)), some_shape(rng) or (2, 3))
    ops = [op for op in ON_SHAPES if OPERATORS[op].since <= draw.opset]
    draw.nodes.append(("Shape", ["x"], ["shape"], {}))
    draw.last = "shape"
    _extend(draw, rng, ops, numbers(rng, draw.shape), int(rng.integers(1, 4)), "int64")
    draw.behind_input()
    return draw


def _extend(draw: Draw, rng: Rng, ops: list[str], x: np.ndarray, count: int, kind: str) -> None:
    for _ in range(20):
        if count == 0:
            return
        before = Draw(draw.opset, draw.shape, list(draw.nodes), dict(draw.constants), draw.last)
        here = draw.value(x)
        op = str(rng.choice(ops))
        own = here.dtype.name if kind != "f" else "f"
        draw.call(op, DRAWS[op](rng, draw.opset, here.shape, own if own in ("f", "int32", "int64") else kind))
        try:
            found = draw.value(x)
            kept = found.dtype.kind == here.dtype.kind and found.size <= 500 and np.isfinite(found).all()
        except NoReference:
            kept = False
        if not kept:
            draw.nodes, draw.constants, draw.last = before.nodes, before.constants, before.last
        count -= kept


# ---- agreement
def outcome(draw: Draw, folder: Path, rng: Rng, enclosed: bool = False) -> str:
    """"agreed", "refused", or "unconfirmed" where there is no reference; raises AssertionError where they differ."""
    try:
        net = network(saved(draw.model(), folder))
    except NetworkError as error:
        assert str(error), draw
        return "refused"
    points = [numbers(rng, draw.shape), rng.uniform(-1.5, 1.5, size=draw.shape)]
    try:
        expected = [draw.value(x) for x in points]
    except NoReference as error:
        return f"unconfirmed: {error}"
    expression = traced(net, net.inputs, (), lambda fun, value: value.expr if hasattr(value, "expr") else None)[0]
    for x, wanted in zip(points, expected, strict=True):
        _check_shape(net, wanted, draw)
        with np.errstate(all="ignore"):
            _check_close(np.asarray(net(x.ravel())), wanted, draw, "in doubles")
        if expression is not None:
            _check_close(evaluate(expression, x.ravel()), wanted, draw, "traced")
    if enclosed and np.isfinite(expected[1]).all():
        _check_enclosed(net, points[1].ravel(), rng, draw)
    return "agreed"


def _tolerance(draw: Draw) -> float:
    """Floats of every type are real numbers to a network; the reference rounds to the type."""
    single = any(v.dtype == np.float32 for v in draw.constants.values()) or any(node[3].get("to") == 1 for node in draw.nodes)
    return 1e-4 if single else 1e-9


def _check_shape(net: Network, wanted: np.ndarray, draw: Draw) -> None:
    shape = wanted.shape[1:] if wanted.ndim > 1 and wanted.shape[0] == 1 else wanted.shape
    assert net.output_shape == shape, f"the shape is {net.output_shape} instead of {shape}: {draw}"


def _check_close(found: np.ndarray, wanted: np.ndarray, draw: Draw, how: str) -> None:
    tolerance = _tolerance(draw)
    assert np.allclose(found.ravel(), wanted.astype(float).ravel(), rtol=tolerance, atol=tolerance, equal_nan=True), \
        f"{how}: {found.ravel()} instead of {wanted.ravel()}: {draw}"


def _check_enclosed(net: Network, x: np.ndarray, rng: Rng, draw: Draw) -> None:
    """A sum of the outputs, over a small box, at points of it."""
    weights = numbers(rng, net.outputs)
    radius = 2.0 ** -int(rng.integers(3, 10))

    def total(v: Any) -> Any:
        y = net(v)
        return weights[0] * y if net.outputs == 1 else weights @ y.reshape(net.outputs)

    found = infimum.enclose(total, np.stack([x - radius, x + radius], axis=1))
    for point in (x, *rng.uniform(x - radius, x + radius, size=(3, len(x)))):
        value = values_of(draw.nodes, {"x": point.reshape(draw.shape), **draw.constants}, draw.opset)[draw.last]
        value = float(weights @ value.astype(float).ravel())
        near = 1e3 * _tolerance(draw) * (1 + abs(value)) if _tolerance(draw) > 1e-9 else 1e-9 * (1 + abs(value))
        assert np.isnan(value) or found.lo - near <= value <= found.hi + near, f"{value} is not in {found} at {point}: {draw}"
