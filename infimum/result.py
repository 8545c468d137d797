"""What was shown: Result and its Verdict."""

import base64
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any

import numpy as np

from infimum import environment
from infimum.cover import Cover
from infimum.plain import plain, strict
from infimum.plotting import View, draw, png
from infimum.text import html_table, point, table


class Verdict(Enum):
    """What a result is worth. The value is the sentence for people."""

    PROVED = "the global minimum is proved to lie between lower and upper"
    STOPPED = "a limit was reached; the enclosure holds, but is wider than asked for"
    UNDECIDED = "nothing is left to cut, and what was asked for is not reached"
    INFEASIBLE = "proved: there is no feasible point"
    CANDIDATE = "a heuristic found this point; upper is verified, that nothing lies below is not proved"


class End(Enum):
    """How the descents into a minimum ended. The value is the sentence for people."""

    CONVERGED = "the gradient has vanished"
    KINK = "value and point have stopped moving although the gradient has not vanished"
    UNFINISHED = "the budget was spent on the way"


@dataclass(frozen=True, slots=True, eq=False)
class Minimum:
    """A local minimum that descents found: its best value (an estimate) and point, how many lanes ended there, and their
    share of those that were told apart."""

    value: float
    x: np.ndarray
    lanes: int
    share: float
    status: End


@dataclass(frozen=True, slots=True)
class Progress:
    """A moment of a run: the time, the evaluations so far, the best value (an estimate) and the proved lower bound so far."""

    seconds: float
    nfev: int
    fun: float
    lower: float = -np.inf


@dataclass(frozen=True, eq=False, kw_only=True)
class Result(Mapping):
    """The answer of `minimize`. Fields can be read as attributes or as keys, with scipy's names where scipy has one.

    x, fun: the best point, and the upper end of the enclosure of f there. lower, upper: the infimum of f over the bounds lies
    between them, certainly; lower is -inf where nothing was proved. gap: upper - lower, rounded up. success: the engine reached
    its own goal; `verdict` says what that is worth. obstacle: what stands in the way of a proof, and what to do about it, for
    verdicts STOPPED and UNDECIDED; None where nothing is known of it. boxes: (lo, hi) pairs that contain every global minimiser,
    None where that is not known; regions that touch are merged into one box. regions: the same regions, each by itself, as a
    Cover with arrays `lo`, `hi` and `lower`. minima: the local minima found, the lowest first. confidence: an estimate of the
    probability that no basin remains unseen, see `infimum.engine.minima`; None where there is none. attained: whether the infimum
    is a value of f; None where that is not known. history: Progress entries. device: where the kernels ran. batch: boxes a step
    of branch and bound encloses, which the bits depend on; of the last step, if the run moved to a GPU.

    A Result can be pickled and copied. What was unpickled no longer knows the function, so that its drawing shows no contours.
    """

    x: np.ndarray | None
    fun: float
    success: bool
    status: int
    message: str
    nit: int
    nfev: int
    verdict: Verdict
    lower: float
    upper: float
    obstacle: str | None = None
    boxes: list[tuple[np.ndarray, np.ndarray]] | None = None
    minima: list[Minimum] = field(default_factory=list)
    confidence: float | None = None
    attained: bool | None = None
    history: list[Progress] = field(default_factory=list)
    engine: str = ""
    seconds: float = 0.0
    seed: int = 0
    regions: Cover | None = None
    device: str = "cpu"
    batch: int | None = None
    view: View | None = field(default=None, repr=False)  # the function and its bounds, for drawings; no key

    @property
    @environment.ours
    def gap(self) -> float:
        """upper - lower, rounded up: 0.0 where they meet, and where there is no feasible point; inf where one is not known."""
        if self.lower >= self.upper:
            return 0.0
        gap = self.upper - self.lower
        back = gap - self.upper
        lost = (self.upper - (gap - back)) - (self.lower + back)  # the rounding error of the gap, exactly (Knuth)
        return math.nextafter(gap, math.inf) if lost > 0 else gap

    # ---- as scipy's OptimizeResult, a mapping
    def __getitem__(self, name: str) -> Any:
        if name not in _KEYS:
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(_KEYS)

    def __len__(self) -> int:
        return len(_KEYS)

    __eq__, __hash__ = object.__eq__, object.__hash__  # arrays have no one answer to ==

    # ---- other forms
    def to_dict(self) -> dict[str, Any]:
        """The keys and values as plain Python: arrays as lists, `verdict` and the status of minima as their names, infinities as
        the floats they are."""
        return {name: plain(value) for name, value in self.items()}

    def to_json(self, indent: int | None = None) -> str:
        """The same as strict JSON, which has no infinities: they are the strings "inf" and "-inf", which float() reads."""
        return json.dumps(strict(self.to_dict()), indent=indent, allow_nan=False)

    def plot(self, ax: Any = None) -> Any:
        """A matplotlib Figure: the gap over time (for a search without proof the best value), and for one or two variables x and
        the boxes of the minimisers over the function's graph or contours.

        `r.plot().savefig("run.png")` writes it; a notebook shows it. With `ax`, one of the two is drawn on that Axes, the latter
        where there is one, and the Axes is returned.
        """
        return draw(self, ax)

    def _repr_html_(self) -> str:
        """What a notebook shows: the table, and the drawing if matplotlib is there."""
        picture = png(self)
        drawn = "" if picture is None else f"<img src='data:image/png;base64,{base64.b64encode(picture).decode()}'>"
        return html_table(self) + drawn

    def __repr__(self) -> str:
        return f"Result({self.verdict.name}, fun={self.fun!r}, lower={self.lower!r}, upper={self.upper!r}, x={point(self.x, 6)})"

    def __str__(self) -> str:
        return table(self)


_KEYS = (*(f.name for f in fields(Result) if f.name != "view"), "gap")
