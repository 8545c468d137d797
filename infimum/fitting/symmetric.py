"""Exchangeable groups of parameters, as the peaks of a spectrum: each fit is found once, first members in ascending order.

A permutation of the groups leaves the model as it is, and their bounds are equal: so every fit has an equally good one whose
first members do not fall. The search starts from boxes that hold all such points, a staircase along the diagonal.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from infimum.errors import OptionError
from infimum.fitting.data import Data
from infimum.fitting.model import Model, plain_call
from infimum.fitting.parameters import Parameters, check_names

_BOXES, _MOST_SLICES = 128, 16
_SEARCH_ROUNDS, _GOLDEN, _SAME_VALUE = 3, 0.6180339887498949, 1e-7

Groups = list[list[int]]  # the numbers of the free parameters in each


def read_groups(symmetric: Any, parameters: Parameters, model: Model, data: Data) -> Groups:
    """The groups, checked: equal bounds, and a model that they can be exchanged in."""
    wanted = 'symmetric must be a list of groups of parameters that can be exchanged, as [("a1", "b1"), ("a2", "b2")]'
    if isinstance(symmetric, str) or not isinstance(symmetric, Sequence):
        raise OptionError(f"{wanted}, not {symmetric!r}")
    named = [[group] if isinstance(group, str) else list(group) for group in symmetric]
    flat = [name for group in named for name in group]
    check_names("symmetric", flat, parameters.names)
    if len(named) < 2 or len(set(map(len, named))) != 1 or len(set(flat)) != len(flat) or not named[0]:
        raise OptionError(f"{wanted}: two or more groups of equal lengths, each parameter once; this is {symmetric!r}")
    free = parameters.free_names
    for name in flat:
        if name not in free:
            raise OptionError(f"{name!r} is fixed, and symmetric is about parameters that are not")
    groups = [[free.index(name) for name in group] for group in named]
    for k, members in enumerate(zip(*groups, strict=True)):
        for i in members[1:]:
            bounds, first = parameters.bounds, members[0]
            if not all(bounds.end(first, side).is_the_same_as(bounds.end(i, side)) for side in (0, 1)):
                raise OptionError(f"{named[0][k]!r} and {free[i]!r} are to be exchangeable, but have the bounds "
                                  f"{bounds.named(first)} and {bounds.named(i)}: give them the same")
    _check_exchange(groups, parameters, model, data)
    return groups


def in_order(groups: Groups, start: np.ndarray) -> np.ndarray:
    """The point with its groups in ascending order."""
    ordered = start.copy()
    ordered[groups] = sorted(start[groups].tolist())
    return ordered


def start_boxes(groups: Groups, parameters: Parameters) -> list[list[tuple[Any, Any]]]:
    """Boxes that hold every point within the bounds whose first members do not fall."""
    first = [group[0] for group in groups]
    slices = _MOST_SLICES
    while slices > 2 and _count(slices, len(first)) > _BOXES:
        slices -= 1
    low, high = float(parameters.lo[first[0]]), float(parameters.hi[first[0]])
    cuts = np.unique(np.concatenate([[low], np.linspace(low, high, slices + 1)[1:-1], [high]])).tolist()
    lo, hi = parameters.bounds.region
    cuts[0], cuts[-1] = float(lo[first[0]]), float(hi[first[0]])
    boxes = [list(zip(lo.tolist(), hi.tolist(), strict=True))]
    for here, following in pairwise(first):
        boxes = [_with(box, here, following, max(begin, box[here][0]), end, cuts[-1])
                 for box in boxes for begin, end in pairwise(cuts) if end > box[here][0]]
    return [parameters.bounds.pairs_within(*np.array(box).T) for box in boxes]


def falls(groups: Groups, lo: np.ndarray, hi: np.ndarray) -> bool:
    """Do the first members fall everywhere in the box of free parameters? Then it holds mirror images alone."""
    return any(lo[a[0]] > hi[b[0]] for a, b in pairwise(groups))


def _with(box: list, here: int, following: int, begin: float, end: float, high: float) -> list:
    found = list(box)
    found[here], found[following] = (begin, end), (begin, high)
    return found


def _count(slices: int, groups: int) -> int:
    """The number of boxes: of sequences of slices that do not fall, one for each group but the last."""
    count = 1
    for k in range(1, groups):
        count = count * (slices + k - 1) // k
    return count


def _check_exchange(groups: Groups, parameters: Parameters, model: Model, data: Data) -> None:
    """Looks at the model at a few points with two groups exchanged: not a proof, but what a slip does not survive."""
    for look in range(1, _SEARCH_ROUNDS + 1):
        part = np.modf(_GOLDEN * (look + np.arange(1, len(parameters.lo) + 1) * _GOLDEN))[0]
        p = parameters.lo + part * (parameters.hi - parameters.lo)
        here = plain_call(model, data.x, parameters.all_values(p))
        for a, b in pairwise(groups):
            exchanged = p.copy()
            exchanged[a], exchanged[b] = p[b], p[a]
            there = plain_call(model, data.x, parameters.all_values(exchanged))
            if here is not None and there is not None and np.abs(here - there).max() > _SAME_VALUE * np.abs(here).max():
                names = [", ".join(parameters.free_names[i] for i in group) for group in (a, b)]
                raise OptionError(f"the model changes if ({names[0]}) and ({names[1]}) are exchanged: they are not symmetric")
