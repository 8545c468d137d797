"""What a fit makes small: a number made of the residuals e, in units of sigma. A row for each loss."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from infimum.errors import OptionError
from infimum.support.lazy import dataclass

_LARGEST_EXPONENT = 700.0  # exponentials of more are no doubles


@dataclass(frozen=True, slots=True)
class Loss:
    """`of(e, scale)`: the loss of a vector of residuals. It never falls where a residual grows in size. `has_scale`: does it
    change its behaviour at the `scale`? `named`: what it is called in a report. `reach(loss, scale)`: about the largest residual
    that such a loss allows. `joined`: how the losses of two vectors give that of both. `takes_equations`: are pinned residuals
    better written as equations? Not where its kinks are what makes a search hard."""

    name: str
    of: Callable[[Any, float], Any]
    named: str
    reach: Callable[[float, float], float]
    has_scale: bool = False
    joined: Callable[[Any, Any], Any] = np.add
    takes_equations: bool = True

    def __reduce__(self) -> tuple:
        """In a pickle it is its name."""
        return _loss_named, (self.name,)


def _huber(e: Any, scale: float) -> Any:
    """e² up to the scale, then straight on: both terms grow with |e|, so their enclosures are those of the sum."""
    size = np.abs(e)
    return np.sum(np.minimum(size, scale) ** 2 + 2 * scale * np.maximum(size - scale, 0.0))


def _reach_of_huber(loss: float, scale: float) -> float:
    return math.sqrt(loss) if loss <= scale * scale else (loss / scale + scale) / 2


def _reach_of_cauchy(loss: float, scale: float) -> float:
    share = loss / scale / scale
    return scale * math.sqrt(math.expm1(share)) if share < _LARGEST_EXPONENT else math.inf


LOSSES = {loss.name: loss for loss in (
    Loss("squares", lambda e, scale: np.sum(e**2), "sum of squares", lambda loss, scale: math.sqrt(loss)),
    Loss("huber", _huber, "Huber loss", _reach_of_huber, has_scale=True, takes_equations=False),
    Loss("cauchy", lambda e, scale: scale * scale * np.sum(np.log1p((e / scale) ** 2)), "Cauchy loss", _reach_of_cauchy,
         has_scale=True),
    Loss("absolute", lambda e, scale: np.sum(np.abs(e)), "sum of absolute residuals", lambda loss, scale: loss,
         takes_equations=False),
    Loss("maximum", lambda e, scale: np.max(np.abs(e)), "largest absolute residual", lambda loss, scale: loss,
         joined=np.maximum),
)}


def _loss_named(name: str) -> Loss:
    return LOSSES[name]


_SCIPY = {"linear": "squares", "soft_l1": "huber", "arctan": "cauchy"}  # the same, or the nearest to it


def read_loss(name: Any, scale: Any) -> tuple[Loss, float]:
    """The loss of that name, and its scale, which only some of them have."""
    loss = LOSSES.get(name) if isinstance(name, str) else None
    if loss is None:
        near = _SCIPY.get(name) if isinstance(name, str) else None
        cure = f"there are {', '.join(map(repr, LOSSES))}" if near is None else f"use {near!r}"
        raise OptionError(f"there is no loss {name!r}; {cure}")
    if scale is None:
        return loss, 1.0
    if not loss.has_scale:
        raise OptionError(f"the loss {name!r} has no f_scale: leave it out; {_with_scale()} have one")
    if isinstance(scale, bool) or not isinstance(scale, (int, float, np.integer, np.floating)) or not 0 < scale < np.inf:
        raise OptionError(f"f_scale must be a positive number, the residual from which on data count less, not {scale!r}")
    return loss, float(scale)


def _with_scale() -> str:
    return " and ".join(repr(loss.name) for loss in LOSSES.values() if loss.has_scale)
