"""A clock that counts how often it is looked at: a test that waits for the real one fails on a busy machine."""

import pytest

from infimum.search import driver
from infimum.support import clock as watch


class Clock:
    """In place of the module `time`: every look takes `tick` seconds."""

    def __init__(self, tick: float):
        self.tick, self.looks = tick, 0

    def perf_counter(self) -> float:
        self.looks += 1
        return self.looks * self.tick


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of every run in this test: a hundredth of a second for each look of the driver."""
    made = Clock(0.01)
    monkeypatch.setattr(driver, "time", made)
    monkeypatch.setattr(watch, "perf_counter", lambda: made.looks * made.tick)  # others see its time, but do not make it pass
    return made
