"""Maximising: an engine that minimises -f, seen from outside in the signs of f."""

from collections.abc import Iterator
from typing import Any

from infimum.api.negated_results import maximised, opposite
from infimum.result import Progress, Result
from infimum.search.progress import Figures, bounds


class Maximising:
    """The engine; its bounds, best value and results are those of f."""

    def __init__(self, engine: Any):
        self.engine = engine

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)

    @property
    def value(self) -> float:
        """The best value found: the supremum is not below it."""
        return opposite(self.engine.value)

    @property
    def lower(self) -> float:
        """The supremum is not below this."""
        return opposite(getattr(self.engine, "upper", self.engine.value))

    @property
    def upper(self) -> float:
        """The supremum is not above this."""
        return opposite(self.engine.lower)

    def figures(self) -> Figures:
        """What a reader of the progress sees."""
        shown = self.engine.figures()
        mine = bounds(self.lower, self.upper) | {"best": f"{self.value:.10g}"}
        return shown | {name: mine[name] for name in shown if name in mine}

    def steps(self) -> Iterator[None]:
        return self.engine.steps()

    def finish(self, stopped: str | None, seconds: float, history: list[Progress]) -> Result:
        return maximised(self.engine.finish(stopped, seconds, history))
