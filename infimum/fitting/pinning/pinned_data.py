"""Pinned measurements: a few standard deviations so tiny that the model has to pass through these points, or nearly so.

In units of such a sigma every residual is huge: the sum of squares has valleys whose walls are 1e24 times as steep as their
floors, and no double lies at the bottom. So these residuals become equations, with the residual s, in units of sigma, as a
variable of its own: minimise Σ e² + Σ s² where m(p) - y = sigma s. That is the same question, and well scaled. It is asked only
where best fits can be: in the set on which a *relaxed* sum, with larger standard deviations for pinned measurements, is not above
a loss that is attained. The relaxed sum is nowhere above the loss, and is searched as that of any fit. See
docs/proofs/pinned_measurements.md.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from infimum.evaluation.compile import compile
from infimum.expr.real import round_down, round_up
from infimum.fitting.problem import FitProblem, ResidualRows
from infimum.problem.problem import Interval
from infimum.support.lazy import dataclass

# times the weight of others: what is pinned, and what it counts in the relaxed sum
_PINNED_WEIGHT, _RELAXED_WEIGHT = 2.0**16, 2.0**14
_RELAXED_WEIGHT_OF_OTHERS = 2.0**7  # the same of losses whose searches know nothing of least squares
_EXAMINED_ROWS = 64                 # rows that may not depend on the parameters


@dataclass(frozen=True, slots=True, eq=False)
class PinnedData:
    """The residuals of `rows` with these `numbers` are pinned; the usual standard deviation is that of the next."""

    problem: FitProblem
    rows: ResidualRows
    numbers: np.ndarray
    usual: float

    @classmethod
    def of(cls, problem: FitProblem, rows: ResidualRows) -> "PinnedData | None":
        """None if none is. As many as there are parameters can be: a model cannot be made to pass through more points."""
        n = len(problem.parameters.lo)
        if not problem.loss.takes_equations or rows.sigma is None or len(rows.sigma) <= n:
            return None
        usual = float(np.sort(rows.sigma)[n])
        numbers = np.flatnonzero(rows.sigma < usual / _PINNED_WEIGHT)
        return cls(problem, rows, numbers, usual) if len(numbers) else None

    def relaxed(self) -> Callable[[Any], Any]:
        """A loss that is nowhere above that of the fit, since no standard deviation is smaller."""
        relaxed = _RELAXED_WEIGHT if self.problem.loss.name == "squares" else _RELAXED_WEIGHT_OF_OTHERS
        return self.problem.objective(replace(self.rows, sigma=np.maximum(self.rows.sigma, self.usual / relaxed)))

    def question(self, units: np.ndarray) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
        """The objective and the equations, functions of the parameters, in these units, and of the residuals that are pinned."""
        function, x, arguments = self.problem.model.function, self.problem.data.x, self.problem.arguments
        deviations, sigma, numbers, n = self.rows.deviations, self.rows.sigma, self.numbers, len(self.problem.parameters.lo)
        others, tiny = _without(len(sigma), numbers), sigma[numbers]
        of, joined, scale = self.problem.loss.of, self.problem.loss.joined, self.problem.scale

        def objective(z: Any) -> Any:
            positional, by_name = arguments([z[i] * unit for i, unit in enumerate(units)])
            e = deviations(function(x, *positional, **by_name)) * others / sigma
            return joined(of(e, scale), of(z[n:], scale))

        def equations(z: Any) -> Any:
            positional, by_name = arguments([z[i] * unit for i, unit in enumerate(units)])
            return deviations(function(x, *positional, **by_name))[numbers] == tiny * z[n:]
        return self.problem.model.named_in(objective), self.problem.model.named_in(equations)


def without_constant_rows(problem: FitProblem, rows: ResidualRows) -> ResidualRows:
    """Without pinned residuals that no parameter changes, as those of a (1 - exp(-b x)) at x = 0: all others would be nothing
    beside them."""
    heavy = np.empty(0, np.intp)
    if problem.loss.name == "squares" and rows.sigma is not None:
        heavy = np.flatnonzero(rows.sigma < np.median(rows.sigma) / _PINNED_WEIGHT)[:_EXAMINED_ROWS]
    if not len(heavy):
        return rows
    (lo, hi), deviations = problem.parameters.bounds.region, rows.deviations
    function, x, arguments = problem.model.function, problem.data.x, problem.arguments

    def some(p: Any) -> Any:
        positional, by_name = arguments(p)
        return deviations(function(x, *positional, **by_name))[heavy] == 0
    found = compile(lambda p: p[0], len(lo), constraints=some, check=False).rows(lo, hi)
    constant = (found.defined & (found.lo == found.hi))[1:]
    if not constant.any():
        return rows
    numbers, sigma = heavy[constant], rows.sigma.copy()
    squares = sum((Fraction(v) / Fraction(unit)) ** 2 for v, unit in zip(found.lo[1:][constant], sigma[numbers], strict=True))
    kept, sigma[numbers] = _without(len(sigma), numbers), np.median(sigma)
    return replace(rows, deviations=lambda response: deviations(response) * kept, sigma=sigma,
                   constant=Interval(round_down(squares), round_up(squares)))


def _without(count: int, numbers: np.ndarray) -> np.ndarray:
    """1 for each row, and 0 for those with these numbers."""
    kept = np.ones(count)
    kept[numbers] = 0.0
    return kept
