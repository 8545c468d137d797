"""Linear programs of regions as a solver is given them: columns between 0 and 1, rows and the cost with largest entries of 1.

Estimates: nothing here is rounded with care, as nothing that a solver says of it is believed.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from infimum.relax.relaxation import RegionPrograms
from infimum.search.policy.bounds import LINEAR_PROGRAMS as POLICY

_SMALLEST = 1e-300  # fixed: the range of doubles


class Matrix(NamedTuple):
    """Row by row: where each row begins, and the column and value of each entry."""

    begin: np.ndarray
    column: np.ndarray
    value: np.ndarray


class ScaledProgram(NamedTuple):
    """The program; `scales` by which rows were multiplied, `unit` by which the cost was divided, after `offset` was taken off."""

    cost: np.ndarray
    matrix: Matrix
    lower: np.ndarray
    upper: np.ndarray
    scales: np.ndarray
    unit: float
    offset: float
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
        scaled_cost, unit = _cost(cost * self.width)
        return self._replace(cost=scaled_cost, unit=float(unit))


def scaled(regions: RegionPrograms, cutoff: int | None = None) -> Iterator[ScaledProgram]:
    """The programs of regions one after the other, without the row `cutoff`, if one is given."""
    rows = regions.rows
    lanes, count = rows.lower.shape
    places = (rows.row + count * np.arange(lanes)[:, None]).ravel()
    with np.errstate(all="ignore"):
        width = regions.high - regions.low
        known = np.isfinite(width)  # of others there are no rows
        low, width = np.where(known, regions.low, 0.0), np.where(known, np.maximum(width, 0.0), 0.0)
        value = rows.low * width[:, rows.column]
        largest = np.zeros(lanes * count)
        np.maximum.at(largest, places, np.abs(value).ravel())
        scales = np.where(np.isfinite(1.0 / largest), 1.0 / largest, 1.0).reshape(lanes, count)
        moved = np.bincount(places, (rows.low * low[:, rows.column]).ravel(), lanes * count).reshape(lanes, count)
        lower, upper = (rows.lower - moved) * scales, (rows.upper - moved) * scales
        value = value * scales[:, rows.row]
        cost, unit = _cost(regions.cost.low * width)
        offset = regions.cost.constant + (regions.cost.low * low).sum(axis=-1)
    keep = np.abs(value) > POLICY.negligible_entry
    lower, upper = np.where(np.isnan(lower), -np.inf, lower), np.where(np.isnan(upper), np.inf, upper)
    if cutoff is not None:
        upper[:, cutoff] = np.inf
    begin = np.zeros((lanes, count + 1), np.int32)
    begin[:, 1:] = np.cumsum(np.bincount(places, keep.ravel(), lanes * count).reshape(lanes, count), axis=1)
    column = rows.column.astype(np.int32)
    for k in range(lanes):
        matrix = Matrix(begin[k], column[keep[k]], value[k, keep[k]])
        yield ScaledProgram(cost[k], matrix, lower[k], upper[k], scales[k], float(unit[k]), float(offset[k]), low[k], width[k])


def _cost(cost: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    with np.errstate(all="ignore"):
        unit = np.abs(cost).max(axis=-1, initial=0.0)
        unit = np.where((unit > _SMALLEST) & (unit < 1.0 / _SMALLEST), unit, 1.0)
        cost = cost / unit[..., None]
    return np.where(np.abs(cost) > POLICY.negligible_entry, cost, 0.0), unit
