"""Expressions in which some variables have one value: as expressions in the others.

Reading a variable that is fixed gives its value, a constant. An array of both kinds is put together from the free variables and
constants, unless the elements of both kinds can be kept apart: what is computed element by element is, and a sum, product or
extremum over both kinds is that of two parts. Nothing is evaluated, so values and domain stay what they are.
"""

import numpy as np

from infimum.expr.build import VIEWS, broadcast, build, concat, index, rebuilt, reduce, reshape, take
from infimum.expr.node import Expr, const, topological, var
from infimum.ops.vocabulary import Kind

_OF_TWO = {"sum": "add", "prod": "mul", "amin": "min", "amax": "max"}  # what combines two parts of a reduction
_MOST_ELEMENTS = 1 << 20  # elements of an array that is taken apart


class VariableFixing:
    """For the variables x with values (n) from `low` to `high`, equal where they are doubles, of which those numbered in `free`
    have none. Where none is free, there is a variable that nobody reads."""

    def __init__(self, x: Expr, low: np.ndarray, high: np.ndarray, free: np.ndarray):
        self.x, self.low, self.high, self.variables = x, low, high, var("x", (max(1, len(free)),))
        fixed = np.delete(np.arange(len(low)), free)
        self.joined = concat([self.variables, const(low[fixed], high[fixed])])
        self.place = np.empty(len(low), int)  # in what is joined
        self.place[free], self.place[fixed] = np.arange(len(free)), self.variables.size + np.arange(len(fixed))
        self.new: dict[Expr, Expr] = {}
        self.constant: dict[Expr, np.ndarray] = {}  # which elements read no free variable
        self.parts: dict[tuple, Expr] = {}

    def __call__(self, roots: list[Expr]) -> list[Expr]:
        """The same with the free variables alone."""
        for node in topological(roots):
            if node not in self.new:
                self.constant[node] = self._constant(node)
                self.new[node] = self._written(node)
        return [self.new[root] for root in roots]

    def mixes(self, roots: list[Expr]) -> bool:
        """Is some array in these put together from both kinds?"""
        return self.joined in set(topological(roots))

    def _constant(self, node: Expr) -> np.ndarray:
        if node is self.x:
            return self.place >= self.variables.size
        masks = [self.constant[a] for a in node.args]
        if node.op in VIEWS:
            return VIEWS[node.op](node, *masks)
        if node.kind is Kind.REDUCE:
            return masks[0].all(axis=node["axes"])
        if node.kind in (Kind.MAP, Kind.TEST):
            return np.logical_and.reduce(masks)
        return np.full(node.shape, all(mask.all() for mask in masks))

    def _written(self, node: Expr) -> Expr:
        whole = node
        while whole.op in VIEWS and len(whole.args) == 1:
            whole = whole.args[0]
        if whole is self.x:
            return self._taken(node, np.arange(node.size).reshape(node.shape))
        return self._in_two_parts(node) or rebuilt(node, self.new)

    def _in_two_parts(self, node: Expr) -> Expr | None:
        """A reduction over elements of both kinds, which are the same ones in every row; None for anything else."""
        constant = self.constant[node.args[0]] if node.op in _OF_TWO else np.zeros(0)
        if not constant.any() or constant.all() or constant.size > _MOST_ELEMENTS:
            return None
        order = [axis for axis in range(constant.ndim) if axis not in node["axes"]] + list(node["axes"])
        rows = constant.transpose(order).reshape(*node.shape, -1)
        first = rows.reshape(-1, rows.shape[-1])[0]
        if (rows != first).any():
            return None
        places = np.arange(constant.size).reshape(constant.shape).transpose(order).reshape(rows.shape)
        parts = [reduce(node.op, self._taken(node.args[0], places[..., kind]), (-1,), node.line) for kind in (~first, first)]
        return build(_OF_TWO[node.op], *parts, line=node.line)

    def _taken(self, node: Expr, places: np.ndarray) -> Expr:
        """Elements of a node, counted row-major, in the shape of `places`."""
        key = node, places.shape, places.tobytes()
        if key not in self.parts:
            self.parts[key] = self._part(node, places)
        return self.parts[key]

    def _part(self, node: Expr, places: np.ndarray) -> Expr:
        if node is self.x:
            return self._read(places)
        if node.op == "const":
            return const(node.lo.reshape(-1)[places], node.hi.reshape(-1)[places])
        if node.op in VIEWS and len(node.args) == 1:
            source, = node.args
            if source.size == 1:
                return broadcast(self._taken(source, np.zeros((), int)), places.shape)
            return self._taken(source, VIEWS[node.op](node, np.arange(source.size).reshape(source.shape)).reshape(-1)[places])
        if node.kind in (Kind.MAP, Kind.TEST):
            return build(node.op, *(self._taken(a, places) for a in node.args), line=node.line, **dict(node.params))
        return take(self.new[node], places)

    def _read(self, places: np.ndarray) -> Expr:
        """Variables and values of those that are fixed."""
        at = self.place[places]
        if (at >= self.variables.size).all():
            return const(self.low[places], self.high[places])
        return _elements(self.variables, at) if (at < self.variables.size).all() else take(self.joined, at)


def _elements(x: Expr, at: np.ndarray) -> Expr:
    """Elements of a vector; as a slice where they are evenly spaced."""
    flat = at.reshape(-1)
    step = int(flat[1] - flat[0]) if len(flat) > 1 else 1
    if len(flat) and step > 0 and (np.diff(flat) == step).all():
        return reshape(index(x, slice(int(flat[0]), int(flat[-1]) + 1, step)), at.shape)
    return take(x, at)
