"""Ctrl-C at a moment when it would leave processes behind: it is heard a little later."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker


@contextmanager
def interrupts_held_back(starting: bool = False) -> Iterator[None]:
    """This process hears Ctrl-C after the block; a process that is `starting` in it begins deaf to that.

    The handler is replaced, and the signal blocked as well, which others inherit: blocked in this thread, it would reach another
    one, and Python would call the handler here.
    """
    handler, heard = signal.getsignal(signal.SIGINT), []
    replaced = threading.current_thread() is threading.main_thread() and callable(handler)
    if replaced:
        signal.signal(signal.SIGINT, lambda *given: heard.append(given))
    try:
        if starting and hasattr(signal, "pthread_sigmask"):
            with _blocked():
                yield
        else:
            yield
    finally:
        if replaced:
            signal.signal(signal.SIGINT, handler)
        if heard:
            handler(*heard[0])


@contextmanager
def _blocked() -> Iterator[None]:
    resource_tracker.ensure_running()  # which would unblock what is blocked, if it were started below
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
