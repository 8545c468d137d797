"""Minimiser and Minimisers: boxes that are proved to hold exactly one minimiser each."""

from collections.abc import Sequence

import numpy as np

from infimum.problem.text import counted, point
from infimum.support import environment
from infimum.support.lazy import dataclass

_SHOWN = 20  # rows of a table


@dataclass(frozen=True, slots=True, eq=False)
class Minimiser:
    """A box [lo, hi] that holds exactly one local minimiser of the problem, within its bounds and constraints. Proved.

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

    >>> one = Minimiser(np.array([0.5, 1.0]), np.array([0.5, 1.0]), -2.0, -2.0, may_be_global=True)
    >>> print(Minimisers([one], rest=0))
    exactly one global minimiser, proved
                     value  global  width  x
                        -2  yes         0  (0.5, 1)
    """

    __slots__ = ("_found", "_word", "rest", "why")

    def __init__(self, found: Sequence[Minimiser], rest: int, why: str | None = None, word: str = "minimiser"):
        self._found, self._word, self.rest, self.why = tuple(found), word, rest, why

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

    @environment.ours
    def __str__(self) -> str:
        """A table, the lowest first, of maximisers the highest."""
        shown = sorted(self._found, key=lambda m: (m.lower, m.upper), reverse=self._word == "maximiser")[:_SHOWN]
        lines = [self._headline(), f"{'value':>22}  global  {'width':>5}  x"] if shown else [self._headline()]
        for m in shown:
            middle, width = 0.5 * m.lo + 0.5 * m.hi, float((m.hi - m.lo).max())
            may_be = ("yes" if self.exactly_one else "may be") if m.may_be_global else "no"
            lines.append(f"{m.upper:>22.15g}  {may_be:<6}  {width:>5.0e}  {point(middle)}" if width else
                         f"{m.upper:>22.15g}  {may_be:<6}  {0:>5}  {point(middle)}")
        return "\n".join(lines + ([f"{f'and {len(self) - _SHOWN:,} more':>22}"] if len(self) > _SHOWN else []))

    def _headline(self) -> str:
        """What is known of the global minimisers."""
        if self.exactly_one:
            return f"exactly one global {self._word}, proved"
        count = len(self.may_be_global)
        if self.rest == 0:
            return f"at least one of {count:,} local {self._word}s is global, and no other point" if count else \
                f"no global {self._word}"
        known = f"no {self._word} is proved to be alone" if not self._found else \
            f"{counted(len(self), self._word)} {'is' if len(self) == 1 else 'are'} proved to be alone in a box"
        rest = counted(self.rest, "other region" if self._found else "region")
        return f"{known}; {rest} may hold {self._word}s{'' if self.why is None else f': {self.why}'}"

    def __repr__(self) -> str:
        return f"Minimisers(found={len(self)}, rest={self.rest}, why={self.why!r})"
