"""Tracer: what the user's function receives instead of an array. It records in an Expr what NumPy is asked to do.

The rules for NumPy's functions live in tables (`UFUNCS`, `UFUNC_METHODS`, `FUNCTIONS`) that the `numpy_*` modules fill, those for
the ufuncs of scipy.special in `SPECIAL`, by name: SciPy is known only once the user has imported it. Rules of array functions,
which many functions do without, are there once `fill_tables` was called. What becomes of conditions in arithmetic is in
`CONDITIONS`, which `conditions` fills.
"""

import math
import operator
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from threading import RLock
from types import FunctionType
from typing import Any, NoReturn

import numpy as np

from infimum.expr import build as b
from infimum.expr.node import Expr, Shape, const, topological
from infimum.expr.real import Real
from infimum.ops.vocabulary import OPS, Kind
from infimum.support import environment
from infimum.trace.integer_arrays import may_be_counts
from infimum.trace.number_constants import constant, exact_doubles, exact_ends
from infimum.trace.recording import RecordedValue, as_numbers, as_type, recorded, tracing
from infimum.trace.refusals import (
    accepted_keywords,
    refuse_argument,
    refuse_bytes,
    refuse_conversion,
    refuse_dtype,
    refuse_function,
    refuse_lookup,
    refuse_method,
    refuse_narrow,
    refuse_positional,
    refuse_rounding,
    refuse_text,
    refuse_truth,
    refuse_value,
)
from infimum.trace.user_source import fail, in_debugger, user_line

UFUNCS: dict[np.ufunc, Callable[..., Any]] = {}
UFUNC_METHODS: dict[tuple[np.ufunc, str], Callable[..., Any]] = {}
FUNCTIONS: dict[Callable, Callable[..., Any]] = {}
SPECIAL: dict[str, Callable[..., Any]] = {}
CONDITIONS: dict[str, Callable[..., Any]] = {}
RARER_RULES: list[Callable[[], Any]] = []  # import the modules that fill the rest of the tables; `trace` says which
_FILLING = RLock()

LARGEST_OBJECT_ARRAY = 1000  # np.asarray(x) unrolls x into its components; beyond this the graph would be a burden
_TESTS = frozenset(name for name, row in OPS.items() if row.kind is Kind.TEST)


class Tracer(RecordedValue):
    """A symbolic array of doubles (or of truth values, where its expression is a test).

    NumPy's arrays are mutable, so `y = x; y += 1` changes x too. That is kept: in-place operators exchange the expression
    inside the object. A view (`v = x[1:]`) remembers the array it belongs to and the version it saw; changing a view, or
    using it after its array changed, is an error, for tracing would otherwise record another function than NumPy computes.
    """

    __slots__ = ("_expr", "_exported", "_root", "_seen", "_version")
    __pandas_priority__ = 5000  # operators of pandas leave their operands to ours, which say what to write

    def __init__(self, expr: Expr, root: "Tracer | None" = None, step: Any = None):
        self._expr, self.step = expr, step
        self._version = 0
        self._exported = False
        self._root = root
        self._seen = 0 if root is None else root._version

    @property
    def expr(self) -> Expr:
        """The expression recorded so far."""
        if self._root is not None and self._root._version != self._seen:
            fail("A view is used after the array it belongs to was changed in place.",
                 "Write `x = x + ...` instead of `x += ...`, or take the view again.", again=True)
        return self._expr

    def sharing(self, expr: Expr) -> "Tracer":
        """A Tracer that shares its elements with this one, as NumPy's views do."""
        return Tracer(expr, self if self._root is None else self._root)

    @property
    def is_truth(self) -> bool:
        return self._expr.op in _TESTS

    @property
    def shape(self) -> Shape:
        return self._expr.shape

    @property
    def ndim(self) -> int:
        return len(self._expr.shape)

    @property
    def size(self) -> int:
        return self._expr.size

    @property
    def dtype(self) -> np.dtype:
        """float64 or bool for arrays. A number has the type object: the mean of an object array converts its sum by that type."""
        return np.dtype((bool if self.is_truth else np.float64) if self.shape else object)

    @property
    def T(self) -> "Tracer":
        return recorded(lambda: self.sharing(b.transpose(self.expr, range(self.ndim)[::-1], user_line())), np.transpose, (self,))

    @property
    def real(self) -> "Tracer":
        return recorded(lambda: self.sharing(self.expr), np.real, (self,))

    @property
    def imag(self) -> np.ndarray:
        return np.zeros(self.shape, dtype=bool if self.is_truth else float)

    @property
    def flat(self) -> Iterator["Tracer"]:
        return iter(self.ravel())

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a traced number has no len()")
        return self.shape[0]

    def __iter__(self) -> Iterator["Tracer"]:
        if not self.shape:
            raise TypeError("a traced number cannot be iterated over")
        return (self[i] for i in range(self.shape[0]))

    def __getitem__(self, key: Any) -> "Tracer":
        parts = key if isinstance(key, tuple) else (key,)
        for part in parts:
            refuse_traced_index(part)
        return recorded(lambda: self._part(key, parts), operator.getitem, (self, key))

    def _part(self, key: Any, parts: tuple) -> "Tracer":
        element = b.index(self.expr, key, user_line())
        numbers_only = not element.shape and all(isinstance(p, (int, np.integer)) for p in parts)
        return Tracer(element) if numbers_only or not b.is_basic(parts) else self.sharing(element)

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        fail("A traced array cannot be assigned to.",
             "Make a new array instead: `x = np.where(...)`, `np.concatenate([...])`, or collect the elements in a list "
             "and use np.stack(list).", again=True)

    # ---- NumPy's protocols

    @environment.ours
    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if any(map(records_itself, inputs)):
            return NotImplemented
        kwargs = accepted_keywords(ufunc.__name__, kwargs)
        (out,) = kwargs.pop("out", None) or (None,)
        if out is not None and not (isinstance(out, np.ndarray) and out.dtype == object):
            fail(f"np.{ufunc.__name__} was asked to write a traced value into an array of numbers (`out=` or an operator such "
                 "as `+=`).", "Write `a = a + x` instead of `a += x`, and use the returned value instead of `out=`.",
                 again=True)
        result = recorded(lambda: _by_ufunc(ufunc, method, inputs, kwargs), getattr(ufunc, method), inputs, kwargs)
        if out is None:
            return result
        out[...] = result.__array__()
        return out

    def __array_function__(self, func: Callable, types: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        return call_function(func, *args, **kwargs)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """An object array of traced numbers: np.asarray and np.array bypass the protocols and come here."""
        if dtype is not None and np.dtype(dtype) != object:
            refuse_conversion(np.dtype(dtype))
        if self.is_truth:  # NumPy would add such objects one by one, as truth values, where its own arrays may hold numbers
            fail("A traced condition was converted to a plain NumPy array (np.asarray or np.array).",
                 "Drop np.asarray, and join conditions with np.stack([...]).", again=True)
        if dtype is None and may_be_counts(self.expr):
            fail("A traced value that NumPy holds as an integer, as np.where(condition, 1, 0) is, became a plain array.",
                 "Say which numbers the array holds: np.array([...], dtype=float).", again=True)
        if self.size > LARGEST_OBJECT_ARRAY:
            fail(f"A traced array of {self.size} elements was converted to a plain NumPy array; the limit is "
                 f"{LARGEST_OBJECT_ARRAY}.",
                 "Drop np.asarray or np.array: the argument already behaves as an array; write `A @ x` for A.dot(x), and join "
                 "traced values with np.stack or np.concatenate.")
        objects = np.empty(self.shape, dtype=object)
        flat = recorded(lambda: Tracer(b.reshape(self.expr, (self.size,), user_line())), np.ravel, (self,))
        for i, at in enumerate(np.ndindex(self.shape)):
            objects[at] = flat[i]
        objects.flags.writeable = bool(copy)  # np.asarray shares memory with x: writing there would change x unseen
        if not copy:
            (self if self._root is None else self._root)._exported = True
        return objects

    # ---- the requests for a value that a symbol does not have

    def __bool__(self) -> NoReturn:
        refuse_truth(self.is_truth)

    def __hash__(self) -> NoReturn:
        refuse_lookup()

    def __float__(self) -> NoReturn:
        if not any(node.op == "var" for node in topological([self._expr])):
            refuse_rounding()
        refuse_value("float")

    def __int__(self) -> NoReturn:
        refuse_value("int")

    def __complex__(self) -> NoReturn:
        refuse_value("complex")

    def __index__(self) -> NoReturn:
        refuse_value("index")

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and hasattr(np.ndarray, name):
            method = found_in(vars(Tracer), name)
            if isinstance(method, FunctionType):
                return method.__get__(self)
            refuse_method(name)
        raise AttributeError(f"a traced array has no attribute {name!r}")

    # ---- methods that are no NumPy function of the same name (`operators.add_methods` adds the others)

    def reshape(self, *shape: Any, **options: Any) -> "Tracer":
        return call_function(np.reshape, self, shape[0] if len(shape) == 1 else shape, **options)

    def transpose(self, *axes: Any) -> "Tracer":
        return call_function(np.transpose, self, (axes[0] if len(axes) == 1 else axes) or None)

    def flatten(self, order: str = "C") -> "Tracer":
        return self.ravel(order=order).copy()

    @environment.ours
    def astype(self, dtype: Any, **options: Any) -> "Tracer":
        """Conditions become numbers of the types that count without wrapping around, numbers become conditions."""
        wanted = np.dtype(dtype)
        if wanted.kind == "b" and not self.is_truth:
            return recorded(lambda: Tracer(truth(self)), as_type, (self, wanted))
        if wanted.kind != "b" and self.is_truth:
            refuse_narrow("astype", wanted)
            return recorded(lambda: Tracer(lift(self)), as_type, (self, wanted))
        if not self.is_truth:
            refuse_dtype("astype", wanted)
        return self.copy() if options.get("copy", True) else self

    def item(self, *at: Any) -> "Tracer":
        if not at and self.size != 1:
            raise ValueError("can only convert an array of size 1 to a scalar")
        return (self.ravel()[at[0] if at else 0] if len(at) < 2 else self[at]).tolist()

    def tolist(self) -> Any:
        """Of a number itself: NumPy makes a float of it, whose operations are those of Python."""
        if self.shape:
            return [part.tolist() for part in self]
        return recorded(lambda: Tracer(self.expr), bool if self.is_truth else float, (self,))

    def copy(self, order: str = "C") -> "Tracer":
        return recorded(lambda: Tracer(self.expr), np.copy, (self,))

    def conjugate(self) -> "Tracer":
        return self

    conj = conjugate

    def __copy__(self) -> "Tracer":
        return self.copy()

    def __deepcopy__(self, memo: dict) -> "Tracer":
        return self.copy()

    def __floor__(self) -> "Tracer":
        return recorded(lambda: apply(np.floor, self), math.floor, (self,))

    def __ceil__(self) -> "Tracer":
        return recorded(lambda: apply(np.ceil, self), math.ceil, (self,))

    def __trunc__(self) -> "Tracer":
        return recorded(lambda: apply(np.trunc, self), math.trunc, (self,))

    # ---- text and bytes: what the user's code makes of them cannot be seen

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __repr__(self) -> str:
        if tracing() is not None and not in_debugger():
            refuse_text()
        return f"<traced {list(self.shape)}: {self._expr!r}>"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        refuse_bytes()


def _by_ufunc(ufunc: np.ufunc, method: str, inputs: tuple, kwargs: dict[str, Any]) -> Any:
    """What a ufunc, or a method of it, makes of traced values."""
    known = rule_of(ufunc) is not None and not kwargs
    if method == "__call__" and known:
        return apply(ufunc, *inputs)
    if method == "outer" and known:
        left, right = map(CONDITIONS["traced"], inputs)
        return apply(ufunc, left.reshape(left.shape + (1,) * right.ndim), right)
    rule = found_in(UFUNC_METHODS, (ufunc, method))
    if rule is not None:
        result = rule(*inputs, **kwargs)
        return CONDITIONS["retype"](result, f"np.{ufunc.__name__}.{method}", getattr(ufunc, method), inputs, kwargs)
    if kwargs and method in ("__call__", "outer"):
        refuse_argument(f"np.{ufunc.__name__}", next(iter(kwargs)))
    refuse_function(ufunc, "" if method == "__call__" else f".{method}", _supported())


def records_itself(value: Any) -> bool:
    """Is the operand an array of `Components`, which records operations in its own way?"""
    return getattr(type(value), "takes_assignments", False)


def lift(value: Any) -> Expr:
    """An operand as an expression of numbers: truth values count 1 and 0, constants must be finite doubles."""
    if isinstance(value, Tracer):
        return b.build("where", value.expr, 1.0, 0.0, line=user_line()) if value.is_truth else value.expr
    if type(value) is float or type(value) is int:
        return _number(value)
    if isinstance(value, Expr):
        return value
    if isinstance(value, (list, tuple)) and has_tracer(value):
        return _stack([lift(v) for v in value])
    if isinstance(value, np.ndarray) and value.dtype == object:
        return b.reshape(_stack([lift(v) for v in value.flat]), value.shape, user_line()) if value.size else const(value)
    return constant(*exact_ends(value))


@lru_cache(maxsize=1024)
def _number(value: float) -> Expr:
    """A constant of the user's code; a loop meets the same few again and again."""
    return const(exact_doubles(value))


def _stack(parts: list[Expr]) -> Expr:
    if any(p.shape != parts[0].shape for p in parts):
        raise ValueError("the parts of a nested sequence have different shapes")
    return b.join([b.reshape(p, (1, *p.shape), user_line()) for p in parts], 0, user_line())


def joined(value: Any) -> Tracer:
    """One traced array of numbers: of a condition, of a sequence or of an array of objects."""
    return recorded(lambda: Tracer(lift(value)), as_numbers, (value,))


def has_tracer(value: Any) -> bool:
    """Does a value, a nested sequence or an object array hold traced values?"""
    if isinstance(value, (list, tuple)):
        return any(has_tracer(v) for v in value)
    if isinstance(value, np.ndarray):
        return value.dtype == object and any(isinstance(v, Tracer) for v in value.flat)
    return isinstance(value, Tracer)


def truth(value: Any) -> Expr:
    """An operand as a test: numbers are true where they are not 0."""
    if isinstance(value, Tracer) and value.is_truth:
        return value.expr
    if not has_tracer(value) and np.asarray(value).dtype == bool:
        return b.build("eq", lift(value), 1.0, line=user_line())
    return b.build("not", b.build("eq", lift(value), 0.0, line=user_line()), line=user_line())


@environment.ours
def apply(ufunc: np.ufunc, *operands: Any) -> Any:
    """The rule of a ufunc, applied to raw operands."""
    if any([isinstance(v, Tracer) and v._expr.op in _TESTS for v in operands]):
        return CONDITIONS["apply"](ufunc, operands)
    return rule_of(ufunc)(*operands)


def rule_of(ufunc: np.ufunc) -> Callable[..., Any] | None:
    """What records the ufunc; None if nothing does."""
    rule = found_in(UFUNCS, ufunc)
    if rule is None and getattr(sys.modules.get("scipy.special"), ufunc.__name__, None) is ufunc:
        rule = SPECIAL.get(ufunc.__name__)
    return rule


@environment.ours
def found_in(table: Mapping[Any, Any], name: Any) -> Callable[..., Any] | None:
    """The rule of that name, for which modules are imported until one has it; another thread waits until they are there."""
    rule = table.get(name)
    if rule is None:
        with _FILLING:
            while name not in table and RARER_RULES:
                RARER_RULES.pop(0)()
            rule = table.get(name)
    return rule


def fill_tables() -> None:
    """Imports all rules that are not there yet."""
    found_in({}, None)


def call_function(func: Callable, *args: Any, **kwargs: Any) -> Any:
    """Record a NumPy function that is no ufunc."""
    return recorded(lambda: _by_function(func, args, kwargs), func, args, kwargs)


@environment.ours
def _by_function(func: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
    handler = found_in(FUNCTIONS, func)
    if handler is None:
        refuse_function(func, "", _supported())
    kwargs = accepted_keywords(func.__name__, kwargs)
    code = handler.__code__
    refuse_positional(f"np.{func.__name__}", code.co_varnames[:code.co_argcount], args)
    takes_any = code.co_flags & 0x0C  # *args or **kwargs
    if not takes_any:
        known = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
        unknown = next((k for k in kwargs if k not in known), None)
        if unknown is not None or len(args) > code.co_argcount:
            refuse_argument(f"np.{func.__name__}", unknown or "given last")
    return CONDITIONS["retype"](handler(*args, **kwargs), f"np.{func.__name__}", func, args, kwargs)


def refuse_traced_index(part: Any) -> None:
    if isinstance(part, slice):
        for end in (part.start, part.stop, part.step):
            refuse_traced_index(end)
    elif isinstance(part, Tracer) and part.is_truth:
        fail("A traced condition was used to select elements: how many there are is not known.",
             "Keep the shape: np.where(condition, x, 0.0), for instance inside np.sum.")
    elif has_tracer(part):
        fail("A traced value was used as an index.", "An index must be a known integer: choose between values with np.where.")


def _supported() -> list[str]:
    fill_tables()
    return sorted({f.__name__ for f in (*UFUNCS, *FUNCTIONS)})


Real._traced = lambda self: Tracer(lift(self), step=self)
