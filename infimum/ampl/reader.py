"""Reads .nl files, text or binary, into a `Model`."""

import math
from collections.abc import Callable
from os import PathLike

import numpy as np

from infimum.ampl.expressions import Expressions
from infimum.ampl.files import bytes_of, path_of
from infimum.ampl.formulas import Body, Formulas
from infimum.ampl.header import Header, read_header
from infimum.ampl.model import Model, ModelContent
from infimum.ampl.names import Names
from infimum.ampl.operators import SUM, TIMES
from infimum.ampl.prefix import ExpressionReader
from infimum.ampl.tokens import BinaryTokens, TextTokens, Tokens, finite, whole_below
from infimum.errors import ModelFileError
from infimum.support import environment

_HEADER_LINES = 10
_OWNERS = ("variable", "constraint", "objective", "problem")  # of suffixes, by the two lowest bits of their kind
_REAL = 4       # the bit of a suffix whose values are doubles
_SETS = "sosno"  # the suffix that makes special ordered sets


@environment.ours
def read(path: str | PathLike) -> Model:
    """The model in an .nl file; `.nl` may be left out. Names are taken from the .col and .row files next to it, if there are any.

    >>> read("missing")
    Traceback (most recent call last):
    infimum.errors.ModelFileError: missing.nl cannot be read: No such file or directory
    """
    model = read_unchecked(path)
    model.check()
    return model


@environment.ours
def read_unchecked(path: str | PathLike) -> Model:
    """The model in an .nl file, whose bounds may be reversed: who solves it says so where the result is awaited."""
    path = path_of(path)
    try:
        data = bytes_of(path)
        header = read_header(str(path), data)
        names = Names.beside(path, header)
        tokens: Tokens = BinaryTokens(str(path), data, header.begin, header.big_endian) if header.binary else \
            TextTokens(str(path), data[header.begin:].decode("utf-8", "replace"), _HEADER_LINES)
        with environment.collector_paused():
            return _Reader(header, tokens, names).model()
    except MemoryError:
        raise ModelFileError(f"{path} cannot be read: there is too little memory for a model of this size") from None


class _Reader:
    """Reads one segment after another. part: the variable, constraint or objective that is being read, with its number."""

    def __init__(self, header: Header, tokens: Tokens, names: Names):
        n, m = header.variables, header.constraints
        self.header, self.tokens, self.expressions, self.names = header, tokens, Expressions(), names
        self.part: tuple[Callable[[int], str], int] | None = None
        tokens.inside = lambda: "" if self.part is None else f", {self.part[0](self.part[1])}"
        self.defined: dict[int, int] = {}
        self.prefix = ExpressionReader(header, tokens, self.expressions, self.defined)
        self.bodies: dict[int, int] = {}
        self.objectives: dict[int, tuple[int, bool]] = {}
        self.linear: dict[str, dict[int, list[tuple[int, float]]]] = {"J": {}, "G": {}}
        self.bounds: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self.guess: np.ndarray | None = None
        self.reversed: str | None = None  # the error about the first reversed bounds, if any
        self.sizes = {"r": m, "b": n}
        self.segments = {"F": self._function, "S": self._suffix, "V": self._defined, "C": self._constraint, "L": self._logical,
                         "O": self._objective, "d": self._dual, "x": self._primal, "r": self._bounds, "b": self._bounds,
                         "k": self._columns, "K": self._columns, "J": self._rows, "G": self._rows}

    def model(self) -> Model:
        while letter := self.tokens.letter():
            self.part = None
            if letter not in self.segments:
                self.tokens.fail(f"{letter!r} begins no segment")
            self.segments[letter](letter)
        self.part = None
        self._check_complete()
        bodies = [self._body(self.bodies.get(i), "J", i) for i in range(self.header.constraints)]
        objectives = [(self._body(self.objectives[i][0], "G", i), self.objectives[i][1]) for i in range(self.header.objectives)]
        content = ModelContent(objectives, bodies, self.bounds, self.guess, self.reversed)
        return Model.of(self.header, self.names, Formulas(self.expressions, self.defined), content)

    def _check_complete(self) -> None:
        """A file that was cut off between two segments is no smaller model."""
        header = self.header
        missing = [f"the bounds of the {what}" for letter, what in (("b", "variables"), ("r", "constraints"))
                   if letter not in self.bounds and self.sizes[letter]]
        missing += [self.names.objective(i) for i in range(header.objectives) if i not in self.objectives][:1]
        missing += [f"the nonlinear body of {self.names.constraint(i)}" for i in range(min(header.nonlinear, header.constraints))
                    if i not in self.bodies][:1]
        for letter, rows in self.linear.items():
            count, said = sum(map(len, rows.values())), header.nonzeros[letter]
            if count != said:
                missing.append(f"{said - count:,} of the {said:,} terms of segments {letter}" if count < said else
                               f"room in the header for {count:,} terms of segments {letter}")
        if missing:
            self.tokens.fail(f"the file ends here; missing: {', '.join(missing)}")

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
        if name == _SETS and owner == "variable":
            tokens.fail(f"special ordered sets (the suffix {name}) are not known to infimum")
        for _ in range(given):
            tokens.line()
            whole_below(tokens, f"the number of the {owner}", count)
            (tokens.number if kind & _REAL else tokens.whole)(f"the value of {name}")

    def _defined(self, letter: str) -> None:
        tokens, n = self.tokens, self.header.variables
        index = whole_below(tokens, "the number of the defined variable", n + self.header.defined)
        self.part = "defined variable v{}".format, index
        if index < n or index in self.defined:
            tokens.fail(f"v{index} is defined " + ("although it is a variable" if index < n else "twice"))
        count = whole_below(tokens, "the number of linear terms", n + self.header.defined + 1)
        tokens.whole("the number of its user")
        terms = [self.expressions.apply(TIMES, (self.expressions.constant(c), self.prefix.reference(k)))
                 for k, c in self._terms(count, index) if c]
        terms.append(self.prefix.read())
        self.defined[index] = terms[0] if len(terms) == 1 else self.expressions.apply(SUM, terms)

    def _constraint(self, letter: str) -> None:
        index = whole_below(self.tokens, "the number of the constraint", self.header.constraints)
        self.part = self.names.constraint, index
        if index in self.bodies:
            self.tokens.fail("this is its second body")
        self.bodies[index] = self.prefix.read()

    def _logical(self, letter: str) -> None:
        self.tokens.fail("logical constraints are not known to infimum")

    def _objective(self, letter: str) -> None:
        index = whole_below(self.tokens, "the number of the objective", self.header.objectives)
        self.part = self.names.objective, index
        if index in self.objectives:
            self.tokens.fail("it is there twice")
        maximise = whole_below(self.tokens, "the sense (0 for minimise, 1 for maximise)", 2) == 1
        self.objectives[index] = self.prefix.read(), maximise

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
        owner = self.names.variable if letter == "b" else self.names.constraint
        pairs = np.array([self._pair(letter, owner, i) for i in range(self.sizes[letter])], dtype=float).reshape(-1, 2)
        self.bounds[letter] = pairs[:, 0].copy(), pairs[:, 1].copy()

    def _pair(self, letter: str, owner: Callable[[int], str], i: int) -> tuple[float, float]:
        tokens, self.part = self.tokens, (owner, i)
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
        if low > high and self.reversed is None:
            self.reversed = tokens.located(f"the bounds are reversed: {low} > {high}")
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
        self.part = getattr(self.names, what), index
        if index in self.linear[letter]:
            tokens.fail("this is its second linear part")
        self.linear[letter][index] = self._terms(whole_below(tokens, "the number of terms", n + 1), n)

    def _terms(self, count: int, below: int) -> list[tuple[int, float]]:
        """Pairs of an index and a number."""
        tokens, found = self.tokens, []
        for _ in range(count):
            tokens.line()
            found.append((whole_below(tokens, "the number of the variable", below), finite(tokens, "the coefficient")))
        return found
