"""Journals: the same bits again, nothing lost by a kill, damage noticed, other problems and second runs refused."""

import errno
import json
import math
import os
import sys
from collections import Counter
from functools import partial
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

import infimum
from infimum.blackbox import journal as journals
from infimum.blackbox import journal_lines
from infimum.blackbox.callables import PythonFunctions
from infimum.blackbox.command import Command
from infimum.blackbox.journal import Journal, salvage, warm_start
from infimum.blackbox.journal_lines import Trial
from infimum.blackbox.journal_reading import parsed, read_journal
from infimum.blackbox.outcome import Outcome, OutcomeKind
from infimum.blackbox.recorded_trials import Recorded
from infimum.blackbox.trial_workers import LocalWorkers
from infimum.blackbox.variables import Variables
from infimum.errors import JournalError, OptionError, TrialError
from infimum.parallel.worker_start import start_workers
from tests import children
from tests.trials import black_boxes, small_search
from tests.trials.small_search import BOX, TRIALS, VARIABLES, Search, search
from tests.trials.test_workers import posix

ROOT = Path(__file__).resolve().parents[2]
PROBLEM = BOX.describe()


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "run.jsonl"


def whole_run(path, **more) -> Search:
    with LocalWorkers(BOX) as workers, Journal.create(path, PROBLEM, {"seed": 3}) as journal:
        return search(workers, journal, **more)


# ---- bits
doubles = st.floats(allow_nan=False, allow_infinity=False)
finite = st.tuples(doubles, doubles)
outcomes = st.builds(lambda values, m: Outcome.of(values, m), st.lists(doubles, min_size=1, max_size=4), st.integers(0, 3)) | \
    st.builds(Outcome.failed, st.sampled_from([kind for kind in OutcomeKind if kind is not OutcomeKind.VALUE]), st.text(),
              st.lists(doubles))


@settings(max_examples=40)
@given(st.lists(st.tuples(finite, outcomes), max_size=3))
def test_trials_come_back_with_the_same_bits(found):
    trials = [Trial(k, k + 1, x, outcome) for k, (x, outcome) in enumerate(found)]
    line, check = journal_lines.line_of({"infimum journal": 1, "version": "0", "problem": {}, "settings": {}}, 0)
    data = line
    for trial in trials:
        line, check = journal_lines.line_of(journal_lines.content_of_trial(trial), check)
        assert json.loads(line)["trial"] == trial.ticket and line.count(b"\n") == 1
        data += line
    back = parsed("file", data).trials
    assert back == trials
    assert [[v.hex() for v in (*t.x, *t.outcome.values)] for t in back] == \
        [[v.hex() for v in (*t.x, *t.outcome.values)] for t in trials]


def test_the_file_is_what_the_documents_say(path):
    whole_run(path)
    header, *lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert header["infimum journal"] == 2 and header["problem"]["bounds"] == [[0.0, 1.0]] * 2
    assert header["settings"] == {"seed": 3} and len(lines) == TRIALS
    assert set(lines[0]) - {"text"} == {"trial", "asked", "x", "kind", "index", "values", "seconds", "check"}
    assert Counter(line["kind"] for line in lines).keys() <= {"value", "exception"}


# ---- kills and resuming
@posix
def test_kills_lose_nothing_and_count_nothing_twice(tmp_path):
    """Sixteen places: before, within and behind the header, the first trial, one in the middle and the last."""
    done = children.run(sys.executable, "-W", "ignore", "-m", "tests.trials.small_search", tmp_path, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    with LocalWorkers(BOX) as workers:
        undisturbed = search(workers, None).state.hex()
    assert len(found) == 16
    for case in found:
        assert case["status"] == -9 and case["state"] == undisturbed
        written = case["line"] - 1 if case["where"] in ("no end", "behind") else case["line"] - 2
        assert case["kept"] == list(range(max(0, written))) and case["after"] == list(range(TRIALS))


@pytest.mark.parametrize("at_once", [None, 4])
def test_every_prefix_of_a_journal_is_one_to_resume(at_once, path, tmp_path):
    """Cut anywhere, at every 59th byte: the trials whose lines are whole are there, and the end is the same."""
    end, data = whole_run(path, at_once=at_once), path.read_bytes()
    first = data.index(b"\n") + 1
    cut = tmp_path / "cut.jsonl"
    for size in range(first, len(data) + 1, 59):
        cut.write_bytes(data[:size])
        kept = data[:size].count(b"\n") - 1
        assert len(read_journal(cut).trials) == kept + (data[size:size + 1] == b"\n")
        with LocalWorkers(BOX) as workers, Journal.resume(cut, PROBLEM) as journal:
            assert journal.settings == {"seed": 3} and len(journal.trials) >= kept
            assert search(workers, journal, at_once=at_once).state == end.state
        assert read_journal(cut).trials == read_journal(path).trials


def test_an_asynchronous_run_is_replayed_with_the_same_bits(path):
    """With workers that end in an order of their own; then cut in the middle, and resumed with another number of them."""
    with start_workers(BOX, 2) as workers, Journal.create(path, PROBLEM) as journal:
        first = search(workers, journal, 40)
    kept = read_journal(path).trials
    assert sorted(trial.ticket for trial in kept) == list(range(40))
    with LocalWorkers(BOX) as workers, Journal.resume(path, PROBLEM) as journal:
        again = search(workers, journal, 40)
        assert again.state == first.state and workers.busy_seconds == 0
    lines = path.read_bytes().splitlines(True)
    path.write_bytes(b"".join(lines[:20]))
    with LocalWorkers(BOX) as workers, Journal.resume(path, PROBLEM) as journal:
        search(workers, journal, 40)
    after = read_journal(path).trials
    assert after[:19] == kept[:19] and sorted(trial.ticket for trial in after) == list(range(40))


def test_an_outcome_is_in_the_file_before_the_search_hears_of_it(path):
    with LocalWorkers(BOX) as workers, Journal.create(path, PROBLEM) as journal:
        recorded, found = Recorded(workers, journal), Search()
        for k in range(5):
            recorded.submit(found.ask())
            trial = recorded.finished()
            assert read_journal(path).trials[k] == trial
            found.tell(trial)
        assert recorded.tally.trials == 5


def test_a_search_that_asks_for_other_points_is_refused(path):
    whole_run(path)
    with LocalWorkers(BOX) as workers, Journal.resume(path, PROBLEM) as journal:
        recorded = Recorded(workers, journal)
        recorded.submit([0.5, 0.5])
        with pytest.raises(JournalError, match="was written by another search: its trial 0 is at"):
            recorded.finished()
    with LocalWorkers(BOX) as workers, Journal.resume(path, PROBLEM) as journal, pytest.raises(JournalError, match="not asked"):
        Recorded(workers, journal).finished()


def test_a_function_that_is_written_wrongly_is_not_kept(path):
    box = PythonFunctions(lambda x: "high", VARIABLES)
    with LocalWorkers(box) as workers, Journal.create(path, box.describe()) as journal, pytest.raises(TrialError, match="text"):
        Recorded(workers, journal).run([(0, 0)])
    assert read_journal(path).trials == []


def test_a_function_that_fails_to_return_later_is_kept(path):
    box = PythonFunctions(black_boxes.by_first, Variables.read([(0, 9)] * 2))
    with LocalWorkers(box) as workers, Journal.create(path, box.describe()) as journal:
        kinds = [outcome.kind for outcome in Recorded(workers, journal).run([(0, 1), (8, 0), (6, 0)])]
    assert kinds == [OutcomeKind.VALUE, OutcomeKind.NO_NUMBER, OutcomeKind.NAN]
    assert sorted((trial.ticket, trial.outcome.kind) for trial in read_journal(path).trials) == list(enumerate(kinds))
    with LocalWorkers(box) as workers, Journal.resume(path, box.describe()) as journal:
        assert [o.kind for o in Recorded(workers, journal).run([(0, 1), (8, 0), (6, 0)])] == kinds
    assert len(read_journal(path).trials) == 3


# ---- damage
def test_every_changed_byte_is_noticed(path):
    """One byte at a time; only in the last line is a change what a kill may leave, if its end is missing."""
    whole_run(path, trials=3)
    data = path.read_bytes()
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] ^= 1
        if at == len(data) - 1:  # the end of the last line
            assert len(parsed("file", bytes(changed)).trials) == 2
            continue
        with pytest.raises(JournalError):
            parsed("file", bytes(changed))


def test_lines_that_are_removed_swapped_or_repeated_are_noticed(path):
    whole_run(path, trials=5)
    header, *lines = path.read_bytes().splitlines(True)
    for others in (lines[1:], [*lines[:2], *lines[3:]], [lines[1], lines[0], *lines[2:]], [*lines, lines[4]]):
        path.write_bytes(header + b"".join(others))
        with pytest.raises(JournalError, match="is damaged: line . of .*Put the file back from a copy"):
            Journal.resume(path, PROBLEM)


def test_what_can_be_read_is_saved_from_a_damaged_journal(path, tmp_path):
    whole_run(path)
    trials, lines = read_journal(path).trials, path.read_bytes().splitlines(True)
    lines[4] = lines[4][:20] + b"\0" * 30 + b"\n"
    path.write_bytes(b"".join(lines))
    new = tmp_path / "new.jsonl"
    with pytest.raises(JournalError, match="line 5 of 10.*salvage"):
        read_journal(path)
    with pytest.warns(RuntimeWarning, match=r"not taken: line 5 \(it has no checksum\); line 6 \(line 5 has no checksum"):
        assert salvage(path, new) == 2  # whether the line behind the lost one was changed cannot be known
    assert read_journal(new).trials == trials[:3] + trials[5:]


def test_a_trial_twice_is_damage_even_with_a_right_checksum(path):
    whole_run(path, trials=2)
    found = read_journal(path)
    line, _ = journal_lines.line_of(journal_lines.content_of_trial(found.trials[0]), found.check)
    path.write_bytes(path.read_bytes() + line)
    with pytest.raises(JournalError, match="it is trial 0 again, which is in line 2"):
        read_journal(path)


@pytest.mark.parametrize("change", [{"index": 7}, {"kind": "odd"}, {"trial": -1}, {"asked": 0}, {"x": ["a"]}, {"values": [None]},
                                    {"more": 1}, {"x": [math.inf]}])
def test_lines_by_other_hands(change):
    content = journal_lines.content_of_trial(Trial(0, 1, (0.5,), Outcome.of([1.0], 0)))
    assert journal_lines.trial_of_content(content).outcome.value == 1.0
    with pytest.raises(journal_lines.DamagedLine):
        journal_lines.trial_of_content({**content, **change})


# ---- other problems, second runs, files that are none
def other(**change):
    bounds = change.pop("bounds", [(0, 1)] * 2)
    fun, constraints = change.pop("fun", small_search.fun), change.pop("constraints", [small_search.constraint])
    return PythonFunctions(fun, Variables.read(bounds, **change), constraints).describe()


@pytest.mark.parametrize(("problem", "said"), [
    (other(bounds=[(0, 1), (0, 2)]), "bounds[1] was [0.0, 1.0], and is [0.0, 2.0]"),
    (other(bounds=[(0, 1)] * 3), "bounds was"), (other(integrality=[1, 0]), "integers was [], and is [0]"),
    (other(constraints=[]), "constraints was 1, and is 0"), (other(bounds=[(0, 1), ["a", "b"]]), "choices was"),
    (other(fun=black_boxes.bowl), "the function was `fun`, and is `bowl`"),
    (Command("./sim {x}", VARIABLES, 1).describe(), "command was None, and is ['./sim', '{x}']"),
])
def test_the_journal_of_another_problem_is_refused(problem, said, path):
    whole_run(path)
    before = path.read_bytes()
    with pytest.raises(JournalError) as error:
        Journal.resume(path, problem)
    assert "is of another problem" in str(error.value) and said in str(error.value) and "warm start" in str(error.value)
    assert path.read_bytes() == before


def test_a_function_whose_source_has_changed(path):
    problem = json.loads(json.dumps(PROBLEM))
    problem["functions"][1]["identity"]["code"] = "text " + "0" * 16
    Journal.create(path, problem).close()
    with pytest.raises(JournalError, match="the source of `fun` has changed"):
        Journal.resume(path, PROBLEM)


def test_functions_without_source_are_known_by_name():
    assert other(fun=sum)["functions"][1] == {"name": "sum", "source": None, "identity": {"code": "built-in builtins.sum"}}
    assert other(fun=partial(black_boxes.bowl))["functions"][1] == other(fun=black_boxes.bowl)["functions"][1]


def test_two_runs_on_one_journal_are_refused(path):
    with Journal.create(path, PROBLEM):
        for opening in (Journal.create, Journal.resume):
            with pytest.raises(JournalError, match="in use by another run"):
                opening(path, PROBLEM)
        code = f"from infimum.blackbox.journal import Journal; Journal.resume({str(path)!r}, {PROBLEM!r})"
        done = children.run(sys.executable, "-c", code, cwd=ROOT)
        assert "JournalError" in done.stderr and "in use by another run" in done.stderr
        assert read_journal(path).trials == []  # looking is allowed
    Journal.resume(path, PROBLEM).close()


def test_what_is_there_already_is_not_overwritten(path):
    whole_run(path)
    with pytest.raises(JournalError, match="exists: continue it with resume, or delete it"):
        Journal.create(path, PROBLEM)
    path.write_text("my thesis\n")
    with pytest.raises(JournalError, match="no journal of infimum: give another name"):
        Journal.create(path, PROBLEM)
    with pytest.raises(JournalError, match="is no journal"):
        Journal.resume(path, PROBLEM)
    assert path.read_text() == "my thesis\n"


def test_files_that_cannot_be_used(tmp_path, path):
    for where, said in ((tmp_path, "folder"), (tmp_path / "no" / "run", "No such file")):
        with pytest.raises(JournalError, match=said):
            Journal.create(where, PROBLEM)
    with pytest.raises(JournalError, match="cannot be opened: No such file"):
        Journal.resume(path, PROBLEM)
    with pytest.raises(JournalError, match="cannot be read: No such file"):
        read_journal(path)
    with pytest.raises(OptionError, match="name of a file"):
        Journal.create(3, PROBLEM)
    path.write_bytes(b"")
    with pytest.raises(JournalError, match="begin anew"):
        Journal.resume(path, PROBLEM)


def test_the_format_of_a_later_version(path):
    line, _ = journal_lines.line_of({"infimum journal": 9, "version": "9.1", "problem": {}, "settings": {}}, 0)
    path.write_bytes(line)
    with pytest.raises(JournalError, match="has the format 9, written by infimum 9.1"):
        Journal.resume(path, {})


def full_disk(monkeypatch, room: int = 10):
    """From now on, a write leaves so many bytes, and fails."""
    write = os.write

    def full(handle, data):
        write(handle, data[:room])
        raise OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(journals.os, "write", full)


def test_a_full_disk_ends_no_run_and_what_is_kept_in_memory_is_written_later(path, monkeypatch):
    with LocalWorkers(BOX) as workers, Journal.create(path, PROBLEM) as journal:
        recorded, found = Recorded(workers, journal), Search()
        recorded.run([found.ask()])
        whole = path.read_bytes()
        full_disk(monkeypatch)
        with pytest.warns(RuntimeWarning, match="No space left on device.*kept in memory.*if the process is killed") as said:
            recorded.run([found.ask()])
        recorded.run([found.ask()])  # one warning is enough
        assert len(said) == 1 and said[0].filename == __file__ and path.read_bytes() == whole
        monkeypatch.undo()
        recorded.run([found.ask()])
        assert [trial.ticket for trial in read_journal(path).trials] == [0, 1, 2, 3]


def test_trials_that_never_get_to_the_disk_are_counted_in_a_warning(path, monkeypatch):
    with LocalWorkers(BOX) as workers:
        journal = Journal.create(path, PROBLEM)
        recorded, found = Recorded(workers, journal), Search()
        recorded.run([found.ask()])
        full_disk(monkeypatch)
        monkeypatch.setattr(journals.os, "ftruncate", lambda *_: (_ for _ in ()).throw(OSError("read only")))
        with pytest.warns(RuntimeWarning, match="cannot be written"):
            recorded.run([found.ask(), found.ask()])
        with pytest.warns(RuntimeWarning, match="2 trials could not be written to the journal .* The result has them"):
            journal.close()
        monkeypatch.undo()
    assert [trial.ticket for trial in read_journal(path).trials] == [0]  # and a torn line, which is cut off


def test_a_result_says_how_many_of_its_trials_are_in_no_journal(path, monkeypatch):
    calls = []

    def cost(x):
        calls.append(x)
        if len(calls) == 5:
            full_disk(monkeypatch)
        return (x[0] - 0.3) ** 2
    with pytest.warns(RuntimeWarning, match="cannot be written|could not be written"):
        r = infimum.minimize(cost, [(0, 1)], engine="index", max_trials=12, journal=path, check=False)
    monkeypatch.undo()
    kept = len(read_journal(path).trials)
    assert 0 < kept < 12 and f"of the trials, {12 - kept} could not be written to the journal" in r.message


def test_a_full_disk_at_the_beginning_is_an_error(path, monkeypatch):
    full_disk(monkeypatch)
    with pytest.raises(JournalError, match="cannot be written: No space left on device"):
        Journal.create(path, PROBLEM)


def test_a_disk_that_cannot_be_forced_is_warned_of(path, monkeypatch):
    journal = Journal.create(path, PROBLEM)
    monkeypatch.setattr(journals.os, "fsync", lambda *_: (_ for _ in ()).throw(OSError(errno.EIO, "Input/output error")))
    with pytest.warns(RuntimeWarning, match="cannot be forced to the disk .Input/output error"):
        journal.append(Trial(0, 1, (0.0, 0.0), Outcome.of([1.0], 1, seconds=2.0)))
    journal.close()


def test_a_closed_journal_takes_no_more(path):
    journal = Journal.create(path, PROBLEM)
    journal.close()
    journal.close()
    with pytest.raises(JournalError, match="is closed"):
        journal.append(Trial(0, 1, (0.0, 0.0), Outcome.of([1.0], 0)))


# ---- warm start
def test_a_warm_start_takes_what_lies_within_the_bounds(path):
    whole_run(path)
    trials = read_journal(path).trials
    assert warm_start(path, VARIABLES, 1) == trials
    half = Variables.read([(0, 0.5), (0, 1)])
    assert warm_start(path, half, 1) == [t for t in trials if t.x[0] <= 0.5] != trials
    for variables, constraints, said in ((Variables.read([(0, 1)]), 1, "2 variables and 1 constraint, this .* has 1 variable"),
                                         (VARIABLES, 2, "2 constraints"),
                                         (Variables.read([(0, 1), ["a", "b"]]), 1, "other choices")):
        with pytest.raises(JournalError, match=said):
            warm_start(path, variables, constraints)
