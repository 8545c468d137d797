"""The words of an .nl file, from lines of text or from bytes. Every error names its line or byte."""

import math
import struct
from collections.abc import Callable, Iterator
from typing import NoReturn

from infimum.ampl.numbers import number_of, whole_of, without_other_blanks
from infimum.errors import ModelFileError

_SHORT, _WHOLE, _NUMBER = "h", "i", "d"
_SIZES = {b"o": 4, b"v": 4, b"l": 4, b"s": 2, b"n": 8}  # of what follows a letter in an expression


def _without_comment(line: str) -> str:
    return line.partition("#")[0].strip()


def _nowhere() -> str:
    return ""


class TextTokens:
    """Lines of words. A line begins with a letter (`letter`) or with a number (`line`); what follows # is a comment. `inside` may
    be set by whoever reads: it says to which part of the model a line belongs."""

    inside: Callable[[], str] = staticmethod(_nowhere)

    def __init__(self, file: str, text: str, before: int):
        """`before` lines have been read already."""
        self._file, self._lines, self._before = file, without_other_blanks(text).split("\n"), before
        self._at, self._rest = -1, ""

    def located(self, what: str) -> str:
        """That sentence, after the file, the line and the part of the model that it is about."""
        return f"{self._file}, line {self._before + self._at + 1}{self.inside()}: {what}"

    def fail(self, what: str) -> NoReturn:
        raise ModelFileError(self.located(what))

    def symbols(self) -> Iterator[str]:
        """The lines of an expression, with their comments, which `opened` reads; "" at the end of the file."""
        lines = self._lines
        while True:
            at = self._at + 1
            if self._rest or at >= len(lines) or not lines[at][:1].isalpha():
                yield self._advance()
            else:
                self._at = at
                yield lines[at]

    def opened(self, symbol: str) -> str:
        """Its letter."""
        self._rest = _without_comment(symbol[1:])
        return symbol[:1]

    def letter(self) -> str:
        """The letter that the next line begins with; "" at the end of the file."""
        return self.opened(self._advance())

    def line(self) -> None:
        """Goes on to the next line, which has to be there."""
        self._rest = self._advance()
        if not self._rest:
            self.fail("the file ends in the middle of a list")

    def _advance(self) -> str:
        if self._rest:
            self.fail(f"{self._rest[:40]!r} is too much")
        lines, at = self._lines, self._at + 1
        while at < len(lines):
            line = _without_comment(lines[at])
            if line:
                self._at = at
                return line
            at += 1
        self._at = len(lines) - 1
        return ""

    def word(self, what: str) -> str:
        parts = self._rest.split(None, 1)
        if not parts:
            self.fail(f"{what} is missing")
        self._rest = parts[1] if len(parts) == 2 else ""
        return parts[0]

    name = word

    def whole(self, what: str) -> int:
        word = self.word(what)
        value = whole_of(word)
        if value is None:
            self.fail(f"{what} is {word[:40]!r}, and not a whole number")
        return value

    short = kind = whole

    def number(self, what: str) -> float:
        word = self.word(what)
        value = number_of(word)
        if value is None:
            self.fail(f"{what} is {word[:40]!r}, and not a number")
        return value


class BinaryTokens:
    """Letters of one byte, whole numbers of two or four, doubles of eight."""

    inside: Callable[[], str] = staticmethod(_nowhere)

    def __init__(self, file: str, data: bytes, before: int, big_endian: bool):
        """Begins after `before` bytes."""
        self._file, self._data, self._at, self._here = file, data, before, before
        order = ">" if big_endian else "<"
        self._structs = {kind: struct.Struct(order + kind) for kind in (_SHORT, _WHOLE, _NUMBER)}

    def located(self, what: str) -> str:
        """That sentence, after the file, the byte and the part of the model that it is about."""
        return f"{self._file}, byte {self._here}{self.inside()}: {what}"

    def fail(self, what: str) -> NoReturn:
        raise ModelFileError(self.located(what))

    def letter(self) -> str:
        self._here = self._at
        self._at += 1
        return chr(self._data[self._here]) if self._here < len(self._data) else ""

    def symbols(self) -> Iterator[bytes]:
        """The letters of an expression, each with the number that follows, which `opened` reads; empty at the end of the file."""
        while True:
            self._here = self._at
            self._at += 1 + _SIZES.get(self._data[self._at:self._at + 1], 0)
            yield self._data[self._here:self._at]

    def opened(self, symbol: bytes) -> str:
        """Its letter."""
        self._at = self._here
        return self.letter()

    def line(self) -> None:
        """There are none."""

    def _read(self, kind: str, what: str):
        self._here, form = self._at, self._structs[kind]
        self._at += form.size
        if self._at > len(self._data):
            self.fail(f"the file ends where {what} should be")
        return form.unpack_from(self._data, self._here)[0]

    def whole(self, what: str) -> int:
        return self._read(_WHOLE, what)

    def short(self, what: str) -> int:
        return self._read(_SHORT, what)

    def number(self, what: str) -> float:
        return self._read(_NUMBER, what)

    def kind(self, what: str) -> int:
        """A digit, as a letter."""
        letter = self.letter()
        if not ("0" <= letter <= "9"):
            self.fail(f"{what} is {letter!r}, and not a digit" if letter else f"the file ends where {what} should be")
        return int(letter)

    def name(self, what: str) -> str:
        length = self.whole(f"the length of {what}")
        if not 0 <= length <= len(self._data) - self._at:
            self.fail(f"{what} is said to have {length:,} letters")
        self._at += length
        return self._data[self._at - length:self._at].decode("utf-8", "replace")


Tokens = TextTokens | BinaryTokens


def whole_below(tokens: Tokens, what: str, end: int) -> int:
    """A whole number from 0 up to, but not including, `end`."""
    value = tokens.whole(what)
    if not 0 <= value < end:
        tokens.fail(f"{what} is {value}, and has to be " + (f"from 0 to {end - 1:,}" if end else "absent: there are none"))
    return value


def finite(tokens: Tokens, what: str) -> float:
    """A number that is neither infinite nor NaN."""
    value = tokens.number(what)
    if not math.isfinite(value):
        tokens.fail(f"{what} is {value}, and has to be a finite number")
    return value
