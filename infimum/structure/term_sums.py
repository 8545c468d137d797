"""Terms: a function written as a sum of terms that each read few variables.

`families_of(f, x)` takes sums apart, through additions, subtractions, constant factors and rearrangements, down to terms that are
not sums themselves. Terms of one form are a *family*: one expression in the variables that a term reads (`x`) and its constants
(`c`), with a table that says which variables and constants each term has. Nothing is unrolled: the terms of `np.sum` over a
vector are found together, whatever their number. As real numbers, f is the sum of all terms of all families.
"""

from collections.abc import Iterator

import numpy as np

from infimum.expr.build import build, index, substituted
from infimum.expr.node import Expr, between, const, var
from infimum.expr.rewriting_switches import step
from infimum.ops.vocabulary import OPS, Kind
from infimum.search.policy.search import RECOGNITION as POLICY
from infimum.support.clock import check_time
from infimum.support.lazy import dataclass

X, C = "x", "c"
_LINEAR = ("add", "sub", "neg")
_COMPUTED = ("embed", "scatter")  # views that are more than a rearrangement


@dataclass(frozen=True, slots=True)
class TermFamily:
    """Terms of one form. `value` is an expression in the vectors x of k variables and c of m constants.

    variables: (k, terms), which variables of f each term reads. lower, upper: (m, terms), the ends of its constants.
    """

    value: Expr
    variables: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    @property
    def count(self) -> int:
        return self.variables.shape[1]


class _NoTerms(Exception):
    """The function is no sum of such terms, or one that is too long."""


class _DifferentForms(Exception):
    """Terms that were looked at together have different forms: these are to be looked at separately."""

    def __init__(self, kinds: np.ndarray):
        self.kinds = kinds


@step("terms", lambda f, x, most=0: None)
def families_of(f: Expr, x: Expr, most: int = POLICY.term_variables) -> list[TermFamily] | None:
    """The families of the terms of f, or None if a term has too many variables."""
    try:
        found = _Reader(x, most, lift=False).families(f)
        return found if len(found) <= POLICY.few_families else _Reader(x, most, lift=True).families(f)
    except _NoTerms:
        return None


class _Reader:
    """`lift`: constants become part of the table also where all terms that are looked at together share them."""

    def __init__(self, x: Expr, most: int, lift: bool):
        self.x, self.most, self.lift, self.visited = x, most, lift, 0
        self.sources: dict[Expr, np.ndarray] = {}

    def families(self, f: Expr) -> list[TermFamily]:
        found: dict[Expr, list[TermFamily]] = {}
        waiting = list(self._summands(f))
        while waiting:
            node, at, factors = waiting.pop()
            try:
                family = self._family(node, at, factors)
            except _DifferentForms as apart:
                waiting += _separate(node, at, factors, apart)
                continue
            found.setdefault(family.value, []).append(family)
        return [TermFamily(value, *(np.concatenate([getattr(f, name) for f in families], axis=1)
                                    for name in ("variables", "lower", "upper"))) for value, families in found.items()]

    # ---- taking sums apart
    def _summands(self, f: Expr) -> Iterator[tuple[Expr, np.ndarray, list]]:
        """(node, positions, factors): the elements of a node at these positions, times constants, are summands of f."""
        stack = [(f, np.zeros(1, np.int64), [])]
        total = 0
        while stack:
            node, at, factors = stack.pop()
            self._look()
            if node.op in _LINEAR and (not any(map(_is_constant, node.args)) or any(map(_holds_sum, node.args))):
                minus = [*factors, (const(-1.0), np.zeros_like(at), False)]
                for k, a in enumerate(node.args):
                    stack.append((a, at, minus if node.op == "neg" or (node.op == "sub" and k) else factors))
            elif node.op in ("mul", "div") and (scaled := _scaled(node)) is not None:
                part, by, inverse = scaled
                stack.append((part, at, [*factors, (by, at, inverse)]))
            elif node.op == "sum":
                inside, times = self._inside(node, at)
                total += len(inside)
                if total > POLICY.most_terms:
                    raise _NoTerms
                stack.append((node.args[0], inside, [(c, np.repeat(where, times), inverse) for c, where, inverse in factors]))
            elif node.kind is Kind.VIEW and node.op not in _COMPUTED:
                try:
                    stack.append((*self._moved(node, at), factors))
                except _DifferentForms as apart:
                    stack += _separate(node, at, factors, apart)
            else:
                yield node, at, factors

    def _inside(self, node: Expr, at: np.ndarray) -> tuple[np.ndarray, int]:
        """(positions of the elements that a reduction combines for each of its own, how many these are for each)."""
        x, axes = node.args[0], node["axes"]
        others = [i for i in range(len(x.shape)) if i not in axes]
        places = np.arange(x.size).reshape(x.shape).transpose([*others, *axes]).reshape(node.size, -1)
        if places.shape[1] * len(at) > POLICY.most_terms:
            raise _NoTerms
        return places[at].reshape(-1), places.shape[1]

    def _moved(self, node: Expr, at: np.ndarray) -> tuple[Expr, np.ndarray]:
        """(argument, positions in it) of the elements of a view."""
        if node.op == "concat":
            ends = np.cumsum([a.size for a in node.args])
            which = np.searchsorted(ends, at, side="right")
            if (which != which[0]).any():
                raise _DifferentForms(which)
            return node.args[which[0]], at - (ends[which[0]] - node.args[which[0]].size)
        if node not in self.sources:
            self.sources[node] = source_of(node)
        return node.args[0], self.sources[node][at]

    def _look(self) -> None:
        self.visited += 1
        if self.visited > POLICY.term_nodes:
            raise _NoTerms
        check_time()

    # ---- the form of a term
    def _family(self, node: Expr, at: np.ndarray, factors: list) -> TermFamily:
        if len(at) > POLICY.long_positions:  # what is no term at one position is none
            self._family(node, at[:1], [(by, where[:1], inverse) for by, where, inverse in factors])
        leaves = _Leaves(len(at), self.most, self.lift)
        value = self._element(node, at, leaves)
        for by, where, inverse in factors:
            value = build("div" if inverse else "mul", value, self._element(by, where, leaves))
        return leaves.family(value)

    def _element(self, root: Expr, at: np.ndarray, leaves: "_Leaves") -> Expr:
        """The element of a node at each of the positions, as one expression in leaves. What asks for a part waits on a list, not
        on Python's stack."""
        done: dict[tuple, Expr] = {}
        stack = [(root, at)]
        while stack:
            node, at = stack[-1]
            key = node, at.tobytes()
            if key in done:
                stack.pop()
                continue
            needs = self._needs(node, at)
            missing = [(a, where) for a, where in needs if (a, where.tobytes()) not in done]
            if missing:
                stack += missing
                continue
            parts = [done[a, where.tobytes()] for a, where in needs]
            done[key] = self._made(node, at, parts, leaves)
            self._look()
            stack.pop()
        return done[root, at.tobytes()]

    def _needs(self, node: Expr, at: np.ndarray) -> list[tuple[Expr, np.ndarray]]:
        """The elements that an element is computed from."""
        if node.kind is Kind.LEAF:
            return []
        if node.kind in (Kind.MAP, Kind.TEST):
            return [(a, at) for a in node.args]
        if node.kind is Kind.REDUCE:
            inside, times = self._inside(node, at)
            if times > POLICY.longest_inner_sum:
                raise _NoTerms
            return [(node.args[0], np.ascontiguousarray(column)) for column in inside.reshape(-1, times).T]
        if node.kind is not Kind.VIEW or node.op in _COMPUTED:
            raise _NoTerms
        return [self._moved(node, at)]

    def _made(self, node: Expr, at: np.ndarray, parts: list[Expr], leaves: "_Leaves") -> Expr:
        if node is self.x:
            return leaves.variable(at)
        if node.op == "const":
            return leaves.constant(node.lo.reshape(-1)[at], node.hi.reshape(-1)[at], node.lo is node.hi)
        if node.kind is Kind.REDUCE:
            return _combined(node.op, parts)
        if node.kind is Kind.VIEW:
            return parts[0]
        return build(node.op, *parts, line=node.line, **dict(node.params))


def _separate(node: Expr, at: np.ndarray, factors: list, apart: _DifferentForms) -> list[tuple[Expr, np.ndarray, list]]:
    """The summands of each form, apart from the others."""
    kinds = [apart.kinds == kind for kind in np.unique(apart.kinds)]
    return [(node, at[mine], [(c, where[mine], inverse) for c, where, inverse in factors]) for mine in kinds]


class _Leaves:
    """The variables and constants that the terms of a family read."""

    def __init__(self, count: int, most: int, lift: bool):
        self.count, self.most, self.lift = count, most, lift
        self.variables: dict[bytes, tuple[Expr, np.ndarray]] = {}
        self.constants: dict[bytes, tuple[Expr, np.ndarray, np.ndarray]] = {}

    def variable(self, at: np.ndarray) -> Expr:
        key = at.tobytes()
        if key not in self.variables:
            if len(self.variables) == self.most:
                raise _NoTerms
            for _, other in self.variables.values():
                same = at == other
                if same.any():
                    raise _DifferentForms(same)
            self.variables[key] = var(f"{X}{len(self.variables)}", ()), at
        return self.variables[key][0]

    def constant(self, lo: np.ndarray, hi: np.ndarray, exact: bool) -> Expr:
        if not self.lift and (lo == lo[0]).all() and (hi == hi[0]).all():
            return const(lo[0]) if exact else between(lo[0], hi[0])
        key = lo.tobytes() + hi.tobytes()
        if key not in self.constants:
            self.constants[key] = var(f"{C}{len(self.constants)}", ()), lo, hi
        return self.constants[key][0]

    def family(self, value: Expr) -> TermFamily:
        """With the leaves as elements of two vectors."""
        rows = [[at for _, at in self.variables.values()], *([c[k] for c in self.constants.values()] for k in (1, 2))]
        tables = [np.array(row, dtype=kind).reshape(len(row), self.count)
                  for row, kind in zip(rows, (np.int64, float, float), strict=True)]
        return TermFamily(_with_vectors(value, len(rows[0]), len(rows[1])), *tables)


def _with_vectors(value: Expr, variables: int, constants: int) -> Expr:
    return substituted(value, {**_elements(X, variables), **_elements(C, constants)})


def _elements(name: str, count: int) -> dict[Expr, Expr]:
    """The scalars name0, name1, … as elements of a vector."""
    whole = var(name, (count,))
    return {var(f"{name}{k}", ()): index(whole, k) for k in range(count)}


def _scaled(node: Expr) -> tuple[Expr, Expr, bool] | None:
    """(part, constant, is it a divisor) of a constant times a sum."""
    found = _factor(node)
    return found if found is not None and _holds_sum(found[0]) else None


def _factor(node: Expr) -> tuple[Expr, Expr, bool] | None:
    """(part, constant, is it a divisor) of a constant times anything."""
    for k, by in enumerate(node.args):
        if _is_constant(by) and not (node.op == "div" and k == 0):
            return node.args[1 - k], by, node.op == "div"
    return None


def _is_constant(node: Expr) -> bool:
    while node.kind is Kind.VIEW and len(node.args) == 1:
        node = node.args[0]
    return node.op == "const"


def _holds_sum(node: Expr) -> bool:
    """Is it a sum, so that a constant factor goes to each summand?"""
    while True:
        factor = _factor(node) if node.op in ("mul", "div") else None
        if factor is not None:
            node = factor[0]
        elif node.op == "neg" or (node.kind is Kind.VIEW and len(node.args) == 1):
            node = node.args[0]
        else:
            return node.op in ("sum", "add", "sub")


def source_of(node: Expr) -> np.ndarray:
    """For each element of a view its position in the argument."""
    x = node.args[0]
    places = np.arange(x.size).reshape(x.shape)
    match node.op:
        case "reshape":
            found = places
        case "transpose":
            found = places.transpose(node["perm"])
        case "broadcast":
            found = np.broadcast_to(places, node.shape)
        case "slice":
            ends = zip(node["starts"], node["steps"], node["counts"], strict=True)
            found = places[np.ix_(*(start + step * np.arange(count) for start, step, count in ends))]
        case "gather":
            found = node["index"].array
    return np.ascontiguousarray(found).reshape(-1)


def _combined(op: str, parts: list[Expr]) -> Expr:
    """A short reduction, written out."""
    value = build("abs", parts[0]) if op == "norm" and len(parts) == 1 else parts[0]
    for part in parts[1:]:
        value = build(OPS[op].of_two, value, part)
    return value
