"""What becomes of the regions that a step has tested."""

from typing import Any

import numpy as np

from infimum.evaluation.programs import REGION_OUTCOME, ProgramKind
from infimum.kernel.region_cut import NEAR, OUTCOME_COUNT
from infimum.support.lazy import dataclass


@dataclass(frozen=True, slots=True)
class RegionOutcomes:
    """Regions, columns of an array, sorted by outcome; `counts` holds how many there are of each."""

    regions: Any
    order: Any
    counts: list[int]

    @classmethod
    def of_none(cls, regions: Any) -> "RegionOutcomes":
        """Of an array without columns."""
        return cls(regions, [], [0] * OUTCOME_COUNT)

    def of(self, outcome: int) -> Any:
        """The numbers of those with this outcome, in ascending order."""
        begin = sum(self.counts[:outcome])
        return self.order[begin:begin + self.counts[outcome]]

    @property
    def discarded(self) -> int:
        """How many are discarded."""
        return sum(self.counts[:NEAR])

    @property
    def kept(self) -> Any:
        """The numbers of those that are not discarded."""
        return self.order[self.discarded:]


def outcome_row(search: Any, regions: Any) -> Any:
    """The outcome of each region of a search, for the current bounds: a row (see `kernel.region_cut.outcome`)."""
    known, reached = [search.incumbent.upper, search.pool.border], search.incumbent.reached
    if reached is None:
        return search.evaluator.run(REGION_OUTCOME, [regions], parameters=np.array(known))[0]
    kind = ProgramKind.of(REGION_OUTCOME, boxes=len(reached) // (2 * search.n))
    return search.evaluator.run(kind, [regions], parameters=np.concatenate([known, reached]))[0]
