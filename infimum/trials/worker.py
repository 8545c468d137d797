"""The other side of a pipe: a process that runs trials one after the other until the pipe is closed.

It is a group of its own, so that Ctrl-C in a terminal does not reach it and all that it starts can be killed with it. If the
process that it works for is gone, it ends at once, in the middle of a trial: nobody would hear the outcome.
"""

import os
import pickle
import signal
import threading
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait

from infimum.trials.killing import kill_group
from infimum.trials.outcome import exception_text

READY, UNUSABLE, PART, OUTCOME = range(4)  # what it says: the first of a pair
ALONE = 78                                 # its exit status if the other side is gone


def main(connection: Connection, pickled: bytes) -> None:
    """Runs trials of the pickled black box: points in, outcomes out, and in between the numbers of constraints that hold."""
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # forgets a Ctrl-C that came while it started, which was blocked
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        _serve(connection, pickled)
    except (EOFError, OSError):  # the other side has closed the pipe, or is gone; what functions raise is no exception here
        return


def _serve(connection: Connection, pickled: bytes) -> None:
    try:
        box = pickle.loads(pickled)
    except Exception as error:
        connection.send((UNUSABLE, exception_text(error)))
        return
    note = (lambda number: connection.send((PART, number))) if box.constraints else None
    connection.send((READY, None))
    while True:
        connection.send((OUTCOME, box.evaluate(connection.recv(), note)))


def _end_with_parent() -> None:
    """Waits until the process that started this one is gone, and ends this one with all that it has started."""
    wait([parent_process().sentinel])
    if hasattr(os, "killpg"):
        kill_group(os.getpid())
    os._exit(ALONE)
