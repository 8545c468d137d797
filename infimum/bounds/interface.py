"""Region tests: each shrinks or discards regions. `docs/design.md` has the contract that all of them keep."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np

from infimum.bounds.bound_table import ALL_TESTS, Payoff, Row, Schedule
from infimum.bounds.start_faces import StartFaces
from infimum.evaluation.evaluator import Evaluator


class Outcome(NamedTuple):
    """What a test leaves of regions, columns of an array (see `kernel/region_cut.py`): no region more than it was given, none
    larger, no lower bound lower. The variable to cut is `DISCARDED_AXIS` where a region is proved away.

    `boxes` is what that cost, in boxes enclosed. `paid`, a row, is 1 where it was worth the cost; None: where a region was
    discarded. `upper`, a row, and `point` are verified upper bounds of f at points within the user's bounds, if there are any.
    """

    regions: Any
    boxes: int
    paid: Any = None
    upper: Any = None
    point: Any = None


class StepContext(NamedTuple):
    """What tests know of a step. Nothing above `upper`, a verified upper bound of the infimum, is of interest."""

    upper: float = np.inf
    narrow: float = 0.0  # sides that are wider than this are cut first
    alike: bool = False  # are variables cut like the others that another test would spare?


class LocalSolution(NamedTuple):
    """A point that tests learn from. `convexity(logarithmic)` has its multipliers and what makes the Lagrangian convex around it,
    computed when a test asks; see `convexifying_terms`."""

    x: np.ndarray
    convexity: Callable[[bool], tuple]


_ALWAYS = Schedule(0, 1, 0.0)  # fixed: of tests that are used in every step
_UNLISTED = Row("", "")


class RegionTest(ABC):
    """One test, for one function and the user's bounds lo and hi. Regions stay in the memory where they lie.

    A test without a `payoff` is used in every step; the others are tried now and then, and used between if they pay. Where the
    search starts from several boxes, lo and hi are the box around them, and a region's bounds are what `faces` says: a test that
    asks it says so by `knows_faces`; others have no say then.
    """

    name: ClassVar[str]              # in checkpoints
    discards: ClassVar[str]          # by what: the name under which what it discards is counted
    most: int | None = None          # the most regions that are tested at a time
    capacity: int | None = None      # of regions in a step: beyond that, what it discards has to pay for those it does not see
    step_size: int | None = None     # regions of a step while it is in use: it is so costly that the lowest come first
    payoff: Payoff | None = None     # by its schedule in the table; None: it is used in every step
    judged_by: ClassVar[type[Payoff]] = Payoff
    knows_faces: ClassVar[bool] = False
    is_tested_at_end: ClassVar[bool] = False  # where many regions are left at the end, even if it was never tried
    eliminates: ClassVar[bool] = False     # does it spare variables from being cut?
    cuts: ClassVar[bool] = False           # is it a `CuttingTest`?
    learns: ClassVar[bool] = False         # from local solutions: see `learn`
    uses_multipliers: ClassVar[bool] = False  # of such a solution; then it may have a bound for the whole box
    proposes_points: ClassVar[bool] = False   # its method `points` gives starts for point searches
    delays_others: bool = False            # it is asked from the first steps on, and other costly tests wait
    given: np.ndarray | None = None        # what it has learned
    faces: StartFaces | None = None

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray):
        self.evaluator, self.lo, self.hi, self.n = evaluator, lo, hi, len(lo)
        schedules = ALL_TESTS.get(self.name, _UNLISTED).schedules
        self.schedule = schedules[self.circumstances(evaluator)] if schedules else _ALWAYS
        self.payoff = self.judged_by(self.schedule) if schedules else None

    @classmethod
    def circumstances(cls, evaluator: Evaluator) -> str:
        """Which schedule of its row in the table holds for this function."""
        return ""

    @property
    def sample(self) -> int:
        """The number of regions that it is tried on."""
        return self.schedule.sample

    @property
    def cost(self) -> int:
        """Of one region, in boxes."""
        return self.schedule.cost + self.schedule.cost_a_variable * self.n

    @classmethod
    def applies(cls, evaluator: Evaluator) -> bool:
        """Can it say anything about this function?"""
        return True

    @abstractmethod
    def test(self, regions: Any, context: StepContext) -> Outcome:
        """What is left of the regions."""

    def compare_with(self, lo: np.ndarray, hi: np.ndarray) -> None:  # noqa: B027 (few tests need it)
        """The box in which all better points lie: sides of regions are measured as shares of its sides."""

    def remembered(self) -> Callable[[], None] | None:
        """What puts back all that the test remembers of regions, as it is now; None where it remembers nothing."""
        return None

    def learn(self, solution: LocalSolution) -> None:  # noqa: B027
        """Takes a local solution, where it `learns`."""

    def is_used(self, step: int) -> bool:
        return self.payoff is None or self.payoff.is_used(step)

    def is_tried(self, step: int) -> bool:
        return self.payoff is not None and self.payoff.is_due(step)


class CuttingTest(RegionTest):
    """A test whose kernel also cuts: of those in use the last takes the others' place, since its test includes theirs. It also
    chooses what is cut next."""

    cuts = True

    @abstractmethod
    def cut(self, parents: Any, pieces: int, context: StepContext) -> list[Outcome]:
        """Cuts each region into this number of pieces and tests them: the first pieces of all, the second ones, …, together or
        not.
        """

    def test(self, regions: Any, context: StepContext) -> Outcome:
        outcome, = self.cut(regions, 1, context)
        return outcome
