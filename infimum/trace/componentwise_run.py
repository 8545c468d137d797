"""A second run of the user's function, component by component, for code that the symbolic array does not serve.

Plain arrays cannot take symbols (`y = np.zeros(3); y[0] = x[0]`), and NumPy asks arrays of objects for truth values, as Python's
own `max` does. So a copy of the function is run that sees, under the names of its own module, NumPy's makers of arrays
replaced by those of `Components`, and `max` and `min` by ones that record. Nothing outside the copy is changed: NumPy, the
user's modules and other threads see nothing of it. What is out of reach (methods called through objects, code of libraries)
runs as it is, and fails with its error, as in the first run.
"""

import builtins
import dis
import functools
import sys
from collections.abc import Callable, Hashable, Iterator
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from infimum.expr.node import topological
from infimum.interval.pair import DEFINED
from infimum.ops.vocabulary import OPS, Kind
from infimum.trace.component_arrays import Components, assignable, components_of, plain, same_elements, shows_a_part_of
from infimum.trace.integer_arrays import may_be_counts
from infimum.trace.numpy_functions import all_rules  # noqa: F401 (fills the table of functions, which is read below)
from infimum.trace.numpy_functions.scipy_special import PYTHON_FUNCTIONS
from infimum.trace.recording import recorded
from infimum.trace.refusals import refuse_conversion
from infimum.trace.tracer import FUNCTIONS, Tracer, call_function, has_tracer, joined, lift
from infimum.trace.user_source import USER, fail, owner_of

_FRESH = ("zeros", "ones", "empty", "full", "eye", "identity", "linspace", "copy", "diag",
          "zeros_like", "ones_like", "empty_like", "full_like")
_ABOUT_SHAPES = frozenset((np.shape, np.ndim, np.size, np.iscomplexobj, np.isrealobj, np.real))  # NumPy's own serve lists too
_CONVERTING = ("array", "asarray", "asanyarray", "ascontiguousarray")


def in_components(fun: Callable) -> Callable | None:
    """A copy of the function for the second run; None where there is no code of the user's to copy."""
    return SecondRun().callable(fun)


class SecondRun:
    """Copies of the user's functions, each made when its name is looked up."""

    def __init__(self) -> None:
        self._functions: dict[int, tuple[FunctionType, FunctionType]] = {}  # the first keeps the id alive
        self._names: dict[int, _Names] = {}
        self.builtins = {**vars(builtins), "max": _extremum(max, np.maximum, np.max), "min": _extremum(min, np.minimum, np.min),
                         "__import__": self._import}

    def callable(self, fun: Callable) -> Callable | None:
        if isinstance(fun, FunctionType):
            return self.function(fun) if _can_copy(fun.__code__) else None
        if isinstance(fun, functools.partial):
            inner = self.callable(fun.func)
            return None if inner is None else functools.partial(inner, *fun.args, **fun.keywords)
        bound = fun if isinstance(fun, MethodType) else getattr(fun, "__call__", None)  # noqa: B004 (the method itself is needed)
        if not isinstance(bound, MethodType):
            return None
        inner = self.callable(bound.__func__)
        return None if inner is None else MethodType(inner, bound.__self__)

    def function(self, fun: FunctionType) -> FunctionType:
        known = self._functions.get(id(fun))
        if known is not None:
            return known[1]
        names = self._names.setdefault(id(fun.__globals__), _Names(fun.__globals__, self))
        held = [_contents(cell) for cell in fun.__closure__ or ()]
        cells = [CellType() if self._replaces(value) else cell for cell, value in zip(fun.__closure__ or (), held, strict=True)]
        copy = FunctionType(fun.__code__, names, fun.__name__, fun.__defaults__, tuple(cells))
        copy.__kwdefaults__, copy.__dict__, copy.__qualname__ = fun.__kwdefaults__, fun.__dict__, fun.__qualname__
        self._functions[id(fun)] = fun, copy  # before the cells are filled: the function may hold itself
        for cell, value in zip(cells, held, strict=True):
            if self._replaces(value):
                cell.cell_contents = self.replaced(value)
        return copy

    def _replaces(self, value: Any) -> bool:
        if isinstance(value, ModuleType):
            file = getattr(value, "__file__", None)
            scipys = (sys.modules.get("scipy"), sys.modules.get("scipy.special"))
            return value is np or value is np.linalg or value in scipys or (file is not None and owner_of(file) == USER)
        if _of_scipy(value) is not None:
            return True
        if isinstance(value, FunctionType) and owner_of(value.__code__.co_filename) == USER:
            return _can_copy(value.__code__)
        return callable(value) and isinstance(value, Hashable) and value in _REPLACED

    def replaced(self, value: Any) -> Any:
        """What a name stands for in the second run."""
        if not self._replaces(value):
            return value
        if isinstance(value, ModuleType):
            return _Module(value, self)
        if (formula := _of_scipy(value)) is not None:
            return _written_in_python(value, formula)
        return _REPLACED[value] if value in _REPLACED else self.function(value)

    def _import(self, *args: Any, **kwargs: Any) -> Any:
        return self.replaced(builtins.__import__(*args, **kwargs))


class _Names(dict):
    """The global names of a module as they stand, with what is replaced."""

    def __init__(self, names: dict[str, Any], run: SecondRun):
        super().__init__(names)
        self["__builtins__"] = run.builtins
        self._now, self._run = names, run

    def __getitem__(self, name: str) -> Any:
        return self._run.replaced(self._now[name])


class _Module:
    """A module whose names are those of the second run."""

    def __init__(self, module: ModuleType, run: SecondRun):
        object.__setattr__(self, "_module", module)
        object.__setattr__(self, "_run", run)

    def __getattr__(self, name: str) -> Any:
        return self._run.replaced(getattr(self._module, name))

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._module, name, value)


def _contents(cell: CellType) -> Any:
    """What a cell holds; None while it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


@functools.lru_cache(maxsize=1024)
def _can_copy(code: CodeType) -> bool:
    """A copy must not set names of its module or of functions around it: they would be set in the copy alone."""
    return not any(i.opname in ("STORE_GLOBAL", "DELETE_GLOBAL") or (i.opname == "STORE_DEREF" and i.argval in code.co_freevars)
                   for part in _codes(code) for i in dis.get_instructions(part))


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A code and those of the functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


# ---- what NumPy's functions and Python's become

def _fresh(function: Callable) -> Callable:
    """A maker of arrays: what it makes can take traced values."""
    @functools.wraps(function)
    def make(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        return result if shows_a_part_of(result, args) else assignable(result)
    return make


def _converting(function: Callable) -> Callable:
    """np.array and np.asarray: what is an array already stays the same one, unless it is copied."""
    @functools.wraps(function)
    def convert(a: Any, dtype: Any = None, **options: Any) -> Any:
        a = _own(a)
        if not isinstance(a, Components) and not has_tracer(a):
            result = function(a, dtype, **options)
            return result if result is a or isinstance(a, np.ndarray) and np.shares_memory(result, a) else assignable(result)
        if dtype is not None and np.dtype(dtype) != np.float64:
            refuse_conversion(np.dtype(dtype))
        copies = options.get("copy", True) if function is np.array else \
            function is np.ascontiguousarray and isinstance(a, Components) and not a.flags.c_contiguous
        if isinstance(a, (Tracer, Components)):
            result = assignable(plain(a), floats=isinstance(a, Components)) if copies else a
        else:
            result = components_of(a)
            if dtype is None and may_be_counts(whole := lift(np.asarray(result))):
                result = recorded(lambda: Tracer(whole), np.array, (a,))  # NumPy may have integers here
        more = options.get("ndmin", 0) - result.ndim
        return result[(None,) * more] if more > 0 else result
    return convert


def _recorded(function: Callable) -> Callable:
    """A function of NumPy that records lists of traced numbers as well: NumPy itself would make arrays of objects of them."""
    @functools.wraps(function)
    def record(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = tuple(map(_own, args)), {key: _own(value) for key, value in kwargs.items()}
        values = (*args, *kwargs.values())
        if any(isinstance(v, Components) for v in values):
            result = function(*args, **kwargs)
        elif has_tracer(values):
            result = call_function(function, *map(plain, args), **{key: plain(value) for key, value in kwargs.items()})
        else:
            return function(*args, **kwargs)
        floats = function in (np.where, np.select) and any(map(_holds_float, values[1:]))
        return result if shows_a_part_of(result, values) else assignable(result, floats)
    return record


def _holds_float(value: Any) -> bool:
    """Is there a known float among the choices? Then NumPy makes floats of all of them."""
    if isinstance(value, (list, tuple)):
        return any(map(_holds_float, value))
    return not isinstance(value, Tracer) and getattr(value, "dtype", type(value)) in (float, np.float64)


def _of_scipy(value: Any) -> Callable | None:
    """The formula of a function that SciPy has in Python, if the value is one."""
    name = getattr(value, "__name__", None)
    known = isinstance(value, FunctionType) and name in PYTHON_FUNCTIONS
    return PYTHON_FUNCTIONS[name] if known and value is getattr(sys.modules.get("scipy.special"), name, None) else None


def _written_in_python(function: Callable, formula: Callable) -> Callable:
    """A function of SciPy that records."""
    @functools.wraps(function)
    def record(*args: Any, **kwargs: Any) -> Any:
        given, options = [plain(_operand(a)) for a in args], {key: plain(_operand(value)) for key, value in kwargs.items()}
        if not has_tracer((*given, *options.values())):
            return function(*args, **kwargs)
        return assignable(recorded(lambda: formula(*given, **options), function, tuple(given), options))
    return record


class _Ufunc:
    """A ufunc that records lists of traced numbers as well."""

    def __init__(self, ufunc: np.ufunc):
        self._ufunc = ufunc

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        result = self._ufunc(*map(_operand, args), **kwargs)
        return result if shows_a_part_of(result, (*args, *kwargs.values())) else assignable(result)  # `out` is the user's own

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._ufunc, name)
        if not callable(method):
            return method
        return lambda *args, **kwargs: assignable(method(*map(_operand, args), **kwargs))


def _operand(value: Any) -> Any:
    """An operand of a ufunc; lists of traced numbers are arrays."""
    return joined(plain(value)) if isinstance(value, (list, tuple)) and has_tracer(value) else _own(value)


def _own(value: Any) -> Any:
    """Arrays of objects with traced numbers, made by functions out of reach, as Components with the same memory."""
    return same_elements(value) if type(value) is np.ndarray and has_tracer(value) else value


def _extremum(function: Callable, of_two: np.ufunc, of_all: Callable) -> Callable:
    """Python's max and min."""
    @functools.wraps(function)
    def record(*args: Any, **options: Any) -> Any:
        values = args if len(args) > 1 else list(args[0])
        if not has_tracer(values):
            return function(values, **options)
        never_wins = -np.inf if function is max else np.inf
        values = [v for v in values if has_tracer(v) or np.ndim(v) or v != never_wins]
        if options.get("key") is not None:
            fail(f"Python's {function.__name__} with a `key` has no rule for traced values.",
                 "Choose with np.where(condition, a, b).")
        if any(np.ndim(value) for value in values):
            fail(f"Python's {function.__name__} was asked to compare whole arrays.",
                 f"Use {'np.maximum' if function is max else 'np.minimum'}(a, b) for element by element.")
        if any(_may_be_nan(value) for value in values[1:]):
            return functools.reduce(functools.partial(_unless_nan, of_two), values)
        return values[0] if len(values) == 1 else of_two(*values) if len(values) == 2 else of_all(np.stack(values))
    return record


def _may_be_nan(value: Any) -> bool:
    return isinstance(value, Tracer) and any(node.kind is Kind.MAP and OPS[node.op].status < DEFINED
                                             and not (node.op == "powi" and node["k"] > 0) for node in topological([value.expr]))


def _unless_nan(of_two: np.ufunc, best: Any, value: Any) -> Any:
    """Python keeps the best so far where a comparison with the next value is false, as it is with NaN."""
    return np.where(0.0 * value <= 0.5, of_two(best, value), best) if _may_be_nan(value) else of_two(best, value)


_REPLACED: dict[Any, Any] = {
    **{ufunc: _Ufunc(ufunc) for ufunc in vars(np).values() if isinstance(ufunc, np.ufunc)},
    **{function: _recorded(function) for function in FUNCTIONS if function not in _ABOUT_SHAPES},
    **{getattr(np, name): _fresh(getattr(np, name)) for name in _FRESH},
    **{getattr(np, name): _converting(getattr(np, name)) for name in _CONVERTING},
}
