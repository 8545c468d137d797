"""Elementary functions of our own, with proved error bounds.

Each module has a table `FUNCTIONS` from a name to an `Elementary` row. The code is written with a builder `b` of
upward-rounded primitives; `b.outline(name, code, …)` keeps a piece out of line, compiled once in a process.
"""

from collections.abc import Callable
from importlib import import_module

from infimum.support.lazy import dataclass


@dataclass(frozen=True, slots=True)
class Elementary:
    """A row: how to enclose f on an interval, how to estimate it at a point, and what was proved.

    `enclose(b, nlo, hi, …)` writes the enclosure of f over [-nlo, hi] (for two arguments: over both pairs) as a pair (-lo, hi).
    The argument is a nonempty, possibly unbounded interval inside the closure of the domain; ends at the edge of the domain
    give the limit (log of 0 is -inf). `estimate(b, x, …)` writes one double near f(x); NaN or any number outside the domain.
    `ulps` bounds the width of the enclosure of a single point; `proof` says where the bound comes from. `short`: the enclosure is
    little more than calls of one function, and written where it is needed, so that ends which occur twice are computed once.
    """

    enclose: Callable
    estimate: Callable
    ulps: int
    proof: str
    short: bool = False


_HOMES = {name: module for module, names in {
    "exponential": "exp exp2 expm1 sinh cosh tanh", "logarithm": "log log2 log10 log1p arcsinh arccosh arctanh", "power": "pow",
    "trigonometric": "sin cos tan", "inverse_trigonometric": "arctan arcsin arccos arctan2", "roots": "cbrt hypot",
    "logistic": "expit logaddexp xlogx", "error_function": "erf erfc", "gamma": "lgamma",
}.items() for name in names.split()}


def row(name: str) -> Elementary:
    """The table row of an elementary function."""
    return import_module(f"infimum.interval.elementary.{_HOMES[name]}").FUNCTIONS[name]


NAMES = tuple(_HOMES)
