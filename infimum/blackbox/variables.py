"""The variables of a black box: numbers between two bounds, whole numbers, and choices from a list."""

import re
from collections.abc import Mapping
from numbers import Number
from typing import Any

import numpy as np

from infimum.blackbox.identity import text_of_value
from infimum.errors import BoundsError, OptionError
from infimum.problem.integrality import read_integrality
from infimum.problem.problem import Problem
from infimum.problem.variable_bounds import read_bounds
from infimum.support.lazy import dataclass


class Choices:
    """The values that a variable may have, any objects. A list in `bounds` means the same, unless it is a pair of numbers.

    >>> Choices(0.1, 10.0)
    Choices(0.1, 10.0)
    """

    __slots__ = ("values",)

    def __init__(self, *values: Any):
        if not values:
            raise OptionError("Choices() holds no value: give at least one")
        self.values = values

    def __repr__(self) -> str:
        return f"Choices({', '.join(map(repr, self.values))})"


@dataclass(frozen=True, slots=True, eq=False)
class Variables:
    """What a point of a trial is: coordinates between `lo` and `hi`, finite; those in `integers` are whole numbers, and those in
    `choices` the number of a value, counted from 0.

    >>> variables = Variables.read([(0, 1), ["relu", "tanh"], (1.5, 9)], integrality=[0, 0, 1])
    >>> variables.lo, variables.hi, variables.integers
    (array([0., 0., 2.]), array([1., 1., 9.]), (1, 2))
    >>> variables.argument(np.array([0.5, 1.0, 3.0]))
    [0.5, 'tanh', 3]
    """

    lo: np.ndarray
    hi: np.ndarray
    integers: tuple[int, ...]
    choices: Mapping[int, tuple]

    @classmethod
    def read(cls, bounds: Any, integrality: Any = None, n: int | None = None) -> "Variables":
        """From the user's arguments, checked. An entry of `bounds` is a pair (low, high), or a list of values."""
        bounds, choices = _with_choices(bounds)
        box = read_bounds(bounds, n)
        for i in np.flatnonzero(~(np.isfinite(box.region[0]) & np.isfinite(box.region[1])))[:1]:
            raise BoundsError(f"the bounds of variable {i} are {box.named(i)}: the trials of a black box "
                              "are spread over the whole box, which must be finite; give the widest bounds that make sense")
        whole = Problem(None, box.lo, box.hi, outer=box.outer, ends={at: box.end(*at) for at in box.needed()})
        integers, none, problem = read_integrality(integrality, whole)
        if none is not None:
            raise BoundsError(f"variable {none} is a whole number, and there is none between its bounds {box.named(none)}")
        for i in np.flatnonzero(problem.lo > problem.hi)[:1]:
            raise BoundsError(f"no double lies between the bounds {box.named(i)} of variable {i}, and trials are made at doubles")
        return cls(problem.lo, problem.hi, tuple(sorted({*integers, *choices})), choices)

    def __len__(self) -> int:
        return len(self.lo)

    def nearest(self, x: Any) -> np.ndarray:
        """The point that is allowed and nearest in each coordinate."""
        x = np.clip(np.asarray(x, dtype=np.float64), self.lo, self.hi)
        at = list(self.integers)
        x[at] = np.rint(x[at])
        return x

    def allowed(self, x: Any) -> bool:
        """Is it a point of these variables?"""
        x, at = np.asarray(x, dtype=np.float64), list(self.integers)
        return len(x) == len(self.lo) and bool(((x >= self.lo) & (x <= self.hi)).all() and (x[at] == np.rint(x[at])).all())

    def argument(self, x: np.ndarray) -> np.ndarray | list:
        """What the function is called with: a copy of the point, an array of doubles; with choices a list, whose entries are
        floats, ints, and the chosen values."""
        if not self.choices:
            return np.array(x, dtype=np.float64)
        return [self.choices[i][int(v)] if i in self.choices else int(v) if i in self.integers else float(v)
                for i, v in enumerate(x)]

    def numbered(self, x: Any) -> Any:
        """A point as the function gets it, with the numbers of the values in place of these. What is no value may be its number.

        >>> Variables.read([(0, 1), ["relu", "tanh"]]).numbered([0.5, "tanh"])
        [0.5, 1]
        """
        if isinstance(x, np.ndarray) or len(x) != len(self.lo):
            return x
        return [self._number(i, v) if i in self.choices else v for i, v in enumerate(x)]

    def _number(self, i: int, value: Any) -> Any:
        shown = [repr(one) for one in self.choices[i]]
        if repr(value) in shown:
            return shown.index(repr(value))
        if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
            return value
        raise OptionError(f"x0 has {value!r} for variable {i}, whose choices are {', '.join(shown)}")

    def describe(self) -> dict[str, Any]:
        """What tells these variables from others, in the terms of JSON."""
        objects = {str(i): [text_of_value(value) for value in values] for i, values in self.choices.items()
                   if not all(isinstance(value, (str, int, float, type(None))) for value in values)}
        return {"bounds": [[float(a), float(b)] for a, b in zip(self.lo, self.hi, strict=True)], "integers": list(self.integers),
                "choices": {str(i): [lasting(value) for value in values] for i, values in self.choices.items()},
                **({"choice_values": objects} if objects else {})}


def lasting(value: Any) -> str:
    """A value as it is printed, without what is another in each process: the address of a function or an object.

    >>> lasting(Variables.__len__)
    '<function Variables.__len__>'
    """
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))


def _with_choices(bounds: Any) -> tuple[Any, dict[int, tuple]]:
    """The bounds with the numbers of the values in place of the lists, and these lists."""
    if not isinstance(bounds, (list, tuple)):
        return bounds, {}
    choices = {i: tuple(getattr(entry, "values", entry)) for i, entry in enumerate(bounds) if _is_choice(entry)}
    for i, values in choices.items():
        plain = [repr(value) for value in values if isinstance(value, (str, int, float, type(None)))]
        twice = next((one for k, one in enumerate(plain) if one in plain[:k]), None)
        if twice is not None:
            raise BoundsError(f"{twice} is twice among the choices of variable {i}, and would be tried twice: give it once")
    return [(0, len(choices[i]) - 1) if i in choices else entry for i, entry in enumerate(bounds)], choices


def _is_choice(entry: Any) -> bool:
    if isinstance(entry, Choices):
        return True
    return isinstance(entry, list) and bool(entry) and (len(entry) != 2 or not all(map(_is_end, entry)))


def _is_end(value: Any) -> bool:
    """May it be an end of bounds: a number of any kind, one such as infimum.pi, or None?"""
    number = isinstance(value, (Number, np.number)) or hasattr(value, "lo")
    return value is None or (number and not isinstance(value, bool))
