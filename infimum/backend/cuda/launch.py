"""The two ways to use a GPU, and the shapes of their launches: a box a thread, or a box a block of threads.

A thread of a GPU is slow, and there are very many: few boxes with long loops leave nearly all of them idle unless they share the
turns of a box. Which way is taken, and how many threads and blocks, changes the speed, never a bit.
"""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, NamedTuple

from infimum.backend import ptx
from infimum.backend.cuda import ptx_block
from infimum.backend.cuda.work_sharing import THREADS, WorkSharing
from infimum.kernel.ir import Kernel

_BLOCK = 128       # threads that share a multiprocessor's block: enough to hide latency, few enough for any number of registers
_WIDE_BLOCK = 512  # the same where they share a box
_WARP = 32
_MOST_BLOCKS = 2**31 - 1
_BUSY_THREADS = 512  # threads that a multiprocessor runs as fast as one
# a block shares a box that has at least this number of instructions and becomes faster by this factor
_LONG_INSTRUCTIONS, _LEAST_SPEEDUP = 1 << 14, 2


class Launch(NamedTuple):
    """A function, threads a block, blocks, and bytes of scratch."""

    function: Any
    block: int
    grid: int
    scratch: int


class _LaunchMethod(ABC):
    """Code on the GPU, brought there when it is first needed. `block` and `grid` are what the user gave."""

    def __init__(self, kernel: Kernel, gpu: Any, block: int | None, grid: int | None):
        self._kernel, self._gpu, self._block, self._grid = kernel, gpu, block, grid or _MOST_BLOCKS
        self._residents: dict[int, int] = {}

    @abstractmethod
    def _text(self) -> str:
        """LLVM IR."""

    @cached_property
    def _function(self) -> Any:
        return self._gpu.load(self._text())

    def _resident(self, block: int) -> int:
        if block not in self._residents:
            self._residents[block] = self._gpu.resident(self._function, block)
        return self._residents[block]

    def _runnable(self, block: int) -> int:
        """At most this number of threads, as registers allow."""
        while self._resident(block) == 0 and block > 1:
            block //= 2
        return block


class LaneLaunch(_LaunchMethod):
    """A box a thread."""

    def _text(self) -> str:
        return ptx.ir(self._kernel)

    def launch(self, count: int, share: int) -> Launch:
        """A thread for every box, but with scratch no more than run at once or than memory holds. Few boxes are spread over
        many multiprocessors."""
        block = self._block or _BLOCK
        while self._block is None and block > _WARP and count < block * self._gpu.multiprocessors:
            block //= 2
        block = self._runnable(block)
        grid = min(-(-count // block), self._grid)
        each = 8 * sum(self._kernel.buffers)
        if each:
            held = share // each
            block = min(block, held)
            grid = min(grid, self._resident(block), held // block)
        grid = max(1, grid)
        return Launch(self._function, block, grid, each * block * grid)


class BlockLaunch(_LaunchMethod):
    """A box a block."""

    @cached_property
    def _work_sharing(self) -> WorkSharing:
        return WorkSharing(self._kernel)

    def _text(self) -> str:
        return ptx_block.ir(self._work_sharing)

    def launch(self, count: int, share: int) -> Launch | None:
        """A block for every box, no more than run at once or than memory holds; None where a thread a box ends sooner, or where
        memory does not hold one."""
        busy = _BUSY_THREADS * self._gpu.multiprocessors
        if not self._pays(count, busy) or 8 * self._work_sharing.doubles(1) > share:
            return None
        block = self._block or _WIDE_BLOCK
        while self._block is None and block > _WARP and (count * block > busy or block >= 2 * self._work_sharing.widest):
            block //= 2
        block = self._runnable(block)
        while (each := 8 * self._work_sharing.doubles(block)) > share:
            block //= 2
        grid = max(1, min(count, self._grid, self._resident(block), share // each if each else count))
        return Launch(self._function, block, grid, each * grid)

    def _pays(self, count: int, busy: int) -> bool:
        if count * _WARP > busy:
            return False
        way = self._work_sharing.way * max(1.0, count * THREADS / busy)
        return self._work_sharing.weight > max(_LONG_INSTRUCTIONS, _LEAST_SPEEDUP * way)
