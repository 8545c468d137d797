"""`infimum MODEL.nl -AMPL`: what is read, what is written, what is said."""

import sys
from dataclasses import replace

import numpy as np
import pytest

import infimum
from infimum import __version__
from infimum.ampl.header import read_header
from infimum.ampl.solution import Solution, write_solution
from infimum.ampl.solving import code_of
from infimum.cli.ampl import settings_of
from infimum.cli.command import CommandError
from infimum.result import Verdict
from tests.ampl.helpers import binary, nl
from tests.cli.helpers import program

BOWL = ["o0", "o5", "o0", "v0", "n-0.1", "n2", "o5", "v1", "n2"]  # (x - 0.1)^2 + y^2


@pytest.fixture
def infimum_(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("infimum_options", raising=False)
    return program(capsys)


class Sol:
    """A .sol file, taken apart by the rules of its format."""

    def __init__(self, path):
        lines = path.read_text().split("\n")
        at = lines.index("")
        self.message, rest = lines[:at], lines[at + 1:]
        assert rest[0] == "Options"
        count = int(rest[1])
        tolerance = count > 4
        count -= 2 * tolerance
        self.options = [int(word) for word in rest[2:2 + count]]
        constraints, duals, variables, values = map(int, rest[2 + count:6 + count])
        begin = 6 + count + tolerance
        self.sizes, self.tolerance = (constraints, duals, variables), rest[6 + count] if tolerance else None
        self.x = [float(word) for word in rest[begin + duals:begin + duals + values]]
        assert rest[begin + duals + values + 1:] == [""]
        word, self.objective, self.code = rest[begin + duals + values].split()
        assert word == "objno" and self.objective == "0"


@pytest.mark.parametrize("written", ["text", "binary"])
@pytest.mark.parametrize("named", ["model.nl", "model"])
def test_solved(infimum_, tmp_path, written, named):
    text = nl(BOWL, more=["x1", "0 1.5"])
    (tmp_path / "model.nl").write_bytes(text.encode() if written == "text" else binary(text))
    said = infimum_(named, "-AMPL")
    assert (said.code, said.out, said.err) == (0, "", "")  # AMPL prints the message itself
    sol = Sol(tmp_path / "model.sol")
    assert sol.code == "0" and sol.options == [1, 1, 0] and sol.sizes == (0, 0, 2)
    assert sol.message[0] == f"infimum {__version__}: PROVED: the global minimum is proved to lie between lower and upper"
    low, high = map(float, sol.message[1].removeprefix("minimum in [").removesuffix("]").split(", "))
    assert low <= 0.0 <= high < 1e-6 and sol.x == pytest.approx([0.1, 0.0], abs=1e-3)


def test_maximised(infimum_, tmp_path):
    (tmp_path / "model.nl").write_text(nl(BOWL, maximise=True))
    assert infimum_("model", "-AMPL").code == 0
    sol = Sol(tmp_path / "model.sol")
    low, high = map(float, sol.message[1].removeprefix("maximum in [").removesuffix("]").split(", "))
    assert low <= 2.9**2 + 9 <= high and high - low < 1e-4 and sol.x == [3.0, 3.0] and "global maximum" in sol.message[0]


def test_codes(infimum_, tmp_path):
    def code(text: str, *words: str) -> str:
        (tmp_path / "model.nl").write_text(text)
        assert infimum_("model", "-AMPL", *words).code == 0
        return Sol(tmp_path / "model.sol").code
    hard = ["o0", "o2", "v0", "o41", "o3", "n1", "v0", "o2", "v1", "o46", "o3", "n1", "v1"]
    assert code(nl(BOWL), "engine=swarm") == "100"  # without a proof
    assert code(nl(["o43", "o1", "n-1", "o5", "v0", "n2"])) == "200"
    assert code(nl(hard), "max_boxes=1", "atol=0", "rtol=0") == "400"
    assert code(nl(BOWL, rows=[[(0, 1.0)]])) == "0"
    assert code(nl(BOWL, bounds="0 3 2")) == "500" and "reversed" in Sol(tmp_path / "model.sol").message[0]


def test_codes_of_results():
    solved = infimum.minimize(lambda x: x[0], [(0, 1)])
    assert code_of(solved) == 0 and code_of(replace(solved, upper=-sys.float_info.max, verdict=Verdict.STOPPED)) == 300
    assert code_of(replace(solved, verdict=Verdict.UNDECIDED)) == 100
    assert code_of(replace(solved, verdict=Verdict.UNDECIDED, x=None)) == 500
    assert code_of(replace(solved, verdict=Verdict.STOPPED, x=None)) == 400


def test_without_ampl_a_table_is_printed(infimum_, tmp_path):
    (tmp_path / "model.nl").write_text(nl(BOWL))
    said = infimum_("model.nl")
    assert said.code == 0 and said.rows["verdict"].startswith("PROVED") and said.rows["function"] == "model.nl"
    assert not (tmp_path / "model.sol").exists()
    assert infimum_("model.nl", "wantsol=1").code == 0 and Sol(tmp_path / "model.sol").code == "0"


def test_settings(infimum_, tmp_path, monkeypatch):
    (tmp_path / "model.nl").write_text(nl(BOWL))
    monkeypatch.setenv("infimum_options", "engine = swarm  seed=3")
    assert "CANDIDATE" in infimum_("model.nl").out
    assert "PROVED" in infimum_("model.nl", "engine=auto").out  # the command line comes last
    assert infimum_("model.nl", "option=particles=20").rows["run"].startswith("engine swarm, seed 3")
    assert infimum_("model.nl", "objno=0", "engine=auto").rows["upper bound"].startswith("0.0")
    assert "there is no objective 2" in infimum_("model.nl", "objno=2").paragraph()
    assert settings_of(["time_limit=2", "seed=1"]) == {"time_limit": 2.0, "seed": 1}
    for words, said in (["bogus=1"], "time_limit"), (["atol"], "NAME=VALUE"), (["atol=x"], "atol: 'x' is not a number"):
        with pytest.raises(CommandError, match=said):
            settings_of(words)


def test_errors(infimum_, tmp_path):
    assert infimum_("missing", "-AMPL").paragraph() == "missing.nl cannot be read: No such file or directory"
    (tmp_path / "model.nl").write_text(nl(["o99"]))
    assert infimum_("model.nl", "-AMPL").paragraph() == "model.nl, line 12: the operator o99 is not known to infimum"
    assert not (tmp_path / "model.sol").exists()


@pytest.mark.parametrize("flag", ["-v", "--version"])
def test_version(infimum_, flag):
    assert infimum_(flag).out == f"infimum {__version__}\n"


def test_the_file_repeats_options_and_every_bit(tmp_path):
    header = read_header("model.nl", nl(n=3).replace("g3 1 1 0", "g3 0 3 2 1e-6").encode())
    x = np.array([0.1, -1 / 3, 5e-324])
    write_solution(tmp_path / "model.sol", header, Solution(0, "one\n\nthree", x))
    sol = Sol(tmp_path / "model.sol")
    assert sol.message == ["one", " ", "three"] and sol.options == [0, 3, 2] and sol.tolerance == "1e-6" and sol.x == x.tolist()
    write_solution(tmp_path / "model.sol", header, Solution(200, "nothing", None))
    assert Sol(tmp_path / "model.sol").x == []
