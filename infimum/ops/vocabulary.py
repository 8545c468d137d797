"""The vocabulary of expressions: one row an operation. Nothing else may appear in an `Expr`."""

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """How an operation treats the shapes of its arguments."""

    LEAF = "leaf"      # no argument
    MAP = "map"        # element by element; arguments already have the shape of the result
    TEST = "test"      # element by element, the result is a truth value, only `where` and logic take it
    VIEW = "view"      # rearranges elements, computes nothing
    REDUCE = "reduce"  # combines the elements along `axes` in the fixed tree shape
    SCAN = "scan"      # running combination along the last axis


@dataclass(frozen=True, slots=True)
class Op:
    """A row of the table: name, how it treats shapes, number of arguments (-1: any), and what it means."""

    name: str
    kind: Kind
    arity: int
    meaning: str


def _rows(kind: Kind, arity: int, table: dict[str, str]) -> dict[str, Op]:
    return {name: Op(name, kind, arity, meaning) for name, meaning in table.items()}


OPS: dict[str, Op] = {
    **_rows(Kind.LEAF, 0, {
        "var": "an input vector (params: name)",
        "const": "an array of real numbers, each known to lie between two doubles (equal where the number is a double)",
    }),
    **_rows(Kind.MAP, 1, {
        "neg": "-x", "abs": "|x|", "sqrt": "square root, x >= 0", "cbrt": "cube root, all x",
        "powi": "x**k for the integer k (params: k); x != 0 for k < 0",
        "exp": "e**x", "exp2": "2**x", "expm1": "e**x - 1",
        "log": "natural logarithm, x > 0", "log2": "x > 0", "log10": "x > 0", "log1p": "log(1 + x), x > -1",
        "sin": "sine", "cos": "cosine", "tan": "tangent, x not an odd multiple of pi/2",
        "arcsin": "-1 <= x <= 1", "arccos": "-1 <= x <= 1", "arctan": "all x",
        "sinh": "all x", "cosh": "all x", "tanh": "all x",
        "arcsinh": "all x", "arccosh": "x >= 1", "arctanh": "-1 < x < 1",
        "erf": "2/sqrt(pi) times the integral of exp(-t*t) from 0 to x", "erfc": "1 - erf x",
        "lgamma": "logarithm of the gamma function, x > 0",
        "polygamma": "derivative number m + 1 of lgamma (params: m >= 0), x > 0",
        "expit": "1 / (1 + e**-x)", "xlogx": "x log x, x >= 0; 0 at 0",
        "sign": "-1, 0 or 1", "floor": "greatest integer <= x", "ceil": "least integer >= x",
        "rint": "nearest integer, of two equally near the even one",
        "spline": "the polynomial of the piece that x is in (params: table, a `SplineTable`)",
        "slope": "generalised derivative of |x|: the sign, [-1, 1] where 0 is met",
    }),
    **_rows(Kind.MAP, 2, {
        "add": "x + y", "sub": "x - y", "mul": "x * y", "div": "x / y, y != 0",
        "pow": "x**y = exp(y log x), x > 0; 0**y = 0 for y > 0, 0**0 = 1; for x < 0 and a whole number y (-1)**y |x|**y",
        "arctan2": "angle of the point (y, x); not both 0", "hypot": "sqrt(x*x + y*y)",
        "logaddexp": "log(e**x + e**y)",
        "min": "the smaller", "max": "the larger",
        "step": "generalised derivative of max(x, y) by x: 1 where x > y, 0 where x < y, [0, 1] where they meet",
        "ratio": "x / y for |x| <= y, in [-1, 1] even where y = 0: derivative of a norm",
    }),
    **_rows(Kind.MAP, 3, {"where": "the second argument where the first (a test) is true, else the third"}),
    **_rows(Kind.TEST, 2, {"lt": "x < y", "le": "x <= y", "eq": "x == y", "and": "both", "or": "either"}),
    **_rows(Kind.TEST, 1, {"not": "the opposite"}),
    **_rows(Kind.VIEW, 1, {
        "reshape": "same elements in row-major order (its shape)",
        "transpose": "axes permuted (params: perm)",
        "broadcast": "repeated to a larger shape (its shape)",
        "slice": "along each axis `count` elements from `start` in steps of `step` (params: starts, steps, counts)",
        "embed": "zeros of a shape with the argument laid in: the adjoint of slice (params: starts, steps)",
        "gather": "elements of a vector by position (params: index, an `Index`)",
        "scatter": "element j is the sum of the elements i with index[i] == j: the adjoint of gather (params: index, size)",
    }),
    **_rows(Kind.VIEW, -1, {"concat": "vectors laid end to end"}),
    **_rows(Kind.REDUCE, 1, {
        "sum": "sum (params: axes)", "prod": "product (params: axes)", "amin": "smallest (params: axes)",
        "amax": "largest (params: axes)", "norm": "square root of the sum of squares (params: axes)",
    }),
    **_rows(Kind.SCAN, 1, {
        "cumsum": "running sum (params: reverse, exclusive)", "cumprod": "running product (params: reverse, exclusive)",
        "cummin": "running minimum (params: reverse, exclusive)", "cummax": "running maximum (params: reverse, exclusive)",
    }),
    **_rows(Kind.SCAN, 2, {"recur": "r[i] = a[i] + m[i] * r[i-1] for the arguments a and m (params: reverse)"}),
}
