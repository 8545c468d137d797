"""Where the numbers of a local form stand in the arrays that they are read from, for the positions that one looks from."""

from typing import NamedTuple

import numpy as np

from infimum.structure.local_form import LocalNumber


class ReductionSide(NamedTuple):
    """What a reduction has on one side of each place: the running combination `at` a position, or everything, or nothing."""

    at: np.ndarray
    everything: np.ndarray
    nothing: np.ndarray


def _before(number: LocalNumber, place: np.ndarray) -> ReductionSide:
    """What stands before each place."""
    return ReductionSide(np.clip(place, 0, number.size - 1), place >= number.size, place <= 0)


def _after(number: LocalNumber, place: np.ndarray) -> ReductionSide:
    """What stands there and behind."""
    return ReductionSide(np.clip(place - 1, 0, number.size - 1), place <= 0, place >= number.size)


def within(number: LocalNumber, positions: np.ndarray) -> np.ndarray:
    """The places of an array's elements; beyond its ends the nearest one."""
    return np.clip(positions + number.shift, 0, number.size - 1)


def exact(number: LocalNumber, positions: np.ndarray) -> np.ndarray:
    """A constant of each position, or 1 where the position lies inside, else 0."""
    if number.kind == "constant":
        return number.source[within(number, positions)]
    place = positions + number.shift
    return ((place >= 0) & (place < number.size)).astype(float)


def parts(number: LocalNumber, positions: np.ndarray) -> list[tuple[int, ReductionSide]]:
    """The parts that a number is put together from, and which of its sources their running combinations are (the last source is
    everything)."""
    sides = {"before": [(0, _before, number.shift)], "after": [(1, _after, number.shift)],
             "others": [(0, _before, number.shift), (1, _after, number.stop)]}
    return [(source, side(number, positions + shift)) for source, side, shift in sides[number.kind]]
