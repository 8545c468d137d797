"""A Result reads as attributes, as a mapping and as text."""

import copy
import json
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest

from infimum import minimize
from infimum.problem.cover import Cover
from infimum.problem.minimisers import Minimiser, Minimisers
from infimum.result import End, Minimum, Progress, Result, Verdict

POINT = np.array([1.0, -0.25])


def result(**changes) -> Result:
    given = dict(
        x=POINT, fun=0.1, success=True, status=0, message="8 descents agree", nit=12, nfev=34567, verdict=Verdict.CANDIDATE,
        lower=-np.inf, upper=0.1, confidence=0.9375, engine="swarm", seconds=0.0625, seed=7,
        minima=[Minimum(0.1, POINT, 150, 0.9375, End.CONVERGED), Minimum(-1 / 3, POINT / 3, 10, 0.0625, End.KINK)],
        history=[Progress(0.01, 32, 4.5), Progress(0.02, 64, 0.1)])
    return Result(**{**given, **changes})


def cover(count: int) -> Cover:
    return Cover(np.zeros((2, count)), np.full((2, count), 0.25), np.zeros(count))


def rows_of(r: Result) -> dict[str, str]:
    """The text by its titles; rows without one belong to the row before."""
    rows, title = {}, ""
    for line in str(r).split("\n"):
        title = line[:12].strip() or title
        rows[title] = rows[title] + "\n" + line[13:] if title in rows else line[13:]
    return rows


# ---- text
def test_text(capsys):
    print(result())
    assert capsys.readouterr().out == """\
verdict      CANDIDATE: a search found this point; upper is verified, but lower values may exist
success      yes
message      8 descents agree
upper bound  0.1 (verified at x)
lower bound  none
x            (1, -0.25)
confidence   0.938 that no basin is unseen (an estimate)
minima                        value descents  share  ended      x
                                0.1      150  93.8%  CONVERGED  (1, -0.25)
                 -0.333333333333333       10   6.2%  KINK       (0.3333333333, -0.08333333333)
work         34,567 evaluations, 12 steps, 0.062 s
run          engine swarm, seed 7, on cpu
"""


def test_text_of_a_failure():
    assert str(result(x=None, fun=np.inf, upper=np.inf, success=False, status=1, verdict=Verdict.UNDECIDED, message="interrupted",
                      minima=[], confidence=None, history=[])) == """\
verdict      UNDECIDED: no region can be cut any further, and the goal was not reached
success      NO
message      interrupted
upper bound  none
lower bound  none
x            none
work         34,567 evaluations, 12 steps, 0.062 s
run          engine swarm, seed 7, on cpu"""


def test_text_of_a_proof():
    rows = rows_of(result(verdict=Verdict.PROVED, lower=0.09999999999999998))
    assert rows["lower bound"] == "0.09999999999999998 (proved)" and rows["verdict"].startswith("PROVED: the global minimum is")


@pytest.mark.parametrize("count, regions, said", [
    (1, 1, "all in 1 box (1 region), 0.333 wide; a smaller xtol= may narrow it"),
    (2, 3000, "all in 2 boxes (3,000 regions, the widest 0.25), the widest 0.333 wide; a smaller xtol= may narrow them"),
    (0, 0, "none")])
def test_boxes_of_minimisers(count, regions, said):
    boxes = [(np.array([k, 0.25]), np.array([k + 1 / 3, 0.25])) for k in range(count)]
    lines = rows_of(result(boxes=boxes, regions=cover(regions)))["minimisers"].split("\n")
    assert lines[0] == said
    assert lines[1:] == [f"[{k}, {k + 1 / 3:.9g}] x [0.25, 0.25]" for k in range(count)]


def test_many_and_wide_boxes_are_shortened():
    boxes = [(np.arange(5.0), np.arange(5.0) + k) for k in range(1240)]
    lines = rows_of(result(x=None, boxes=boxes, regions=cover(1240)))["minimisers"].split("\n")
    assert len(lines) == 8 and lines[-1] == "and 1,234 more"
    assert lines[0].endswith("the widest 1.24e+03 wide; a smaller xtol= may narrow them")
    assert rows_of(result(x=None, boxes=boxes, success=False))["minimisers"].endswith("\nand 1,234 more")
    assert lines[2] == "[0, 1] x [1, 2] x [2, 3] x [3, 4] x … 5 in all"


def test_the_box_that_holds_x_comes_first():
    boxes = [(np.array([k, -1.0]), np.array([k + 0.5, 1.0])) for k in (-2.0, 0.75, 3.0)]
    lines = rows_of(result(boxes=boxes, regions=cover(3)))["minimisers"].split("\n")[1:]
    assert [line.split(",")[0] for line in lines] == ["[0.75", "[-2", "[3"]


@pytest.mark.parametrize("lower", [-np.inf, np.inf])
def test_no_lower_bound(lower):
    assert rows_of(result(lower=lower))["lower bound"] == "none"


def test_one_of_a_kind():
    assert rows_of(result(nfev=1, nit=1))["work"] == "1 evaluation, 1 step, 0.062 s"


def test_confidence_of_zero_is_shown():
    assert rows_of(result(confidence=0.0))["confidence"] == "0 that no basin is unseen (an estimate)"


@pytest.mark.parametrize("count, shown", [(10, "(0, 1, 2, 3, 4, 5, 6, 7, 8, 9)"),
                                          (11, "(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, … 11 in all)"),
                                          (12_000, "(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, … 12,000 in all)")])
def test_long_points_are_shortened(count, shown):
    assert rows_of(result(x=np.arange(float(count))))["x"] == shown


def test_points_of_minima_are_shorter():
    text = rows_of(result(minima=[Minimum(0.0, np.arange(5.0), 1, 1.0, End.UNFINISHED)]))["minima"].split("\n")[1]
    assert text.split() == ["0", "1", "100.0%", "UNFINISHED", "(0,", "1,", "2,", "3,", "…", "5", "in", "all)"]


@pytest.mark.parametrize("count, last", [(6, None), (7, "and 1 more"), (1240, "and 1,234 more")])
def test_many_minima_are_shortened(count, last):
    minima = [Minimum(float(k), POINT, 1, 1 / count, End.CONVERGED) for k in range(count)]
    lines = rows_of(result(minima=minima))["minima"].split("\n")[1:]
    assert [line.split()[0] for line in lines[:6]] == list("012345")
    assert [line.strip() for line in lines[6:]] == ([last] if last else [])


def test_columns_of_minima_are_aligned():
    minima = [Minimum(-1.2345678901234567e-300, POINT, 123_456, 1.0, End.UNFINISHED), Minimum(0.0, POINT, 1, 0.001, End.KINK)]
    lines = rows_of(result(minima=minima))["minima"].split("\n")
    assert {line.index("(") for line in lines[1:]} == {lines[0].index(" x") + 1}


def test_every_row_begins_in_the_same_column():
    for line in str(result()).split("\n"):
        assert line[12] == " " and line[:12].rstrip() == line[:12].strip()


# ---- short text
def test_repr():
    assert repr(result()) == "Result(CANDIDATE, fun=0.1, lower=-inf, upper=0.1, x=(1, -0.25))"
    assert repr(result(x=None, verdict=Verdict.UNDECIDED)) == "Result(UNDECIDED, fun=0.1, lower=-inf, upper=0.1, x=none)"


def test_repr_of_a_long_point():
    assert repr(result(x=np.arange(7.0))).endswith("x=(0, 1, 2, 3, 4, 5, … 7 in all))")


# ---- as a mapping
def test_every_field_is_a_key():
    r = result()
    names = [*(f.name for f in fields(Result) if f.name not in ("solutions", "view", "question", "inquiry")), "gap", "minimisers",
             "constraints", "maxcv", "maximised"]
    assert list(r.keys()) == list(r) == names and len(r) == len(names)
    assert {"x", "fun", "success", "status", "message", "nit", "nfev"} <= set(names)  # scipy's names
    for name, value in r.items():
        assert name == "gap" or r[name] is value is r.get(name) is getattr(r, name)
    assert len(list(r.values())) == len(r) and r.get("nothing", 5) == 5
    assert dict(r)["nfev"] == 34567 and {**r}["seed"] == 7


@pytest.mark.parametrize("name", ["keys", "__class__", "nothing", "view", "", 0, None])
def test_other_keys_are_refused(name):
    with pytest.raises(KeyError):
        result()[name]


def test_membership():
    assert "x" in result() and "gap" in result() and "keys" not in result() and "view" not in result()


def test_results_are_compared_by_identity():
    one, other = result(), result()
    assert one == one and one != other and len({one, other}) == 2


# ---- other forms
@pytest.mark.parametrize("lower, upper, gap", [
    (0.5, 1.0, 0.5), (0.0, 0.1, 0.1), (-np.inf, 1.0, np.inf), (-1.0, np.inf, np.inf), (1.0, 1.0, 0.0), (np.inf, np.inf, 0.0),
    (-1e-30, 1.0, np.nextafter(1.0, 2.0)), (1e-30, 1.0, 1.0), (-1.5e308, 1.5e308, np.inf)])
def test_the_gap_is_rounded_up(lower, upper, gap):
    assert result(lower=lower, upper=upper).gap == gap


def test_plain_values():
    found = result(boxes=[(POINT, POINT + 1)]).to_dict()
    assert found["x"] == [1.0, -0.25] and found["verdict"] == "CANDIDATE" and found["lower"] == -np.inf and found["gap"] == np.inf
    assert found["boxes"] == [[[1.0, -0.25], [2.0, 0.75]]] and found["minima"][0]["status"] == "CONVERGED"
    assert found["history"][0] == {"seconds": 0.01, "nfev": 32, "fun": 4.5, "lower": -np.inf, "upper": np.inf}
    assert "view" not in found and "inquiry" not in found


def test_json_is_strict():
    def refuse(name: str) -> None:
        raise AssertionError(name)
    found = json.loads(result(x=None, upper=np.inf).to_json(), parse_constant=refuse)
    assert found["lower"] == "-inf" and found["upper"] == "inf" and float(found["gap"]) == np.inf and found["x"] is None
    assert list(found) == list(result())


def solved(engine: str) -> Result:
    return minimize(lambda x: (x[0] - 0.25) ** 2 + x[1] ** 2, [(-1, 1)] * 2, engine=engine)


@pytest.mark.parametrize("engine", ["auto", "newton", "complete", "swarm"])
def test_copies(engine):
    r = solved(engine)
    for copied in (copy.copy(r), copy.deepcopy(r), pickle.loads(pickle.dumps(r))):
        assert copied.to_json() == r.to_json() and str(copied) == str(r) and copied.plot().axes[-1].get_ylabel() == "x[1]"
    assert copy.deepcopy(r).view.estimate is not None and pickle.loads(pickle.dumps(r)).view.estimate is None


def test_results_come_back_from_other_processes():
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert pool.submit(solved, "auto").result(timeout=60).x.tolist() == solved("auto").x.tolist()


def test_what_may_be_left_out():
    r, other = (Result(x=None, fun=np.inf, success=False, status=1, message="", nit=0, nfev=0, verdict=Verdict.STOPPED,
                       lower=-np.inf, upper=np.inf) for _ in range(2))
    assert r.boxes is None and r.confidence is None and r.attained is None and r.minima == [] and r.history == []
    assert r.minima is not other.minima and r.history is not other.history


@pytest.mark.parametrize("made", [result(), Minimum(0.0, POINT, 1, 1.0, End.KINK), Progress(0.0, 1, 2.0)])
def test_what_was_found_does_not_change(made):
    with pytest.raises(FrozenInstanceError):
        setattr(made, fields(made)[0].name, 1.0)


def test_verdicts_and_ends():
    assert [v.name for v in Verdict] == ["PROVED", "STOPPED", "UNDECIDED", "INFEASIBLE", "CANDIDATE"]
    assert [e.name for e in End] == ["CONVERGED", "KINK", "UNFINISHED"]


# ---- minimisers
def minimiser(x, value=0.0, may_be_global=True, width=0.0):
    x = np.array(x, dtype=float)
    return Minimiser(x, x + width, value, value, may_be_global)


@pytest.mark.parametrize(("found", "rest", "why", "said"), [
    ([], 0, None, "no global minimiser"),
    ([], 3, "so", "no minimiser is proved to be alone; 3 regions may hold minimisers: so"),
    ([minimiser([1])], 0, None, "exactly one global minimiser, proved"),
    ([minimiser([1]), minimiser([2], 7.0, may_be_global=False)], 0, None, "exactly one global minimiser, proved"),
    ([minimiser([1]), minimiser([2])], 0, None, "at least one of 2 local minimisers is global, and no other point"),
    ([minimiser([1])], 1, "so", "1 minimiser is proved to be alone in a box; 1 other region may hold minimisers: so"),
])
def test_what_is_said_of_minimisers(found, rest, why, said):
    assert str(Minimisers(found, rest, why)).splitlines()[0] == said


def test_the_table_of_minimisers():
    found = [minimiser([2, 1.5], 7.0, may_be_global=False), minimiser([0.25, -1], -2.0, width=1e-12)]
    lines = str(Minimisers(found, 0)).splitlines()
    assert [line.split() for line in lines[1:]] == [["value", "global", "width", "x"], ["-2", "yes", "1e-12", "(0.25,", "-1)"],
                                                    ["7", "no", "0", "(2,", "1.5)"]]
    many = str(Minimisers([minimiser([k]) for k in range(25)], 0)).splitlines()
    assert len(many) == 23 and many[-1].strip() == "and 5 more" and "may be" in many[2]
