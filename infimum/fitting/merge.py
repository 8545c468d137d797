"""Repeated measurements: data at which the model is one and the same function of the parameters count as one residual.

Σ (m - y_i)² over k of them is k (m - ȳ)² + Σ (y_i - ȳ)², with ȳ their mean; the last term does not depend on the parameters. What
is minimised is the sum of the first terms, a sum of squares again. Neither ȳ nor √k is a double: both are constants between two
doubles. Which data are alike is read from the trace, not from x: a model may look at all of x at once.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from infimum.errors import InternalError
from infimum.expr import build as b
from infimum.expr.node import Expr, const, topological
from infimum.fitting.data import Columns, Data
from infimum.fitting.problem import FitProblem, ResidualRows, array_of
from infimum.ops.vocabulary import Kind
from infimum.problem.problem import Interval
from infimum.support.given_numbers import round_down, round_up
from infimum.trace.recording import recorded
from infimum.trace.trace import trace
from infimum.trace.tracer import Tracer

_RELATIVE, _ABSOLUTE = Fraction(1, 2**48), Fraction(1, 2**1070)  # more than rounding can lose of a square, in either way


def merged(problem: FitProblem) -> ResidualRows | None:
    """The residuals with repeated measurements as one each, if that leaves at most half of them; else None."""
    data = problem.data
    if problem.loss.name != "squares" or data.y.ndim != 1 or _labels(_columns(data.x, data.size), data.size) is None:
        return None
    response = _traced(problem)
    vectors = None if response is None else _vectors(response)
    if vectors is None:
        return None
    constants = [node.lo for node in vectors if node.op == "const"]
    labels = _labels(constants + ([] if data.sigma is None else [data.sigma]), data.size)
    if labels is None:
        return None
    first, labels, counts = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)[1:]
    centre = _means(np.split(data.y[np.argsort(labels, kind="stable")], np.cumsum(counts)[:-1]))
    rest = None if centre is None else _rest(data, labels, centre)
    return None if rest is None else _rows(problem, first, labels, counts, centre, rest)


def _columns(x: Any, size: int) -> list[np.ndarray]:
    """The independent variables, if they are plain arrays of that length: what is worth a closer look repeats itself in them."""
    rows = list(x) if isinstance(x, Columns) else [x] if isinstance(x, np.ndarray) and x.ndim == 1 else \
        list(x) if isinstance(x, np.ndarray) and x.ndim == 2 else []
    return rows if rows and all(row.shape == (size,) for row in rows) else [np.arange(size)]


def _labels(columns: list[np.ndarray], size: int) -> np.ndarray | None:
    """A number for each element, the same where all columns are; None if there are more than half as many numbers."""
    labels = np.zeros(size, np.int64)
    for column in columns:
        values, places = np.unique(column, return_inverse=True)
        labels = np.unique(labels * len(values) + places, return_inverse=True)[1]
        if 2 * (int(labels.max()) + 1) > size:
            return None
    return labels


def _traced(problem: FitProblem) -> Expr | None:
    """The responses as an expression of the parameters; None if they cannot be recorded as a whole."""
    function, arguments, shape, seen = problem.model.function, problem.arguments, problem.data.y.shape, []
    x = problem.data.x

    def first(p: Any) -> Any:
        positional, by_name = arguments(p)
        seen.append(array_of(function(x, *positional, **by_name), shape))
        return p[0]
    trace(first, len(problem.parameters.lo))
    return seen[-1].expr if isinstance(seen[-1], Tracer) else None


def _vectors(response: Expr) -> list[Expr] | None:
    """The vectors that a response is made of element by element, arguments before users: constants, single numbers broadcast, and
    operations on these. None if element i of the response needs other elements of a vector than i, or if constants are no
    doubles: equal ends do not make equal numbers. What a single number is made of is no part of this: it is the same for all."""
    found, waiting = {response}, [response]
    while waiting:
        node = waiting.pop()
        if (node.op == "const" and node.lo is node.hi) or (node.op == "broadcast" and node.args[0].size == 1):
            continue
        if node.kind not in (Kind.MAP, Kind.TEST) or any(a.shape != response.shape for a in node.args):
            return None
        waiting += [a for a in node.args if a not in found]
        found.update(node.args)
    return [node for node in topological([response]) if node in found]


def _means(groups: list[np.ndarray]) -> np.ndarray | None:
    """Two doubles around the mean of each group, in a lower and an upper row; None where they are not finite."""
    try:
        sums = np.array([math.fsum(group) for group in groups])  # the double next to the sum
    except OverflowError:
        return None
    counts = np.array([float(len(group)) for group in groups])
    lower, upper = (np.nextafter(np.nextafter(sums, end) / counts, end) for end in (-np.inf, np.inf))
    return np.stack([lower, upper]) if np.isfinite(lower).all() and np.isfinite(upper).all() else None


def _rest(data: Data, labels: np.ndarray, centre: np.ndarray) -> Interval | None:
    """An interval around Σ ((y_i - ȳ) / sigma)², which is Σ ((y_i - c) / sigma)² - Σ ((ȳ - c) / sigma)² with c near ȳ; None where
    it is not finite."""
    sigma, middle = data.unit, centre.mean(axis=0)
    parts = [((data.y - middle[labels]) / sigma) ** 2, ((centre[1] - centre[0])[labels] / sigma) ** 2]
    if not all(np.isfinite(part).all() for part in parts):
        return None
    squares, off = (Fraction(math.fsum(part)) for part in parts)
    lost = data.size * _ABSOLUTE
    low = squares * (1 - _RELATIVE) - off * (1 + _RELATIVE) - 2 * lost
    return Interval(max(0.0, round_down(low)), round_up(squares * (1 + _RELATIVE) + lost))


def _rows(problem: FitProblem, first: np.ndarray, labels: np.ndarray, counts: np.ndarray, centre: np.ndarray,
          rest: Interval) -> ResidualRows:
    """√k (m - ȳ)."""
    shape, root = problem.data.y.shape, np.sqrt(counts.astype(np.float64))
    roots = np.stack([np.nextafter(root, 0.0), np.nextafter(root, np.inf)])

    def deviations(response: Any) -> Any:
        return deviation(array_of(response, shape))

    def deviation(m: Any) -> Any:
        """Of the responses from the means, each times the root of its count. For plain numbers it is rounded."""
        if isinstance(m, Tracer):
            exact = _picked(m.expr, first, labels)
            return recorded(lambda: (exact - Tracer(const(*centre))) * Tracer(const(*roots)), deviation, (m,))
        return (m[first] - centre.mean(axis=0)) * root
    return ResidualRows(deviations, None if problem.data.sigma is None else problem.data.sigma[first], rest)


def _picked(response: Expr, first: np.ndarray, labels: np.ndarray) -> Tracer:
    """One of each group of responses that are alike, which is checked."""
    vectors, new = _vectors(response), {}
    if vectors is None or any(node.op == "const" and (node.lo[first][labels] != node.lo).any() for node in vectors):
        raise InternalError("the model was another one when it was called again")
    for node in vectors:
        if node.op == "const":
            new[node] = const(node.lo[first])
        elif node.op == "broadcast":
            new[node] = b.broadcast(b.reshape(node.args[0], ()), (len(first),))
        else:
            new[node] = b.rebuilt(node, new)
    return Tracer(new[response])
