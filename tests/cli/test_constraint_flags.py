"""Constraints, whole numbers and maxima on the command line."""

import sys
from types import ModuleType

import pytest

from tests.constrained_stand_in import StandIn

MODEL = """
import infimum

bounds = [(0, 4), (0, 4)]

def total(x):
    return x[0] + 2 * x[1]

def limits(x):
    return [x[0] * x[1] >= 1, x[0] <= 3]
"""
DECLARED = MODEL.replace("limits", "constraints")
OTHER = "sides = [lambda x: x[0] >= 5]\n"
COARSE = ("--atol", "0.1", "--rtol", "0")


@pytest.fixture(autouse=True)
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("infimum.engines.constrained_run")
    module.ConstrainedRun = StandIn
    monkeypatch.setitem(sys.modules, "infimum.engines.constrained_run", module)


def test_constraints_are_named(infimum_, write):
    said = infimum_("minimize", write(MODEL), "--constraints", "limits", *COARSE)
    assert said.code == 0 and "model.py:total" in said.out and "x[0] * x[1] >= 1" in said.out


def test_constraints_are_declared(infimum_, write):
    said = infimum_("minimize", write(DECLARED), "--integers", "0,1", *COARSE, "--json")
    assert said.json["constraints"][1]["name"] == "x[0] <= 3" and said.json["x"] == [1.0, 1.0]


@pytest.mark.parametrize("engine", ("swarm", "complete"))
def test_other_engines(infimum_, write, engine):
    said = infimum_("minimize", write(MODEL), "--constraints", "limits", "--engine", engine, "--atol", "0.1", "--json")
    assert said.code == 0 and said.json["engine"] == engine and len(said.json["constraints"]) == 2


def test_constraints_of_another_file(infimum_, write):
    write(OTHER, "other.py")
    said = infimum_("minimize", write(MODEL) + ":total", "--constraints", "other.py:sides")
    assert said.code == 3 and "no point within the bounds meets all constraints" in said.out


def test_maxima(infimum_, write):
    for flag in ("--maximise", "--maximize"):
        said = infimum_("minimize", write(MODEL) + ":total", flag, "--json")
        assert said.json["maximised"] is True and said.json["lower"] == 12.0


def test_errors(infimum_, write):
    said = infimum_("minimize", write(MODEL) + ":total", "--constraints", "limit")
    assert said.code == 2 and "model.py has no variable or function 'limit' for --constraints" in said.err
    said = infimum_("minimize", write(MODEL) + ":total", "--integers", "2")
    assert said.code == 2 and "--integers names variable 2, and there are 2 variables" in said.err


def test_resume(infimum_, write):
    infimum_("minimize", write(MODEL), "--constraints", "limits", "--checkpoint", "run.inf", "--max-boxes", "100", *COARSE)
    assert infimum_("resume", "run.inf", "model.py", "--constraints", "limits").code == 0
    said = infimum_("resume", "run.inf", "model.py:total")
    assert said.code == 2 and "is of other constraints" in said.err
