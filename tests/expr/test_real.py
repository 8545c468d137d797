"""infimum.pi and infimum.e are true constants: whatever NumPy does with them is exact or refused, never rounded unseen."""

import copy
import math
import pickle
import sys
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

import infimum
from infimum.errors import OptionError, TraceError
from infimum.expr.node import topological
from infimum.expr.real import doubles_around
from infimum.trace.trace import trace
from tests import children
from tests.oracle.arb_values import precision
from tests.oracle.check import position

K = np.arange(1.0, 4.0)
BIG = 2.0**60  # what rounding pi to a double loses is a hundred times this enclosure's width, and more

EXACT = {  # of pi: the same code runs on Arb's pi
    "a float": lambda p: 2.0 * p - 6.25, "an integer on the left": lambda p: 2**70 * p, "a power": lambda p: p**2 - p**-3,
    "a NumPy scalar on the left": lambda p: np.float64(2) * p, "an integer of NumPy": lambda p: np.int64(3) * p - np.int8(1),
    "a negative": lambda p: -p + abs(-p) * 3, "a quotient": lambda p: 1 / p + p / 3,
    "an array on the right": lambda p: np.sum(p * K), "an array on the left": lambda p: np.sum(K * p - p),
    "divided by an array": lambda p: np.sum(p / K), "an array divided": lambda p: np.sum(K / p),
    "a sum of a list": lambda p: np.sum([p] * 3), "a product of a list": lambda p: np.prod([p, 2.0, p]),
    "an array of both": lambda p: np.sum(np.array([p, 1.0]) * 3.0), "full": lambda p: np.sum(np.full(3, p)),
    "full of a product": lambda p: np.sum(np.full((2, 2), p / 2)), "asarray": lambda p: np.asarray(p) * 2.0,
    "where": lambda p: np.sum(np.where(K > 1, p, 0.5)), "dot": lambda p: np.dot(K, [p, p, 1.0]),
    "matmul": lambda p: K @ np.array([p] * 3),
    "outer": lambda p: np.sum(np.outer(K, [p, 1.0])), "concatenate": lambda p: np.sum(np.concatenate([[p], K])),
    "a running sum": lambda p: np.cumsum([p, p])[1], "a mean": lambda p: np.mean([p, p, 1.0]), "sine": lambda p: np.sin(p / 7),
    "sine of an array": lambda p: np.sum(np.sin(p * K)), "sine of objects": lambda p: np.sum(np.sin(np.array([p, p / 3]))),
    "a root": lambda p: 1 / np.sqrt(2 * p), "a real power": lambda p: p**0.5, "a general power": lambda p: 2**p,
    "added to zeros": lambda p: np.sum(np.zeros(3) + p), "Python's sum": lambda p: sum([p, p, 1]),
}


@pytest.mark.parametrize("name", EXACT)
def test_constants_stay_exact(name):
    """Made inside of the function and before it."""
    f = EXACT[name]
    before = f(infimum.pi)
    with precision(300):
        true = arb(1) * f(arb.pi())
        for traced in (lambda x: f(infimum.pi) * x[0], lambda x: before * x[0]):
            e = infimum.enclose(traced, [(BIG, BIG)])
            assert position(true * BIG, e.lo, e.hi) >= 0 and e.hi - e.lo <= 1e-14 * max(abs(e.hi), BIG)


def _added_in_place():
    y = np.zeros(3)
    y += infimum.pi


def _assigned():
    y = np.zeros(3)
    y[0] = infimum.pi


REFUSED = {
    "float": lambda: float(infimum.pi), "math": lambda: math.sin(2 * infimum.pi),
    "an array of floats": lambda: np.array([infimum.e], float), "astype": lambda: np.array([infimum.pi]).astype(float),
    "full_like": lambda: np.full_like(K, infimum.pi), "in place": _added_in_place, "an assignment": _assigned,
    "arange": lambda: np.arange(0, infimum.pi, 1.0), "linspace": lambda: np.linspace(0, infimum.pi, 5),
    "a rounded root": lambda: float(np.sqrt(infimum.pi)), "an equality that is not known": lambda: infimum.pi == np.pi,
    "too large": lambda: infimum.pi * 1e308 * 1e10, "floats of an array": lambda: np.asarray(infimum.pi * K, dtype=float),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_round_is_refused(name):
    with pytest.raises(TraceError):
        REFUSED[name]()


@pytest.mark.parametrize("operation", [
    lambda: infimum.pi * 1j, lambda: math.inf * infimum.pi, lambda: int(infimum.pi), lambda: infimum.pi % 2])
def test_what_has_no_meaning_is_a_type_error(operation):
    with pytest.raises(TypeError):
        operation()


def test_the_zeros_of_a_sine_are_not_lost():
    """With a rounded pi the value at x = 1 would seem to be at least 7."""
    r = infimum.minimize(lambda x: 1e16 * np.sum(np.abs(np.sin(infimum.pi * K * x[0]))), [(1, 1)])
    assert r.lower <= 0 <= r.upper


def test_bounds_hold_the_true_constants_and_points_are_doubles():
    r = infimum.minimize(lambda x: np.cos(x[0]), [(0, infimum.pi)])
    assert r.lower == -1.0 and r.verdict.name == "PROVED"
    with pytest.raises(OptionError, match="write np.pi"):
        infimum.minimize(lambda x: np.cos(x[0]), [(0, infimum.pi)], x0=[infimum.pi / 2])


def test_comparisons_answer_what_is_certain():
    pi = infimum.pi
    assert 3 < pi < 3.2 and pi >= 3 and not pi == 3 and pi != 4 and pi == pi and np.float64(3) < pi and np.less(pi, 4)
    assert pi * 0 == 0 and not pi * 0 and pi and hash(pi * 0 + 2) == hash(2.0) and max(pi, infimum.e) is pi
    for undecided in (lambda: pi <= np.pi, lambda: pi <= 1 * pi, lambda: pi == 1 * pi):
        with pytest.raises(TraceError, match="not known"):
            undecided()


def test_fractions_and_copies():
    third = Fraction(1, 3) * infimum.pi
    assert isinstance(third, infimum.Real) and third.lo <= math.pi / 3 <= third.hi
    assert pickle.loads(pickle.dumps(third)).hi == third.hi and copy.copy(third).lo == third.lo and f"{third:.3f}" == "1.047"


def test_the_true_constants_within_conditions_and_as_exponents():
    def f(x, pi):
        return np.where(x[0] < pi, x[0] ** pi, np.maximum(x[0], pi)) + np.heaviside(x[0] - pi, pi)
    for x in (0.7, 3.0, 4.0):
        e = infimum.enclose(lambda x: f(x, infimum.pi), [(x, x)])
        assert e.lo - 1e-12 <= f(np.array([x]), np.pi) <= e.hi + 1e-12 and e.hi - e.lo < 1e-12


def test_the_first_thing_done_with_a_constant_may_be_a_function_of_it():
    """In a process that has imported nothing else: as in a file that begins with ROOT = np.sqrt(infimum.pi)."""
    code = "import numpy as np, infimum; print(np.sqrt(infimum.pi), infimum.e * np.ones(2))"
    said = children.run(sys.executable, "-c", code, check=True)
    assert said.stdout.startswith("<traced []: sqrt(")


_NEAR_PI = Fraction(math.pi) + Fraction(1, 10**17)  # between the same doubles


def test_two_numbers_between_the_same_doubles_are_not_taken_for_one():
    both = trace(lambda x: infimum.pi * x[0] - _NEAR_PI * x[0], 1)
    assert both.args[0] is not both.args[1]
    same = trace(lambda x: infimum.pi * x[0] - infimum.pi * x[0] + Fraction(1, 3) * x[0] - Fraction(2, 6) * x[0], 1)
    assert len({id(node) for node in topological([same]) if node.op == "const"}) == 2
    with_roots = [trace(lambda x, c=c: np.sqrt(c * x[0]**2), 1) for c in (2.1, math.nextafter(2.1, 3), 2.100000000000001)]
    assert len({id(node) for node in with_roots}) == 3


@pytest.mark.parametrize("one, other", [
    (lambda pi: pi + pi, lambda pi: 2 * pi), (lambda pi: pi * 4 / 2, lambda pi: 2 * pi), (lambda pi: pi * pi, lambda pi: pi**2),
    (lambda pi: 1 - pi, lambda pi: -(pi - 1)), (lambda pi: pi, lambda pi: pickle.loads(pickle.dumps(pi))),
])
def test_one_number_written_in_two_ways_is_one_constant(one, other):
    assert one(infimum.pi).ends == other(infimum.pi).ends and one(infimum.pi).name == other(infimum.pi).name


def test_constraints_that_differ_by_less_than_doubles_tell_are_two():
    sides = [(1, 2)] * 2
    no = infimum.feasible(sides, [infimum.Constraint(lambda x: x[0] * x[1], end, end) for end in (infimum.pi, _NEAR_PI)],
                          max_boxes=2000)
    assert no.feasible is None
    yes = infimum.feasible([(0, 1)] * 2, lambda x: np.exp(infimum.pi * x[0] + x[1]) - np.exp(_NEAR_PI * x[0] + x[1]) >= 1e-16,
                           max_boxes=2000)
    assert yes.verdict.name != "INFEASIBLE"  # it is 2.6e-15 at (1, 0)


def test_numbers_beyond_doubles_are_told_apart_too():
    ends = [doubles_around(Fraction(10**400 + k)) for k in range(3)]
    assert len(set(ends)) == 3 and all(lo < hi == math.inf for lo, hi in ends)
