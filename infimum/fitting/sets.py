"""Sets of parameters, as boxes that lie inside them and boxes that hold them, and what is told of them."""

from functools import cached_property
from math import fsum
from typing import Any

import numpy as np

from infimum.fitting.parameter_sets import set_report
from infimum.linear_algebra.interval_matrices import down, up
from infimum.problem.problem import Interval
from infimum.problem.text import counted
from infimum.sets.frame import Frame, volumes
from infimum.sets.sublevel_search import Component, SublevelSearch
from infimum.support import environment
from infimum.support.lazy import dataclass


@environment.all_ours
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Boxes:
    """Boxes of the free parameters that share no inner points: arrays `lo` and `hi` of shape (N, n). They are boxes of
    coordinates u, p = centres[k] + matrices[k] @ u with k = part[i] for box i: the parameters themselves where the matrix is the
    unit matrix and the centre 0, and parallelepipeds elsewhere, of which `place` gives the boxes around them."""

    lo: np.ndarray
    hi: np.ndarray
    part: np.ndarray
    centres: np.ndarray
    matrices: np.ndarray

    def __len__(self) -> int:
        return len(self.part)

    def __repr__(self) -> str:
        return f"Boxes({counted(len(self), 'box', 'es')})"

    @property
    @environment.ours
    def volume(self) -> Interval:
        """That of all of them together, in the parameters, enclosed."""
        low, high = [], []
        for k, frame in enumerate(self._frames()):
            sizes, scale = volumes(*(end[self.part == k].T for end in (self.lo, self.hi))), frame.scale()
            low.append(max(0.0, down(down(fsum(sizes[0])) * scale[0])))
            high.append(up(up(fsum(sizes[1])) * scale[1]) if len(sizes[1]) else 0.0)
        return Interval(max(0.0, float(down(fsum(low)))), float(up(fsum(high))) if any(high) else 0.0)

    def place(self) -> tuple[np.ndarray, np.ndarray]:
        """The boxes around them in the parameters, as arrays (N, n)."""
        lo, hi = self.lo.copy(), self.hi.copy()
        for k, frame in enumerate(self._frames()):
            mine = self.part == k
            ends = frame.place(lo[mine].T, hi[mine].T)
            lo[mine], hi[mine] = ends[0].T, ends[1].T
        return lo, hi

    def holds(self, points: Any) -> np.ndarray:
        """Which of the points (N, n) certainly lie in one of the boxes."""
        return self._compare(points, lambda low, high, lo, hi: (low >= lo) & (high <= hi))

    def may_hold(self, points: Any) -> np.ndarray:
        """Which of the points (N, n) are not certainly outside of all boxes."""
        return self._compare(points, lambda low, high, lo, hi: (high >= lo) & (low <= hi))

    def _compare(self, points: Any, test: Any) -> np.ndarray:
        points = np.atleast_2d(np.asarray(points, dtype=float))
        found = np.zeros(len(points), bool)
        for k, frame in enumerate(self._frames()):
            lo, hi = (end[self.part == k].T for end in (self.lo, self.hi))
            low, high = frame.coordinates(points.T, points.T)
            for i in range(len(points)):
                found[i] |= bool(test(low[:, i, None], high[:, i, None], lo, hi).all(axis=0).any())
        return found

    def _frames(self) -> list[Frame]:
        return [Frame(centre, matrix) for centre, matrix in zip(self.centres, self.matrices, strict=True)]


@dataclass(frozen=True, slots=True)
class Profile:
    """The values of one parameter in a set. outer: none lies outside of this interval. inner: both of its ends are attained, by
    points that were verified; None if no point of the set is known."""

    name: str
    inner: Interval | None
    outer: Interval


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A part of a set that is apart from all others, as far as was shown: a box [lo, hi] around it, a verified `point` of it, if
    one is known, and the values of each parameter in it."""

    lo: np.ndarray
    hi: np.ndarray
    point: np.ndarray | None
    profiles: dict[str, Profile]


@environment.all_ours
@dataclass(frozen=True, eq=False, repr=False)
class ParameterSet:
    """A set of values of the free parameters `names`. `print(s)` shows a table.

    inner: boxes all of whose points belong to the set. outer: boxes that together hold all of it. parts: those that are apart.
    points: verified points of the set, the furthest ones in each parameter, of shape (N, n). stopped: what ended the search
    early, if anything; all that is said holds in any case. nfev: the boxes that were enclosed.
    """

    names: list[str]
    inner: Boxes
    outer: Boxes
    parts: list[Part]
    points: np.ndarray
    stopped: str | None
    nfev: int

    @property
    def title(self) -> str:
        """What set it is."""
        return "parameters"

    @property
    def feasible(self) -> bool | None:
        """True if a point of the set was verified, False if it is proved to be empty, None if neither was shown."""
        return True if len(self.points) else None if self.parts else False

    @cached_property
    def volume_inner(self) -> Interval:
        """The volume of the inner boxes, enclosed: the set has at least `volume_inner.lo`."""
        return self.inner.volume

    @cached_property
    def volume_outer(self) -> Interval:
        """The volume of the outer boxes, enclosed: the set has at most `volume_outer.hi`."""
        return self.outer.volume

    @cached_property
    def profiles(self) -> dict[str, Profile]:
        """The values of each parameter in the whole set, by name."""
        found = {}
        for name in self.names if self.parts else []:
            rows = [part.profiles[name] for part in self.parts]
            inner = [row.inner for row in rows if row.inner is not None]
            found[name] = Profile(name, Interval(min(i.lo for i in inner), max(i.hi for i in inner)) if inner else None,
                                  Interval(min(row.outer.lo for row in rows), max(row.outer.hi for row in rows)))
        return found

    def plot(self) -> Any:
        """A matplotlib Figure: the set for each pair of parameters, inner boxes darker than what may belong to it."""
        return set_report.draw(self)

    @environment.ours
    def __str__(self) -> str:
        return set_report.text(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.title}: {len(self.inner):,} inner and {len(self.outer):,} outer boxes)"


def found_by(search: SublevelSearch, names: list[str], stopped: str | None) -> dict[str, Any]:
    """What a search has found, as the fields of a ParameterSet."""
    components = [component for component in search.components if len(component.covering)]
    if not search.components and len(search.covering):  # it ended before they were told apart
        components = [Component(search.covering, None)]
    n, frames, inner, outer = len(search.lo), [], [], []
    for k, component in enumerate(components):
        paving, plain = component.paving, Frame.plain(n)
        frames.append(plain if paving is None else paving.frame)
        cover = (component.covering.lo, component.covering.hi) if paving is None else \
            tuple(np.concatenate(pair, axis=1) for pair in zip(paving.inner, paving.left, strict=True))
        inner.append((*((cover[0][:, :0],) * 2 if paving is None else paving.inner), k))
        outer.append((*cover, k))
    points = [c.point for c in components if c.point is not None] + [e.point for c in components for e in c.extents.values()]
    return {"names": names, "inner": _boxes(inner, frames, n), "outer": _boxes(outer, frames, n),
            "parts": [_part(component, names) for component in components],
            "points": np.array(points).reshape(-1, n), "stopped": stopped, "nfev": search.evaluations}


def _boxes(rows: list[tuple[np.ndarray, np.ndarray, int]], frames: list[Frame], n: int) -> Boxes:
    lo, hi = (np.concatenate([np.empty((0, n)), *(row[k].T for row in rows)]) for k in (0, 1))
    part = np.concatenate([np.empty(0, np.intp), *(np.full(row[0].shape[1], row[2]) for row in rows)])
    return Boxes(lo, hi, part, np.array([frame.centre for frame in frames]).reshape(-1, n),
                 np.array([frame.matrix for frame in frames]).reshape(-1, n, n))


def _part(component: Component, names: list[str]) -> Part:
    lo, hi = component.lo, component.hi
    found = {}
    for i, name in enumerate(names):
        inner = component.inner(i)
        found[name] = Profile(name, None if inner is None else Interval(*inner), Interval(float(lo[i]), float(hi[i])))
    return Part(lo, hi, component.point, found)
