"""Expressions: sharing, keys, printing, and the simplifications with what they must not do."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infimum.expr import real
from infimum.expr.build import build, index, reduce
from infimum.expr.listing import listing
from infimum.expr.node import Expr, const, one_line, topological, var
from infimum.trace.trace import trace

X = var("x", (4,))
A, B = index(X, 0), index(X, 1)


def test_equal_expressions_are_one_object():
    assert build("sin", X) is build("sin", X)
    assert build("add", A, B) is not build("add", B, A)
    assert const([1.0, 2.0]) is const(np.array([1, 2]))
    assert const(-0.0) is const(0.0)  # zero has no sign


def test_expressions_are_immutable():
    with pytest.raises(AttributeError, match="immutable"):
        X.op = "sin"


def test_the_key_depends_on_content_alone():
    def one(x):
        return np.sum(np.sin(x) * 0.1)

    def two(x):

        return np.sum(np.sin(x) * 0.1)
    assert trace(one, 5).key == trace(two, 5).key
    keys = {trace(one, 6).key, trace(one, 5).key, trace(lambda x: np.sum(np.sin(x) * 0.2), 5).key,
            trace(lambda x: np.sum(np.cos(x) * 0.1), 5).key, build("slice", X, starts=(0,), steps=(1,), counts=(2,)).key,
            build("slice", X, starts=(1,), steps=(1,), counts=(2,)).key, const(1.0, 2.0).key, const(1.0).key}
    assert len(keys) == 8


def test_nodes_know_the_users_line():
    f = trace(lambda x: np.exp(x[0]), 2)
    assert f.line.startswith(__file__) and f.line.rsplit(":", 1)[1].isdigit()


@pytest.mark.parametrize(("got", "wanted"), [
    (build("mul", X, X), build("powi", X, k=2)),
    (build("mul", build("mul", X, X), X), build("powi", X, k=3)),
    (build("mul", build("powi", X, k=3), build("powi", X, k=2)), build("powi", X, k=5)),
    (build("pow", X, 2.0), build("powi", X, k=2)),
    (build("pow", X, 0.5), build("sqrt", X)),
    (build("powi", build("abs", X), k=4), build("powi", X, k=4)),
    (build("powi", build("powi", X, k=2), k=3), build("powi", X, k=6)),
    (build("sqrt", build("mul", X, X)), build("abs", X)),
    (build("sqrt", build("powi", X, k=6)), build("powi", build("abs", X), k=3)),
    (build("sqrt", reduce("sum", build("mul", X, X))), reduce("norm", X)),
    (build("sqrt", build("add", build("mul", A, A), build("mul", B, B))), build("hypot", A, B)),
    (build("sqrt", build("mul", 4.0, build("mul", A, A))), build("mul", 2.0, build("abs", A))),
    (build("abs", build("neg", X)), build("abs", X)),
    (build("neg", build("neg", X)), X),
    (build("add", X, 0.0), X),
    (build("sub", 0.0, X), build("neg", X)),
    (build("sub", A, build("neg", B)), build("add", A, B)),
    (build("mul", 1.0, X), X),
    (build("mul", -1.0, X), build("neg", X)),
    (build("mul", 2.0, build("mul", 8.0, X)), build("mul", 16.0, X)),
    (build("div", X, 4.0), build("mul", 0.25, X)),
    (build("add", 1.0, 2.0), const(3.0)),
])
def test_simplified(got, wanted):
    assert got is wanted


@pytest.mark.parametrize("expression", [
    build("sub", A, A), build("mul", 0.0, A), build("powi", A, k=0), build("div", A, A),
    build("mul", build("powi", A, k=-1), A), build("powi", build("powi", A, k=-1), k=-1),
    build("sub", build("log", A), build("log", A)),
])
def test_nothing_that_may_be_undefined_is_dropped(expression):
    """The variable is still there, so its domain and status are."""
    assert A in set(topological([expression])) and expression.op != "var"


def test_inexact_constants_do_not_combine():
    assert build("mul", 3.0, build("mul", 0.1, X)).args[1].op == "mul"  # 0.3 is no product of 3 and 0.1
    assert build("div", X, 3.0).op == "div"
    assert build("add", 0.1, 0.2).op == "add"


@given(st.floats(min_value=1e-300, max_value=1e300))
def test_the_root_of_a_constant_factor_is_enclosed(c):
    real._taken.clear()  # the numbers of other tests, from which this one would be told apart
    f = build("sqrt", build("mul", c, build("mul", A, A)))
    if f.op == "abs":
        assert c == 1.0
        return
    factor = f.args[0]
    assert Fraction(float(factor.lo)) ** 2 <= Fraction(c) <= Fraction(float(factor.hi)) ** 2
    assert factor.hi <= float(factor.lo) + 3 * math.ulp(float(factor.lo))  # up to three roots lie between the same doubles


def test_shared_parts_are_printed_once():
    s = build("sin", A)
    text = listing(build("mul", build("add", s, 1.0), build("sub", s, 2.0)))
    assert text.count("sin(") == 1 and text.splitlines()[-1].startswith("return %")
    assert one_line(build("add", A, 1.5)).endswith("+ 1.5)")


def test_long_formulas_are_cut_but_the_listing_is_whole():
    f: Expr = A
    for _ in range(300):
        f = build("sin", build("add", f, B))
    assert len(one_line(f)) < 500 and listing(f).count("sin(") == 300


def test_every_exponent_and_those_of_its_derivatives_are_doubles():
    k = 2**31
    large = build("powi", A, k=k)
    assert build("powi", large, k=2)["k"] == 2 and build("mul", large, large)["k"] == 2
    assert build("mul", large, A).op == "mul" and build("powi", A, k=-k)["k"] == -k
    for no_exponent in (2**53 + 1, -(2**60)):
        with pytest.raises(OverflowError, match="exponent"):
            build("powi", A, k=no_exponent)
