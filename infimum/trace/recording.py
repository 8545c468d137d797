"""The calls of NumPy that a traced function made, in their order, so that they can be repeated with plain numbers.

An expression is simplified while it is made. To find out whether a function does the same when it is called with numbers, its
calls are also kept as they were: a `RecordedCall` is a function with its arguments, of which some are other steps. Repeated with
doubles, the steps round exactly as the function itself does, so that even cancellation makes no difference.
"""

import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

_SHARED_BYTES = 1 << 10  # bytes of a constant array from which on equal copies are shared
_NONE: Mapping[str, Any] = {}
_CONDITIONS = frozenset(("less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "lt", "le", "gt", "ge", "eq",
                         "ne", "isnan", "isinf", "isfinite", "isclose", "signbit", "array_equal", "where"))


class RecordedCall:
    """A call: `function(*args, **kwargs)` with frozen arguments. `place`: of an operator, the code and the offset of the
    instruction that applied it."""

    __slots__ = ("function", "args", "kwargs", "place")

    def __init__(self, function: Callable[..., Any], args: tuple, kwargs: Mapping[str, Any], place: tuple | None = None):
        self.function, self.args, self.kwargs, self.place = function, args, kwargs, place


class Input:
    """Stands for the argument of the function."""

    __slots__ = ()


INPUT = Input()


class RecordedArray:
    """An array that was put together from frozen values."""

    __slots__ = ("elements", "shape")

    def __init__(self, elements: list, shape: tuple[int, ...]):
        self.elements, self.shape = elements, shape


class RecordedValue:
    """A traced value. `step` is how it was made, a frozen value; None for a constant made of exact numbers elsewhere."""

    __slots__ = ("step",)

    step: Any


class Recorder:
    """The recording of one call of the user's function. `busy`: a rule is at work, whose own calls are none of the user's."""

    __slots__ = ("busy", "_copies")

    def __init__(self) -> None:
        self.busy = False
        self._copies: dict[int, tuple[np.ndarray, np.ndarray]] = {}  # of constant arrays; the first keeps the id alive

    def frozen(self, value: Any) -> Any:
        """The value as it is now: later changes of lists and arrays do not reach it."""
        kind = type(value)
        if kind is float or kind is int or value is None:
            return value
        if isinstance(value, RecordedValue):
            return value if value.step is None else value.step
        if isinstance(value, np.ndarray):
            if value.dtype == object:
                return RecordedArray([self.frozen(v) for v in value.flat], value.shape)
            return self._copy(value)
        if kind is tuple or kind is list:
            return kind([self.frozen(v) for v in value])
        if kind is dict:
            return {key: self.frozen(v) for key, v in value.items()}
        return value

    def _copy(self, array: np.ndarray) -> np.ndarray:
        if array.nbytes < _SHARED_BYTES:
            return array.copy()
        known = self._copies.get(id(array))
        if known is None or not np.array_equal(known[1], array):
            known = self._copies[id(array)] = array, array.copy(order="K")
        return known[1]


_active: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


def tracing() -> Recorder | None:
    """The recorder, if code of the user's function is running that is traced; None inside a rule."""
    recorder = _active.get()
    return None if recorder is None or recorder.busy else recorder


@contextmanager
def recording() -> Iterator[Recorder]:
    """Inside, what is done with traced values is recorded."""
    token = _active.set(Recorder())
    try:
        yield _active.get()
    finally:
        _active.reset(token)


def recorded(rule: Callable[[], Any], function: Callable[..., Any], args: tuple, kwargs: Mapping[str, Any] | None = None,
             place: tuple | None = None) -> Any:
    """rule(), the traced values that stand for function(*args, **kwargs)."""
    recorder = _active.get()
    if recorder is None or recorder.busy:
        return rule()
    recorder.busy = True
    try:
        step = RecordedCall(function, recorder.frozen(args), recorder.frozen(kwargs) if kwargs else _NONE, place)
        result = rule()
    finally:
        recorder.busy = False
    if isinstance(result, RecordedValue):
        if result.step is None and all(result is not a for a in args):  # some functions give an argument back as it is
            result.step = step
    elif isinstance(result, (list, tuple)):
        for i, part in enumerate(result):
            if isinstance(part, RecordedValue) and part.step is None:
                part.step = RecordedCall(operator.getitem, (step, i), _NONE)
    return result


def as_numbers(value: Any) -> Any:
    """Plain values as doubles."""
    return np.asarray(value, dtype=np.float64)[()]


def as_type(value: Any, dtype: Any) -> Any:
    """A plain value, converted."""
    return np.asarray(value).astype(dtype)[()]


def name_of(function: Any) -> str:
    """The name of what a step calls: of a ufunc's method, that of the ufunc."""
    owner = getattr(function, "__self__", None)
    return getattr(owner if isinstance(owner, np.ufunc) else function, "__name__", "")


class Recording:
    """The steps of a function, of which the last made what it returned."""

    def __init__(self, returned: Any):
        self._steps: list[RecordedCall] = []
        self._places: dict[int, int] = {}
        self._returned = returned
        for step in _in_order(returned):
            self._places[id(step)] = len(self._steps)
            self._steps.append(step)

    @property
    def has_conditions(self) -> bool:
        """Does a step compare, or ask whether a number is one?"""
        return any(name_of(step.function) in _CONDITIONS for step in self._steps)

    def replay(self, x: np.ndarray, altered: Callable[[RecordedCall, Any, list, dict], Any] | None = None) -> Any:
        """What the steps return for plain numbers x. `altered(step, value, args, kwargs)` may put another value in its place."""
        values: list[Any] = []
        for step in self._steps:
            args = [self._value(a, values, x) for a in step.args]
            kwargs = {name: self._value(a, values, x) for name, a in step.kwargs.items()} if step.kwargs else {}
            value = step.function(*args, **kwargs)
            values.append(value if altered is None else altered(step, value, args, kwargs))
        return self._value(self._returned, values, x)

    def _value(self, frozen: Any, values: list[Any], x: np.ndarray) -> Any:
        kind = type(frozen)
        if kind is RecordedCall:
            return values[self._places[id(frozen)]]
        if kind is float or kind is int:
            return frozen
        if kind is Input:
            return x
        if kind is RecordedArray:
            return np.array([self._value(v, values, x) for v in frozen.elements]).reshape(frozen.shape)
        if kind is list or kind is tuple:
            return kind([self._value(v, values, x) for v in frozen])
        return frozen


def _in_order(returned: Any) -> Iterator[RecordedCall]:
    """All steps that a frozen value is made of, arguments before users."""
    seen: set[int] = set()
    stack: list[tuple[Any, bool]] = [(returned, False)]
    while stack:
        value, ready = stack.pop()
        if ready:
            yield value
        elif type(value) is RecordedCall:
            if id(value) not in seen:
                seen.add(id(value))
                stack.append((value, True))
                stack += [(a, False) for a in (*value.args, *value.kwargs.values())]
        elif type(value) is RecordedArray:
            stack += [(a, False) for a in value.elements]
        elif type(value) in (list, tuple):
            stack += [(a, False) for a in value]
        elif type(value) is dict:
            stack += [(a, False) for a in value.values()]
