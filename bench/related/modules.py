"""Networks of modules: a stand-in for torch, as far as infimum reads it, whose modules also compute with NumPy."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np

import infimum
from bench.related.asking import Judgement, Refused, refusing
from bench.related.draws import Draw

_CLOSE = 1e-9  # of the size of an output: what NumPy may round


class Module:
    """What all modules have. A hook changes what `forward` returns."""

    training = False

    def __init__(self) -> None:
        self._forward_hooks: dict[int, Any] = {}
        self._forward_pre_hooks: dict[int, Any] = {}

    def __call__(self, x: np.ndarray) -> np.ndarray:
        x = self.forward(x)
        for hook in self._forward_hooks.values():
            x = hook(self, None, x)
        return x


class Linear(Module):
    def __init__(self, weight: np.ndarray, bias: np.ndarray):
        super().__init__()
        self.weight, self.bias = weight, bias

    def forward(self, x: np.ndarray) -> np.ndarray:
        return x @ self.weight.T + self.bias


class Tanh(Module):
    def forward(self, x: np.ndarray) -> np.ndarray:
        return np.tanh(x)


class ReLU(Module):
    def forward(self, x: np.ndarray) -> np.ndarray:
        return np.maximum(x, 0.0)


class Sequential(Module):
    """Modules in turn."""

    def __init__(self, *parts: Module):
        super().__init__()
        self.parts = parts

    def __iter__(self) -> Iterator[Module]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def forward(self, x: np.ndarray) -> np.ndarray:
        for part in self:
            x = part(x)
        return x


for kind in (Linear, Tanh, ReLU, Sequential):  # which torch's own have
    kind.forward.__module__ = "torch.nn.modules"


class Residual(Sequential):
    """A subclass that computes something else than its modules in turn."""

    def forward(self, x: np.ndarray) -> np.ndarray:
        return super().forward(x) + x[:1]


@contextmanager
def stand_in() -> Iterator[None]:
    """These classes are those of torch."""
    usual = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "torch"}
    torch, torch.nn = (ModuleType(name) for name in ("torch", "torch.nn"))
    for kind in (Module, Linear, Tanh, ReLU, Sequential):
        setattr(torch.nn, kind.__name__, kind)
    for name in usual:
        del sys.modules[name]
    sys.modules |= {"torch": torch, "torch.nn": torch.nn}
    try:
        yield
    finally:
        del sys.modules["torch"], sys.modules["torch.nn"]
        sys.modules.update(usual)


def of_modules(d: Draw) -> Judgement:
    """A network of modules is read as what it computes, or refused."""
    n, hidden = d.whole(1, 3), d.whole(1, 3)

    def layer(outputs: int, inputs: int) -> Linear:
        return Linear(*(d.rng.integers(-8, 9, shape) / 4.0 for shape in ((outputs, inputs), (outputs,))))
    first, middle, last = layer(hidden, n), d.one_of((Tanh, ReLU))(), layer(1, hidden)
    kind = d.one_of(("plain", "own forward", "hook", "part with an own forward", "hook of a part"))
    net = Residual(first, middle, last) if kind == "own forward" else Sequential(Residual(first, middle), last) \
        if kind == "part with an own forward" else Sequential(first, middle, last)
    for hooked in [net] * (kind == "hook") + [middle] * (kind == "hook of a part"):
        hooked._forward_hooks[0] = lambda module, given, found: 2.0 * found + 1.0
    x = d.rng.integers(-4, 5, n) / 4.0
    try:
        with refusing(), stand_in():
            at = infimum.enclose(infimum.network(net), np.stack([x, x], axis=1))
    except Refused:
        return Judgement(kind != "plain", note="refused")
    expected = float(net(x)[0])
    room = _CLOSE * max(1.0, abs(expected))
    wrong = "" if at.lo - room <= expected <= at.hi + room else \
        f"{kind}: the output at {x.tolist()!r} is {expected!r}, and it is enclosed in {at}"
    return Judgement(True, wrong, "read")
