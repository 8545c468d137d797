"""The settings of `engine="index"`, as a user gives them."""

import math
from os import PathLike
from typing import Any

import numpy as np

from infimum.engines.index.curves import KINDS
from infimum.engines.index.index_search import SearchOptions
from infimum.errors import OptionError
from infimum.search.option_names import known_options
from infimum.support.lazy import dataclass


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """Options of `engine="index"`, the search of black boxes. None of them has to be given.

    target: the run ends when a value is as good. accuracy: it ends when the method divides an interval that is shorter than this
    part of the bounds' widths (0: never). asynchronous: every worker gets its next trial when it has finished one; the journal
    replays what happened (False: rounds, whose results do not depend on timing). patience: the number of trials without a single
    value after which the run ends with an error. r: the reliability of the method, greater than 1: larger is more thorough (None:
    several at once). descents: descend from trials that are lower than their neighbours say. polish: improve the best trial by up
    to a tenth of the trials. curve: "single", "nodes", "rotated" or "shifted". lines: how many curves, of the last two. order: of
    the curve, from 1 to 52, 2**order cells along each variable (None: 20, or what whole numbers need). warm_start: the journal of
    another run, whose trials steer this one and do not count; the best of them is tried first.
    """

    target: float | None = None
    accuracy: float = 0.0
    asynchronous: bool = False
    patience: int = 30
    r: float | None = None
    descents: bool = True
    polish: bool = True
    curve: str = "single"
    lines: int = 2
    order: int | None = None
    warm_start: str | PathLike | None = None

    @classmethod
    def read(cls, given: dict[str, Any] | None) -> "IndexOptions":
        """Options from a dictionary, each checked."""
        given = known_options(cls, given)
        for name, value in given.items():
            holds, wanted = _VALID[name]
            if not (value is None and name in _OPTIONAL) and not holds(value):
                raise OptionError(f"option {name!r} must be {wanted}{', or None' if name in _OPTIONAL else ''}, not {value!r}")
        return cls(**given)

    def of_search(self, order: int) -> SearchOptions:
        """Those of the search, on a curve of that order unless another is given."""
        r = {} if self.r is None else {"several_r": (float(self.r),)}
        return SearchOptions(order=self.order or order, curve=self.curve, lines=self.lines, accuracy=self.accuracy,
                             descents=self.descents, **r)

    def of_journal(self) -> dict[str, Any]:
        """What a search must have in common with the one that wrote a journal, in the terms of JSON."""
        return {name: getattr(self, name) for name in ("r", "descents", "polish", "curve", "lines", "order")}


def _number(value: Any, whole: bool = False) -> bool:
    kinds = (int, np.integer) if whole else (int, float, np.integer, np.floating)
    return isinstance(value, kinds) and not isinstance(value, bool) and math.isfinite(value)


_BOOL = lambda value: isinstance(value, bool), "True or False"
_VALID = {
    "target": (_number, "a finite number"),
    "accuracy": (lambda value: _number(value) and 0 <= value < 1, "a number from 0 to less than 1, a part of the bounds' widths"),
    "asynchronous": _BOOL, "descents": _BOOL, "polish": _BOOL,
    "patience": (lambda value: _number(value, whole=True) and value >= 1, "a whole number from 1 on"),
    "r": (lambda value: _number(value) and value > 1, "a number greater than 1"),
    "curve": (lambda value: value in KINDS, f"one of {', '.join(map(repr, KINDS))}"),
    "lines": (lambda value: _number(value, whole=True) and value >= 1, "a whole number from 1 on"),
    "order": (lambda value: _number(value, whole=True) and 1 <= value <= 52, "a whole number from 1 to 52"),
    "warm_start": (lambda value: isinstance(value, (str, PathLike)), "the name of a journal"),
}
_OPTIONAL = ("target", "r", "order", "warm_start")
