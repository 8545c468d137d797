"""The functions of a trial: constraints as the user gives them, each made a number that is <= 0 where it holds, and f.

Nothing is traced here. A constraint with several components counts as one: its number is that of the component that is violated
most, so that how many numbers a trial has is known before the first.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from infimum.errors import OptionError, ShapeError
from infimum.problem.text import counted
from infimum.support.lazy import dataclass

_FORMS = "a function that is <= 0 where the point is allowed, infimum.Constraint(fun, lb, ub), SciPy's NonlinearConstraint, " \
         "LinearConstraint or Bounds, or a dict {'type': 'ineq', 'fun': g}, which is >= 0 there"
_EQUALITY = "it is an equality, and trials hardly ever meet one: give a band that you can accept, as in " \
            "infimum.Constraint(fun, -1e-3, 1e-3), or solve the equation for a variable and leave that out"


class NotANumber(Exception):
    """A function returned something that is no number; the message says what, and what to return."""


@dataclass(frozen=True, slots=True, eq=False)
class TrialFunction:
    """A function of a trial. Without ends: its value, times `sign`. With ends: how far it is beyond them."""

    fun: Callable[..., Any]
    title: str                        # what it is called in messages
    args: tuple = ()
    sign: float = 1.0
    ends: tuple[Any, Any] | None = None
    constrains: bool = False

    def measure(self, returned: Any) -> float:
        """The number of the trial, from what the function returned; raises NoNumber."""
        if self.ends is None:
            return self.sign * self._number(returned)
        return self._beyond(returned)

    def _number(self, returned: Any) -> float:
        if isinstance(returned, (float, int)) and not isinstance(returned, bool):  # the usual case
            return _double(returned)
        if isinstance(returned, (bool, np.bool_)):
            raise NotANumber(f"{self.title} returned {returned!r}, a comparison: " +
                             ("return a number that is <= 0 where the point is allowed, such as 12 - x[0] for x[0] >= 12"
                              if self.constrains else "return the number that is to be minimised"))
        self._refuse(returned)
        if isinstance(returned, (np.ndarray, list, tuple)):
            if np.size(returned) != 1 or isinstance(returned, (list, tuple)):
                raise NotANumber(f"{self.title} returned {_array(returned)}: return one number, such as the sum" + (
                    "; for several constraints give several functions, or infimum.Constraint(fun, ub=0)" if self.constrains
                    else " of its elements"))
            return self._number(returned.reshape(())[()])
        try:
            return _double(returned)
        except Exception as error:
            raise NotANumber(f"{self.title} returned an object of type {type(returned).__name__}, which is no number ({error}): "
                             "return a float") from None

    def _refuse(self, returned: Any) -> None:
        """Raises for what neither a number nor an array of numbers may be."""
        if returned is None:
            raise NotANumber(f"{self.title} returned None: is a `return` missing at its end, or in a branch?")
        if isinstance(returned, (str, bytes)) or isinstance(returned, np.ndarray) and returned.dtype.kind in "US":
            raise NotANumber(f"{self.title} returned text, {_shortened(returned)}: return a number, as float(...) makes one")
        numeric = isinstance(returned, (np.ndarray, np.generic)) and returned.dtype.kind == "c"
        listed = isinstance(returned, (list, tuple)) and any(isinstance(v, (complex, np.complexfloating)) for v in returned)
        if isinstance(returned, complex) or numeric or listed:
            raise NotANumber(f"{self.title} returned a complex number, {_shortened(returned)}: return a real one, such as "
                             "abs(...) or its .real")

    def _beyond(self, returned: Any) -> float:
        """How far the component that is violated most is beyond its ends; at most 0 if all are between them."""
        self._refuse(returned)
        try:
            values = np.asarray(returned)
            if values.dtype.kind not in "iuf":
                raise ValueError(f"its type is {values.dtype}")
            values = values.astype(np.float64)
            lower, upper = (np.broadcast_to(end, values.shape) for end in self.ends)
        except (TypeError, ValueError) as error:
            raise NotANumber(f"{self.title} returned {_array(returned)}, which does not fit its bounds lb and ub ({error}): "
                             "return a number, or one for each bound") from None
        with np.errstate(invalid="ignore"):
            beyond = [values - upper, lower - values]
        if not values.size:
            raise NotANumber(f"{self.title} returned an empty array: return a number, or one for each bound")
        return float("nan") if np.isnan(values).any() else float(np.max(beyond))


def _double(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:  # a whole number beyond the doubles
        return float("inf") if number > 0 else float("-inf")


def _array(returned: Any) -> str:
    if isinstance(returned, (list, tuple)):
        return f"a {type(returned).__name__} of {counted(len(returned), 'element')}"
    return f"an array of the shape {returned.shape}" if isinstance(returned, np.ndarray) else _shortened(returned)


def _shortened(thing: Any, most: int = 60) -> str:
    text = repr(thing)
    return text if len(text) <= most else f"{text[:most]}…"


def inner(fun: Any) -> Any:
    """The function that was written, of functools.partial and of a function of a file."""
    return getattr(fun, "func", None) or getattr(fun, "function", None) or fun


def title(fun: Any, what: str) -> str:
    """What a function is called in messages: `what`, its name, and where it was written.

    >>> title(sum, "The function")
    'The function `sum`'
    """
    own = inner(fun)
    code = getattr(own, "__code__", None)
    name = getattr(own, "__name__", type(own).__name__)
    place = f" ({code.co_filename}:{code.co_firstlineno})" if code is not None else ""
    return f"{what} `{name}`{place}"


# ---- reading what the user gives
def read_constraints(given: Any, n: int) -> list[TrialFunction]:
    """The constraints on n variables, in their order; an error names the number of the one that is wrong."""
    found = []
    for number, one in enumerate(_listed(given)):
        try:
            part = _read(one, f"Constraint {number}", n)
        except (OptionError, ShapeError) as error:
            raise type(error)(f"constraint {number}: {error}") from None
        found += [] if part is None else [part]
    return found


def _listed(given: Any) -> list:
    if isinstance(given, (str, bytes)):
        raise OptionError(f"constraints must be one or a list of these: {_FORMS}; not {given!r}")
    single = isinstance(given, Mapping) or callable(given) or hasattr(given, "lb") or not isinstance(given, Iterable)
    return [] if given is None else [given] if single else list(given)


def _read(one: Any, what: str, n: int) -> TrialFunction | None:
    if isinstance(one, Mapping):
        return _of_dict(one, what)
    if hasattr(one, "lb") and hasattr(one, "ub"):
        return _of_ends(one, what, n)
    if callable(one):
        return TrialFunction(one, title(one, what), constrains=True)
    raise OptionError(f"it is of type {type(one).__name__}; give {_FORMS}")


def _of_dict(one: Mapping, what: str) -> TrialFunction:
    kind, fun, args = str(one.get("type")).lower(), one.get("fun"), one.get("args", ())
    if kind == "eq":
        raise OptionError(_EQUALITY)
    if kind != "ineq":
        raise OptionError(f"the type of a constraint is 'ineq' (fun(x) >= 0), not {one.get('type')!r}")
    unknown = set(one) - {"type", "fun", "args", "jac", "hess"}
    if unknown:
        raise OptionError(f"a constraint has the keys 'type', 'fun' and 'args', not {sorted(map(str, unknown))[0]!r}")
    if not callable(fun):
        raise OptionError(f"fun must be a function of an array, not {fun!r}")
    args = tuple(args) if isinstance(args, (tuple, list)) else (args,)
    return TrialFunction(fun, title(fun, what), args, ends=(0.0, np.inf), constrains=True)


def _of_ends(one: Any, what: str, n: int) -> TrialFunction | None:
    fun = getattr(one, "fun", None)
    if hasattr(one, "A"):
        fun = _Linear(one.A, n)
        name = f"{what}, A x,"
    elif fun is None:
        fun, name = _itself, f"{what}, x,"
    else:
        name = title(fun, what)
    if not callable(fun):
        raise OptionError(f"fun must be a function of an array, not {fun!r}")
    try:
        lower, upper = (np.asarray(end, dtype=np.float64) for end in (one.lb, one.ub))
        equal, reversed_ends = np.any(lower == upper), np.any(~(lower <= upper))
    except (TypeError, ValueError):
        raise OptionError(f"lb and ub must be numbers, or arrays of one shape, not {one.lb!r} and {one.ub!r}") from None
    if equal:
        raise OptionError(_EQUALITY)
    if reversed_ends:
        raise OptionError(f"lb is above ub, or one of them is NaN: {one.lb!r}, {one.ub!r}")
    endless = np.all(lower == -np.inf) and np.all(upper == np.inf)
    return None if endless else TrialFunction(fun, name, ends=(lower, upper), constrains=True)


def _itself(x: Any) -> Any:
    return x


class _Linear:
    """A x, for dense matrices and SciPy's sparse ones."""

    def __init__(self, matrix: Any, n: int):
        self.matrix = matrix.tocsr() if hasattr(matrix, "tocsr") else np.atleast_2d(np.asarray(matrix, dtype=np.float64))
        if self.matrix.ndim != 2 or self.matrix.shape[1] != n:
            raise ShapeError(f"the matrix A has the shape {self.matrix.shape}, and there are {n:,} variables: it must have {n:,} "
                             "columns")

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return self.matrix @ x
