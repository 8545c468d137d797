"""Small ONNX models, their value by the reference evaluator of onnx, and a stand-in for torch's modules."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import infimum
from infimum.networks import Network
from infimum.trace.trace import traced


def model_of(nodes: list, shape: Any, constants: dict[str, np.ndarray] | None = None, opset: int = 18, outputs: Any = ("y",),
             double: bool = True) -> Any:
    """A model with the input x of this shape. `nodes` are onnx.helper.make_node's, or (op, inputs, outputs, attributes)."""
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper, numpy_helper

    kind = TensorProto.DOUBLE if double else TensorProto.FLOAT
    made = [helper.make_node(n[0], n[1], n[2], **(n[3] if len(n) > 3 else {})) if isinstance(n, tuple) else n for n in nodes]
    graph = helper.make_graph(made, "g", [helper.make_tensor_value_info("x", kind, shape)],
                              [helper.make_tensor_value_info(name, kind, None) for name in outputs],
                              [numpy_helper.from_array(value, name) for name, value in (constants or {}).items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = min(model.ir_version, 10)
    assert onnx
    return model


def saved(model: Any, folder: Path) -> Path:
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def by_reference(model: Any, x: np.ndarray) -> np.ndarray:
    """The first output, by onnx itself."""
    from onnx.reference import ReferenceEvaluator

    return np.asarray(ReferenceEvaluator(model).run(None, {"x": x})[0])


def elements(net: Network, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Enclosures of all outputs at a point, from the traced network: their ends."""
    point = np.stack([x.ravel(), x.ravel()], axis=1)
    ends = [infimum.enclose(lambda v, k=k: net(v) if net.outputs == 1 else net(v).reshape(net.outputs)[k], point)
            for k in range(min(net.outputs, 3))]
    return np.array([e.lo for e in ends]), np.array([e.hi for e in ends])


def expression(net: Network) -> Any:
    """The traced output as an array of expressions."""
    return traced(net, net.inputs, (), lambda fun, value: value.expr)[0]
