"""Reads expressions, which .nl files hold in prefix notation."""

from infimum.ampl.expressions import CONSTANT, DEFINED, VARIABLE, Expressions
from infimum.ampl.header import Header
from infimum.ampl.operators import DIGITS, OPERATORS, PIECEWISE_LINEAR, UNSUPPORTED
from infimum.ampl.tokens import Tokens, finite, whole_below

_LARGEST_DIGITS = 22  # powers of ten up to this one are doubles


class _Frame:
    """An operator that waits for operands."""

    __slots__ = ("code", "count", "first", "more", "numbers", "operands")

    def __init__(self, code: int, first: str, more: str = "", count: int | None = None, numbers: tuple = ()):
        """It takes `count` operands: the first ones are of the kinds `first`, the others of the kind `more`."""
        self.code, self.first, self.more, self.numbers, self.operands = code, first, more, numbers, []
        self.count = len(first) if count is None else count

    def takes(self) -> str:
        """The kind of the next operand."""
        return self.first[len(self.operands)] if len(self.operands) < len(self.first) else self.more


class ExpressionReader:
    """Turns tokens into nodes. `defined` are the defined variables that have been read so far."""

    def __init__(self, header: Header, tokens: Tokens, expressions: Expressions, defined: dict[int, int]):
        self._header, self._tokens, self._expressions, self._defined = header, tokens, expressions, defined
        self._symbols: dict[str | bytes, int | tuple] = {}

    def reference(self, index: int) -> int:
        if index < self._header.variables:
            return self._expressions.node(VARIABLE, index)
        if index not in self._defined:
            self._tokens.fail(f"v{index} is used before it is defined")
        return self._expressions.node(DEFINED, index)

    def read(self) -> int:
        """An expression in prefix notation; operators that wait for operands are on a stack."""
        tokens, symbols, expressions, stack = self._tokens, self._symbols, self._expressions, []
        while True:
            symbol = tokens.symbol()
            value = symbols.get(symbol)
            if value is None:
                value = self._read_symbol(symbol)
            if type(value) is not int:
                frame = _Frame(*value) if len(value) == 2 else self._counted(*value)
                if frame.count:
                    stack.append(frame)
                    continue
                value = expressions.constant(0.0)  # an empty sum
            gives = "n"
            while stack:
                frame = stack[-1]
                operands = frame.operands
                takes = frame.takes()
                if takes != gives:
                    value = expressions.as_condition(value) if takes == "c" else expressions.as_number(value)
                operands.append(value)
                if len(operands) < frame.count:
                    break
                stack.pop()
                value, gives = self._applied(frame), OPERATORS[frame.code].gives
            else:
                return value if gives == "n" else expressions.as_number(value)

    def _read_symbol(self, symbol: str | bytes) -> int | tuple:
        """A node, or an operator: its code and, unless a count follows, what it takes. Symbols recur: they are read once."""
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

    def _operator(self) -> tuple:
        code = self._tokens.whole("the operator")
        row = OPERATORS.get(code)
        if row is None:
            name = f" ({UNSUPPORTED[code]})" if code in UNSUPPORTED else ""
            self._tokens.fail(f"the operator o{code}{name} is not known to infimum")
        return (code,) if "*" in row.takes or code == PIECEWISE_LINEAR else (code, row.takes)

    def _counted(self, code: int) -> _Frame:
        """An operator of which the next line says how many operands it takes."""
        if code == PIECEWISE_LINEAR:
            return _Frame(code, OPERATORS[code].takes, numbers=(self._slopes_and_breaks(),))
        first, _, more = OPERATORS[code].takes.partition("*")
        self._tokens.line()
        count = self._tokens.whole("the number of operands")
        if not len(first) <= count <= self._header.size:
            self._tokens.fail(f"{OPERATORS[code].name} has {count:,} operands")
        return _Frame(code, first, more, count)

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

    def _applied(self, frame: _Frame) -> int:
        if frame.code in DIGITS:
            digits = self._expressions.nodes[frame.operands[1]]
            if digits[0] != CONSTANT or not digits[1].is_integer() or abs(digits[1]) > _LARGEST_DIGITS:
                self._tokens.fail(f"the digits of {OPERATORS[frame.code].name} have to be a constant whole number, and not more "
                                 f"than {_LARGEST_DIGITS}")
        return self._expressions.apply(frame.code, frame.operands, *frame.numbers)
