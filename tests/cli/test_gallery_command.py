"""`infimum gallery`: the list, one problem, all of them, and the judgement."""

from dataclasses import replace

import numpy as np
import pytest

from infimum import problems
from infimum.cli import gallery as command
from infimum.cli.check import check
from infimum.result import Result, Verdict


def result(**changes) -> Result:
    """A proof for branin, to be falsified."""
    p = problems.get("branin")
    given = dict(x=p.points[0], fun=0.398, success=True, status=0, message="", nit=0, nfev=0, verdict=Verdict.PROVED, lower=0.397,
                 upper=0.398, boxes=[(p.lo, p.hi)])
    return Result(**(given | changes))


# ---- the list
def test_the_list(infimum_):
    said = infimum_("gallery")
    lines = said.out.splitlines()
    assert said.code == 0 and said.err == "" and lines[0].split() == ["name", "n", "minimum", "note"]
    assert [line.split()[0] for line in lines[1:-2]] == problems.names()
    assert "branin                        2        0.3978873577  multimodal" in lines
    assert any(line.startswith("rosenbrock ") and " 10+ " in line for line in lines)
    assert lines[-1].startswith(f"{len(problems.names())} problems") and "infimum gallery NAME" in lines[-1]


def test_the_list_as_json(infimum_):
    found = infimum_("gallery", "--json").json["problems"]
    assert [p["name"] for p in found] == problems.names()
    branin = next(p for p in found if p["name"] == "branin")
    assert branin["n"] == 2 and branin["bounds"] == [[-5.0, 10.0], [0.0, 15.0]] and len(branin["minimisers"]) == 3
    assert branin["minimum"][0] <= 0.39788735772973816 <= branin["minimum"][1] and branin["scalable"] is False


# ---- one
def test_one_problem(infimum_):
    said = infimum_("gallery", "branin", "--xtol", "1e-2")
    assert said.code == 0 and said.rows["problem"] == "branin, 2 variables: multimodal"
    assert said.rows["verdict"].startswith("PROVED") and "the enclosure" in said.rows["known"]
    assert said.out.splitlines()[-1].strip() == "3 of 3 known minimisers lie in the boxes"


def test_one_problem_with_n_and_the_swarm(infimum_):
    said = infimum_("gallery", "sphere", "--n", "4", "--engine", "swarm")
    assert said.code == 0 and said.rows["problem"].startswith("sphere, 4 variables")
    assert said.rows["known"] == "the minimum [0.0, 0.0] lies in the enclosure"
    assert said.out.splitlines()[-1].strip() == "no boxes were proved in which the known minimisers could lie"


def test_one_problem_as_json(infimum_):
    found = infimum_("gallery", "forrester", "--json").json
    assert found["verdict"] == "PROVED" and found["problem"]["name"] == "forrester"
    assert found["check"]["word"] == "ok" and found["check"]["covered"] == found["check"]["minimisers"] == 1


def test_one_problem_stopped_is_code_1(infimum_):
    assert infimum_("gallery", "eggholder", "--max-boxes", "1").code == 1


@pytest.mark.parametrize(("words", "said"), [
    (["rosenbrok"], "the gallery has no problem 'rosenbrok': did you mean rosenbrock, "),
    (["qqqqqq"], "the gallery has no problem 'qqqqqq': `infimum gallery` lists all"),
    (["branin", "--n", "3"], "branin exists with n = 2, not with n = 3"),
    (["branin", "--all"], "give the NAME of a problem or --all, not both"),
    (["branin", "--max-n", "3"], "--max-n belongs to --all"),
    (["--all", "--x0", "1", "2"], "--x0 is a point of one problem"),
    (["--engine", "swarm"], "settings are for running"),
    (["--n", "3"], "settings are for running"),
    (["branin", "--x0", "1"], "x0 must be a point of 2 numbers"),
])
def test_wrong_usage(infimum_, words, said):
    assert said in infimum_("gallery", *words).paragraph()


# ---- all
def test_all(infimum_):
    said = infimum_("gallery", "--all", "--max-n", "1")
    head, *lines, empty, summary = said.out.splitlines()
    assert said.code == 0 and head.split() == ["name", "n", "verdict", "lower", "upper", "seconds"] and empty == ""
    assert [line.split()[0] for line in lines] == [p.name for p in problems.all_problems() if p.n == 1]
    for line in lines:
        name, n, verdict, lower, upper, seconds, word = line.split()
        known = problems.get(name).minimum
        assert n == "1" and verdict == "PROVED" and float(lower) <= known.hi and known.lo <= float(upper) + 1e-14 and word == "ok"
    assert summary.startswith(f"{len(lines)} problems in ") and summary.endswith(f": {len(lines)} PROVED, {len(lines)} ok")


def test_which_ones_and_with_which_limits(infimum_, heard):
    infimum_("gallery", "--all")
    assert len(heard) == sum(p.n <= 5 for p in problems.all_problems()) and all(s == {"time_limit": 10.0} for _, s in heard)
    heard.clear()
    infimum_("gallery", "--all", "--engine", "swarm")
    assert all(s == {"engine": "swarm"} for _, s in heard), "which would use its time in search of trust"
    heard.clear()
    infimum_("gallery", "--all", "--n", "3", "--time-limit", "2", "--seed", "1")
    sizes = {problems.get(p.name, 3).n if p.scalable else p.n for p in problems.all_problems() if p.scalable or p.n <= 5}
    assert {n for n, _ in heard} == sizes and len(heard) > 100 and heard[0][1] == {"time_limit": 2.0, "seed": 1}
    heard.clear()
    said = infimum_("gallery", "--all", "--max-n", "0")
    assert said.code == 0 and not heard and said.out.splitlines()[-1].startswith("0 problems in ")


@pytest.fixture
def heard(monkeypatch) -> list:
    """The runs asked for; each answers with nothing proved."""
    runs: list = []

    def listen(fun, bounds, **settings) -> Result:
        runs.append((len(bounds), settings))
        return result(verdict=Verdict.STOPPED, lower=-np.inf, upper=np.inf, boxes=None, success=False)
    monkeypatch.setattr(command, "minimize", listen)
    return runs


def run_all_with(monkeypatch, infimum_, *answers: Result | Exception, words=()):
    """--all over as many copies of branin as there are answers."""
    left = iter(answers)

    def answer(*_, **__) -> Result:
        found = next(left)
        if isinstance(found, BaseException):
            raise found
        return found
    monkeypatch.setattr(command.problems, "all_problems", lambda: [problems.get("branin")] * len(answers))
    monkeypatch.setattr(command, "minimize", answer)
    return infimum_("gallery", "--all", *words)


def test_all_tells_what_is_wrong_and_goes_on(monkeypatch, infimum_):
    from infimum.errors import InternalError
    runs = [result(), result(lower=0.3979), result(verdict=Verdict.CANDIDATE, lower=-np.inf, upper=2.0, boxes=None),
            InternalError("a contradiction"), result(verdict=Verdict.STOPPED, success=False)]
    said = run_all_with(monkeypatch, infimum_, *runs)
    lines = said.out.splitlines()
    assert [line.split()[-1] for line in lines[1:6]] == ["ok", "WRONG", "missed", "contradiction", "ok"] and said.code == 1
    assert lines[-1].endswith("2 PROVED, 1 STOPPED, 1 CANDIDATE, 1 ERROR, 2 ok, 1 missed, 1 WRONG")


def test_all_as_json(monkeypatch, infimum_):
    from infimum.errors import InternalError
    found = run_all_with(monkeypatch, infimum_, result(), InternalError("a contradiction"), words=("--json",)).json
    assert found["summary"]["problems"] == 2 and found["summary"]["PROVED"] == found["summary"]["ERROR"] == 1
    assert found["runs"][0]["check"]["word"] == "ok" and found["runs"][1]["error"] == "a contradiction"


def test_ctrl_c_ends_all_runs(monkeypatch, infimum_):
    stopped = result(verdict=Verdict.STOPPED, message="interrupted", success=False)
    said = run_all_with(monkeypatch, infimum_, result(), stopped, result())
    assert said.code == 1 and said.err == "interrupted: 1 of 3 problems was not run\n" and "2 problems in" in said.out
    assert run_all_with(monkeypatch, infimum_, KeyboardInterrupt()).code == 130


# ---- the judgement
SMALL = (np.zeros(2), np.ones(2))


@pytest.mark.parametrize(("changes", "word", "minimum", "minimisers"), [
    ({}, "ok", "lies in the enclosure", "3 of 3 known"),
    ({"lower": 0.3978873577297382}, "ok", "meets the enclosure", "3 of 3 known"),
    ({"lower": 0.39789}, "WRONG", "WRONG: lies OUTSIDE", "3 of 3 known"),
    ({"upper": 0.39788}, "WRONG", "WRONG: lies OUTSIDE", "3 of 3 known"),
    ({"lower": np.inf, "upper": np.inf, "boxes": []}, "WRONG", "WRONG: lies OUTSIDE", "WRONG: only 0 of 3"),
    ({"boxes": [SMALL]}, "WRONG", "lies in the enclosure", "WRONG: only 0 of 3"),
    ({"boxes": [(np.array([9.4, 2.4]), np.array([9.5, 2.5]))]}, "WRONG", "lies in", "WRONG: only 1 of 3 known minimisers lies"),
    ({"boxes": None}, "ok", "lies in the enclosure", "no boxes were proved"),
    ({"boxes": None, "verdict": Verdict.CANDIDATE, "upper": 1.0}, "missed", "this search MISSED it", "no boxes"),
    ({"boxes": None, "verdict": Verdict.CANDIDATE, "upper": 0.397888}, "ok", "lies in the enclosure", "no boxes"),
    ({"verdict": Verdict.STOPPED, "upper": 1.0}, "ok", "lies in the enclosure", "3 of 3"),
])
def test_the_judgement(changes, word, minimum, minimisers):
    found = check(problems.get("branin"), result(**changes))
    assert found.word == word and found.ok == (word != "WRONG")
    assert minimum in found.about_minimum() and minimisers in found.about_minimisers()


def test_a_wrong_result_is_code_1(monkeypatch, infimum_):
    monkeypatch.setattr(command, "minimize", lambda *_, **__: replace(result(), lower=0.39789))
    said = infimum_("gallery", "branin")
    assert said.code == 1 and "WRONG" in said.rows["known"]
