"""Names of variables, constraints and objectives, in everything that is said of a model."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infimum
from infimum.ampl import read
from infimum.ampl.model_run import solve
from infimum.ampl.model_wording import for_model
from infimum.ampl.names import Names
from infimum.ampl.solution import without_colons
from infimum.errors import ModelFileError
from infimum.expr.formula import formula
from infimum.problem.cover import Cover
from infimum.problem.text import printable
from infimum.problem.unions import Unions
from tests.ampl.helpers import binary, nl
from tests.ampl.sol_file import Sol
from tests.cli.helpers import program

MODELS = Path(__file__).parent / "models"


def write_model(folder: Path, text: str, columns: str | None = "pressure\nmass of B\n", rows: str | None = None):
    (folder / "model.nl").write_text(text)
    for ending, names in ((".col", columns), (".row", rows)):
        if names is not None:
            (folder / f"model{ending}").write_bytes(names.encode())


def model_with(folder: Path, text: str, *names: str | None, **more: str | None):
    write_model(folder, text, *names, **more)
    return read(folder / "model")


@pytest.fixture
def infimum_(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("infimum_options", raising=False)
    return program(capsys)


# ---- files of names
@pytest.mark.parametrize("columns, names", [
    ("x\ny\n", ("x", "y")), ("x\ny", ("x", "y")), ("x\r\ny\r\n", ("x", "y")), ("\ufeffx\ny\n", ("x", "y")),
    ("x\n", None), ("x\ny\nz\n", None), ("x\n\n", None), ("", None), ("a\nb\ny\n", None), ("x\u2028\ny\n", ("x\u2028", "y"))])
def test_variables(tmp_path, columns, names):
    """With another number of lines, nobody knows whose names they are."""
    assert model_with(tmp_path, nl(), columns).names == names


@pytest.mark.parametrize("rows, constraints, objectives", [
    ("first\n", ("first",), None), ("first\ncost\n", ("first",), ("cost",)), ("first\ncost\nmore\n", None, None),
    ("\n", None, None)])
def test_constraints_and_objectives(tmp_path, rows, constraints, objectives):
    model = model_with(tmp_path, nl(rows=[[(0, 1.0)]]), None, rows)
    assert model.constraint_names == constraints and model.called.objectives == objectives and model.names is None


def test_in_sentences():
    names = Names(("pressure", "mass of B", "b.x[3]", "f['a:b']"), ("pool", "x[0] < 1"), ("cost",))
    assert [names.variable(i) for i in range(4)] == ["pressure", "'mass of B'", "b.x[3]", "f['a:b']"]
    text = "x[0], x[2] and variable 1 in constraint 1; max[0], constraint 7, x[9], 3 variables"
    assert names.in_text(text) == \
        "pressure, b.x[3] and variable 'mass of B' in constraint 'x[0] < 1'; max[0], constraint 7, x[9], 3 variables"
    assert Names().in_text("x[0] and variable 1 in constraint 2") == "x[0] and variable x[1] in constraint 2"
    near = "near x = (1, -2.5e+10, … 4 in all); near x = (1, 2, 3, inf); near x = (1, 2)"
    assert names.in_text(near) == "near pressure = 1, 'mass of B' = -2.5e+10, …; near pressure = 1, 'mass of B' = 2, " \
        "b.x[3] = 3, f['a:b'] = inf; near x = (1, 2)"
    assert for_model("x0= and x[0]", Names(("x[0]",))) == "x0= and x[0]"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(min_size=1).filter(lambda name: "\n" not in name), min_size=2, max_size=2, unique=True))
def test_any_name_is_printed_safely(names):
    called = Names(tuple(names), tuple(names))
    said = called.in_text("x[0] x[1] constraint 0") + printable(names[0])
    assert said.isprintable() and len(said) < 4 * 50
    assert ":" not in without_colons(said)


# ---- tables
def test_tables(tmp_path, infimum_):
    for ending in ("nl", "col", "row"):
        (tmp_path / f"haverly.{ending}").write_bytes((MODELS / f"haverly.{ending}").read_bytes())
    said = infimum_("haverly.nl")
    x = dict(re.findall(r"^(?:x           |            ) (\w+) +(-?[\d.]+)$", said.out, re.M))
    assert set(x) == {"Px", "Py", "p", "A", "B", "Cx", "Cy", "use"} and x["Cy"] == "100" and x["use"] == "1"
    assert re.search(r"^ +0 sulphur +\S+ +=", said.out, re.M) and re.search(r"^ +5 demandy +200 ", said.out, re.M)
    assert re.search(r"^ +Px in \[.*\], Py in \[", said.out, re.M) and not re.search(r"\bx\[|constraint \d", said.out)
    told = infimum_("haverly.nl", "--json").json
    assert told["names"] == list(read(tmp_path / "haverly").names)
    assert sorted(row["name"] for row in told["constraints"]) == \
        sorted(["pool", "sulphur", "first", "second", "demandx", "demandy", "switch"])
    assert [row["number"] for row in told["constraints"]] == list(range(7))


def test_tables_without_names(tmp_path, infimum_):
    """Numbers are those of the file, from 0 on."""
    rows = [["o5", "v0", "n2"], ["o44", "v1"], ["o5", "v1", "n2"]]
    (tmp_path / "model.nl").write_text(nl(["o0", "v0", "v1"], constraints=rows, ranges="1 5"))
    said = infimum_("model.nl")
    assert [int(row) for row in re.findall(r"^ +(\d) constraint \1 ", said.out, re.M)] == [0, 1, 2]
    assert said.rows["x"].startswith("(-2, -2")


def test_many_variables_are_shortened(tmp_path):
    names = "".join(f"v{i}\n" for i in range(50))
    result, _ = solve(model_with(tmp_path, nl(["v0"], n=50), names))
    assert "and 30 more" in str(result) and "v19 " in str(result) and "v20 " not in str(result)


def test_a_product_of_unions(tmp_path):
    result, _ = solve(model_with(tmp_path, nl(["o0", "v0", "v1"])))
    unions = Unions.of([[(-1, 0), (1, 2)], [(-1, 0), (1, 2), (3, 4), (5, 6)]])
    table = str(replace(result, regions=Cover.product(unions, 0.0)))
    assert re.search(r"^ +pressure in \[-1, 0\] ∪ \[1, 2\]\n +mass of B in \[-1, 0\] ∪ \[1, 2\] ∪", table, re.M)


# ---- messages
def test_messages_of_a_file_quote_no_function_that_was_traced_before(tmp_path):
    before = infimum.compile(lambda y: 1 / y[0], 2)  # the same formula, whose node knows its line
    assert "test_names.py" in before.f.line
    result, _ = solve(model_with(tmp_path, nl(["o3", "n1", "v0"], bounds="0 -2 3")), settings={"max_boxes": 100})
    assert "test_names.py" not in result.obstacle and "`1 / pressure`" in result.obstacle


def test_a_function_keeps_its_line_when_another_is_traced(tmp_path):
    """An operation of both is one node."""
    first, second = infimum.compile(lambda y: 1 / y[0], 2), infimum.compile(lambda z: 1 / z[0], 2)
    for _ in range(2):
        for one, text in ((first, "1 / y[0]"), (second, "1 / z[0]")):
            solve(model_with(tmp_path, nl(["o3", "n1", "v0"], bounds="0 -2 3")), settings={"max_boxes": 100})
            result = infimum.minimize(one, [(-2, 3)] * 2, max_boxes=100)
            assert f"`{text}` (test_names.py:" in result.obstacle
            solve(model_with(tmp_path, nl(["o3", "n1", "v0"], bounds="0 -2 3")), settings={"max_boxes": 100})
            assert "test_names.py:" in repr(one)


def test_obstacles_and_advice(tmp_path):
    pole = model_with(tmp_path, nl(["o3", "n1", "v0"], bounds="0 -2 3"))
    result, solution = solve(pole, settings={"max_boxes": 100})
    assert "`1 / pressure` has no finite enclosure where `pressure` approaches 0" in result.obstacle
    assert "`1 / pressure` has no finite enclosure" in solution.message
    fixed = nl(["o3", "n1", "v1"], bounds="0 -2 3").replace("b\n0 -2 3\n", "b\n4 1\n")
    result, _ = solve(model_with(tmp_path, fixed), settings={"max_boxes": 100})
    assert "`1 / 'mass of B'` has no finite enclosure" in result.obstacle  # although it is the only variable that is left
    same = ["o0", "o2", "v0", "o41", "o3", "n1", "v0", "o2", "v1", "o41", "o3", "n1", "v1"]
    result, _ = solve(model_with(tmp_path, nl(same)), settings={"max_boxes": 1, "atol": 0, "rtol": 0})
    assert "when pressure and 'mass of B' are exchanged" in result.advice and "`pressure <= 'mass of B'`" in result.advice
    endless = model_with(tmp_path, nl(["o16", "o44", "v0"], bounds="3"))
    assert "the bounds of pressure" in solve(endless)[0].obstacle


def test_many_terms_are_one_array(tmp_path):
    """The message has the element, and not the array."""
    terms = [line for i in range(12) for line in ("o3", "n1", f"v{i}")]
    bounds = "b\n" + "0 1 2\n" * 7 + "0 -1 2\n" + "0 1 2\n" * 4
    text = nl(["o54", "12", *terms], n=12, bounds="0 1 2").replace("b\n" + "0 1 2\n" * 12, bounds)
    result, _ = solve(model_with(tmp_path, text, "".join(f"leg{i}\n" for i in range(12))), settings={"max_boxes": 100})
    assert "`1 / leg7` has no finite enclosure where `leg7` approaches 0, near" in result.obstacle


def test_formulas():
    x = infimum.compile(lambda x: np.sum(np.sqrt(2 * x[::-1] ** 2 + 1)), 4).f
    root = next(node for node in [x.args[0], *x.args[0].args] if node.op == "sqrt")
    assert formula(root, 3).startswith("sqrt(") and "x[0]**2" in formula(root, 3) and "x[3]**2" in formula(root, 0)
    assert "x[9]" in formula(root, 3, np.array([9, 1, 2, 3])) and formula(x).endswith(", …)")


def test_half_lines(tmp_path):
    whole = nl(["v0"], bounds="2 0").replace(" 2 2 2\n 0 0 0 1\n 0 0 0 0 0", " 0 2 0\n 0 0 0 1\n 0 0 0 0 2")
    result, _ = solve(model_with(tmp_path, whole))
    assert result.verdict.name == "PROVED" and result.fun == 0
    result, _ = solve(model_with(tmp_path, whole.replace("v0", "o16\nv0", 1)))
    assert result.lower == -np.inf and "pressure" in result.obstacle


def test_errors_of_the_run(tmp_path, infimum_):
    at = "model.nl, line 14, pressure: the bounds are reversed: 3.0 > 2.0"
    assert read_error(tmp_path, nl(["v0"], bounds="0 3 2"), infimum_) == at
    assert "those of variable pressure are (-inf, inf)" in read_error(tmp_path, nl(["v0"], bounds="3"), infimum_, "engine=swarm")


def read_error(folder, text, infimum_, *words):
    """The same on the command line, and in the .sol file without the colon."""
    write_model(folder, text)
    said = infimum_("model.nl", *words).paragraph()
    assert infimum_("model.nl", "-AMPL", *words).code == 0
    sol = Sol(folder / "model.sol")
    assert sol.code == "500" and sol.message == [f"infimum {infimum.__version__}, {without_colons(said)}"]
    return said


def test_errors_of_the_reader(tmp_path):
    body = [["o5", "v0", "n2"]]
    for was, now, said in (("0 -2 3\n0 -2 3", "0 -2 3\n0 -2 nan", r"line \d+, 'mass of B': the bounds"),
                           ("1 5\n", "5 1 1\n", r"line \d+, constraint pool: complementarity"),
                           ("C0\no5", "C0\no99", r"line \d+, constraint pool: the operator o99"),
                           ("O0 0\nv0", "O0 0\no99", r"line \d+, objective cost: the operator o99"),
                           ("C0\no5\nv0\nn2\n", "", r"missing: the nonlinear body of constraint pool")):
        text = nl(["v0"], constraints=body)
        assert was in text
        with pytest.raises(ModelFileError, match=said):
            model_with(tmp_path, text.replace(was, now), rows="pool\ncost\n")


def test_reversed_bounds_name_the_file_and_the_line(tmp_path, infimum_):
    """In Python, on the command line, and in the .sol file; of variables and of constraints, in text and in binary files."""
    for was, now, said in (("0 -2 3\n0 -2 3", "0 -2 3\n0 4 3", "line 19, 'mass of B': the bounds are reversed: 4.0 > 3.0"),
                           ("1 5\n", "0 2 1\n", "line 16, constraint pool: the bounds are reversed: 2.0 > 1.0")):
        text = nl(["v0"], constraints=[["v0"]]).replace(was, now)
        with pytest.raises(ModelFileError) as caught:
            model_with(tmp_path, text, rows="pool\ncost\n")
        assert str(caught.value) == f"{tmp_path / 'model.nl'}, {said}"
        assert read_error(tmp_path, text, infimum_).endswith(said)
        (tmp_path / "model.nl").write_bytes(binary(text))
        with pytest.raises(ModelFileError, match=f"byte .*{said.partition(', ')[2]}"):
            read(tmp_path / "model.nl")


def test_escape_sequences_reach_no_terminal(tmp_path, infimum_):
    text = nl(["o16", "o44", "v0"], bounds="3", constraints=[["o44", "v1"]])
    model_with(tmp_path, text, "a\x1b[2J\nb\u202e\n", "c\x07\nd\x9b\n")
    for words in (["model.nl"], ["model.nl", "-AMPL"], ["model.nl", "--json"]):
        said = infimum_(*words)
        assert said.code in (0, 1) and all(c.isprintable() or c == "\n" for c in said.out) and said.err == ""
    assert all(line.isprintable() for line in Sol(tmp_path / "model.sol").message)
