"""What all searches for a better point have in common."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator

import numpy as np

from infimum.search.progress import Figures, shown_value


class PointSearch(ABC):
    """Looks for a low point, by estimates. What it finds proves nothing: its points are offered to the `Incumbent`, which
    encloses f there. It depends on the problem and the seed alone, never on when its steps are taken."""

    x: np.ndarray  # the best point so far
    value: float
    evaluations: int

    @abstractmethod
    def rounds(self) -> Iterable[Iterator[None]]:
        """The work, in rounds of small steps: one is taken only where what those before it have found is not good enough."""

    def candidates(self) -> list[np.ndarray]:
        """The points to offer."""
        return [self.x]

    def figures(self) -> Figures:
        """What a reader of the progress sees."""
        return {"best": shown_value(self.value)}
