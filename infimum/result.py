"""What was shown: Result and its Verdict."""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any

import numpy as np

from infimum.plotting import draw


class Verdict(Enum):
    """What a result is worth. The value is the sentence for people."""

    PROVED = "the global minimum is proved to lie between lower and upper"
    STOPPED = "a limit was reached; the enclosure holds, but is wider than asked for"
    UNDECIDED = "nothing is left to cut, and the gap is still open"
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
class Result:
    """The answer of `minimize`. Fields can be read as attributes or as keys, with scipy's names where scipy has one.

    x, fun: the best point, and the upper end of the enclosure of f there. lower, upper: the infimum of f over the bounds lies
    between them, certainly; lower is -inf where nothing was proved. success: the engine reached its own goal; `verdict` says what
    that is worth. boxes: (lo, hi) pairs that contain every global minimiser, None where that is not known. minima: the local
    minima found, the lowest first. confidence: an estimate of the probability that no basin remains unseen, see
    `infimum.engine.minima`; None where there is none. regions: how many regions `boxes` was merged from. attained: whether the
    infimum is a value of f; None where that is not known. history: Progress entries. device: where the kernels ran.
    batch: lanes a step of branch and bound, which the bits depend on; of the last step, if the run went to a GPU on the way.
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
    boxes: list[tuple[np.ndarray, np.ndarray]] | None = None
    minima: list[Minimum] = field(default_factory=list)
    confidence: float | None = None
    attained: bool | None = None
    history: list[Progress] = field(default_factory=list)
    engine: str = ""
    seconds: float = 0.0
    seed: int = 0
    regions: int = 0
    device: str = "cpu"
    batch: int | None = None
    view: Any = field(default=None, repr=False)  # the function and its bounds, for drawings

    def keys(self) -> list[str]:
        """The names of the fields."""
        return [f.name for f in fields(self) if f.name != "view"]

    def plot(self) -> Any:
        """A matplotlib Figure: the bounds over time, and for one or two variables the boxes over the function's contours.

        `r.plot().savefig("run.png")` writes it; a notebook shows it.
        """
        return draw(self)

    def __getitem__(self, name: str) -> Any:
        if name not in self.keys():
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __repr__(self) -> str:
        return f"Result({self.verdict.name}, fun={self.fun!r}, lower={self.lower!r}, upper={self.upper!r}, x={_point(self.x, 6)})"

    def _upper_bound(self) -> str:
        if self.x is None:
            return "none"
        return f"{self.upper!r} (verified at x)" if self.upper < np.inf else f"none; the value at x is about {self.fun!r}"

    def __str__(self) -> str:
        lower = "none" if np.isinf(self.lower) else f"{self.lower!r} (proved)"
        rows = [("verdict", f"{self.verdict.name}: {self.verdict.value}"), ("success", "yes" if self.success else "NO"),
                ("message", self.message), ("upper bound", self._upper_bound()),
                ("lower bound", lower), ("x", _point(self.x))]
        if self.boxes is not None:
            rows.append(("minimisers", f"all in {counted(len(self.boxes), 'box', 'es')} ({counted(self.regions, 'region')})"))
            rows += [("", _box(*box)) for box in self.boxes[:_SHOWN]]
            if len(self.boxes) > _SHOWN:
                rows.append(("", f"and {len(self.boxes) - _SHOWN:,} more"))
        if self.confidence is not None:
            rows.append(("confidence", f"{self.confidence:.3g} that no basin is unseen (an estimate)"))
        if self.minima:
            rows.append(("minima", f"{'value':>22} {'lanes':>6} {'share':>6}  {'ended':<10} x"))
            for m in self.minima[:_SHOWN]:
                rows.append(("", f"{m.value:>22.15g} {m.lanes:>6} {m.share:>6.1%}  {m.status.name:<10} {_point(m.x, 4)}"))
            if len(self.minima) > _SHOWN:
                rows.append(("", f"{f'and {len(self.minima) - _SHOWN:,} more':>22}"))
        rows.append(("work", f"{counted(self.nfev, 'evaluation')}, {counted(self.nit, 'step')}, {self.seconds:.3f} s"))
        rows.append(("run", f"engine {self.engine}, seed {self.seed}, on {self.device}"))
        return "\n".join(f"{name:<12} {text}" for name, text in rows)


_SHOWN = 6


def counted(count: int, word: str, plural: str = "s") -> str:
    """The number and the noun.

    >>> counted(1, "variable"), counted(2000, "box", "es")
    ('1 variable', '2,000 boxes')
    """
    return f"{count:,} {word}{'' if count == 1 else plural}"


def _box(lo: np.ndarray, hi: np.ndarray, most: int = 4) -> str:
    shown = " x ".join(f"[{a:.9g}, {b:.9g}]" for a, b in zip(lo[:most], hi[:most], strict=True))
    return shown + (f" x … {len(lo):,} in all" if len(lo) > most else "")


def _point(x: np.ndarray | None, most: int = 10) -> str:
    if x is None:
        return "none"
    shown = ", ".join(f"{v:.10g}" for v in x[:most])
    return f"({shown}{f', … {len(x):,} in all' if len(x) > most else ''})"
