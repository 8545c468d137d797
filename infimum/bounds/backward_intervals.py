"""Enclosures of the elements of an array that follow from results (backward propagation), and where they are kept.

The backward enclosure of an element is an interval that holds it wherever the function and its constraints are defined and
obeyed; NaN where the element is not needed (another branch is chosen): then nothing follows, not even that it is defined.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from infimum.expr.node import Expr
from infimum.interval.pair import INF, Pair
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Step, Value
from infimum.search.policy.bounds import PROPAGATION

_NAN = float("nan")


class BackwardInterval(NamedTuple):
    """[-nlo, hi]; `sure`: never NaN, whatever the lane."""

    nlo: Value
    hi: Value
    sure: bool

    def where(self, b: Builder, mask: Value) -> "BackwardInterval":
        return BackwardInterval(b.select(mask, self.nlo, _NAN), b.select(mask, self.hi, _NAN), False)

    @property
    def ends(self) -> tuple[Value, Value]:
        return self.nlo, self.hi


def smaller_or_other(b: Builder, left: tuple, right: tuple) -> tuple:
    """The smaller of two numbers; of one that is NaN the other."""
    return tuple(b.select(b.uno(q, q), p, b.select(b.ole(p, q), p, q)) for p, q in zip(left, right, strict=True))


def smaller_or_second(b: Builder, left: tuple, right: tuple) -> tuple:
    """The smaller of two numbers, the second if the first is NaN."""
    return tuple(b.min(p, q) for p, q in zip(left, right, strict=True))


def joined(b: Builder, found: list[BackwardInterval], known: Pair | None = None) -> BackwardInterval | None:
    """The intersection of all backward enclosures of an element and, where needed, of what is `known`; None: there are none."""
    if not found:
        return None
    sure, unsure = ([s.ends for s in found if s.sure is which] for which in (True, False))
    if sure:
        ends = sure[0]
        for other in sure[1:] + unsure:
            ends = smaller_or_second(b, other, ends)
    else:
        ends = unsure[0]
        for other in unsure[1:]:
            ends = smaller_or_other(b, ends, other)
    if known is not None:
        ends = smaller_or_second(b, (known.nlo, known.hi), ends)
    return BackwardInterval(*ends, bool(sure))


class BackwardArray:
    """The backward enclosure of each element of an array: as values, or in two buffers."""

    def __init__(self, b: Builder, size: int, written_out: bool, depth: int):
        self.b, self.size, self.depth = b, size, depth
        self.values: dict[int, BackwardInterval] | None = {} if written_out else None
        self.buffers: tuple[int, int] | None = None
        self.sure = True

    def put(self, i: "int | Value", implied: BackwardInterval) -> None:
        if self.values is not None:
            self.values[i] = implied
            return
        if self.buffers is None:
            self.buffers = self.b.buffer(self.size, self.depth), self.b.buffer(self.size, self.depth)
        self.sure &= implied.sure
        for buffer, end in zip(self.buffers, implied.ends, strict=True):
            self.b.store(buffer, i, end)

    def at(self, i: "int | Value") -> list[BackwardInterval]:
        """The backward enclosure of element i, if there is one."""
        if self.values is not None:
            return [self.values[i]] if i in self.values else []
        if self.buffers is None:
            return []
        return [BackwardInterval(*(self.b.load(buffer, i) for buffer in self.buffers), self.sure)]


def positions(view: Expr, which: int) -> np.ndarray | None:
    """For each element of a view, counted row-major, the position of its element in argument number `which`, -1 where it is none
    of its elements; None for sums of several."""
    x = view.args[which]
    grid = np.arange(x.size).reshape(x.shape)
    match view.op:
        case "reshape":
            found = grid
        case "transpose":
            found = grid.transpose(view["perm"])
        case "broadcast":
            found = np.broadcast_to(grid, view.shape)
        case "slice":
            rows = zip(view["starts"], view["steps"], view.shape, strict=True)
            found = grid[np.ix_(*(start + step * np.arange(count) for start, step, count in rows))] if x.shape else grid
        case "gather":
            found = view["index"].array
        case "concat":
            begin = sum(part.size for part in view.args[:which])
            found = np.full(view.size, -1)
            found[begin:begin + x.size] = grid.ravel()
        case "embed":
            found = np.full(view.shape, -1)
            rows = zip(view["starts"], view["steps"], x.shape, strict=True)
            found[np.ix_(*(start + step * np.arange(count) for start, step, count in rows))] = grid
        case "scatter":
            target = view["index"].array
            if len(set(target.ravel().tolist())) < len(target):
                return None
            found = np.full(view.size, -1)
            found[target] = grid.ravel()
    return np.ascontiguousarray(found, dtype=np.int64).reshape(-1)


Source = Callable[["int | Value"], list[BackwardInterval]]  # the backward enclosures of the element at a position


class ViewReader:
    """Reads the backward enclosures of a view's elements from the side of its argument; tables of positions lie in the kernel's
    data.
    """


    def __init__(self, b: Builder, data: Data, written_out: Callable[[int], bool], loop: Callable):
        self.b, self.data, self.written_out, self.loop = b, data, written_out, loop

    def of(self, x: Expr, views: list[tuple[Expr, int, Source]]) -> list[Source]:
        """What the views, of which x is the argument of this number, say of its elements."""
        found, single = [], {}
        for view, which, source in views:
            m = positions(view, which)
            if m is None or not (m >= 0).any():
                continue
            if self.written_out(x.size):
                found.append(self._at_once(m, source, self.written_out(view.size)))
            elif self.written_out(view.size):
                single.setdefault(int(m[0]), []).extend(source(0))
            elif np.bincount(m[m >= 0]).max() == 1:
                found.append(self._at_most_one(x, m, source))
            else:
                found.append(self._several(x, m, source))
        single = {i: joined(self.b, implied) for i, implied in single.items() if implied}
        return [*found, self._single(x, single)] if single else found

    def _at_once(self, m: np.ndarray, source: Source, written_out: bool) -> Source:
        """Of an array without loops: all its places, known beforehand, or, where they are many, one loop over them."""
        if written_out or (m >= 0).sum() <= PROPAGATION.elements_read_singly:
            places: dict[int, list[int]] = {}
            for p in np.flatnonzero(m >= 0).tolist():
                places.setdefault(int(m[p]), []).append(p)
            return lambda i: [implied for p in places.get(i, ()) for implied in source(p)]
        b, which = self.b, np.flatnonzero(m >= 0)  # of a single element
        table = None if len(which) == len(m) else self.data.position_offset(which)
        with self.loop(len(which)) as k:
            steps = self._least(source(k if table is None else b.udata(b.place("uadd", table, k))), True)
        return lambda i: [BackwardInterval(*step.results, sure) for step, sure in steps]

    def _least(self, found: list[BackwardInterval], always: bool) -> list[tuple[Step, bool]]:
        """Over the turns of a loop, which `always` has one at least."""
        implied = joined(self.b, found)
        if implied is None:
            return []
        sure = implied.sure and always
        return [(self.b.step((INF, INF) if sure else (_NAN, _NAN), implied.ends, smaller_or_second if sure else smaller_or_other),
                 sure)]

    def _at_most_one(self, x: Expr, m: np.ndarray, source: Source) -> Source:
        b = self.b
        if np.array_equal(m, np.arange(x.size)):
            return source
        back = np.full(x.size, len(m))
        back[m[m >= 0]] = np.flatnonzero(m >= 0)
        table = self.data.position_offset(back)

        def at(i: Value) -> list[BackwardInterval]:
            place = b.udata(b.place("uadd", table, i))
            if (back < len(m)).all():
                return source(place)
            inside = b.place("umin", place, len(m) - 1)
            return [implied.where(b, b.ueq(inside, place)) for implied in source(inside)]
        return at

    def _several(self, x: Expr, m: np.ndarray, source: Source) -> Source:
        b, order = self.b, np.argsort(m, kind="stable")
        order = order[(m < 0).sum():]
        starts = np.searchsorted(m[order], np.arange(x.size + 1))
        places, begins = self.data.position_offset(order), self.data.position_offset(starts)
        counts = np.diff(starts)

        def at(i: Value) -> list[BackwardInterval]:
            begin, end = (b.udata(b.place("uadd", begins + k, i)) for k in (0, 1))
            with self.loop(b.place("usub", end, begin), int(counts.max())) as k:
                steps = self._least(source(b.udata(b.place("uadd", places, b.place("uadd", begin, k)))), bool(counts.min()))
            return [BackwardInterval(*step.results, sure) for step, sure in steps]
        return at

    def _single(self, x: Expr, single: dict[int, BackwardInterval]) -> Source:
        """Single elements of an array that is read in a loop."""
        b = self.b
        if len(single) <= PROPAGATION.elements_read_singly:
            return lambda i: [implied.where(b, b.ueq(i, place)) for place, implied in single.items()]
        cells = BackwardArray(b, x.size, False, b.depth)
        nothing = BackwardInterval(b.const(_NAN), b.const(_NAN), False)
        for i in range(x.size):
            cells.put(i, single.get(i, nothing))
        return cells.at
