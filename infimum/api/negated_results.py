"""Results of a run that minimised -f, in the signs of f."""

from dataclasses import replace
from typing import Any

from infimum.problem.minimisers import Minimisers
from infimum.result import Answering, Result

# what the answer says of an infimum, and what it means for a supremum
_WORDS = (("is the infimum", "is the supremum"), ("the infimum lies within", "the supremum lies within"),
          ("below the value at x", "above the value at x"), ("falls below every double", "rises above every double"),
          ("no lower bound is known, and values fall to -", "no upper bound is known, and values rise to "),
          ("infimum is -infinity", "supremum is infinity"), ("the lowest minimum", "the highest maximum"),
          (" minima", " maxima"), ("the lowest may be", "the highest may be"), ("minimisers seem", "maximisers seem"),
          ("the function is as low", "the function is as high"))


def opposite(value: float) -> float:
    """-value, without a sign on zero."""
    return 0.0 - value


def maximised(result: Result) -> Result:
    """What a result about -f says about f. The history has its signs already."""
    message = result.message
    for said, meant in _WORDS:
        message = message.replace(said, meant)
    return replace(
        result, fun=opposite(result.fun), lower=opposite(result.upper), upper=opposite(result.lower), message=message,
        obstacle=None if result.obstacle is None else f"For the minimum of -f: {result.obstacle}",
        minima=[replace(m, value=opposite(m.value)) for m in result.minima],
        trials=None if result.trials is None else result.trials.opposite(),
        regions=None if result.regions is None else result.regions.opposite(),
        question=None if result.question is None else _Opposite(result), purpose="maximise")


class _Opposite(Answering):
    """Asks about -f."""

    def __init__(self, result: Result):
        self.result = result

    @property
    def is_quick(self) -> bool:
        return self.result.question.is_quick

    def __call__(self, _: Any) -> Minimisers | None:
        found = self.result.minimisers
        if found is None:
            return None
        mirrored = [replace(m, lower=opposite(m.upper), upper=opposite(m.lower)) for m in found]
        return Minimisers(mirrored, found.rest, found.why, word="maximiser")
