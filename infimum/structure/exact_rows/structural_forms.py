"""Exact forms in which an operation that is no polynomial is known by its name and the forms of its arguments, so that variables
in it can be renamed.

Proof: docs/proofs/exchanges.md.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

import numpy as np

from infimum.expr.exact_forms import ExactForms, Form
from infimum.expr.node import Expr
from infimum.support.digests import blake2b

# defined wherever all arguments are, and the values of these allow it: with equal arguments they are equal, or all undefined
STRICT = frozenset(("div", "powi", "pow", "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos",
                    "tan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "abs", "hypot", "xlogx", "sinc"))
EVEN = ("abs ", "cos ", "hypot ")  # the signs of all arguments do not matter
Part = tuple[str, tuple[Form, ...]]


class StructuralForms(ExactForms):
    """`parts` are the operations, by the names that factors have: what they are, and the forms of their arguments."""

    def __init__(self):
        super().__init__({})
        self.parts: dict[str, Part] = {}

    def _form(self, node: Expr, args: list[np.ndarray]) -> np.ndarray:
        found = super()._form(node, args)
        if node.op in STRICT:
            flat, parts = found.reshape(-1), [np.broadcast_to(a, node.shape).reshape(-1) for a in args]
            for k in range(node.size):
                if flat[k] == {(((node.key, k), 1),): 1}:
                    part = _part(f"{node.op} {sorted(node.params)}", (part[k] for part in parts))
                    flat[k] = {(((name := _name(part), 0), 1),): Fraction(1)}
                    self.parts[name] = part
        return found

    def renamed(self, form: Form, image: Sequence[int]) -> Form:
        """With each variable replaced by its image."""
        found: Form = {}
        for term, c in form.items():
            factors: dict[tuple[str, int], int] = defaultdict(int)
            for (a, j), p in term:
                factors[self._renamed(a, j, image)] += p
            found[tuple(sorted(factors.items()))] = c
        return found

    def _renamed(self, a: str, j: int, image: Sequence[int]) -> tuple[str, int]:
        if not a or a not in self.parts:
            return (a, j) if a else (a, image[j])
        what, forms = self.parts[a]
        return _name(_part(what, (self.renamed(form, image) for form in forms))), 0

    def factors(self, forms: Iterable[Form]) -> set[tuple[str, int]]:
        """All factors of these forms, also those of arguments."""
        found, waiting = set(), list(forms)
        while waiting:
            for factor in {factor for term in waiting.pop() for factor, _ in term} - found:
                found.add(factor)
                waiting += self.parts[factor[0]][1] if factor[0] in self.parts else ()
        return found

    def colours(self, form: Form, colours: Sequence[int], number: Callable[[tuple], int]) -> tuple[int, list[tuple[int, tuple]]]:
        """A number for what the form is if variables of one colour are not told apart, and variables with what they are in it."""
        terms, seen = [], []
        for term, c in form.items():
            kinds, mine = [], []
            for (a, j), p in term:
                if not a:
                    kinds.append((a, colours[j], p))
                    mine.append((j, (p,)))
                elif a in self.parts:
                    what, forms = self.parts[a]
                    inside = self._of_both_signs if what.startswith(EVEN) else self.colours
                    inner = [inside(part, colours, number) for part in forms]
                    kinds.append((what, number((what, *(kind for kind, _ in inner))), p))
                    mine += [(v, (p, place, number(("in", kind, mark)))) for place, (kind, marks) in enumerate(inner)
                             for v, mark in marks]
                else:
                    kinds.append((a, j, p))
            kind = c, tuple(sorted(kinds))
            terms.append(kind)
            seen += [(j, (number(("term", kind)), *mark)) for j, mark in mine]
        return number(("form", tuple(sorted(terms)))), seen


    def _of_both_signs(self, form: Form, colours: Sequence[int], number: Callable[[tuple], int]) -> tuple[int, list]:
        (kind, marks), (other, others) = (self.colours({term: sign * c for term, c in form.items()}, colours, number)
                                          for sign in (1, -1))
        both = [(v, (number(("signs", *sorted((mark, that)))),)) for (v, mark), (_, that) in zip(marks, others, strict=True)]
        return number(("signs", *sorted((kind, other)))), both


def _part(what: str, forms: Iterable[Form]) -> Part:
    """With signs of arguments such that parts are the same that differ by signs that do not matter."""
    if what.startswith(EVEN):
        forms = ({term: -c for term, c in form.items()} if form and form[min(form)] < 0 else form for form in forms)
    return what, tuple(forms)


def _name(part: Part) -> str:
    """The same for parts that are the same."""
    h = blake2b(digest_size=16)
    h.update(repr((part[0], [sorted(form.items()) for form in part[1]])).encode())
    return h.hexdigest()
