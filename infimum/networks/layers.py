"""Networks given as layers: a torch.nn.Sequential, a state_dict, or weights in NumPy. Torch itself is not imported."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from infimum.errors import NetworkError
from infimum.networks.graph import Graph
from infimum.networks.network import Network
from infimum.networks.node import Node

# the activations of a list, in lower case; None and "linear" for none
NAMES: dict[str, tuple[str, dict[str, Any]]] = {
    "relu": ("Relu", {}), "tanh": ("Tanh", {}), "sigmoid": ("Sigmoid", {}), "softplus": ("Softplus", {}),
    "leaky_relu": ("LeakyRelu", {"alpha": 0.01}), "elu": ("Elu", {}), "selu": ("Selu", {}), "gelu": ("Gelu", {}),
    "gelu_tanh": ("Gelu", {"approximate": "tanh"}), "silu": ("Swish", {}), "swish": ("Swish", {}), "mish": ("Mish", {}),
    "softsign": ("Softsign", {}), "softmax": ("Softmax", {}), "exp": ("Exp", {}), "sin": ("Sin", {}), "linear": ("Identity", {}),
}


class Chain:
    """Layers in the making, each fed by the one before."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.constants: dict[str, np.ndarray] = {}
        self.last = "input"

    def add(self, op: str, weights: Mapping[str, np.ndarray | None] | None = None, **attributes: Any) -> None:
        """A node after the last one, with these weights after its input."""
        names = []
        for name, value in (weights or {}).items():
            if value is not None:
                self.constants[f"{len(self.nodes)}.{name}"] = value
                names.append(f"{len(self.nodes)}.{name}")
        output = f"{len(self.nodes)}.{op}"
        self.nodes.append(Node(op, (self.last, *names), (output,), attributes))
        self.last = output

    def network(self, shape: tuple[int, ...], name: str, batch: bool) -> Network:
        return Network(Graph.of(self.nodes, self.constants, "input", self.last, (1, *shape) if batch else shape), name, batch)


def array_of(value: Any, name: str) -> np.ndarray:
    """A tensor of torch, or an array, as doubles; float32 and float16 are doubles exactly."""
    for step in ("detach", "cpu", "numpy"):
        value = getattr(value, step)() if hasattr(value, step) else value
    array = np.asarray(value)
    if array.dtype.kind not in "fiu" or array.dtype.itemsize > 8:
        raise NetworkError(f"the weights {name!r} are of type {array.dtype}: convert them to float32 or float64")
    doubles = array.astype(np.float64)
    if array.dtype.kind in "iu" and array.size and np.abs(doubles).max() >= 2.0**53:
        raise NetworkError(f"the weights {name!r} hold an integer that is no double: convert them to float64")
    return doubles


# ---- weights in NumPy and state_dicts

def from_weights(weights: Sequence[Any], activations: Any) -> Network:
    """Keras' model.get_weights(): matrices (inputs, outputs), each followed by its bias, if it has one."""
    pairs: list[tuple[np.ndarray, np.ndarray | None]] = []
    for i, item in enumerate(weights):
        value = array_of(item, f"weights[{i}]")
        if value.ndim == 2:
            pairs.append((value.T, None))
        elif value.ndim == 1 and pairs and pairs[-1][1] is None:
            pairs[-1] = (pairs[-1][0], value)
        else:
            raise NetworkError(f"weights[{i}] has the shape {value.shape}; expected are matrices (inputs, outputs), each followed "
                               "by its bias: [W1, b1, W2, b2, ...]. Export networks with other layers to ONNX")
    return _dense(pairs, activations, "weights")


def from_state_dict(state: Mapping[str, Any], activations: Any) -> Network:
    """A state_dict of dense layers: "0.weight" (outputs, inputs), "0.bias", "2.weight", …"""
    pairs: dict[str, list[np.ndarray | None]] = {}
    for key, item in state.items():
        layer, _, kind = str(key).rpartition(".")
        value = array_of(item, str(key))
        if kind == "weight" and value.ndim == 2 and layer not in pairs:
            pairs[layer] = [value, None]
        elif kind == "bias" and value.ndim == 1 and layer in pairs:
            pairs[layer][1] = value
        else:
            raise NetworkError(f"{key!r} with the shape {value.shape} belongs to no dense layer; a state_dict says nothing else about "
                               "a network: give the torch.nn.Sequential itself, or export it to ONNX")
    return _dense([(w, b) for w, b in pairs.values()], activations, "state_dict")


def _dense(pairs: list[tuple[np.ndarray, np.ndarray | None]], activations: Any, name: str) -> Network:
    if not pairs:
        raise NetworkError(f"the {name} are empty: there is no layer")
    words = _activations(activations, len(pairs))
    chain, size = Chain(), pairs[0][0].shape[1]
    for i, ((weights, bias), word) in enumerate(zip(pairs, words, strict=True)):
        if weights.shape[1] != size or (bias is not None and bias.shape != weights.shape[:1]):
            raise NetworkError(f"layer {i} takes {weights.shape[1]} inputs and has a bias of {'none' if bias is None else len(bias)}; "
                               f"the layer before it gives {size}, and it has {weights.shape[0]} outputs")
        size = weights.shape[0]
        chain.add("Dense", {"weight": weights, "bias": bias})
        if word is not None and word != "linear":
            chain.add(NAMES[word][0], **NAMES[word][1])
    return chain.network((pairs[0][0].shape[1],), name, False)


def _activations(given: Any, layers: int) -> list[str | None]:
    """A word for each layer: one for all but the last, or a list with or without the last one."""
    if given is None:
        raise NetworkError(f"weights alone do not say which activations there are: give activations=, one for each of the {layers} "
                           f"layers or one for all but the last, among {', '.join(NAMES)}")
    words = [given] * (layers - 1) if isinstance(given, str) else list(given)
    words = [*words, None] if len(words) == layers - 1 else words
    if len(words) != layers:
        raise NetworkError(f"there are {layers} layers and {len(words)} activations: give one for each, or for all but the last")
    for word in words:
        if word is not None and word not in NAMES:
            raise NetworkError(f"the activation {word!r} is not known; known are {', '.join(NAMES)}, and None for none")
    return words


# ---- torch.nn.Sequential

def from_modules(module: Any, shape: Sequence[int] | None) -> Network:
    """The modules of a torch.nn.Sequential in turn, as they are in inference."""
    modules = list(_flattened(module))
    if not modules:
        raise NetworkError("the torch.nn.Sequential has no modules")
    if shape is None:
        first = next((m for m in modules if type(m).__name__ not in _PASSED), None)
        if type(first).__name__ != "Linear":
            raise NetworkError(f"the shape of the input does not follow from its first module, {type(first).__name__}: give "
                               "infimum.network(module, input_shape=(channels, height, width)), without the batch axis")
        shape = (np.shape(array_of(first.weight, "weight"))[1],)
    chain = Chain()
    for i, part in enumerate(modules):
        kind = type(part).__name__
        if kind not in MODULES:
            raise NetworkError(f"module {i} of the torch.nn.Sequential is a {kind}, which is not known; known are "
                               f"{', '.join(sorted(MODULES))}. Export other networks to ONNX")
        MODULES[kind](chain, part)
    return chain.network(tuple(int(d) for d in shape), type(module).__name__, True)


def _flattened(module: Any) -> Any:
    for part in module:
        if type(part).__name__ == "Sequential":
            yield from _flattened(part)
        else:
            yield part


def _weights(module: Any, *names: str) -> dict[str, np.ndarray | None]:
    return {name: None if getattr(module, name) is None else array_of(getattr(module, name), name) for name in names}


def _linear(chain: Chain, m: Any) -> None:
    chain.add("Gemm", _weights(m, "weight", "bias"), transB=1)


def _several(value: Any, axes: int) -> list[int]:
    return [int(v) for v in value] if isinstance(value, (tuple, list)) else [int(value)] * axes


def _convolution(axes: int) -> Callable[[Chain, Any], None]:
    def add(chain: Chain, m: Any) -> None:
        if getattr(m, "padding_mode", "zeros") != "zeros":
            raise NetworkError(f"the padding_mode {m.padding_mode!r} of a convolution is not known; known is 'zeros'")
        words = {"same": {"auto_pad": "SAME_UPPER"}, "valid": {}}
        pads = words[m.padding] if isinstance(m.padding, str) else {"pads": _several(m.padding, axes) * 2}
        chain.add("Conv", _weights(m, "weight", "bias"), group=m.groups, strides=_several(m.stride, axes),
                  dilations=_several(m.dilation, axes), **pads)
    return add


def _batch_norm(chain: Chain, m: Any) -> None:
    if m.running_mean is None or m.running_var is None:
        raise NetworkError(f"{type(m).__name__} has no running statistics: it depends on the whole batch")
    found = _weights(m, "weight", "bias", "running_mean", "running_var")
    count = len(found["running_mean"])
    found["weight"] = np.ones(count) if found["weight"] is None else found["weight"]
    found["bias"] = np.zeros(count) if found["bias"] is None else found["bias"]
    chain.add("BatchNormalization", found, epsilon=float(m.eps))


def _pool(op: str, axes: int) -> Callable[[Chain, Any], None]:
    def add(chain: Chain, m: Any) -> None:
        more = {"count_include_pad": int(m.count_include_pad)} if op == "AveragePool" else {"dilations": _several(m.dilation, axes)}
        if getattr(m, "divisor_override", None) is not None:
            raise NetworkError("divisor_override of a pooling module is not known")
        stride = m.kernel_size if m.stride is None else m.stride
        chain.add(op, kernel_shape=_several(m.kernel_size, axes), strides=_several(stride, axes),
                  pads=_several(m.padding, axes) * 2, ceil_mode=int(m.ceil_mode), **more)
    return add


def _adaptive(chain: Chain, m: Any) -> None:
    sizes = m.output_size if isinstance(m.output_size, (tuple, list)) else [m.output_size]
    if any(size != 1 for size in sizes):
        raise NetworkError(f"adaptive pooling to the size {m.output_size} is not known; known is 1")
    chain.add("GlobalAveragePool")


def _softplus(chain: Chain, m: Any) -> None:
    beta = np.array(float(m.beta))
    if beta != 1.0:
        chain.add("Mul", {"beta": beta})
    chain.add("Softplus")
    if beta != 1.0:
        chain.add("Div", {"beta": beta})


def _flatten(chain: Chain, m: Any) -> None:
    if (m.start_dim, m.end_dim) != (1, -1):
        raise NetworkError(f"Flatten from axis {m.start_dim} to {m.end_dim} is not known; known is 1 to -1")
    chain.add("Flatten")


def _simple(op: str, **attributes: str) -> Callable[[Chain, Any], None]:
    """A module that is one operator; attribute of ONNX = attribute of the module."""
    return lambda chain, m: chain.add(op, **{name: getattr(m, own) for name, own in attributes.items()})


_PASSED = ("Dropout", "Identity")
MODULES: dict[str, Callable[[Chain, Any], None]] = {
    "Linear": _linear, "Conv1d": _convolution(1), "Conv2d": _convolution(2), "BatchNorm1d": _batch_norm,
    "BatchNorm2d": _batch_norm, "Flatten": _flatten, "AvgPool1d": _pool("AveragePool", 1), "AvgPool2d": _pool("AveragePool", 2),
    "MaxPool1d": _pool("MaxPool", 1), "MaxPool2d": _pool("MaxPool", 2), "AdaptiveAvgPool1d": _adaptive,
    "AdaptiveAvgPool2d": _adaptive, "Tanh": _simple("Tanh"), "Sigmoid": _simple("Sigmoid"), "ReLU": _simple("Relu"),
    "LeakyReLU": _simple("LeakyRelu", alpha="negative_slope"), "ELU": _simple("Elu", alpha="alpha"),
    "GELU": _simple("Gelu", approximate="approximate"), "SELU": _simple("Selu"), "SiLU": _simple("Swish"),
    "Mish": _simple("Mish"), "Softsign": _simple("Softsign"), "Softmax": _simple("Softmax", axis="dim"),
    "LogSoftmax": _simple("LogSoftmax", axis="dim"), "Softplus": _softplus, "Dropout": _simple("Identity"),
    "Identity": _simple("Identity"), "Hardtanh": lambda chain, m: chain.add(
        "Clip", {"min": np.array(float(m.min_val)), "max": np.array(float(m.max_val))}),
    "ReLU6": lambda chain, m: chain.add("Clip", {"min": np.array(0.0), "max": np.array(6.0)}),
}
