"""VNN-LIB files: the grammar, its limits, and what they say about a network."""

from fractions import Fraction

import numpy as np
import pytest

import infimum
from infimum.errors import NetworkError
from infimum.networks import Outcome, read_vnnlib, vnnlib

HEAD = """; a network with two inputs and two outputs
(declare-const X_0 Real) (declare-const X_1 Real)
(declare-const Y_0 Real) (declare-const Y_1 Real)
"""
BOX = "(assert (<= X_0 1.0)) (assert (>= X_0 -1))\n(assert (and (<= X_1 0.5) (>= X_1 -5e-1)))\n"
# outputs tanh(x0 + x1) and tanh(x0 - x1) + 0.25
NET = infimum.network([np.array([[1.0, 1.0], [1.0, -1.0]]), np.zeros(2), np.eye(2), np.array([0.0, 0.25])], activations="tanh")


def file(tmp_path, text, head=HEAD):
    path = tmp_path / "p.vnnlib"
    path.write_text(head + text)
    return path


def test_bounds_and_cases(tmp_path):
    found = read_vnnlib(file(tmp_path, BOX + "(assert (or (and (>= Y_0 Y_1)) (and (<= (+ (* 2 Y_0) (- X_1) 3) (- 1 Y_1 0.1)))))"))
    assert (found.inputs, found.outputs, len(found.cases)) == (2, 2, 2)
    first, second = found.cases
    assert first.lo == (-1.0, -0.5) and first.hi == (1.0, 0.5) == second.hi
    assert first.inequalities[0].y == {1: 1, 0: -1} and not first.inequalities[0].x
    assert second.inequalities[0].constant == 3 - (1 - Fraction(0.1)) and second.inequalities[0].y == {0: 2, 1: 1}
    assert second.inequalities[0].x == {1: -1}


def test_boxes_of_cases_are_their_own(tmp_path):
    text = BOX + "(assert (or (and (<= X_0 0) (<= Y_0 0)) (and (>= X_0 0) (>= Y_0 0)) (and (>= X_0 2) (<= Y_0 0))))"
    found = read_vnnlib(file(tmp_path, text))
    assert [(case.lo[0], case.hi[0]) for case in found.cases] == [(-1, 0), (0, 1)]  # the third contradicts itself


def test_a_bound_that_is_no_double_stays_an_inequality(tmp_path):
    case, = read_vnnlib(file(tmp_path, BOX + "(assert (<= (* 3 X_0) 1))")).cases
    assert Fraction(case.hi[0]) > Fraction(1, 3) and len(case.inequalities) == 1


@pytest.mark.parametrize("text, said", [
    ("(assert (< X_0 1))", r"p.vnnlib:4: \(< X_0 1\) is no condition"), ("(assert (= X_0 1))", "is no condition"),
    ("(assert (not (<= X_0 1)))", "is no condition"), ("(assert X_0)", "X_0 is no condition"),
    ("(assert (<= X_0))", "takes two terms"), ("(assert (<= (* X_0 X_1) 1))", "is no linear term"),
    ("(assert (<= (/ X_0 2) 1))", "is no linear term"), ("(assert (<= (sin X_0) 1))", "is no linear term"),
    ("(assert (<= X_2 1))", "X_2 is not declared"), ("(assert (<= X_0 1e999))", "no finite number"),
    ("(assert (<= X_0 nan))", "no finite number"), ("(assert (<= X_0 0x1))", "no finite number"),
    ("(assert (<= X_0 1)", "not closed"), (")", "outside of brackets"), ("X_0", "outside of brackets"),
    ("(prove X_0)", "is no command"), ("(assert)", "takes one condition"), ("()", "is no command"),
    ("(declare-const X_0 Real)", "declared twice"), ("(declare-const Z_0 Real)", "declares no input"),
    ("(declare-const X_2 Int)", "declares no input"), ("(declare-const X_5 Real)", "without gaps"),
    ("(" * 100, "nested more than 64 deep"), ("(assert " + "(and " * 63 + "(<= X_0 1)" + ")" * 64, "nested more than"),
    ('(assert (<= X_0 |a"))', "begins no word"),
    ("(assert (or (<= X_0 0) (<= X_1 0)))\n" * 20, "more than 10,000 cases"),
])
def test_bad_files(tmp_path, text, said):
    with pytest.raises(NetworkError, match=said):
        read_vnnlib(file(tmp_path, text))


def test_files_that_cannot_be_read(tmp_path, monkeypatch):
    with pytest.raises(NetworkError, match="cannot be read"):
        read_vnnlib(tmp_path / "missing.vnnlib")
    (tmp_path / "b").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(NetworkError, match="not text"):
        read_vnnlib(tmp_path / "b")
    monkeypatch.setattr(vnnlib, "MOST_BYTES", 10)
    with pytest.raises(NetworkError, match="more than 10 bytes"):
        read_vnnlib(file(tmp_path, ""))


@pytest.mark.parametrize("text, outcome", [
    ("(assert (>= Y_0 0.91))", Outcome.HOLDS), ("(assert (>= Y_0 0.9))", Outcome.VIOLATED),
    ("(assert (or (>= Y_0 0.91) (<= Y_1 -0.7)))", Outcome.HOLDS), ("(assert (or (>= Y_0 0.91) (<= Y_1 -0.6)))", Outcome.VIOLATED),
    ("(assert (>= Y_0 0.5)) (assert (>= Y_1 0.9))", Outcome.VIOLATED),
    ("(assert (>= Y_0 0.9)) (assert (>= Y_1 0.9))", Outcome.HOLDS),
    ("(assert (>= (+ Y_0 X_1) 10))", Outcome.HOLDS), ("", Outcome.VIOLATED), ("(assert (<= 1 0))", Outcome.HOLDS),
])
def test_verdicts(tmp_path, text, outcome):
    found = infimum.verify(NET, None, file(tmp_path, BOX + text))
    assert found.verdict is outcome
    if outcome is Outcome.VIOLATED:
        x = found.counterexample
        assert (np.abs(x) <= [1, 0.5]).all() and np.allclose(found.outputs, NET(x))


def test_files_that_do_not_fit(tmp_path):
    with pytest.raises(NetworkError, match="gives no bounds of X_0 in case 1"):
        infimum.verify(NET, None, file(tmp_path, "(assert (<= Y_0 0))"))
    assert infimum.verify(NET, [(0.5, 1), (-0.4, 0.4)], file(tmp_path, "(assert (<= Y_0 0))")).holds
    one = "(declare-const X_0 Real)(declare-const Y_0 Real)"
    with pytest.raises(NetworkError, match="1 inputs and 1 outputs, and the network has 2 and 2"):
        infimum.verify(NET, None, file(tmp_path, "(assert (<= Y_0 0))", one))
