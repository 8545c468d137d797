"""Budget: the limits of a fit, which its searches share. Each is given what is left, and messages name the user's limits."""

import re
from time import perf_counter
from typing import Any

from infimum.problem.text import counted
from infimum.search.limit_messages import time_reached
from infimum.support.given_numbers import check_limits

_LEAST_TIME = 0.05  # seconds for a step, if the user has given as many
_TIME, _BOXES = r"the time limit of \S+ s was reached", r"[\d,]+ box(es)? (was|were) enclosed, the limit is \S+"


class Budget:
    """Time counts from when it was made; `spent` are the evaluations of the searches so far, of boxes and of points.

    >>> budget = Budget({"time_limit": 60.0, "max_boxes": 1000})
    >>> budget.spent += 600
    >>> budget.boxes, 59 < budget.seconds <= 60, budget.reached()
    (400, True, None)
    >>> budget.named("the time limit of 12.3456 s was reached while tracing the function")
    'the time limit of 60 s was reached while tracing the function'
    """

    def __init__(self, settings: dict[str, Any]):
        self.begun, self.spent = perf_counter(), 0
        self.time_limit, self.max_boxes = settings.get("time_limit"), settings.get("max_boxes")
        check_limits(self.time_limit, self.max_boxes)

    @property
    def elapsed(self) -> float:
        return perf_counter() - self.begun

    @property
    def seconds(self) -> float | None:
        """What is left, and enough for a step; None without a limit."""
        return None if self.time_limit is None else max(min(_LEAST_TIME, self.time_limit), self.time_limit - self.elapsed)

    @property
    def boxes(self) -> float | None:
        """What is left, and one at least; None without a limit."""
        return None if self.max_boxes is None else max(1, self.max_boxes - self.spent)

    def settings(self) -> dict[str, Any]:
        """The limits of the next search."""
        return {"time_limit": self.seconds, "max_boxes": self.boxes}

    @property
    def is_late(self) -> bool:
        """Is the time over?"""
        return self.time_limit is not None and self.elapsed >= self.time_limit

    def reached(self) -> str | None:
        """Which limit is reached; None if there is something left."""
        if self.is_late:
            return time_reached(self.time_limit)
        if self.max_boxes is not None and self.spent >= self.max_boxes:
            return f"{counted(self.spent, 'box', 'es')} and points were evaluated, the limit is {self.max_boxes:,}"
        return None

    def named(self, message: str) -> str:
        """What a search has said that was given less than the user's limits."""
        if self.time_limit is not None:
            message = re.sub(_TIME, time_reached(self.time_limit), message)
        if self.max_boxes is not None and not re.search(rf"the limit is {self.max_boxes:,}(?!\S)", message):
            message = re.sub(_BOXES, self.reached() or "", message)
        return message
