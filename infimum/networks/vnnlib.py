"""VNN-LIB files: the unsafe inputs and outputs of a network, as bounds and linear inequalities in a subset of SMT-LIB."""

import math
import re
from collections.abc import Iterator
from dataclasses import field
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

from infimum.errors import NetworkError
from infimum.networks.exact_box import ExactBox, ExactEnd, higher_of, lower_of
from infimum.support import environment
from infimum.support.lazy import dataclass

MOST_BYTES, MOST_DEPTH, MOST_CASES, MOST_DIGITS = 2**26, 64, 10_000, 4000
_MOST_BITS = 1 << 18  # of a number that is computed: beyond those of any two that are written
_TOKEN = re.compile(r";[^\n]*|\s+|([()]|\|[^|]*\||[^\s();|]+)")
_VARIABLE = re.compile(r"([XY])_(0|[1-9]\d{0,8})\Z")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?\Z")
_RELATIONS = {"<=": (False, (1,)), ">=": (False, (-1,)), "<": (True, (1,)), ">": (True, (-1,)), "=": (False, (1, -1))}
_SKIPPED = ("set-logic", "set-info", "set-option", "check-sat", "get-model", "exit")


@dataclass(frozen=True, slots=True)
class LinearInequality:
    """A sum of multiples of inputs x and outputs y and a constant, which is at most 0; if `strict`, less than 0."""

    x: dict[int, Fraction] = field(default_factory=dict)
    y: dict[int, Fraction] = field(default_factory=dict)
    constant: Fraction = Fraction(0)
    strict: bool = False

    def plus(self, other: "LinearInequality", factor: Fraction = Fraction(1), strict: bool = False) -> "LinearInequality":
        constant = self.constant + factor * other.constant
        return LinearInequality(_sum(self.x, other.x, factor), _sum(self.y, other.y, factor), constant, strict)

    @property
    def is_constant(self) -> bool:
        return not self.x and not self.y


def _sum(a: dict[int, Fraction], b: dict[int, Fraction], factor: Fraction) -> dict[int, Fraction]:
    found = {k: a.get(k, Fraction(0)) + factor * b.get(k, Fraction(0)) for k in (*a, *b)}
    return {k: v for k, v in found.items() if v}


@dataclass(frozen=True, slots=True)
class Case:
    """A conjunction: a box of inputs, and inequalities that are more than bounds of one input."""

    box: ExactBox
    inequalities: tuple[LinearInequality, ...]


@dataclass(frozen=True, slots=True)
class VnnLib:
    """A property: the union of its cases is unsafe. inputs, outputs: how many variables X and Y are declared."""

    name: str
    inputs: int
    outputs: int
    cases: tuple[Case, ...]


class _Word(str):
    """A word of the file and its line."""

    line: int


@environment.ours
def read_vnnlib(path: str | PathLike) -> VnnLib:
    """The property in a VNN-LIB file. Its numbers are exactly the decimals that are written.

    Known are `declare-const` (and `declare-fun` without arguments) of X_i and Y_j as Real, and `assert` with <=, >=, <, >, =,
    and, or and linear terms with +, -, *.
    """
    path = Path(path)
    try:
        if path.stat().st_size > MOST_BYTES:
            raise NetworkError(f"{path} has more than {MOST_BYTES:,} bytes")
        text = path.read_text("utf-8")
    except OSError as error:
        raise NetworkError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise NetworkError(f"{path} is no VNN-LIB file: it is not text") from None
    return _Reader(path.name).read(text)


class _Reader:
    def __init__(self, name: str):
        self.name, self.declared, self.cases = name, {"X": set(), "Y": set()}, [[]]

    def fail(self, what: str, line: int | None = None) -> NoReturn:
        raise NetworkError(f"{self.name}{'' if line is None else f':{line}'}: {what}")

    # ---- words and brackets
    def words(self, text: str) -> Iterator[_Word]:
        at, line = 0, 1
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                self.fail(f"{text[at]!r} begins no word", line)
            if match[1]:
                word = _Word(match[1])
                word.line = line
                yield word
            line += match[0].count("\n")
            at = match.end()

    def expressions(self, text: str) -> Iterator[list]:
        stack: list[list] = []
        for word in self.words(text):
            if word == "(":
                stack.append([])
                if len(stack) > MOST_DEPTH:
                    self.fail(f"brackets are nested more than {MOST_DEPTH} deep", word.line)
            elif not stack:
                self.fail(f"{word!r} stands outside of brackets", word.line)
            elif word == ")":
                done = stack.pop()
                if not stack:
                    yield done
                else:
                    stack[-1].append(done)
            else:
                stack[-1].append(word)
        if stack:
            self.fail("a bracket is not closed: the file is truncated")

    # ---- commands
    def read(self, text: str) -> VnnLib:
        for command in self.expressions(text):
            head = command[0] if command and isinstance(command[0], str) else None
            line = getattr(head, "line", None)
            if head in ("declare-const", "declare-fun"):
                self.declare(command, line)
            elif head == "assert":
                if len(command) != 2:
                    self.fail("assert takes one condition", line)
                self.cases = self.joined([self.cases, self.condition(command[1])], line)
            elif head not in _SKIPPED:
                self.fail(f"{_shown(command)} is no command that is known: declare-const, assert", line)
        for kind in "XY":
            numbers = self.declared[kind]
            if numbers != set(range(len(numbers))) or not numbers:
                self.fail(f"the variables {kind}_0, {kind}_1, … must be declared without gaps, and there are {len(numbers)}")
        n = len(self.declared["X"])
        return VnnLib(self.name, n, len(self.declared["Y"]), tuple(case for parts in self.cases if (case := _case(parts, n))))

    def declare(self, command: list, line: int | None) -> None:
        names = [command[1], command[-1]] if len(command) == (3 if command[0] == "declare-const" else 4) else [None, None]
        match = _VARIABLE.match(names[0]) if isinstance(names[0], str) else None
        if match is None or names[1] != "Real" or (len(command) == 4 and command[2] != []):
            self.fail(f"{_shown(command)} declares no input X_0, X_1, … or output Y_0, Y_1, … of the type Real", line)
        if int(match[2]) in self.declared[match[1]]:
            self.fail(f"{names[0]} is declared twice", line)
        self.declared[match[1]].add(int(match[2]))

    # ---- conditions, as lists of cases, each a list of inequalities
    def condition(self, expression: Any) -> list[list[LinearInequality]]:
        head = expression[0] if isinstance(expression, list) and expression and isinstance(expression[0], str) else None
        line = getattr(head, "line", None)
        if head in ("and", "or"):
            parts = [self.condition(part) for part in expression[1:]]
            if head == "and":
                return self.joined(parts, line)
            cases = [case for part in parts for case in part]
            return cases if len(cases) <= MOST_CASES else self.fail(f"there are more than {MOST_CASES:,} cases", line)
        if head in _RELATIONS:
            if len(expression) != 3:
                self.fail(f"{head} takes two terms", line)
            left, right = (self.term(part) for part in expression[1:])
            strict, signs = _RELATIONS[head]
            return [[LinearInequality().plus(left.plus(right, Fraction(-1)), Fraction(sign), strict) for sign in signs]]
        return self.fail(f"{_shown(expression)} is no condition that is known: and, or, {', '.join(_RELATIONS)}", line)

    def joined(self, parts: list[list[list[LinearInequality]]], line: int | None) -> list[list[LinearInequality]]:
        """The cases of a conjunction."""
        found: list[list[LinearInequality]] = [[]]
        for part in parts:
            if len(found) * len(part) > MOST_CASES:
                self.fail(f"there are more than {MOST_CASES:,} cases", line)
            found = [[*a, *b] for a in found for b in part]
        return found

    def term(self, expression: Any) -> LinearInequality:
        if isinstance(expression, str):
            return self.atom(expression)
        head = expression[0] if expression and isinstance(expression[0], str) else None
        parts = [self.term(part) for part in expression[1:]]
        if head == "+" and parts or head == "-" and len(parts) > 1:
            total = parts[0]
            for part in parts[1:]:
                total = total.plus(part, Fraction(1 if head == "+" else -1))
            return total
        if head == "-" and parts:
            return LinearInequality().plus(parts[0], Fraction(-1))
        if head == "*" and parts and sum(not part.is_constant for part in parts) <= 1:
            factor = Fraction(1)
            for part in parts:
                factor *= part.constant if part.is_constant else 1
                if max(factor.numerator.bit_length(), factor.denominator.bit_length()) > _MOST_BITS:
                    self.fail(f"a product in {_shown(expression)} has too many digits", getattr(head, "line", None))
            body = next((part for part in parts if not part.is_constant), LinearInequality(constant=Fraction(1)))
            return LinearInequality().plus(body, factor)
        return self.fail(f"{_shown(expression)} is no linear term", getattr(head, "line", None))

    def atom(self, word: Any) -> LinearInequality:
        match = _VARIABLE.match(word)
        if match is not None:
            if int(match[2]) not in self.declared[match[1]]:
                self.fail(f"{word} is not declared", word.line)
            one = {int(match[2]): Fraction(1)}
            return LinearInequality(x=one) if match[1] == "X" else LinearInequality(y=one)
        if not _NUMBER.match(word):
            self.fail(f"{_shown(word)!r} is no finite decimal number and no variable", word.line)
        if len(word) > MOST_DIGITS:
            self.fail(f"{_shown(word)} has more than {MOST_DIGITS:,} digits", word.line)
        return LinearInequality(constant=Fraction(word))


def _case(parts: list[LinearInequality], n: int) -> Case | None:
    """The box and the inequalities; None if they contradict one another."""
    lo, hi, rest = [ExactEnd(-math.inf)] * n, [ExactEnd(math.inf)] * n, []
    for part in parts:
        if part.is_constant:
            if part.constant > 0 or (part.strict and not part.constant):
                return None
            continue
        if part.y or len(part.x) > 1:
            rest.append(part)
            continue
        (i, factor), = part.x.items()
        end = ExactEnd(-part.constant / factor, part.strict)
        if factor > 0:
            hi[i] = lower_of(hi[i], end)
        else:
            lo[i] = higher_of(lo[i], end)
    box = ExactBox(tuple(lo), tuple(hi))
    return None if box.is_empty else Case(box, tuple(rest))


def _shown(expression: Any) -> str:
    """The beginning of an expression as it is written."""
    if isinstance(expression, str):
        return str(expression)[:40]
    text = f"({' '.join(_shown(part) for part in expression[:4])}{' …' if len(expression) > 4 else ''})"
    return text if len(text) <= 80 else text[:77] + "..."
