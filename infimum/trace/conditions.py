"""Conditions in arithmetic: NumPy's truth values are no numbers among themselves (True + True is True, True - True an error).

What type NumPy gives a result is asked of NumPy itself, by the same call on stand-ins of the same types and shapes. Truth
values stay truth values; doubles and 64-bit integers are counted exactly; narrower types wrap or round and are refused.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np

from infimum.expr.real import Real
from infimum.trace.tracer import CONDITIONS, UFUNCS, Tracer, has_tracer, lift, rule_of, truth
from infimum.trace.user_source import fail

_TRUTH = np.dtype(bool)
_COUNT = "Write 1.0 * (x > 0) to count."
_WIDE = _COUNT[:-1] + ", and give other constants as doubles: a.astype(float)."
_LOGIC_OF = {np.add: np.logical_or, np.maximum: np.logical_or, np.multiply: np.logical_and, np.minimum: np.logical_and}


# ---- which values are conditions

def holds_condition(value: Any) -> bool:
    """Is the value a traced condition, or a sequence or object array with one inside?"""
    if isinstance(value, Tracer):
        return value.is_truth
    if isinstance(value, (list, tuple)):
        return any(map(holds_condition, value))
    return isinstance(value, np.ndarray) and value.dtype == object and any(map(holds_condition, value.flat))


def is_boolean(value: Any) -> bool:
    """Would NumPy see truth values and nothing else?"""
    if isinstance(value, Tracer):
        return value.is_truth
    if isinstance(value, (list, tuple)):
        return len(value) > 0 and all(map(is_boolean, value))
    return isinstance(value, (bool, np.bool_)) or (isinstance(value, np.ndarray) and value.dtype == bool)


def traced(value: Any) -> Tracer:
    """The operand as a Tracer that is a condition where NumPy would see truth values."""
    if isinstance(value, Tracer):
        return value
    return Tracer(truth(value) if is_boolean(value) else lift(value))


# ---- stand-ins: plain arrays of the type and shape that NumPy would meet

def _stand_in(value: Any) -> Any:
    if isinstance(value, Tracer):
        return np.broadcast_to(np.True_ if value.is_truth else np.float64(1.0), value.shape)
    if isinstance(value, Real):
        return 1.0
    if isinstance(value, (list, tuple)):
        return type(value)([_stand_in(v) for v in value]) if type(value) in (list, tuple) else [_stand_in(v) for v in value]
    if isinstance(value, np.ndarray) and value.dtype == object:
        if any(is_boolean(v) for v in value.flat):
            fail("Truth values inside an array of objects were combined with a condition.",
                 "Join conditions with np.stack([...]) instead of np.array([...]).")
        return np.ones(value.shape)
    return value


def _as_in_numpy(result: Any, example: Any) -> Any:
    """The result, a condition where the example that NumPy computed holds truth values and a number where it does not."""
    if isinstance(example, (list, tuple)):
        return type(result)(_as_in_numpy(r, e) for r, e in zip(result, example, strict=True))
    if type(result) is not Tracer or not isinstance(example, (np.ndarray, np.generic)):
        return result
    _require_wide(example.dtype)
    if (example.dtype == _TRUTH) == result.is_truth:
        return result
    other = Tracer(truth(result) if example.dtype == _TRUTH else lift(result))
    other._root, other._seen = result._root, result._seen
    return other


def _require_wide(dtype: np.dtype) -> None:
    if dtype not in (_TRUTH, np.int64) and not (dtype.kind == "f" and dtype.itemsize >= 8):
        fail(f"NumPy computes this operation on conditions in the narrow type {dtype}, which wraps around or rounds.", _WIDE)


def _refuse(what: str) -> NoReturn:
    fail(f"{what} is not defined for conditions: NumPy raises a TypeError.",
         f"{_COUNT} To combine conditions use &, |, ^ and ~.")


def retype(result: Any, name: str, call: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> Any:
    """A recorded result, as conditions or numbers as NumPy would have it: a question only where conditions come in."""
    if call is np.where or call is np.piecewise:  # their rules answer the question themselves
        return result
    if not (holds_condition(args) or (kwargs and holds_condition(list(kwargs.values())))):
        return result
    stand_ins = [_stand_in(a) for a in args]
    options = {key: _stand_in(value) for key, value in kwargs.items()}
    with np.errstate(all="ignore"):
        try:
            example = call(*stand_ins, **options)
        except TypeError:
            example = None
    if example is None:
        _refuse(name)
    return _as_in_numpy(result, example)


# ---- ufuncs and np.where, whose types are remembered

def _type_of(value: Any) -> Any:
    """What decides the type of a result: a Python type for numbers of Python, which are weak, else a dtype."""
    if isinstance(value, Tracer):
        return np.dtype(bool if value.is_truth else np.float64)
    if isinstance(value, Real):
        return float
    for python in (bool, int, float):
        if isinstance(value, python) and not isinstance(value, np.generic):
            return python
    if isinstance(value, (list, tuple)) and not has_tracer(value):
        value = np.asarray(value)
    stand_in = np.asarray(_stand_in(value))
    return np.dtype(np.float64) if stand_in.dtype == object else stand_in.dtype


@lru_cache(maxsize=4096)
def _result_types(call: Callable[..., Any], types: tuple) -> tuple[np.dtype, ...]:
    """The types of the results of NumPy's call; none where it raises a TypeError."""
    ones = [t(1) if isinstance(t, type) else np.ones(1, t) for t in types]
    with np.errstate(all="ignore"):
        try:
            result = call(*ones)
        except TypeError:
            return ()
    return tuple(r.dtype for r in (result if isinstance(result, tuple) else (result,)))


def apply_to_conditions(ufunc: np.ufunc, operands: tuple) -> Any:
    """Record a ufunc of which some operand is a traced condition."""
    types = tuple(map(_type_of, operands))
    if ufunc is np.power and types[0] in (bool, _TRUTH) and types[1] not in (float, np.dtype(np.float64)):
        fail("NumPy raises conditions to integer powers in integers, some as narrow as int8.", _COUNT)
    results = _result_types(ufunc, types)
    if not results:
        _refuse(f"np.{ufunc.__name__}")
    for dtype in results:
        _require_wide(dtype)
    if results[0] != _TRUTH:
        return rule_of(ufunc)(*operands)
    result = UFUNCS[_LOGIC_OF.get(ufunc, ufunc)](*operands)
    return result if result.is_truth else Tracer(truth(result))


def _two(a: Any, c: Any) -> np.ndarray:
    return np.where(np.ones(1, bool), a, c)


def either(a: Any, c: Any, choose: Callable[[], Tracer]) -> Tracer:
    """A choice between a and c (`choose` records it as numbers): a condition where both are truth values."""
    for value in (a, c):
        if type(value) is float or (isinstance(value, Tracer) and not value.is_truth):
            return choose()
    dtype, = _result_types(_two, (_type_of(a), _type_of(c)))
    _require_wide(dtype)
    result = choose()
    return Tracer(truth(result)) if dtype == _TRUTH and not result.is_truth else result


CONDITIONS.update(traced=traced, apply=apply_to_conditions, retype=retype)
