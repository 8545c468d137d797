"""Commands: what they are called with, what is read from them, and how they are killed."""

import errno
import os
import sys
import time
from pathlib import Path

import pytest

from infimum.blackbox.command import Command
from infimum.blackbox.command_template import Template
from infimum.blackbox.outcome import OutcomeKind, Tally
from infimum.blackbox.variables import Variables
from infimum.errors import OptionError, TrialError
from infimum.parallel.worker_start import start_workers
from tests import children
from tests.trials.test_workers import gone, posix

UNIT = Variables.read([(0, 1)] * 2)
pytestmark = posix


def shell(text: str, constraints: int = 0, **more) -> Command:
    """A command whose program is a line for a shell, with the variables as $1 and $2."""
    return Command(["sh", "-c", text, "sh", "{x}"], UNIT, constraints, **more)


# ---- the command line
def test_places_are_filled():
    variables = Variables.read([(0, 1), (0, 9), ["a b", "c"]], [0, 1, 0])
    command = "./sim 'two words' {x} --all={x} -p{x1}:{x0} {{x0}} {x2} {out} {dir}"
    words = Template(command, variables).words([0.1, 3.0, 0.0], "/folder")
    assert words == ["./sim", "two words", "0.1", "3", "a b", "--all=0.1,3,a b", "-p3:0.1", "{x0}", "a b", "/folder/out",
                     "/folder"]


def test_every_bit_of_a_double_arrives():
    x = [0.1 + 0.2, 5e-324]
    words = Template("sim {x}", UNIT).words(x)
    assert [float(word) for word in words[1:]] == x


@pytest.mark.parametrize(("command", "said"), [
    ("./sim {x0}", "has no place for {x1}"), ("./sim {x0} {x2}", "'{x2}'"),
    ("./sim {y} {x}", "'{y}' in it: places are {x0} to {x1}"),
    ("./sim {x} > file", "'>' in it, which only a shell understands"), ("./sim {x} | tail", "'|'"), ("./sim '{x}", "No closing"),
    ("./sim {x} {", "'{'"), ("./sim {x} {}", "'{}'"), ("", "must be a line"), ([], "must be a line"), (3, "must be a line"),
    (["./sim", 3], "cannot be read"), ("./sim {x01} {x1}", "'{x01}'"),
])
def test_templates_that_are_refused(command, said):
    with pytest.raises(OptionError) as error:
        Command(command, UNIT)
    assert said in str(error.value)


@pytest.mark.parametrize("constraints", [-1, True, 1.5, [sum], None])
def test_constraints_of_a_command_are_a_number(constraints):
    with pytest.raises(OptionError, match="how many numbers"):
        Command("./sim {x}", UNIT, constraints)


# ---- what it gives
@pytest.mark.parametrize(("text", "constraints", "values", "index"), [
    ("echo start; echo $1; echo; echo 2.5", 0, (2.5,), 1), ("echo $1", 0, (0.25,), 1), ("printf 1e-3", 0, (1e-3,), 1),
    ("echo -1, -2 3.5", 2, (-1, -2, 3.5), 3), ("echo -1 2", 2, (-1, 2), 2), ("echo 4", 2, (4,), 1),
    ("echo -1 2 nan", 2, (-1, 2), 2), ("echo 1 2 3", 2, (1, 2, 3), 1), ("echo noise >&2; echo 1", 0, (1,), 1),
])
def test_values_are_read_from_the_last_line(text, constraints, values, index):
    outcome = shell(text, constraints).evaluate([0.25, 0.5])
    assert (outcome.kind, outcome.values, outcome.index) == (OutcomeKind.VALUE, values, index)


def test_maximising_negates_the_function_alone():
    assert shell("echo -1 3", 1, maximise=True).evaluate([0, 0]).values == (-1, -3)
    assert shell("echo 1", 1, maximise=True).evaluate([0, 0]).values == (1,)


def test_values_are_read_from_a_file_in_a_folder_that_goes_away():
    command = Command(["sh", "-c", "echo $1 $2 > $3; echo not this; echo $4", "sh", "{x}", "{out}", "{dir}"], UNIT, 1)
    outcome = command.evaluate([0.25, 0.5])
    assert (outcome.values, outcome.index) == ((0.25, 0.5), 1)
    kept = Command(["sh", "-c", "echo $1 > $2", "sh", "{x0}{x1}", "{out}"], UNIT)
    assert kept.evaluate([0, 0]).kind is OutcomeKind.NO_NUMBER  # 0.00.0 is no number
    assert not list(Path(os.environ.get("TMPDIR", "/tmp")).glob("infimum-*/out"))


@pytest.mark.parametrize(("text", "constraints", "said"), [
    ("echo done in 3 s", 0, "must give 1 number and nothing else as the last line of its output; it is 'done in 3 s'"),
    ("true", 0, "there is none"), ("echo 1 2", 0, "must give 1 number"), ("echo no licence >&2", 0, "end with 'no licence'"),
    ("echo -1", 1, "with 1 constraint it must give 2 numbers, unless the last is of a violated constraint"),
    ("echo 1.0D+3", 0, "'1.0D+3'"),
])
def test_a_command_that_gives_no_number_is_refused_at_the_first_trial(text, constraints, said):
    with pytest.raises(TrialError) as error:
        Tally().add(shell(text, constraints).evaluate([0, 0]))
    assert said in str(error.value) and "sh -c" in str(error.value)


def test_a_program_that_is_not_there_or_cannot_run(tmp_path):
    file = tmp_path / "sim"
    file.write_text("echo 1")
    for name, why in (("./no-such-program", "No such file"), (str(file), "Permission denied")):
        with pytest.raises(TrialError, match=f"cannot be started: {why}"):
            Tally().add(Command([name, "{x}"], UNIT).evaluate([0, 0]))


@pytest.mark.parametrize(("text", "kind", "said"), [
    ("echo 1; echo bad mesh >&2; exit 3", OutcomeKind.CRASH, "exit status 3: bad mesh"),
    ("kill -SEGV $$", OutcomeKind.CRASH, "SIGSEGV"),
    ("echo nan", OutcomeKind.NAN, "nan"), ("echo -inf", OutcomeKind.NAN, "-inf"),
])
def test_failures(text, kind, said):
    outcome = shell(text).evaluate([0, 0])
    assert outcome.kind is kind and said in outcome.text and outcome.values == ()


@pytest.mark.parametrize(("function", "line"), [("TemporaryFile", "expr {x0} + {x1}"), ("mkdtemp", "expr {x0} + {x1} {dir}")])
def test_no_room_for_the_output_is_a_failed_trial(function, line, monkeypatch):
    """The trials before it keep their outcomes."""
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")
    command = Command(line, Variables.read([(0, 9)] * 2, integrality=1))
    monkeypatch.setattr(f"infimum.blackbox.command.tempfile.{function}", full)
    outcome = command.evaluate([1, 2])
    assert outcome.kind is OutcomeKind.CRASH and outcome.text == "its output could not be kept: No space left on device"


# ---- workers
def test_rounds_and_timeouts_kill_the_whole_group(tmp_path):
    pids = tmp_path / "pids"
    text = f"case $1 in 0.5) sleep 60 & echo $! $$ >> {pids}; wait;; esac; echo $1"
    with start_workers(shell(text), 3, timeout=1.5) as workers:
        outcomes = workers.run([(v, 0) for v in (0.25, 0.5, 0.75, 0.5, 0.125)])
    assert [o.kind.name for o in outcomes] == ["VALUE", "TIMEOUT", "VALUE", "TIMEOUT", "VALUE"]
    assert [o.value for o in outcomes] == [0.25, None, 0.75, None, 0.125]
    started = [int(word) for word in pids.read_text().split()]
    assert len(started) == 4 and gone(started)


def test_a_program_that_leaves_another_behind_does_not_hold_the_run_up():
    """The other one has its output open."""
    start = time.monotonic()
    assert shell("sleep 20 & echo 1").evaluate([0, 0]).value == 1 and time.monotonic() - start < 15


def test_closing_kills_what_runs_and_other_workers_may_use_the_command(tmp_path):
    pids = tmp_path / "pids"
    command = shell(f"echo $$ >> {pids}; case $1 in 0.5) sleep 60;; esac; echo $1")
    workers = start_workers(command, 2)
    for _ in range(3):
        workers.submit((0.5, 0))
    while not pids.exists() or pids.read_text().count("\n") < 2:
        assert workers.next_finished(0.02) is None
    workers.close()
    assert gone([int(word) for word in pids.read_text().split()]) and pids.read_text().count("\n") == 2
    with start_workers(command) as workers:
        assert workers.run([(0.25, 0)])[0].value == 0.25


def test_ctrl_c_kills_the_programs(tmp_path):
    code = f"""
from infimum.blackbox.command import Command
from infimum.parallel.worker_start import start_workers
from infimum.blackbox.variables import Variables
command = Command(["sh", "-c", "echo $$ > {tmp_path}/pid.new; mv {tmp_path}/pid.new {tmp_path}/pid; sleep 60", "sh", "{{x}}"],
                  Variables.read([(0, 1)]))
try:
    with start_workers(command, 1) as workers:
        workers.run([[0.5]])
except KeyboardInterrupt:
    print("stopped")
"""
    process = children.start(sys.executable, "-c", code)
    while not (tmp_path / "pid").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(2)
    assert process.communicate(timeout=30) == ("stopped\n", "")
    assert gone([int((tmp_path / "pid").read_text())])
