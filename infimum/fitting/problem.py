"""FitProblem: model, data, parameters and loss, and with them the function that is minimised."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from infimum.errors import DataError
from infimum.expr.real import round_down, round_up
from infimum.fitting.data import Data
from infimum.fitting.losses import Loss
from infimum.fitting.model import Model
from infimum.fitting.parameters import Parameters
from infimum.fitting.symmetric import Groups
from infimum.problem.problem import Interval
from infimum.support.lazy import dataclass

_NOTHING = Interval(0.0, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class ResidualRows:
    """The residuals that a loss is made of, before they are divided by their standard deviations `sigma` (None: all 1).

    `deviations(response)`: a vector, what the model returned less the data. The loss of the data is above the loss of these
    residuals: by `repeated`, where repeated measurements count as one each, and by `constant`, where pinned residuals that no
    parameter changes are left out.
    """

    deviations: Callable[[Any], Any]
    sigma: np.ndarray | None
    repeated: Interval = _NOTHING
    constant: Interval = _NOTHING

    @property
    def beside(self) -> Interval:
        """What the loss of the data is above that of these residuals."""
        low, high = (sum(Fraction(getattr(part, end)) for part in (self.repeated, self.constant)) for end in ("lo", "hi"))
        return Interval(round_down(low), round_up(high))


@dataclass(frozen=True, slots=True, eq=False)
class FitProblem:
    """Make the loss of (model(x, *p) - y) / sigma small. `scale` is that of the loss. Where there are exchangeable
    `groups`, their first members are in ascending order."""

    model: Model
    data: Data
    parameters: Parameters
    loss: Loss
    scale: float
    groups: Groups | None = None

    def rows(self) -> ResidualRows:
        """A residual for each measurement."""
        y, sigma = self.data.y, self.data.sigma

        def deviations(response: Any) -> Any:
            e = array_of(response, y.shape) - y
            return e if e.ndim == 1 else e.reshape(-1)
        return ResidualRows(deviations, None if sigma is None else sigma.ravel())

    def objective(self, rows: ResidualRows | None = None) -> Callable[[Any], Any]:
        """The loss of these residuals (by default, of all measurements) as a function of the vector of free parameters. The model
        is called once, with whole arrays.

        Functions of the user's are in its own closure: there a second run of the tracer finds and copies them.
        """
        function, x, arguments, of, scale = self.model.function, self.data.x, self.arguments, self.loss.of, self.scale
        rows = self.rows() if rows is None else rows
        deviations, sigma = rows.deviations, rows.sigma

        def objective(p: Any) -> Any:
            positional, by_name = arguments(p)
            e = deviations(function(x, *positional, **by_name))
            return of(e if sigma is None else e / sigma, scale)
        return self.model.named_in(objective)

    def combination(self, x: Any, shape: tuple[int, ...]) -> Callable[[Any], Any]:
        """The function Σ u_k m_k(p) of the vector (p, u), with m_k the responses of the model at x: its derivatives by u are the
        responses, and those of these by p are theirs."""
        function, arguments, n = self.model.function, self.arguments, len(self.parameters.lo)

        def combination(z: Any) -> Any:
            positional, by_name = arguments(z)
            m = array_of(function(x, *positional, **by_name), shape)
            return np.sum(z[n:] * (m if m.ndim == 1 else m.reshape(-1)))
        return self.model.named_in(combination)

    def arguments(self, p: Any) -> tuple[list, dict[str, Any]]:
        """What the model is given beside x for a vector that begins with the free parameters: by place, by name."""
        return self.model.arguments([place if isinstance(place, float) else p[place] for place in self.parameters.places()])


def array_of(response: Any, shape: tuple[int, ...]) -> Any:
    """What the model returned as an array of this shape; a single number stands for all."""
    if isinstance(response, (list, tuple)):
        response = np.stack(response)
    if response is None:
        raise DataError("the model returned None: is a `return` missing?")
    found = np.shape(response)
    if found == () and shape != ():
        return response + np.zeros(shape)
    if found != shape:
        cure = "transpose y or what the model returns" if found == shape[::-1] else \
            "return one number for each y, computed from the whole array x"
        raise DataError(f"the model returned an array of shape {found}, and y has the shape {shape}: {cure}")
    return response
