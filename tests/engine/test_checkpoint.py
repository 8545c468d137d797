"""Checkpoints: whole or not there; a run that was killed ends with the bits of one that was not."""

import errno
import io
import os
import signal
import sys
import textwrap
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import infimum
from infimum import problems
from infimum.search import checkpoint, driver
from infimum.search.checkpoint import State, load, save
from tests import children
from tests.engine.coupled import COLVILLE

ROOT = Path(infimum.__file__).parent.parent
CASES = {"auto": (COLVILLE, {}), "pieces": (problems.get("paviani"), {}),
         "settled late": (problems.get("alpine_2", 20), {}),
         "newton": (COLVILLE, {"engine": "newton", "xtol": 1e-4}),
         "complete": (problems.get("rastrigin", 5), {"engine": "complete", "options": {"partition": (3, 4)}})}


def bits(r: infimum.Result) -> list:
    """Everything of a result that must not depend on interruptions, as bytes."""
    boxes = [end.tobytes() for box in r.boxes for end in box]
    ends = np.array([r.lower, r.upper]).tobytes()
    return [r.x.tobytes(), ends, r.verdict, r.nit, r.nfev, r.regions, boxes]


def stop_every(count: int):
    """A callback that stops a run after so many steps of its proof."""
    seen = 0

    def callback(snapshot) -> bool:
        nonlocal seen
        seen += snapshot.lower > -np.inf
        return seen > count
    return callback


@pytest.mark.parametrize("name", CASES)
def test_a_run_in_pieces_has_the_bits_of_a_whole_one(name, tmp_path):
    p, settings = CASES[name]
    whole = infimum.minimize(p.fun, p.bounds, atol=1e-7, rtol=1e-7, **settings)
    path = str(tmp_path / "run.inf")
    r = infimum.minimize(p.fun, p.bounds, atol=1e-7, rtol=1e-7, checkpoint=path, callback=stop_every(3), **settings)
    pieces = 1
    while r.verdict is infimum.Verdict.STOPPED:
        r, pieces = infimum.resume(path, p.fun, callback=stop_every(6 * pieces**2)), pieces + 1
    assert pieces > 3 and bits(r) == bits(whole)


CHILD = """
import sys
sys.path.insert(0, {root!r})
import infimum
from infimum.search import driver
driver.CheckpointWriter.__init__.__defaults__ = (0.0,)
save = driver.save
driver.save = lambda *kept: (print("keeps", flush=True), save(*kept), print("kept", flush=True))
from tests.engine.coupled import COLVILLE as p
import os
r = infimum.resume({path!r}, p.fun) if os.path.exists({path!r}) else \\
    infimum.minimize(p.fun, p.bounds, atol=1e-9, rtol=1e-9, checkpoint={path!r})
print("done", flush=True)
"""


def test_killed_at_any_moment(tmp_path):
    """kill -9, again and again, then resumed: the same bits."""
    whole = infimum.minimize(COLVILLE.fun, COLVILLE.bounds, atol=1e-9, rtol=1e-9)
    path = str(tmp_path / "run.inf")
    code = textwrap.dedent(CHILD).format(root=str(ROOT), path=path)
    kills = 0
    for lines in (0, 1, 2, 5, 8, 13, 30):  # that it has written: nothing yet, in the midst of keeping, between two steps
        child = children.start(sys.executable, "-c", code)
        for _ in range(lines):
            child.stdout.readline()
        child.send_signal(signal.SIGKILL)
        child.communicate()
        kills += child.returncode == -signal.SIGKILL
    left = [name for name in os.listdir(tmp_path) if name != "run.inf"]
    assert all(name.startswith(".infimum-") for name in left)
    r = infimum.resume(path, COLVILLE.fun) if os.path.exists(path) else \
        infimum.minimize(COLVILLE.fun, COLVILLE.bounds, atol=1e-9, rtol=1e-9)
    assert kills and bits(r) == bits(whole)


def test_state_survives_the_file(tmp_path):
    state = State({"a": 1, "b": [None, 0.1]}, {"x": np.array([1.5, np.inf, -0.0]), "e": np.zeros((3, 0), np.int32)})
    save(str(tmp_path / "s"), state)
    back = load(str(tmp_path / "s"))
    assert back.values == state.values and back.arrays.keys() == state.arrays.keys()
    assert all(back.arrays[k].tobytes() == v.tobytes() and back.arrays[k].dtype == v.dtype for k, v in state.arrays.items())


def test_damage_is_always_noticed(tmp_path):
    path = tmp_path / "s"
    save(str(path), State({"n": 3}, {"x": np.arange(20.0)}))
    good = path.read_bytes()
    for at in range(0, len(good), 7):
        path.write_bytes(good[:at] + bytes([good[at] ^ 4]) + good[at + 1:])
        with pytest.raises(infimum.CheckpointError):
            load(str(path))
    for end in range(0, len(good), 11):
        path.write_bytes(good[:end])
        with pytest.raises(infimum.CheckpointError):
            load(str(path))


def test_a_crash_while_writing_leaves_the_old_file(tmp_path, monkeypatch):
    path = str(tmp_path / "s")
    save(path, State({"n": 1}, {}))

    def fails(*_):
        raise OSError("disk full")
    monkeypatch.setattr(checkpoint.os, "replace", fails)
    with pytest.raises(OSError, match="disk full"):
        save(path, State({"n": 2}, {}))
    assert load(path).values == {"n": 1} and os.listdir(tmp_path) == ["s"]


def full_disk(monkeypatch, after=0):
    """After so many files that can still be written, the disk is full."""
    written = 0

    def fsync(handle):
        nonlocal written
        written += 1
        if written > after:
            raise OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(checkpoint.os, "fsync", fsync)


def test_a_full_disk_at_the_last_checkpoint_discards_no_proof(tmp_path, monkeypatch):
    path = str(tmp_path / "run.inf")
    whole = infimum.minimize(COLVILLE.fun, COLVILLE.bounds)
    full_disk(monkeypatch, after=2)  # the first file, and its folder
    with pytest.warns(RuntimeWarning, match="the last checkpoint could not be written to .*run.inf .No space left on device"):
        r = infimum.minimize(COLVILLE.fun, COLVILLE.bounds, checkpoint=path)
    assert r.verdict is infimum.Verdict.PROVED and bits(r) == bits(whole) and os.listdir(tmp_path) == ["run.inf"]
    monkeypatch.undo()
    assert bits(infimum.resume(path, COLVILLE.fun)) == bits(whole), "what the file holds is the beginning"


def test_a_full_disk_in_the_middle_is_warned_of_once_and_tried_again(tmp_path, monkeypatch):
    path, said = str(tmp_path / "run.inf"), []
    monkeypatch.setattr(driver.CheckpointWriter.__init__, "__defaults__", (0.0,))  # after each step
    monkeypatch.setattr("infimum.support.output_files.warn", said.append)
    full_disk(monkeypatch, after=2)
    steps = 0

    def step(snapshot):
        nonlocal steps
        steps += snapshot.lower > -np.inf
        if steps == 5:  # room again
            monkeypatch.setattr(checkpoint.os, "fsync", lambda handle: None)
    r = infimum.minimize(COLVILLE.fun, COLVILLE.bounds, checkpoint=path, callback=step)
    assert r.verdict is infimum.Verdict.PROVED and steps > 5 and len(said) == 1
    assert "no checkpoint can be written to" in said[0] and "The run continues, and tries again" in said[0]
    assert load(path).values["state"] is not None


def test_memory_that_is_full_while_the_state_is_written_ends_nothing(tmp_path, monkeypatch):
    def full(*_):
        raise MemoryError
    monkeypatch.setattr(driver, "save", full)
    with pytest.warns(RuntimeWarning, match="the last checkpoint could not be written to .*MemoryError"):
        assert infimum.minimize(COLVILLE.fun, COLVILLE.bounds, checkpoint=str(tmp_path / "run.inf")).success


def test_a_full_disk_before_any_work_is_an_error(tmp_path, monkeypatch):
    path = str(tmp_path / "run.inf")
    full_disk(monkeypatch)
    with pytest.raises(infimum.CheckpointError, match="no checkpoint can be written to .*: No space left on device"):
        infimum.minimize(COLVILLE.fun, COLVILLE.bounds, checkpoint=path)
    monkeypatch.undo()
    infimum.minimize(COLVILLE.fun, COLVILLE.bounds, checkpoint=path, max_boxes=100)
    full_disk(monkeypatch)
    with pytest.raises(infimum.CheckpointError, match="no checkpoint can be written"):
        infimum.resume(path, COLVILLE.fun, atol=1e-3)  # which the file would have to note


def gone():
    """A pipe whose reader has gone."""
    read, write = os.pipe()
    os.close(read)
    return os.fdopen(write, "w", buffering=1)


def closed():
    stream = io.StringIO()
    stream.close()
    return stream


@pytest.mark.skipif(os.name == "nt", reason="there are no such devices")
@pytest.mark.parametrize("stderr", [closed, lambda: None, gone, lambda: open("/dev/full", "w", buffering=1)])
@pytest.mark.parametrize("wanted", [True, None])
def test_where_nobody_can_look_a_run_goes_on_without_progress(stderr, wanted, monkeypatch):
    stream = stderr()
    monkeypatch.setattr(sys, "stderr", stream)
    try:
        r = infimum.minimize(lambda x: x[0] ** 2 + x[1] ** 4, [(-1, 2)] * 2, progress=wanted)
        assert r.verdict is infimum.Verdict.PROVED
    finally:
        if stream is not None:
            with suppress(OSError):
                stream.close()


def test_bad_checkpoints(tmp_path):
    path, f = str(tmp_path / "run.inf"), COLVILLE.fun
    with pytest.raises(infimum.CheckpointError, match="cannot be read"):
        infimum.resume(path, f)
    with pytest.raises(infimum.CheckpointError, match="no checkpoint can be written"):
        infimum.minimize(f, COLVILLE.bounds, checkpoint=str(tmp_path / "none" / "run.inf"))
    infimum.minimize(f, COLVILLE.bounds, checkpoint=path, max_boxes=10)
    with pytest.raises(infimum.CheckpointError, match="exists"):
        infimum.minimize(f, COLVILLE.bounds, checkpoint=path)
    with pytest.raises(infimum.CheckpointError, match="another function"):
        infimum.resume(path, lambda x: f(x) + 1)
    with pytest.raises(infimum.OptionError, match="keeps no checkpoint"):
        infimum.minimize(f, COLVILLE.bounds, engine="swarm", checkpoint=path)
    Path(path).write_bytes(b"infimum checkpoint 9\n")
    with pytest.raises(infimum.CheckpointError, match="another version"):
        infimum.resume(path, f)
    Path(path).write_bytes(b"something else")
    with pytest.raises(infimum.CheckpointError, match="no checkpoint of infimum"):
        infimum.resume(path, f)
