"""Overlap: work of this machine for the time it would only wait for a GPU."""

from collections.abc import Iterator
from threading import get_ident
from typing import Any


class OverlappedWork:
    """Takes the steps of a generator while `arrays` wait for their machine. What the steps find must not depend on when they are
    taken.

    No thread is needed for that, none contends for Python's lock.
    """

    def __init__(self, steps: Iterator[None], arrays: Any):
        self._steps, self._arrays, self._error, self._thread = steps, arrays, None, get_ident()
        arrays.idle = self._step

    def _step(self) -> bool:
        """One step; False if there was none to take, or if another thread waits, whose work this is not."""
        if get_ident() != self._thread:
            return False
        self._arrays.idle = None  # a step may have to wait as well
        try:
            next(self._steps)
        except StopIteration:
            return False
        except Exception as error:  # told to whoever waits for the end
            self._error = error
            return False
        self._arrays.idle = self._step
        return True

    def rest(self) -> Iterator[None]:
        """Takes the steps that are left; raises what one of them raised."""
        self.stop()
        if self._error is not None:
            raise self._error
        yield from self._steps

    def stop(self) -> None:
        """No more steps."""
        self._arrays.idle = None
