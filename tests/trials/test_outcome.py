"""What a trial gives, and what is said of functions that return something else than a number."""

import math
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint
from scipy.sparse import csr_array

import infimum
from infimum.blackbox.callables import PythonFunctions
from infimum.blackbox.outcome import Outcome, OutcomeKind, Tally
from infimum.blackbox.variables import Choices, Variables
from infimum.errors import BoundsError, OptionError, ShapeError, TrialError

UNIT = Variables.read([(-1, 1)] * 2)


def tried(fun, x=(0.25, 0.5), constraints=(), variables=UNIT, **more):
    return PythonFunctions(fun, variables, constraints, **more).evaluate(x)


# ---- values and indices
def test_a_trial_stops_at_the_first_violated_constraint():
    called = []

    def noting(name, value):
        return lambda x: called.append(name) or value
    box = PythonFunctions(noting("f", 7), UNIT, [noting("g1", -1.0), noting("g2", 0.5), noting("g3", -1.0)])
    outcome = box.evaluate([0.0, 0.0])
    assert called == ["g1", "g2"]
    assert (outcome.kind, outcome.index, outcome.values, outcome.value) == (OutcomeKind.VALUE, 2, (-1.0, 0.5), 0.5)
    assert box.constraints == 3


def test_a_constraint_that_is_zero_holds():
    assert tried(lambda x: 3, constraints=[lambda x: 0.0, lambda x: -0.0]).values == (0.0, -0.0, 3.0)


numbers = st.floats(allow_nan=True, allow_infinity=True)


@given(st.lists(numbers, min_size=1, max_size=5))
def test_the_index_is_that_of_the_first_that_decides(values):
    """Against the definition, spelt out; both for a function that stops there and for a program that computes everything."""
    constraints = len(values) - 1
    outcome = Outcome.of(values, constraints)
    for index, value in enumerate(values, start=1):
        if not math.isfinite(value):
            assert (outcome.kind, outcome.index, outcome.values) == (OutcomeKind.NAN, index, tuple(values[:index - 1]))
            break
        if value > 0 or index > constraints:
            assert (outcome.kind, outcome.index, outcome.value) == (OutcomeKind.VALUE, index, value)
            assert all(map(math.isfinite, outcome.values)) and outcome.values[:index] == tuple(values[:index])
            break
    parts = [lambda x, v=v: v for v in values]
    stopped = PythonFunctions(parts[-1], UNIT, parts[:-1]).evaluate([0, 0])
    assert (stopped.kind, stopped.index, stopped.value) == (outcome.kind, outcome.index, outcome.value)
    assert stopped.values == outcome.values[:stopped.index]


@pytest.mark.parametrize(("constraint", "expected"), [
    (lambda x: x[0] - 1, -0.75),                                                   # plain: <= 0
    ({"type": "ineq", "fun": lambda x: x[0] - 1}, 0.75),                           # SciPy's: >= 0
    ({"type": "ineq", "fun": lambda x, a: x[0] - a, "args": (1,)}, 0.75),
    ({"type": "INEQ", "fun": lambda x: x - 1}, 0.75),                              # the worst component
    (NonlinearConstraint(lambda x: x[0], -1, 0.125), 0.125),
    (NonlinearConstraint(lambda x: x, [0.5, 0], [1, 1]), 0.25),
    (infimum.Constraint(lambda x: x[0], ub=1), -0.75),
    (LinearConstraint([[1, 1], [1, 0]], ub=[0.5, 1]), 0.25),
    (LinearConstraint(csr_array([[1.0, 1.0]]), lb=1), 0.25),
    (Bounds([-1, 0.75], [1, 1]), 0.25),
    (NonlinearConstraint(lambda x: [x[0], math.nan], 0, 1), None),
])
def test_every_form_keeps_its_own_sign(constraint, expected):
    outcome = tried(lambda x: 5.0, constraints=constraint)
    assert outcome.kind is (OutcomeKind.NAN if expected is None else OutcomeKind.VALUE)
    assert outcome.values == (() if expected is None else (expected,) if expected > 0 else (expected, 5.0))


def test_a_constraint_without_ends_is_none():
    assert PythonFunctions(sum, UNIT, LinearConstraint([[1, 1]])).constraints == 0


@pytest.mark.parametrize(("constraint", "said"), [
    ({"type": "eq", "fun": sum}, "constraint 0: it is an equality, and trials hardly ever meet one: give a band"),
    (NonlinearConstraint(sum, 1, 1), "it is an equality"),
    (LinearConstraint([[1, 1]], [1], [1]), "it is an equality"),
    ({"type": "leq", "fun": sum}, "not 'leq'"),
    ({"type": "ineq", "fun": 3}, "must be a function"),
    ({"type": "ineq", "fun": sum, "bound": 3}, "not 'bound'"),
    (infimum.Constraint(sum, 2, 1), "lb is above ub"),
    (infimum.Constraint(sum, math.nan, 1), "lb is above ub, or one of them is NaN"),
    (infimum.Constraint(sum, "low", 1), "must be numbers"),
    (3, "of type int"),
    ("x[0] <= 1", "must be one or a list"),
    ([sum, "x[0] <= 1"], "constraint 1: it is of type str"),
])
def test_constraints_that_are_refused(constraint, said):
    with pytest.raises(OptionError, match=None) as error:
        PythonFunctions(sum, UNIT, constraint)
    assert said in str(error.value)


def test_a_matrix_must_fit():
    with pytest.raises(ShapeError, match="3\\), and there are 2 variables"):
        PythonFunctions(sum, UNIT, LinearConstraint([[1, 1, 1]], ub=1))


def test_a_function_cannot_spoil_the_point_for_the_next():
    def spoils(x):
        x[:] = 99
        return -1.0
    point = np.array([0.25, 0.5])
    assert tried(lambda x: x[0], point, [spoils]).value == 0.25
    assert point.tolist() == [0.25, 0.5]


def test_maximising_negates_the_function_alone():
    assert tried(lambda x: 3.0, constraints=[lambda x: -1.0], maximise=True).values == (-1.0, -3.0)


def test_further_arguments():
    assert tried(lambda x, a, b: x[0] + a + b, args=(1, 2)).value == 3.25
    assert tried(lambda x, a: x[0] + a, args=1).value == 1.25


# ---- failures
@pytest.mark.parametrize(("fun", "kind", "said"), [
    (lambda x: 1 / 0, OutcomeKind.EXCEPTION, "ZeroDivisionError: division by zero"),
    (lambda x: x[7], OutcomeKind.EXCEPTION, "IndexError"),
    (lambda x: exit(3), OutcomeKind.EXCEPTION, "SystemExit: 3"),
    (lambda x: math.nan, OutcomeKind.NAN, "nan"),
    (lambda x: np.float64(-np.inf), OutcomeKind.NAN, "-inf"),
    (lambda x: 10**400, OutcomeKind.NAN, "inf"),
])
def test_failures_are_kinds_of_their_own(fun, kind, said):
    outcome = tried(fun, constraints=[lambda x: -2.0])
    assert (outcome.kind, outcome.index, outcome.values, outcome.value) == (kind, 2, (-2.0,), None)
    assert said in outcome.text
    assert outcome.kind is OutcomeKind.NAN or __file__ in outcome.text


def test_a_very_long_message_is_cut_and_one_that_fails_is_said():
    class Broken(Exception):
        def __str__(self):
            raise RuntimeError

    def long(x):
        raise ValueError("z" * 10**6)

    def broken(x):
        raise Broken
    assert len(tried(long).text) < 2000 and "Broken" in tried(broken).text


def test_ctrl_c_is_no_failure_of_the_function():
    def interrupted(x):
        raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        tried(interrupted)


@pytest.mark.parametrize(("returned", "said"), [
    (np.zeros(3), "returned an array of the shape (3,): return one number, such as the sum of its elements"),
    ([1.0, 2.0], "returned a list of 2 elements"), ((), "a tuple of 0 elements"),
    ("0.5", "returned text, '0.5': return a number, as float(...)"), (np.array("0.5"), "returned text"),
    (1 + 2j, "returned a complex number, (1+2j): return a real one"), (np.array([1j]), "complex"),
    (None, "returned None: is a `return` missing"), ({}, "type dict"), (True, "returned True, a comparison"),
    (np.True_, "a comparison"), (np.array([True]), "a comparison"),
])
def test_what_is_no_number_is_refused_at_the_first_trial(returned, said):
    def model(x):
        return returned
    outcome = tried(model)
    with pytest.raises(TrialError) as error:
        Tally().add(outcome)
    assert said in str(error.value) and f"The function `model` ({__file__}:" in str(error.value)


@pytest.mark.parametrize(("returned", "value"), [(3, 3.0), (np.float32(0.5), 0.5), (np.array([[2.0]]), 2.0), (np.array(4), 4.0),
                                                 (Fraction(1, 2), 0.5), (np.int8(-3), -3.0)])
def test_what_is_a_number(returned, value):
    assert tried(lambda x: returned).values == (value,)


def test_a_comparison_as_constraint_is_refused_with_what_to_write():
    """True would count as 1 > 0, violated: the opposite of what is meant."""
    with pytest.raises(TrialError, match="Constraint 0 .*12 - x\\[0\\] for x\\[0\\] >= 12"):
        Tally().add(tried(sum, constraints=[lambda x: x[0] >= 0.1]))


@pytest.mark.parametrize("returned", [np.zeros(3), [1, 2, 3], "high", None, 1j, [], [True, False], [[1], [2, 3]]])
def test_a_constraint_with_ends_must_return_what_fits_them(returned):
    with pytest.raises(TrialError, match="Constraint 0"):
        Tally().add(tried(sum, constraints=infimum.Constraint(lambda x: returned, [0, 0], [1, 1])))


def test_a_function_that_was_good_before_has_failed_at_a_point():
    tally = Tally()
    tally.add(Outcome.of([1.0], 1))                     # g1 is violated: f has not returned anything yet
    with pytest.raises(TrialError):
        tally.add(Outcome.failed(OutcomeKind.NO_NUMBER, "f returned None", [-1.0]))
    tally.add(Outcome.of([-1.0, 2.0], 1))
    tally.add(Outcome.failed(OutcomeKind.NO_NUMBER, "f returned None", [-1.0]))
    assert tally.kinds[OutcomeKind.NO_NUMBER] == 1 and tally.is_hopeless == ""
    assert str(tally) == "3 trials, of which failed: 1 no number"


# ---- variables
def test_whole_numbers_and_choices():
    variables = Variables.read([(0.5, 3.5), ["a", "b", "c"], (0, 1), [10, 20, 30], Choices(0.1, 10.0)], [1, 0, 0, 0, 0])
    assert variables.lo.tolist() == [1, 0, 0, 0, 0] and variables.hi.tolist() == [3, 2, 1, 2, 1]
    assert variables.integers == (0, 1, 3, 4)
    x = variables.nearest([2.6, 1.2, 0.3, -5, 0.9])
    assert x.tolist() == [3, 1, 0.3, 0, 1] and variables.allowed(x)
    given = []
    tried(lambda x: given.append(x) or 0.0, x, variables=variables)
    assert given == [[3, "b", 0.3, 10, 10.0]] and type(given[0][0]) is int
    assert not variables.allowed([2.5, 1, 0.3, 0, 1]) and not variables.allowed([2, 1])


def test_whole_numbers_alone_are_an_array():
    given = []
    tried(lambda x: given.append(x) or 0.0, [2, 0.5], variables=Variables.read([(0, 4), (0, 1)], [1, 0]))
    assert isinstance(given[0], np.ndarray) and given[0].dtype == float


@pytest.mark.parametrize(("bounds", "more", "error", "said"), [
    ([(0, math.inf)], {}, BoundsError, "variable 0 are (0.0, inf): the trials of a black box are spread over the whole box"),
    ([(0, 1), (None, 1)], {}, BoundsError, "variable 1"), ([(1, 0)], {}, BoundsError, "reversed"), ([], {}, BoundsError, "empty"),
    ([(0.2, 0.8)], {"integrality": 1}, BoundsError, "variable 0 is a whole number, and there is none"),
    ([(0, 1)], {"integrality": 2}, OptionError, "integrality of variable 0 is 2"), ([(0, 1), []], {}, BoundsError, "variable 1"),
    ([(0, 1), (0, 1, 2)], {}, BoundsError, "variable 1 must be a pair"),
])
def test_bounds_that_are_refused(bounds, more, error, said):
    with pytest.raises(error) as raised:
        Variables.read(bounds, **more)
    assert said in str(raised.value)


def test_no_choices():
    with pytest.raises(OptionError, match="at least one"):
        Choices()
