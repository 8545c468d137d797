"""The device a user names, as a backend."""

import importlib.util
import math
import re
from functools import cache
from typing import Any

from infimum.backend.cpu import CpuBackend
from infimum.errors import OptionError

_SECONDS_BEFORE_GPU = 1.0  # seconds of work that a GPU would have done sooner, before "auto" looks for one


def place_of(backend: Any) -> str:
    """Where the kernels of a backend have run, for people."""
    return getattr(backend, "place", backend.name)


@cache
def gpu_may_be_here() -> bool:
    """Is CuPy installed? Importing it takes a second, so that it is only looked for."""
    return importlib.util.find_spec("cupy") is not None


def backend_of(device: Any, memory_limit: float | None = None, threads: int | None = None) -> Any:
    """The backend called "cpu", "cuda", "cuda:1", …, or "auto": a GPU where one is there and the work is long enough.

    `memory_limit`: bytes that one run may take on a GPU. `threads`: of the CPU.
    """
    found = re.fullmatch(r"cpu|auto|cuda(?::([0-9]+))?", device) if isinstance(device, str) else None
    if found is None:
        raise OptionError(f"there is no device {device!r}; there are 'auto', 'cpu', 'cuda' and, with several GPUs, 'cuda:0', "
                          "'cuda:1', …")
    if device == "cpu":
        return CpuBackend(threads=threads)
    if device == "auto" and not gpu_may_be_here():
        return CpuBackend(threads=threads)
    from infimum.backend.hybrid import HybridBackend

    limit = None if memory_limit is None or math.isinf(memory_limit) else int(memory_limit)
    if device != "auto":
        return HybridBackend(int(found[1] or 0), limit, threads=threads)
    return HybridBackend(0, limit, _SECONDS_BEFORE_GPU, or_cpu=True, threads=threads)
