"""Settings as words: our own names, those of other solvers, and what is said of unknown ones."""

import pytest

from infimum.cli.ampl_words import KNOWN, Call, settings_of
from infimum.cli.command import CommandError
from tests.ampl.helpers import nl
from tests.ampl.test_ampl_solver import BOWL
from tests.cli.helpers import program


@pytest.fixture
def infimum_(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.nl").write_text(nl(BOWL))
    return program(capsys)


@pytest.mark.parametrize("word, meant", [
    ("time_limit=2", {"time_limit": 2.0}), ("timelimit=2", {"time_limit": 2.0}), ("TimeLimit=2", {"time_limit": 2.0}),
    ("timelim=2", {"time_limit": 2.0}), ("maxtime=2", {"time_limit": 2.0}), ("lim:time=2", {"time_limit": 2.0}),
    ("mipgap=1e-3", {"rtol": 1e-3}), ("mip:gap=1e-3", {"rtol": 1e-3}), ("mipgaprel=1e-3", {"rtol": 1e-3}),
    ("mipgapabs=1", {"atol": 1.0}), ("mip:gapabs=1", {"atol": 1.0}), ("outlev=0", {"outlev": 0}),
    ("tech:outlev=1", {"outlev": 1}),
    ("tech:threads=2", {"threads": 2}), ("threads=2", {"threads": 2}), ("seed=3", {"seed": 3}),
    ("nodelim=1e6", {"max_boxes": 10**6}),
    ("limits/time=2", {"time_limit": 2.0}), ("--time-limit=2", {"time_limit": 2.0}), ("max-boxes=7", {"max_boxes": 7}),
    ("option=lp=true particles=3", {"option": [("lp", True), ("particles", 3)]})])
def test_names(word, meant):
    assert settings_of([word]) == meant


def test_words_without_an_equals_sign():
    assert settings_of(["timelimit", "5", "--seed", "3", "atol=1"]) == {"time_limit": 5.0, "seed": 3, "atol": 1.0}
    assert settings_of(["time_limit=2", "timelim=3"]) == {"time_limit": 3.0}  # the last one counts


@pytest.mark.parametrize("words, said", [
    (["timlimit=5"], "infimum has no option 'timlimit': did you mean time_limit?"), (["bogus=1"], "there are atol, batch"),
    (["atol"], "'atol' has no value: write atol=VALUE"), (["atol=x"], "atol: 'x' is not a number"),
    (["feastol=1e-6"], "infimum has no option 'feastol': did you mean "),
    (["timelimit=soon"], "timelimit: 'soon' is not a number"),
    (["lp=true"], "'lp' is an option of an engine: write option=lp=VALUE"), (["x0=1"], "infimum has no option 'x0'")])
def test_one_sentence_for_what_is_wrong(words, said):
    with pytest.raises(CommandError) as caught:
        settings_of(words)
    assert said in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("text, meant", [
    ("engine = swarm  seed=3", {"engine": "swarm", "seed": 3}), ("timelimit 5 mipgap 0.01", {"time_limit": 5.0, "rtol": 0.01}),
    ('option="lp=true particles=3"', {"options": {"lp": True, "particles": 3}}), (r"checkpoint=C:\runs\a.inf",
                                                                                  {"checkpoint": r"C:\runs\a.inf"}), ("", {})])
def test_the_environment(text, meant):
    assert Call.read(["-AMPL"], {"infimum_options": text}).settings == meant


def test_a_quotation_mark_too_many():
    with pytest.raises(CommandError, match="infimum_options has a quotation mark without its partner"):
        Call.read([], {"infimum_options": 'option="lp=true'})


def test_the_command_line_comes_last(infimum_, monkeypatch):
    monkeypatch.setenv("infimum_options", "engine = swarm  seed=3")
    assert infimum_("model.nl", "option=particles=20").rows["run"].startswith("engine swarm, seed 3")
    assert "PROVED" in infimum_("model.nl", "engine=auto").out
    monkeypatch.setenv("infimum_options", "timlimit=5")
    assert infimum_("model.nl").paragraph() == "infimum has no option 'timlimit': did you mean time_limit?"


def test_every_setting_of_the_command_line_is_known():
    assert {"time_limit", "atol", "rtol", "xtol", "feasibility", "threads", "seed", "outlev", "objno", "wantsol"} <= KNOWN.keys()
