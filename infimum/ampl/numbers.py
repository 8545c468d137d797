"""Numbers of text files as the C functions strtod and strtol read them, with which AMPL and its solvers read .nl files.

Python's `float` and `int` also take underscores, the digits of all scripts and blanks that C does not know, and no hexadecimal
numbers with a point.
"""

import math
import re

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_HEXADECIMAL = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?")
_NO_NUMBER = re.compile(r"[+-]?(?:inf|infinity|nan|nan\([0-9a-zA-Z_]*\))", re.IGNORECASE | re.ASCII)
_WHOLE = re.compile(r"[+-]?[0-9]+")
_OTHER_BLANKS = re.compile("[\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")


def number_of(word: str) -> float | None:
    """The double nearest to the number; None if the word is none. One too large for a double is infinite.

    >>> number_of(".5"), number_of("1e400"), number_of("0x1.8p1"), number_of("1_000")
    (0.5, inf, 3.0, None)
    """
    if _DECIMAL.fullmatch(word):
        return float(word)
    if _HEXADECIMAL.fullmatch(word):
        try:
            return float.fromhex(word)
        except OverflowError:
            return -math.inf if word[0] == "-" else math.inf
    return float(word.partition("(")[0]) if _NO_NUMBER.fullmatch(word) else None


def whole_of(word: str) -> int | None:
    """The whole number, with decimal digits; None if the word is none, or is longer than Python reads.

    >>> whole_of("-12"), whole_of("1_2"), whole_of("1.0")
    (-12, None, None)
    """
    try:
        return int(word) if (word.isascii() and word.isdigit()) or _WHOLE.fullmatch(word) else None
    except ValueError:
        return None


def without_other_blanks(text: str) -> str:
    """The text, in which characters that Python takes for blanks, and C does not, are no blanks."""
    return _OTHER_BLANKS.sub("\ufffd", text)
