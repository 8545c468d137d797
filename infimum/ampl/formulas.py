"""Functions of an array x, made from expressions: what is computed alike is computed at once, as arrays.

An expression is a sum of terms. Terms that differ only in their variables and constants are one array, and so are constraints
whose terms are alike: a thousand of them are one formula with a thousand rows. Defined variables, and sums of many terms that
stand inside other operations, are blocks: arrays that are computed once in a call and read by what comes later.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from infimum.ampl.expressions import CONSTANT, DEFINED, EXACT, TRUTH, VARIABLE, Expressions
from infimum.ampl.operators import LITERAL, MINUS, NEGATIVE, OPERATORS, PIECEWISE_LINEAR, PLUS, SUM, TIMES
from infimum.support.lazy import dataclass
from infimum.trace.recording import recorded
from infimum.trace.tracer import Tracer, lift

_MOST_WRITTEN_OUT = 3  # sums of up to this number of terms are written out
_SUMS = (PLUS, MINUS, NEGATIVE, SUM)
_CONSTANTS = {EXACT: "e", TRUTH: "t"}

# steps of a program in postfix notation: ("x", block, leaf), ("c",), ("=", literal), ("e", exact), ("t", truth),
# (code, number of operands) and (PIECEWISE_LINEAR, 1, numbers)
Program = tuple[tuple, ...]
Term = tuple[Program, tuple[int, ...], tuple[float, ...]]  # and the index of each leaf in its block, and the constants
LINEAR: Program = (("c",), ("x", 0, 0), (TIMES, 2))


class Body(NamedTuple):
    """A sum: of nodes, and of linear terms, an index and a coefficient each."""

    nodes: list[int]
    linear: list[tuple[int, float]]


def _run(program: Program, leaves: Sequence[Any], constants: Iterable[Any], traced: bool) -> Any:
    stack: list[Any] = []
    values = iter(constants)
    for step in program:
        kind = step[0]
        if kind == "x":
            stack.append(leaves[step[2]])
        elif kind == "c":
            stack.append(next(values))
        elif kind == "e":
            stack.append(Tracer(lift(step[1])) if traced else np.float64(step[1]))
        elif kind in ("=", "t"):
            stack.append(step[1])
        else:
            operands = stack[len(stack) - step[1]:]
            del stack[len(stack) - step[1]:]
            stack.append(OPERATORS[kind].compute(*operands, *step[2:]))
    return stack.pop()


@dataclass(frozen=True, slots=True, eq=False)
class _TermGroup:
    """Terms of one program. leaves: the block and the index of each of them. shape: of the value, before it is summed."""

    program: Program
    leaves: tuple[tuple[int, Any], ...]
    constants: tuple[Any, ...]
    shape: tuple[int, ...]
    summed: bool

    def value(self, blocks: dict[int, Any], traced: bool) -> Any:
        found = _run(self.program, [blocks[block][index] for block, index in self.leaves], self.constants, traced)
        if self.shape and not self.leaves:
            found = found + np.zeros(self.shape)
        return np.sum(found, axis=-1) if self.summed else found


@dataclass(frozen=True, slots=True, eq=False)
class Formula:
    """A sum of parts, with a value for each of its rows. needs: the blocks that it reads directly."""

    parts: tuple[_TermGroup, ...]
    rows: int

    @property
    def needs(self) -> set[int]:
        return {block for part in self.parts for block, _ in part.leaves} - {0}

    def scalar(self, blocks: dict[int, Any], traced: bool) -> Any:
        """The value of the only row."""
        return reduce(lambda one, other: one + other, (part.value(blocks, traced) for part in self.parts)) if self.parts else 0.0

    def vector(self, blocks: dict[int, Any], traced: bool) -> Any:
        if not self.parts:
            return np.zeros(self.rows)
        value = self.scalar(blocks, traced)
        return np.stack([value]) if self.rows == 1 else value


class Function:
    """A function of x: one number, or the rows of some formulas, one formula after the other. row_numbers: what numbers
    constraints have that are its elements, if they are."""

    is_ours = True  # there is no code of the user's to compare with what was traced

    def __init__(self, name: str, formulas: Sequence[Formula], blocks: Sequence[Formula], one_number: bool = False,
                 row_numbers: np.ndarray | None = None):
        self._name, self._formulas, self._one_number, self.row_numbers = name, tuple(formulas), one_number, row_numbers
        needed, open_ = set(), set().union(*(formula.needs for formula in formulas))
        while open_:
            block = open_.pop()
            if block not in needed:
                needed.add(block)
                open_ |= blocks[block - 1].needs
        self._blocks = [(block, blocks[block - 1]) for block in sorted(needed)]

    def __call__(self, x: Any) -> Any:
        return recorded(lambda: self._value(x), self, (x,))

    def _value(self, x: Any) -> Any:
        traced = isinstance(x, Tracer)
        x = x if traced else np.asarray(x, dtype=float)
        blocks = {0: x}
        with np.errstate(all="ignore"):  # of branches that are not taken, and of points outside the domain
            for block, formula in self._blocks:
                blocks[block] = formula.vector(blocks, traced)
            if self._one_number:
                return self._formulas[0].scalar(blocks, traced)
            rows = [formula.vector(blocks, traced) for formula in self._formulas]
        return rows[0] if len(rows) == 1 else np.concatenate(rows)

    def __repr__(self) -> str:
        return self._name


class Formulas:
    """The formulas of a model, and the blocks that they read; block 0 is x."""

    def __init__(self, expressions: Expressions, defined: dict[int, int]):
        self._expressions, self._defined = expressions, defined
        self._terms: dict[int, Term] = {}
        self._places: dict[int, tuple[int, int]] = {}  # of the nodes that are elements of blocks: block and index
        self.blocks: list[Formula] = []
        self._lifted: set[int] = set()
        levels = self._levels()
        elements = defaultdict(list)
        for node in sorted({*defined.values(), *self._lifted}):
            elements[levels[node]].append(node)
        for level in sorted(elements):
            found = self.grouped([Body([node], []) for node in elements[level]])
            for formula, rows in found:
                self.blocks.append(formula)
                self._places |= {elements[level][row]: (len(self.blocks), at) for at, row in enumerate(rows)}

    def _levels(self) -> list[int]:
        """How many blocks have to be computed one after the other before a node can be. Finds the sums that become blocks."""
        nodes = self._expressions.nodes
        levels, widths = [0] * len(nodes), [1] * len(nodes)
        for i, node in enumerate(nodes):
            code = node[0]
            if code == DEFINED:
                levels[i] = levels[self._defined[node[1]]] + 1
            elif code in _SUMS:
                levels[i] = max([levels[k] for k in node[1:]])
                widths[i] = sum([widths[k] for k in node[1:]])
            elif code >= 0:
                for k in node[1:2] if code == PIECEWISE_LINEAR else node[1:]:
                    wide = widths[k] > _MOST_WRITTEN_OUT
                    if wide:
                        self._lifted.add(k)
                    if levels[k] + wide > levels[i]:
                        levels[i] = levels[k] + wide
        return levels

    # ---- groups

    def grouped(self, bodies: Sequence[Body]) -> list[tuple[Formula, list[int]]]:
        """Formulas, and the bodies that are their rows."""
        groups: dict[tuple, list[tuple[int, dict[Program, list[Term]]]]] = defaultdict(list)
        numbers: dict[Program, int] = {}
        for row, body in enumerate(bodies):
            kinds: dict[Program, list[Term]] = defaultdict(list)
            for term in self._flat(body.nodes):
                kinds[term[0]].append(term)
            if body.linear:
                kinds[LINEAR] += [(LINEAR, (index,), (coefficient,)) for index, coefficient in body.linear]
            for program in kinds:
                numbers.setdefault(program, len(numbers))
            groups[tuple(sorted((numbers[program], len(terms)) for program, terms in kinds.items()))].append((row, kinds))
        return [(_formula([kinds for _, kinds in group]), [row for row, _ in group]) for group in groups.values()]

    def _flat(self, summed: Sequence[int]) -> Iterable[Term]:
        """The terms of a sum, also of sums inside it; zeros are left out."""
        nodes, stack = self._expressions.nodes, [(node, False) for node in reversed(summed)]
        while stack:
            number, negative = stack.pop()
            node = nodes[number]
            if node[0] in _SUMS:
                stack += [(k, negative != (node[0] == NEGATIVE or (node[0] == MINUS and at == 1)))
                          for at, k in reversed(list(enumerate(node[1:])))]
            elif node != (CONSTANT, 0.0):
                yield self._term(self._expressions.negative(number) if negative else number)

    def _term(self, root: int) -> Term:
        if root not in self._terms:
            self._terms[root] = self._written(root)
        return self._terms[root]

    def _written(self, root: int) -> Term:
        """The program of a term. The same variable is the same leaf wherever it stands: x * x is a square."""
        nodes, lifted = self._expressions.nodes, self._lifted
        steps: list[tuple] = []
        leaves: dict[int | tuple[int, int], int] = {}  # by the number of a variable's node, or by block and index
        indices: list[int] = []
        constants: list[float] = []
        stack: list[int | tuple] = [root]  # nodes that are still to be written, and steps between them
        while stack:
            item = stack.pop()
            if type(item) is tuple:
                steps.append(item)
                continue
            node = nodes[item]
            code = node[0]
            if code == VARIABLE or (code >= 0 and item in lifted) or code == DEFINED:
                block, index = (0, node[1]) if code == VARIABLE else self._places[item if code >= 0 else self._defined[node[1]]]
                key = item if code == VARIABLE else (block, index)
                leaf = leaves.get(key)
                if leaf is None:
                    leaf = leaves[key] = len(leaves)
                    indices.append(index)
                steps.append(("x", block, leaf))
            elif code == CONSTANT:
                steps.append(("c",))
                constants.append(node[1])
            elif code < 0:
                steps.append((_CONSTANTS[code], node[1]))
            elif code == PIECEWISE_LINEAR:
                stack += (code, 1, node[2]), node[1]
            elif code in LITERAL and nodes[node[2]][0] in (CONSTANT, EXACT):
                stack += (code, 2), ("=", nodes[node[2]][1]), node[1]
            else:
                stack.append((code, len(node) - 1))
                stack += node[:0:-1]
        return tuple(steps), tuple(indices), tuple(constants)


def _formula(rows: list[dict[Program, list[Term]]]) -> Formula:
    """The formula of bodies that have equally many terms of each program."""
    parts = []
    for program in rows[0]:
        terms = [row[program] for row in rows]
        count = len(terms[0])
        if count > _MOST_WRITTEN_OUT:
            parts.append(_part(program, [sorted(some, key=lambda term: term[1:]) for some in terms], True))
        else:
            parts += [_part(program, [[some[k]] for some in terms], False) for k in range(count)]
    return Formula(tuple(parts), len(rows))


def _part(program: Program, terms: list[list[Term]], summed: bool) -> _TermGroup:
    """Terms by row and column. One row, or one column, is no axis."""
    shape = ((len(terms),) if len(terms) > 1 else ()) + ((len(terms[0]),) if summed else ())
    blocks = dict(sorted((step[2], step[1]) for step in program if step[0] == "x"))
    flat = [term for some in terms for term in some]
    indices = np.array([term[1] for term in flat], dtype=np.intp).reshape(len(flat), -1).T
    constants = np.array([term[2] for term in flat], dtype=float).reshape(len(flat), -1).T
    return _TermGroup(program, tuple((blocks[k], _index(row.reshape(shape))) for k, row in enumerate(indices)),
                      tuple(_numbers(row.reshape(shape), bool(blocks)) for row in constants), shape, summed)


def _index(indices: np.ndarray) -> Any:
    """A number, a slice or an array."""
    if not indices.ndim:
        return int(indices)
    if indices.ndim == 1 and (np.diff(indices) == 1).all():
        return slice(int(indices[0]), int(indices[-1]) + 1)
    return indices


def _numbers(values: np.ndarray, same: bool) -> Any:
    """An array, or one number where that is the same."""
    return float(values.flat[0]) if not values.ndim or (same and (values == values.flat[0]).all()) else values
