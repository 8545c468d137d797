"""Expressions as numbered nodes: equal ones have one number, and operands have smaller numbers than what is made of them.

Nothing here recurses: nesting is limited by the size of the file alone. Constants are combined where that is exact.
"""

import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from infimum.ampl.operators import IF, MINUS, NEGATIVE, NOT_EQUAL, OPERATORS, PLUS, POWER, SUM, TIMES

# codes of nodes that are no operators. EXACT: a constant from which others are computed, which need not be doubles
VARIABLE, CONSTANT, DEFINED, EXACT, TRUTH = -1, -2, -3, -4, -5

_LARGEST_POWER = 64  # of a constant, computed exactly

Node = tuple  # (code, operands ...); a leaf has its index or value in their place; a piecewise-linear term ends with its numbers


def _power(base: Fraction, exponent: Fraction) -> Fraction | None:
    return base ** int(exponent) if exponent.denominator == 1 and abs(exponent) <= _LARGEST_POWER else None


_EXACTLY: dict[int, Callable[..., Any]] = {
    PLUS: operator.add, MINUS: operator.sub, TIMES: operator.mul, NEGATIVE: operator.neg, 3: operator.truediv, 15: abs,
    POWER: _power, 76: _power, 78: _power, 77: lambda x: x * x,
    SUM: lambda *v: sum(v), 11: lambda *v: min(v), 12: lambda *v: max(v),
    4: lambda x, y: x - y * math.trunc(x / y), 55: lambda x, y: math.trunc(x / y), 6: lambda x, y: max(x - y, 0),
    13: math.floor, 14: math.ceil, 20: operator.or_, 21: operator.and_, 34: operator.not_,
    22: operator.lt, 23: operator.le, 24: operator.eq, 28: operator.ge, 29: operator.gt, NOT_EQUAL: operator.ne,
}


class Expressions:
    """All nodes of a model."""

    def __init__(self):
        self.nodes: list[Node] = []
        self._numbers: dict[Node, int] = {}
        self._known: list[bool] = []  # is the node computed from constants alone?

    def node(self, *node: Any) -> int:
        number = self._numbers.get(node)
        if number is None:
            number = self._numbers[node] = len(self.nodes)
            self.nodes.append(node)
            self._known.append(node[0] <= CONSTANT and node[0] != DEFINED)
        return number

    def constant(self, value: float) -> int:
        return self.node(CONSTANT, value + 0.0)  # no negative zero

    def apply(self, code: int, operands: Sequence[int], *numbers: Any) -> int:
        """The operator, with operands of the kinds that it takes."""
        known, first = self._known, operands[0]
        if code == IF and self.nodes[first][0] == TRUTH:
            return operands[1] if self.nodes[first][1] else operands[2]
        if known[first] and all([known[i] for i in operands]):
            return self._of_constants(code, operands, numbers)
        node = (code, *operands, *numbers)
        number = self._numbers.get(node)
        return self.node(*node) if number is None else number

    def _of_constants(self, code: int, operands: Sequence[int], numbers: tuple) -> int:
        value = self._exactly(code, [self.nodes[i] for i in operands])
        if value is not None:
            return self.node(TRUTH, value) if isinstance(value, bool) else self.constant(value)
        exact = [self.node(EXACT, self.nodes[i][1]) if self.nodes[i][0] == CONSTANT else i for i in operands]
        number = self.node(code, *exact, *numbers)
        self._known[number] = True
        return number

    def _exactly(self, code: int, operands: list[Node]) -> float | bool | None:
        """The value, if it is a double; None where it is not, or not computed here."""
        if code not in _EXACTLY or any(node[0] not in (CONSTANT, TRUTH) for node in operands):
            return None
        try:
            value = _EXACTLY[code](*(Fraction(node[1]) if node[0] == CONSTANT else node[1] for node in operands))
            if value is None or isinstance(value, bool):
                return value
            return float(value) if Fraction(float(value)) == value else None
        except (ZeroDivisionError, OverflowError):
            return None

    def as_number(self, number: int) -> int:
        """A condition counts 1 and 0."""
        if not self._is_condition(number):
            return number
        return self.apply(IF, (number, self.constant(1.0), self.constant(0.0)))

    def as_condition(self, number: int) -> int:
        """A number is true where it is not 0."""
        return number if self._is_condition(number) else self.apply(NOT_EQUAL, (number, self.constant(0.0)))

    def _is_condition(self, number: int) -> bool:
        code = self.nodes[number][0]
        return code == TRUTH or (code >= 0 and OPERATORS[code].gives == "c")

    def negative(self, number: int) -> int:
        """-node, with the sign in a constant factor if there is one."""
        node = self.nodes[number]
        if node[0] == CONSTANT:
            return self.constant(-node[1])
        if node[0] == NEGATIVE:
            return node[1]
        if node[0] == TIMES and self.nodes[node[1]][0] == CONSTANT:
            return self.node(TIMES, self.constant(-self.nodes[node[1]][1]), node[2])
        return self.node(NEGATIVE, number)
