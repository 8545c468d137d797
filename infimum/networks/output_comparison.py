"""The property that a comparison of outputs, written as a function of them, holds everywhere: `lambda y: y[0] < 2`.

Proof: docs/proofs/networks.md.
"""

import inspect
from collections.abc import Callable
from dataclasses import field
from typing import Any

import numpy as np

from infimum.errors import OptionError, TraceError
from infimum.expr.build import ends_of, reshape
from infimum.networks.exact_box import ExactBox
from infimum.networks.network import Network
from infimum.networks.properties import Extremum, Question, given_box
from infimum.support.lazy import dataclass
from infimum.trace.agreement import Agreement, SampleBox
from infimum.trace.comparisons import Comparison, comparisons, of_comparisons
from infimum.trace.trace import traced
from infimum.trace.tracer import Tracer

_CURE = "A property may depend on the numbers in its arguments alone: not on their type, a count of calls, a file, the time."
_EXAMPLE = "a property is a comparison of the outputs y, such as lambda y: y[0] < 2, or of inputs and outputs, lambda x, y: ..."


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonProperty:
    """All comparisons that fun(y), or fun(x, y), returns hold everywhere within the bounds. texts: as the user wrote them, once
    they are read."""

    fun: Callable[..., Any]
    texts: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{' and '.join(dict.fromkeys(self.texts)) or self._name} everywhere"

    @property
    def _name(self) -> str:
        name = getattr(self.fun, "__name__", "<lambda>")
        return "the comparison of outputs holds" if name == "<lambda>" else f"{name}(y) holds"

    def questions(self, net: Network, bounds: Any) -> list[Question]:
        box = given_box(bounds, net)
        try:
            with of_comparisons():
                found, function = traced(self._of_inputs(net), net.inputs, (), lambda fun, value: self.read(value))
        except TraceError as error:
            if "argmax" not in str(error):
                raise
            raise OptionError(f"{error} That output 3 is the largest is the property verify(net, bounds, label=3).") from None
        if not sum(part.body.size for part in found) or any(ends_of(part.body) is not None for part in found):
            raise OptionError(f"the property, or a part of it, does not depend on the outputs: {_EXAMPLE}")
        Agreement([function]).over(SampleBox(*ExactBox.of(*box).outer()))
        questions: list[Question] = []
        for number, part in enumerate(found):
            self.texts.append(part.text or self._name)
            lower, upper = (np.ravel(end) for end in (part.lower, part.upper))
            for k in range(part.body.size):
                text = self.texts[-1] + (f", element {k}" if part.body.shape else "")
                side = _Side(self, net, number, k)
                questions += [Extremum(text, side, box, maximise, float(limit), part.strict)
                              for maximise, limit in ((True, upper[k]), (False, lower[k])) if np.isfinite(limit)]
        return questions

    def _of_inputs(self, net: Network) -> Callable[[Any], Any]:
        """The property as a function of the inputs, which errors know by the user's own."""
        def value(x: Any) -> Any:
            return self.value(net, x)
        value.function, value.role, value.cure = self.fun, "the property ", _CURE  # type: ignore[attr-defined]
        return value

    def value(self, net: Network, x: Any) -> Any:
        """What the user's function returns for the outputs at x."""
        y = net(x)
        if _takes_inputs(self.fun):
            return self.fun(x, y)
        with net.comparing_outputs():
            return self.fun(y)

    def read(self, value: Any) -> list[Comparison]:
        if not isinstance(value, (list, tuple)) and not (isinstance(value, Tracer) and value.is_truth):
            raise OptionError(f"the property returned {_described(value)}: {_EXAMPLE}")
        return comparisons(self.fun, value, strict=True)


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """An element of what a comparison compares with a number, as a function of the traced input."""

    asked: ComparisonProperty
    net: Network
    number: int
    element: int

    is_ours = True  # its value is no number that the user's function returns

    def __call__(self, x: Any) -> Any:
        with of_comparisons():
            body = self.asked.read(self.asked.value(self.net, x))[self.number].body
        return Tracer(reshape(body, (body.size,)))[self.element]


def _takes_inputs(fun: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(fun).parameters.values()
    except (TypeError, ValueError):
        return False
    return sum(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters) == 2


def _described(value: Any) -> str:
    if value is None:
        return "None (is a `return` missing?)"
    if isinstance(value, (bool, np.bool_)):
        return f"{value}, whatever the outputs are"
    is_number = isinstance(value, (Tracer, int, float, np.number)) and not np.ndim(value)
    return "a number" if is_number else "an array of numbers" if isinstance(value, (Tracer, np.ndarray)) else \
        f"a {type(value).__name__}"
