"""Ctrl-C during a run: the first ends it with what it has, a second soon after raises KeyboardInterrupt."""

import signal
import threading
import time
from typing import Any, ClassVar

from infimum.search.policy.search import DISPLAY as POLICY


class Interrupts:
    """Holds Ctrl-C back until a step is whole: in the middle of one, regions are in no list and the enclosure would not hold.

    A second Ctrl-C within two seconds is not held back, even if it comes during the next run: so a loop
    over many runs can be left. Only Python's own handler is replaced, and only in the main thread. A block within another one
    hears what that one has heard, before or during it: so the searches of a longer run end one after the other, and what they
    have found is kept.
    """

    _last = float("-inf")  # when Ctrl-C was last heard, in any run
    _running: ClassVar[list["Interrupts"]] = []

    def __init__(self) -> None:
        self._heard, self._raised, self._replaced = False, False, False
        self._around: Interrupts | None = None

    @property
    def heard(self) -> bool:
        return self._heard or (self._around is not None and self._around.heard)

    @property
    def raised(self) -> bool:
        return self._raised or (self._around is not None and self._around.raised)

    def __enter__(self) -> "Interrupts":
        if threading.current_thread() is threading.main_thread():
            handler = signal.getsignal(signal.SIGINT)
            self._replaced, outer = handler is signal.default_int_handler, getattr(handler, "__self__", None)
            self._around = outer if isinstance(outer, Interrupts) else None
        if self._replaced:
            signal.signal(signal.SIGINT, self._hear)
        Interrupts._running.append(self)
        return self

    @classmethod
    def stop(cls) -> bool:
        """Ends what is running, in whichever thread, as one Ctrl-C does; False if nothing is."""
        for one in cls._running:
            one._heard = True
        return bool(cls._running)

    def _hear(self, *_: Any) -> None:
        now, before = time.monotonic(), Interrupts._last
        Interrupts._last, self._heard = now, True
        if now - before <= POLICY.second_interrupt_seconds:
            self._raised = True
            raise KeyboardInterrupt

    def __exit__(self, *_: Any) -> None:
        Interrupts._running.remove(self)
        if self._replaced:
            signal.signal(signal.SIGINT, signal.default_int_handler)
