"""The program as a whole: help, version, the table of commands, exit codes, runs as a process, and outputs that nobody reads."""

import os
import shlex
import sys
from pathlib import Path
from subprocess import PIPE, CompletedProcess

import numpy as np
import pytest

import infimum
from infimum.cli.main import main
from infimum.cli.printing import CODES, code_of
from infimum.cli.program import COMMANDS
from infimum.cli.settings import joined
from infimum.problem.json_values import strict
from infimum.result import Verdict
from tests import children
from tests.ampl.test_nl_files import MODELS
from tests.cli.helpers import ROSEN
from tests.cli.test_gallery_command import result
from tests.cli.test_verify_command import HEAD
from tests.networks.models import model_of, saved

ROOT = Path(infimum.__file__).parent.parent


PROGRAM = (sys.executable, "-m", "infimum")


def process(*argv: str, cwd: Path, stdout=PIPE, **setting: str) -> CompletedProcess:
    """A command, somewhere else."""
    env = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii"} | setting
    return children.run(*argv, cwd=cwd, env=env, stdout=stdout, stderr=PIPE, capture_output=False)


def test_version(infimum_):
    said = infimum_("--version")
    assert said.code == 0 and said.out == f"infimum {infimum.__version__}\n"


def test_without_a_command_it_shows_the_help(infimum_):
    said = infimum_()
    assert said.code == 2 and said.out == "" and all(command.name in said.err for command in COMMANDS)


def test_an_unknown_command(infimum_):
    assert "invalid choice: 'maximize' (choose from" in infimum_("maximize").complaint()


@pytest.mark.parametrize("words", [[], ["minimize"], ["gallery"]])
def test_help_has_examples_and_fits(infimum_, words):
    said = infimum_(*words, "--help")
    assert said.code == 0 and said.err == "" and "examples:" in said.out and f"infimum {' '.join(words)}" in said.out
    assert all(len(line) <= 110 for line in said.out.splitlines())
    assert not words or ("exit codes:" in said.out and "--bounds -5" in said.out) == (words == ["minimize"])


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: c.name)
def test_every_example_can_be_parsed(command, monkeypatch):
    lines = [line.split("   ")[0].split(" > ")[0] for line in (part.strip() for part in command.examples.splitlines())]
    examples = [line for line in lines if line.startswith("infimum ")]
    parsed = []
    every = [_with_run(c, lambda args: parsed.append(args) or 0) for c in COMMANDS]
    monkeypatch.setattr("infimum.cli.program.COMMANDS", every)
    for line in examples:
        argv = shlex.split(line.split("  ")[0])[1:]
        assert main(argv) == 0, line
    assert len(parsed) == len(examples) >= 2


def _with_run(command, run):
    from dataclasses import replace
    return replace(command, run=run)


def test_every_verdict_has_a_code():
    assert set(CODES) == set(Verdict)
    codes = {v: code_of(result(verdict=v)) for v in Verdict}
    assert codes == {Verdict.PROVED: 0, Verdict.CANDIDATE: 0, Verdict.STOPPED: 1, Verdict.UNDECIDED: 1, Verdict.INFEASIBLE: 3}
    assert code_of(result(verdict=Verdict.CANDIDATE, success=False)) == 1


@pytest.mark.parametrize(("argv", "words"), [
    (["--bounds", "-1e3", "1", "f.py"], ["--bounds=-1e3 1", "f.py"]),
    (["f.py", "--bounds", "-inf", "inf", "--n", "3"], ["f.py", "--bounds=-inf inf", "--n", "3"]),
    (["--bounds", "-1,1;-2,2", "f.py"], ["--bounds=-1,1;-2,2", "f.py"]),
    (["--x0", "-1", "f.py", "--atol", "-1e-3"], ["--x0=-1", "f.py", "--atol=-1e-3"]),
    (["--option", "a=1", "b=-2", "f.py"], ["--option=a=1 b=-2", "f.py"]),
    (["--bounds", "f.py"], ["--bounds", "f.py"]),
    (["--json", "--bounds"], ["--json", "--bounds"]),
    (["--", "--bounds", "-1", "1"], ["--", "--bounds", "-1", "1"]),
    ([], []),
])
def test_values_are_joined_to_their_flag(argv, words):
    assert joined(argv) == words


def test_plain_values():
    given = {"a": np.array([[1.0, np.inf]]), "b": np.float64(-np.inf), "c": np.int64(3), "d": (True, None, np.nan), 5: {1}}
    assert strict(given) == {"a": [[1.0, "inf"]], "b": "-inf", "c": 3, "d": [True, None, "nan"], "5": "{1}"}


# ---- as a process
def test_a_process_proves(tmp_path):
    (tmp_path / "rosen.py").write_text(ROSEN)
    done = process(*PROGRAM, "minimize", "rosen.py", "--bounds", "-5", "10", "-5", "10", cwd=tmp_path)
    assert done.returncode == 0 and done.stderr == "" and "PROVED" in done.stdout
    assert [p.name for p in tmp_path.iterdir()] == ["rosen.py"]  # nothing is left behind


def test_a_process_fails_with_a_sentence(tmp_path):
    done = process(*PROGRAM, "minimize", "rosen.py", cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == "" and done.stderr.startswith("infimum: there is no file 'rosen.py'")


def test_ctrl_c_during_the_imports_is_no_traceback(tmp_path):
    """The first heavy import raises what a Ctrl-C would raise there."""
    (tmp_path / "numpy.py").write_text("raise KeyboardInterrupt")
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    done = children.run(*PROGRAM, "gallery", cwd=tmp_path, env=env)
    assert done.returncode == 130 and done.stdout == "" and done.stderr == "infimum: interrupted before there was a result\n"


# ---- an output that nobody reads
RUNS = {
    "minimize": ["minimize", "rosen.py", "--bounds", "-5", "10", "-5", "10"],
    "minimize, as JSON": ["minimize", "rosen.py", "--bounds", "-5", "10", "-5", "10", "--json"],
    "resume": ["resume", "run.inf", "rosen.py"],
    "verify": ["verify", "model.onnx", "p.vnnlib"],
    "gallery": ["gallery"],
    "one of the gallery": ["gallery", "booth"],
    "AMPL": [str(MODELS / "six_hump_camel.nl")],
    "version": ["--version"],
    "help": ["minimize", "--help"],
}


@pytest.fixture
def no_reader():
    """A pipe that nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    yield writing
    os.close(writing)


@pytest.mark.parametrize("argv", RUNS.values(), ids=RUNS)
def test_a_reader_that_has_gone(argv, tmp_path, monkeypatch, no_reader, capsys):
    monkeypatch.chdir(tmp_path)
    Path("rosen.py").write_text(ROSEN)
    if argv[0] == "resume":
        assert main([*RUNS["minimize"], "--checkpoint", "run.inf"]) == 0
    if argv[0] == "verify":
        saved(model_of([("MatMul", ["x", "w"], ["y"])], ["n", 1], {"w": np.array([[2.0]])}), tmp_path)
        Path("p.vnnlib").write_text(f"{HEAD}(assert (>= Y_0 3))")
    capsys.readouterr()
    with open(os.dup(no_reader), "w") as stream:
        monkeypatch.setattr("sys.stdout", stream)
        assert main(argv) == 141
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("name", ["version", "gallery"])
def test_a_process_whose_reader_has_gone(name, unbuffered, tmp_path, no_reader):
    done = process(*PROGRAM, *RUNS[name], cwd=tmp_path, stdout=no_reader, PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == 141 and done.stderr == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a file that is always full")
def test_a_full_disk(tmp_path):
    with open("/dev/full", "w") as full:
        done = process(*PROGRAM, "gallery", cwd=tmp_path, stdout=full)
    assert done.returncode == 2 and done.stderr == "infimum: the output could not be written: No space left on device\n"


@pytest.mark.skipif(os.name == "nt", reason="the shell of Unix closes the output")
def test_an_output_that_is_closed_from_the_start(tmp_path):
    done = process("sh", "-c", f"{shlex.join(PROGRAM)} gallery >&-", cwd=tmp_path)
    assert done.returncode == 0 and done.stdout == done.stderr == ""


def test_a_broken_pipe_of_another_kind_is_not_hidden(monkeypatch):
    def other(args):
        raise BrokenPipeError("a worker has gone")
    monkeypatch.setattr("infimum.cli.program.COMMANDS", [_with_run(COMMANDS[-1], other)])
    with pytest.raises(BrokenPipeError, match="a worker has gone"):
        main(["gallery"])
