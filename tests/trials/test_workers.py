"""Workers: whatever a function does to its process, its trial has an outcome, and the run goes on."""

import os
import signal
import sys
import time
from pathlib import Path
from subprocess import Popen

import numpy as np
import pytest

from infimum.blackbox.callables import PythonFunctions
from infimum.blackbox.file_function import FileFunction
from infimum.blackbox.outcome import OutcomeKind
from infimum.blackbox.trial_workers import LocalWorkers
from infimum.blackbox.variables import Variables
from infimum.errors import OptionError, TrialError
from infimum.parallel.process_workers import Processes
from infimum.parallel.worker_start import start_workers
from infimum.support import clock
from tests import children
from tests.trials import black_boxes

ROOT = Path(__file__).resolve().parents[2]
PLANE = Variables.read([(0, 9), (-1, 1)])
posix = pytest.mark.skipif(os.name != "posix", reason="signals and groups of processes")


def box(fun, constraints=(), variables=PLANE):
    return PythonFunctions(fun, variables, constraints)


def alive(pid: int) -> bool:
    """Is it a process that still runs? One that has ended and waits to be taken off the list does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pids, seconds=10.0) -> bool:
    end = time.monotonic() + seconds
    while any(map(alive, pids)) and time.monotonic() < end:
        time.sleep(0.01)
    return not any(map(alive, pids))


def descendants(pid: int) -> list[int]:
    found = [int(word) for task in Path(f"/proc/{pid}/task").iterdir() for word in (task / "children").read_text().split()]
    return found + [other for child in found for other in descendants(child)]


# ---- the same interface everywhere
@pytest.fixture(scope="module")
def two():
    with start_workers(box(black_boxes.by_first, [black_boxes.allowed]), 2) as workers:
        yield workers


@pytest.fixture(params=["one", "two"])
def good(request, two):
    """Workers for trials that neither crash nor hang."""
    return two if request.param == "two" else start_workers(box(black_boxes.by_first, [black_boxes.allowed]))


def test_rounds_are_in_the_order_of_their_points(good):
    values = np.linspace(-1, 1, 40)
    outcomes = good.run([(0, v) for v in values])
    assert [o.values for o in outcomes] == [(-1.0, v) for v in values]
    assert all(o.index == 2 for o in outcomes) and good.outstanding == 0 and good.run([]) == []


def test_outcomes_come_one_by_one(good):
    assert good.free == good.count and good.next_finished() is None
    tickets = {good.submit((0, v)): v for v in (0.5, 0.25, -0.5)}
    assert good.outstanding == 3 and good.free == 0
    with pytest.raises(OptionError, match="no trial is outstanding"):
        good.run([(0, 0)])
    found = {ticket: outcome.value for ticket, outcome in (good.next_finished() for _ in tickets)}
    assert found == tickets


def test_closed_workers_take_nothing_more():
    workers = start_workers(box(black_boxes.bowl))
    workers.submit((0, 0))
    workers.close()
    workers.close()
    assert workers.next_finished() is None
    with pytest.raises(OptionError, match="are closed"):
        workers.run([(0, 0)])


def test_failures_in_the_process_are_the_same_in_both(good):
    outcomes = good.run([(1, 0.5), (6, 0), (7, 0), (8, 0), (0, 1)])
    assert [o.kind for o in outcomes] == [OutcomeKind.EXCEPTION, OutcomeKind.NAN, OutcomeKind.EXCEPTION, OutcomeKind.NO_NUMBER,
                                          OutcomeKind.VALUE]
    assert "ValueError: no value at 0.5" in outcomes[0].text and "black_boxes.py" in outcomes[0].text
    assert all(o.values[0] == -1.0 for o in outcomes)


@pytest.fixture
def word():
    """The file for which trials wait, not there at first."""
    file = black_boxes.word(os.getpid())
    file.unlink(missing_ok=True)
    yield file
    file.unlink(missing_ok=True)


def test_rounds_keep_their_order_when_the_last_is_the_first(two, word):
    points = [(9, 0.25), (11, 0.5)]  # the first waits for the second
    assert [o.value for o in two.run(points)] == [0.25, 0.5]
    word.unlink()
    tickets = [two.submit(x) for x in [(9, 0.25), (0, 0.5)]]
    assert two.next_finished().ticket == tickets[1]
    word.touch()
    assert two.next_finished().ticket == tickets[0]


# ---- crashes and timeouts
@posix
def test_a_worker_that_dies_costs_its_own_trial(two):
    outcomes = two.run([(what, 0.5) for what in (0, 2, 0, 3, 4, 0, 2, 0)])
    assert [o.kind for o in outcomes] == [OutcomeKind.CRASH if what else OutcomeKind.VALUE for what in (0, 2, 0, 3, 4, 0, 2, 0)]
    assert "exit status 3" in outcomes[1].text and "SIGKILL" in outcomes[3].text and "SIGSEGV" in outcomes[4].text
    assert outcomes[1].values == (-1.0,) and outcomes[1].index == 2  # the constraint was computed, and is kept
    assert two.run([(0, 0.25)])[0].value == 0.25


@posix
def test_a_trial_beyond_its_timeout_is_killed():
    with start_workers(box(black_boxes.by_first, [black_boxes.allowed]), 1, timeout=1.0) as workers:
        assert isinstance(workers, Processes)
        outcomes = workers.run([(0, 0.25), (5, 0), (0, 0.5)])
    assert [o.kind for o in outcomes] == [OutcomeKind.VALUE, OutcomeKind.TIMEOUT, OutcomeKind.VALUE]
    assert outcomes[1].text == "killed after 1 s" and outcomes[1].values == (-1.0,) and 1.0 <= outcomes[1].seconds < 30


@posix
def test_a_worker_whose_child_holds_its_pipe_is_still_seen_to_die(two):
    outcome, = two.run([(10, 0)])
    assert outcome.kind is OutcomeKind.CRASH and "exit status 9" in outcome.text


@posix
def test_a_worker_that_dies_while_it_is_idle_is_replaced(two):
    two.run([(0, 0), (0, 0)])
    for one in two._workers:
        os.kill(one.process.pid, signal.SIGKILL)
        one.process.join()
    assert [o.value for o in two.run([(0, 0.5)] * 4)] == [0.5] * 4


@posix
@pytest.mark.parametrize("end", ["timeout", "close"])
def test_nothing_is_left_behind(end, tmp_path, monkeypatch):
    """Neither workers nor what they have started."""
    pids = tmp_path / "pids"
    monkeypatch.setenv("INFIMUM_TEST_PIDS", str(pids))
    workers = start_workers(box(black_boxes.leaves_a_child), 2, timeout=1.5 if end == "timeout" else None)
    for _ in range(2):
        workers.submit((0, 0))
    if end == "timeout":
        assert {workers.next_finished().outcome.kind for _ in range(2)} == {OutcomeKind.TIMEOUT}
    else:
        while not pids.exists() or pids.read_text().count("\n") < 2:
            assert workers.next_finished(0.02) is None
        workers.close()
    started = [int(word) for word in pids.read_text().split()]
    assert len(started) >= 4 and gone(started)
    workers.close()


def test_waiting_ends_when_the_run_has_no_more_time(two, word):
    two.submit((9, 0.5))
    assert two.next_finished(timeout=0.02) is None
    with clock.Watch(whole=0.0), clock.stoppable(), pytest.raises(clock.RunTimeOver):
        two.next_finished()
    word.touch()
    assert two.next_finished().outcome.value == 0.5  # nothing is lost


# ---- functions that cannot be sent
def test_unpicklable_functions_are_refused_with_the_cure():
    def local(x):
        return 0.0
    for fun in (lambda x: 0.0, local):
        with pytest.raises(TrialError, match="cannot be sent to worker processes.*Define it at the top of a module"):
            start_workers(box(fun), 2)
    with pytest.raises(TrialError, match="Constraint 0 `local`"):
        start_workers(box(black_boxes.bowl, [local]), 1, timeout=1.0)
    assert isinstance(start_workers(box(local)), LocalWorkers)


def test_functions_of_a_file_that_is_no_module(tmp_path):
    (tmp_path / "beside.py").write_text("ONE = 1.0\n")
    file = tmp_path / "my model.py"
    file.write_text("import beside\n\ndef cost(x):\n    return x[0] + beside.ONE\n\nassert __name__ != '__main__'\n")
    tried = box(FileFunction(file, "cost"))
    with start_workers(tried, 1, timeout=30.0) as workers:
        assert [o.value for o in workers.run([(1, 0), (2, 0)])] == [2.0, 3.0]
    assert tried.describe()["functions"][0]["name"] == "cost" and "my model.py:3" in tried.parts[0].title
    with pytest.raises(TrialError, match="has no function `coast`"):
        box(FileFunction(file, "coast"))


@pytest.mark.parametrize(("workers", "timeout"), [(0, None), (-1, None), (2.0, None), (True, None), ("many", None), (None, None),
                                                  ("ray:", None), ("", None), ("head:port", None), ("ray", 0),
                                                  (1, 0), (1, -1.0), (1, float("inf")), (1, float("nan")), (1, "1 s"), (1, True)])
def test_bad_settings(workers, timeout):
    with pytest.raises(OptionError):
        start_workers(box(black_boxes.bowl), workers, timeout)


def test_without_ray_the_cure_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)  # as if it were not installed
    for address in ("ray", "auto", "ray://head:10001", "10.0.0.1:6379"):
        with pytest.raises(OptionError, match=r"need Ray .*pip install infimum\[ray\]"):
            start_workers(box(black_boxes.bowl), address)


# ---- scripts
SCRIPT = """
import os, sys, time
from infimum.blackbox.callables import PythonFunctions
from infimum.parallel.worker_start import start_workers
from infimum.blackbox.variables import Variables

def slow(x):
    print("trial", os.getpid(), flush=True)
    time.sleep(60)
    return 0.0

def quick(x):
    return x[0]

def main(fun):
    with start_workers(PythonFunctions(fun, Variables.read([(0, 1)])), 2) as workers:
        return workers.run([[0.25], [0.5]])
"""


def script(tmp_path, end: str, **more) -> Popen:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT + end)
    return children.start(sys.executable, path, env={**os.environ, "PYTHONPATH": str(ROOT)}, **more)


def test_a_script_without_the_guard_is_told_so(tmp_path):
    process = script(tmp_path, "main(quick)\n")
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "TrialError: a worker imports the script that started it" in errors and '`if __name__ == "__main__":`' in errors
    assert errors.count("Traceback") == 1  # that of the script alone


def test_a_script_with_the_guard_runs_its_own_functions_and_ends_though_it_closes_nothing(tmp_path):
    process = script(tmp_path, """
if __name__ == '__main__':
    workers = start_workers(PythonFunctions(quick, Variables.read([(0, 1)])), 2)
    print([outcome.value for outcome in workers.run([[0.25], [0.5]])])
""")
    assert process.communicate(timeout=60) == ("[0.25, 0.5]\n", "")


def test_a_script_that_fails_when_it_is_imported(tmp_path):
    process = script(tmp_path, "if __name__ == '__main__':\n    main(quick)\nelse:\n    raise SystemExit(5)\n")
    _, errors = process.communicate(timeout=60)
    assert "TrialError: worker processes end before they are ready (exit status 5)" in errors


def test_a_function_of_a_console_is_refused_with_the_cure():
    code = SCRIPT + "main(quick)\n"
    process = children.run(sys.executable, "-c", code, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert "cannot be used in a worker process" in process.stderr and "import it from there" in process.stderr


@posix
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_ctrl_c_and_kill_leave_no_process_and_no_tracebacks(how, tmp_path):
    """Ctrl-C as a terminal sends it, to the whole group; and a kill of the main process alone."""
    end = "if __name__ == '__main__':\n    try:\n        main(slow)\n    except KeyboardInterrupt:\n        print('stopped')\n"
    process = script(tmp_path, end, start_new_session=True)
    pids = [int(process.stdout.readline().split()[1]) for _ in range(2)]
    assert all(map(alive, pids))
    if how == signal.SIGINT:
        os.killpg(process.pid, how)
    else:
        process.kill()
    out, errors = process.communicate(timeout=30)
    assert gone(pids) and errors == "" and out == ("stopped\n" if how == signal.SIGINT else "")


@posix
def test_ctrl_c_while_workers_start(tmp_path):
    end = "if __name__ == '__main__':\n    try:\n        print('begin', flush=True)\n        main(slow)\n" \
          "    except KeyboardInterrupt:\n        print('stopped')\n"
    process = script(tmp_path, end, start_new_session=True)
    process.stdout.readline()
    time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    out, errors = process.communicate(timeout=30)
    assert errors == "" and out.endswith("stopped\n")
