"""Workers that are frozen by SIGSTOP, wherever they were: a run never waits for them longer than it was told to."""

import os
import pickle
import signal
import socket
import struct
import time

import pytest

import infimum
from infimum.blackbox.outcome import Outcome, OutcomeKind
from infimum.errors import TrialError
from infimum.parallel.channel import BlockingChannel, Mailbox, pair
from infimum.parallel.process_workers import Processes
from infimum.parallel.worker_start import start_workers
from tests.trials.black_boxes import freezes_at_nine, freezes_below
from tests.trials.test_workers import alive, box, gone, posix, script

pytestmark = posix
LARGE = bytes(1 << 24)  # more than any pipe takes
SOON = 20.0             # seconds, where nothing would ever come


class Answering:
    """Its points are bytes, as those of a proof."""

    constraints = 0

    def evaluate(self, x, note=None):
        if x == b"sleep":
            time.sleep(1.5)
        return Outcome.of([float(len(x))], 0)


@pytest.fixture(scope="module")
def two():
    with Processes(Answering(), 2, silence=1.0) as workers:
        while not workers.prepare(1.0):
            pass
        yield workers


def freeze(*some):
    for one in some:
        os.kill(one.process.pid, signal.SIGSTOP)


# ---- channels
def test_half_a_message_is_kept_until_the_rest_comes():
    ours, theirs = pair()
    pickled = pickle.dumps(("outcome", [1.0] * 1000))
    whole = struct.pack("!Q", len(pickled)) + pickled
    for cut in (3, 8, 5000):
        theirs.sendall(whole[:cut])
        assert ours.read() == ([], False)
        theirs.sendall(whole[cut:] + whole)
        assert ours.read() == ([pickle.loads(pickled)] * 2, False)
    theirs.sendall(whole + whole[:9])
    theirs.close()
    assert ours.read() == ([pickle.loads(pickled)], True)
    ours.close()


def test_what_nobody_reads_stays_here():
    ours, theirs = pair()
    ours.post(LARGE)
    assert ours.unsent
    read, line = bytearray(), BlockingChannel(theirs)
    theirs.setblocking(False)
    while ours.unsent:
        read += theirs.recv(1 << 20)
        ours.send_on()
    theirs.setblocking(True)
    while len(read) < len(LARGE):
        read += theirs.recv(1 << 20)
    assert pickle.loads(read[8:]) == LARGE
    ours.post("small")
    assert line.receive() == "small" and not ours.unsent
    theirs.close()
    with pytest.raises(OSError, match=r"."):
        ours.post(LARGE)
    ours.close()


def test_both_sides_hear_that_the_other_is_gone():
    first, second = socket.socketpair()
    ours, line = Mailbox(first), BlockingChannel(second)
    line.send(1)
    ours.close()
    with pytest.raises((EOFError, OSError)):
        line.receive()
    second.close()


# ---- trials
def test_a_worker_that_takes_nothing_holds_up_neither_others_nor_the_end(two):
    """A point that is larger than a pipe, to a worker that was idle when it was frozen."""
    frozen, other = two._workers
    freeze(frozen)
    tickets = [two.submit(LARGE), two.submit(b"other")]
    assert frozen.ticket == tickets[0] and other.ticket == tickets[1]
    assert two.next_finished().outcome.value == 5.0
    lost = two.next_finished()  # by its silence
    assert lost.ticket == tickets[0] and lost.outcome.kind is OutcomeKind.CRASH and "no sign of life for 1 s" in lost.outcome.text
    assert gone([frozen.process.pid]) and [o.value for o in two.run([LARGE, b"", b"x"])] == [len(LARGE), 0.0, 1.0]


def test_a_worker_that_computes_for_long_lives(two):
    assert two.run([b"sleep"] * 2)[0].value == 5.0  # longer than the silence after which it would be given up


def test_silence_counts_only_while_somebody_listens(two):
    """As where the whole machine was asleep: what workers said meanwhile is heard first."""
    tickets = [two.submit(b"sleep"), two.submit(b"sleep")]
    two._listened -= 3600.0
    assert {two.next_finished().ticket for _ in tickets} == set(tickets)


def test_idle_and_busy_workers_that_are_frozen_are_killed_at_the_end():
    workers = Processes(Answering(), 2)
    while not workers.prepare(1.0):
        pass
    workers.submit(LARGE)
    pids = [one.process.pid for one in workers._workers]
    freeze(*workers._workers)
    assert workers.next_finished(0.05) is None and all(map(alive, pids))
    begin = time.monotonic()
    workers.close()
    assert time.monotonic() - begin < SOON and gone(pids)


def test_a_worker_that_is_frozen_while_it_starts(monkeypatch):
    """There is no trial yet that could time out."""
    monkeypatch.setattr("infimum.parallel.process_workers._START_SECONDS", 1.0)
    with Processes(Answering(), 1) as workers:
        freeze(*workers._workers)
        workers.submit(b"")
        with pytest.raises(TrialError, match="not ready after 1 s"):
            workers.next_finished()


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_frozen_trial_times_out_and_the_others_go_on(asynchronous):
    """Synchronous: every round has its outcomes. Asynchronous: the trials of the other worker come meanwhile."""
    with start_workers(box(freezes_at_nine), 2, timeout=1.0) as workers:
        points = [(9, 0), *((0, v / 8) for v in range(8))]
        if asynchronous:
            tickets = [workers.submit(x) for x in points]
            found = [workers.next_finished() for _ in points]
            assert found[-1].ticket == tickets[0] or found[0].outcome.kind is OutcomeKind.VALUE
            outcomes = [outcome for _, outcome in sorted(found, key=lambda f: f.ticket)]
        else:
            outcomes = workers.run(points)
    assert [o.kind
            for o in outcomes] == [OutcomeKind.TIMEOUT] + [OutcomeKind.VALUE] * 8 and outcomes[0].text == "killed after 1 s"


@pytest.mark.parametrize("asynchronous", [False, True])
def test_without_a_timeout_the_time_limit_holds(asynchronous):
    begin = time.monotonic()
    result = infimum.minimize(freezes_below, [(0, 1)] * 2, engine="index", workers=2, time_limit=2.0, max_trials=200,
                              options={"asynchronous": asynchronous})
    assert result.message.startswith("the time limit of 2 s") and result.fun >= 0.25 and result.trials.count < 200
    assert time.monotonic() - begin < SOON


def test_ctrl_c_is_heard_while_all_workers_are_frozen(tmp_path):
    process = script(tmp_path, "if __name__ == '__main__':\n    try:\n        main(slow)\n"
                               "    except KeyboardInterrupt:\n        print('stopped')\n", start_new_session=True)
    pids = [int(process.stdout.readline().split()[1]) for _ in range(2)]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    os.killpg(process.pid, signal.SIGINT)
    out, errors = process.communicate(timeout=30)
    assert gone(pids) and errors == "" and out == "stopped\n"
