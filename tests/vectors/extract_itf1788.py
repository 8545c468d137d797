"""Rewrites the table itf1788.csv from the ITF1788 test files: python tests/vectors/extract_itf1788.py FOLDER

Only the figures are taken: an operation, the intervals it is applied to, and the tightest interval that encloses the result,
with the decorations where they are given. What the figures come from, and under which licences, stands in README.md.
"""

import math
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

TABLE = Path(__file__).with_name("itf1788.csv")
HEADER = """\
# Interval test vectors of the ITF1788 framework (github.com/oheim/ITF1788): figures only; authors and licences in README.md.
# box: the ends of each argument in turn; result: the tightest enclosure; an empty interval is "inf -inf".
# given: the weakest decoration of the arguments; decoration: that of the result; both empty in a row of bare intervals.
# files: e = libieeep1788_elem, m = mpfi, f = fi_lib, c = c-xsc, a = atan2.
operation,box,result,given,decoration,files
"""
FILES = {"libieeep1788_elem": "e", "mpfi": "m", "fi_lib": "f", "c-xsc": "c", "atan2": "a"}
OPERATIONS = frozenset(
    "neg add sub mul div recip sqr sqrt fma pown rootn cbrt pow exp exp2 expm1 log log2 log10 logp1 sin cos tan asin acos atan "
    "atan2 sinh cosh tanh asinh acosh atanh sign ceil floor abs min max hypot".split())
ROOTS = frozenset({3})  # the only rootn that is an operation of ours
DECORATIONS = ("trv", "def", "dac", "com")  # from the weakest to the strongest

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_TESTCASE = re.compile(r"testcase\s+\S+\s*\{(.*?)\}", re.DOTALL)
_STATEMENT = re.compile(r"(\w+)\s+([^;=]*?)\s*=\s*([^;]*?)\s*;")
_OPERAND = re.compile(r"\[([^\]]*)\](?:_(\w+))?|([-+]?\d+)(?=\s|$)")
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Row:
    """A statement: which operation (an integer exponent is part of its name), on what, and what it must enclose."""

    operation: str
    box: tuple[Interval, ...]
    result: Interval
    given: str = ""
    decoration: str = ""

    @property
    def empty_argument(self) -> bool:
        return any(lo > hi for lo, hi in self.box)

    @property
    def point(self) -> bool:
        """Is every argument a single number?"""
        return all(lo == hi for lo, hi in self.box)


def number(text: str, outward: float) -> float:
    """A literal. Decimal ones mean the nearest double; a hexadecimal one of more than 53 bits is rounded towards `outward`.

    Only a few ends of results have 54 bits. They were rounded outward, so rounding them outward again gives the tightest double.
    """
    text = text.strip().lower()
    if "0x" not in text:
        return float(text)
    sign, digits, places, exponent = re.fullmatch(r"([-+]?)0x([0-9a-f]+)\.?([0-9a-f]*)p([-+]?\d+)", text).groups()
    exact = Fraction(int(digits + places, 16)) * Fraction(2) ** (int(exponent) - 4 * len(places)) * (-1 if sign == "-" else 1)
    value = float.fromhex(text)
    inside = Fraction(value) > exact if outward < 0 else Fraction(value) < exact
    return math.nextafter(value, outward) if inside else value


def interval(text: str) -> Interval | None:
    """The inside of a pair of brackets; None for `nai`, which is not an interval."""
    words = {"empty": (math.inf, -math.inf), "entire": (-math.inf, math.inf), "nai": None}
    if text.strip() in words:
        return words[text.strip()]
    lo, _, hi = text.partition(",")
    return number(lo, -math.inf), number(hi or lo, math.inf)


def statements(text: str) -> Iterator[Row]:
    """The rows of one file for operations that we have."""
    for body in _TESTCASE.findall(_COMMENT.sub("", text)):
        for name, operands, outcome in _STATEMENT.findall(body):
            if name in OPERATIONS:
                row = _row(name, _OPERAND.findall(operands), _OPERAND.findall(outcome))
                if row is not None:
                    yield row


def _row(name: str, operands: list, outcome: list) -> Row | None:
    integers = [int(k) for _, _, k in operands if k]
    if name == "rootn" and integers[0] not in ROOTS:
        return None
    intervals = [interval(inside) for inside, _, k in (*operands, *outcome) if not k]
    if None in intervals:
        return None
    decorations = [decoration for _, decoration, k in operands if not k]
    given = min(decorations, key=DECORATIONS.index) if all(decorations) else ""
    return Row(" ".join([name, *map(str, integers)]), tuple(intervals[:-1]), intervals[-1], given, outcome[0][1])


def _numeral(value: float) -> str:
    return repr(value).removesuffix(".0")


def _line(row: Row, files: str) -> str:
    box, result = (" ".join(_numeral(end) for pair in pairs for end in pair) for pairs in (row.box, (row.result,)))
    return ",".join([row.operation, box, result, row.given, row.decoration, files])


def extract(folder: Path) -> str:
    """The text of the table: statements sorted, equal ones once."""
    found: dict[str, str] = {}
    for name, letter in FILES.items():
        for row in statements((folder / f"{name}.itl").read_text(encoding="utf-8")):
            line = _line(row, "")
            found[line] = found.get(line, "") + ("" if letter in found.get(line, "") else letter)
    return HEADER + "".join(f"{line}{files}\n" for line, files in sorted(found.items()))


def read_table() -> list[Row]:
    """The committed table."""
    rows = []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#") and not line.startswith("operation,"):
            operation, box, result, given, decoration, _ = line.split(",")
            ends = [float(end) for end in (*box.split(), *result.split())]
            pairs = tuple(zip(ends[::2], ends[1::2], strict=True))
            rows.append(Row(operation, pairs[:-1], pairs[-1], given, decoration))
    return rows


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    TABLE.write_text(extract(Path(sys.argv[1])), encoding="utf-8")
