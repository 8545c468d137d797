"""Points of bilinear problems: variables fall into two classes, and products are of one of each, as proportions and flows are.
With those of one class fixed the linear program is the problem itself, and its solution is a point with which to fix the others.
Estimates: whoever takes these points proves what they are.
"""

import numpy as np

from infimum.engine.linear_programs.bounding import Bounding
from infimum.engine.linear_programs.relaxation import Relaxation

_TURNS = 12           # programs for a start at most
_LARGEST, _SMALLEST = 0.25, 2.0**-8  # parts of the bounds, in which solutions of both classes are sought
_BETTER = 1e-6        # of the value: a turn that gains less is the last


def classes(relaxation: Relaxation) -> np.ndarray | None:
    """0 or 1 for each variable, 0 for those that are in no product; None if there are no such classes."""
    r, n = relaxation, relaxation.n
    if len(r.curves) or not len(r.products) or (r.factors >= n).any():
        return None
    near: dict[int, list[int]] = {}
    for a, b in r.factors.tolist():
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    found = np.full(n, -1)
    for first in sorted(near):
        waiting = [first] if found[first] < 0 else []
        found[first] = max(found[first], 0)
        while waiting:
            a = waiting.pop()
            for b in near[a]:
                if found[b] == found[a]:
                    return None
                if found[b] < 0:
                    found[b] = 1 - found[a]
                    waiting.append(b)
    return found


def improved(bounding: Bounding, kinds: np.ndarray, lo: np.ndarray, hi: np.ndarray, x: np.ndarray,
             enough: float) -> np.ndarray | None:
    """As `alternated`, and then from the solutions of the linear programs of smaller and smaller boxes around it: in these the
    relaxation is close to the problem, and both classes move together. A value that is `enough` is not improved."""
    found, part = alternated(bounding, kinds, lo, hi, x), _LARGEST
    enough -= bounding.relaxation.cost.constant
    while found is not None and found[0] > enough and part >= _SMALLEST:
        value, x = found
        reach = part * (hi - lo)
        z = bounding.solution(np.maximum(lo, x - reach), np.minimum(hi, x + reach))
        new = None if z is None else alternated(bounding, kinds, lo, hi, z[:len(lo)])
        better = new is not None and new[0] < value - _BETTER * max(1.0, abs(value))
        found, part = (new, part) if better else (found, part / 4)
    return None if found is None else found[1]


def alternated(bounding: Bounding, kinds: np.ndarray, lo: np.ndarray, hi: np.ndarray,
               x: np.ndarray) -> tuple[float, np.ndarray] | None:
    """A point of the box [lo, hi] that is about feasible, from x on, and f there but for its constant; None if none was found."""
    found, cost = None, bounding.relaxation.cost.low
    for first in (0, 1):
        best, value, point = None, np.inf, x
        for turn in range(_TURNS):
            held = kinds == (first + turn) % 2
            at = np.minimum(np.maximum(point, lo), hi)
            z = bounding.solution(np.where(held, at, lo), np.where(held, at, hi))
            if z is None:
                break
            now, point = float((cost * z).sum()), z[:len(lo)]
            better = now < value - _BETTER * max(1.0, abs(now))
            if now < value:
                best, value = point, now
            if not better and turn:
                break
        if best is not None and (found is None or value < found[0]):
            found = value, best
    return found
