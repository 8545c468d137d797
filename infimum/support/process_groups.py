"""Killing processes with all that they have started, and saying how one has ended."""

import os
import signal
import time
from typing import Any


def status_text(status: int) -> str:
    """What the exit status of a process means.

    >>> status_text(-9), status_text(3)
    ('killed by SIGKILL', 'exit status 3')
    """
    if status >= 0:
        return f"exit status {status}"
    try:
        return f"killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"killed by signal {-status}"


def kill_group(pid: int) -> None:
    """Kills a process that leads a group, and all that belong to it; where there are no groups, the process alone."""
    try:
        if hasattr(os, "killpg"):
            os.killpg(pid, signal.SIGKILL)
        else:  # Windows
            os.kill(pid, signal.SIGTERM)
    except (ProcessLookupError, PermissionError):  # it has ended, or on macOS is about to
        return


def ended(process: Any, seconds: float = 0.0) -> bool:
    """Has a process of multiprocessing ended, or does it within some seconds? Where that is possible it is not yet taken off the
    system's list, so that its number still stands for its group."""
    if not hasattr(os, "waitid"):
        process.join(seconds)
        return process.exitcode is not None
    end = time.monotonic() + seconds
    while True:
        try:
            if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                return True
        except ChildProcessError:  # already taken off
            return True
        if time.monotonic() >= end:
            return False
        time.sleep(0.001)
