"""VNN-LIB files: the grammar, its limits, and what they say about a network."""

from fractions import Fraction

import numpy as np
import pytest

import infimum
from infimum.errors import NetworkError
from infimum.networks import Outcome, read_vnnlib, vnnlib
from infimum.networks.exact_box import ExactBox, ExactEnd

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
    assert first.box == ExactBox.of((-1.0, -0.5), (1.0, 0.5)) == second.box
    assert first.inequalities[0].y == {1: 1, 0: -1} and not first.inequalities[0].x
    assert second.inequalities[0].constant == 3 - (1 - Fraction("0.1")) and second.inequalities[0].y == {0: 2, 1: 1}
    assert second.inequalities[0].x == {1: -1}


def test_boxes_of_cases_are_their_own(tmp_path):
    text = BOX + "(assert (or (and (<= X_0 0) (<= Y_0 0)) (and (>= X_0 0) (>= Y_0 0)) (and (>= X_0 2) (<= Y_0 0))))"
    found = read_vnnlib(file(tmp_path, text))
    ends = [(case.box.lo[0].value, case.box.hi[0].value) for case in found.cases]
    assert ends == [(-1, 0), (0, 1)]  # the third contradicts itself


def test_numbers_are_exact(tmp_path):
    case, = read_vnnlib(file(tmp_path, BOX + "(assert (<= (* 3 X_0) 1)) (assert (< 1e-400 X_0)) (assert (= X_1 .1))")).cases
    assert case.box.lo == (ExactEnd(Fraction(1, 10**400), True), ExactEnd(Fraction(1, 10))) and not case.inequalities
    assert case.box.hi == (ExactEnd(Fraction(1, 3)), ExactEnd(Fraction(1, 10)))
    lo, hi = case.box.outer()
    assert lo.tolist() == [0.0, np.nextafter(0.1, 0)] and hi.tolist() == [np.nextafter(1 / 3, 1), 0.1]
    lo, hi = case.box.inner()
    assert lo.tolist() == [5e-324, 0.1] and hi.tolist() == [1 / 3, np.nextafter(0.1, 0)]  # of X_1 there is no double


@pytest.mark.parametrize("text", ["(assert (< X_0 -1))", "(assert (> X_0 1e0))", "(assert (= X_0 1.00000000000000000001))",
                                  "(assert (and (> X_0 0.1) (< X_0 0.1)))", "(assert (< 0 (- 0.3 0.1 0.2)))"])
def test_what_contradicts_itself_is_no_case(tmp_path, text):
    assert not read_vnnlib(file(tmp_path, BOX + text)).cases


@pytest.mark.parametrize("text, said", [
    ("(assert (=> X_0 1))", r"p.vnnlib:4: \(=> X_0 1\) is no condition"),
    ("(assert (<= X_0 1e12345))", "no finite decimal number"),
    ("(assert (not (<= X_0 1)))", "is no condition"), ("(assert X_0)", "X_0 is no condition"),
    ("(assert (<= X_0 0." + "3" * 4000 + "))", "has more than 4,000 digits"),
    ("(assert (<= X_0 (*" + " 1e9999" * 10 + ")))", "too many digits"),
    ("(assert (<= X_0))", "takes two terms"), ("(assert (<= (* X_0 X_1) 1))", "is no linear term"),
    ("(assert (<= (/ X_0 2) 1))", "is no linear term"), ("(assert (<= (sin X_0) 1))", "is no linear term"),
    ("(assert (<= X_2 1))", "X_2 is not declared"), ("(assert (< X_0 inf))", "no finite decimal number"),
    ("(assert (<= X_0 nan))", "no finite decimal number"), ("(assert (<= X_0 0x1))", "no finite decimal number"),
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


# ---- decimals: the outputs are x0 and x0 + 0.25 x1, or x0 + x0
PLAIN = infimum.network([np.array([[1.0, 1.0], [0.0, 0.25]]), np.zeros(2)], activations=[None])
ABOVE_A_TENTH = "0.1000000000000000055511151231257827"  # below the double nearest to 0.1
BETWEEN = "(assert (and (>= X_0 0) (<= X_0 0.1) (>= X_1 0) (<= X_1 0)))"
HALVES = "(assert (and (>= X_0 0) (<= X_0 0.5) (>= X_1 0) (<= X_1 0.5)))"


@pytest.mark.parametrize("text, outcomes", [
    # the nearest double of the limit is an output, and the limit is not
    (HALVES + "(assert (>= Y_0 0.50000000000000001))", "HOLDS"), (HALVES + "(assert (>= Y_0 0.49999999999999999))", "VIOLATED"),
    (HALVES + "(assert (<= Y_0 -1e-400))", "HOLDS"), (HALVES + "(assert (<= Y_0 1e-400))", "VIOLATED"),
    (HALVES + "(assert (< Y_0 1e-400))", "VIOLATED"), (HALVES + "(assert (<= (* 1e400 Y_0) -1))", "HOLDS"),
    (HALVES + "(assert (>= (* 0.1 Y_0) 0.050000000000000001))", "HOLDS"), (HALVES + "(assert (>= (* 3 Y_0) 1.5))", "VIOLATED"),
    (HALVES + "(assert (>= (* 0.1 Y_0) 0.05))", "VIOLATED"), (HALVES + "(assert (> (* 0.1 Y_0) 0.05))", "HOLDS"),
    (HALVES + "(assert (> Y_0 0.5))", "HOLDS"), (HALVES + "(assert (< Y_0 0))", "HOLDS"),
    (HALVES + "(assert (<= Y_0 0))", "VIOLATED"),
    # the double nearest to 0.1 is unsafe, and it is no input; that none is cannot be seen from doubles
    (BETWEEN + f"(assert (>= Y_0 {ABOVE_A_TENTH}))", "UNKNOWN"), (BETWEEN + "(assert (>= Y_0 0.0999999999999999))", "VIOLATED"),
    (BETWEEN + "(assert (>= Y_0 0.1000000000000001))", "HOLDS"),
    # an input without a double: proved for both around it
    ("(assert (and (= X_0 0.1) (= X_1 0)))(assert (>= Y_0 0.0999999999999999))", "VIOLATED"),
    ("(assert (and (= X_0 0.1) (= X_1 0)))", "VIOLATED"),
    ("(assert (and (= X_0 0.1) (= X_1 0)))(assert (>= Y_0 0.1))", "UNKNOWN"),
    # several inequalities
    (HALVES + "(assert (and (>= Y_0 0.50000000000000001) (>= Y_1 0.1)))", "HOLDS"),
    (HALVES + "(assert (and (>= Y_0 0.5) (>= Y_1 0.625)))", "VIOLATED"),
    (HALVES + "(assert (and (>= Y_0 0.5) (> Y_1 0.625)))", "HOLDS"),
    (HALVES + "(assert (and (> Y_0 0.3) (< Y_0 0.30000000000000005)))", "VIOLATED"),
    (HALVES + "(assert (and (> Y_0 0.3) (< Y_0 0.30000000000000004)))", "UNKNOWN"),  # there is no double in between
    (HALVES + "(assert (and (> Y_0 0.3) (< Y_0 0.3)))", "HOLDS UNKNOWN"), (HALVES + "(assert (= Y_0 0.7))", "HOLDS"),
    (BETWEEN + f"(assert (and (>= Y_0 {ABOVE_A_TENTH}) (>= Y_1 0)))", "UNKNOWN"),
    (BETWEEN + "(assert (and (>= Y_0 0.09999999999999999) (>= Y_1 0)))", "VIOLATED"),
    (HALVES + "(assert (and (<= Y_0 1e999) (>= (* 0.3 Y_1) (* 0.1 X_0))))", "VIOLATED"),
    (HALVES + "(assert (>= Y_0 1e999))", "HOLDS"),
    (HALVES + "(assert (and (>= Y_0 0.1) (>= Y_1 0.1) (<= (+ Y_0 Y_1) 0.199)))", "HOLDS"),  # each pair can be met
    (HALVES + "(assert (and (>= Y_0 0.1) (>= Y_1 0.1) (<= (+ Y_0 Y_1) 0.201)))", "VIOLATED"),
    (HALVES + "(assert (and (< Y_0 Y_1) (< Y_1 Y_0)))", "HOLDS UNKNOWN"),
    (HALVES + "(assert (and (<= Y_0 Y_1) (<= Y_1 Y_0)))", "VIOLATED"),
    ("(assert (and (= X_0 0.1) (= X_1 0)))(assert (and (>= Y_0 0.0999999999999999) (>= Y_1 0)))", "VIOLATED"),
])
def test_decimals(tmp_path, text, outcomes):
    path = file(tmp_path, text)
    found = infimum.verify(PLAIN, None, path, max_boxes=10_000)
    assert found.verdict.name in outcomes.split()
    if found.verdict is Outcome.VIOLATED:
        x = [Fraction(v) for v in found.counterexample.tolist()]
        fixed = "(= X_0 0.1)" in text
        assert fixed and x == [Fraction(0.1), 0] or _is_unsafe(read_vnnlib(path), x, [x[0], x[0] + x[1] / 4])


def _is_unsafe(asked, x, y):
    """By exact arithmetic."""
    def met(part):
        value = sum((factor * v[k] for v, factors in ((x, part.x), (y, part.y)) for k, factor in factors.items()), part.constant)
        return value < 0 or (value == 0 and not part.strict)
    return any(all(a.value <= v <= b.value and not (a.open and v == a.value) and not (b.open and v == b.value)
                   for v, a, b in zip(x, case.box.lo, case.box.hi, strict=True)) and all(map(met, case.inequalities))
               for case in asked.cases)


def test_bounds_are_met_exactly(tmp_path):
    tenth = file(tmp_path, "(assert (<= X_0 0.1)) (assert (and (>= X_1 0) (<= X_1 1)))")
    assert infimum.verify(PLAIN, [(0.1, 1), (0, 1)], tenth).holds  # the double nearest to 0.1 is above it
    assert infimum.verify(PLAIN, [(np.nextafter(0.1, 0), 1), (0, 1)], tenth).verdict is Outcome.VIOLATED


def test_bounds_are_shown_less_the_limit(tmp_path):
    found = infimum.verify(PLAIN, None, file(tmp_path, HALVES + "(assert (>= Y_0 0.6))"))
    assert found.holds and found.lower <= Fraction("0.1") < found.upper and found.lower == pytest.approx(0.1, rel=1e-15)
