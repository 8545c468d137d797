"""Does what was traced mean what a call with plain numbers means?

A function may look at its argument in ways that a trace does not show: it asks for its type, counts its calls, reads a file that
changes. What was traced is then another function, and a proof about it is worth nothing. So the user's functions are called with
plain numbers at points spread over the box and at the point that is returned, and compared with the recorded steps, repeated with
the same numbers. Both round alike. Only where NumPy may add in another order than the steps do, or compute an elementary function
in another way, the last bits may differ; how much that matters is found by repeating the steps with such errors.

Proof: docs/proofs/claims.md.
"""

import math
import warnings
from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from infimum.errors import AgreementError, TraceError
from infimum.expr.node import topological
from infimum.expr.real import Real
from infimum.problem.problem import Problem
from infimum.problem.text import point as shown
from infimum.problem.variable_bounds import Bounds
from infimum.support import environment
from infimum.support.lazy import LazyModule
from infimum.trace.recording import name_of
from infimum.trace.trace import TracedFunction, home
from infimum.trace.tracer import Tracer, lift

if TYPE_CHECKING:
    from infimum.expr import point_value
    from infimum.trace import integer_ranges, rounding_noise
else:
    point_value = LazyModule("expr.point_value")
    integer_ranges = LazyModule("trace.integer_ranges")
    rounding_noise = LazyModule("trace.rounding_noise")

POINTS = 8                             # at which a function is compared, at least
_UNDEFINED = 2                         # further points, at which it is undefined
_BLOCKS = 8                            # of eight points each, of which these are chosen
_SLOW_SECONDS = 0.1                    # seconds: a function that takes longer is called once
_TIME_SHARE, _MOST_SECONDS = 0.1, 2.0  # of the time of a run that the calls may take, and seconds
_SMALLEST, _DECADES = -3, 9            # magnitudes 10**-3 to 10**6 of variables without bounds
_WIDE_BOX = 1e4                        # a box that is wider than this is sampled at all magnitudes too
_REPEATS = 4                           # replays with rounding errors
_MARGIN = 8.0                          # the largest effect of rounding errors, in terms of those seen
_BISECTIONS, _BOUNDARIES = 30, 4       # steps to the boundary of a comparison, and elements of comparisons that are asked there
_CURE = "The function looks at its argument in a way that tracing does not see: its type, a count of calls, a file, the time, " \
        "random numbers. Compute the value from x with NumPy alone."


class SampleBox(NamedTuple):
    """Where points are taken: between lo and hi, whole numbers in the variables numbered in `integers`."""

    lo: np.ndarray
    hi: np.ndarray
    integers: Sequence[int] = ()

    @classmethod
    def of(cls, bounds: Bounds | Problem, integers: Sequence[int] = ()) -> "SampleBox":
        """Within bounds; of a variable with no double between them, those around them."""
        none, (low, high) = bounds.lo > bounds.hi, bounds.region
        return cls(np.where(none, low, bounds.lo), np.where(none, high, bounds.hi), integers)

    @property
    def key(self) -> tuple:
        """Equal for equal boxes."""
        return self.lo.tobytes(), self.hi.tobytes(), tuple(self.integers)


class Agreement:
    """Compares functions of the user's with what was traced; `calls` counts the plain calls that agreed."""

    def __init__(self, functions: Sequence[TracedFunction]):
        self.functions, self.calls = tuple(f for f in functions if not getattr(f.fun, "is_ours", False)), 0

    def over(self, box: SampleBox, seed: int = 0, seconds: float = math.inf) -> None:
        """Compares at points spread over a box. A part of `seconds`, the time of the run, is spent; each function is called once
        at least. Where the box is the one over which this trace has agreed before, as in repeated runs of an Evaluator, one of
        the points is compared again."""
        end = perf_counter() + min(_TIME_SHARE * seconds, _MOST_SECONDS)
        for function in self.functions:
            key, points = function.agreed
            if key == box.key:
                self.calls += len(points)
                self.at(points[seed % len(points)], functions=[function])
                continue
            points = _points(function, box, seed, end)
            found = environment.call_untrapped(_calls, function, [points[0], *points], end)
            if len(found) > 1:
                self._compare_twice(function, points[0], *found[:2])
            traced = environment.call_untrapped(_replays, function, points[:max(1, len(found) - 1)])
            self._check_integers(function, next((x for x, t in zip(points, traced, strict=False) if not isinstance(t, Exception)),
                                                points[0]))
            self._compare(function, points, found[1:] or found, traced, end)
            if len(found) == len(points) + 1:
                self.at(*_boundary_points(function, points, traced), functions=[function])
                if perf_counter() < end:
                    function.agreed = box.key, points

    def at(self, *points: np.ndarray, functions: Sequence[TracedFunction] | None = None) -> None:
        """Compares at these points."""
        for function in self.functions if functions is None else functions:
            found, traced = (environment.call_untrapped(how, function, points) for how in (_calls, _replays))
            self._compare(function, points, found, traced)

    def _compare(self, function: TracedFunction, points: Sequence[np.ndarray], found: list, traced: list,
                 end: float = math.inf) -> None:
        """Raises where a plain call found something else than was traced."""
        for k, (x, one, other) in enumerate(zip(points, found, traced, strict=False)):
            if k and perf_counter() >= end:
                break
            if not _agree(function, x, one, other):
                plain, traced_as = (_text(value, "returns", "raises") for value in (one, other))
                what = f"At x = {shown(x)} the function {plain} for plain numbers, and as it was traced it {traced_as}."
                raise _error(function, what) from one if isinstance(one, Exception) else None
            self.calls += 1

    def _check_integers(self, function: TracedFunction, x: np.ndarray) -> None:
        """Raises where NumPy computes in integers that may wrap around."""
        if not function.recording.has_conditions:  # of which alone integers are made
            return
        ranges = integer_ranges.IntegerRanges()
        environment.call_untrapped(_replays, function, [x], ranges)
        if ranges.wrapping is not None:
            step, dtype = ranges.wrapping
            what = f"NumPy computes `{name_of(step.function)}` in integers of the type {dtype} here, which wrap around where " \
                "they become too large, and they may."
            error = _error(function, what, "Write floats instead of integers, 1.0 for 1, so that NumPy computes in doubles.")
            error.may_be_tried = False  # with these integers
            raise error

    def _compare_twice(self, function: TracedFunction, x: np.ndarray, first: Any, second: Any) -> None:
        if not _agree(function, x, first, second):
            raise _error(function, f"Two calls with the same numbers x = {shown(x)} return {_text(first)} and {_text(second)}.")
        self.calls += 1


def _error(function: TracedFunction, what: str, how: str | None = None) -> AgreementError:
    role = getattr(function.fun, "role", function.role)
    cure = how or getattr(function.fun, "cure", _CURE)  # of the model of a fit
    return AgreementError(f"{role}{home(function.fun)}: {what} {cure}")


# ---- calls and replays
def _calls(function: TracedFunction, points: Sequence[np.ndarray], end: float = math.inf) -> list:
    """What plain calls return at the points, or the exceptions that they raise: one call if it is slow, or the time is over."""
    found: list[Any] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = perf_counter()
        for x in points:
            found.append(_attempt(function.call, x))
            if len(found) == 1 and perf_counter() - begin > _SLOW_SECONDS or perf_counter() >= end:
                break
    return found


def _replays(function: TracedFunction, points: Sequence[np.ndarray], altered: Any = None) -> list:
    """What the recorded steps return, or the exceptions that they raise, as the function would, where NumPy is told to."""
    reactions = {name: how if how == "raise" else "ignore" for name, how in np.geterr().items()}
    with warnings.catch_warnings(), np.errstate(**reactions):
        warnings.simplefilter("ignore")
        return [_attempt(function.recording.replay, x.copy(), altered) for x in points]


def _attempt(function: Any, *args: Any) -> Any:
    """function(*args), which need not be defined there; an exception is returned."""
    try:
        return function(*args)
    except Exception as error:
        return error


# ---- comparison
def _agree(function: TracedFunction, x: np.ndarray, found: Any, wanted: Any) -> bool:
    """Are two results of the function at x the same, but for the order of additions?"""
    a, b = _numbers(found), _numbers(wanted)
    if len(a) == len(b) and _alike(a, b).all():
        return True
    replays = (_numbers(environment.call_untrapped(_replays, function, [x], noise)[0])
               for noise in (None, *map(rounding_noise.RoundingNoise, range(_REPEATS))))
    base, spread = next(replays), 0.0
    near = _alike(a, b) if len(a) == len(b) else None
    for c in replays:
        if len(c) != len(base):  # some raise, some do not: rounding decides
            return True
        if near is None or len(c) != len(a):
            continue
        with np.errstate(all="ignore"):
            spread = np.maximum(spread, np.abs(c - base))
            near |= (np.abs(a - b) <= _MARGIN * spread) | _alike(a, c)
        if near.all():
            return True
    return False


def _alike(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Which numbers are equal. One that is NaN agrees with one that is not finite: there the function is undefined."""
    return (a == b) | (np.isnan(a) & ~np.isfinite(b)) | (np.isnan(b) & ~np.isfinite(a))


def _numbers(returned: Any) -> np.ndarray:
    """All numbers in what a function returned, conditions as 1 and 0; one NaN for an exception."""
    if isinstance(returned, Exception):
        return np.array([np.nan])
    leaves = list(_leaves(returned))
    return np.concatenate(leaves) if leaves else np.zeros(0)


def _leaves(value: Any) -> Iterator[np.ndarray]:
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from _leaves(part)
    elif isinstance(value, np.ndarray) and value.dtype == object:
        for part in value.flat:
            yield from _leaves(part)
    elif isinstance(value, Real):
        yield np.array([value.lo])
    elif isinstance(value, Tracer):  # made of exact constants
        if any(node.op == "var" for node in topological([value.expr])):
            raise TraceError("For plain numbers the function returned a value that was traced in an earlier call: it keeps "
                             "values from one call to the next, or a part of it ran in another thread. Compute the value from "
                             "x alone, in one thread.")
        for part in Tracer(lift(value)).ravel():
            ends = point_value.enclose_at_point(part.expr, np.zeros(0))
            yield np.array([np.nan if ends is None else ends[0]])
    else:
        try:
            numbers = np.asarray(value)
            yield numbers.astype(np.float64).reshape(-1) if numbers.dtype.kind in "biuf" else np.array([np.nan])
        except (TypeError, ValueError):
            yield np.array([np.nan])


def _text(value: Any, returned: str = "", raised: str = "") -> str:
    if isinstance(value, Exception):
        return f"{raised} {type(value).__name__}: {value}".strip()
    text = repr(value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value)
    return f"{returned} {text if len(text) <= 80 else text[:77] + '...'}".strip()


# ---- points
def _points(function: TracedFunction, box: SampleBox, seed: int, end: float) -> list[np.ndarray]:
    """Points of the box, of which most are such that the function is defined there. They are chosen in our environment, so that
    they do not depend on the caller's."""
    defined: list[np.ndarray] = []
    undefined: list[np.ndarray] = []
    for block in range(_BLOCKS):
        points = _block(box, seed, block)
        for x, traced in zip(points, _replays(function, points), strict=True):
            (defined if np.isfinite(_numbers(traced)).all() else undefined).append(x)
        if len(defined) >= POINTS or perf_counter() >= end:
            break
    return [*defined[:POINTS], *undefined[:max(_UNDEFINED, POINTS - len(defined))]]


def _block(box: SampleBox, seed: int, block: int) -> np.ndarray:
    """Eight points, the rows of an array, spread over the box in every variable."""
    lo, hi = box.lo, box.hi
    words = _words(seed, block, (POINTS + 2, len(lo)))
    odd, shift = words[0] % np.uint64(POINTS) * np.uint64(2) + np.uint64(1), words[1]
    stratum = (np.arange(POINTS, dtype=np.uint64)[:, None] * odd + shift) % np.uint64(POINTS)
    unit = (stratum + (words[2:] >> np.uint64(11)) * 2.0**-53) / POINTS
    with np.errstate(all="ignore"):
        x = lo * (1 - unit) + hi * unit
        endless = np.isinf(lo) | np.isinf(hi)
        wide = endless | (hi - lo > _WIDE_BOX)
        if wide.any():  # at all magnitudes: every point where bounds are infinite, else every other one
            middle, length = np.clip(0.0, lo, hi), 10.0 ** (_SMALLEST + _DECADES * unit)
            below = (middle > lo) & ((middle >= hi) | (words[2:] % np.uint64(2) == 1))
            far = middle + np.where(below, -length, length)
            x = np.where(endless | wide & (np.arange(POINTS) % 2 == 1)[:, None], far, x)
    if len(box.integers):
        x[:, box.integers] = np.rint(x[:, box.integers])
    return np.minimum(np.maximum(x, lo), hi)


def _words(seed: int, block: int, shape: tuple[int, int]) -> np.ndarray:
    """Random words, each a function of what it is for (the finalizer of SplitMix64)."""
    first = (seed * 0xD1342543DE82EF95 + block * 0xDA942042E4DD58B5 + 1) % 2**64
    z = np.arange(math.prod(shape), dtype=np.uint64).reshape(shape) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(first)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    return z ^ (z >> np.uint64(31))


def _boundary_points(function: TracedFunction, points: Sequence[np.ndarray], traced: list) -> list[np.ndarray]:
    """Of comparisons, which say only yes or no, pairs of points on both sides of where the answer changes."""
    if not all(map(_compares, traced)):
        return []
    table, found = np.array([_numbers(answer) for answer in traced]), []
    for element in np.flatnonzero(table.min(axis=0) < table.max(axis=0))[:_BOUNDARIES]:
        yes, no = points[int(np.argmax(table[:, element]))], points[int(np.argmin(table[:, element]))]
        for _ in range(_BISECTIONS):
            middle = yes / 2 + no / 2
            holds, = environment.call_untrapped(_replays, function, [middle])
            yes, no = (middle, no) if _numbers(holds)[element] else (yes, middle)
        found += [yes, no]
    return found


def _compares(value: Any) -> bool:
    """Is it made of truth values alone?"""
    if isinstance(value, (list, tuple)):
        return bool(value) and all(map(_compares, value))
    return isinstance(value, (bool, np.bool_)) or (isinstance(value, np.ndarray) and value.dtype == bool)
