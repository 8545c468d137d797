"""Systems of linear equations whose graph is a tree of width 2, by elimination: a native loop, in a time that is linear.

The variables are numbered in the order in which they are eliminated. Of those after it, variable i meets at most two, `first` and
`second`, in the elements off[2 i] and off[2 i + 1] of the symmetric matrix; `between` says where in `off` the element of these
two stands. Where there is none, they are n, and `between` is 2 n.
"""

from functools import cache

import numpy as np

from infimum.backend.host import Module
from infimum.backend.loops import Writer, module_of, run


def _forwards() -> str:
    """Pivots become positive: where the matrix is not definite, the solution still leads downhill."""
    w = Writer("eliminate", "diagonal:f off:f right:f least:f first:i second:i between:i")
    left = w.let("mul i64 %i, 2")
    right = w.let(f"add i64 {left}, 1")
    raw = w.load("diagonal")
    pivot = w.larger(w.larger(raw, w.let(f"fneg double {raw}")), w.load("least"))
    value, one, other = w.load("right"), w.load("off", left), w.load("off", right)
    first, second, between = w.load("first"), w.load("second"), w.load("between")
    parts = [w.rounded("div", element, pivot) for element in (one, other)]
    for array, at, part, element in (("diagonal", first, parts[0], one), ("diagonal", second, parts[1], other),
                                     ("off", between, parts[0], other), ("right", first, parts[0], value),
                                     ("right", second, parts[1], value)):
        w.store(array, at, w.rounded("sub", w.load(array, at), w.rounded("mul", part, element)))
    for array, at, known in (("diagonal", "%i", pivot), ("off", left, parts[0]), ("off", right, parts[1])):
        w.store(array, at, known)
    return w.text()


def _backwards() -> str:
    w = Writer("substitute", "diagonal:f off:f right:f first:i second:i x:f", backwards=True)
    left = w.let("mul i64 %i, 2")
    right = w.let(f"add i64 {left}, 1")
    value = w.rounded("div", w.load("right"), w.load("diagonal"))
    for at, link in ((left, "first"), (right, "second")):
        value = w.rounded("sub", value, w.rounded("mul", w.load("off", at), w.load("x", w.load(link))))
    w.store("x", "%i", value)
    return w.text()


@cache
def _module() -> Module:
    return module_of(_forwards(), _backwards())


def solve(diagonal: np.ndarray, off: np.ndarray, right: np.ndarray, least: np.ndarray,
          links: tuple[np.ndarray, ...]) -> np.ndarray:
    """The solution (n,), with pivots replaced by their absolute values, or by `least` where they are less. `links` are first,
    second, between: 32-bit numbers. An estimate.

    >>> links = tuple(np.array(row, np.int32) for row in ([1, 2], [2, 2], [4, 4]))  # 2 x + y = 4, x + 3 y = 7
    >>> solve(np.array([2.0, 3.0]), np.array([1.0, 0.0, 0.0, 0.0]), np.array([4.0, 7.0]), np.zeros(2), links)
    array([1., 2.])
    """
    n = len(right)
    diagonal, off, right = (np.append(a, 0.0) for a in (diagonal, off, right))
    x = np.zeros(n + 1)
    run(_module(), "eliminate", n, [diagonal, off, right, least, *links])
    run(_module(), "substitute", n, [diagonal, off, right, *links[:2], x])
    return x[:n]
