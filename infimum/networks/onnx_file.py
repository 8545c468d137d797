"""Reads ONNX files. Nothing in them is ever run or unpickled, and no other file is opened."""

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from infimum.errors import NetworkError
from infimum.networks.graph import Graph
from infimum.networks.network import Network
from infimum.networks.node import LATEST, OLDEST, Node
from infimum.networks.operators import OPERATORS, OWN
from infimum.problem.text import counted

MOST_BYTES, MOST_NODES = 2**29, 20_000
# what other files begin with, and what to do with them
_OTHERS = (
    (b"PK\x03\x04", "a ZIP file, as torch.save, numpy.savez and Keras write them"),
    (b"\x80", "a pickle"),
    (b"\x89HDF", "an HDF5 file, as older versions of Keras write them"),
)
_CURE = ("infimum unpickles nothing. Export the network to ONNX, or give it as infimum.network(module) or as NumPy weights "
         "(docs/networks.md)")
_ONNX = ("", "ai.onnx")  # how its own operators are called
_FLOATS = ("DOUBLE", "FLOAT", "FLOAT16", "BFLOAT16")
_KNOWN = (*_FLOATS, "INT64", "INT32", "BOOL")
_FIELDS = ("raw_data", "float_data", "double_data", "int32_data", "int64_data", "uint64_data", "string_data")


def read_onnx(path: str | PathLike, output: str | int | None = None) -> Network:
    """The network in an ONNX file. `output` is the name or number of the output that is meant, if there are several."""
    onnx = _onnx()
    path = Path(path)
    model = _parsed(onnx, path)
    try:
        _check_version(onnx, model)
        opset = _opset(model)
        graph = model.graph
        _check_parts(model, graph)
        constants = _constants(onnx, graph)
        nodes = [_node(onnx, proto, opset) for proto in graph.node]
        name, shape, batch = _input(onnx, graph, constants)
        return Network(Graph.of(nodes, constants, name, _output(graph, output), shape), path.name, batch)
    except NetworkError as error:
        raise NetworkError(f"{path}: {error}") from error.__cause__


def _onnx() -> Any:
    try:
        import onnx
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


def _check_version(onnx: Any, model: Any) -> None:
    if model.ir_version > onnx.IR_VERSION:
        raise NetworkError(f"it has the version {model.ir_version} of ONNX's format, and the installed package onnx knows "
                           f"{onnx.IR_VERSION}: pip install --upgrade onnx")


def _opset(model: Any) -> int:
    versions = {item.version for item in model.opset_import if item.domain in _ONNX}
    if len(versions) != 1:
        raise NetworkError("it does not say which operator set of ONNX it uses" if not versions else
                           f"it uses several operator sets of ONNX ({', '.join(map(str, sorted(versions)))})")
    version, = versions
    if not OLDEST <= version <= LATEST:
        raise NetworkError(f"it uses the operator set {version} of ONNX; known are {OLDEST} to {LATEST}: export it with one of "
                           "these (opset_version=)")
    return version


def _check_parts(model: Any, graph: Any) -> None:
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


def _type_name(onnx: Any, number: int) -> str:
    """FLOAT, INT64, …; numbers that onnx does not know stay numbers."""
    known = onnx.TensorProto.DataType.DESCRIPTOR.values_by_number
    return known[number].name if number in known else str(number)


def _array(onnx: Any, tensor: Any, name: str) -> np.ndarray:
    """The array of a tensor: floats as doubles, which is exact."""
    if tensor.data_location == onnx.TensorProto.EXTERNAL or tensor.external_data:
        raise NetworkError(f"the weights {name!r} are in another file (external data), and no other file is opened: save the "
                           "network as one file")
    kind = _type_name(onnx, tensor.data_type)
    if kind not in _KNOWN:
        raise NetworkError(f"the weights {name!r} are of type {kind}; known are {', '.join(_KNOWN)}: export the network with one "
                           "of these")
    if sum(bool(len(getattr(tensor, field))) for field in _FIELDS) > 1:
        raise NetworkError(f"the weights {name!r} are given several times over: the file is damaged")
    try:
        array = np.asarray(onnx.numpy_helper.to_array(tensor))
    except (ValueError, TypeError, KeyError, RuntimeError, AttributeError) as error:
        raise NetworkError(f"the weights {name!r} cannot be read: {error}") from error
    if tuple(array.shape) != tuple(tensor.dims):
        raise NetworkError(f"the weights {name!r} have the shape {array.shape} instead of {tuple(tensor.dims)}")
    return array.astype(np.float64) if kind in _FLOATS else array


def _constants(onnx: Any, graph: Any) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    for tensor in graph.initializer:
        if not tensor.name or tensor.name in found:
            raise NetworkError(f"there are two weights of the name {tensor.name!r}, or weights without a name")
        found[tensor.name] = _array(onnx, tensor, tensor.name)
    return found


def _node(onnx: Any, proto: Any, opset: int) -> Node:
    """Attributes of operators that are not known are not read: they may hold graphs."""
    op = proto.op_type if proto.domain in _ONNX else f"{proto.domain}.{proto.op_type}"
    op = f"{op} (not ONNX's own)" if op in OWN or getattr(proto, "overload", "") else op
    attributes: dict[str, Any] = {}
    node = Node(op, tuple(proto.input), tuple(proto.output), attributes, proto.name, opset)
    for attribute in proto.attribute if op in OPERATORS else ():
        if attribute.name in attributes or attribute.ref_attr_name:
            raise NetworkError(f"{node}: the attribute {attribute.name!r} is given twice, or it refers to one of a function")
        attributes[attribute.name] = _attribute(onnx, node, attribute)
    return node


def _attribute(onnx: Any, node: Node, attribute: Any) -> Any:
    """Numbers, lists of numbers, text and tensors; no graphs."""
    kind = onnx.AttributeProto
    if attribute.type == kind.TENSOR:
        return _array(onnx, attribute.t, f"{attribute.name} of {node}")
    plain = {kind.FLOAT: "f", kind.INT: "i", kind.STRING: "s", kind.FLOATS: "floats", kind.INTS: "ints", kind.STRINGS: "strings"}
    if attribute.type not in plain:
        raise NetworkError(f"{node}: the attribute {attribute.name!r} is of an unknown kind")
    value = getattr(attribute, plain[attribute.type])
    return list(value) if attribute.type in (kind.FLOATS, kind.INTS, kind.STRINGS) else value


def _input(onnx: Any, graph: Any, constants: dict[str, np.ndarray]) -> tuple[str, tuple[int, ...], bool]:
    """The name and the shape of the one input, and whether its first axis is that of a batch, which is taken to be 1. Inputs that
    have weights of their name have these as their values."""
    given = [value for value in graph.input if value.name not in constants]
    if len(given) != 1 or not given[0].name:
        names = ", ".join(value.name for value in given) or "none"
        raise NetworkError(f"it must have one input, and has {len(given)} ({names})")
    name, tensor = given[0].name, given[0].type.tensor_type
    if not given[0].type.HasField("tensor_type") or not tensor.HasField("shape"):
        raise NetworkError(f"the input {name!r} is no array with a shape")
    _check_float(onnx, f"the input {name!r}", tensor.elem_type)
    sizes = [d.dim_value if d.WhichOneof("value") == "dim_value" and d.dim_value >= 0 else None for d in tensor.shape.dim]
    if 0 in sizes:
        raise NetworkError(f"the input {name!r} has an axis of length 0: export the network with fixed sizes")
    if None in sizes[1:] or sizes == [None]:
        shown = ", ".join(d.dim_param or "?" if size is None else str(size)
                          for size, d in zip(sizes, tensor.shape.dim, strict=True))
        raise NetworkError(f"the input {name!r} has the dynamic shape ({shown}): only the first of several axes, that of a "
                           "batch, may be dynamic; export the network with fixed sizes")
    batch = len(sizes) > 1 and sizes[0] in (None, 1)
    return name, (1, *sizes[1:]) if batch else tuple(sizes), batch


def _check_float(onnx: Any, what: str, number: int) -> None:
    kind = _type_name(onnx, number)
    if kind not in _FLOATS:
        raise NetworkError(f"{what} is of type {kind}; known are {', '.join(_FLOATS)}: a network is read as a function of real "
                           "numbers")


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
