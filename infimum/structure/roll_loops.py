"""Rolling: a loop over the elements of x, which tracing has unrolled, is a reduction of a vector again.

sum(x[i]**4 - i * x[i]**2 for i in range(n)) is traced as 2n scalars that are added up. Those that are computed alike, from
elements of x at the same distances and from constants, become one vector, whose constants are vectors too. It is the same
function with the same domain, in a form whose cost, seen from one variable, does not grow with n.
"""

from functools import reduce
from typing import NamedTuple

import numpy as np

from infimum.expr.build import build, concat, index, rebuilt, reshape
from infimum.expr.node import Expr, between, const, is_const, topological
from infimum.expr.rewriting_switches import step
from infimum.ops.vocabulary import OPS, Kind
from infimum.search.policy.search import REARRANGEMENT as POLICY
from infimum.structure.totals import Depends, Part, Scaling, all_parts, dependent, is_element, scaled, totals
from infimum.support.clock import check_time

_REDUCE = {row.of_two: name for name, row in OPS.items() if row.of_two and name != "norm"}
_NO_MAP = 1.0, 1.0, 0.0  # fixed: factor, divisor and shift that change nothing

Map = tuple[float, float, float]


class _TurnNumbers:
    """The numbers of one turn, in the order in which it reads them: constants, and the maps of what is computed."""

    def __init__(self):
        self.constants: list[Expr] = []
        self.maps: list[Map] = []

    def take(self, arg: Expr, how: Map | None, names: dict[Expr, int]) -> int | Expr | None:
        """What the pattern says of an argument."""
        if how is not None:
            self.maps.append(how)
            return names[arg]
        if is_const(arg):
            self.constants.append(arg)
        return None if is_const(arg) else arg


class _Turn(NamedTuple):
    """One turn of a loop: the first element of x that it reads, and its numbers."""

    first: int
    own: _TurnNumbers
    part: Part


class _Loops(NamedTuple):
    """The loops in a total: how the turns are computed, and the turns; and what else there is."""

    runs: list[tuple[tuple, list[_Turn]]]
    rest: list[Part]


@step("loops as vectors", lambda f, x: f)
def rolled(f: Expr, x: Expr) -> Expr:
    """f, a function of x, with its loops as reductions."""
    depends = dependent(f, x)
    elements = {node: node.args[0]["starts"][0] for node in depends if is_element(node, x)}
    if len(elements) < POLICY.least_turns:
        return f
    loops: dict[Expr, tuple[str, _Loops]] = {}
    left, small = POLICY.most_parts, _small(depends, elements)
    for op in _REDUCE:
        for node in reversed(totals(f, depends, op)):  # the outermost first
            parts = all_parts(node, depends, op, left)
            if parts is None:
                left //= 2  # this part was examined without success
                continue
            found = _loops(parts, depends, elements, small)
            if found.runs:
                loops.setdefault(node, (op, found))
            left -= len(parts)
    new: dict[Expr, Expr] = {}
    for node in topological([f]):
        new[node] = _reductions(node, *loops[node], x, new) if node in loops else rebuilt(node, new)
    return new[f]


@step("loops as vectors", lambda scalars, x: [(reshape(scalar, (1,)), [k]) for k, scalar in enumerate(scalars)])
def rolled_apart(scalars: list[Expr], x: Expr) -> list[tuple[Expr, list[int]]]:
    """Functions of x as vectors, those that are turns of one loop together: each vector, and which of them are its elements."""
    together = concat([reshape(scalar, (1,)) for scalar in scalars])
    depends = dependent(together, x)
    elements = {node: node.args[0]["starts"][0] for node in depends if is_element(node, x)}
    parts: list[Part] = [(scalar, ()) for scalar in scalars]
    place = {id(part): k for k, part in enumerate(parts)}  # the same function may be there twice
    many = len(elements) >= POLICY.least_turns
    loops = _loops(parts, depends, elements, _small(depends, elements)) if many else _Loops([], parts)
    found = [(_vector(pattern, run, x, run[0].part[0].line), [place[id(turn.part)] for turn in run])
             for pattern, run in loops.runs]
    return found + [(reshape(part[0], (1,)), [place[id(part)]]) for part in loops.rest]


def _small(depends: Depends, elements: dict[Expr, int]) -> set[Expr]:
    """The nodes that may be terms of a loop: computed from elements of x nearby, and not by far too many operations."""
    known: dict[Expr, tuple[int, int, int]] = {}  # the first and the last element, and the longest way to one
    for node in depends:
        if node in elements:
            known[node] = elements[node], elements[node], 0
        elif node.kind in (Kind.MAP, Kind.TEST) and node.shape == ():
            args = [known.get(a) for a in node.args if a in depends]
            if None not in args:
                first, last, way = min(a[0] for a in args), max(a[1] for a in args), max(a[2] for a in args) + 1
                if last - first <= POLICY.turn_reach and way <= POLICY.mapped_operations * POLICY.most_part_operations:
                    known[node] = first, last, way
    return set(known)


def _loops(parts: list[Part], depends: Depends, elements: dict[Expr, int], small: set[Expr]) -> _Loops:
    """The loops among the parts of a total, and the other parts."""
    turns: dict[tuple, list[_Turn]] = {}
    found = _Loops([], [])
    for part in parts:
        check_time()
        pattern, turn = _pattern(part, depends, elements) if part[0] in small else (None, None)
        if pattern is None:
            found.rest.append(part)
        else:
            turns.setdefault(pattern, []).append(turn)
    for pattern, alike in turns.items():
        for run in _runs(alike):
            if len(run) < POLICY.least_turns:
                found.rest.extend(turn.part for turn in run)
            else:
                found.runs.append((pattern, run))
    return found


def _reductions(total: Expr, op: str, loops: _Loops, x: Expr, new: dict[Expr, Expr]) -> Expr:
    """The total with its loops as reductions."""
    line = total.line
    found = [build(_REDUCE[op], _vector(pattern, run, x, line), axes=(0,), line=line) for pattern, run in loops.runs]
    return reduce(lambda a, b: build(op, a, b, line=line), [*found, *(scaled(new[node], how) for node, how in loops.rest)])


def _pattern(part: Part, depends: Depends, elements: dict[Expr, int]) -> tuple[tuple | None, _Turn | None]:
    """How a part is computed, the same for all turns of a loop, and what is its own: its place, its constants."""
    own = _TurnNumbers()
    outer = _as_map(part[1])
    if outer is None:
        return None, None
    top, inner = _without_map(part[0])
    names: dict[Expr, int] = {}
    rows: list[tuple] = []
    stack = [top]
    while stack and len(stack) + len(rows) < POLICY.most_part_operations:
        node = stack[-1]
        if node not in elements and (node.kind not in (Kind.MAP, Kind.TEST) or node.shape != ()):
            break
        args = [] if node in elements else [_without_map(a) if a in depends else (a, None) for a in node.args]
        missing = [a for a, how in args if how is not None and a not in names]
        if missing:
            stack += missing[::-1]
            continue
        stack.pop()
        if node not in names:
            names[node] = len(rows)
            rows.append(("x", elements[node]) if node in elements else
                        (node.op, node.params, tuple(own.take(a, how, names) for a, how in args)))
    places = [row[1] for row in rows if row[0] == "x"]
    if stack or not places or max(places) - min(places) > POLICY.turn_reach:
        return None, None
    own.maps += [inner, outer]
    first = min(places)
    return tuple(("x", row[1] - first) if row[0] == "x" else row for row in rows), _Turn(first, own, part)


def _runs(turns: list[_Turn]) -> list[list[_Turn]]:
    """The turns in order, wherever one follows the other; a second turn of the same place begins anew."""
    runs: list[list[_Turn]] = []
    waiting = sorted(turns, key=lambda turn: turn.first)
    while waiting:
        again = []
        run = [waiting[0]]
        for turn in waiting[1:]:
            if turn.first == run[-1].first:
                again.append(turn)
            elif turn.first == run[-1].first + 1:
                run.append(turn)
            else:
                runs.append(run)
                run = [turn]
        runs.append(run)
        waiting = again
    return runs


def _vector(pattern: tuple, run: list[_Turn], x: Expr, line: str | None) -> Expr:
    """All turns of the loop, element by element."""
    constants = iter([_constants(own) for own in zip(*(turn.own.constants for turn in run), strict=True)])
    maps = iter([np.array(own).T for own in zip(*(turn.own.maps for turn in run), strict=True)])
    values: list[Expr] = []
    for row in pattern:
        if row[0] == "x":
            begin = run[0].first + row[1]
            values.append(index(x, slice(begin, begin + len(run)), line))
            continue
        op, params, args = row
        given = [next(constants) if a is None else a if isinstance(a, Expr) else _mapped(values[a], next(maps)) for a in args]
        values.append(build(op, *given, line=line, **dict(params)))
    return _mapped(_mapped(values[-1], next(maps)), next(maps))


def _constants(own: tuple[Expr, ...]) -> Expr:
    if all(c is own[0] for c in own):
        return own[0]
    lo, hi = (np.array([end.reshape(()) for end in ends]) for ends in zip(*((c.lo, c.hi) for c in own), strict=True))
    return const(lo) if all(c.lo is c.hi for c in own) else between(lo, hi)


# ---- linear maps: 1 * x, x / 1 and x + 0 are traced as x, and x / 2 as 0.5 * x, so that a turn may lack what the others have
def _without_map(node: Expr) -> tuple[Expr, Map]:
    """Of the scalar factor * t / divisor + shift: t, and these three doubles."""
    factor, divisor, shift = _NO_MAP
    left, right = node.args if node.op in ("add", "sub") else (None, None)
    if right is not None and _is_double(right):
        node, shift = left, -float(right.lo) if node.op == "sub" else float(right.lo)
    elif left is not None and _is_double(left):
        node, shift, factor = right, float(left.lo), -1.0 if node.op == "sub" else 1.0
    if node.op == "neg":
        node, factor = node.args[0], -factor
    if node.op == "mul" and any(map(_is_double, node.args)):
        left, right = node.args
        node, number = (right, left) if _is_double(left) else (left, right)
        factor *= float(number.lo)
    elif node.op == "div" and _is_double(node.args[1]):
        node, divisor = node.args[0], float(node.args[1].lo)
    return node, (factor, divisor, shift)


def _as_map(scaling: Scaling) -> Map | None:
    """The scaling of a part as such a map; None if it has more than one factor or divisor."""
    factor, divisor, shift = _NO_MAP
    for op, given in scaling:
        if op != "neg" and not _is_double(given[0]):
            return None
        if op == "neg":
            factor = -factor
        elif op == "mul" and abs(factor) == 1.0:
            factor *= float(given[0].lo)
        elif op == "div" and divisor == 1.0:
            divisor = float(given[0].lo)
        else:
            return None
    return factor, divisor, shift


def _is_double(node: Expr) -> bool:
    return is_const(node) and node.lo is node.hi and node.size == 1


def _mapped(value: Expr, numbers: np.ndarray) -> Expr:
    """The map of each element: rows of factors, divisors and shifts."""
    factor, divisor, shift = (row[:1].reshape(()) if (row == row[0]).all() else row for row in numbers)
    falls = (factor < 0).all()
    if (np.abs(factor) != 1.0).any() or not falls and (factor < 0).any():
        value = build("mul", const(-factor if falls else factor), value)
    value = build("neg", value) if falls else value
    if (divisor != 1.0).any():
        value = build("div", value, const(divisor))
    if (shift != 0.0).any():
        value = build("sub", value, const(-shift)) if (shift <= 0).all() else build("add", value, const(shift))
    return value
