"""Segments, groups, limits, and what is wrong with a file."""

import gzip
import lzma
import os

import numpy as np
import pytest

import infimum
from infimum.ampl import read
from infimum.ampl.operators import OPERATORS, Operator
from infimum.errors import ModelFileError
from infimum.trace.trace import traced
from tests.ampl.helpers import binary, model_of, nl

INF = np.inf
X = np.array([0.5, -1.5, 2.0])
# six rows of one shape, one of another, and linear ones
ROWS = [["o2", f"v{i % 3}", "o5", f"v{(i + 1) % 3}", f"n{2 + (i > 3)}"] for i in range(6)]
ROWS += [["o44", "v2"], ["n0"], ["n0"], ["n4"]]
LINEAR = [[(0, 1.0), (2, -2.0)]] * 3 + [[]] * 4 + [[(1, 3.0), (2, 0.5)], [(0, 1.0)], [(2, 2.0), (1, 0.0)]]


def _meaning(i: int, x: np.ndarray) -> float:
    bodies = [x[k % 3] * x[(k + 1) % 3] ** (2 + (k > 3)) for k in range(6)] + [np.exp(x[2]), 0.0, 0.0, 4.0]
    return bodies[i] + sum(c * x[k] for k, c in LINEAR[i])


@pytest.mark.parametrize("big_endian", [None, False, True])
def test_constraints_of_one_shape_are_one(tmp_path, big_endian):
    text = nl(n=3, constraints=ROWS, rows=LINEAR)
    model = model_of(tmp_path, text if big_endian is None else binary(text, big_endian))
    assert sorted(np.concatenate(model.rows).tolist()) == list(range(10)) and model.m == 10 and model.n == 3
    assert [rows.tolist() for rows in model.rows] == [[7, 8, 9], [0, 1, 2], [3], [4, 5], [6]]  # the linear ones come first
    for constraint, rows in zip(model.constraints, model.rows, strict=True):
        assert constraint.fun(X) == pytest.approx([_meaning(i, X) for i in rows], rel=1e-15)
        assert constraint.lb.tolist() == [-INF] * len(rows) and constraint.ub.tolist() == [5.0] * len(rows)
        assert traced(constraint.fun, 3, (), lambda _, value: value.shape)[0] == rows.shape


def test_defined_variables_are_computed_once(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setitem(OPERATORS, 37, Operator("tanh", "n", "n", lambda x: calls.append(1) or np.tanh(x)))
    # v3 = tanh(v0); v4 = v3 * v3 + v3; the objective reads v4 twice and v3 once
    model = model_of(tmp_path, nl(["o0", "o2", "v4", "v4", "o41", "v3"], n=3,
                                  defined=[["o37", "v0"], ["o0", "o2", "v3", "v3", "v3"]]))
    t = np.tanh(0.5)
    assert model.fun(X) == pytest.approx((t * t + t) ** 2 + np.sin(t), rel=1e-15) and len(calls) == 1
    assert (t * t + t) ** 2 + np.sin(t) in infimum.enclose(model.fun, [(0.49, 0.51)] * 3)


def test_many_terms_inside_another_operation(tmp_path):
    """sin of a sum of twelve products, twice: the sums are rows of one block."""
    def inner(shift: int) -> list[str]:
        terms = [["o2", f"n{i + 1}", "o2", f"v{i}", f"v{(i + shift) % 12}"] for i in range(12)]
        return ["o41", "o54", "12", *(line for term in terms for line in term)]
    fun = model_of(tmp_path, nl(["o0", *inner(1), *inner(5)], n=12)).fun
    x = np.linspace(-1, 1, 12)
    wanted = sum(np.sin(np.sum(np.arange(1, 13) * x * np.roll(x, -shift))) for shift in (1, 5))
    assert fun(x) == pytest.approx(wanted, rel=1e-13)
    around = infimum.enclose(fun, [(v, v) for v in x])
    assert around.lo - 1e-13 <= wanted <= around.hi + 1e-13


def test_bounds_guess_senses_suffixes(tmp_path):
    text = nl(["v0"], n=2, maximise=True, gradient=[(1, 2.5), (0, 0.0)], bounds="2 1", rows=[[(0, 1.0)]], ranges="0 -1 1e3",
              more=["x1", "0 5", "d1", "0 7", "S0 1 priority", "1 3", "S4 1 weight", "0 2.5", "S3 1 solved", "0 1"])
    for written in (text, binary(text)):
        model = model_of(tmp_path, written)
        assert model.objectives[0].maximise and model.fun(np.array([2.0, 4.0])) == 12.0
        assert model.lo.tolist() == [1, 1] and model.hi.tolist() == [INF, INF]
        assert model.x0.tolist() == [5, 1]  # inside the bounds
        assert model.constraints[0].lb.tolist() == [-1] and model.constraints[0].ub.tolist() == [1000]
        assert model.names is None and not model.integrality.any()
    assert model.objective(0) is None


def test_kinds_of_bounds(tmp_path):
    text = nl(n=5, bounds="3").replace("b\n3\n3\n3\n3\n3\n", "b\n0 -1 2\n1 4\n2 -3\n3\n4 7\n")
    model = model_of(tmp_path, text)
    assert model.lo.tolist() == [-1, -INF, -3, -INF, 7] and model.hi.tolist() == [2, 4, INF, INF, 7]


def test_integers_by_their_groups(tmp_path):
    text = nl(n=10).replace(" 10 10 10\n 0 0 0 1\n 0 0 0 0 0", " 4 6 2\n 0 0 0 1\n 1 2 1 1 1")
    assert np.flatnonzero(model_of(tmp_path, text).integrality).tolist() == [1, 3, 5, 7, 8, 9]


def test_deep_nesting(tmp_path):
    """Neither reading nor evaluating recurses."""
    depth = 20_000
    assert model_of(tmp_path, nl(["o49"] * depth + ["v0"])).fun(np.array([0.0, 0.0])) == 0.0
    assert model_of(tmp_path, nl(["o0", "v1"] * depth + ["v0"])).fun(np.array([1.0, 1.0])) == depth + 1.0
    sums = ["o49", "o54", "4", "v0", "v0", "v0"] * 500 + ["v0"]
    assert model_of(tmp_path, nl(sums)).fun(np.array([0.0, 0.0])) == 0.0


def test_thousands_of_constraints_are_few_formulas(tmp_path):
    count = 2000
    rows = [["o2", f"n{i + 1}", "o2", f"v{i}", f"v{(7 * i + 1) % count}"] for i in range(count)]
    model = model_of(tmp_path, nl(n=count, constraints=rows, rows=[[(i, 2.0)] for i in range(count)]))
    x = np.random.default_rng(0).uniform(-1, 1, count)
    (constraint,) = model.constraints
    i = np.arange(count)
    assert constraint.fun(x) == pytest.approx((i + 1) * x * x[(7 * i + 1) % count] + 2 * x, rel=1e-14, abs=1e-14)


# ---- what is wrong

GOOD = nl(["o0", "v0", "v1"], rows=[[(0, 1.0)], [(1, 2.0)]], gradient=[(0, 1.0)])
WRONG = [
    ("g3 1 1 0", "h3 1 1 0", "line 1: this is no .nl file"),
    ("g3 1 1 0", "g9 1 1 0", "line 1: 9 options are announced, and 3"),
    (" 2 2 1 0 0 0", " 1000000000000 2 1 0 0 0", "line 2: the header announces 1,000,000,000,000 variables"),
    (" 2 2 1 0 0 0", " 2 1000000000000 1 0 0 0", "line 2: the header announces 1,000,000,000,000 constraints"),
    (" 2 2 1 0 0 0", " 2 x 1", "line 2: the number of constraints is 'x'"),
    (" 2 2 1 0 0 0", " 2 2", "line 2: .* needs 3"),
    (" 2 2 1 0 0 0", " 0 2 1", "the model has no variables"),
    ("\n 0 0\n 2 2 2", "\n 0 3\n 2 2 2", "line 4: .* 3 network constraints"),
    (" 0 0 0 1", " 2 0 0 1", "line 6: .* 2 network variables"),
    (" 2 2 2\n", " 5 5 5\n", "lines 5 and 7"),
    (" 0 0 0 0 0\n 2", " 3 0 0 0 0\n 2", "lines 5 and 7"),
    ("O0 0", "F0 1 -1 myfunc\nO0 0", "line 11: the imported function myfunc"),
    ("O0 0", "L0\no22\nv0\nv1\nO0 0", "line 11: logical constraints"),
    ("1 5\n", "5 1 2\n", "line 16, constraint 0: complementarity constraints"),
    ("O0 0", "S0 1 sosno\n0 1\nO0 0", r"special ordered sets \(the suffix sosno\)"),
    ("O0 0", "Q0", "line 11: 'Q' begins no segment"),
    ("O0 0", "O1 0", "line 11: the number of the objective is 1"),
    ("O0 0", "O0 2", "line 11, objective 0: the sense"),
    ("O0 0", "O0", "line 11, objective 0: the sense"),
    ("0 -2 3\n", "0 -2\n", r"line 19, x\[0\]: the bound is missing"),
    ("0 -2 3\n", "0 -2 nan\n", r"line 19, x\[0\]: the bounds"),
    ("0 -2 3\n", "7 -2 3\n", r"line 19, x\[0\]: the kind of bounds is 7"),
    ("J1 1", "J0 1", "line 23, constraint 0: this is its second linear part"),
    ("J1 1", "J1 2", "line 25, constraint 1: "),
    ("0 1.0\n", "7 1.0\n", "line 22, constraint 0: the number of the variable is 7"),
    ("J1 1\n1 2.0\n", "", "missing: 1 of the 2 terms of segments J"),
    ("G0 1\n0 1.0\n", "", "missing: 1 of the 1 terms of segments G"),
    ("b\n", "r\n", "line 18: there is a second segment r"),
    ("O0 0\no0\nv0\nv1\n", "", "missing: objective 0"),
    ("O0 0", "V2 0 0\nv0\nO0 0", "line 11: the number of the defined variable"),
    ("1 2.0\n", "1 1e999\n", "the coefficient is inf"),
]


def test_the_good_file_is_good(tmp_path):
    assert model_of(tmp_path, GOOD).fun(np.array([1.0, 2.0])) == 4.0


@pytest.mark.parametrize("was, now, said", WRONG)
def test_errors_name_the_line(tmp_path, was, now, said):
    assert was in GOOD
    with pytest.raises(ModelFileError, match=f"model\\.nl, .*{said}"):
        model_of(tmp_path, GOOD.replace(was, now, 1))


def test_defined_variables_come_before_their_use(tmp_path):
    text = nl(["v2"], defined=[["v0"]])
    with pytest.raises(ModelFileError, match="line 12, defined variable v2: v2 is used before it is defined"):
        model_of(tmp_path, text.replace("V2 0 0\nv0", "V2 0 0\nv2"))
    with pytest.raises(ModelFileError, match="line 13, defined variable v2: v2 is defined twice"):
        model_of(tmp_path, text.replace("V2 0 0\nv0", "V2 0 0\nv0\nV2 0 0\nv0"))


def test_a_count_that_is_too_large_costs_nothing(tmp_path):
    with pytest.raises(ModelFileError, match="sum has 1,000,000,000 operands"):
        model_of(tmp_path, nl(["o54", "1000000000", "v0"]))
    with pytest.raises(ModelFileError, match="slopes"):
        model_of(tmp_path, nl(["o64", "1000000000", "n1"]))
    with pytest.raises(ModelFileError, match="number of values is 2000000"):
        model_of(tmp_path, nl(["v0"], more=["S0 2000000 priority"]))


def test_errors_of_files(tmp_path):
    for name, said in (("missing", r"missing\.nl cannot be read: No such file"), ("folder.nl", "cannot be read: it is a folder"),
                       ("huge.nl", r"cannot be read: it has 1,099,511,627,776 bytes, and the most is"), ("a\0b", "null"),
                       ("packed.nl", r"packed\.nl is compressed \(gzip\): unpack it first, with gunzip"),
                       ("packed.nl.gz", r"packed\.nl\.gz is compressed \(gzip\)"), ("other.nl", r"\(xz\): .* with unxz")):
        (tmp_path / "folder.nl").mkdir(exist_ok=True)
        (tmp_path / "other.nl").write_bytes(lzma.compress(GOOD.encode()))
        for packed in ("packed.nl", "packed.nl.gz"):
            (tmp_path / packed).write_bytes(gzip.compress(GOOD.encode()))
        with open(tmp_path / "huge.nl", "wb") as file:
            file.truncate(1 << 40)  # nothing of it is on the disk
        with pytest.raises(ModelFileError, match=said):
            read(tmp_path / name)
    with pytest.raises(ModelFileError, match="line 1: this is no .nl file"):
        model_of(tmp_path, "")
    with pytest.raises(ModelFileError, match="line 6: the arithmetic of the binary file is of kind 7"):
        model_of(tmp_path, binary(GOOD).replace(b"0 0 1 1", b"0 0 7 1"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.nl")
    with pytest.raises(ModelFileError, match="it is no ordinary file"):
        read(tmp_path / "pipe.nl")


def test_too_little_memory_is_an_error_of_ours(tmp_path, monkeypatch):
    def full(*_: object) -> None:
        raise MemoryError
    monkeypatch.setattr("infimum.ampl.reader.TextTokens", full)
    with pytest.raises(ModelFileError, match="too little memory"):
        model_of(tmp_path, GOOD)
