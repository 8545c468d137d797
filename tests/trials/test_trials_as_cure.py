"""Where tracing fails, the error names trials as a cure, if they are one, and says what has to be changed for them."""

import json
import math
import re

import numpy as np
import pytest

import infimum

SQUARE = [(0.0, 1.0)] * 2


def bowl(x):
    return (x[0] - 0.25) ** 2 + (x[1] - 0.5) ** 2


def test_what_cannot_be_traced_can_be_tried():
    with pytest.raises(infimum.TraceError, match=r'math.sin.*by trials alone, without a proof: engine="index"\.$'):
        infimum.minimize(lambda x: math.sin(x[0]), [(0, 1)])
    for asks in (lambda f: infimum.compile(f, 1), lambda f: infimum.enclose(f, [(0, 1)]), lambda f: infimum.fit(
            lambda t, a: t * f([a]), [1.0, 2.0], [1.0, 2.0], bounds={"a": (0, 1)})):
        for function in (lambda x: math.sin(x[0]), lambda x: float(str(x[0])), lambda x: json.dumps(x[0])):
            with pytest.raises(infimum.TraceError) as caught:
                asks(function)
            assert "index" not in str(caught.value)


TRIALS = 'solved by trials alone, without a proof: engine="index".'


@pytest.mark.parametrize(("constraints", "cure", "instead"), [
    (lambda x: math.sin(x[0]) <= 0.5, "returns a number that is <= 0 where x is allowed", lambda x: math.sin(x[0]) - 0.5),
    (infimum.Constraint(lambda x: math.sin(x[0]), 0.25, 0.25), "change constraint 0: it is an equality, .* give a band",
     infimum.Constraint(lambda x: math.sin(x[0]), 0.249, 0.251)),
    (infimum.Constraint(lambda x: math.sin(x[0]), 0.25, 0.5), None, None),
    ({"type": "ineq", "fun": lambda x: math.sin(x[0])}, None, None)])
def test_a_constraint_that_cannot_be_traced_can_be_tried(constraints, cure, instead):
    """What the error tells to do is done, and works."""
    with pytest.raises(infimum.TraceError, match=f"constraint 0: .*math.sin.*{re.escape(TRIALS)}" + (
            "$" if cure is None else f" For trials, .*{cure}")):
        infimum.minimize(bowl, SQUARE, constraints=constraints)
    instead = constraints if instead is None else instead
    assert infimum.minimize(bowl, SQUARE, constraints=instead, engine="index", max_trials=100).x is not None


@pytest.mark.parametrize(("settings", "cure"), [
    ({"bounds": [(0, np.inf)] * 2}, "Trials need finite bounds of all variables."),
    ({"bounds": SQUARE, "start_boxes": [[(0, 0.5), (0, 0.5)], [(0.75, 1), (0, 1)]]},
     "Trials take bounds in place of start_boxes.")])
def test_what_trials_do_not_take_is_said_where_they_are_named(settings, cure):
    with pytest.raises(infimum.TraceError, match=f"{re.escape(TRIALS)} {cure}$"):
        infimum.minimize(lambda x: math.sin(x[0]), **settings)


@pytest.mark.parametrize("call", [
    lambda: infimum.minimize(bowl, SQUARE, constraints=lambda x: x[0] > 0.5),
    lambda: infimum.minimize(bowl, SQUARE, constraints=lambda x: None),
    lambda: infimum.minimize(bowl, SQUARE, constraints={"type": "ineq", "fun": lambda x: x[0] >= 0.5}),
    lambda: infimum.minimize(lambda x: None, SQUARE), lambda: infimum.minimize(lambda x: x, SQUARE),
    lambda: infimum.feasible(SQUARE, lambda x: math.sin(x[0]) <= 0.5)])
def test_trials_are_no_cure_for_what_they_refuse_too(call):
    with pytest.raises(infimum.TraceError) as caught:
        call()
    assert "by trials" not in str(caught.value) and "index" not in str(caught.value)


def test_a_function_that_varies_can_be_tried():
    calls = []
    with pytest.raises(infimum.AgreementError, match=re.escape(TRIALS)):
        infimum.minimize(lambda x: x[0] + len(calls) if calls.append(x) is None else 0.0, [(0, 1)])
