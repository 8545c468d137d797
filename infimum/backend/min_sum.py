"""Messages along a tree of cells: native loops for dynamic programming, one cell after the other.

A cell has a number, and links to entries of a table: two that it reads (`first`, `second`) and one that it writes (`parent`).
Cells come in an order in which every entry is written before it is read. All numbers are *minus* lower bounds and sums round
upward, so that what comes out is a lower bound too; -inf is a cell or an entry that nothing reaches. Entry 0 is read where there
is no link and holds 0; entry 1 is written by cells without a parent.
"""

from functools import cache

import numpy as np

from infimum.backend.host import Module
from infimum.backend.loops import Writer, module_of, run

NONE, TOP = 0, 1  # the entries for cells without a link, and without a parent


def _up() -> str:
    w = Writer("min_sum_up", "number:f first:i second:i parent:i table:f")
    below = w.add(w.load("table", w.load("first")), w.load("table", w.load("second")))
    w.raise_to("table", w.load("parent"), w.add(w.load("number"), below))
    return w.text()


def _down() -> str:
    w = Writer("min_sum_down", "number:f first:i second:i parent:i table:f above:f whole:f best:f from_child:i",
                backwards=True)
    first, second, parent = w.load("first"), w.load("second"), w.load("parent")
    u, v = w.load("table", first), w.load("table", second)
    outside = w.add(w.load("number"), w.load("above", parent))
    whole = w.add(outside, w.add(u, v))
    w.store("whole", "%i", whole)
    number = w.let("trunc i64 %i to i32")
    w.raise_to("best", parent, whole, number, "from_child")
    for entry, beside in ((first, v), (second, u)):
        w.raise_to("above", entry, w.add(outside, beside))
    return w.text()


def _follow() -> str:
    w = Writer("min_sum_follow", "cells:i child:i sibling:i first:i second:i from_child:i", backwards=True)
    cell = w.load("cells")
    for child, link in (("child", "first"), ("sibling", "second")):
        entry, below = w.load(link, cell), w.load(child)
        w.store("cells", below, w.let(f"trunc i64 {w.load('from_child', entry)} to i32"))
    return w.text()


@cache
def _module() -> Module:
    return module_of(_up(), _down(), _follow())


def up(number: np.ndarray, first: np.ndarray, second: np.ndarray, parent: np.ndarray, entries: int) -> np.ndarray:
    """The table: for each entry the largest sum below it. Its entry TOP is that of all cells without a parent."""
    table = np.full(entries, -np.inf)
    table[NONE] = 0.0
    run(_module(), "min_sum_up", len(number), [number, first, second, parent, table])
    return table


def down(number: np.ndarray, first: np.ndarray, second: np.ndarray, parent: np.ndarray,
         table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(for each cell the largest sum of a whole that it is part of; for each entry the cell with the largest such sum among those
    that write it, the last of equals, -1 if there is none)."""
    above, best, whole = np.full(len(table), -np.inf), np.full(len(table), -np.inf), np.empty(len(number))
    above[TOP], from_child = 0.0, np.full(len(table), -1, np.int32)
    run(_module(), "min_sum_down", len(number), [number, first, second, parent, table, above, whole, best, from_child])
    return whole, from_child


def follow(root: int, children: np.ndarray, first: np.ndarray, second: np.ndarray, from_child: np.ndarray) -> np.ndarray:
    """The cells, one for each bag, of the best whole through this cell of the last bag; it must be one that something reaches.
    `children` (2, bags) are bags that come before, or the number of bags where there is none."""
    cells = np.zeros(children.shape[1] + 1, np.int32)
    cells[-2] = root
    run(_module(), "min_sum_follow", children.shape[1], [cells, *children, first, second, from_child])
    return cells[:-1]
