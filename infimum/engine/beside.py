"""Beside: work of this machine that goes on in a thread while a GPU has its own."""

import threading
from collections.abc import Iterator


class Beside:
    """Takes the steps of a generator in a thread. What they find must not depend on when they are taken.

    >>> found = []
    >>> beside = Beside(found.append(k) for k in range(3))
    >>> for _ in beside.wait():
    ...     pass
    >>> found
    [0, 1, 2]
    """

    def __init__(self, steps: Iterator[None]):
        self._steps, self._stopped, self._error = steps, False, None
        self._thread = threading.Thread(target=self._run, daemon=True, name="infimum-beside")
        self._thread.start()

    def _run(self) -> None:
        try:
            for _ in self._steps:
                if self._stopped:
                    return
        except BaseException as error:  # told to whoever waits
            self._error = error

    def wait(self) -> Iterator[None]:
        """Pauses until all steps are taken; raises what they raised."""
        while self._thread.is_alive():
            self._thread.join(0.02)
            yield
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        """Ends it after the step that is under way."""
        self._stopped = True
        self._thread.join()
