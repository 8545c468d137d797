"""`infimum minimize` by trials: --engine index, --command, --workers, --timeout, --journal, --max-trials, Ctrl-C."""

import os
import shlex
import signal
import sys
import time
from pathlib import Path

import pytest

import infimum
from infimum.blackbox.journal import Journal
from infimum.blackbox.journal_reading import StartCommand, read_journal
from tests import children
from tests.trials.journals_0_2 import FOLDER

ROOT = Path(infimum.__file__).parents[1]
MODEL = """
import math

bounds = [(0, 1), (0, 1)]

def f(x):
    return math.sin(9 * x[0]) + (x[1] - 0.4)**2

def g(x):
    return 0.2 - x[0]

constraints = [g]
"""
SIM = "import sys\nx, y = map(float, sys.argv[1:])\nprint('a line before')\nprint(0.2 - x, x * x + (y - 0.3)**2)\n"


@pytest.fixture
def sim(write):
    return f"{sys.executable} {write(SIM, 'sim.py')} {{x0}} {{x1}}"


def test_a_function_that_cannot_be_traced(infimum_, write):
    name = write(MODEL)
    wrong = infimum_("minimize", f"{name}:f")
    assert "without a proof: --engine index." in wrong.paragraph()
    said = infimum_("minimize", f"{name}:f", "--engine", "index", "--max-trials", "60", "--option", "accuracy=0")
    assert said.code == 0 and said.rows["verdict"].startswith("CANDIDATE") and "verified" not in said.out
    assert "60 trials" in said.rows["trials"] and said.rows["run"].startswith("engine index")


def test_workers_and_a_journal(infimum_, write):
    name = write(MODEL)
    asked = "minimize", f"{name}:f", "--engine", "index", "--journal", "run.jsonl", "--max-trials"
    said = infimum_(*asked, "20", "--workers", "2")
    assert said.code == 0 and "the same command continues from run.jsonl, with a larger --max-trials" in said.rows["message"]
    more = infimum_(*asked, "30", "--json").json["trials"]
    assert more["count"] == 30 and more["journal"] == "run.jsonl"
    with open("run.jsonl") as file:
        assert len(file.readlines()) == 31


def test_resume_continues_a_journal_by_itself(infimum_, write, sim, tmp_path, monkeypatch):
    """From any folder, with the settings that it was begun with, or others."""
    name = write(MODEL)
    begun = {"of_file.jsonl": ("minimize", f"{name}:f", "--engine", "index", "--option", "r=3"),
             "of_command.jsonl": ("minimize", "--command", sim, "--bounds", "0,1;0,1", "--constraints", "1", "--maximise")}
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for path, asked in begun.items():
        assert infimum_(*asked, "--journal", path, "--max-trials", "4").code == 0
        said = infimum_("resume", path, "--json")
        assert said.json["trials"]["count"] == 4 and "a larger max_trials=" in said.json["message"]
        assert said.err == f"infimum: continuing `infimum {shlex.join([*asked, '--journal', path, '--max-trials', '4'])}`\n"
        with monkeypatch.context() as there:
            there.chdir(elsewhere)
            more = infimum_("resume", f"../{path}", "--max-trials", "6", "--json")
            assert more.json["trials"]["count"] == 6 and f" in {tmp_path}\n" in more.err and Path.cwd() == elsewhere
            assert infimum_("resume", f"../{path}", "--max-trials", "6", "--workers", "1").rows["trials"].startswith("6 trials")
        whole = infimum_(*asked, "--max-trials", "6", "--json").json
        assert (whole["x"], whole["fun"]) == (more.json["x"], more.json["fun"])
    assert "engine 'index' has no --atol" in infimum_("resume", "of_file.jsonl", "--atol", "1").err
    assert infimum_("resume", "run.inf").paragraph() == "there is no file run.inf"
    Path("run.inf").touch()
    assert "`infimum resume run.inf FILE.py`" in infimum_("resume", "run.inf").paragraph()
    wrong = infimum_("resume", "run.inf", "--max-trials", "3").paragraph()
    assert wrong == "--max-trials is for a journal of trials, and run.inf is none"


def test_resume_finds_that_the_file_or_the_program_was_changed(infimum_, write, sim):
    name = write(MODEL)
    assert infimum_("minimize", f"{name}:f", "--engine", "index", "--journal", "a.jsonl", "--max-trials", "3").code == 0
    write(MODEL.replace("9 * x[0]", "8 * x[0]"))
    assert "the source of `f` has changed" in infimum_("resume", "a.jsonl", "--max-trials", "4").err
    assert infimum_("minimize", "--command", sim, "--bounds", "0,1;0,1", "--constraints", "1", "--journal", "b.jsonl",
                    "--max-trials", "3").code == 0
    write(SIM.replace("0.3", "0.4"), "sim.py")
    assert "the program sim.py has changed" in infimum_("resume", "b.jsonl", "--max-trials", "4").err
    Path(name).unlink()
    said = infimum_("resume", "a.jsonl")
    assert said.code == 2 and f"there is no file '{name}'" in said.err


def test_resume_says_which_call_continues_a_journal_of_python(infimum_, write):
    """With all that the journal knows; and how it is on the command line."""
    name = write(MODEL)
    names = {}
    exec(Path(name).read_text(), names)
    settings = {"constraints": [names["g"]], "options": {"r": 3.0, "polish": False}, "x0": [0.5, 0.5]}
    infimum.minimize(names["f"], names["bounds"], engine="index", journal="run.jsonl", max_trials=4, **settings)
    with pytest.raises(infimum.CheckpointError) as said:
        infimum.resume("run.jsonl", None)
    call = str(said.value).split("continue it with ")[1].split(", with the other settings")[0]
    assert "options={'r': 3.0, 'polish': False}, x0=[[0.5, 0.5]]" in call
    assert eval(call.replace("journal=", "max_trials=6, journal="), {**names, "infimum": infimum}).trials.count == 6
    told = infimum_("resume", "run.jsonl", f"{name}:f").paragraph()
    assert "is a journal of 6 trials" in told and f"`infimum minimize {name}:f --engine index --bounds 0 1 0 1" in told


@pytest.mark.parametrize("words", [["verify", "a", "b"], [], ["minimize", "--nonsense"]])
def test_command_lines_that_no_run_was_begun_with(infimum_, write, words):
    name = write(MODEL)
    assert infimum_("minimize", f"{name}:f", "--engine", "index", "--journal", "run.jsonl", "--max-trials", "3").code == 0
    found = read_journal("run.jsonl")
    Path("run.jsonl").unlink()
    Journal.create("run.jsonl", found.problem, found.settings, StartCommand(tuple(words), found.started.folder)).close()
    said = infimum_("resume", "run.jsonl")
    assert said.code == 2 and "the journal run.jsonl was begun by `infimum" in said.err and "Traceback" not in said.err


def test_noise_is_no_other_function(infimum_, write):
    name = write("import random\nbounds = [(0, 1)]\ndef f(x):\n    return float(x[0]) + random.random()\n")
    assert infimum_("minimize", name, "--engine", "index", "--journal", "run.jsonl", "--max-trials", "3").code == 0
    assert "give --no-check" in infimum_("resume", "run.jsonl", "--max-trials", "4").err
    assert infimum_("resume", "run.jsonl", "--max-trials", "4", "--no-check", "--json").json["trials"]["count"] == 4


def test_a_journal_of_0_2_is_warned_of_in_a_line(infimum_, write):
    write(Path(FOLDER, "command.jsonl").read_text(), "run.jsonl")
    said = infimum_("minimize", "--command", "expr {x0} + {x1}", "--bounds", "0,3;2,9", "--integers", "0,1", "--json",
                    "--journal", "run.jsonl", "--max-trials", "14")
    assert said.json["trials"]["count"] == 14
    assert said.err.startswith("infimum: the journal run.jsonl was written by infimum 0.2") and said.err.count("\n") == 1


def test_choices_and_whole_numbers_of_a_file(infimum_, write):
    model = "bounds = [['steel', 'wood'], (1, 4)]\ndef f(x):\n    return {'steel': 1.0, 'wood': 0.2}[x[0]] / x[1]\n"
    name = write(model + "integrality = [0, 1]\n", "declared.py")
    said = infimum_("minimize", name, "--engine", "index", "--journal", "run.jsonl", "--json").json
    assert said["trials"]["point"] == ["wood", 4] and said["trials"]["count"] == 8
    assert infimum_("resume", "run.jsonl", name, "--json").json["trials"]["count"] == 8
    for file, which, count in ((write(model, "plain.py"), "1", 8), (name, "0", 9)):  # what is declared gives way to the flag
        flags = "--engine", "index", "--max-trials", "9", "--integers", which, "--json"
        assert infimum_("minimize", file, *flags).json["trials"]["count"] == count


def test_a_command(infimum_, sim):
    said = infimum_("minimize", "--command", sim, "--bounds", "0", "1", "0", "1", "--constraints", "1", "--max-trials", "12",
                    "--workers", "2", "--timeout", "60")
    assert said.code == 0 and "12 trials" in said.rows["trials"] and "2 variables" in said.rows["function"]
    assert said.rows["constraints"].startswith("g1 = -")


def test_commands_of_whole_numbers(infimum_):
    said = infimum_("minimize", "--command", "expr {x0} + {x1}", "--bounds", "1", "3", "--n", "2", "--integers", "0,1", "--json")
    assert said.json["fun"] == 2 and said.json["trials"]["count"] == 9 and said.json["success"]
    most = infimum_("minimize", "--command", "expr {x0} + {x1}", "--bounds", "1", "2", "--n", "2", "--integers", "0,1",
                    "--maximise", "--json")
    assert most.json["fun"] == 4


@pytest.mark.parametrize(("words", "said"), [
    (["--command", "echo nothing {x0}", "--bounds", "0", "1"], "must give 1 number and nothing else"),
    (["--command", "./none {x0}", "--bounds", "0", "1"], "cannot be started"),
    (["--command", "echo {x1}", "--bounds", "0", "1"], "'{x1}' in it: places are {x0}"),
    (["--command", "echo {x0}"], "there are no bounds: give --bounds"),
    (["--command", "echo {x0}", "--bounds", "0", "inf"], "must be finite"),
    (["--command", "echo {x0}", "--bounds", "0", "1", "--engine", "auto"], "only --engine index can minimise"),
    (["--command", "echo {x0}", "--bounds", "0", "1", "--constraints", "g"], "how many numbers the program prints"),
    (["--command", "echo {x0}", "--bounds", "0", "1", "--max-boxes", "3"], "use --max-trials"),
    (["--bounds", "0", "1"], "give either a Python file"),
    (["model.py", "--command", "echo {x0}", "--bounds", "0", "1"], "give either a Python file"),
    (["--command", "echo {x0}", "--bounds", "0", "1", "--max-trials", "0"], "--max-trials must be a positive whole number"),
    (["--command", "echo {x0}", "--bounds", "0", "1", "--timeout", "0"], "must be a positive number of seconds")])
def test_what_cannot_be(infimum_, words, said):
    assert said in infimum_("minimize", *words).paragraph()


def test_trials_belong_to_the_index(infimum_, write):
    said = infimum_("minimize", write(MODEL) + ":f", "--timeout", "2")
    assert "--timeout is for --engine index" in said.paragraph() and said.code == 2


def test_a_missed_target_is_code_1(infimum_, write):
    said = infimum_("minimize", write(MODEL) + ":f", "--engine", "index", "--max-trials", "9", "--option", "target=-5")
    assert said.code == 1 and said.rows["success"] == "NO"


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is another thing there")
def test_ctrl_c_keeps_everything_and_two_runs_are_refused(infimum_, write):
    write("import sys, time\nprint(float(sys.argv[1]), flush=True)\nif float(sys.argv[1]) < 0.5: time.sleep(60)\n", "slow.py")
    words = ["minimize", "--command", f"{sys.executable} slow.py {{x0}}", "--bounds", "0", "1", "--journal", "run.jsonl"]
    child = children.start(sys.executable, "-m", "infimum", *words, "--progress", env={**os.environ, "PYTHONPATH": str(ROOT)})
    journal = Path("run.jsonl")
    while not journal.exists() or journal.read_text().count("\n") < 2:  # until a trial is kept
        assert child.poll() is None
        time.sleep(0.02)
    assert "is in use by another run" in infimum_(*words).paragraph()
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=30)
    assert child.returncode == 1 and "interrupted; the same command continues from run.jsonl" in out and "CANDIDATE" in out
    kept = journal.read_text().count("\n") - 1
    said = infimum_(*words, "--max-trials", str(kept), "--json")
    assert said.json["trials"]["count"] == kept
