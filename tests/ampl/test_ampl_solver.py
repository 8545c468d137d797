"""`infimum MODEL.nl -AMPL`: what is read, what is written, what is said."""

import json
import math
import re
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO

import numpy as np
import pytest

import infimum
from infimum import __version__
from infimum.ampl.header import read_header
from infimum.ampl.result_codes import code_of
from infimum.ampl.solution import Solution, read_summary, write_solution
from infimum.cli.ampl_log import Log
from infimum.result import Verdict
from infimum.search.callbacks import Snapshot
from tests.ampl.helpers import binary, nl
from tests.ampl.sol_file import Sol
from tests.cli.helpers import program

BOWL = ["o0", "o5", "o0", "v0", "n-0.1", "n2", "o5", "v1", "n2"]  # (x - 0.1)^2 + y^2
HARD = ["o0", "o2", "v0", "o41", "o3", "n1", "v0", "o2", "v1", "o46", "o3", "n1", "v1"]
ENCLOSURE = re.compile(r"the global (?:minimum|maximum) lies in \[(\S+), (\S+)\] \(gap (\S+?)(?:, (\S+) %)?\)")


@pytest.fixture
def infimum_(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("infimum_options", raising=False)
    return program(capsys)


@pytest.mark.parametrize("written", ["text", "binary"])
@pytest.mark.parametrize("named", ["model.nl", "model"])
def test_solved(infimum_, tmp_path, written, named):
    text = nl(BOWL, more=["x1", "0 1.5"])
    (tmp_path / "model.nl").write_bytes(text.encode() if written == "text" else binary(text))
    said = infimum_(named, "-AMPL", "outlev=0")
    assert (said.code, said.out, said.err) == (0, "", "")  # AMPL prints the message itself
    sol = Sol(tmp_path / "model.sol")
    assert sol.code == "0" and sol.options == [1, 1, 0] and sol.sizes == (0, 0, 2) and sol.objective == "0"
    assert len(sol.message) == 1 and sol.message[0].startswith(f"infimum {__version__}, PROVED, the global minimum lies in [")
    low, high = map(float, ENCLOSURE.search(sol.message[0]).groups()[:2])
    assert low <= 0.0 <= high < 1e-6 and sol.x == pytest.approx([0.1, 0.0], abs=1e-3)
    assert sol.suffixes == {"bestbound": low, "bestvalue": high, "absmipgap": sol.suffixes["absmipgap"],
                            "relmipgap": sol.suffixes["absmipgap"] / high if high else 0.0}
    assert sol.suffixes["absmipgap"] >= high - low


def test_maximised(infimum_, tmp_path):
    """Every number and word is about the maximum."""
    (tmp_path / "model.nl").write_text(nl(BOWL, maximise=True, constraints=[["o0", "v0", "v1"]], ranges="1 5"))
    assert infimum_("model", "-AMPL").code == 0
    sol = Sol(tmp_path / "model.sol")
    low, high = map(float, ENCLOSURE.search(sol.message[0]).groups()[:2])
    assert low <= 2.1**2 + 9 <= high and high - low < 1e-4 and sol.x == pytest.approx([-2.0, 3.0], abs=1e-6)
    assert "the global maximum lies in" in sol.message[0] and sol.suffixes["bestbound"] == high > sol.suffixes["bestvalue"] == low
    said = infimum_("model.nl")
    assert said.rows["verdict"] == "PROVED: the global maximum is proved to lie between lower and upper"
    assert said.rows["lower bound"] == f"{low!r} (verified at x)" and said.rows["upper bound"] == f"{high!r} (proved)"
    assert said.rows["message"].startswith("the supremum lies within") and "maximisers" in said.rows
    assert "minimum" not in said.out and "-f" not in said.out


def test_what_is_maximised_has_the_bits_of_its_negative(infimum_, tmp_path):
    for name, text in (("up", nl(HARD, maximise=True)), ("down", nl(["o16", *HARD]))):
        (tmp_path / f"{name}.nl").write_text(text)
        assert infimum_(name, "-AMPL", "rtol=1e-3").code == 0
    up, down = (Sol(tmp_path / f"{name}.sol") for name in ("up", "down"))
    assert up.x == down.x and up.suffixes["bestbound"] == -down.suffixes["bestbound"]


def test_codes(infimum_, tmp_path):
    def code(text: str, *words: str) -> str:
        (tmp_path / "model.nl").write_text(text)
        assert infimum_("model", "-AMPL", *words).code == 0
        sol = Sol(tmp_path / "model.sol")
        assert ":" not in "".join(sol.message) and read_summary(tmp_path / "model.sol").code == int(sol.code)
        return sol.code
    assert code(nl(BOWL), "engine=swarm") == "100"  # without a proof
    assert code(nl(["o43", "o1", "n-1", "o5", "v0", "n2"])) == "200"
    assert code(nl(BOWL, rows=[[(0, 1.0)]])) == "0"
    assert code(nl(HARD), "max_boxes=1", "atol=0", "rtol=0") == "404"
    assert "STOPPED, 1 box was enclosed, the limit is 1; " in Sol(tmp_path / "model.sol").message[0]
    waves = ["o0", "o41", "o2", "v0", "v1", "o46", "o2", "n9", "v1"]
    assert code(nl(waves), "memory_limit=300", "atol=0", "rtol=0") == "410"
    assert code(nl(["o44", "v0"], bounds="3", maximise=True)) == "300"
    assert "rises above every double" in Sol(tmp_path / "model.sol").message[0]
    assert code(nl(["n0"], bounds="3", gradient=[(0, -1.0)])) == "300"
    assert code(nl(BOWL, bounds="0 3 2")) == "500" and "reversed" in Sol(tmp_path / "model.sol").message[0]


def test_codes_of_results():
    solved = infimum.minimize(lambda x: x[0], [(0, 1)])

    def code(**changes):
        return code_of(replace(solved, **changes))
    assert code() == 0 and code(upper=-sys.float_info.max, verdict=Verdict.STOPPED) == 300
    assert code(lower=sys.float_info.max, upper=math.inf, verdict=Verdict.UNDECIDED, purpose="maximise") == 300
    assert code(verdict=Verdict.UNDECIDED) == 100 and code(verdict=Verdict.UNDECIDED, x=None) == 470
    assert code(verdict=Verdict.INFEASIBLE, x=None) == 200
    for why, number in (("the time limit of 5 s was reached", 402), ("interrupted", 401), ("something else", 400),
                        ("2 boxes were enclosed, the limit is 1", 404), ("no memory is left beside 3 regions", 410),
                        ("3 regions take more than the memory limit of 1 bytes", 410), ("2 iterations are done", 403)):
        for notes in ("", "; `memory, interrupted` holds everywhere"):  # a name is no reason
            assert code(verdict=Verdict.STOPPED, message=why + notes) == number
            assert code(verdict=Verdict.STOPPED, message=why + notes, x=None) == number + 70


@pytest.mark.parametrize("limit", ["timelimit=0.01", "time_limit=0.01"])
def test_a_time_limit_keeps_what_was_proved(infimum_, tmp_path, limit):
    (tmp_path / "model.nl").write_text(nl(HARD, constraints=[["o0", "v0", "v1"]]))
    assert infimum_("model", "-AMPL", limit, "atol=0", "rtol=0").code == 0
    sol = Sol(tmp_path / "model.sol")
    assert sol.code in ("402", "472") and "STOPPED, the time limit of 0.01 s was reached" in sol.message[0]
    assert (sol.code == "402") == bool(sol.x) == math.isfinite(sol.suffixes["bestvalue"])


def test_without_ampl_a_table_is_printed(infimum_, tmp_path):
    (tmp_path / "model.nl").write_text(nl(BOWL))
    said = infimum_("model.nl")
    assert said.code == 0 and said.rows["verdict"].startswith("PROVED") and said.rows["function"] == "model.nl"
    assert not (tmp_path / "model.sol").exists()
    assert infimum_("model.nl", "wantsol=1").code == 0 and Sol(tmp_path / "model.sol").code == "0"
    assert infimum_("model.nl", "--json").json["verdict"] == "PROVED"


def test_json_for_ampl_too(infimum_, tmp_path):
    (tmp_path / "model.nl").write_text(nl(BOWL, bounds="0 3 2"))
    assert infimum_("model.nl", "-AMPL", "--json").out == ""  # there is no result
    (tmp_path / "model.nl").write_text(nl(BOWL))
    assert json.loads(infimum_("model.nl", "-AMPL", "--json").out)["verdict"] == "PROVED"
    assert Sol(tmp_path / "model.sol").code == "0"


def test_objectives_by_number(infimum_, tmp_path):
    """None at all, the first, the second; nobody is told of another one than was asked for."""
    two = nl(BOWL, constraints=[["o0", "v0", "v1"]]).replace(" 2 1 1 0 0 0", " 2 1 2 0 0 0").replace("\nr\n", "\nO1 1\nv0\nr\n")
    (tmp_path / "model.nl").write_text(two)
    said = infimum_("model.nl", "-AMPL")
    assert "minimises objective 1 of 2" in said.out and "This is about objective 0, which is number 1 of 2 (objno=1)." in said.out
    assert infimum_("model.nl", "-AMPL", "objno=2").code == 0 and Sol(tmp_path / "model.sol").x[0] == pytest.approx(3.0)
    assert "the global maximum lies in" in Sol(tmp_path / "model.sol").message[0] and Sol(tmp_path / "model.sol").objective == "1"
    assert "looks for a feasible point" in infimum_("model.nl", "-AMPL", "objno=0").out
    sol = Sol(tmp_path / "model.sol")
    assert sol.message == [f"infimum {__version__}, PROVED, the point meets all constraints"] and not sol.suffixes
    assert "there is no objective 3" in infimum_("model.nl", "objno=3").paragraph()
    free = nl(BOWL).replace(" 2 0 1 0 0 0", " 2 0 0 0 0 0").replace("O0 0\n" + "\n".join(BOWL) + "\n", "")
    (tmp_path / "free.nl").write_text(free)
    assert infimum_("free.nl").rows["verdict"] == "PROVED: a feasible point is proved"


def test_a_feasible_point_between_equations(infimum_, tmp_path):
    (tmp_path / "model.nl").write_text(nl(BOWL, constraints=[["o5", "v0", "n2"]], ranges="4 2"))
    assert infimum_("model.nl", "-AMPL", "objno=0").code == 0
    sol = Sol(tmp_path / "model.sol")
    assert re.search(r"a point that meets all constraints is proved to exist within \S+ of this one", sol.message[0])
    assert sol.x[0] ** 2 == pytest.approx(2.0)


def test_errors(infimum_, tmp_path):
    assert infimum_("missing", "-AMPL").paragraph() == "missing.nl cannot be read: No such file or directory"
    assert infimum_("missing.nl.gz").paragraph() == "missing.nl.gz cannot be read: No such file or directory"
    (tmp_path / "model.nl").write_text(nl(["o99"]))
    assert infimum_("model.nl", "-AMPL").paragraph() == \
        "model.nl, line 12, objective 0: the operator o99 is not known to infimum"
    assert not (tmp_path / "model.sol").exists()


def test_a_solution_that_cannot_be_written_is_printed(infimum_, tmp_path):
    (tmp_path / "model.nl").write_text(nl(BOWL))
    (tmp_path / "model.sol").mkdir()
    said = infimum_("model.nl", "-AMPL")
    assert said.code == 2 and "cannot be written: Is a directory" in said.err and said.rows["verdict"].startswith("PROVED")


def test_the_log_has_few_lines_and_outlives_its_reader(capsys):
    """Each line comes half as late again as the one before; the last that was seen is kept."""
    log = Log(True)
    for seconds in np.arange(0.5, 60.0, 0.25):
        log(Snapshot(np.zeros(1), 2.0, 10, seconds, 1.0, np.inf if seconds < 2 else 2.0))
    lines = capsys.readouterr().out.splitlines()
    assert [float(line.split()[0]) for line in lines[1:4]] == [1.0, 2.0, 3.0] and 8 < len(lines) < 16
    assert lines[0].split()[:3] == ["seconds", "lower", "bound"] and lines[1].split()[1:] == ["1", "none", "none", "10"]
    assert lines[-1].split()[1:] == ["1", "2", "1", "10"] and log.last.seconds == 59.75
    with redirect_stdout(StringIO()) as gone:
        gone.close()
        log.line("nobody reads this")
    log.line("nor this")
    assert capsys.readouterr().out == ""


def test_help(infimum_):
    assert "as a solver of AMPL models" in infimum_("model.nl", "--help").out


@pytest.mark.parametrize("flag", ["-v", "--version"])
def test_version(infimum_, flag):
    assert infimum_(flag).out == f"infimum {__version__}\n"


def test_the_file_repeats_options_and_every_bit(tmp_path):
    header = read_header("model.nl", nl(n=3).replace("g3 1 1 0", "g3 0 3 2 1e-6").encode())
    x = np.array([0.1, -1 / 3, 5e-324])
    suffixes = {"bestbound": -math.inf, "bestvalue": 0.1}
    write_solution(tmp_path / "model.sol", header, Solution(0, "one: a:b\n\nthree:", x, 2, suffixes))
    sol = Sol(tmp_path / "model.sol")
    assert sol.message == ["one, a.b", " ", "three,"] and sol.options == [0, 3, 2] and sol.tolerance == "1e-6"
    assert sol.x == x.tolist() and sol.suffixes == suffixes and sol.objective == "1"
    assert read_summary(tmp_path / "model.sol") == (0, 3, 0, suffixes)
    write_solution(tmp_path / "model.sol", header, Solution(200, "nothing", None))
    assert Sol(tmp_path / "model.sol").x == [] and read_summary(tmp_path / "model.sol").code == 200
