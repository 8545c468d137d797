"""Reads ONNX files. Nothing in them is ever run or unpickled, and no other file is opened."""

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from infimum.errors import NetworkError
from infimum.networks.graph import Graph
from infimum.networks.network import Network
from infimum.networks.node import LATEST, Node
from infimum.networks.operators import OPERATORS, OWN
from infimum.text import counted

MOST_BYTES, MOST_NODES = 2**29, 20_000
OLDEST = 7  # the operator set from which on shapes broadcast as in NumPy
# what other files begin with, and what to do with them
_OTHERS = (
    (b"PK\x03\x04", "a ZIP file, as torch.save, numpy.savez and Keras write them"),
    (b"\x80", "a pickle"),
    (b"\x89HDF", "an HDF5 file, as older versions of Keras write them"),
)
_CURE = ("infimum unpickles nothing. Export the network to ONNX, or give it as infimum.network(module) or as NumPy weights "
         "(docs/networks.md)")
_KINDS = {np.dtype(name) for name in ("float64", "float32", "float16", "int64", "int32", "bool")}


def read_onnx(path: str | PathLike, output: str | int | None = None) -> Network:
    """The network in an ONNX file. `output` is the name or number of the output that is meant, if there are several."""
    onnx = _onnx()
    path = Path(path)
    model = _parsed(onnx, path)
    try:
        opset = _opset(model)
        graph = model.graph
        _check_size(model, graph)
        constants = dict(_constants(onnx, graph))
        nodes = list(_nodes(onnx, graph, opset, constants))
        name, shape, batch = _input(graph, constants)
        return Network(Graph.of(nodes, constants, name, _output(graph, output), shape), path.name, batch)
    except NetworkError as error:
        raise NetworkError(f"{path}: {error}") from error.__cause__


def _onnx() -> Any:
    try:
        import onnx
        import onnx.checker
        import onnx.numpy_helper
    except ImportError:
        raise NetworkError("reading ONNX files needs the package onnx: pip install infimum[onnx]") from None
    return onnx


def _parsed(onnx: Any, path: Path) -> Any:
    """The file as a message of protobuf, which bounds how deep it is nested."""
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise NetworkError(f"{path} has {size:,} bytes; the limit is {MOST_BYTES:,}")
        data = path.read_bytes()
    except OSError as error:
        raise NetworkError(f"{path} cannot be read: {error.strerror}") from error
    for begin, what in _OTHERS:
        if data.startswith(begin):
            raise NetworkError(f"{path} is {what}, and no ONNX file. {_CURE}")
    from google.protobuf.message import DecodeError  # onnx needs it

    try:
        model = onnx.ModelProto.FromString(data)
    except DecodeError:
        raise NetworkError(f"{path} is no ONNX file, or it is truncated or damaged") from None
    if not model.HasField("graph") or not model.graph.output:
        raise NetworkError(f"{path} is no ONNX file, or it is truncated: it has no graph with an output")
    return model


def _opset(model: Any) -> int:
    versions = {item.domain: item.version for item in model.opset_import}
    version = versions.get("", versions.get("ai.onnx"))
    if version is None:
        raise NetworkError("it does not say which operator set of ONNX it uses")
    if not OLDEST <= version <= LATEST:
        raise NetworkError(f"it uses the operator set {version} of ONNX; known are {OLDEST} to {LATEST}: export it with one of "
                           "these (opset_version=)")
    return version


def _check_size(model: Any, graph: Any) -> None:
    words = [word for node in graph.node for word in (node.op_type, node.domain, node.name, *node.input, *node.output)]
    words += [part.name for part in (*graph.input, *graph.output, *graph.initializer)]
    if not all(isinstance(word, str) for word in words):  # protobuf leaves what it cannot decode as bytes
        raise NetworkError("a name in it is no text: the file is damaged")
    if len(graph.node) > MOST_NODES:
        raise NetworkError(f"it has {counted(len(graph.node), 'node')}; the limit is {MOST_NODES:,}")
    if model.functions:
        raise NetworkError(f"it defines functions of its own ({model.functions[0].name}, …): export it without them")
    if graph.sparse_initializer:
        raise NetworkError("it has sparse weights, which are not known: export it with dense ones")


def _array(onnx: Any, tensor: Any, name: str) -> np.ndarray:
    """The array of a tensor: floats as doubles, which is exact."""
    if tensor.data_location == onnx.TensorProto.EXTERNAL or tensor.external_data:
        raise NetworkError(f"the weights {name!r} are in another file (external data), and no other file is opened: save the "
                           "network as one file")
    try:
        array = np.asarray(onnx.numpy_helper.to_array(tensor))
    except (ValueError, TypeError, KeyError, RuntimeError, AttributeError) as error:
        raise NetworkError(f"the weights {name!r} cannot be read: {error}") from error
    if tuple(array.shape) != tuple(tensor.dims):
        raise NetworkError(f"the weights {name!r} have the shape {array.shape} instead of {tuple(tensor.dims)}")
    if array.dtype.name == "bfloat16":
        return array.astype(np.float64)
    if array.dtype not in _KINDS:
        raise NetworkError(f"the weights {name!r} are of type {array.dtype}; known are {', '.join(sorted(map(str, _KINDS)))}")
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def _constants(onnx: Any, graph: Any) -> Iterator[tuple[str, np.ndarray]]:
    for tensor in graph.initializer:
        yield tensor.name, _array(onnx, tensor, tensor.name)


def _nodes(onnx: Any, graph: Any, opset: int, constants: dict[str, np.ndarray]) -> Iterator[Node]:
    """The nodes; those that are constants are put there."""
    for proto in graph.node:
        op = proto.op_type if proto.domain in ("", "ai.onnx") else f"{proto.domain}.{proto.op_type}"
        op = f"{op} (not ONNX's own)" if op in OWN else op
        attributes = {a.name: _attribute(onnx, proto, a) for a in proto.attribute} if op in OPERATORS else {}
        node = Node(op, tuple(proto.input), tuple(proto.output), attributes, proto.name, opset)
        if op == "Constant":
            try:
                constants[proto.output[0]] = OPERATORS[op].run(node)
            except NetworkError as error:
                raise NetworkError(f"{node}: {error}") from error
        else:
            yield node


def _attribute(onnx: Any, node: Any, attribute: Any) -> Any:
    """Numbers, lists of numbers, text and tensors; no graphs."""
    kind = onnx.AttributeProto
    if attribute.type == kind.TENSOR:
        return _array(onnx, attribute.t, node.output[0])
    plain = {kind.FLOAT: "f", kind.INT: "i", kind.STRING: "s", kind.FLOATS: "floats", kind.INTS: "ints", kind.STRINGS: "strings"}
    if attribute.type not in plain:
        raise NetworkError(f"node {node.name!r} ({node.op_type}): the attribute {attribute.name!r} is of an unknown kind")
    value = getattr(attribute, plain[attribute.type])
    return list(value) if attribute.type in (kind.FLOATS, kind.INTS, kind.STRINGS) else value


def _input(graph: Any, constants: dict[str, np.ndarray]) -> tuple[str, tuple[int, ...], bool]:
    """The name and the shape of the one input, and whether its first axis is that of a batch, which is taken to be 1."""
    given = [value for value in graph.input if value.name not in constants]
    if len(given) != 1:
        names = ", ".join(value.name for value in given) or "none"
        raise NetworkError(f"it must have one input, and has {len(given)} ({names})")
    tensor = given[0].type.tensor_type
    if not given[0].type.HasField("tensor_type") or not tensor.HasField("shape"):
        raise NetworkError(f"the input {given[0].name!r} is no array with a shape")
    shape = [d.dim_value if d.WhichOneof("value") == "dim_value" and d.dim_value > 0 else None for d in tensor.shape.dim]
    if any(d is None for d in shape[1:]) or (len(shape) == 1 and shape[0] is None):
        said = ", ".join(d.dim_param or "?" if size is None else str(size)
                         for size, d in zip(shape, tensor.shape.dim, strict=True))
        raise NetworkError(f"the input {given[0].name!r} has the dynamic shape ({said}): only the first of several axes, that of "
                           "a batch, may be dynamic; export the network with fixed sizes")
    batch = len(shape) > 1 and shape[0] in (None, 1)
    return given[0].name, (1, *shape[1:]) if batch else tuple(shape), batch


def _output(graph: Any, wanted: str | int | None) -> str:
    names = [value.name for value in graph.output]
    if wanted is None and len(names) == 1:
        return names[0]
    if wanted is None:
        raise NetworkError(f"it has the outputs {', '.join(names)}: say which is meant, network(path, output={names[0]!r})")
    if isinstance(wanted, int) and not isinstance(wanted, bool) and 0 <= wanted < len(names):
        return names[wanted]
    if wanted not in names:
        raise NetworkError(f"it has no output {wanted!r}; it has {', '.join(names)}")
    return wanted
