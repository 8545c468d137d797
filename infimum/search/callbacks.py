"""Callbacks: what they see of a run, and the forms in which scipy's users write them."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from infimum.errors import OptionError
from infimum.support.lazy import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """What a callback sees: the best point and value so far (an estimate), the proved bounds, the evaluations, the time."""

    x: np.ndarray
    fun: float
    nfev: int
    seconds: float
    lower: float
    upper: float = np.inf


# the parameters of scipy's callbacks; `convergence`, `context` and `accept` say nothing about a proof and never change
_BY_NAME: dict[str, Callable[[Snapshot], Any]] = {
    "x": lambda s: s.x, "xk": lambda s: s.x, "f": lambda s: s.fun, "fun": lambda s: s.fun, "convergence": lambda s: 0.0,
    "context": lambda s: 0, "accept": lambda s: True, "intermediate_result": lambda s: s,
}
_FIRST = ("x", "xk", "intermediate_result")  # what tells such a callback from callback(snapshot)
_FORMS = "callback(snapshot), or in scipy's forms callback(xk), callback(intermediate_result), callback(xk, convergence), " \
         "callback(x, f, context)"


def read_callback(callback: Any) -> Callable[[Snapshot], Any] | None:
    """The callback as a function of a snapshot, whichever of the known forms it has.

    >>> read_callback(lambda xk, convergence: xk.tolist())(Snapshot(np.zeros(2), 1.0, 3, 0.1, -1.0))
    [0.0, 0.0]
    """
    if callback is None:
        return None
    if not callable(callback):
        raise OptionError(f"callback must be a function, {_FORMS}; not {callback!r}")
    try:
        parameters = list(inspect.signature(callback).parameters.values())
    except (TypeError, ValueError):  # a builtin without a signature
        return callback
    needed = [p for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if needed and needed[0].name in _FIRST and all(p.name in _BY_NAME for p in needed):
        return _named(callback, needed)
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL)]
    if len(needed) > 1 or not positional or any(p.kind is p.KEYWORD_ONLY for p in needed):
        raise OptionError(f"the callback has the parameters ({', '.join(p.name for p in parameters)}); it must have one of the "
                          f"forms {_FORMS}")
    return callback


def _named(callback: Callable, parameters: list[inspect.Parameter]) -> Callable[[Snapshot], Any]:
    in_order = [_BY_NAME[p.name] for p in parameters if p.kind is not p.KEYWORD_ONLY]
    by_name = {p.name: _BY_NAME[p.name] for p in parameters if p.kind is p.KEYWORD_ONLY}
    return lambda snapshot: callback(*(read(snapshot) for read in in_order),
                                     **{name: read(snapshot) for name, read in by_name.items()})
