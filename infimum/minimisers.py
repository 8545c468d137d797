"""Minimiser and Minimisers: boxes that are proved to hold exactly one minimiser each."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True, eq=False)
class Minimiser:
    """A box [lo, hi] that holds exactly one local minimiser over the bounds of the problem. Proved.

    lower, upper: the value there lies between them. may_be_global: it was not shown that there are lower values.
    """

    lo: np.ndarray
    hi: np.ndarray
    lower: float
    upper: float
    may_be_global: bool


class Minimisers(Sequence):
    """The boxes with exactly one minimiser each, a sequence of `Minimiser`, and what is left beside them.

    `rest` is the number of regions that may hold global minimisers in none of these boxes: 0 means that there are no other global
    minimisers, so that a single one that may be global is *the* global minimiser. `why` says what prevented a proof elsewhere.
    """

    __slots__ = ("_found", "rest", "why")

    def __init__(self, found: Sequence[Minimiser], rest: int, why: str | None = None):
        self._found, self.rest, self.why = tuple(found), rest, why

    def __len__(self) -> int:
        return len(self._found)

    def __getitem__(self, k: int | slice) -> Minimiser | tuple[Minimiser, ...]:
        return self._found[k]

    @property
    def may_be_global(self) -> list[Minimiser]:
        """Those that may be global."""
        return [m for m in self._found if m.may_be_global]

    @property
    def exactly_one(self) -> bool:
        """Is there exactly one global minimiser, in the box of the only one that may be it?"""
        return self.rest == 0 and len(self.may_be_global) == 1

    def __repr__(self) -> str:
        return f"Minimisers(found={len(self)}, rest={self.rest}, why={self.why!r})"
