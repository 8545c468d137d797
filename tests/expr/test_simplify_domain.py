"""A simplified expression has the values and the domain of the one that was written: both by Arb at points, and by the library on
boxes, where neither may say what the other excludes."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infimum.evaluation.evaluator import Evaluator
from infimum.expr.build import build, index
from infimum.expr.node import Expr, const, var
from infimum.expr.rewriting_switches import without
from infimum.expr.simplify import RULES
from tests.oracle.arb_values import settled_value
from tests.oracle.generate import DERIVATIVE_ONLY, Generator
from tests.oracle.walk import UNDECIDED, Special

POINTS = (0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 1e-3, 0.25)


def agree(one: Expr, other: Expr, point: np.ndarray) -> bool:
    """Is one expression what the other is at this point? True if both were decided; an error if they differ."""
    a, b = settled_value(one, point), settled_value(other, point)
    if UNDECIDED in (a, b):
        return False
    if isinstance(a, Special) or isinstance(b, Special):
        assert a is b, (one, other, point, a, b)
    else:
        assert a.overlaps(b), (one, other, point, a, b)
    return True


def compatible(one: Expr, other: Expr, lo: np.ndarray, hi: np.ndarray) -> None:
    """What the library says of both on boxes (n, N)."""
    a, b = (Evaluator(f, lo.shape[0]).value(lo, hi) for f in (one, other))
    assert not ((a.empty & b.defined) | (b.empty & a.defined)).any()
    both = ~a.empty & ~b.empty
    assert ((a.lo <= b.hi) & (b.lo <= a.hi))[both].all()


@pytest.mark.parametrize("op", sorted(set(RULES) - DERIVATIVE_ONLY))
def test_random_expressions(op):
    decided = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        found = Generator(rng, 3).scalar(2, op)
        points = rng.choice(POINTS, (3, 8))
        decided += sum(agree(found.built, found.meant, p) for p in points.T)
    assert decided > 4


X = var("x", (2,))
A, B = index(X, 0), index(X, 1)
# what looks as if something could be left out, or put together
WRITTEN: dict[str, Callable[[], Expr]] = {
    "power of a power": lambda: build("pow", build("pow", A, 2.0), 0.5),
    "power of an odd power": lambda: build("pow", build("powi", A, k=3), build("div", 1.0, 3.0)),
    "whole exponent": lambda: build("pow", A, 3.0),
    "negative whole exponent": lambda: build("pow", A, -2.0),
    "exponent 0": lambda: build("pow", A, 0.0),
    "exponent 1/2": lambda: build("pow", A, 0.5),
    "exponents of both kinds": lambda: build("sum", build("pow", build("broadcast", A, shape=(3,)), const([2.0, 2.5, 0.0])),
                                             axes=(0,)),
    "any exponent": lambda: build("pow", A, B),
    "exponent that is added to 0": lambda: build("pow", A, build("add", 0.0, B)),
    "exponent of a root": lambda: build("pow", build("sqrt", A), build("mul", 2.0, B)),
    "zeroth power": lambda: build("powi", build("log", A), k=0),
    "product by zero": lambda: build("mul", 0.0, build("log", A)),
    "product of roots": lambda: build("mul", build("sqrt", A), build("sqrt", A)),
    "square of a root": lambda: build("powi", build("sqrt", A), k=2),
    "root of a square": lambda: build("sqrt", build("mul", A, A)),
    "root of squares": lambda: build("sqrt", build("add", build("mul", build("log", A), build("log", A)), build("mul", B, B))),
    "exponential of a logarithm": lambda: build("exp", build("log", A)),
    "logarithm of an exponential": lambda: build("log", build("exp", A)),
    "quotient of equals": lambda: build("div", A, A),
    "product with the inverse": lambda: build("mul", build("powi", A, k=-1), A),
    "inverse of the inverse": lambda: build("powi", build("powi", A, k=-1), k=-1),
    "difference of equals": lambda: build("sub", build("sqrt", A), build("sqrt", A)),
    "size of a power": lambda: build("abs", build("powi", A, k=-2)),
    "even power of a size": lambda: build("powi", build("abs", build("log", A)), k=4),
    "choice with an undefined branch": lambda: build("where", build("lt", 0.5, A), build("sqrt", B), build("log", B)),
    "choice of equals": lambda: build("where", build("lt", build("log", A), B), build("sqrt", A), build("sqrt", A)),
    "largest of equals": lambda: build("max", build("log", A), build("log", A)),
    "norm of one": lambda: build("hypot", build("neg", build("sqrt", A)), 0.0),
    "sum of a repeated number": lambda: build("sum", build("broadcast", build("log", A), shape=(3,)), axes=(0,)),
    "divided by a power of two": lambda: build("div", build("log", A), 4.0),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_what_looks_as_if_it_could_be_left_out(name):
    simple = WRITTEN[name]()
    with without("simplifications"):
        written = WRITTEN[name]()
    points = np.array([(a, b) for a in POINTS for b in POINTS])
    assert sum(agree(simple, written, p) for p in points) > 60
    ends = np.array([(a, b) for a in POINTS for b in POINTS if a <= b])
    boxes = np.array([(s, t) for s in ends for t in ends[::7]])
    compatible(simple, written, boxes[:, :, 0].T, boxes[:, :, 1].T)


@given(st.floats(-4, 4), st.sampled_from([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 0.5, 2.5, 1e-3]), st.floats(0, 3))
@settings(max_examples=80, deadline=None)
def test_a_constant_exponent_is_what_a_variable_of_that_value_is(lo, exponent, width):
    """On a box of the base: x**2.0, which is simplified, and x**y with y = [2, 2], which is not."""
    hi = lo + width
    known = Evaluator(build("pow", A, exponent), 2).value([lo, exponent], [hi, exponent])
    general = Evaluator(build("pow", A, B), 2).value([lo, exponent], [hi, exponent])
    assert bool(known.empty) == bool(general.empty) and bool(known.defined) == bool(general.defined)
    assert known.empty or (known.lo <= general.hi and general.lo <= known.hi)
