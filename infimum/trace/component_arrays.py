"""Components: an array of traced numbers, one by one, that takes assignments as NumPy's own arrays do.

It is an array of objects, so that views, fancy indices and in-place changes are NumPy's. What NumPy would compute with objects
one by one is recorded on whole arrays instead; an array without a traced number in it is an array of doubles to all functions.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from infimum.expr import build as b
from infimum.expr.node import Expr
from infimum.expr.real import Real
from infimum.trace.integer_arrays import may_be_counts
from infimum.trace.recording import as_numbers, recorded
from infimum.trace.refusals import refuse_argument
from infimum.trace.tracer import LARGEST_OBJECT_ARRAY, Tracer, has_tracer, joined, lift, refuse_traced_index
from infimum.trace.user_source import fail, user_line

# methods that only read; those that change an array or show a part of it are NumPy's own
_READING = ("sum", "prod", "mean", "var", "std", "min", "max", "cumsum", "cumprod", "dot", "clip", "round", "trace", "any", "all",
            "argmin", "argmax", "argsort", "nonzero", "searchsorted")
_CHOOSING = frozenset((np.where, np.select, np.count_nonzero))  # may give integers where floats came in
_WRITING = frozenset((np.copyto, np.fill_diagonal, np.put, np.place, np.putmask, np.put_along_axis))


class Components(np.ndarray):
    """See the module."""

    takes_assignments = True

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        if method == "at":
            target, at, *values = inputs
            ufunc.at(target.view(np.ndarray), at, *map(objects_of, values))
            return None
        if out is not None and kwargs.get("where", True) is not True:
            refuse_argument(f"np.{ufunc.__name__}", "where")
        result = getattr(ufunc, method)(*map(plain, inputs), **{key: plain(value) for key, value in kwargs.items()})
        if out is None or all(target is None for target in out):
            return assignable(result, floats=True)
        for target, value in zip(out, result if isinstance(result, tuple) else (result,), strict=True):
            target[...] = value
        return out if isinstance(result, tuple) else out[0]

    def __array_function__(self, func: Any, types: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        if func in _WRITING:
            args = tuple(objects_of(a) if isinstance(a, Tracer) else a for a in args)
            return self._by_numpy(func, args, kwargs)
        given, options = [plain(a) for a in args], {key: plain(value) for key, value in kwargs.items()}
        result = func(*given, **options)
        if shows_a_part_of(result, [*given, *options.values()]):  # as NumPy's views do: so it must show these elements
            return self._by_numpy(func, args, kwargs)
        return assignable(result, floats=func not in _CHOOSING)

    def _by_numpy(self, func: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """What NumPy does with the objects themselves."""
        return same_elements(super().__array_function__(func, (Components,), args, kwargs))

    def conjugate(self) -> "Components":
        return self

    conj = conjugate

    def __getitem__(self, key: Any) -> Any:
        refuse_traced_index(key)
        return _as_numpy_gives(super().__getitem__(key))

    def __iter__(self) -> Any:
        return map(_as_numpy_gives, super().__iter__())

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, Tracer) and key.is_truth:
            self._set_where(key, value)
            return
        refuse_traced_index(key)
        objects = objects_of(value)
        super().__setitem__(key, objects if objects.ndim else objects[()])  # an array of no axes would be stored as an object

    def _set_where(self, condition: Tracer, value: Any) -> None:
        """y[condition] = number: chosen element by element."""
        if condition.shape != self.shape or np.shape(value):
            fail("An array was assigned to the elements that a traced condition selects; how many these are is not known.",
                 "Write y = np.where(condition, a, y).")
        super().__setitem__(..., objects_of(np.where(condition, value, plain(self))))

    def fill(self, value: Any) -> None:
        self[...] = value

    def astype(self, dtype: Any, **options: Any) -> Any:
        return self.copy() if np.dtype(dtype) == np.float64 else plain(self).astype(dtype, **options)

    def __bool__(self) -> bool:
        return bool(plain(self))

    def __float__(self) -> float:
        return float(plain(self))


def _reading(name: str) -> Any:
    def method(self: Components, *args: Any, **kwargs: Any) -> Any:
        return assignable(getattr(plain(self), name)(*map(plain, args), **kwargs), floats=True)
    return method


for _name in _READING:
    setattr(Components, _name, _reading(_name))


def _as_numpy_gives(value: Any) -> Any:
    """An element of an array of doubles is a float64, also where NumPy stored another type (`y.flat[0] = np.float32(0.1)`)."""
    return np.float64(value) if isinstance(value, (float, int, np.generic)) else value


def components_of(value: Any) -> Components:
    """A new array of the components of a traced or plain array."""
    return np.array(objects_of(value)).view(Components)


def assignable(result: Any, floats: bool = False) -> Any:
    """A new array that a function made, such that traced values can be assigned to it; everything else as it is.

    So are arrays that NumPy may hold as integers, which would cut what is assigned to them; unless they are known to be `floats`.
    """
    if isinstance(result, (list, tuple)) and type(result) in (list, tuple):
        return type(result)(assignable(part, floats) for part in result)
    if isinstance(result, Tracer):
        numbers = bool(result.shape) and not result.is_truth and (floats or not may_be_counts(result.expr))
    else:
        numbers = type(result) is np.ndarray and (result.dtype == np.float64 or (result.dtype == object and has_tracer(result)))
    return components_of(result) if numbers and result.size <= LARGEST_OBJECT_ARRAY else result


def same_elements(result: Any) -> Any:
    """Arrays of objects that NumPy gave back without our type, as Components with the same memory."""
    if type(result) in (list, tuple):
        return type(result)(map(same_elements, result))
    return result.view(Components) if type(result) is np.ndarray and result.dtype == object else result


def shows_a_part_of(result: Any, given: Iterable[Any]) -> bool:
    """Is the result, or a part of it, one of the given arrays or a view of one?"""
    if isinstance(result, (list, tuple)):
        return any(shows_a_part_of(part, given) for part in result)
    arrays = [a for value in given for a in (value if isinstance(value, (list, tuple)) else (value,))]
    if isinstance(result, Tracer):
        return any(a is result or (a is result._root and a is not None) for a in arrays)
    memory = [a.view(np.ndarray) for a in (result, *arrays) if isinstance(a, np.ndarray)]
    return isinstance(result, np.ndarray) and any(np.may_share_memory(memory[0], a) for a in memory[1:])


def objects_of(value: Any) -> np.ndarray:
    """Numbers, plain or traced, as an array of objects: floats, Reals and traced numbers."""
    if isinstance(value, np.ndarray) and value.dtype == object or isinstance(value, (list, tuple)) and has_tracer(value):
        array = np.array(value, dtype=object)
        for i, element in enumerate(array.flat):
            array.flat[i] = _object_of(element)
        return array
    if isinstance(value, Tracer):
        return np.asarray(joined(value), dtype=object) if value.shape else _single(_object_of(value))
    if isinstance(value, Real):
        return _single(value)
    return np.asarray(value, dtype=np.float64).astype(object)


def _object_of(value: Any) -> Any:
    if isinstance(value, Tracer):
        return joined(value) if value.is_truth else value
    return value if isinstance(value, Real) else float(value)


def _single(value: Any) -> np.ndarray:
    array = np.empty((), dtype=object)
    array[()] = value
    return array


def plain(value: Any) -> Any:
    """The value with all Components in it as traced arrays, or as arrays of doubles where nothing in them is traced."""
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(map(plain, value))
    if not isinstance(value, Components):
        return value
    if value.dtype != object or not (has_tracer(value) or any(isinstance(v, Real) for v in value.flat)):
        doubles = np.array(value, dtype=value.dtype if value.dtype != object else np.float64)
        doubles.flags.writeable = False  # what a function wrote there would be lost
        return doubles
    return recorded(lambda: Tracer(_whole(value) if value.size > 1 else lift(value)), as_numbers, (value,))


def _whole(value: Components) -> Expr:
    """Components that are all those of one array, in order, are that array."""
    first = value.flat[0]
    base = _component(first, 0)
    if base is not None and base.size == value.size and all(_component(v, i) is base for i, v in enumerate(value.flat)):
        return b.reshape(base, value.shape, user_line())
    return lift(np.asarray(value))


def _component(value: Any, i: int) -> Expr | None:
    """The vector of which a value is component number i."""
    node = value.expr if isinstance(value, Tracer) else None
    while node is not None and node.op == "reshape":
        node, = node.args
    is_slice = node is not None and node.op == "slice" and node["starts"] == (i,) and node["counts"] == (1,)
    return node.args[0] if is_slice else None
