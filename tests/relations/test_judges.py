"""The judges themselves: expressions mean the same as text, in balls and in .nl files; every kind of contradiction is seen."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

import infimum
from bench.related import boxes, expressions
from bench.related.answers import Answer, against_exact, answer_of, no_lower, other_bits, same_infimum
from bench.related.asking import Judgement
from bench.related.balls import PI, Pole, Undefined, Unsure, power, precision
from bench.related.boxes import BOXES, judged
from bench.related.crew import drawn
from bench.related.draws import KINDS, Draw, known_points, problem
from bench.related.expressions import ARRAYS, NL, TEXT, nl_lines, value
from bench.related.problems import Problem, Row, View, down, narrower_than_doubles, up
from bench.related.runs import nl_text
from bench.related.table import one_draw
from infimum.ampl import read

X = [0.75, -1.5, 2.0]
PARAMETERS = {"sum_of_squares": (((1.0, 2.0, -0.5), (0.25, 0.0, 1.0)), (0.5, -1.0)), "data": ((0.0, 0.5), (1.0, -0.25)),
              "quadratic": (((1.0, 2.0, 0.0), (0.0, -1.0, 3.0), (0.5, 0.0, 1.0)),)}


def node(op: str) -> tuple:
    if op in ARRAYS:
        return (op, 3, *PARAMETERS.get(op, ((1.0, 2.0, -1.0),)))
    operands = [("x", 0), ("x", 2), ("x", 1), ("number", -0.25)]
    return (op, *operands[:TEXT[op].count("{}")])


@pytest.mark.parametrize("op", [*TEXT, *ARRAYS])
def test_text_and_balls_mean_the_same(op: str):
    q = Problem(node(op), ((-3.0, 3.0),) * 3)
    with precision(256):
        assert q.fun(np.array(X)) == pytest.approx(float(value(q.f, [arb(v) for v in X]).mid()), rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("op", NL)
def test_a_model_file_means_the_same(op: str, tmp_path):
    q = Problem(node(op), ((-3.0, 3.0),) * 3, integers=(0, 1, 0))
    (tmp_path / "model.nl").write_text(nl_text(q, maximise=False))
    model = read(tmp_path / "model.nl")
    assert model.integrality.tolist() == [False, False, True]
    assert float(model.fun(np.array([X[0], X[2], X[1]]))) == pytest.approx(float(q.fun(np.array(X))), rel=1e-13)


def test_every_operation_has_its_text_and_its_balls():
    assert set(TEXT) == set(expressions.BALLS) | {"where"} and set(NL) <= set(TEXT)
    assert nl_lines(("cbrt", ("x", 0))) is None


@pytest.mark.parametrize(("x", "y", "expected"), [
    (-3, 3.0, -27), (-3, 2.0, 9), (-2, -2.0, 0.25), (2, 0.5, 2**0.5), (0, 2.5, 0), (-8, 1 / 3, Pole), (0, -1.0, Pole),
    (0, 0.0, Unsure), (-1, 0.1 * 3, Pole)])
def test_powers_have_the_exact_exponent(x, y, expected):
    with precision(256):
        if isinstance(expected, type):
            with pytest.raises(expected):
                power(arb(x), arb(y))
        else:
            assert float(power(arb(x), arb(y)).mid()) == pytest.approx(expected)


def test_ends_are_exact():
    third = Fraction(1, 3)
    assert down(third) < third < up(third) and down(PI) == math.pi and up(PI) > math.pi and up(0.25) == down(0.25) == 0.25
    assert narrower_than_doubles(third, third) and narrower_than_doubles(PI, PI) and not narrower_than_doubles(third, PI)
    q = Problem(("x", 0), ((third, PI),), integers=(1,))
    assert q.outside([down(third)]) and q.outside([0.5]) and q.outside([4.0]) and not q.outside([3.0])
    assert not q.outside([0.5], [1.5]) and q.outside([1.25], [1.75])


# ---- contradictions
RADIUS = ("add", ("square", ("x", 0)), ("square", ("x", 1)))
CIRCLE = Problem(("add", ("x", 0), ("x", 1)), ((-2.0, 2.0),) * 2, (Row(RADIUS, -math.inf, 1.0),))
NOWHERE = Answer("INFEASIBLE", math.inf, math.inf)


@pytest.mark.parametrize(("answer", "known", "found"), [
    (Answer("PROVED", -1.5, -1.4, ([-0.7, -0.7],) * 2), [], ""),
    (Answer("PROVED", -1.5, -1.4, ([-3.0, 0.0],) * 2), [], "not within"),
    (Answer("PROVED", -1.5, -1.4, ([-0.8, -0.7],) * 2), [], "constraint 0"),
    (Answer("PROVED", -1.5, -1.41, ([-0.7, -0.7],) * 2), [], "below f"),
    (Answer("PROVED", -1.0, -0.9, ([-0.5, -0.4],) * 2), [[-0.7, -0.7]], "above the value"),
    (NOWHERE, [[-0.7, -0.7]], "INFEASIBLE"),
    (NOWHERE, [[-0.8, -0.7]], ""),
])
def test_what_exact_values_contradict(answer: Answer, known: list, found: str):
    wrong = against_exact(answer, CIRCLE, known)
    assert found in wrong if found else not wrong


@pytest.mark.parametrize(("other", "found"), [
    (Answer("PROVED", 0.5, 0.6), ""), (Answer("STOPPED", -math.inf, 0.7), ""),
    (Answer("PROVED", 0.7, 0.8), "no number in common"), (Answer("PROVED", 0.3, 0.4), "no number in common"),
    (NOWHERE, "INFEASIBLE"),
    (Answer("PROVED", 0.5, 0.6, boxes=[([2.0], [3.0])], attained=True), "no box"),
    (Answer("PROVED", 0.5, 0.6, boxes=[([1.0], [3.0])], attained=True), "")])
def test_what_two_answers_contradict(other: Answer, found: str):
    wrong = same_infimum(Answer("PROVED", 0.45, 0.55, boxes=[([0.0], [1.0])]), other)
    assert found in wrong if found else not wrong


def test_parts():
    whole = Answer("PROVED", 0.5, 0.6)
    assert no_lower(Answer("PROVED", 0.3, 0.4), whole) and not no_lower(Answer("PROVED", 0.3, 0.55), whole)
    assert no_lower(whole, NOWHERE) and not no_lower(NOWHERE, whole)


@pytest.mark.parametrize("name", BOXES)
def test_every_relation_of_boxes_sees_a_contradiction(name: str, monkeypatch: pytest.MonkeyPatch):
    """The first run has a minimum of 5, or says INFEASIBLE, and all others have one of 0."""
    transform, comparison, kind = BOXES[name]
    monkeypatch.setattr(boxes, "against_exact", lambda *args: "")
    for first in (Answer("PROVED", 5.0, 5.0), NOWHERE):
        answers = iter([first])
        monkeypatch.setattr(boxes, "ask", lambda *args, answers=answers, **more: next(answers, Answer("PROVED", 0.0, 0.0)))
        found = judged(Draw(np.random.default_rng(3)), transform, comparison, **kind)
        assert found.decided and (found.wrong or (name == "feasible" and first.verdict == "PROVED"))


def test_other_bits():
    first, second = (infimum.minimize(lambda x: (x[0] - 0.3) ** 2, [(-1, 1)]) for _ in range(2))
    assert other_bits(first, second) == ""
    below = math.nextafter(first.lower, -1.0)
    for changed in ({"lower": below}, {"x": first.x + 2.0**-40}, {"nfev": first.nfev + 1}, {"boxes": None}):
        assert next(iter(changed)) in other_bits(first, replace(second, **changed))


def test_answers_are_seen_through_views():
    view = View((1, 0), (0.5, -2.0), (1.0, 0.0))
    there = Answer("PROVED", Fraction(8), Fraction(12), ([1.0, 2.0],) * 2, [([-math.inf, 2.0], [1.0, 4.0])])
    found = there.through(view).times(Fraction(4))
    assert found.point == ([2, -2], [2, -2]) and found.boxes == [([2, -2], [3, math.inf])]
    assert (found.lower, found.upper) == (2, 3)
    maximum = answer_of(infimum.maximize(lambda x: 3 - x[0] ** 2, [(-1, 1)]))
    assert maximum.lower <= -3 <= maximum.upper


# ---- problems, and who draws them
def test_drawn_problems_reach_what_they_should():
    features, feasible, rows = set(), 0, 0
    for seed in range(300):
        d = Draw(np.random.default_rng([9, seed]))
        q, p = problem(d)
        features |= q.features
        rows += bool(q.rows)
        feasible += any(q.feasible_value(point) is not None for point in known_points(d, q, p))
        assert np.shape(q.fun(np.array(p))) == () and q.snippet().count("def ") == 1 + len(q.rows)
    assert features == {*KINDS, "ends"} and rows > 100 and feasible > 200


def test_processes_make_the_same_draws_and_have_a_limit(monkeypatch: pytest.MonkeyPatch):
    asked = (1, 5, "traced", ("ends",))
    ours, = drawn(iter([asked]), 1, 60.0)
    assert ours._replace(seconds=0.0) == one_draw(*asked)._replace(seconds=0.0) and ours.decided
    monkeypatch.setattr("bench.related.crew._LOOK", 1e-3)  # before a process has even started
    late, = drawn(iter([asked]), 1, 1e-3)
    assert (late.note, late.decided, late.wrong) == ("time limit", False, "")


def test_exceptions_are_contradictions(monkeypatch: pytest.MonkeyPatch):
    from bench.related import table

    def fails(d: Draw) -> Judgement:
        raise ZeroDivisionError
    monkeypatch.setitem(table.RELATIONS, "traced", table.Relation(fails))
    assert "ZeroDivisionError" in one_draw(0, 0, "traced").wrong
    assert issubclass(Pole, Undefined) and Unsure is not Undefined
