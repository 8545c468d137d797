"""Questions that a result is asked later, passed on to the result of the inner form."""

from collections.abc import Callable
from typing import Any

from infimum.problem.constraint import ConstraintValues
from infimum.problem.minimisers import Minimisers
from infimum.result import Answering, Result


class InnerAnswer(Answering):
    """What the result of the inner form has under this name, translated."""

    def __init__(self, inner: Result, name: str, translate: Callable[[Any], Any]):
        self.inner, self.name, self.translate = inner, name, translate

    @property
    def is_quick(self) -> bool:
        return self.inner.question is not None and self.inner.question.is_quick

    def __call__(self, _: Any) -> Any:
        found = getattr(self.inner, self.name)
        return None if found is None else self.translate(found)


def passed_on(inner: Result, minimisers: Callable[[Minimisers], Minimisers],
              constraints: Callable[[ConstraintValues], ConstraintValues] = lambda found: found) -> dict[str, Answering | None]:
    """The fields of a Result that answer by asking the inner one, with what translates each answer."""
    return {"question": inner.question and InnerAnswer(inner, "minimisers", minimisers),
            "inquiry": inner.inquiry and InnerAnswer(inner, "constraints", constraints)}
