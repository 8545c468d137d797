"""Pair: an enclosure inside a kernel, with what is known of it before any number is."""

from math import floor
from typing import Any, NamedTuple

INF = float("inf")

# The status of an enclosure is one number a lane: each level implies those below it. Where a value is UNDEFINED at a point of the
# box, NumPy has NaN there, so that comparisons with it are false; at a POLE it may go on with a number (1 / 0 is infinite, its
# arctangent is not, and NaN**0 is 1), so that a comparison may come out either way. SMOOTH is twice continuously differentiable
# on a neighbourhood of the closed box: all that second order reads.
POLE, UNDEFINED, DEFINED, LIPSCHITZ, SMOOTH = -1, 0, 1, 2, 3


class Pair(NamedTuple):
    """[-nlo, hi] and its status; Empty is (-inf, -inf).

    `level`: a static level or a lane value holding one. The other fields are static facts: `may_be_empty`; `least` is 1 if the
    lower end is certainly > 0, 0 if certainly >= 0, else -1; `most` is -1 if the upper end is certainly < 0, 0 if <= 0, else 1;
    `point` is the double itself where both ends are one constant double; `nonzero` that this double is not 0;
    `zero` that the enclosure is exactly [0, 0], whatever the lane; `unit` that it lies in [-1, 1] (or is empty); `whole` is 1 if
    it is a whole number at every point where it is defined, and constant wherever it is continuous, -1 if it is nowhere one.
    """

    nlo: Any
    hi: Any
    level: Any = SMOOTH
    may_be_empty: bool = False
    least: int = -1
    most: int = 1
    point: Any = None
    nonzero: bool = False
    zero: bool = False
    unit: bool = False
    whole: int = 0

    def lo(self, b) -> Any:
        """The lower end."""
        return b.neg(self.nlo)

    def but(self, **facts: Any) -> "Pair":
        return self._replace(**facts)


def exact(b, value: float) -> Pair:
    """A small constant of a rule itself."""
    return Pair(b.const(-value), b.const(value), least=(value > 0) - (value < 0), most=(value > 0) - (value < 0),
                point=b.const(value), nonzero=value != 0, zero=value == 0, whole=1 if value == floor(value) else -1)


def whole_sum(x: Pair, y: Pair) -> int:
    """The fact `whole` of x + y and x - y: a whole number moves one that is none to another such."""
    return x.whole * y.whole if 1 in (x.whole, y.whole) else 0


def both_whole(x: Pair, y: Pair) -> int:
    """The fact `whole` of what is a whole number if x and y are, and of which nothing is known otherwise."""
    return int(x.whole == y.whole == 1)


def lowest(b, *levels: Any) -> Any:
    """The lowest of several levels: static where possible."""
    static = min([SMOOTH, *(x for x in levels if isinstance(x, int))])
    result: Any = static
    for level in levels:
        if not isinstance(level, int):
            result = level if isinstance(result, int) and result == SMOOTH else b.min(b_level(b, result), level)
    return static if static == POLE else result


def b_level(b, level: Any) -> Any:
    """A level as a lane value."""
    return b.const(float(level)) if isinstance(level, int) else level


def where_level(b, mask: Any, yes: Any, no: Any) -> Any:
    """The level `yes` where the mask holds, else `no`."""
    return b.select(mask, b_level(b, yes), b_level(b, no))


def forgets_nan(b, level: Any) -> Any:
    """The level of an operation that may make a number of NaN."""
    if isinstance(level, int):
        return level if level >= DEFINED else POLE
    return where_level(b, b.oge(level, float(DEFINED)), level, POLE)


def is_empty(b, x: Pair) -> Any:
    """In which lanes x is empty."""
    return b.oeq(x.nlo, -INF)


def absorb(b, result: Pair, *operands: Pair) -> Pair:
    """Empty where an operand is empty."""
    risky = [x for x in operands if x.may_be_empty]
    return cut(b, result, *(is_empty(b, x) for x in risky))


def cut(b, result: Pair, *masks: Any) -> Pair:
    """Empty where one of the masks holds; the level says there already that something is undefined."""
    if not masks:
        return result
    hit = masks[0]
    for mask in masks[1:]:
        hit = b.mor(hit, mask)
    return result.but(nlo=b.select(hit, -INF, result.nlo), hi=b.select(hit, -INF, result.hi), may_be_empty=True, zero=False,
                      point=None)
