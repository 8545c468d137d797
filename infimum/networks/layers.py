"""Networks given as dense layers: a state_dict, or weights in NumPy."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from infimum.errors import NetworkError
from infimum.networks.graph import Graph
from infimum.networks.network import Network
from infimum.networks.node import Node

SELU = {"alpha": 1.6732632423543772, "gamma": 1.0507009873554805}  # as torch and Keras have it
# the activations of a list, in lower case; None and "linear" for none
NAMES: dict[str, tuple[str, dict[str, Any]]] = {
    "relu": ("Relu", {}), "tanh": ("Tanh", {}), "sigmoid": ("Sigmoid", {}), "softplus": ("Softplus", {}),
    "leaky_relu": ("LeakyRelu", {"alpha": 0.01}), "elu": ("Elu", {}), "selu": ("Selu", SELU), "gelu": ("Gelu", {}),
    "gelu_tanh": ("Gelu", {"approximate": "tanh"}), "silu": ("Swish", {}), "swish": ("Swish", {}), "mish": ("Mish", {}),
    "softsign": ("Softsign", {}), "softmax": ("Softmax", {}), "exp": ("Exp", {}), "sin": ("Sin", {}), "linear": ("Identity", {}),
}


class LayerChain:
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
    """A tensor of torch, or an array, as doubles; float32, float16 and bfloat16 are doubles exactly."""
    is_float = getattr(value, "is_floating_point", bool)()
    try:
        for step in ("detach", "cpu", *(("double",) if is_float else ()), "numpy"):
            value = getattr(value, step)() if hasattr(value, step) else value
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise NetworkError(f"the weights {name!r} cannot be read: {error}") from error
    if array.dtype.kind not in "fiu" or array.dtype.itemsize > 8:
        raise NetworkError(f"the weights {name!r} are of type {array.dtype}: convert them to float32 or float64")
    doubles = array.astype(np.float64)
    if array.dtype.kind in "iu" and array.size and np.abs(doubles).max() >= 2.0**53:
        raise NetworkError(f"the weights {name!r} hold an integer that is no double: convert them to float64")
    return doubles


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
            raise NetworkError(f"weights[{i}] has the shape {value.shape}; expected are matrices (inputs, outputs), each "
                               "followed by its bias: [W1, b1, W2, b2, ...]. Export networks with other layers to ONNX")
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
            raise NetworkError(f"{key!r} with the shape {value.shape} belongs to no dense layer; a state_dict says nothing else "
                               "about a network: give the torch.nn.Sequential itself, or export it to ONNX")
    return _dense([(w, b) for w, b in pairs.values()], activations, "state_dict")


def _dense(pairs: list[tuple[np.ndarray, np.ndarray | None]], activations: Any, name: str) -> Network:
    if not pairs:
        raise NetworkError(f"the {name} are empty: there is no layer")
    words = _activations(activations, len(pairs))
    chain, size = LayerChain(), pairs[0][0].shape[1]
    for i, ((weights, bias), word) in enumerate(zip(pairs, words, strict=True)):
        if weights.shape[1] != size or (bias is not None and bias.shape != weights.shape[:1]):
            raise NetworkError(f"layer {i} has a matrix for {weights.shape[1]} inputs and {weights.shape[0]} outputs, and a bias "
                               f"of {'no' if bias is None else len(bias)} numbers, where {size} inputs come in")
        size = weights.shape[0]
        chain.add("Dense", {"weight": weights, "bias": bias})
        if word is not None and word != "linear":
            chain.add(NAMES[word][0], **NAMES[word][1])
    return chain.network((pairs[0][0].shape[1],), name, False)


def _activations(given: Any, layers: int) -> list[str | None]:
    """A word for each layer: one for all but the last, or a list with or without the last one."""
    if given is None:
        raise NetworkError(f"weights alone do not say which activations there are: give activations=, one for each of the "
                           f"{layers} layers or one for all but the last, among {', '.join(NAMES)}")
    words = [given] * (layers - 1) if isinstance(given, str) else list(given)
    words = [*words, None] if len(words) == layers - 1 else words
    if len(words) != layers:
        raise NetworkError(f"there are {layers} layers and {len(words)} activations: give one for each, or for all but the last")
    for word in (given, *words) if isinstance(given, str) else words:
        if word is not None and word not in NAMES:
            raise NetworkError(f"the activation {word!r} is not known; known are {', '.join(NAMES)}, and None for none")
    return words
