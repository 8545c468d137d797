"""Reads .nl files, text or binary, into a `Model`."""

import math
from os import PathLike
from pathlib import Path

import numpy as np

from infimum import environment
from infimum.ampl.expressions import CONSTANT, DEFINED, VARIABLE, Expressions
from infimum.ampl.formulas import Body
from infimum.ampl.header import Header, read_header
from infimum.ampl.model import Model
from infimum.ampl.operators import DIGITS, OPERATORS, PIECEWISE_LINEAR, SUM, TIMES, UNSUPPORTED
from infimum.ampl.tokens import BinaryTokens, TextTokens, Tokens, finite, whole_below
from infimum.errors import ModelFileError

_HEADER_LINES = 10
_OWNERS = ("variable", "constraint", "objective", "problem")  # of suffixes, by the two lowest bits of their kind
_REAL = 4       # the bit of a suffix whose values are doubles
_SETS = ("sosno", "ref")
_LARGEST_DIGITS = 22  # powers of ten up to this one are doubles


@environment.ours
def read(path: str | PathLike) -> Model:
    """The model in an .nl file; `.nl` may be left out. Names are taken from the .col and .row files next to it, if there are any.

    >>> read("missing")
    Traceback (most recent call last):
    infimum.errors.ModelFileError: missing.nl cannot be read: No such file or directory
    """
    path = path_of(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror}") from error
    header = read_header(str(path), data)
    tokens: Tokens = BinaryTokens(str(path), data, header.begin, header.big_endian) if header.binary else \
        TextTokens(str(path), data[header.begin:].decode("utf-8", "replace"), _HEADER_LINES)
    model = _Reader(header, tokens).model()
    return model.named(_names(path, ".col", header.variables), _names(path, ".row", header.constraints))


def path_of(path: str | PathLike) -> Path:
    """The .nl file that is meant: AMPL names it without its ending."""
    path = Path(path)
    return path if path.suffix == ".nl" else path.with_name(path.name + ".nl")


def _names(path: Path, ending: str, count: int) -> tuple[str, ...] | None:
    try:
        names = path.with_suffix(ending).read_text("utf-8", "replace").split("\n")[:count]
    except OSError:
        return None
    return tuple(names) if len(names) == count and all(names) else None


class _Frame:
    """An operator that waits for operands."""

    __slots__ = ("code", "numbers", "operands", "takes")

    def __init__(self, code: int, takes: str, numbers: tuple = ()):
        self.code, self.takes, self.numbers, self.operands = code, takes, numbers, []


class _Reader:
    """Reads one segment after another."""

    def __init__(self, header: Header, tokens: Tokens):
        n, m = header.variables, header.constraints
        self.header, self.tokens, self.expressions = header, tokens, Expressions()
        self.defined: dict[int, int] = {}
        self.bodies: dict[int, int] = {}
        self.objectives: dict[int, tuple[int, bool]] = {}
        self.linear: dict[str, dict[int, list[tuple[int, float]]]] = {"J": {}, "G": {}}
        self.bounds: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self.guess: np.ndarray | None = None
        self.sizes = {"r": m, "b": n}
        self.symbols: dict[str | bytes, int | tuple] = {}
        self.segments = {"F": self._function, "S": self._suffix, "V": self._defined, "C": self._constraint, "L": self._logical,
                         "O": self._objective, "d": self._dual, "x": self._primal, "r": self._bounds, "b": self._bounds,
                         "k": self._columns, "K": self._columns, "J": self._rows, "G": self._rows}

    def model(self) -> Model:
        while letter := self.tokens.letter():
            if letter not in self.segments:
                self.tokens.fail(f"{letter!r} begins no segment")
            self.segments[letter](letter)
        if "b" not in self.bounds or (self.header.constraints and "r" not in self.bounds):
            self.tokens.fail("the file ends, and the bounds of the " + ("constraints" if "b" in self.bounds else "variables")
                             + " are missing")
        bodies = [self._body(self.bodies.get(i), "J", i) for i in range(self.header.constraints)]
        objectives = [(self._body(self.objectives.get(i, (None, False))[0], "G", i), self.objectives.get(i, (None, False))[1])
                      for i in range(self.header.objectives)]
        return Model.of(self.header, self.expressions, self.defined, objectives, bodies, self.bounds, self.guess)

    def _body(self, nonlinear: int | None, letter: str, i: int) -> Body:
        return Body([] if nonlinear is None else [nonlinear], [term for term in self.linear[letter].get(i, ()) if term[1]])

    # ---- segments

    def _function(self, letter: str) -> None:
        self.tokens.whole("the function's number")
        self.tokens.whole("the function's kind")
        self.tokens.whole("the number of arguments")
        self.tokens.fail(f"the imported function {self.tokens.name('the name of the function')} is not known to infimum")

    def _suffix(self, letter: str) -> None:
        tokens = self.tokens
        kind = whole_below(tokens, "the kind of the suffix", 1 << 16)
        owner = _OWNERS[kind & 3]
        count = (self.header.variables, self.header.constraints, self.header.objectives, 1)[kind & 3]
        given = whole_below(tokens, "the number of values", count + 1)
        name = tokens.name("the name of the suffix")
        if name in _SETS and owner == "variable":
            tokens.fail(f"special ordered sets (the suffix {name}) are not known to infimum")
        for _ in range(given):
            tokens.line()
            whole_below(tokens, f"the number of the {owner}", count)
            (tokens.number if kind & _REAL else tokens.whole)(f"the value of {name}")

    def _defined(self, letter: str) -> None:
        tokens, n = self.tokens, self.header.variables
        index = whole_below(tokens, "the number of the defined variable", n + self.header.defined)
        if index < n or index in self.defined:
            tokens.fail(f"v{index} is defined " + ("although it is a variable" if index < n else "twice"))
        count = whole_below(tokens, "the number of linear terms", n + self.header.defined + 1)
        tokens.whole("the number of its user")
        terms = [self.expressions.apply(TIMES, (self.expressions.constant(c), self._reference(k)))
                 for k, c in self._terms(count, index) if c]
        terms.append(self._expression())
        self.defined[index] = terms[0] if len(terms) == 1 else self.expressions.apply(SUM, terms)

    def _constraint(self, letter: str) -> None:
        index = whole_below(self.tokens, "the number of the constraint", self.header.constraints)
        if index in self.bodies:
            self.tokens.fail(f"constraint {index} has two bodies")
        self.bodies[index] = self._expression()

    def _logical(self, letter: str) -> None:
        self.tokens.fail("logical constraints are not known to infimum")

    def _objective(self, letter: str) -> None:
        index = whole_below(self.tokens, "the number of the objective", self.header.objectives)
        if index in self.objectives:
            self.tokens.fail(f"objective {index} is there twice")
        maximise = whole_below(self.tokens, "the sense (0 for minimise, 1 for maximise)", 2) == 1
        self.objectives[index] = self._expression(), maximise

    def _dual(self, letter: str) -> None:
        m = self.header.constraints
        for _ in range(whole_below(self.tokens, "the number of dual values", m + 1)):
            self.tokens.line()
            whole_below(self.tokens, "the number of the constraint", m)
            self.tokens.number("the dual value")

    def _primal(self, letter: str) -> None:
        n = self.header.variables
        self.guess = np.zeros(n)
        for index, value in self._terms(whole_below(self.tokens, "the number of initial values", n + 1), n):
            self.guess[index] = value

    def _bounds(self, letter: str) -> None:
        if letter in self.bounds:
            self.tokens.fail(f"there is a second segment {letter}")
        pairs = np.array([self._pair(letter) for _ in range(self.sizes[letter])], dtype=float).reshape(-1, 2)
        self.bounds[letter] = pairs[:, 0].copy(), pairs[:, 1].copy()

    def _pair(self, letter: str) -> tuple[float, float]:
        tokens = self.tokens
        tokens.line()
        kind = tokens.kind("the kind of bounds")
        if kind == 3:
            return -math.inf, math.inf
        if kind == 5 and letter == "r":
            tokens.fail("complementarity constraints are not known to infimum")
        if kind not in (0, 1, 2, 4):
            tokens.fail(f"the kind of bounds is {kind}, and has to be from 0 to 4")
        ends = [tokens.number("the bound") for _ in range(2 if kind == 0 else 1)]
        low, high = {0: (ends[0], ends[-1]), 1: (-math.inf, ends[0]), 2: (ends[0], math.inf), 4: (ends[0], ends[0])}[kind]
        if math.isnan(low) or math.isnan(high) or low == math.inf or high == -math.inf:
            tokens.fail(f"the bounds {low} and {high} have no number between them")
        return low, high

    def _columns(self, letter: str) -> None:
        """The numbers of nonzeros in the columns of the Jacobian, which the rows tell as well."""
        for _ in range(whole_below(self.tokens, "the number of columns", self.header.variables)):
            self.tokens.line()
            self.tokens.whole("the number of nonzeros")

    def _rows(self, letter: str) -> None:
        tokens, n = self.tokens, self.header.variables
        what, count = ("constraint", self.header.constraints) if letter == "J" else ("objective", self.header.objectives)
        index = whole_below(tokens, f"the number of the {what}", count)
        if index in self.linear[letter]:
            tokens.fail(f"{what} {index} has two linear parts")
        self.linear[letter][index] = self._terms(whole_below(tokens, "the number of terms", n + 1), n)

    def _terms(self, count: int, below: int) -> list[tuple[int, float]]:
        """Pairs of an index and a number."""
        tokens, found = self.tokens, []
        for _ in range(count):
            tokens.line()
            found.append((whole_below(tokens, "the number of the variable", below), finite(tokens, "the coefficient")))
        return found

    # ---- expressions

    def _reference(self, index: int) -> int:
        if index < self.header.variables:
            return self.expressions.node(VARIABLE, index)
        if index not in self.defined:
            self.tokens.fail(f"v{index} is used before it is defined")
        return self.expressions.node(DEFINED, index)

    def _expression(self) -> int:
        """An expression in prefix notation; operators that wait for operands are on a stack."""
        tokens, symbols, expressions, stack = self.tokens, self.symbols, self.expressions, []
        while True:
            symbol = tokens.symbol()
            value = symbols.get(symbol)
            if value is None:
                value = self._read(symbol)
            if type(value) is not int:
                if len(value) == 1:
                    value = self._with_count(*value)
                if value[1]:
                    stack.append(_Frame(*value))
                    continue
                value = expressions.constant(0.0)  # an empty sum
            gives = "n"
            while stack:
                frame = stack[-1]
                operands = frame.operands
                takes = frame.takes[len(operands)]
                if takes != gives:
                    value = expressions.as_condition(value) if takes == "c" else expressions.as_number(value)
                operands.append(value)
                if len(operands) < len(frame.takes):
                    break
                stack.pop()
                value, gives = self._applied(frame), OPERATORS[frame.code].gives
            else:
                return value if gives == "n" else expressions.as_number(value)

    def _read(self, symbol: str | bytes) -> int | tuple:
        """A node, or an operator: its code and, unless a count follows, what it takes. Symbols recur: they are read once."""
        tokens = self.tokens
        letter = tokens.opened(symbol)
        if letter == "v":
            end = self.header.variables + self.header.defined
            found = self._reference(whole_below(tokens, "the number of the variable", end))
        elif letter == "o":
            found = self._operator()
        else:
            found = self.expressions.constant(self._constant(letter))
        self.symbols[symbol] = found
        return found

    def _constant(self, letter: str) -> float:
        what = "the constant"
        if letter == "n":
            return finite(self.tokens, what)
        if letter in ("s", "l"):
            value = (self.tokens.short if letter == "s" else self.tokens.whole)(what)
            if abs(value) > 2**53:
                self.tokens.fail(f"{what} is a whole number that is no double")
            return float(value)
        if letter == "f":
            self.tokens.fail("a call of an imported function, which is not known to infimum")
        if letter == "h":
            self.tokens.fail("a string, as imported functions take, is not known to infimum")
        self.tokens.fail(f"{letter!r} begins no expression" if letter else "the file ends in the middle of an expression")

    def _operator(self) -> tuple:
        code = self.tokens.whole("the operator")
        row = OPERATORS.get(code)
        if row is None:
            name = f" ({UNSUPPORTED[code]})" if code in UNSUPPORTED else ""
            self.tokens.fail(f"the operator o{code}{name} is not known to infimum")
        return (code,) if "*" in row.takes or code == PIECEWISE_LINEAR else (code, row.takes)

    def _with_count(self, code: int) -> tuple:
        """The operator, and what it takes, which the next line says."""
        if code == PIECEWISE_LINEAR:
            return code, OPERATORS[code].takes, (self._slopes_and_breaks(),)
        first, _, more = OPERATORS[code].takes.partition("*")
        self.tokens.line()
        count = self.tokens.whole("the number of operands")
        if not len(first) <= count <= self.header.size:
            self.tokens.fail(f"{OPERATORS[code].name} has {count:,} operands")
        return code, first + more * (count - len(first))

    def _slopes_and_breaks(self) -> tuple[float, ...]:
        tokens = self.tokens
        tokens.line()
        count = tokens.whole("the number of slopes")
        if not 1 <= count <= self.header.size:
            tokens.fail(f"a piecewise-linear term has {count:,} slopes")
        numbers = tuple(self._constant(tokens.letter()) for _ in range(2 * count - 1))
        breaks = numbers[1::2]
        if any(one >= other for one, other in zip(breaks, breaks[1:], strict=False)):
            tokens.fail("the breaks of a piecewise-linear term do not increase")
        return numbers

    def _applied(self, frame: _Frame) -> int:
        if frame.code in DIGITS:
            digits = self.expressions.nodes[frame.operands[1]]
            if digits[0] != CONSTANT or not digits[1].is_integer() or abs(digits[1]) > _LARGEST_DIGITS:
                self.tokens.fail(f"the digits of {OPERATORS[frame.code].name} have to be a constant whole number, and not more "
                                 f"than {_LARGEST_DIGITS}")
        return self.expressions.apply(frame.code, frame.operands, *frame.numbers)
