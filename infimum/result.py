"""What was shown: Result and its Verdict.

Proof: docs/proofs/claims.md.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import field, fields
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.problem.constraint import ConstraintValues
from infimum.problem.cover import Cover
from infimum.problem.problem import View
from infimum.problem.text import html_table, point, table
from infimum.support import environment
from infimum.support.clock import OutOfTime, Watch, stoppable
from infimum.support.given_numbers import check_number
from infimum.support.lazy import LazyModule, dataclass

if TYPE_CHECKING:
    from infimum.blackbox.summary import TrialSummary
    from infimum.problem import json_values, minimisers
    from infimum.problem.minimisers import Minimisers
else:
    json_values, minimisers = LazyModule("problem.json_values"), LazyModule("problem.minimisers")

MOMENT = 0.3  # seconds that a table may look for minimisers that nobody has asked for


class Answering:
    """Answers what a Result is asked later. Copies share it; a pickle holds nothing: kernels stay in their process. `is_quick`:
    the answer takes a moment, so that a table may have it without being asked."""

    is_quick = False

    def __reduce__(self) -> tuple:
        return type(None), ()

    def __deepcopy__(self, memo: dict) -> "Answering":
        return self


class Verdict(Enum):
    """What was shown. The value is a sentence that explains it."""

    PROVED = "the global minimum is proved to lie between lower and upper"
    STOPPED = "the run ended early; the enclosure holds, but is wider than asked for"
    UNDECIDED = "no region can be cut any further, and the goal was not reached"
    INFEASIBLE = "proved: there is no feasible point"
    CANDIDATE = "a search found this point; lower values may exist"


class End(Enum):
    """How the descents into a minimum ended. The value is a sentence that explains it."""

    CONVERGED = "the gradient has vanished"
    KINK = "value and point have stopped moving although the gradient has not vanished"
    UNFINISHED = "the budget was used up on the way"


@dataclass(frozen=True, slots=True, eq=False)
class Minimum:
    """A local minimum found by descents.

    value, x: the lowest value (an estimate) and its point. descents: the number of descents that ended there. share: their share
    of all descents that were assigned to a minimum. status: how the descents ended.
    """

    value: float
    x: np.ndarray
    descents: int
    share: float
    status: End


@dataclass(frozen=True, slots=True, eq=False)
class RankedPoint:
    """One of the best points of a problem with whole numbers (`solutions=`).

    x, fun: the point and the value there. lower, upper: between them lies the best value of all points whose whole numbers differ
    from those of each point before. verdict: PROVED, or STOPPED if its run ended early.
    """

    x: np.ndarray
    fun: float
    lower: float
    upper: float
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Progress:
    """A moment of a run: the time, and the evaluations, the best value (an estimate) and the proved bounds up to then."""

    seconds: float
    nfev: int
    fun: float
    lower: float = -np.inf
    upper: float = np.inf


@dataclass(frozen=True, eq=False, kw_only=True)
class Result(Mapping):
    """The result of `minimize`. Its fields can be read as attributes or as keys, under SciPy's names where SciPy has one.

    x, fun: the best point, and a verified upper bound of the function there. lower, upper: the infimum over the bounds (over the
    `start_boxes`, if there were any) certainly lies between them; lower is -inf where nothing was proved. gap: upper - lower,
    rounded up. success: the engine reached its goal; `verdict` says what that means. obstacle: for the verdicts STOPPED and
    UNDECIDED, what prevents a proof and what to do about it; None if that is not known. advice: for STOPPED, what would close
    more of the gap, as far as its course tells. boxes: (lo, hi) pairs that together contain every global minimiser, with regions
    that touch merged into one box; None if nothing is known. minimisers: boxes that hold exactly one minimiser each. regions: the
    same regions one by one, as a Cover with arrays `lo`, `hi` and `lower`; where variables are independent, it is a product of
    unions of intervals (`regions.unions`), and `boxes` is the one box around it if there would be more than 10,000. minima: the
    local minima found, the lowest first. confidence: an estimate of the probability that no basin was missed (see docs/swarm.md);
    None if there is none. attained: True if the infimum is a value of the function; None if that is not known. feasible: None if
    no feasible point is proved; else the proved point, or, where there are equations, a pair (lo, hi), a box that is proved to
    hold one. purpose: "minimise", "maximise" or "feasible". feasibility: by how much equations were relaxed. plain_calls: how
    many calls of the user's functions with plain numbers agreed with what was traced; 0 with check=False, None if there is
    nothing to compare. lp: where linear programs took part, the `solver` with its version, and how many of them it `solved`, in
    how many `iterations`, how many `failed` and were ignored, how many were given up after too many iterations (`limited`), and
    how many were `spared` by multipliers that were known. presolve: what was done to the problem before it was searched, in
    sentences. rounds: with `workers=`, how many `workers` and `rounds` there were, the `portions` of a round, on which the bits
    depend, and how many of them were lost and `redone`. trials: of `engine="index"`, counts of trials, evaluations and failures;
    `fun` is then a value that was returned, and not verified. solutions: with `solutions=`, the best points in their order, the
    first of them `x`; fewer than were asked for if there are no more, or if a limit was reached; counts and seconds are then
    those of all runs. names: what the variables are called, if they have names. history: a Progress entry for each improvement.
    device: where the kernels ran. batch: the boxes per step of branch and bound, on which the bits depend; if the run moved to
    a GPU, those of its last step.

    A Result can be pickled and copied. A pickle does not contain the function, so plots of an unpickled Result show no contours.
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
    advice: str | None = None
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
    plain_calls: int | None = None
    feasible: np.ndarray | tuple[np.ndarray, np.ndarray] | None = None
    purpose: str = "minimise"
    feasibility: float = 0.0
    lp: dict[str, Any] | None = None
    presolve: tuple[str, ...] = ()
    rounds: dict[str, int] | None = None
    trials: "TrialSummary | None" = None
    names: tuple[str, ...] | None = None
    solutions: tuple[RankedPoint, ...] | None = None  # a key where it was asked for
    view: View | None = field(default=None, repr=False)  # the function and its bounds, for drawings; no key
    question: Answering | None = field(default=None, repr=False)  # finds `minimisers`; no key
    inquiry: Answering | None = field(default=None, repr=False)   # of `constraints`; no key

    @cached_property
    @environment.ours
    def minimisers(self) -> "Minimisers | None":
        """Boxes that are proved to hold exactly one minimiser each (see `Minimisers`): a sequence of `Minimiser` with `lo`, `hi`
        and `may_be_global`. They are looked for when this is first read, without a limit: `find_minimisers` takes one. None where
        nothing was proved. Tables, `to_dict` and pickles have them where they are known, or found in a moment.

        >>> import infimum
        >>> r = infimum.minimize(lambda x: (x[0] - 1) ** 2 + np.cos(x[1]), [(-5, 5), (0, 5)], xtol=1e-3)
        >>> r.minimisers.exactly_one, bool((r.minimisers[0].hi - r.minimisers[0].lo < 1e-12).all())
        (True, True)
        """
        return None if self.question is None else self.question(self)

    @environment.ours
    def find_minimisers(self, time_limit: float | None = None) -> "Minimisers | None":
        """`minimisers`, looked for during at most `time_limit` seconds. If these do not suffice, none is found, and its `why`
        says so; another call begins anew.

        >>> import infimum
        >>> r = infimum.minimize(lambda x: (x[0] ** 2 - 2) ** 2, [(-5, 5)])
        >>> len(r.find_minimisers(time_limit=10))
        2
        """
        check_number("time_limit", time_limit, optional=True, positive=True)
        try:
            with Watch(time_limit, time_limit), stoppable():
                return self.minimisers
        except OutOfTime:
            count = 0 if self.regions is None else self.regions.count
            return minimisers.Minimisers((), count, f"the time limit of {time_limit:g} s was reached")

    def _known_minimisers(self) -> "Minimisers | None":
        """Those that are known, or are found in a moment: nobody has asked for them."""
        if "minimisers" in self.__dict__ or self.question is None:
            return self.minimisers
        if not self.question.is_quick or "_looked" in self.__dict__:
            return None
        try:
            with Watch(MOMENT, MOMENT), stoppable():
                return self.minimisers
        except OutOfTime:
            self.__dict__["_looked"] = True  # in vain, and not again
            return None

    @cached_property
    @environment.ours
    def constraints(self) -> ConstraintValues | None:
        """The values of the constraints at the feasible point, proved, as a table of `ConstraintValue`. They are computed when
        this is first read. None without constraints, and where no feasible point is known."""
        return None if self.inquiry is None else self.inquiry(self)

    @property
    @environment.ours
    def maxcv(self) -> float | None:
        """The largest violation of a constraint at x, rounded up: 0.0 if x is proved to be feasible; None if no feasible
        point is proved."""
        if self.x is None or self.feasible is None:
            return None
        return self.constraints.violation if isinstance(self.feasible, tuple) and self.constraints is not None else 0.0

    @property
    def maximised(self) -> bool:
        """True for a result of `maximize`: `lower` is then the best value, and `upper` is proved."""
        return self.purpose == "maximise"

    def __getstate__(self) -> dict[str, Any]:
        """A pickle has no function to ask: it has the constraints, and the minimisers that are known or found in a moment."""
        return self.__dict__ | {"minimisers": self._known_minimisers(), "constraints": self.constraints}

    @property
    @environment.ours
    def gap(self) -> float:
        """upper - lower, rounded up: 0.0 if they meet or if there is no feasible point, inf if one of them is infinite."""
        if self.lower >= self.upper:
            return 0.0
        gap = self.upper - self.lower
        back = gap - self.upper
        lost = (self.upper - (gap - back)) - (self.lower + back)  # the rounding error of the gap, exactly (Knuth)
        return math.nextafter(gap, math.inf) if lost > 0 else gap

    # ---- as scipy's OptimizeResult, a mapping
    def __getitem__(self, name: str) -> Any:
        if name not in self._names():
            raise KeyError(name)
        return self._known_minimisers() if name == "minimisers" else getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def _names(self) -> tuple[str, ...]:
        return _KEYS if self.solutions is None else (*_KEYS, "solutions")

    __eq__, __hash__ = object.__eq__, object.__hash__  # arrays have no one answer to ==

    # ---- other forms
    def to_dict(self) -> dict[str, Any]:
        """The keys and values as plain Python: arrays as lists, `verdict` and the status of minima as their names, `regions` as
        their number (where they are a product, a dict with the `unions` of each variable). Infinities stay floats."""
        return {name: json_values.plain(value) for name, value in self.items()}

    def to_json(self, indent: int | None = None) -> str:
        """`to_dict()` as strict JSON, which has no infinities: they become the strings "inf" and "-inf", which float() reads."""
        import json  # few results are written as text

        return json.dumps(json_values.strict(self.to_dict()), indent=indent, allow_nan=False)

    def plot(self, ax: Any = None) -> Any:
        """A matplotlib Figure: the gap over time (without a proof, the best value) and, for one or two variables, the function
        with x and the boxes of the minimisers.

        `r.plot().savefig("run.png")` saves it, and notebooks show it. With `ax`, only one of the two is drawn, on that Axes: the
        function if it has one or two variables. That Axes is returned.
        """
        from infimum.plotting import draw  # needs matplotlib

        return draw(self, ax)

    def _repr_html_(self) -> str:
        """What a notebook shows: the table, and the plot if matplotlib is installed."""
        from base64 import b64encode

        from infimum.plotting import draw, png

        picture = png(lambda: draw(self))
        drawn = "" if picture is None else f"<img src='data:image/png;base64,{b64encode(picture).decode()}'>"
        return html_table(self) + drawn

    def __repr__(self) -> str:
        return f"Result({self.verdict.name}, fun={self.fun!r}, lower={self.lower!r}, upper={self.upper!r}, x={point(self.x, 6)})"

    def __str__(self) -> str:
        return table(self)


_KEYS = (*(f.name for f in fields(Result) if f.name not in ("solutions", "view", "question", "inquiry")), "gap", "minimisers",
         "constraints", "maxcv", "maximised")
