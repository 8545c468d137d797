"""trace: call the user's function with a symbolic vector and keep what it did as an expression."""

import operator
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.errors import TraceError, UserFunctionError
from infimum.expr import build as b
from infimum.expr.node import Expr, const, var
from infimum.expr.real import Real, e, pi  # noqa: F401 (public names)
from infimum.support import environment
from infimum.support.clock import check_time
from infimum.support.lazy import LazyModule
from infimum.support.other_libraries import WITH_NUMPY, given_to, instead_of
from infimum.trace.number_constants import exact_doubles
from infimum.trace.numpy_functions import ufuncs  # noqa: F401 (fills the table)
from infimum.trace.recording import INPUT, Recording, recording
from infimum.trace.refusals import FLOATS_HOLD_NO_SYMBOLS, name_of, no_rule
from infimum.trace.tracer import FUNCTIONS, LARGEST_OBJECT_ARRAY, RARER_RULES, SPECIAL, UFUNCS, Tracer, fill_tables
from infimum.trace.user_source import (
    SCIPY_INSTEAD,
    SourceLocation,
    call_user_function,
    form_error,
    no_rule_of_scipy,
    nothing_swallowed,
    scipy_call,
    trace_error,
)

if TYPE_CHECKING:
    from infimum.trace import component_arrays, componentwise_run
else:  # for the second run, which is rare
    component_arrays, componentwise_run = LazyModule("trace.component_arrays"), LazyModule("trace.componentwise_run")


# modules that fill the tables further, those that are needed most often first
RARER_RULES += [partial(import_module, f"infimum.trace.numpy_functions.{name}") for name in (
    "reductions", "array_views", "products", "selection", "rounding", "linear_algebra", "interpolation", "scipy_special")]
# what NumPy says when it meets traced numbers in an array of objects and lacks a way to apply the function named
_NO_RULE = (r"which has no callable (\w+) method", r"ufunc '(\w+)' not supported for the input types",
            r"ufunc '(\w+)' did not contain a loop")
# what SciPy says of an array of objects
_OBJECTS = r"dtype object|[Cc]annot cast .*dtype\('O'\)|unsupported data types|setting an array element with a sequence"
# other complaints of NumPy that mean that a traced value was used in a way that cannot be traced: text, what, cure
_MISUSES = (
    (r"of type (?!Tracer)\w+ which has no callable", "An array made by np.array([...]) mixes traced and plain numbers, and NumPy "
     "cannot apply its functions to such an array of objects.", "Use np.stack([...]) instead of np.array([...])."),
    ("setting an array element with a sequence", "A traced value was assigned to an element of an array of numbers.",
     FLOATS_HOLD_NO_SYMBOLS),
    (r"[Cc]annot cast (ufunc '\w+' input|array data).* from dtype\('O'\)", "An array made by np.array([...]) holds traced "
     "numbers, which this NumPy function cannot convert.", "Use np.stack([...]) instead of np.array([...])."),
    ("assignment destination is read-only", "An array made by np.asarray(x) was assigned to, which would change the input x.",
     "Use np.array(x), which copies, or make a new array with np.where or np.concatenate."),
    ("only boolean and numerical dtypes are supported", "Where the environment variable SCIPY_ARRAY_API is set, SciPy's "
     "functions are no ufuncs and take no traced values.", "Unset SCIPY_ARRAY_API."),
    (r"Cannot interpret '[\w.]+' as a data type", "An array of a library other than NumPy was used together with a traced value.",
     WITH_NUMPY),
    ("only integers, slices", "An index is not an integer, as if a traced value were used as an index.",
     "An index must be a known integer: choose between values with np.where."),
)


class TracedFunction:
    """A function of the user's that was traced: `fun(x, *args)`, and what it did, to be compared with plain calls. `role` is what
    it is in a problem, for messages; `agreed` the box over which it was compared last, by its key, and the points."""

    def __init__(self, fun: Callable[..., Any], args: tuple, returned: Any):
        self.fun, self.args, self._returned, self.role = fun, args, returned, ""
        self.agreed: tuple[tuple, list[np.ndarray]] = (), []

    def call(self, x: np.ndarray) -> Any:
        """The function itself, called with plain numbers."""
        return self.fun(x.copy(), *self.args)

    @cached_property
    def recording(self) -> Recording:
        return Recording(self._returned)


@environment.ours
def trace(fun: Callable[..., Any], n: int, args: Any = ()) -> Expr:
    """The expression of fun(x, *args) for a vector x of n variables: a scalar Expr over `var("x", (n,))`.

    `args` is a tuple or list of further arguments, passed on as they are; anything else is one argument, as in SciPy.

    >>> trace(lambda x: np.sum(x**2) + np.exp(x).max(), 2)
    (sum(powi(x, k=2), axes=(0,)) + amax(exp(x), axes=(0,)))
    """
    return traced(fun, n, args, scalar)[0]


def traced(fun: Callable[..., Any], n: int, args: Any, read: Callable[[Callable, Any], Any]) -> tuple[Any, TracedFunction]:
    """What `read(fun, value)` makes of the value that fun(x, *args) returns for a symbolic vector x of n variables, and how the
    value was computed."""
    if not callable(fun):
        raise TraceError(f"The function to trace is a {type(fun).__name__}, which cannot be called. Pass a function f(x, *args).")
    x, extra = var("x", (_number_of_variables(n),)), arguments(args)
    check_time("tracing")
    try:
        value, frozen = _called(fun, x, extra)
        return read(fun, value), TracedFunction(fun, extra, frozen)
    except TraceError as error:
        again = componentwise_run.in_components(fun) if error.again else None
        if again is None:
            raise
        first = error
    try:
        value, frozen = _called(again, x, extra, x.size <= LARGEST_OBJECT_ARRAY)
        return read(fun, value), TracedFunction(fun, extra, frozen)
    except UserFunctionError:  # met in the copy alone
        raise first from None


def _called(fun: Callable, variables: Expr, extra: tuple, by_components: bool = False) -> tuple[Any, Any]:
    """What the function returns, and the same frozen; or the error that explains why it does not."""
    loaded = len(sys.modules)
    try:
        with nothing_swallowed(), no_random_numbers(fun), environment.collector_paused(), recording() as recorder:
            x = Tracer(variables, step=INPUT)
            value = call_user_function(fun, component_arrays.components_of(x) if by_components else x, *extra)
            return value, recorder.frozen(value)
    except _RandomNumbers as error:
        if len(sys.modules) == loaded:
            raise TraceError(str(error)) from None
        return _called(fun, variables, extra, by_components)  # modules that were imported may have drawn them; they are there now
    except TraceError:
        raise
    except Exception as error:
        raise _explained(fun, error) from error


def arguments(args: Any) -> tuple:
    """The further arguments of a function; anything but a tuple or list is one, as in SciPy."""
    return tuple(args) if isinstance(args, (tuple, list)) else (args,)


class _RandomNumbers(Exception):
    """Random numbers were drawn while the function was traced."""


def _random_states() -> tuple:
    """(keys and position of NumPy's shared generator, state of Python's); None for a module that is not loaded."""
    numpy_random, random = sys.modules.get("numpy.random"), sys.modules.get("random")
    keys, at = (None, None) if numpy_random is None else numpy_random.get_state(legacy=True)[1:3]
    return keys, at, None if random is None else hash(random.getstate())


@contextmanager
def no_random_numbers(fun: Callable) -> Iterator[None]:
    """Random numbers drawn while tracing would be frozen into the expression: another function at every call."""
    before = _random_states()
    yield
    keys, at, python = _random_states()
    drawn = before[2] is not None and python != before[2]
    if before[0] is None:  # NumPy loads its generator when it is first used; untouched, it stands at its end
        drawn |= keys is not None and at != 624
    else:
        drawn |= at != before[1] or not np.array_equal(keys, before[0])
    if drawn:
        raise _RandomNumbers(f"{home(fun)}: The function draws random numbers. Draw them before, and pass them as an argument: "
                             "the same point must always have the same value.")


def _number_of_variables(n: Any) -> int:
    try:
        count = operator.index(n)
    except TypeError:
        count = -1
    if isinstance(n, bool) or count < 0:
        raise TraceError(f"The number of variables must be a positive integer, not {n!r}.")
    if count == 0:
        raise TraceError("The function was asked for with an empty vector (n = 0). Pass at least one variable.")
    return count


def _again(error: TraceError) -> TraceError:
    """An error that a second run may avoid."""
    error.again = True
    return error


def _explained(fun: Callable, error: Exception) -> TraceError:
    """The error to raise for an exception that left the user's function."""
    place = SourceLocation.of(error.__traceback__)
    text = str(error)
    called = scipy_call(error.__traceback__)
    if called in SCIPY_INSTEAD:
        return _again(trace_error(place, *no_rule_of_scipy(called)))
    if called is not None and re.search(_OBJECTS, text):
        return trace_error(place, *no_rule_of_scipy(called))
    if type(error).__module__.partition(".")[0] == "numba":
        return trace_error(place, *given_to("numba"))
    for pattern, what, cure in _MISUSES:
        if re.search(pattern, text):
            return _again(trace_error(place, what, cure))
    library = None if place is None else place.outside
    if library is not None and (re.search(r"\bTracer\b|\btraced\b", text) or type(error).__module__ == "ctypes"):
        return trace_error(place, *given_to(library))
    match = next(filter(None, (re.search(pattern, text) for pattern in _NO_RULE)), None) if isinstance(error, TypeError) else None
    if match is not None and called is not None:
        return trace_error(place, *no_rule_of_scipy(called))
    fill_tables()
    if match is not None and match[1] in SPECIAL:
        return _again(trace_error(place, f"An array made by np.array([...]) holds traced numbers, and scipy.special.{match[1]} "
                                  "takes no arrays of objects.", "Use np.stack([...]) instead of np.array([...])."))
    if match is not None:
        outer = None if place is None else place.called()  # np.linalg.eig meets them in a function that it calls itself
        name = name_of(outer) if getattr(outer, "__module__", None) == "numpy.linalg" else f"np.{match[1]}"
        return trace_error(place, *no_rule(name, sorted({f.__name__ for f in (*UFUNCS, *FUNCTIONS)})))
    where = f"{place}: " if place is not None else f"{home(fun)}: "
    given = getattr(fun, "arguments", "the vector x and the further arguments `args`")
    hint = f"Check its parameters: it is called with {given}." if place is None else \
        f"It was raised in a call of {library}, which takes no traced values. {instead_of(library)}" \
        if library is not None else "Correct the function, or pass the right number of variables; docs/numpy.md lists what " \
        "can be done with traced values."
    return UserFunctionError(f"{where}The function raised {type(error).__name__}: {text.rstrip('.') or 'no message'}. {hint}")


def home(fun: Callable) -> str:
    """Where the function is defined, for errors that have no line of the user's code in them."""
    fun = getattr(fun, "function", fun)
    code = getattr(fun, "__code__", None)
    name = getattr(fun, "__qualname__", repr(fun))
    return f"{code.co_filename}:{code.co_firstlineno}, in `{name}`" if code is not None else f"In `{name}`"


def scalar(fun: Callable, value: Any) -> Expr:
    """The returned value as a scalar expression, or an error that says what was returned instead of a number."""
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.reshape(-1)[0]
    if isinstance(value, Tracer) and not value.is_truth and value.size == 1:
        return b.reshape(value.expr, ())
    if isinstance(value, Real):
        return const(*value.ends)
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        return _constant(fun, value)
    what, cure = _not_a_number(value)
    raise form_error(f"{home(fun)}: The function returned {what}. {cure}")


def _constant(fun: Callable, value: Any) -> Expr:
    if not np.isfinite(float(value)) if isinstance(value, (float, np.floating)) else False:
        raise form_error(f"{home(fun)}: The function returned the constant {value}. Return a finite number.")
    try:
        return const(exact_doubles(value))
    except TraceError as error:
        raise TraceError(f"{home(fun)}: In the returned value: {error}") from None


def _not_a_number(value: Any) -> tuple[str, str]:
    scalar = "Return one real number."
    if value is None:
        return "None", "Is a `return` missing?"
    if isinstance(value, str):
        return f"the string {value[:40]!r}", scalar
    if isinstance(value, (bool, np.bool_)) or (isinstance(value, Tracer) and value.is_truth):
        return "a truth value", "Return a number, for instance np.where(condition, 1.0, 0.0)."
    if isinstance(value, (complex, np.complexfloating)):
        return "a complex number", "Return one real number, for instance its real part or np.hypot of its parts."
    if isinstance(value, (Tracer, np.ndarray)):
        return f"an array of shape {value.shape}", "Return one number: reduce it with np.sum(...), or pick one element."
    if isinstance(value, (list, tuple)):
        return f"a {type(value).__name__} of length {len(value)}", "Return one number: add up the parts, or pick one."
    return f"a value of type {type(value).__name__}", scalar


