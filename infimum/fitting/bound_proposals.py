"""Parameters without bounds: an error that proposes some, computed from the data. Nothing here is part of a proof."""

from typing import Any

import numpy as np

from infimum.errors import BoundsError
from infimum.fitting.data import Data
from infimum.fitting.model import Model, plain_call
from infimum.fitting.parameters import ParameterSettings

_DECADES = 10.0 ** np.arange(-9, 10)
# times the largest response that a linear parameter may explain alone, and a start is left on either side
_RESPONSE_FACTOR = 10.0
_RESPONDS = 1e-3  # the least part by which a response changes in a decade that matters


def refuse_missing(model: Model, data: Data, asked: ParameterSettings) -> None:
    """Raises a BoundsError if a parameter has no bounds."""
    missing = asked.missing(model.names)
    if not missing:
        return
    proposed = _Proposal(model, data, asked)
    shown = ", ".join(f"{name!r}: {proposed.pair(name)}" for name in missing)
    which = f"the parameter {missing[0]!r} has" if len(missing) == 1 else f"the parameters {', '.join(map(repr, missing))} have"
    raise BoundsError(f"{which} no finite bounds, and a proof needs some. From the data one might begin with bounds={{{shown}}}: "
                      "check them against what you know; or hold a parameter with fixed=")


class _Proposal:
    """Looks at the model with plain numbers: in which parameters it is linear, over which decades it responds to the others."""

    def __init__(self, model: Model, data: Data, asked: ParameterSettings):
        self.model, self.data, self.asked = model, data, asked
        self.size = float(np.abs(data.y).max()) or 1.0
        self.middle = {name: self._middle(name) for name in model.names}

    def pair(self, name: str) -> str:
        low, high = self._ends(name)
        return f"({low:.3g}, {high:.3g})"

    def _ends(self, name: str) -> tuple[float, float]:
        slope = self._slope(name)
        if slope is not None:
            reach = _RESPONSE_FACTOR * self.size / slope
            return -reach, reach
        start = self.asked.start.get(name)
        if start:
            return tuple(sorted((start / _RESPONSE_FACTOR, start * _RESPONSE_FACTOR)))
        responding, reach = self._responding(name), _RESPONSE_FACTOR * self._span()
        return (float(responding[0]), float(responding[-1])) if len(responding) else (-reach, reach)

    def _middle(self, name: str) -> float:
        """A value to look at: fixed, in the middle of the bounds, the start, or, if nothing is known, one over the span of x."""
        if name in self.asked.fixed:
            return self.asked.fixed[name]
        if not self.asked.missing([name]):
            return float(sum(map(float, self.asked.bounds[name])) / 2)
        return self.asked.start.get(name, 1.0 / self._span())

    def _span(self) -> float:
        x = self.data.x
        finite = isinstance(x, np.ndarray) and x.size and x.dtype.kind == "f"
        return float(np.ptp(x) or np.abs(x).max() or 1.0) if finite else 1.0

    def _most(self) -> float:
        """What a place on the x axis or a frequency hardly exceeds: at the x there are, a faster wave looks like a slower one."""
        x = self.data.x
        gaps = np.diff(np.unique(x)) if isinstance(x, np.ndarray) and x.ndim == 1 else np.empty(0)
        return _RESPONSE_FACTOR * max(1.0, self._span(), float(1 / gaps.min()) if len(gaps) else 1.0)

    def _at(self, **changed: float) -> np.ndarray | None:
        """The responses there, or None if there are none."""
        values = {**self.middle, **changed}
        return plain_call(self.model, self.data.x, [values[name] for name in self.model.names])

    def _slope(self, name: str) -> float | None:
        """The size of the response to a parameter that it is linear in."""
        zero, one, two = (self._at(**{name: value}) for value in (0.0, 1.0, 2.0))
        if zero is None or one is None or two is None:
            return None
        slope = np.abs(one - zero).max()
        straight = np.abs(two - 2 * one + zero).max() <= 1e-9 * max(slope, np.abs(zero).max() * 1e-3)
        return float(slope) if straight and slope > 0 else None

    def _responding(self, name: str) -> np.ndarray:
        """The decades within which the response changes."""
        decades = _DECADES[_DECADES <= self._most()]
        seen: list[Any] = [self._at(**{name: float(value)}) for value in decades]
        keep = np.zeros(len(decades), bool)
        for k in range(len(decades) - 1):
            if seen[k] is not None and seen[k + 1] is not None:
                size = max(np.abs(seen[k]).max(), np.abs(seen[k + 1]).max())
                if np.abs(seen[k + 1] - seen[k]).max() > _RESPONDS * size:
                    keep[k:k + 2] = True
        return decades[keep]
