"""Networks given as a torch.nn.Sequential. Torch itself is not imported: whoever has such a module has imported it."""

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from operator import index
from typing import Any, NamedTuple, NoReturn

import numpy as np

from infimum.errors import NetworkError
from infimum.networks.layers import SELU, LayerChain, array_of
from infimum.networks.network import Network
from infimum.networks.values import refuse

_EXPORT = "export the network to ONNX (torch.onnx.export)"
_HOOKS = ("_forward_hooks", "_forward_pre_hooks")
_GLOBAL_HOOKS = ("_global_forward_hooks", "_global_forward_pre_hooks")
_SOFTPLUS_ERROR = 2.1e-9  # by which torch's softplus, a straight line above its threshold, may differ from log(1 + exp(x))


def is_module(value: Any) -> bool:
    """Is it a module of torch, of whatever class?"""
    base = getattr(_torch_nn(), "Module", None)
    return base is not None and isinstance(value, base)


def from_modules(module: Any, shape: Sequence[int] | None) -> Network:
    """The modules of a torch.nn.Sequential in turn, called with a batch of one."""
    if _kind(module) != "Sequential":
        _refuse_class(module, "the network")
    parts = list(_parts(module, ""))
    if not parts:
        raise NetworkError("the torch.nn.Sequential has no modules")
    chain, shape = LayerChain(), _shape(parts) if shape is None else shape
    for part in parts:
        try:
            MODULES[part.kind](chain, part.module)
        except NetworkError as error:
            raise NetworkError(f"{part}: {error}") from error
    return chain.network(_sizes(shape), "Sequential", True)


class _SequentialModule(NamedTuple):
    """A module, its place in the torch.nn.Sequential and its class."""

    place: str
    module: Any
    kind: str

    def __str__(self) -> str:
        return f"module {self.place} ({self.kind})" if self.place else f"the torch.nn.{self.kind}"


def _parts(sequential: Any, above: str) -> Iterator[_SequentialModule]:
    """The modules within, also those within other torch.nn.Sequential. One that is there twice is called twice."""
    _check_call(_SequentialModule(above.rstrip("."), sequential, "Sequential"))
    for i, module in enumerate(sequential):
        kind, place = _kind(module), f"{above}{i}"
        if kind == "Sequential":
            yield from _parts(module, f"{place}.")
        elif kind in MODULES:
            _check_call(_SequentialModule(place, module, kind))
            yield _SequentialModule(place, module, kind)
        else:
            _refuse_class(module, f"module {place} of the torch.nn.Sequential")


def _torch_nn() -> Any:
    return getattr(sys.modules.get("torch"), "nn", None)


def _kind(module: Any) -> str | None:
    """The name of torch's own class of a module, such as "Linear"; None for every other class, subclasses among them, which may
    compute something else."""
    name = type(module).__name__
    return name if getattr(_torch_nn(), name, None) is type(module) else None


def _refuse_class(module: Any, what: str) -> NoReturn:
    cls, kind = type(module), _kind(module)
    base = next((b.__name__ for b in cls.__mro__ if b.__name__ in (*MODULES, "Sequential") and b is not cls), None)
    if kind is None and base is not None:
        cure = "If it only has modules, give torch.nn.Sequential(*module)" if base == "Sequential" else \
            "Remove what was added to it (torch.nn.utils.parametrize.remove_parametrizations)"
        raise NetworkError(f"{what} is a {cls.__name__}, a subclass of torch.nn.{base} that may compute something else. {cure}; "
                           f"otherwise {_EXPORT}")
    raise NetworkError(f"{what} is a {cls.__name__}, which is not known; known are {', '.join(sorted(MODULES))}. Otherwise "
                       f"{_EXPORT}")


def _check_call(part: _SequentialModule) -> None:
    """Refuses a module that computes something else than its class says, or will do so in inference."""
    module, shared = part.module, sys.modules.get("torch.nn.modules.module")
    if any(getattr(module, name, None) for name in _HOOKS) or any(getattr(shared, name, None) for name in _GLOBAL_HOOKS):
        raise NetworkError(f"{part} has forward hooks, which may change what it computes: remove them (handle.remove(), "
                           f"remove_weight_norm, prune.remove), or {_EXPORT}")
    forward = getattr(type(module), "forward", None)
    if "forward" in vars(module) or not str(getattr(forward, "__module__", "")).startswith("torch.nn."):
        raise NetworkError(f"{part} has a forward of its own: {_EXPORT}")
    if part.kind in _TRAINED and module.training:
        raise NetworkError(f"{part} is in training mode, in which it computes something else: call module.eval() first")


def _shape(parts: list[_SequentialModule]) -> tuple[int, ...]:
    first = next((part for part in parts if part.kind not in _PASSED), parts[-1])
    if first.kind != "Linear":
        raise NetworkError(f"the shape of the input does not follow from its first module, {first.kind}: give "
                           "infimum.network(module, input_shape=(channels, height, width)), without the batch axis")
    return (np.shape(array_of(first.module.weight, "weight"))[1],)


def _sizes(shape: Any) -> tuple[int, ...]:
    try:
        return tuple(index(size) for size in shape)
    except TypeError:
        raise NetworkError(f"input_shape must be a tuple of integers, without the batch axis, not {shape!r}") from None


# ---- modules
def _weights(module: Any, *names: str) -> dict[str, np.ndarray | None]:
    return {name: None if getattr(module, name) is None else array_of(getattr(module, name), name) for name in names}


def _linear(chain: LayerChain, m: Any) -> None:
    chain.add("Linear", _weights(m, "weight", "bias"))


def _several(value: Any, axes: int) -> list[int]:
    return [int(v) for v in value] if isinstance(value, (tuple, list)) else [int(value)] * axes


def _convolution(axes: int) -> Callable[[LayerChain, Any], None]:
    def add(chain: LayerChain, m: Any) -> None:
        if m.padding_mode != "zeros":
            refuse(f"the padding_mode {m.padding_mode!r} is not known; known is 'zeros'")
        words = {"same": {"auto_pad": "SAME_UPPER"}, "valid": {}}
        pads = words[m.padding] if isinstance(m.padding, str) else {"pads": _several(m.padding, axes) * 2}
        chain.add("Conv", _weights(m, "weight", "bias"), group=m.groups, strides=_several(m.stride, axes),
                  dilations=_several(m.dilation, axes), **pads)
    return add


def _batch_norm(chain: LayerChain, m: Any) -> None:
    if m.running_mean is None or m.running_var is None:
        refuse("it has no running statistics, and depends on the whole batch")
    found = _weights(m, "weight", "bias", "running_mean", "running_var")
    count = len(found["running_mean"])
    found["weight"] = np.ones(count) if found["weight"] is None else found["weight"]
    found["bias"] = np.zeros(count) if found["bias"] is None else found["bias"]
    chain.add("BatchNormalization", found, epsilon=float(m.eps))


def _pool(op: str, axes: int) -> Callable[[LayerChain, Any], None]:
    def add(chain: LayerChain, m: Any) -> None:
        more = {"count_include_pad": int(m.count_include_pad)} if op == "AveragePool" else \
            {"dilations": _several(m.dilation, axes)}
        if getattr(m, "divisor_override", None) is not None or getattr(m, "return_indices", False):
            refuse("divisor_override and return_indices are not known")
        stride = m.kernel_size if m.stride is None else m.stride
        chain.add(op, kernel_shape=_several(m.kernel_size, axes), strides=_several(stride, axes),
                  pads=_several(m.padding, axes) * 2, ceil_mode=int(m.ceil_mode), **more)
    return add


def _adaptive(chain: LayerChain, m: Any) -> None:
    sizes = m.output_size if isinstance(m.output_size, (tuple, list)) else [m.output_size]
    if any(size != 1 for size in sizes):
        refuse(f"pooling to the size {m.output_size} is not known; known is 1")
    chain.add("GlobalAveragePool")


def _softplus(chain: LayerChain, m: Any) -> None:
    beta = np.array(float(m.beta))
    if math.log1p(math.exp(-max(m.threshold, 0))) > _SOFTPLUS_ERROR * abs(beta):
        refuse(f"above the threshold {m.threshold} torch replaces it by a straight line; known are thresholds that change it by "
               f"{_SOFTPLUS_ERROR} at most, such as the default 20 for beta = 1")
    if beta != 1.0:
        chain.add("Mul", {"beta": beta})
    chain.add("Softplus")
    if beta != 1.0:
        chain.add("Div", {"beta": beta})


def _flatten(chain: LayerChain, m: Any) -> None:
    if (m.start_dim, m.end_dim) != (1, -1):
        refuse(f"from axis {m.start_dim} to {m.end_dim} is not known; known is 1 to -1")
    chain.add("Flatten")


def _along(op: str) -> Callable[[LayerChain, Any], None]:
    def add(chain: LayerChain, m: Any) -> None:
        chain.add(op, axis=refuse("its dim is missing: give torch.nn.Softmax(dim=1)") if m.dim is None else int(m.dim))
    return add


def _simple(op: str, **attributes: str) -> Callable[[LayerChain, Any], None]:
    """A module that is one operator; attribute of ONNX = attribute of the module, a number."""
    return lambda chain, m: chain.add(op, **{name: float(getattr(m, own)) for name, own in attributes.items()})


_PASSED = ("Dropout", "Identity")                     # the input passes through
_TRAINED = ("Dropout", "BatchNorm1d", "BatchNorm2d")  # in training they compute something else
MODULES: dict[str, Callable[[LayerChain, Any], None]] = {
    "Linear": _linear, "Conv1d": _convolution(1), "Conv2d": _convolution(2), "BatchNorm1d": _batch_norm,
    "BatchNorm2d": _batch_norm, "Flatten": _flatten, "AvgPool1d": _pool("AveragePool", 1), "AvgPool2d": _pool("AveragePool", 2),
    "MaxPool1d": _pool("MaxPool", 1), "MaxPool2d": _pool("MaxPool", 2), "AdaptiveAvgPool1d": _adaptive,
    "AdaptiveAvgPool2d": _adaptive, "Tanh": _simple("Tanh"), "Sigmoid": _simple("Sigmoid"), "ReLU": _simple("Relu"),
    "LeakyReLU": _simple("LeakyRelu", alpha="negative_slope"), "ELU": _simple("Elu", alpha="alpha"),
    "GELU": lambda chain, m: chain.add("Gelu", approximate=m.approximate), "SiLU": _simple("Swish"),
    "SELU": lambda chain, m: chain.add("Selu", **SELU),
    "Mish": _simple("Mish"), "Softsign": _simple("Softsign"), "Softmax": _along("Softmax"),
    "LogSoftmax": _along("LogSoftmax"), "Softplus": _softplus, "Dropout": _simple("Identity"),
    "Identity": _simple("Identity"), "Hardtanh": lambda chain, m: chain.add(
        "Clip", {"min": np.array(float(m.min_val)), "max": np.array(float(m.max_val))}),
    "ReLU6": lambda chain, m: chain.add("Clip", {"min": np.array(0.0), "max": np.array(6.0)}),
}
