"""The model: a function of the independent variables and of parameters, which are known by the names in its signature."""

import inspect
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from infimum.errors import OptionError
from infimum.support.lazy import dataclass

_ROLE = "the loss of a fit, as a function of the parameters x, with the model "
_CURE = "The model looks at its arguments in a way that tracing does not see: their types, a count of calls, a file, the time, " \
        "random numbers. Compute what it returns from x and the parameters with NumPy alone."
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """`function(x, *parameters)`. `names`: its parameters in their order; `by_keyword`: how many of them, the last ones, can be
    given by name alone; `defaults`: the numbers that the signature has for some of them; `variable`: what it calls x.

    >>> def wave(x, amplitude, frequency=1.0, *, phase=0.0, kind="sine"): ...
    >>> Model.read(wave)
    Model(wave: amplitude, frequency, phase)
    >>> Model.read(lambda x, *c: 0.0, count=2).names
    ('c0', 'c1')
    """

    name: str
    function: Callable
    names: tuple[str, ...]
    by_keyword: int
    defaults: dict[str, float]
    variable: str = "x"

    @classmethod
    def read(cls, function: Any, count: int | None = None) -> "Model":
        """From a function; `count` is the number of parameters where the signature says `*parameters`."""
        if hasattr(function, "func") and hasattr(function, "independent_vars"):
            raise OptionError("the model is an lmfit Model: give the function behind it, fit(model.func, x, y, bounds=params)")
        if not callable(function):
            raise OptionError(f"the model must be a function of x and its parameters, not {function!r}")
        given = _signature(function)
        set_before = function.keywords if isinstance(function, partial) else {}
        places = [p for p in given if p.kind in _POSITIONAL]
        every = [p for p in given if p.kind is inspect.Parameter.VAR_POSITIONAL]
        if not places and not every:
            raise OptionError(f"the model {_name(function)} takes no argument by its place: it is called as "
                              "model(x, *parameters), with the independent variable first")
        positional = [p.name for p in places[1:] if _is_parameter(p, set_before)]
        if [p.name for p in places[1:1 + len(positional)]] != positional:
            raise OptionError(f"the model {_name(function)} has an option between its parameters; put it behind them, "
                              "or bind it with functools.partial")
        if every:
            if count is None:
                raise OptionError(f"the model {_name(function)} has *{every[0].name}, so its signature does not tell how many "
                                  "parameters there are: give bounds as a list of (low, high) pairs, one for each")
            positional += [f"{every[0].name}{i}" for i in range(count - len(positional))]
        keywords = [p.name for p in given if p.kind is inspect.Parameter.KEYWORD_ONLY and _is_parameter(p, set_before)]
        if not positional and not keywords:
            raise OptionError(f"the model {_name(function)} has no parameters to fit: it is called as model(x, *parameters)")
        defaults = {p.name: float(p.default) for p in given if p.name in {*positional, *keywords} and _is_number(p.default)}
        name = _name(function)
        return cls("model" if name == "<lambda>" else name, function, (*positional, *keywords), len(keywords), defaults,
                   places[0].name if places else "x")

    def arguments(self, values: Sequence) -> tuple[list, dict[str, Any]]:
        """The parameters as the function takes them: by place, by name."""
        places = len(self.names) - self.by_keyword
        return list(values[:places]), dict(zip(self.names[places:], values[places:], strict=True))

    def named_in(self, function: Callable) -> Callable:
        """A function of ours that calls the model: errors about it name the lines of the model."""
        own = self.function
        while isinstance(own, partial):
            own = own.func
        function.function, function.role, function.cure = own, _ROLE, _CURE
        return function

    def __repr__(self) -> str:
        return f"Model({self.name}: {', '.join(self.names)})"


def plain_call(model: Model, x: Any, values: Sequence) -> np.ndarray | None:
    """The responses for plain numbers, to look at; None where they are not all finite, or where there are none.

    What a model raises here it raises again when it is traced, and is told then.
    """
    positional, by_name = model.arguments(list(values))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            found = np.asarray(model.function(x, *positional, **by_name), dtype=np.float64)
        except Exception:
            return None
    return found if found.size and np.isfinite(found).all() else None


def _signature(function: Callable) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise OptionError(f"{function!r} does not tell its parameters; wrap it: `def model(x, a, b): return ...`") from None


def _is_parameter(p: inspect.Parameter, set_before: dict[str, Any]) -> bool:
    """A name without a value, or with a number; anything else (a text, a truth value, None) is an option of the model's."""
    return p.name not in set_before and (p.default is inspect.Parameter.empty or _is_number(p.default))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _name(function: Any) -> str:
    return getattr(function, "__name__", None) or type(function).__name__
