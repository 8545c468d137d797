"""Relations between what is proved of a network and what the reference evaluator of onnx computes."""

import math
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import infimum
from bench.related.asking import SETTINGS, Judgement, refusing
from bench.related.draws import Draw
from bench.related.modules import of_modules
from infimum.networks import largest, smallest

_TRIES = 30
_CLOSE = 1e-7      # of the size of an output: what the reference may round
_POINTS = 25
_MOST_ELEMENTS = 400


@dataclass
class Graph:
    """A model that grows by one layer at a time. `last` is the name of the value that the next one takes."""

    shape: tuple[int, ...]
    nodes: list[tuple[str, list[str], list[str], dict[str, Any]]] = field(default_factory=list)
    constants: dict[str, np.ndarray] = field(default_factory=dict)
    last: str = "x"

    def add(self, op: str, *inputs: Any, **attributes: Any) -> str:
        """A node; arrays among its inputs become constants."""
        names = []
        for given in inputs:
            if not isinstance(given, str):
                name = f"c{len(self.constants)}"
                self.constants[name] = np.asarray(given)
                given = name
            names.append(given)
        self.last = f"v{len(self.nodes)}"
        self.nodes.append((op, names, [self.last], attributes))
        return self.last

    def model(self) -> Any:
        from onnx import TensorProto, helper, numpy_helper

        made = [helper.make_node(op, inputs, outputs, **attributes) for op, inputs, outputs, attributes in self.nodes]
        graph = helper.make_graph(made, "drawn", [helper.make_tensor_value_info("x", TensorProto.DOUBLE, self.shape)],
                                  [helper.make_tensor_value_info(self.last, TensorProto.DOUBLE, None)],
                                  [numpy_helper.from_array(value, name) for name, value in self.constants.items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
        model.ir_version = min(model.ir_version, 10)
        return model

    def reference(self) -> Callable[[np.ndarray], np.ndarray]:
        from onnx.reference import ReferenceEvaluator

        evaluator = ReferenceEvaluator(self.model())
        return lambda x: np.asarray(evaluator.run(None, {"x": x.reshape(self.shape)})[0])


# ---- layers: a graph, and the shape of what it has computed so far
def _weights(d: Draw, *shape: int) -> np.ndarray:
    return d.rng.integers(-8, 9, shape) / 4.0


def _windowed(d: Draw, axes: int) -> dict[str, Any]:
    """Kernel, pads of any size, strides and dilations."""
    return {"kernel_shape": [d.whole(1, 3) for _ in range(axes)], "pads": [d.whole(0, 3) for _ in range(2 * axes)],
            "strides": [d.whole(1, 2) for _ in range(axes)], "dilations": [d.whole(1, 2) for _ in range(axes)]}


def _conv(d: Draw, g: Graph, shape: tuple[int, ...]) -> None:
    if len(shape) < 3:
        return
    attributes, out = _windowed(d, len(shape) - 2), d.whole(1, 2)
    g.add("Conv", g.last, _weights(d, out, shape[1], *attributes["kernel_shape"]), _weights(d, out), **attributes)


def _pool(d: Draw, g: Graph, shape: tuple[int, ...]) -> None:
    if len(shape) < 3:
        return
    attributes = _windowed(d, len(shape) - 2)
    kernel = attributes["kernel_shape"]
    pads = [min(p, k - 1) for p, k in zip(attributes["pads"], kernel, strict=False)]  # more is not allowed,
    attributes["pads"] = [*pads, *pads]  # and where they differ the reference itself is wrong: its last windows are others
    del attributes["dilations"]
    g.add(d.one_of(("MaxPool", "AveragePool")), g.last, **attributes)


def _activation(d: Draw, g: Graph, shape: tuple[int, ...]) -> None:
    g.add(d.one_of(("Relu", "Tanh", "Abs", "Sigmoid", "LeakyRelu", "Neg")), g.last)


def _counted(d: Draw, g: Graph, shape: tuple[int, ...]) -> None:
    """A factor or a term that is computed from the shape, in whole numbers."""
    before = g.last
    g.add("Shape", before)
    g.add("Gather", g.last, np.array(d.whole(0, len(shape) - 1), dtype=np.int64))
    ops = ["Div", "Mod", "Mul", "Add", "Pow"]
    for op in [d.one_of(ops), *(op for op in ("Sub", "Mul") if d.chance(0.25))]:  # what quotients of negative numbers are varies
        g.add(op, g.last, np.array(d.whole(2, 3), dtype=np.int64))
    whole = g.last
    g.add("Cast", whole, to=11)
    g.add(d.one_of(("Mul", "Add")), before, g.last)


def _sliced(d: Draw, g: Graph, shape: tuple[int, ...]) -> None:
    """Any start, end and step along the last axis."""
    size = shape[-1]
    step = d.one_of((1, 1, 2, -1, -2))
    start, end = (d.whole(-size - 2, size), d.whole(0, size + 2)) if step > 0 else (d.whole(-1, size + 2), -size - d.whole(1, 3))
    start = -size - d.whole(1, 2) if step < 0 and d.chance(0.2) else start
    g.add("Slice", g.last, *(np.array([v], dtype=np.int64) for v in (start, end, -1, step)))


def _normalised(d: Draw, g: Graph, shape: tuple[int, ...]) -> None:
    if len(shape) < 3:
        return
    channels = shape[1]
    g.add("BatchNormalization", g.last, _weights(d, channels), _weights(d, channels), _weights(d, channels),
          np.abs(_weights(d, channels)) + 0.5)


def _dense(d: Draw, g: Graph, shape: tuple[int, ...]) -> None:
    if len(shape) > 2:
        g.add("Flatten", g.last)
    g.add("MatMul", g.last, _weights(d, math.prod(shape), d.whole(1, 3)))


LAYERS = (_conv, _conv, _conv, _conv, _pool, _activation, _activation, _counted, _counted, _sliced, _normalised, _dense)


def drawn(d: Draw) -> tuple[Graph, Callable[[np.ndarray], np.ndarray]]:
    """A network with one output, and the reference."""
    for _ in range(_TRIES):
        shape = d.one_of(((1, 1, 4), (1, 2, 3), (1, 1, 2, 3), (1, 1, 5), (1, 4)))
        g, now = Graph(shape), shape
        x = np.zeros(shape)
        try:
            for _ in range(d.whole(1, 4)):
                d.one_of(LAYERS)(d, g, now)
                now = g.reference()(x).shape if g.nodes else shape
                if not math.prod(now) or math.prod(now) > _MOST_ELEMENTS:
                    raise ValueError
            if d.chance(0.7):  # takes any number of elements
                g.add(d.one_of(("ReduceMax", "ReduceSum", "ReduceMin", "ReduceMean")), g.last)
            else:
                g.add("Flatten", g.last)
                g.add("MatMul", g.last, _weights(d, math.prod(now) // now[0], 1))
            reference = g.reference()
            if reference(x).size == 1:
                return g, reference
        except Exception:  # of onnx, which does not take this model
            continue
    raise AssertionError("no network was found")


def verified(d: Draw) -> Judgement:
    """The value at points, bounds of the output, and limits that points of the box keep or break."""
    if not d.may("networks"):
        return Judgement(False, note="left out")
    if d.chance(0.15):
        return of_modules(d)
    warnings.simplefilter("ignore")  # of the reference, about casts
    g, reference = drawn(d)
    n = math.prod(g.shape)
    bounds = [d.one_of(((-1.0, 1.0), (0.0, 1.0), (0.5, 0.5), (-0.5, 2.0))) for _ in range(n)]
    low, high = np.array(bounds).T
    points = [low + (high - low) * d.rng.integers(0, 3, n) / 2 for _ in range(_POINTS)]
    values = np.array([float(reference(x).reshape(-1)[0]) for x in points])
    top = d.chance(0.5)
    best = points[int(np.argmax(values if top else -values))]
    limit = float(values.max() - 0.5 if d.chance(0.5) else values.max() + 0.25) if top else float(values.min() + 0.5)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "drawn.onnx")
        path.write_bytes(g.model().SerializeToString())
        with refusing():
            net = infimum.network(path)
            at = infimum.enclose(net, np.stack([best, best], axis=1))
            found = infimum.verify(net, bounds, (largest if top else smallest)(0, limit=limit), max_boxes=SETTINGS["max_boxes"],
                                   threads=1, progress=False)
    expected, room = float(reference(best).reshape(-1)[0]), _CLOSE * max(1.0, float(np.abs(values).max()))
    told = f"{'at most' if top else 'at least'} {limit!r}: {found.verdict.name}"
    wrong = ""
    if not at.lo - room <= expected <= at.hi + room:
        wrong = f"the output at {best.tolist()!r} is {expected!r}, and it is enclosed in {at}"
    beyond = values.max() > limit + room if top else values.min() < limit - room
    if found.verdict.name == "HOLDS" and beyond:
        wrong = wrong or f"{told}, but the output is {expected!r} at {best.tolist()!r}"
    if found.verdict.name == "VIOLATED":
        there = float(reference(np.asarray(found.counterexample)).reshape(-1)[0])
        if (there < limit - room) if top else (there > limit + room):
            wrong = wrong or f"{told}, and the output at the counterexample {found.counterexample.tolist()!r} is {there!r}"
    return Judgement(found.verdict.name in ("HOLDS", "VIOLATED"), wrong and f"{wrong}\nbounds {bounds!r}\n{_described(g)}",
                     found.verdict.name)


def _described(g: Graph) -> str:
    lines = [f"input x {g.shape}"]
    lines += [f"{out[0]} = {op}({', '.join(inputs)}) {attributes or ''}" for op, inputs, out, attributes in g.nodes]
    return "\n".join([*lines, *(f"{name} = {value.tolist()!r}" for name, value in g.constants.items())])
