"""The other side of a channel: a process that runs trials one after the other until the channel is closed.

It is a group of its own, so that Ctrl-C in a terminal does not reach it and all that it starts can be killed with it. If the
process that it works for is gone, it ends at once, in the middle of a trial: nobody would hear the outcome.
"""

import os
import pickle
import signal
import socket
import threading
import time
from multiprocessing import parent_process
from multiprocessing.connection import wait

from infimum.blackbox.outcome import exception_text
from infimum.parallel.channel import BlockingChannel
from infimum.support.process_groups import kill_group

READY, UNUSABLE, PART, OUTCOME, ALIVE = range(5)  # what it says: the first of a pair
ALONE = 78                                        # its exit status if the other side is gone


def main(end: socket.socket, beat: float | None) -> None:
    """Runs trials of the pickled black box that it is sent first: points in, outcomes out, and in between the numbers of
    constraints that hold. While it works on one it says every `beat` seconds that it lives."""
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)
        usual = signal.signal(signal.SIGINT, signal.SIG_IGN)  # forgets a Ctrl-C that came while it started, which was blocked
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        signal.signal(signal.SIGINT, usual)  # which ignores it too, if the process that started this one does (`nohup`)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        _serve(BlockingChannel(end), beat)
    except (EOFError, OSError):  # the other side has closed the channel, or is gone; what functions raise is no exception here
        return


def _serve(line: BlockingChannel, beat: float | None) -> None:
    pickled = line.receive()
    try:
        box = pickle.loads(pickled)
    except Exception as error:
        line.send((UNUSABLE, exception_text(error)))
        return
    note = (lambda number: line.send((PART, number))) if box.constraints else None
    works = threading.Event()
    if beat is not None:
        threading.Thread(target=_beat, args=(line, beat, works), daemon=True).start()
    line.send((READY, None))
    while True:
        x = line.receive()
        works.set()
        outcome = box.evaluate(x, note)
        works.clear()
        line.send((OUTCOME, outcome))


def _beat(line: BlockingChannel, seconds: float, works: threading.Event) -> None:
    """Signs of life, which a process that computes gives and one that is frozen does not."""
    try:
        while True:
            works.wait()
            line.send((ALIVE, None))
            time.sleep(seconds)
    except OSError:  # the other side is gone
        return


def _end_with_parent() -> None:
    """Waits until the process that started this one is gone, and ends this one with all that it has started."""
    wait([parent_process().sentinel])
    if hasattr(os, "killpg"):
        kill_group(os.getpid())
    os._exit(ALONE)
