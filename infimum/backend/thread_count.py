"""How many threads of the CPU a run uses. The number changes the speed, never a bit."""

import os
from typing import Any

import numpy as np

from infimum.errors import OptionError

VARIABLE = "INFIMUM_THREADS"
MOST_THREADS = 1024


def thread_count(threads: Any = None) -> int:
    """The number asked for; without one, that of the environment variable; without that, the cores this process may use."""
    if threads is not None:
        return _checked("threads", threads)
    asked = os.environ.get(VARIABLE, "").strip()
    if asked:
        return _checked(VARIABLE, int(asked) if asked.isascii() and asked.isdigit() else asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _checked(name: str, count: Any) -> int:
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or not 1 <= count <= MOST_THREADS:
        raise OptionError(f"{name} must be a whole number from 1 to {MOST_THREADS}, not {count!r}")
    return int(count)
