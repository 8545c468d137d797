"""Constraints in all the forms in which users write them, and what is wrong with them."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint

import infimum
from infimum import Constraint
from infimum.evaluation.evaluator import Evaluator
from infimum.expr.node import const, var
from infimum.trace.constraint_reading import read_constraints
from tests.nets.internals import numbers_anew

INF = np.inf
X = np.array([2.0, -3.0, 0.5])


def squares(x):
    return x**2


def forgotten(x):
    x[0] >= 1  # noqa: B015


def system_of(given, integers=(), feasibility=0.0):
    return read_constraints(given, 3).system(const(0.0), integers, feasibility)


def read(given, x=X):
    """(value at x, lower, upper) of each constraint, as an Evaluator sees them."""
    system = system_of(given)
    rows = Evaluator(system.f, 3, system=system).rows(x, x)
    assert (rows.hi - rows.lo <= 1e-12 * np.abs(rows.hi)).all()
    return [(float(v), float(a), float(b)) for v, a, b in zip(rows.lo[1:], system.lower, system.upper, strict=True)]


@pytest.mark.parametrize(("given", "expected"), [
    (lambda x: x[0] + x[1] >= 12, [(-1, 12, INF)]),
    (lambda x: 12 <= x[0] + x[1], [(-1, 12, INF)]),
    (lambda x: x[0] <= x[1], [(5, -INF, 0)]),
    (lambda x: x[0] == x[1] ** 2, [(-7, 0, 0)]),
    (lambda x: 4 == 2 * x[0], [(4, 4, 4)]),
    (lambda x: x >= np.array([1.0, 2.0, 3.0]), [(2, 1, INF), (-3, 2, INF), (0.5, 3, INF)]),
    (lambda x: x.reshape(1, 3) <= np.zeros((2, 1)), [(2, -INF, 0), (-3, -INF, 0), (0.5, -INF, 0)] * 2),
    (lambda x: [x[0] >= 1, x[1] <= 0], [(2, 1, INF), (-3, -INF, 0)]),
    (lambda x: (x[0] >= 1, x[1:] == 0), [(2, 1, INF), (-3, 0, 0), (0.5, 0, 0)]),
    (lambda x: (x[0] >= 1) & (x[1] <= 0), [(2, 1, INF), (-3, -INF, 0)]),
    (lambda x: np.logical_and(x[0] >= 1, x[1] <= 0), [(2, 1, INF), (-3, -INF, 0)]),
    (lambda x: np.stack([x[0] >= 1, x[1] <= 0]), [(2, 1, INF), (-3, -INF, 0)]),
    (lambda x: np.all(x >= 0), [(2, 0, INF), (-3, 0, INF), (0.5, 0, INF)]),
    (lambda x: np.greater_equal(x[0], 1), [(2, 1, INF)]),
    ([lambda x: x[0] >= 1, lambda x: x[1] >= 1], [(2, 1, INF), (-3, 1, INF)]),
    (lambda x: np.floor(x[2]) == 0, [(0, 0, 0)]),
    (Constraint(squares, 1, 2), [(4, 1, 2), (9, 1, 2), (0.25, 1, 2)]),
    (Constraint(lambda x: [x[0], x[1] + x[2]], ub=[0, 1]), [(2, -INF, 0), (-2.5, -INF, 1)]),
    (Constraint(lambda x: x[0], Decimal("0.5"), Fraction(3, 4)), [(2, 0.5, 0.75)]),
    (NonlinearConstraint(squares, [0, 1, 2], INF), [(4, 0, INF), (9, 1, INF), (0.25, 2, INF)]),
    (NonlinearConstraint(lambda x: x[0], 0, 4), [(2, 0, 4)]),
    (LinearConstraint([[1, 2, 3], [3, 2, 1]], 0, [1, 2]), [(-2.5, 0, 1), (0.5, 0, 2)]),
    (LinearConstraint([1, 1, 1], 0, 1), [(-0.5, 0, 1)]),
    (LinearConstraint(sparse.csr_array([[1.0, 0, 2], [0, 3, 4]]), -1, 1), [(3, -1, 1), (-7, -1, 1)]),
    (Bounds([0, 0, 0], [1, 2, 3]), [(2, 0, 1), (-3, 0, 2), (0.5, 0, 3)]),
    ({"type": "eq", "fun": lambda x: x[0] - 1}, [(1, 0, 0)]),
    ({"type": "ineq", "fun": lambda x, a, b: a * x[0] - b, "args": (3, 4), "jac": None}, [(2, 0, INF)]),
    (Constraint(lambda x: 5.0, 0, 1), [(5, 0, 1)]),
    (lambda x: False, [(0, 1, INF)]),
])
def test_forms(given, expected):
    assert read(given) == expected


def test_rows_of_a_matrix_keep_their_numbers():
    labels = {(label.number, label.element): k for k, label in enumerate(system_of(
        [lambda x: x[0] >= 0, LinearConstraint([[1, 1, 0], [0, 0, 7], [0, 1, 1], [0, 0, 0]], [1, 2, 3, -1], INF)]).labels)}
    values = read([lambda x: x[0] >= 0, LinearConstraint([[1, 1, 0], [0, 0, 7], [0, 1, 1], [0, 0, 0]], [1, 2, 3, -1], INF)])
    assert [values[labels[1, k]] for k in range(3)] == [(-1, 1, INF), (3.5, 2, INF), (-2.5, 3, INF)]
    assert len(values) == 4  # the last row holds everywhere


def test_entries_given_twice_are_not_rounded_together():
    twice = sparse.coo_array(([1.0, 2.0**-60], ([0, 0], [0, 0])), shape=(1, 3))
    system = system_of(LinearConstraint(twice, 0, 0))
    rows = Evaluator(system.f, 3, system=system).rows([1.0, 0, 0], [1.0, 0, 0])
    assert rows.hi[1] > 1.0


def test_many_of_one_shape_are_one_body():
    read_ = read_constraints(lambda x: x[1:] - x[:-1] >= 0, 1000)
    assert len(read_.bodies) == 1 and read_.bodies[0].expr.shape == (999,)
    band = sparse.diags_array([np.ones(999), -np.ones(1000)], offsets=[1, 0])
    assert len(read_constraints(LinearConstraint(band, 0, 0), 1000).bodies) == 2  # the last row has one coefficient


@pytest.mark.parametrize("given", [
    lambda x: [x[i + 1] - 0.5 * i * x[i] ** 2 >= i for i in range(99)],
    [lambda x, i=i: x[i + 1] - 0.5 * i * x[i] ** 2 >= i for i in range(99)],
])
def test_loops_are_one_body(given):
    found = read_constraints([*([given] if callable(given) else given), lambda x: x[0] * x[50] <= 3], 100)
    assert [body.expr.shape for body in found.bodies] == [(99,), (1,)] and found.bodies[0].lower.tolist() == list(range(99))
    system, x = found.system(const(0.0), (), 0.0), np.linspace(-1, 2, 100)
    rows = Evaluator(system.f, 100, system=system).rows(x, x)
    expected = [*(x[i + 1] - 0.5 * i * x[i] ** 2 for i in range(99)), x[0] * x[50]]
    assert (rows.lo[1:] <= np.array(expected) + 1e-12).all() and (rows.hi[1:] >= np.array(expected) - 1e-12).all()
    assert [label.text for label in system.labels][-1] == "x[0] * x[50] <= 3"


# ---- ends that are no doubles
@pytest.mark.parametrize("given", [
    lambda x: x[0] >= infimum.pi, lambda x: x[0] <= infimum.pi, Constraint(lambda x: x[0], infimum.pi),
    Constraint(lambda x: x[0], Fraction(1, 3), Fraction(1, 3)), Constraint(squares, [0, Fraction(1, 3), 0.5], INF),
    Constraint(lambda x: x[0], Fraction(1, 3), infimum.pi), Constraint(lambda x: x[0], 10**17 + 1),
])
def test_ends_that_are_no_doubles_move_into_the_body(given):
    system = system_of(given)
    assert set(system.lower) | set(system.upper) <= {-INF, 0.0, INF} and (system.lower <= system.upper).all()


def test_which_is_exact():
    with numbers_anew():  # an earlier test may have met a number between the same two doubles
        third = system_of(Constraint(lambda x: x[0], Fraction(1, 3)))
    below, above = np.nextafter(1 / 3, 0.0), 1 / 3 + 2.0**-53
    evaluator = Evaluator(third.f, 3, system=third)
    assert evaluator.rows([below, 0, 0], [below, 0, 0]).hi[1] < 0 < evaluator.rows([above, 0, 0], [above, 0, 0]).lo[1]


def test_two_ends_of_which_one_is_no_double():
    system = system_of(Constraint(lambda x: x[0], [Fraction(1, 3)], [INF]))
    assert (system.lower.tolist(), system.upper.tolist()) == ([0.0], [INF])
    system = system_of(Constraint(squares, [1, Fraction(1, 3), -INF], [1, Fraction(1, 3), 2]))
    assert sorted(zip(system.lower.tolist(), system.upper.tolist(), strict=True)) == [(-INF, 0.0), (0.0, 0.0), (0.0, 0.0)]


# ---- constants
def test_constants_that_hold_are_noted():
    found = read_constraints([lambda x: True, lambda x: [2 >= 1, x[0] >= 1], Constraint(lambda x: np.array([1.0, 5.0]), 0, 2)], 3)
    assert [str(note) for note in found.notes] == ["constraint 0 holds everywhere", "constraint 1 holds everywhere",
                                                   "constraint 2[0] holds everywhere"]
    assert [body.lower.tolist() for body in found.bodies] == [[1.0], [0.0]]


@pytest.mark.parametrize("given", [(), None, [], lambda x: True, lambda x: [], LinearConstraint(np.eye(3), -INF, INF)])
def test_nothing_that_constrains(given):
    assert system_of(given) is None


def test_a_row_without_ends_still_says_where_a_function_is_defined():
    assert system_of(NonlinearConstraint(np.log, -INF, INF)).m == 3


# ---- relaxed
def test_relaxed_ends_are_rounded_outward():
    system = system_of([Constraint(lambda x: x[0], 1.0, 1.0), Constraint(lambda x: x[0], 0.0, 3.0)], feasibility=1e-17)
    assert system.lower.tolist() == [np.nextafter(1.0, 0.0), 0.0] and system.upper.tolist() == [np.nextafter(1.0, 2.0), 3.0]
    system = system_of(Constraint(lambda x: x[0], 1.0, 1.0), feasibility=0.25)
    assert (system.lower[0], system.upper[0]) == (0.75, 1.25)


def test_fractions_in_a_formula_are_exact():
    third = system_of(lambda x: x[0] >= Fraction(1, 3))
    rows = Evaluator(third.f, 3, system=third).rows(X, X)
    assert third.lower.tolist() == [0.0] and Fraction(rows.lo[1]) < Fraction(5, 3) < Fraction(rows.hi[1])
    assert read(lambda x: Fraction(1, 2) * x[0] <= Fraction(3, 4)) == [(1.0, -INF, 0.75)]


def test_keys_tell_systems_apart():
    keys = {system_of(given, integers, eps).key for given, integers, eps in [
        (lambda x: x[0] == 1, (), 0.0), (lambda x: x[0] == 2, (), 0.0), (lambda x: x[1] == 1, (), 0.0),
        (lambda x: x[0] >= 1, (), 0.0), (lambda x: x[0] == 1, (0,), 0.0), (lambda x: x[0] == 1, (), 0.5)]}
    assert len(keys) == 6 and system_of(lambda x: x[0] == 1).key in keys


# ---- what is wrong
@pytest.mark.parametrize(("given", "kind", "said"), [
    (lambda x: x[0] < 1, infimum.TraceError, r"test_constraint_reading.py:\d+, in `x\[0\] < 1`: .*Write <= or >="),
    (lambda x: x[0] > 1, infimum.TraceError, "Write <= or >="),
    (lambda x: x[0] != 1, infimum.TraceError, "Leave it out"),
    (lambda x: 0 <= x[0] <= 1, infimum.TraceError, r"\[0 <= x\[0\], x\[0\] <= 1\], or give the two ends: infimum.Constraint"),
    (lambda x: x[0] >= 0 and x[1] >= 0, infimum.TraceError, "Return a list of comparisons"),
    (lambda x: (x[0] <= 0) | (x[1] <= 0), infimum.TraceError, r"np.minimum\(g, h\) <= 0"),
    (lambda x: x[0] <= 0 or x[1] <= 0, infimum.TraceError, r"np.minimum\(g, h\) <= 0"),
    (lambda x: any(v <= 0 for v in x), infimum.TraceError, r"np.minimum\(g, h\) <= 0"),
    (lambda x: np.any(x <= 0), infimum.TraceError, r"np.any of comparisons is none.*np.minimum\(g, h\) <= 0"),
    (lambda x: not x[0] <= 0, infimum.TraceError, "Write the opposite comparison"),
    (lambda x: (v <= 0 for v in x), infimum.TraceError, r"Return a list of comparisons instead, \[g >= 0 for ...\]"),
    (lambda x: x <= np.array([1.0, np.inf, 2.0]), infimum.TraceError, r"infimum.Constraint\(fun, lb, ub\)"),
    (lambda x: x[0] * np.nan <= 1, infimum.TraceError, "NaN was combined"),
    (lambda x: ~(x[0] <= 0), infimum.TraceError, "Write the opposite comparison"),
    (lambda x: np.stack([x[0] <= 1, x[1] <= 2])[0], infimum.TraceError, "without picking some of them"),
    (lambda x: (x[0] <= 0) ^ (x[1] <= 0), infimum.TraceError, "must be a comparison"),
    (lambda x: x[0] ** 2, infimum.TraceError, r"returned a number.*Compare it .*infimum.Constraint\(fun, lb, ub\)"),
    (lambda x: x**2, infimum.TraceError, r"an array of numbers of shape \(3,\)"),
    (forgotten, infimum.TraceError, "in `forgotten`: The constraint returned None.*Is a `return` missing"),
    (lambda x: "x >= 1", infimum.TraceError, "a value of type str"),
    (lambda x: x[7] >= 1, infimum.UserFunctionError, "in `x.7.`: The function raised IndexError"),
    (Constraint(lambda x: x[0] >= 1, 0, 1), infimum.TraceError, "returned a comparison, and its values are wanted"),
    (Constraint(forgotten, 0, 1), infimum.TraceError, "The function returned None"),
    (Constraint(lambda x: [x[0], x[:2]], 0, 1), infimum.ShapeError, "different shapes. Join arrays with np.concatenate"),
    (Constraint(squares, [0, 1], 2), infimum.ShapeError, r"the shape \(3,\), and its lower ends have the shape \(2,\)"),
    (Constraint(squares, [0, np.nan, 1], 2), infimum.BoundsError, "the lower end of element 1 is NaN"),
    (Constraint(squares, 0, [1, 2, -1]), infimum.BoundsError, r"the ends of element 2 are reversed: 0 > -1"),
    (Constraint(squares, INF, INF), infimum.BoundsError, "a point at infinity"),
    (Constraint(squares, "a", 1), infimum.BoundsError, "the lower end is 'a', which is not a real number"),
    (Constraint(squares, 0, 10**400), infimum.BoundsError, "too large for a double"),
    (Constraint(3, 0, 1), infimum.OptionError, "fun must be a function of an array, not 3"),
    (LinearConstraint(np.eye(2), 0, 1), infimum.ShapeError, r"the shape \(2, 2\), and there are 3 variables"),
    ({"type": "leq", "fun": squares}, infimum.OptionError, "'eq' .* or 'ineq' .*, not 'leq'"),
    ({"type": "eq", "function": squares}, infimum.OptionError, "not 'function'"),
    (3, infimum.OptionError, "it is of type int; give a function that returns a comparison"),
])
def test_errors_name_the_constraint_and_the_cure(given, kind, said):
    with pytest.raises(kind, match=f"^constraint 1: .*{said}") as caught:
        read_constraints([lambda x: x[0] >= 0, given], 3)
    assert type(caught.value) is kind


def test_text_is_no_constraint():
    with pytest.raises(infimum.OptionError, match="constraints must be one or a list of these"):
        read_constraints("x >= 1", 3)


def test_the_error_of_the_user_is_kept():
    def broken(x):
        return 1 / 0 <= x[0]
    with pytest.raises(infimum.UserFunctionError, match=r"constraint 0: .*in `1 / 0`") as caught:
        read_constraints(broken, 3)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_chains_outside_constraints_keep_their_cure():
    with pytest.raises(infimum.TraceError, match=r"write \(0 <= x\[0\]\) & \(x\[0\] <= 1\), and np.where"):
        infimum.compile(lambda x: 0 <= x[0] <= 1, 1)


def test_arrays_of_the_variables_that_are_filled_one_by_one():
    def steps(x):
        y = np.zeros(2)
        y[0], y[1] = x[0] * x[1], x[2]
        return y >= 1
    assert read(steps) == [(-6, 1, INF), (0.5, 1, INF)]


def test_bodies_are_over_the_variables():
    body, = read_constraints(lambda x: x >= 0, 3).bodies
    assert body.expr is var("x", (3,))

# ---- what has been read wrongly before
def test_an_element_without_ends_must_still_be_defined():
    inf = np.inf
    for end in (3.0, infimum.pi):
        r = infimum.minimize(lambda x: x[1], [(-5, 5)] * 2,
                             constraints=infimum.Constraint(lambda x: np.log(x), [-inf, -inf], [end, inf]))
        assert r.lower == 0.0 and r.upper > 0.0
    r = infimum.minimize(lambda x: x[0] + x[1], [(0, 1)] * 2, constraints=infimum.Constraint(
        lambda x: np.sqrt(x - 0.5), [Fraction(1, 3), -inf], [inf, inf]))
    assert r.lower <= 0.5 + 0.5 + Fraction(1, 9) <= r.upper


def test_what_is_false_is_never_relaxed():
    r = infimum.minimize(lambda x: x[0], [(0, 1)], constraints=lambda x: [x[0] >= 0.5, 2 <= 1], feasibility=1.0)
    assert r.verdict.name == "INFEASIBLE"


def test_ends_are_compared_as_numbers_not_as_doubles():
    third, little = Fraction(1, 3), Fraction(1, 10**30)
    with pytest.raises(infimum.BoundsError, match="reversed"):
        infimum.minimize(lambda x: x[0], [(0, 1)], constraints=infimum.Constraint(lambda x: x[0], third + little, third))
    r = infimum.minimize(lambda x: x[0], [(0, 4)], time_limit=5.0, max_boxes=1000, constraints=infimum.Constraint(
        lambda x: x[0], infimum.pi, Fraction("3.14159265358979323")))
    assert r.verdict.name != "PROVED" and r.upper == np.inf
    r = infimum.minimize(lambda x: x[0], [(0, 1)], max_boxes=1000, feasibility=1e-3, constraints=infimum.Constraint(
        lambda x: x[0], third, third + little))
    assert r.upper >= third
