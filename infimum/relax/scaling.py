"""A region's linear program as a solver is given it: columns between 0 and 1, rows and the cost with largest entries of 1.

Estimates: nothing here is rounded with care, as nothing that a solver says of it is believed.
"""

from typing import NamedTuple

import numpy as np

from infimum.relax.relaxation import RegionProgram
from infimum.search.policy.bounds import LINEAR_PROGRAMS as POLICY

_SMALLEST = 1e-300  # fixed: the range of doubles


class Matrix(NamedTuple):
    """Row by row: where each row begins, and the column and value of each entry."""

    begin: np.ndarray
    column: np.ndarray
    value: np.ndarray


class ScaledProgram(NamedTuple):
    """The program; `scales` by which rows were multiplied, `unit` by which the cost was divided."""

    cost: np.ndarray
    matrix: Matrix
    lower: np.ndarray
    upper: np.ndarray
    scales: np.ndarray
    unit: float
    low: np.ndarray
    width: np.ndarray

    @property
    def rows(self) -> int:
        return len(self.lower)

    @property
    def columns(self) -> int:
        return len(self.cost)

    def unscaled(self, point: np.ndarray) -> np.ndarray:
        """The columns at a solution."""
        return self.low + self.width * np.minimum(np.maximum(point, 0.0), 1.0)

    def for_cost(self, cost: np.ndarray) -> "ScaledProgram":
        """The same with another cost, given for the columns themselves."""
        return self._replace(**dict(zip(("cost", "unit"), _cost(cost, self.width), strict=True)))


def scaled(region: RegionProgram, cutoff: int | None = None) -> ScaledProgram:
    """The program of a region, without the row `cutoff`, if one is given."""
    rows = region.rows
    with np.errstate(all="ignore"):
        width = region.high - region.low
        known = np.isfinite(width)  # of others there are no rows
        low, width = np.where(known, region.low, 0.0), np.where(known, np.maximum(width, 0.0), 0.0)
        count = len(rows.lower)
        value = rows.low * width[rows.column]
        largest = np.zeros(count)
        np.maximum.at(largest, rows.row, np.abs(value))
        scales = np.where(np.isfinite(1.0 / largest), 1.0 / largest, 1.0)
        moved = np.bincount(rows.row, rows.low * low[rows.column], count)
        lower, upper = (rows.lower - moved) * scales, (rows.upper - moved) * scales
        value = value * scales[rows.row]
    value = np.where(np.abs(value) > POLICY.negligible_entry, value, 0.0)
    lower, upper = np.where(np.isnan(lower), -np.inf, lower), np.where(np.isnan(upper), np.inf, upper)
    if cutoff is not None:
        upper[cutoff] = np.inf
    keep = value != 0.0
    begin = np.concatenate([[0], np.cumsum(np.bincount(rows.row[keep], minlength=count))])
    matrix = Matrix(begin.astype(np.int32), rows.column[keep].astype(np.int32), value[keep])
    cost, unit = _cost(region.cost.low, width)
    return ScaledProgram(cost, matrix, lower, upper, scales, unit, low, width)


def _cost(cost: np.ndarray, width: np.ndarray) -> tuple[np.ndarray, float]:
    with np.errstate(all="ignore"):
        cost = cost * width
        unit = float(np.abs(cost).max(initial=0.0))
        unit = unit if _SMALLEST < unit < 1.0 / _SMALLEST else 1.0
        cost = cost / unit
    return np.where(np.abs(cost) > POLICY.negligible_entry, cost, 0.0), unit
