"""The record of an operation: everything that the package knows of it, apart from how single algorithms make use of it."""

from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple

from infimum.interval.pair import UNDEFINED


class Kind(Enum):
    """How an operation treats the shapes of its arguments."""

    LEAF = "leaf"      # no argument
    MAP = "map"        # element by element; arguments already have the shape of the result
    TEST = "test"      # element by element, the result is a truth value, only `where` and logic take it
    VIEW = "view"      # rearranges elements, computes nothing
    REDUCE = "reduce"  # combines the elements along `axes` in the fixed tree shape
    SCAN = "scan"      # running combination along the last axis


class Edge(NamedTuple):
    """One end of a domain: its place, and whether the function is defined there."""

    at: float
    closed: bool


class Inflection(NamedTuple):
    """A curve that is convex before some z and concave behind it (`turn` 1, or -1 for the opposite; it may be a lane value).

    From a point of the curve at the distance r of z, the tangent on the other side touches it at about r ratio / sqrt(1 +
    falls r²) from z. `place` tells for an interval minus the lower end and the upper end of z, the turn, and where there is
    one; None: z is 0 everywhere.
    """

    turn: int
    ratio: float
    falls: float = 0.0
    place: "Callable[[Any, Any], tuple[Any, Any, Any, Any]] | None" = None


class Obstacle(NamedTuple):
    """What a message says of the operand that spoils an enclosure: where the operation is undefined, and where it is unbounded,
    jumps, is steep or has a kink."""

    undefined: str
    irregular: str
    operand: int = 0
    pole: bool = False
    jump: bool = False


class Operation(NamedTuple):
    """One operation. The rules that a run needs:

    * `enclose(b, *pairs, **params)`: the enclosure on intervals, in upward-rounded primitives, with its status. A test gives a
      `Truth`.
    * `estimate(b, *values, **params)`: one double near the value, NaN outside the domain. Never a proof.
    * `inverse`: for each argument, the rule for what the result implies of it, or None (`ops/inverse_rules.py`); () if nothing is
      known. A reduction has one rule, for an element given the reduction of the others.
    * `derivative(e, node, adjoint, i)`: what the node sends back to argument number i, written in operations that have
      derivatives themselves: `e.sin(x)` is a sine (`expr/derivative_rules.py`).

    The other fields are facts, each of which may be left at its default: then less is known.
    """

    name: str
    meaning: str
    arity: int = 1                         # -1: any number
    kind: Kind = Kind.MAP
    enclose: Callable | None = None
    estimate: Callable | None = None
    inverse: tuple[Callable | None, ...] = ()
    derivative: Callable | None = None     # those of views, reductions and scans: `expr/array_derivative_rules.py`
    numpy: str = ""                        # names of NumPy's functions of the same meaning
    scipy: str = ""                        # names of those of scipy.special
    float_result: bool = False             # does NumPy give floats for integers?
    status: int = UNDEFINED                # on every bounded box, for arguments that are smooth there: at least this level
    least: int = -1                        # 1 if every value is positive, by an enclosure too; 0 if none is negative
    unit: bool = False                     # do all values lie in [-1, 1]?
    whole: str = ""                        # "always" a whole number, or "kept" whole if all arguments are
    curvature: int | None = None           # 1 convex, -1 concave where it is defined, 0 by its second derivative; None: unknown
    increasing: bool = False               # in every argument
    inflection: Inflection | Callable[..., Inflection | None] | None = None  # a function of the parameters, if there are any
    tangents: bool = False                 # may it be in a term whose excess over its tangent is enclosed on slices?
    # A point, and the value and the first derivatives there. The function is smooth inside its domain, an interval with the point
    # in it, which thus contains the segment from the point to any place where the function is defined. (Not so the tangent's.)
    taylor: tuple[float, tuple[float, ...]] | None = None
    cost: int = 24                         # roughly the instructions for one element; of a reduction, for combining two
    costly_inverse: bool = False           # is an inverse rule asked only where the result is narrower than the enclosure?
    obstacle: Obstacle = Obstacle("", "")
    of_two: str = ""                       # the operation on two numbers that a reduction repeats
    neutral: tuple[float, float] | None = None  # of a reduction: of nothing, as (-lo, hi)
