"""Reads expressions, which .nl files hold in prefix notation."""

from typing import NamedTuple

from infimum.ampl.expressions import CONSTANT, DEFINED, VARIABLE, Expressions
from infimum.ampl.header import Header
from infimum.ampl.operators import DIGITS, OPERATORS, PIECEWISE_LINEAR, UNSUPPORTED
from infimum.ampl.tokens import Tokens, finite, whole_below

_LARGEST_DIGITS = 22  # powers of ten up to this one are doubles


class _Operator(NamedTuple):
    """An operator that waits for `count` operands: the first ones are of the kinds `first`, the others of the kind `more`.
    `plain` means that it takes numbers alone and needs no check."""

    code: int
    count: int
    first: str
    more: str = ""
    numbers: tuple = ()
    plain: bool = False

    def takes(self, position: int) -> str:
        """The kind of an operand."""
        return self.first[position] if position < len(self.first) else self.more


class ExpressionReader:
    """Turns tokens into nodes. `defined` are the defined variables that have been read so far."""

    def __init__(self, header: Header, tokens: Tokens, expressions: Expressions, defined: dict[int, int]):
        self._header, self._tokens, self._expressions, self._defined = header, tokens, expressions, defined
        self._symbols: dict[str | bytes, int | _Operator | tuple[int]] = {}

    def reference(self, index: int) -> int:
        if index < self._header.variables:
            return self._expressions.node(VARIABLE, index)
        if index not in self._defined:
            self._tokens.fail(f"v{index} is used before it is defined")
        return self._expressions.node(DEFINED, index)

    def read(self) -> int:
        """An expression in prefix notation; operators that wait for operands are on a stack, the innermost one beside it."""
        expressions, known, apply = self._expressions, self._symbols.get, self._expressions.apply
        stack: list[tuple[_Operator | None, list[int]]] = []
        operator, operands = None, []
        for symbol in self._tokens.symbols():
            value = known(symbol)
            if value is None:
                value = self._read_symbol(symbol)
            if type(value) is not int:
                value = self._counted(*value) if type(value) is tuple else value
                if value.count:
                    stack.append((operator, operands))
                    operator, operands = value, []
                    continue
                value = expressions.constant(0.0)  # an empty sum
            gives = "n"
            while operator is not None:
                if gives == "c" or not operator.plain:
                    value = self._converted(value, gives, operator.takes(len(operands)))
                operands.append(value)
                if len(operands) < operator.count:
                    break
                if not operator.plain:
                    self._check(operator, operands)
                value, gives = apply(operator.code, operands, *operator.numbers), OPERATORS[operator.code].gives
                operator, operands = stack.pop()
            else:
                return self._converted(value, gives, "n")

    def _converted(self, value: int, gives: str, takes: str) -> int:
        if takes == gives:
            return value
        return self._expressions.as_condition(value) if takes == "c" else self._expressions.as_number(value)

    def _read_symbol(self, symbol: str | bytes) -> int | _Operator | tuple[int]:
        """A node, or an operator; its code alone where a count follows. Symbols recur: they are read once."""
        tokens = self._tokens
        letter = tokens.opened(symbol)
        if letter == "v":
            end = self._header.variables + self._header.defined
            found = self.reference(whole_below(tokens, "the number of the variable", end))
        elif letter == "o":
            found = self._operator()
        else:
            found = self._expressions.constant(self._constant(letter))
        self._symbols[symbol] = found
        return found

    def _constant(self, letter: str) -> float:
        what = "the constant"
        if letter == "n":
            return finite(self._tokens, what)
        if letter in ("s", "l"):
            value = (self._tokens.short if letter == "s" else self._tokens.whole)(what)
            if abs(value) > 2**53:
                self._tokens.fail(f"{what} is a whole number that is no double")
            return float(value)
        if letter == "f":
            self._tokens.fail("a call of an imported function, which is not known to infimum")
        if letter == "h":
            self._tokens.fail("a string, as imported functions take, is not known to infimum")
        self._tokens.fail(f"{letter!r} begins no expression" if letter else "the file ends in the middle of an expression")

    def _operator(self) -> _Operator | tuple[int]:
        code = self._tokens.whole("the operator")
        row = OPERATORS.get(code)
        if row is None:
            name = f" ({UNSUPPORTED[code]})" if code in UNSUPPORTED else ""
            self._tokens.fail(f"the operator o{code}{name} is not known to infimum")
        if "*" in row.takes or code == PIECEWISE_LINEAR:
            return (code,)
        return _Operator(code, len(row.takes), row.takes, plain="c" not in row.takes and code not in DIGITS)

    def _counted(self, code: int) -> _Operator:
        """An operator of which the next line says how many operands it takes."""
        if code == PIECEWISE_LINEAR:
            return _Operator(code, 1, OPERATORS[code].takes, numbers=(self._slopes_and_breaks(),))
        first, _, more = OPERATORS[code].takes.partition("*")
        self._tokens.line()
        count = self._tokens.whole("the number of operands")
        if not len(first) <= count <= self._header.size:
            self._tokens.fail(f"{OPERATORS[code].name} has {count:,} operands")
        return _Operator(code, count, first, more, plain="c" not in first + more)

    def _slopes_and_breaks(self) -> tuple[float, ...]:
        tokens = self._tokens
        tokens.line()
        count = tokens.whole("the number of slopes")
        if not 1 <= count <= self._header.size:
            tokens.fail(f"a piecewise-linear term has {count:,} slopes")
        numbers = tuple(self._constant(tokens.letter()) for _ in range(2 * count - 1))
        breaks = numbers[1::2]
        if any(one >= other for one, other in zip(breaks, breaks[1:], strict=False)):
            tokens.fail("the breaks of a piecewise-linear term do not increase")
        return numbers

    def _check(self, operator: _Operator, operands: list[int]) -> None:
        if operator.code in DIGITS:
            digits = self._expressions.nodes[operands[1]]
            if digits[0] != CONSTANT or not digits[1].is_integer() or abs(digits[1]) > _LARGEST_DIGITS:
                self._tokens.fail(f"the digits of {OPERATORS[operator.code].name} have to be a constant whole number, and not "
                                  f"more than {_LARGEST_DIGITS}")
