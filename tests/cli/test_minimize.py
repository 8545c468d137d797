"""`infimum minimize`: good runs, the forms of bounds, what the file may declare, exit codes, JSON."""

import json
import sys
from fractions import Fraction

import pytest

from infimum.cli import minimize as command
from infimum.cli.main import main
from infimum.result import Result
from tests.cli.helpers import EGGHOLDER, ROSEN, SQUARE, UNDEFINED


# ---- good runs
def test_a_proof_is_a_table_and_code_0(infimum_, write):
    said = infimum_("minimize", write(ROSEN), "--bounds", "-5", "10", "-5", "10")
    assert said.code == 0 and said.err == ""
    assert said.rows["function"] == "model.py:rosen, 2 variables"
    assert said.rows["verdict"].startswith("PROVED") and said.rows["x"] == "(1, 1)"


def test_whole_numbers_without_bounds(infimum_, write):
    said = infimum_("minimize", write(SQUARE), "--bounds", "-inf", "inf", "--integers", "0")
    assert said.code == 0 and said.rows["verdict"].startswith("PROVED") and said.rows["x"] == "(0)"


def test_one_variable_is_not_plural(infimum_, write):
    said = infimum_("minimize", write(SQUARE), "--bounds", "-1", "1")
    assert said.rows["function"] == "model.py:square, 1 variable"


def test_the_swarm_is_a_candidate_and_code_0(infimum_, write):
    said = infimum_("minimize", write(SQUARE), "--bounds", "-1", "1", "--n", "2", "--engine", "swarm", "--seed", "7",
                    "--option", "particles=20", "enough=2", "--option", "start=sobol", "--option", "confidence=none")
    assert said.code == 0 and said.rows["verdict"].startswith("CANDIDATE") and said.rows["run"] == "engine swarm, seed 7, on cpu"


def test_a_variation_of_the_newton_loop(infimum_, write):
    asked = "minimize", write(SQUARE), "--bounds", "-1", "2", "--engine", "newton", "--option"
    said = infimum_(*asked, "variation=PF", "gaps=true")
    assert said.code == 0 and said.rows["verdict"].startswith("PROVED") and said.rows["run"].startswith("engine newton")
    wrong = infimum_(*asked, "variation=FIP")
    assert wrong.code != 0 and "'variation' must be one of 'IPF'" in wrong.err


# ---- exit codes
def test_infeasible_is_code_3(infimum_, write):
    said = infimum_("minimize", write(UNDEFINED), "--bounds", "-1", "1")
    assert said.code == 3 and said.rows["verdict"].startswith("INFEASIBLE") and "1 variable" in said.rows["function"]


def test_stopped_is_code_1(infimum_, write):
    said = infimum_("minimize", write(EGGHOLDER), "--max-boxes", "1")
    assert said.code == 1 and said.rows["verdict"].startswith("STOPPED") and "the limit is 1" in said.rows["message"]


def test_undecided_is_code_1(infimum_, write):
    zero = ("--atol", "0", "--rtol", "0", "--xtol", "0")
    said = infimum_("minimize", write("def f(x): return 0.1 * x[0] + 0.3"), "--bounds", "1", "2", *zero)
    assert said.code == 1 and said.rows["verdict"].startswith("UNDECIDED")


def test_a_search_that_has_not_converged_is_code_1(infimum_, write):
    said = infimum_("minimize", write(EGGHOLDER), "--engine", "swarm", "--option", "descent_steps=1", "restarts=0", "enough=none")
    assert said.code == 1 and said.rows["verdict"].startswith("CANDIDATE") and said.rows["success"] == "NO"


def test_ctrl_c_before_a_result_is_code_130(infimum_, write):
    said = infimum_("minimize", write("raise KeyboardInterrupt"))
    assert said.code == 130 and said.out == "" and said.err == "infimum: interrupted before there was a result\n"


# ---- the forms of bounds
@pytest.mark.parametrize("bounds", [
    ["--bounds", "-5", "10", "-3", "4"],
    ["--bounds", "-5,10;-3,4"],
    ["--bounds", "-5,10 ; -3,4;"],
    ["--bounds", "-5,10", "-3,4"],
    ["--bounds=-5,10;-3,4"],
    ["--bounds", "[(-5, 10), (-3, 4)]"],
    ["--bounds", "-5", "10", "--bounds", "-3", "4"],
    ["--bounds", "-.5e1", "+1e1", "-3.", "4"],
])
def test_bounds(infimum_, write, told, bounds):
    for words in ([write(ROSEN), *bounds], [*bounds, write(ROSEN)]):
        assert infimum_("minimize", *words).code == 0
        assert told["bounds"] == [(-5.0, 10.0), (-3.0, 4.0)] and told["n"] is None


@pytest.mark.parametrize(("words", "bounds", "n"), [
    (["--bounds", "-5.5", "6", "--n", "10"], (-5.5, 6.0), 10),
    (["--bounds", "-5.5", "6", "--n", "1e1"], (-5.5, 6.0), 10),
    (["--bounds", "-5.5", "6"], [(-5.5, 6.0)], None),
    (["--bounds", "-1", "1", "-2", "2", "--n", "2"], [(-1.0, 1.0), (-2.0, 2.0)], 2),
    (["--bounds", "-inf", "inf"], [(-float("inf"), float("inf"))], None),
    (["--bounds", "0", "1e-3", "--", ], [(0.0, 1e-3)], None),
])
def test_one_pair_is_repeated(infimum_, write, told, words, bounds, n):
    assert infimum_("minimize", *words, write(SQUARE)).code == 0
    assert told["bounds"] == bounds and told["n"] == n


@pytest.mark.parametrize(("declared", "words", "bounds", "n"), [
    ("bounds = [(-5, 10), (-3, 4)]", [], [(-5, 10), (-3, 4)], None),
    ("BOUNDS = ((-5, 10), (-3, 4))", [], ((-5, 10), (-3, 4)), None),
    ("bounds = (-5, 10); n = 3", [], (-5, 10), 3),
    ("bounds = (-5, 10); n = 3", ["--n", "4"], (-5, 10), 4),
    ("bounds = [-5, None]; n = 3", [], [-5, None], 3),
    ("bounds = [(-5, 10)] * 2; n = 50", [], [(-5, 10)] * 2, None),          # n is something else in this file
    ("bounds = [(-5, 10)] * 2", ["--bounds", "0", "1"], [(0.0, 1.0)], None),  # the command line comes first
    ("n = 3", ["--bounds", "0", "1"], (0.0, 1.0), 3),
    ("n = 3", ["--bounds", "0", "1", "0", "2"], [(0.0, 1.0), (0.0, 2.0)], None),
])
def test_declared_bounds(infimum_, write, told, declared, words, bounds, n):
    assert infimum_("minimize", write(f"{SQUARE}\n{declared}"), *words).code == 0
    assert told["bounds"] == bounds and told["n"] == n


def test_declared_scipy_bounds(infimum_, write):
    text = f"from scipy.optimize import Bounds\n{SQUARE}\nn = 2\n"
    assert infimum_("minimize", write(text + "bounds = Bounds(-5, 10)")).rows["function"].endswith("2 variables")
    assert infimum_("minimize", write(text + "bounds = Bounds([-5, 0, 0], 10)")).rows["function"].endswith("3 variables")


# ---- settings
def test_settings_reach_minimize(infimum_, write, told):
    infimum_("minimize", write(SQUARE), "--bounds", "-1", "1", "--n", "2", "--atol", "1e-3", "--rtol", "0", "--xtol", ".5",
             "--time-limit", "9", "--max-boxes", "1e3", "--memory-limit", "1e9", "--batch", "64", "--seed",
             "18446744073709551615", "--x0", "-.5", "0.5", "--x0", "0,0;1,-1", "--no-progress", "--option",
             "particles=10", "armijo=1e-1", "--engine", "auto")
    assert told == {"bounds": (-1.0, 1.0), "n": 2, "atol": 1e-3, "rtol": 0.0, "xtol": 0.5, "time_limit": 9.0, "max_boxes": 1000,
                    "memory_limit": 1e9, "batch": 64, "seed": 2**64 - 1, "x0": [[-0.5, 0.5], [0.0, 0.0], [1.0, -1.0]],
                    "progress": False,
                    "options": {"particles": 10, "armijo": 0.1}, "engine": "auto"}


def test_what_is_not_given_is_left_to_minimize(infimum_, write, told):
    infimum_("minimize", write(SQUARE), "--bounds", "-1", "1")
    assert told == {"bounds": [(-1.0, 1.0)], "n": None}


def test_progress_is_on_stderr(infimum_, write):
    said = infimum_("minimize", write(SQUARE), "--bounds", "-1", "1", "--progress", "--json")
    assert said.code == 0 and "evaluations" in said.err and said.json["verdict"] == "PROVED"


@pytest.fixture
def told(monkeypatch) -> dict:
    """What was handed to minimize; the run itself is a short one."""
    seen: dict = {}
    real = command.minimize

    def listen(fun, bounds, **settings) -> Result:
        seen.clear()
        seen.update(settings, bounds=bounds)
        return real(lambda x: x[0], [(0, 1)])
    monkeypatch.setattr(command, "minimize", listen)
    return seen


# ---- JSON
def test_json_holds_every_field(infimum_, write):
    said = infimum_("minimize", write(ROSEN), "--bounds", "-5", "10", "-5", "10", "--json")
    found = said.json
    assert said.code == 0 and said.err == ""
    assert set(found) == set(Result.__dataclass_fields__) - {"view", "question", "inquiry", "solutions"} | {
        "gap", "minimisers", "constraints", "maxcv", "maximised"}
    assert found["verdict"] == "PROVED" and found["success"] is True and len(found["x"]) == 2
    assert found["lower"] <= 0 <= found["upper"] == found["fun"]
    (low, high), *_ = found["boxes"]
    assert low[0] <= 1 <= high[0] and found["history"][0]["lower"] == "-inf"


def test_json_of_the_swarm_and_of_nothing_found(infimum_, write):
    found = infimum_("minimize", write(SQUARE), "--bounds", "-1", "1", "--engine", "swarm", "--json").json
    assert found["lower"] == "-inf" and found["boxes"] is None and found["minima"][0]["status"] == "CONVERGED"
    said = infimum_("minimize", write(UNDEFINED), "--bounds", "-1", "1", "--json")
    assert said.code == 3 and said.json["x"] is None and said.json["upper"] == said.json["lower"] == "inf" == said.json["fun"]


def test_an_unbounded_box_is_valid_json(infimum_, write):
    text = "import numpy as np\ndef f(x): return np.exp(-x[0])"
    found = infimum_("minimize", write(text), "--bounds", "0", "inf", "--json").json
    (low, high), = found["boxes"]
    assert found["verdict"] == "PROVED" and high == ["inf"] and low[0] > 10


def test_what_the_file_prints_goes_to_stderr(infimum_, write):
    text = "print('loading')\n" + SQUARE.replace("    return", "    print('called')\n    return")
    said = infimum_("minimize", write(text), "--bounds", "-1", "1", "--json")
    assert said.code == 0 and said.json["verdict"] == "PROVED"
    assert said.err == "loading\n" + "called\n" * (1 + said.json["plain_calls"])


# ---- the file
def test_its_folder_can_be_imported_from_and_is_forgotten(infimum_, write, tmp_path):
    write("shift = 0.5", "constants_of_this_test.py")
    (tmp_path / "elsewhere").mkdir()
    before = list(sys.path)
    text = "def f(x):\n    from constants_of_this_test import shift\n    return (x[0] - shift)**2"
    said = infimum_("minimize", tmp_path / write(text), "--bounds", "-1", "1")
    assert said.code == 0 and said.rows["x"] == "(0.5)"
    assert sys.path == before and "infimum_user_file" not in sys.modules
    assert not list(tmp_path.glob("__pycache__/model*"))


def test_what_is_guarded_does_not_run(infimum_, write):
    assert infimum_("minimize", write(SQUARE + "\nif __name__ == '__main__':\n    1 / 0"), "--bounds", "-1", "1").code == 0


def test_a_file_may_hold_a_dataclass(infimum_, write):
    text = "from dataclasses import dataclass\n@dataclass\nclass P:\n    a: 'float' = 0.5\ndef g(x): return (x[0] - P().a)**2"
    assert infimum_("minimize", write(text), "--bounds", "-1", "1").rows["x"] == "(0.5)"


def test_a_run_is_resumed(tmp_path, monkeypatch, capsys):
    """Stopped by a limit, then resumed: the answer of an undisturbed run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "egg.py").write_text(EGGHOLDER)
    words = ["minimize", "egg.py", "--json"]
    assert main([*words, "--checkpoint", "run.inf", "--max-boxes", "60"]) == 1
    stopped = json.loads(capsys.readouterr().out)
    assert main(["resume", "run.inf", "egg.py", "--json"]) == 0
    resumed = json.loads(capsys.readouterr().out)
    assert main(words) == 0
    whole = json.loads(capsys.readouterr().out)
    assert stopped["verdict"] == "STOPPED" and resumed["verdict"] == "PROVED"
    assert all(resumed[name] == whole[name] for name in ("x", "lower", "upper", "boxes", "nit", "nfev"))


def test_a_proof_that_has_ended_goes_on_to_a_narrower_goal(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "egg.py").write_text(EGGHOLDER)
    assert main(["minimize", "egg.py", "--json", "--checkpoint", "run.inf", "--memory-limit", "300"]) == 1
    assert "memory limit" in json.loads(capsys.readouterr().out)["message"]
    words = ["resume", "run.inf", "egg.py", "--json"]
    assert main([*words, "--memory-limit", "1e9"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert main([*words, "--atol", "1e-9", "--rtol", "0", "--xtol", "1e-5"]) == 0
    second = json.loads(capsys.readouterr().out)
    assert second["upper"] - second["lower"] <= 1e-9 < first["upper"] - first["lower"] and second["nfev"] > first["nfev"]
    assert all(high - low <= 1e-5 for lo, hi in second["boxes"] for low, high in zip(lo, hi, strict=True))
    assert main([*words, "--atol", "-1"]) == 2 and "atol must be a number" in capsys.readouterr().err


def test_a_checkpoint_of_another_function(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "egg.py").write_text(EGGHOLDER)
    (tmp_path / "rosen.py").write_text(ROSEN)
    assert main(["minimize", "egg.py", "--checkpoint", "run.inf", "--max-boxes", "60"]) == 1
    assert main(["resume", "run.inf", "rosen.py"]) == 2
    assert "another function" in capsys.readouterr().err


# ---- start boxes
@pytest.mark.parametrize("words", [
    ["--start-box", "-2", "-1", "0", "1", "--start-box", "1", "2", "0", "3"],
    ["--start-box", "-2,-1;0,1", "--start-box", "1,2;0,3"],
    ["--start-box=-2,-1;0,1", "--start-box", "[(1, 2), (0, 3)]"],
])
def test_start_boxes(infimum_, write, told, words):
    for order in ([write(ROSEN), *words], [*words, write(ROSEN)]):
        assert infimum_("minimize", *order, "--bounds", "-5", "10", "-5", "10").code == 0
        assert told["start_boxes"] == [[(-2.0, -1.0), (0.0, 1.0)], [(1.0, 2.0), (0.0, 3.0)]]


def test_start_boxes_that_the_file_declares(infimum_, write):
    file = write(f"{SQUARE}\nbounds = (-1, 1); n = 2\nstart_boxes = [[(-1, 0)] * 2, [(0.5, 1)] * 2]")
    said = infimum_("minimize", file)
    assert said.code == 0 and said.rows["x"] in ("(0, 0)", "(0.5, 0.5)")  # both are as far from the lowest point
    assert said.rows["message"].endswith("all this is about the union of the 2 start boxes, not about the rest of the bounds")
    said = infimum_("minimize", file, "--start-box", "0", "1", "0", "1")  # the command line comes first
    assert said.rows["x"] == "(0.25, 0.25)" and "about the start box" in said.rows["message"]


def test_the_help_tells_of_start_boxes(infimum_):
    said = infimum_("minimize", "--help")
    assert "--start-box LO HI ..." in said.out and "about their union" in " ".join(said.out.split())


def test_ends_are_the_numbers_that_are_written(infimum_, write):
    """1/3 and 2**53 + 1 are no doubles; 0.1 is read as Python reads it."""
    said = infimum_("minimize", write(SQUARE), "--bounds", "1/3", "9007199254740993", "--json")
    r = json.loads(said.out)
    assert said.code == 0 and r["lower"] <= Fraction(1, 144) <= r["upper"] and r["x"][0] > Fraction(1, 3)
    assert infimum_("minimize", write(SQUARE), "--bounds", "-1/3", "1/0").code != 0
    boxes = infimum_("minimize", write(SQUARE), "--bounds", "0.1", "1", "--start-box", "1/3", "1/2", "--start-box", "1/2", "2/3")
    assert boxes.rows["verdict"].startswith("PROVED")
