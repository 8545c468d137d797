"""Networks given as a torch.nn.Sequential. Torch itself is not imported: its modules are known by their names."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from infimum.errors import NetworkError
from infimum.networks.layers import SELU, Chain, array_of
from infimum.networks.network import Network


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
        more = {"count_include_pad": int(m.count_include_pad)} if op == "AveragePool" else \
            {"dilations": _several(m.dilation, axes)}
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
    "GELU": _simple("Gelu", approximate="approximate"), "SiLU": _simple("Swish"),
    "SELU": lambda chain, m: chain.add("Selu", **SELU),
    "Mish": _simple("Mish"), "Softsign": _simple("Softsign"), "Softmax": _simple("Softmax", axis="dim"),
    "LogSoftmax": _simple("LogSoftmax", axis="dim"), "Softplus": _softplus, "Dropout": _simple("Identity"),
    "Identity": _simple("Identity"), "Hardtanh": lambda chain, m: chain.add(
        "Clip", {"min": np.array(float(m.min_val)), "max": np.array(float(m.max_val))}),
    "ReLU6": lambda chain, m: chain.add("Clip", {"min": np.array(0.0), "max": np.array(6.0)}),
}
