"""infimum.network: from a file, a module or weights to a function."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from infimum.errors import NetworkError, OptionError
from infimum.networks.layers import from_state_dict, from_weights
from infimum.networks.network import Network
from infimum.networks.onnx_file import read_onnx
from infimum.networks.torch_modules import from_modules, is_module
from infimum.support import environment


@environment.ours
def network(source: Any, *, activations: str | Sequence[str | None] | None = None, input_shape: Sequence[int] | None = None,
            output: str | int | None = None) -> Network:
    """A trained network as a function of NumPy arrays, to be minimised, maximised, enclosed or verified.

    `source` is the path of an ONNX file (needs `pip install infimum[onnx]`); a `torch.nn.Sequential`; its `state_dict()`, if all
    layers are dense, with `activations=`; or a list of NumPy arrays [W1, b1, W2, b2, ...] as Keras' `model.get_weights()` gives
    them, W of the shape (inputs, outputs), with `activations=`: one word for all layers but the last, or a list with one for
    each layer. `input_shape` is that of a torch.nn.Sequential that begins with a convolution, without the batch axis. `output`
    is the name or number of the output of an ONNX file that has several. A batch axis of any size is taken to be 1.

    What is proved about the network is about the real function of its weights as they are; see docs/networks.md.

    >>> net = network([np.array([[1.0], [-2.0]]), np.array([0.5]), np.array([[3.0]]), np.array([0.0])], activations="tanh")
    >>> round(float(net(np.array([0.3, 0.1]))), 6)
    1.611149
    >>> net
    Network weights: (2,) -> (1,), 5 parameters
      layer                input                        output               parameters
      Dense                (2,)                         (1,)                          3
      Tanh                 (1,)                         (1,)
      Dense                (1,)                         (1,)                          2
    """
    if isinstance(source, Network):
        return source
    kind = _kind(source)
    for name, value, kinds in (("activations", activations, ("weights", "state_dict")), ("output", output, ("file",)),
                               ("input_shape", input_shape, ("modules",))):
        if value is not None and kind not in kinds:
            raise OptionError(f"{name}= does not belong to a network that is given as {_KINDS[kind]}, which says that itself")
    if kind == "file":
        return read_onnx(source, output)
    if kind == "state_dict":
        return from_state_dict(source, activations)
    return from_weights(source, activations) if kind == "weights" else from_modules(source, input_shape)


_KINDS = {"file": "an ONNX file", "state_dict": "a state_dict", "weights": "a list of weights",
          "modules": "a torch.nn.Sequential"}


def _kind(source: Any) -> str:
    if isinstance(source, (str, PathLike)):
        return "file"
    if isinstance(source, Mapping):
        return "state_dict"
    if isinstance(source, (list, tuple)) and any(hasattr(v, "detach") for v in source):
        raise NetworkError("a list of torch's tensors does not say whether rows are inputs or outputs: give the state_dict(), in "
                           "which torch's own order is known, or NumPy arrays of the shape (inputs, outputs)")
    if isinstance(source, (list, tuple)) and all(isinstance(v, np.ndarray) for v in source):
        return "weights"
    if is_module(source):
        return "modules"
    if hasattr(source, "get_weights"):  # Keras: what its layers compute is not read
        raise NetworkError(f"a {type(source).__name__} of Keras whose layers are all dense is given as "
                           "infimum.network(model.get_weights(), activations=[...]); export any other to ONNX (tf2onnx)")
    raise NetworkError(f"a network is given as the path of an ONNX file, a torch.nn.Sequential, a state_dict or a list of NumPy "
                       f"arrays, not as a {type(source).__name__}: export it to ONNX (torch.onnx.export, tf2onnx)")
