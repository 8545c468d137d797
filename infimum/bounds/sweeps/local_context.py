"""The numbers of a local form, read from running sums and products: what the other variables contribute, seen from each
position."""

import numpy as np

from infimum.evaluation.enclosures import SMOOTH
from infimum.structure.local_form import EXACT, NEUTRAL, LocalForm, LocalNumber, all_sources, sources
from infimum.structure.local_form_positions import exact, parts, within

_SMOOTH = float(SMOOTH)


def _up(values: np.ndarray) -> np.ndarray:
    return np.nextafter(values, np.inf)


def _down(values: np.ndarray) -> np.ndarray:
    return np.nextafter(values, -np.inf)


class ContextNumbers:
    """Reads the numbers of a form at `positions` from the arrays that a context kernel has computed."""

    def __init__(self, form: LocalForm):
        self.form = form
        nodes = all_sources(form)
        self.reads = {number.name: [nodes.index(node) for node in sources(number)] for number in form.numbers}
        self.needs_context = bool(nodes)

    def enclosures(self, positions: np.ndarray, lo: np.ndarray, hi: np.ndarray, found: list[np.ndarray]) -> list[list]:
        """For each number its rows, of shape (positions, boxes) or broadcast to it: lower ends, upper ends, levels; one if
        exact."""
        return [self._enclosure(number, positions, lo, hi, found) for number in self.form.numbers]

    def estimates(self, positions: np.ndarray, x: np.ndarray, found: list[np.ndarray]) -> list[np.ndarray]:
        """For each number its values at one point, for all positions."""
        rows = []
        for number in self.form.numbers:
            if number.kind in EXACT:
                rows.append(exact(number, positions))
                continue
            read = [[found[k]] for k in self.reads[number.name]]
            if number.kind == "array":
                rows.append((read[0][0][:, 0] if read else x)[within(number, positions)])
            elif number.kind == "scalar":
                rows.append(np.full(len(positions), read[0][0][0, 0]))
            else:
                sides = [side[0][:, 0] for side in _sides(number, positions, read)]
                with np.errstate(over="ignore"):
                    rows.append(np.sqrt(np.maximum(sides[0] + sides[1], 0.0)) if number.kind == "others" else sides[0])
        return rows

    def _enclosure(self, number: LocalNumber, positions: np.ndarray, lo: np.ndarray, hi: np.ndarray,
                   found: list[np.ndarray]) -> list:
        if number.kind in EXACT:
            return [exact(number, positions)[:, None]]
        read = [found[3 * k:3 * k + 3] for k in self.reads[number.name]]
        if number.kind == "array":
            arrays = read[0] if read else (lo, hi, np.full((number.size, 1), _SMOOTH))
            return [np.take(a, within(number, positions), axis=0) for a in arrays]
        if number.kind == "scalar":
            return list(read[0])
        one, *others = _sides(number, positions, read)
        for two in others:
            with np.errstate(over="ignore"):
                low, high = _down(one[0] + two[0]), _up(one[1] + two[1])
            one = [np.maximum(_down(np.sqrt(np.maximum(low, 0.0))), 0.0), _up(np.sqrt(np.maximum(high, 0.0))),
                   np.minimum(one[2], two[2])]
        return one


def _sides(number: LocalNumber, positions: np.ndarray, read: list) -> list[list[np.ndarray]]:
    """The rows of each part of a number."""
    found, neutral = [], NEUTRAL[number.op]
    empty = (neutral, neutral, _SMOOTH)[:len(read[2])]  # of a point there is one row
    for source, part in parts(number, positions):
        rows = []
        for running, total, none in zip(read[source], read[2], empty, strict=True):
            row = np.take(running, part.at, axis=0)
            row[part.everything] = total
            row[part.nothing] = none
            rows.append(row)
        found.append(rows)
    return found
