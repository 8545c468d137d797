"""The numbers of a local form, read from running sums and products: what the other variables contribute, seen from each
position."""

import numpy as np

from infimum.expr.hoist import EXACT, LocalForm, Number, all_sources, sources

_NEUTRAL = {"sum": 0.0, "prod": 1.0, "amin": np.inf, "amax": -np.inf, "norm": 0.0}
_SMOOTH = 3.0


def _up(values: np.ndarray) -> np.ndarray:
    return np.nextafter(values, np.inf)


def _down(values: np.ndarray) -> np.ndarray:
    return np.nextafter(values, -np.inf)


class Numbers:
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
            parts = [[found[k]] for k in self.reads[number.name]]
            if number.kind == "array":
                rows.append((parts[0][0][:, 0] if parts else x)[_within(number, positions)])
            elif number.kind == "scalar":
                rows.append(np.full(len(positions), parts[0][0][0, 0]))
            elif number.kind == "others":
                one, two = before(number, positions + number.shift, parts)[0], after(number, positions + number.stop, parts)[0]
                with np.errstate(over="ignore"):
                    rows.append(np.sqrt(np.maximum(one + two, 0.0))[:, 0])
            else:
                rows.append(_PART[number.kind](number, positions + number.shift, parts)[0][:, 0])
        return rows

    def _enclosure(self, number: Number, positions: np.ndarray, lo: np.ndarray, hi: np.ndarray, found: list[np.ndarray]) -> list:
        if number.kind in EXACT:
            return [exact(number, positions)[:, None]]
        parts = [found[3 * k:3 * k + 3] for k in self.reads[number.name]]
        if number.kind == "array":
            arrays = parts[0] if parts else (lo, hi, np.full((number.size, 1), _SMOOTH))
            return [np.take(a, _within(number, positions), axis=0) for a in arrays]
        if number.kind == "scalar":
            return list(parts[0])
        if number.kind == "others":
            one, two = before(number, positions + number.shift, parts), after(number, positions + number.stop, parts)
            with np.errstate(over="ignore"):
                low, high = _down(one[0] + two[0]), _up(one[1] + two[1])
            return [np.maximum(_down(np.sqrt(np.maximum(low, 0.0))), 0.0), _up(np.sqrt(np.maximum(high, 0.0))),
                    np.minimum(one[2], two[2])]
        return _PART[number.kind](number, positions + number.shift, parts)


def exact(number: Number, positions: np.ndarray) -> np.ndarray:
    """A constant of each position, or 1 where the position lies inside, else 0."""
    if number.kind == "constant":
        return number.source[_within(number, positions)]
    place = positions + number.shift
    return ((place >= 0) & (place < number.size)).astype(float)


def _within(number: Number, positions: np.ndarray) -> np.ndarray:
    return np.clip(positions + number.shift, 0, number.size - 1)


def before(number: Number, place: np.ndarray, parts: list) -> list[np.ndarray]:
    """What a reduction has before each place: nothing, the running combination there, or everything."""
    return _pieces(place <= 0, place >= number.size, np.clip(place, 0, number.size - 1), parts[0], parts[2], number)


def after(number: Number, place: np.ndarray, parts: list) -> list[np.ndarray]:
    """What it has from each place on."""
    return _pieces(place >= number.size, place <= 0, np.clip(place - 1, 0, number.size - 1), parts[1], parts[2], number)


_PART = {"before": before, "after": after}


def _pieces(nothing: np.ndarray, everything: np.ndarray, at: np.ndarray, scan: list, whole: list, number: Number) -> list:
    rows = []
    for k, (running, total) in enumerate(zip(scan, whole, strict=True)):
        row = np.take(running, at, axis=0)
        row[everything] = total
        row[nothing] = _NEUTRAL[number.op] if k < 2 else _SMOOTH
        rows.append(row)
    return rows
