"""Does a result agree with what is known about a problem of the gallery?"""

from dataclasses import asdict
from typing import Any

from infimum.problem.problem import Interval
from infimum.problems import GalleryProblem
from infimum.result import Result, Verdict
from infimum.support.lazy import dataclass

_MISSED_DISTANCE = 1e-6  # a search that ends further above the known minimum, absolutely and relatively, has missed it


@dataclass(frozen=True, slots=True)
class Check:
    """minimum: the interval that is known to hold it. inside: it lies in the enclosure as a whole; meets: a part of it does.
    minimisers, covered: how many are known, and how many of them meet the boxes; None without boxes. missed: a search ended
    above the minimum."""

    minimum: Interval
    inside: bool
    meets: bool
    minimisers: int
    covered: int | None
    missed: bool

    @property
    def ok(self) -> bool:
        """Nothing that was proved contradicts what is known."""
        return self.meets and self.covered in (None, self.minimisers)

    @property
    def word(self) -> str:
        """The outcome of the comparison in one word."""
        return "WRONG" if not self.ok else "missed" if self.missed else "ok"

    def about_minimum(self) -> str:
        """A line for people."""
        how = "lies in" if self.inside else "meets" if self.meets else "WRONG: lies OUTSIDE"
        return f"the minimum {self.minimum} {how} the enclosure" + ("; this search MISSED it" if self.word == "missed" else "")

    def about_minimisers(self) -> str:
        """A line for people."""
        if self.covered is None:
            return "no boxes were proved in which the known minimisers could lie"
        wrong = "" if self.covered == self.minimisers else "WRONG: only "
        return f"{wrong}{self.covered} of {self.minimisers} known minimisers lie{'s' if self.covered == 1 else ''} in the boxes"

    def fields(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self) | {"minimum": [self.minimum.lo, self.minimum.hi], "word": self.word}


def check(p: GalleryProblem, result: Result) -> Check:
    """A minimiser is known as a small box around it: it is covered if that meets one of the result's boxes."""
    known = p.minimum
    covered = None
    if result.boxes is not None:
        covered = sum(any(((lo <= high) & (low <= hi)).all() for low, high in result.boxes) for lo, hi in p.minimisers)
    far = result.upper - known.hi > _MISSED_DISTANCE * max(1.0, abs(known.hi))
    return Check(known, result.lower <= known.lo and known.hi <= result.upper,
                 result.lower <= known.hi and known.lo <= result.upper, len(p.minimisers), covered,
                 bool(result.verdict is Verdict.CANDIDATE and far))
