"""Residuals with their linear parameters apart: e = rest(θ) + Σ_j column_j(θ) κ_j.

κ_j is a product of variables that the residuals are linear in, one after the other: a parameter, or, in b0 (x + b1), the product
b0 b1 beside b0. All other variables, θ, are nonlinear. Whoever takes the κ_j for independent numbers, as
`bounds/least_squares/projection_kernel.py` does, relaxes the problem: what is not there among all κ is not there among the
products either.

The expression is expanded from its variables up, as a polynomial whose coefficients are expressions. What stands in a
denominator, in a function, or is multiplied by itself is nonlinear; then all is expanded anew without it.

Proof: docs/proofs/linear_parameters.md.
"""


from typing import TYPE_CHECKING

import numpy as np

from infimum.expr.build import broadcast, build, concat, index, rebuilt, zeros
from infimum.expr.node import Expr, const, topological, var
from infimum.expr.rewriting_switches import step
from infimum.ops.vocabulary import Kind
from infimum.search.policy.search import RECOGNITION as POLICY
from infimum.structure.totals import is_costly
from infimum.support.lazy import LazyModule, dataclass

if TYPE_CHECKING:
    from infimum.structure import function_families
    from infimum.structure.function_families import FunctionFamily
else:
    function_families = LazyModule("structure.function_families")


Monomial = tuple[int, ...]         # the variables that are multiplied
Polynomial = dict[Monomial, Expr]  # their coefficients
_NONE: Monomial = ()


@dataclass(frozen=True, slots=True)
class SeparableResiduals:
    """`rest` is a vector, an expression of the `nonlinear` variables; a column is a vector of data (None: ones) times one of the
    `functions`, vectors again; `products[j]` are the variables in κ_j. `multiplied`, if not empty, are the only denominator, and
    `rest` and the functions multiplied by it; `families` are functions that are equal where their variables are; `gauges` are
    functions exp(A), by their place: what to subtract from A, if it is large, so that nothing overflows."""

    rest: Expr
    functions: tuple[Expr, ...]
    columns: tuple[tuple[Expr | None, int], ...]
    products: tuple[Monomial, ...]
    nonlinear: tuple[int, ...]
    multiplied: tuple[Expr, ...] = ()
    families: "tuple[FunctionFamily, ...]" = ()
    gauges: tuple[tuple[int, "ExponentShift"], ...] = ()

    @property
    def many_nonlinear(self) -> bool:
        return len(self.nonlinear) > POLICY.few_nonlinear


@dataclass(frozen=True, slots=True)
class ExponentShift:
    """exp(A - g) with the variable g, called `name`: 0, or A in one of two rows, scalars: the first and the last by the data."""

    name: str
    function: Expr
    choices: tuple[Expr, Expr]


class _Nonlinear(Exception):
    """These variables are not linear."""

    def __init__(self, variables: set[int]):
        super().__init__()
        self.variables = variables


@step("sums of squares", lambda e, x: None)
def separable(e: Expr, x: Expr) -> SeparableResiduals | None:
    """The vector e by its linear variables; None where there are none, or where a variable is not read on its own."""
    nodes = list(topological([e]))
    reads = _reads(nodes, x)
    if reads is None or len(reads[e]) < x.size:
        return None
    linear = set(reads[e])
    while linear:
        try:
            found = _expand(nodes, reads, linear)[e]
        except _Nonlinear as more:
            linear -= more.variables
            continue
        products = tuple(sorted(m for m in found if m))
        if len(products) > POLICY.most_products:
            linear.discard(max(linear, key=lambda i: (sum(i in m and len(m) > 1 for m in products), i)))
            continue
        rest = found.get(_NONE, broadcast(const(0.0), e.shape))
        nonlinear = tuple(sorted(reads[e] - {i for m in products for i in m}))
        functions: dict[Expr, int] = {}
        columns = []
        for m in products:
            data, function = _split(found[m])
            columns.append((data, functions.setdefault(function, len(functions))))
        multiplied = _multiplied((rest, *functions))
        alike = () if multiplied else _families(tuple(functions), columns, x)
        return SeparableResiduals(rest, tuple(functions), tuple(columns), products, nonlinear, multiplied, alike,
                                  () if multiplied else _gauges(tuple(functions), alike))
    return None


def linear_variables(f: Expr, x: Expr) -> frozenset[int]:
    """The variables of a sum of squares that are eliminated, not cut: none where an evaluation takes all of the time, since that
    takes several; nor where many others are left, which regions are too wide in for a long time."""
    e = residual_vector(f)
    parts = None if e is None or is_costly(f) else separable(e, x)
    if parts is None or parts.many_nonlinear:
        return frozenset()
    return frozenset(i for product in parts.products for i in product)


@step("sums of squares", lambda f, x: None)
def sum_of_squares(f: Expr, x: Expr) -> SeparableResiduals | None:
    """The residuals of a sum of squares with their linear variables apart, if there are any; None if it is none, or where a
    variable is not read on its own."""
    e = residual_vector(f)
    if e is None:
        return None
    reads = _reads(list(topological([e])), x)
    if reads is None or len(reads[e]) < x.size:
        return None
    return separable(e, x) or SeparableResiduals(e, (), (), (), tuple(range(x.size)))


def _reads(nodes: list[Expr], x: Expr) -> dict[Expr, frozenset[int]] | None:
    """The variables that each node needs; None where one is not read on its own."""
    found: dict[Expr, frozenset[int]] = {}
    for node in nodes:
        if x in node.args or node is x is nodes[-1]:
            if node.op != "slice" or node.size != 1:
                return None
            found[node] = frozenset(node["starts"])
        elif node is not x:
            found[node] = frozenset().union(*(found[a] for a in node.args))
    return found


def _expand(nodes: list[Expr], reads: dict[Expr, frozenset[int]], linear: set[int]) -> dict[Expr, Polynomial]:
    """All nodes as polynomials in the linear variables."""
    found: dict[Expr, Polynomial] = {}
    for node in nodes:
        if node not in reads:
            continue
        mine = reads[node] & linear
        if not mine:
            found[node] = {_NONE: node}
        elif not node.args[0].args and node.op == "slice":
            found[node] = {tuple(mine): broadcast(const(1.0), node.shape)}
        else:
            found[node] = _applied(node, [found[a] for a in node.args], mine)
    return found


def _applied(node: Expr, args: list[Polynomial], mine: frozenset[int]) -> Polynomial:
    """An operation on polynomials."""
    if node.op in ("reshape", "broadcast", "transpose", "slice", "gather", "embed", "scatter", "neg"):
        return {m: rebuilt(node, {node.args[0]: c}) for m, c in args[0].items()}
    if node.op == "concat":
        found = dict.fromkeys(m for polynomial in args for m in polynomial)
        return {m: concat([p.get(m, zeros(a.shape)) for p, a in zip(args, node.args, strict=True)], node.line) for m in found}
    if node.op in ("add", "sub"):
        total = dict(args[0])
        for m, c in args[1].items():
            if node.op == "sub":
                c = build("neg", c, line=node.line)
            total[m] = build("add", total[m], c, line=node.line) if m in total else c
        return total
    if node.op == "div" and set(args[1]) == {_NONE}:
        return {m: build("div", c, args[1][_NONE], line=node.line) for m, c in args[0].items()}
    if node.op == "mul":
        return _product(node, *args)
    denominator = {i for m in args[1] for i in m} if node.op == "div" else mine
    raise _Nonlinear(set(denominator))


def _product(node: Expr, one: Polynomial, other: Polynomial) -> Polynomial:
    total: Polynomial = {}
    for m, c in one.items():
        for k, d in other.items():
            if set(m) & set(k):
                raise _Nonlinear(set(m) & set(k))
            both, coefficient = tuple(sorted(m + k)), build("mul", c, d, line=node.line)
            total[both] = build("add", total[both], coefficient, line=node.line) if both in total else coefficient
    return total


@step("sums of squares", lambda f: None)
def residual_vector(f: Expr) -> Expr | None:
    """The vector e of which f is the sum of squares, element by element; None if it is none."""
    squares = f.args[0] if f.op == "sum" else f
    e = squares.args[0] if squares.op == "powi" and squares["k"] == 2 else None
    if e is None or len(e.shape) != 1:
        return None
    simple = all(node.kind not in (Kind.REDUCE, Kind.SCAN) for node in topological([e]))
    return e if simple else None


# ---- data apart, families, gauges, denominators
def _gauges(functions: tuple[Expr, ...], alike: "tuple[FunctionFamily, ...]") -> tuple[tuple[int, ExponentShift], ...]:
    """Of exponentials that are in no family, and read one vector of data."""
    taken = {place for family in alike for place, _ in family.members}
    found = []
    for place, function in enumerate(functions):
        if function.op != "exp" or place in taken or not _moves(function):
            continue
        exponent, name = function.args[0], f"gauge{place}"
        data = [node.lo for node in topological([exponent]) if node.op == "const" and node.size == function.size > 1]
        if len(data) == 1:
            first, last = int(np.argmin(data[0])), int(np.argmax(data[0]))
            rows = tuple(index(exponent, (row,)) for row in (first, last))
            gauge = broadcast(var(name, ()), exponent.shape)
            found.append((place, ExponentShift(name, build("exp", build("sub", exponent, gauge)), rows)))
    return tuple(found)


def _families(functions: tuple[Expr, ...], columns: list[tuple[Expr | None, int]], x: Expr) -> "tuple[FunctionFamily, ...]":
    """Those each of whose members is in one column, with the same data as the others."""
    data = [[column for column, k in columns if k == place] for place in range(len(functions))]
    found = []
    for family in function_families.families(functions, x):
        mine = [data[place] for place, _ in family.members]
        if all(len(d) == 1 for d in mine) and len({d[0] for d in mine}) == 1:
            found.append(family)
    return tuple(found)


def _moves(node: Expr) -> bool:
    """Does it depend on a variable?"""
    return any(n.op == "var" for n in topological([node]))


def _split(column: Expr) -> tuple[Expr | None, Expr]:
    """A vector of data, and the function that it is multiplied by."""
    one = broadcast(const(1.0), column.shape)
    if not _moves(column):
        return (None if column is one else column), one
    if column.op == "neg":
        data, function = _split(column.args[0])
        return build("neg", one if data is None else data), function
    if column.op in ("mul", "div"):
        left, right = column.args
        if not _moves(left):
            return left, (right if column.op == "mul" else build("div", one, right))
        if not _moves(right):
            data, function = _split(left)
            return build(column.op, one if data is None else data, right), function
    return None, column


def _multiplied(vectors: tuple[Expr, ...]) -> tuple[Expr, ...]:
    nodes = list(topological(list(vectors)))
    below = {node.args[1] for node in nodes if node.op == "div" and _moves(node.args[1])}
    if len(below) != 1 or next(iter(below)).shape != vectors[0].shape:
        return ()
    denominator, = below
    found = [_times(v, denominator) for v in vectors]
    return () if None in found else (denominator, *found)


def _times(node: Expr, denominator: Expr) -> Expr | None:
    """The node times its denominator; None where that is no simpler."""
    if not _moves(node):
        return build("mul", node, denominator)
    if node.op == "div" and node.args[1] is denominator:
        return None if _moves(node.args[0]) else node.args[0]
    if node.op == "neg":
        inner = _times(node.args[0], denominator)
        return None if inner is None else build("neg", inner)
    if node.op in ("add", "sub"):
        parts = [_times(a, denominator) for a in node.args]
        return None if None in parts else build(node.op, *parts)
    if node.op == "mul":
        for one, other in (node.args, node.args[::-1]):
            inner = _times(one, denominator) if _moves(one) and not _moves(other) else None
            if inner is not None:
                return build("mul", inner, other)
    return None
