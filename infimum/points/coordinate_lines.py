"""Search beside the descents: along coordinates, pairs of coordinates and the gradient, over the whole range at once in lanes.

Descents end in the basin they start in. Where a function has a basin in every period of every variable, the lowest one is out of
reach for them from about ten variables on, but not for a search that looks along each variable over its whole range. All
variables are looked along at once; then the best changes are made together, or half of them, or a quarter, …, whatever is lowest.
"""

from collections.abc import Iterator

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import PROBE
from infimum.points.random_numbers import uniform
from infimum.search.policy.points import COORDINATE_LINES as POLICY
from infimum.support.lazy import dataclass

NONE = -1.0  # fixed: no variable, in the layout of the kernel's inputs


@dataclass(slots=True)
class LinePoint:
    """A point, its value (an estimate), and the lines through it: for some variables, the lowest local minima along each."""

    x: np.ndarray
    value: float
    variables: np.ndarray | None = None
    basins: np.ndarray | None = None


class CoordinateLineSearch:
    """Moves a point to a better one. The methods are generators: they yield between runs, so that a time limit is kept."""

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, samples: int = 64, seed: int = 0):
        self.evaluator, self.lo, self.hi, self.samples, self.seed = evaluator, lo, hi, samples, seed
        self.n, self.width = len(lo), hi - lo
        self.movable = np.flatnonzero(self.width > 0)
        self.index = np.arange(self.n, dtype=float)
        self.evaluations = self.sweeps = 0

    # ---- values beside a point
    def _values(self, x: np.ndarray, lanes: np.ndarray, direction: np.ndarray | None = None) -> Iterator[np.ndarray]:
        """f at the places that the lanes (5, N) describe, infinite where it has no value. Yields None between runs."""
        direction = np.zeros(self.n) if direction is None else direction
        parameters = np.concatenate([x, direction, self.lo, self.hi, self.index])
        found = []
        for begin in range(0, lanes.shape[1], POLICY.lanes_at_once):
            part = np.ascontiguousarray(lanes[:, begin:begin + POLICY.lanes_at_once])
            found.append(self.evaluator.run(PROBE, [part], parameters=parameters)[0][0])
            self.evaluations += part.shape[1]
            yield None
        values = np.concatenate(found)
        return np.where(np.isfinite(values), values, np.inf)

    def _lines(self, x: np.ndarray, variables: np.ndarray, at: np.ndarray) -> Iterator[np.ndarray]:
        """f with variable j set to at[j, k], one at a time: shape as `at`."""
        lanes = np.zeros((5, at.size))
        lanes[0], lanes[1], lanes[2] = np.repeat(variables, at.shape[1]), at.ravel(), NONE
        values = yield from self._values(x, lanes)
        return values.reshape(at.shape)

    def _merged(self, place: LinePoint, variables: np.ndarray, to: np.ndarray, values: np.ndarray) -> LinePoint:
        """Sets the variables that gain most, all of them, half of them, … one: whichever is lowest."""
        order = np.argsort(values, kind="stable")
        order = order[values[order] < place.value]
        if not len(order):
            return place
        counts = sorted({max(1, len(order) >> k) for k in range(12)})
        points = np.repeat(place.x[:, None], len(counts), axis=1)
        for column, count in enumerate(counts):
            points[variables[order[:count]], column] = to[order[:count]]
        found = self.evaluator.estimate(points)
        self.evaluations += len(counts)
        found = np.where(np.isfinite(found), found, np.inf)
        k = int(np.argmin(found))
        return LinePoint(points[:, k].copy(), float(found[k])) if found[k] < place.value else place

    # ---- moves
    def sweep(self, place: LinePoint) -> Iterator[LinePoint]:
        """Looks along every variable over its whole range and closer around the point, then into the lowest basins of each line,
        twice closer, and moves."""
        variables = self._chosen()
        if not len(variables):
            return place
        at = self._samples(place.x[variables], variables)
        values = yield from self._lines(place.x, variables, at)
        below, to, above, lowest = self._basins(at, values)
        for _ in range(2):
            part = np.arange(1, POLICY.samples_of_refinement + 1) / (POLICY.samples_of_refinement + 1)
            closer = below[..., None] + (above - below)[..., None] * part
            values = yield from self._lines(place.x, variables, closer.reshape(len(variables), -1))
            values = values.reshape(closer.shape)
            k = np.argmin(values, axis=-1)[..., None]
            value, position = (np.take_along_axis(a, k, axis=-1)[..., 0] for a in (values, closer))
            to, lowest = np.where(value < lowest, position, to), np.minimum(value, lowest)
            cell = (above - below) / (POLICY.samples_of_refinement + 1)
            below, above = np.maximum(below, to - cell), np.minimum(above, to + cell)
        self.sweeps += 1
        best = np.argmin(lowest, axis=1)[:, None]
        moved = self._merged(place, variables, *(np.take_along_axis(a, best, axis=1)[:, 0] for a in (to, lowest)))
        return LinePoint(moved.x, moved.value, variables, to)

    def _samples(self, x: np.ndarray, variables: np.ndarray) -> np.ndarray:
        """Where to look: over the whole range, and a quarter as often within a 16th and within a 128th of it around x."""
        low, width = self.lo[variables, None], self.width[variables, None]
        parts = [low + width * np.linspace(0.0, 1.0, self.samples)]
        parts += [x[:, None] + width * radius * np.linspace(-1.0, 1.0, -(-self.samples // 4)) for radius in (1 / 16, 1 / 128)]
        return np.sort(self._within(np.concatenate(parts, axis=1), variables), axis=1)

    def _within(self, at: np.ndarray, variables: np.ndarray) -> np.ndarray:
        return np.minimum(np.maximum(at, self.lo[variables, None]), self.hi[variables, None])

    def _chosen(self) -> np.ndarray:
        """The variables of this sweep: all, or as many as a sweep can afford, others each time."""
        most = max(1, POLICY.most_numbers // (self.samples * self.n))
        if len(self.movable) <= most:
            return self.movable
        order = np.argsort(uniform(self.seed, 2, self.sweeps, range(len(self.movable)), 1)[0], kind="stable")
        return np.sort(self.movable[order[:most]])

    @staticmethod
    def _basins(at: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, ...]:
        """(the sample before, the sample, the sample after, its value) at the lowest local minima of each line; lines with few
        repeat their lowest."""
        padded = np.pad(values, ((0, 0), (1, 1)), constant_values=np.inf)
        local = (values <= padded[:, :-2]) & (values <= padded[:, 2:])
        order = np.argsort(np.where(local, values, np.inf), axis=1, kind="stable")[:, :POLICY.minima_of_line]
        order = np.where(np.take_along_axis(local, order, axis=1), order, order[:, :1])
        last = at.shape[1] - 1
        around = (np.maximum(order - 1, 0), order, np.minimum(order + 1, last))
        return *(np.take_along_axis(at, k, axis=1) for k in around), np.take_along_axis(values, order, axis=1)

    def pairs(self, place: LinePoint, scale: int, turn: int, most: int = POLICY.points_of_pairs) -> Iterator[np.ndarray]:
        """Points (n, up to `most`) that differ from this one in two variables, lowest first.

        Each of the two takes the lowest local minima of its line and some values around it, within a radius that shrinks with
        `scale`: a product of waves falls only if two of its factors move by half a wave together, which no line shows. Of many
        variables, `turn` chooses pairs.
        """
        variables = place.variables
        if variables is None or len(variables) < 2:
            return np.empty((self.n, 0))
        m = len(variables)
        count = min(m * (m - 1) // 2, POLICY.lanes_of_pairs // (2 * POLICY.minima_of_line) ** 2)
        if count == m * (m - 1) // 2:
            first, second = np.triu_indices(m, 1)
        else:
            draw = uniform(self.seed, 3, turn, range(count), 2)
            first = (draw[0] * m).astype(int)
            second = (first + 1 + (draw[1] * (m - 1)).astype(int)) % m
            first, second = np.minimum(first, second), np.maximum(first, second)
        radius = self.width[variables, None] * 0.5 ** (1 + 2 * scale)
        steps = int(np.sqrt(POLICY.lanes_of_pairs / count)) - POLICY.minima_of_line
        around = place.x[variables, None] + radius * np.linspace(-1.0, 1.0, steps)
        values = np.concatenate([place.basins, self._within(around, variables)], axis=1)
        size = values.shape[1]
        one, two = np.repeat(first, size * size), np.repeat(second, size * size)
        v, w = np.repeat(values[first], size, axis=1).ravel(), np.tile(values[second], size).ravel()
        lanes = np.stack([variables[one].astype(float), v, variables[two].astype(float), w, np.zeros(len(v))])
        found = yield from self._values(place.x, lanes)
        stays = (v == place.x[variables[one]]) | (w == place.x[variables[two]])
        order = _lowest(np.where(stays, np.inf, found), 8 * most)
        order = order[np.isfinite(found[order]) & ~stays[order]]
        first_seen = np.unique(lanes[:4, order], axis=1, return_index=True)[1]
        order = order[np.sort(first_seen)[:most]]
        points = np.repeat(place.x[:, None], len(order), axis=1)
        columns = np.arange(len(order))
        points[variables[one[order]], columns], points[variables[two[order]], columns] = v[order], w[order]
        return points

    def downhill(self, place: LinePoint) -> Iterator[LinePoint]:
        """Looks along the gradient, scaled by the widths, from tiny steps to ones across the box."""
        _, g = self.evaluator.estimate_gradient(place.x)
        with np.errstate(over="ignore", invalid="ignore"):
            steepest = -g * self.width * self.width
            longest = np.abs(steepest / np.where(self.width > 0, self.width, 1.0)).max()
        if not 0 < longest < np.inf:
            return place
        lanes = np.zeros((5, 64))
        lanes[0], lanes[2], lanes[4] = NONE, NONE, np.ldexp(1.0, -np.arange(64) // 2) * np.where(np.arange(64) % 2, 0.75, 1.0)
        direction = steepest / longest
        values = yield from self._values(place.x, lanes, direction)
        k = int(np.argmin(values))
        if not values[k] < place.value:
            return place
        x = np.minimum(np.maximum(place.x + lanes[4, k] * direction, self.lo), self.hi)
        value = float(self.evaluator.estimate(x))
        return LinePoint(x, value) if value < place.value else place

    def polish(self, place: LinePoint, rounds: int = POLICY.polishing_rounds) -> Iterator[LinePoint]:
        """Moves each variable by every power of two down to its last bits, again and again: what a kink needs."""
        if not len(self.movable) or len(self.movable) * self.n * 96 > POLICY.most_numbers // 16:
            return place
        scale = np.ldexp(1.0, -np.arange(2, 50))
        offsets = np.concatenate([scale, -scale])
        for _ in range(rounds):
            at = place.x[self.movable, None] + self.width[self.movable, None] * offsets
            at = self._within(at, self.movable)
            values = yield from self._lines(place.x, self.movable, at)
            rows, k = np.arange(len(self.movable)), np.argmin(values, axis=1)
            moved = self._merged(place, self.movable, at[rows, k], values[rows, k])
            if not moved.value < place.value:
                break
            place = moved
        return place


def _lowest(values: np.ndarray, count: int) -> np.ndarray:
    """Where the lowest stand, in ascending order, of equal ones the first: the beginning of a stable sort."""
    if count < len(values):
        few = np.flatnonzero(values <= np.partition(values, count - 1)[count - 1])
        return few[np.argsort(values[few], kind="stable")[:count]]
    return np.argsort(values, kind="stable")
