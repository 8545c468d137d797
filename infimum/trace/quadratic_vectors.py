"""Dense quadratic sums as vectors: sum(Q[i][j] * x[i] * x[j] for i … for j …) is traced as thousands of scalars, and every kernel
that reads them has as many instructions. Elements of x, their squares and their products become a vector each, which is
multiplied by the vector of its coefficients and summed: the same real numbers in another order, defined everywhere.
"""

from functools import reduce
from typing import NamedTuple

import numpy as np

from infimum.expr.build import build, rebuilt, take
from infimum.expr.node import Expr, between, const, is_const, topological
from infimum.expr.rewriting_switches import step
from infimum.search.policy.search import REARRANGEMENT as POLICY
from infimum.structure.totals import Part, all_parts, dependent, is_element, scaled, totals
from infimum.support.clock import check_time

_LINEAR, _PRODUCTS = (1, 1), (2, 2)  # how many variables a term reads, and how many different ones


class _Term(NamedTuple):
    """A coefficient between two doubles, and the numbers of up to two variables, in order."""

    lo: float
    hi: float
    variables: tuple[int, ...]


@step("loops as vectors", lambda f, x: f)
def with_quadratic_vectors(f: Expr, x: Expr) -> Expr:
    """f, a function of x, with its long quadratic sums as sums of vectors."""
    depends = dependent(f, x)
    elements = {node: int(node.args[0]["starts"][0]) for node in depends if is_element(node, x)}
    if sum(_term((node, ()), elements) is not None for node in depends) < POLICY.least_vector:
        return f  # too few for one vector: long chains of sums within sums are not looked at again and again
    written: dict[Expr, list[Part | list[_Term]]] = {}
    for total in reversed(totals(f, depends)):  # the outermost first
        parts = all_parts(total, depends, "add", POLICY.most_parts)
        vectors = [] if parts is None else _vectors(parts, elements)
        if vectors:
            written[total] = vectors
    new: dict[Expr, Expr] = {}
    for node in topological([f]) if written else ():
        new[node] = _sum(node, written[node], x, new) if node in written else rebuilt(node, new)
    return new.get(f, f)


def _vectors(parts: list[Part], elements: dict[Expr, int]) -> list[Part | list[_Term]]:
    """The parts, with lists of terms of one kind in place of those that make a vector; nothing where that is not worth it."""
    kinds: dict[object, list[tuple[Part, _Term]]] = {}
    for number, part in enumerate(parts):
        check_time()
        term = _term(part, elements)
        kind = ("else", number) if term is None else (len(term.variables), len(set(term.variables)))
        kinds.setdefault(kind, []).append((part, term))
    if not _is_worth(kinds):
        return []
    found: list[Part | list[_Term]] = []
    for alike in kinds.values():
        if len(alike) >= POLICY.least_turns:
            found.append([term for _, term in alike])
        else:
            found += [part for part, _ in alike]
    return found


def _is_worth(kinds: dict[object, list[tuple[Part, _Term]]]) -> bool:
    """Is the sum long and linear, or has it many products for each of their variables? Where each variable is multiplied by few
    others, loops and terms of few variables give better bounds, and need scalars: `structure.roll_loops`."""
    products = kinds.get(_PRODUCTS, ())
    if not products:
        return set(kinds) <= {_LINEAR} and len(kinds[_LINEAR]) >= POLICY.least_vector
    variables = {v for _, term in products for v in term.variables}
    return len(products) >= max(POLICY.least_vector, POLICY.products_a_variable * len(variables))


def _term(part: Part, elements: dict[Expr, int]) -> _Term | None:
    """The part as such a term; None if it is something else, or has several coefficients, whose product may be no double."""
    negative, numbers, variables = False, [], []
    for op, constants in part[1]:
        if op == "div":
            return None
        negative ^= op == "neg"
        numbers += constants
    found = _factors(part[0])
    if found is None:
        return None
    factors, signs = found
    negative ^= signs % 2 == 1
    for factor in factors:
        if factor in elements:
            variables.append(elements[factor])
        elif factor.op == "powi" and factor["k"] == 2 and factor.args[0] in elements:
            variables += [elements[factor.args[0]]] * 2
        elif is_const(factor) and factor.shape == ():
            numbers.append(factor)
        else:
            return None
    if len(numbers) > 1 or not 1 <= len(variables) <= 2:
        return None
    lo, hi = (float(numbers[0].lo), float(numbers[0].hi)) if numbers else (1.0, 1.0)
    return _Term(*((-hi, -lo) if negative else (lo, hi)), tuple(sorted(variables)))


def _factors(node: Expr) -> tuple[list[Expr], int] | None:
    """The factors of a product, and how many signs are beside them; None if there is too much to look at."""
    stack, factors, signs = [node], [], 0
    for _ in range(2 * POLICY.most_factors):
        if not stack:
            return factors, signs
        node = stack.pop()
        if node.op == "neg" or (node.op == "mul" and node.shape == ()):
            stack += node.args
            signs += node.op == "neg"
        else:
            factors.append(node)
    return None if stack else (factors, signs)


def _sum(total: Expr, parts: list[Part | list[_Term]], x: Expr, new: dict[Expr, Expr]) -> Expr:
    line = total.line
    return reduce(lambda a, b: build("add", a, b, line=line), [
        _vector(part, x, line) if isinstance(part, list) else scaled(new[part[0]], part[1]) for part in parts])


def _vector(terms: list[_Term], x: Expr, line: str | None) -> Expr:
    """The sum of terms of one kind."""
    lo, hi = (np.array([getattr(term, end) for term in terms]) for end in ("lo", "hi"))
    one, *other = (take(x, np.array(which), line) for which in zip(*(term.variables for term in terms), strict=True))
    if other:
        one = build("powi", one, k=2, line=line) if one is other[0] else build("mul", one, other[0], line=line)
    coefficients = const(lo) if (lo == hi).all() else between(lo, hi)
    return build("sum", build("mul", coefficients, one, line=line), axes=(0,), line=line)
