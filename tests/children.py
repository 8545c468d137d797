"""Processes that tests start: each has a limit, hears Ctrl-C however the tests were started, and none outlives its test."""

import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

LIMIT = 300.0  # seconds; many times what any of them needs on a busy machine
_started: list[tuple[subprocess.Popen, threading.Timer]] = []


@contextmanager
def ctrl_c_heard() -> Iterator[None]:
    """SIGINT is heard as in any program, here and in processes that are started here, even if it is ignored (`nohup … &`)."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def run(*command: str | Path, **settings: Any) -> subprocess.CompletedProcess:
    """A process that has ended, with what it printed."""
    return subprocess.run(command, **{"capture_output": True, "text": True, "timeout": LIMIT} | settings)


def start(*command: str | Path, **settings: Any) -> subprocess.Popen:
    """A process that runs beside its test, and is killed at the limit or when the test is over."""
    with ctrl_c_heard():
        child = subprocess.Popen(command, **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | settings)
    timer = threading.Timer(LIMIT, child.kill)
    timer.daemon = True
    timer.start()
    _started.append((child, timer))
    return child


def end() -> None:
    """Kills what a test has started and not waited for."""
    while _started:
        child, timer = _started.pop()
        timer.cancel()
        with child:
            child.kill()
