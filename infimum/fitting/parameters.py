"""The parameters of a fit: bounds, fixed values and a point to start from, as users give them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from infimum.errors import BoundsError, OptionError
from infimum.fitting.model import Model
from infimum.problem.text import counted
from infimum.problem.variable_bounds import Bounds, check_meant_as_pairs, listed, read_bounds
from infimum.support.given_numbers import shown
from infimum.support.lazy import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Parameters:
    """`values`: the numbers of the fixed ones, NaN for the `free` ones (a mask); `bounds`: those of the free ones alone; `start`:
    a point of theirs, or None."""

    names: tuple[str, ...]
    values: np.ndarray
    bounds: Bounds
    start: np.ndarray | None

    @property
    def lo(self) -> np.ndarray:
        """The lower bounds of the free ones, rounded inward."""
        return self.bounds.lo

    @property
    def hi(self) -> np.ndarray:
        """The upper bounds of the free ones, rounded inward."""
        return self.bounds.hi

    @property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Both, in ascending order: of one with no double within its bounds, the doubles around them."""
        none, (low, high) = self.lo > self.hi, self.bounds.region
        return np.where(none, low, self.lo), np.where(none, high, self.hi)

    @property
    def free(self) -> np.ndarray:
        return np.isnan(self.values)

    @property
    def free_names(self) -> list[str]:
        return [name for name, free in zip(self.names, self.free, strict=True) if free]

    def all_values(self, free: np.ndarray) -> np.ndarray:
        """All parameters, the fixed ones included, from the free ones: (n,) or (n, N)."""
        values = np.empty((len(self.names), *free.shape[1:]))
        values.T[...] = self.values
        values[self.free] = free
        return values

    def places(self) -> list[int | float]:
        """Of each parameter the number of its variable, or, as a float, its fixed value."""
        numbers = iter(range(len(self.lo)))
        return [next(numbers) if free else float(value) for free, value in zip(self.free, self.values, strict=True)]


@dataclass(slots=True)
class ParameterSettings:
    """What is known of some parameters, by name: pairs of bounds, fixed values, a start. Anything may be missing."""

    bounds: dict[str, Any]
    fixed: dict[str, float]
    start: dict[str, float]

    @classmethod
    def read(cls, model: Model, bounds: Any, fixed: Any, p0: Any) -> "ParameterSettings":
        names, lmfit = model.names, is_lmfit(bounds)
        start = dict(model.defaults)
        if lmfit:
            check_names("an lmfit Parameters given as bounds", bounds, names)
            _refuse_expressions(bounds)
            start |= {name: float(p.value) for name, p in bounds.items() if np.isfinite(p.value)}
        given = _by_name("p0", p0, names)
        asked = cls({}, {}, start | {name: _number(f"the start p0 of {name!r}", value) for name, value in given.items()})
        if lmfit:
            asked.fixed = {name: float(p.value) for name, p in bounds.items() if not p.vary}
        asked.fixed |= _fixed(fixed, names, asked.start)
        asked.bounds = {name: (p.min, p.max) for name, p in bounds.items() if p.vary} if lmfit else \
            _bounds(bounds, names, [name for name in names if name not in asked.fixed])
        return asked

    def missing(self, names: Iterable[str]) -> list[str]:
        """The names of those of which a finite interval is not given."""
        return [name for name in names if name not in self.fixed and not _is_finite(self.bounds.get(name))]

    def parameters(self, names: tuple[str, ...]) -> Parameters:
        """All of them, where none is missing."""
        free = [name for name in names if name not in self.fixed]
        if not free:
            raise OptionError("all parameters are fixed: there is nothing to fit")
        bounds = named_bounds(free, [self.bounds[name] for name in free])
        lo, hi = bounds.lo, bounds.hi
        start, known = lo / 2 + hi / 2, False
        for k, name in enumerate(free):
            if name in self.start:
                start[k], known = self.start[name], True
        values = np.array([self.fixed.get(name, np.nan) for name in names])
        return Parameters(names, values, bounds, np.clip(start, lo, hi) if known else None)


def is_lmfit(bounds: Any) -> bool:
    """Is it an lmfit Parameters? Told by what it holds, since lmfit need not be installed."""
    return isinstance(bounds, Mapping) and bool(bounds) and all(hasattr(p, "vary") and hasattr(p, "min") for p in bounds.values())


def count_of(bounds: Any, p0: Any) -> int | None:
    """The number of parameters, where bounds or a start tell it; for signatures that do not."""
    if hasattr(bounds, "lb"):
        bounds = list(zip(np.atleast_1d(bounds.lb), np.atleast_1d(bounds.ub), strict=False))
    tells = is_lmfit(bounds) or isinstance(bounds, (Sequence, np.ndarray)) and any(np.ndim(row) for row in bounds)
    return next((len(given) for given in (bounds if tells else None, p0) if hasattr(given, "__len__")), None)


def named_bounds(names: list[str], pairs: list) -> Bounds:
    """The bounds; errors name the parameter."""
    try:
        return read_bounds(pairs)
    except BoundsError as error:
        text = re.sub(r"variable (\d+)", lambda found: f"parameter {names[int(found[1])]!r}", str(error))
        raise BoundsError(text) from None


def check_start(parameters: Parameters, p0: Any) -> None:
    """A start that was given must lie within the bounds; a default of the signature need not."""
    given = _by_name("p0", p0, parameters.names)
    for name, low, high in zip(parameters.free_names, *parameters.bounds.region, strict=True):
        if name in given and not low <= given[name] <= high:
            raise OptionError(f"the start p0 of {name!r} is {float(given[name])!r}, outside its bounds ({float(low)!r}, "
                              f"{float(high)!r}): give a start within them, or wider bounds")


def _bounds(bounds: Any, names: tuple[str, ...], free: list[str]) -> dict[str, Any]:
    """The pairs by name."""
    if bounds is None:
        return {}
    if isinstance(bounds, Mapping):
        check_names("bounds", bounds, names)
        return {name: pair for name, pair in bounds.items() if name in free}
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        count = max(np.size(bounds.lb), np.size(bounds.ub))
        lows, highs = (ends * count if len(ends) == 1 else ends for ends in map(listed, (bounds.lb, bounds.ub)))
        rows = list(zip(lows, highs, strict=True))
        rows = rows * len(names) if count == 1 else rows
    else:
        bounds = bounds.to_numpy() if hasattr(bounds, "to_numpy") else bounds
        try:
            rows = list(bounds)
        except TypeError:
            raise BoundsError(f"bounds must be a dictionary name: (low, high), or a list of pairs, not {bounds!r}") from None
        check_meant_as_pairs(bounds, rows)
        if len(rows) == 2 and all(np.ndim(row) == 0 for row in rows):
            rows = [tuple(rows)] * len(names)
    if len(rows) not in (len(names), len(free)):
        raise BoundsError(f"{counted(len(rows), 'pair')} of bounds for {counted(len(names), 'parameter')} "
                          f"({', '.join(names)}): give one (low, high) for each, or a dictionary by name")
    return dict(zip(names if len(rows) == len(names) else free, rows, strict=True))


def _is_finite(pair: Any) -> bool:
    """Is it a pair without an infinite or missing end? What else may be wrong with it is told when it is read."""
    try:
        low, high = pair
    except (TypeError, ValueError):
        return pair is not None
    return low is not None and high is not None and not any(isinstance(end, (float, np.floating)) and np.isinf(end)
                                                            for end in (low, high))


def _fixed(fixed: Any, names: tuple[str, ...], start: dict[str, float]) -> dict[str, float]:
    """The values of those that are held, by name; names alone are held at their start."""
    if fixed is None:
        return {}
    if isinstance(fixed, Mapping):
        check_names("fixed", fixed, names)
        return {name: _number(f"the fixed value of {name!r}", value) for name, value in fixed.items()}
    held = [fixed] if isinstance(fixed, str) else list(fixed)
    check_names("fixed", held, names)
    for name in held:
        if name not in start:
            raise OptionError(f"{name!r} is to be fixed, but at which value? Give fixed={{{name!r}: value}}, a p0, or a default "
                              "in the signature of the model")
    return {name: start[name] for name in held}


def _by_name(what: str, values: Any, names: tuple[str, ...]) -> dict[str, Any]:
    if values is None:
        return {}
    if isinstance(values, Mapping):
        check_names(what, values, names)
        return {name: getattr(value, "value", value) for name, value in values.items()}
    listed = np.ravel(np.asarray(values, dtype=object)).tolist()
    if len(listed) != len(names):
        raise OptionError(f"{what} has {counted(len(listed), 'number')} for {counted(len(names), 'parameter')} "
                          f"({', '.join(names)}): give one for each, or a dictionary by name")
    return dict(zip(names, listed, strict=True))


def _number(what: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise OptionError(f"{what} is {shown(value)}, which is not a number that a double can hold") from None
    if not np.isfinite(number):
        raise OptionError(f"{what} is {number!r}: give a finite number")
    return number


def check_names(what: str, given: Iterable[str], names: tuple[str, ...]) -> None:
    for name in given:
        if name not in names:
            near = get_close_matches(str(name), names, n=1)
            cure = f"did you mean {near[0]!r}?" if near else f"its parameters are {', '.join(map(repr, names))}"
            raise OptionError(f"{what} names {name!r}, which is no parameter of the model: {cure}")


def _refuse_expressions(parameters: Mapping) -> None:
    for name, p in parameters.items():
        if getattr(p, "expr", None):
            raise OptionError(f"the lmfit parameter {name!r} is defined by the expression {p.expr!r}: write that formula into "
                              "the model, and leave the parameter out")
