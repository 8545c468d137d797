"""FitProblem: model, data, parameters and loss, and with them the function that is minimised."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from infimum.errors import DataError
from infimum.fitting.data import Data
from infimum.fitting.losses import Loss
from infimum.fitting.model import Model
from infimum.fitting.parameters import Parameters
from infimum.fitting.symmetric import Groups


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

    def objective(self) -> Callable[[Any], Any]:
        """The loss as a function of the vector of free parameters. The model is called once, with whole arrays.

        Functions of the user's are in its own closure: there a second run of the tracer finds and copies them.
        """
        function, arguments, of, scale = self.model.function, self.arguments, self.loss.of, self.scale
        x, y, sigma = self.data.x, self.data.y, self.data.sigma

        def objective(p: Any) -> Any:
            positional, by_name = arguments(p)
            e = array_of(function(x, *positional, **by_name), y.shape) - y
            e = e if sigma is None else e / sigma
            return of(e if e.ndim == 1 else e.reshape(-1), scale)
        return objective

    def combination(self, x: Any, shape: tuple[int, ...]) -> Callable[[Any], Any]:
        """The function Σ u_k m_k(p) of the vector (p, u), with m_k the responses of the model at x: its derivatives by u are the
        responses, and those of these by p are theirs."""
        function, arguments, n = self.model.function, self.arguments, len(self.parameters.lo)

        def combination(z: Any) -> Any:
            positional, by_name = arguments(z)
            m = array_of(function(x, *positional, **by_name), shape)
            return np.sum(z[n:] * (m if m.ndim == 1 else m.reshape(-1)))
        return combination

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
