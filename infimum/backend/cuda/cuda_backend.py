"""Kernels on a GPU: a lane is a thread or a block of threads. CuPy moves memory; what a GPU needs beside that is in `gpu`."""

from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np

from infimum.backend import ptx
from infimum.backend.cuda.gpu import gpu
from infimum.backend.cuda.gpu_arrays import GpuArrays
from infimum.backend.cuda.launch import BlockLaunch, LaneLaunch
from infimum.errors import DeviceError, ShapeError
from infimum.kernel.ir import Kernel

_BATCH, _LANE = 1 << 19, 1 << 15  # boxes a step that fill a large GPU, and the bytes that regions at hand and work take for each
_KEPT_CONSTANTS, _SMALL_BYTES = 32, 1 << 16  # how many constants of a kernel are kept, if they have no more bytes than this;
_KEPT_LARGE_BYTES = 1 << 26  # the bytes of larger ones that are kept


class _Constants:
    """Data of a kernel on the GPU: sent when it changes, kept otherwise. A search goes to and fro between a few."""

    def __init__(self) -> None:
        self._kept: OrderedDict[bytes, Any] = OrderedDict()
        self._large: tuple[np.ndarray, Any] | None = None
        self._versions: OrderedDict[tuple[int, bytes], Any] = OrderedDict()  # of it, by what differs

    def on(self, cupy: ModuleType, array: Any) -> Any:
        """The array on the GPU. Callers may change theirs in place, so its bits are compared, not its identity."""
        if not isinstance(array, np.ndarray):
            return array
        if array.nbytes > _SMALL_BYTES:  # compared, since looking it up would take longer than many a kernel
            return self._large_on(cupy, array, array.view(np.int64))
        key = array.tobytes()
        if key not in self._kept:
            self._kept[key] = self._send(cupy, array)
            if len(self._kept) > _KEPT_CONSTANTS:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]

    def _large_on(self, cupy: ModuleType, array: np.ndarray, bits: np.ndarray) -> Any:
        """The same for one that is large: mostly a few parameters are all that differs from the first one."""
        if self._large is None or self._large[0].shape != bits.shape:
            return self._as_first(cupy, array, bits)
        first, there = self._large
        changed = np.flatnonzero(first != bits)
        if not len(changed):
            return there
        some = slice(int(changed[0]), int(changed[-1]) + 1)
        if some.stop - some.start > len(bits) // 8:
            return self._as_first(cupy, array, bits)
        key = some.start, array[some].tobytes()
        if key not in self._versions:
            there = there.copy()
            there[some].set(array[some].copy())
            cupy.cuda.get_current_stream().synchronize()
            self._versions[key] = there
            if len(self._versions) > max(1, min(_KEPT_CONSTANTS, _KEPT_LARGE_BYTES // array.nbytes)):
                self._versions.popitem(last=False)
        self._versions.move_to_end(key)
        return self._versions[key]

    def _as_first(self, cupy: ModuleType, array: np.ndarray, bits: np.ndarray) -> Any:
        self._large = None  # its memory goes back first
        self._versions.clear()
        self._large = bits.copy(), self._send(cupy, array)
        return self._large[1]

    def _send(self, cupy: ModuleType, array: np.ndarray) -> Any:
        there = cupy.empty(array.shape, array.dtype)
        if array.size:
            there.set(array.copy())
            cupy.cuda.get_current_stream().synchronize()  # later runs may be queued on other streams
        return there


class CudaKernel:
    """A kernel on a GPU; call `run`."""

    lanes = 1

    def __init__(self, kernel: Kernel, backend: "CudaBackend"):
        self._gpu, self._limit = backend.gpu, backend.memory_limit
        self._slots = kernel.inputs, kernel.outputs
        self._thread_bytes = 8 * sum(kernel.buffers)
        self._constants = _Constants(), _Constants()
        self._lanes, self._blocks = (way(kernel, backend.gpu, backend.block, backend.grid) for way in (LaneLaunch, BlockLaunch))

    def run(self, inputs: Sequence[Any], outputs: Sequence[Any], data: Any, udata: Any, threads: int = 1, times: int = 1) -> None:
        """Runs every lane. Arrays are C-contiguous float64 of shape (rows, N), all with the same N; outputs overlap no input.

        NumPy arrays are copied to the GPU and back, in parts where memory is short, and the results are there on return. Arrays
        of CuPy are worked on in place: the kernel is queued on CuPy's current stream. `times`: so often, to and fro between
        inputs and outputs, which then have the same shapes. `threads` changes nothing.
        """
        count = self._count(inputs, outputs)
        if count == 0:
            return
        arrays = (*inputs, *outputs)
        with self._gpu.use():
            copied = 8 * sum(a.shape[0] for a in arrays if isinstance(a, np.ndarray))  # bytes a box
            share, least = self._limit // 2, max(copied, self._thread_bytes, 1)  # one half for copies, one for scratch
            if share < least:
                raise DeviceError(f"one box needs {copied + self._thread_bytes} bytes of the GPU '{self._gpu.name}', more than "
                                  f"memory_limit = {self._limit} allows")
            begin = 0
            while begin < count:
                boxes = min(count - begin, share // copied) if copied else count
                try:
                    self._piece(arrays, (data, udata), begin, begin + boxes, share, times)
                except Exception as error:
                    if not self._gpu.out_of_memory(error) or share // 2 < least:
                        raise
                    share //= 2
                    continue
                begin += boxes

    def _count(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> int:
        """The number of boxes. What does not fit is refused here: a wrong address on a GPU ends the whole process's use of it."""
        arrays = (*inputs, *outputs)
        if (len(inputs), len(outputs)) != self._slots:
            raise ShapeError(f"the kernel has {self._slots} inputs and outputs, got {(len(inputs), len(outputs))}")
        if len({isinstance(a, np.ndarray) for a in arrays}) > 1:
            raise ShapeError("some arrays are NumPy's and some CuPy's; give all of one kind")
        for a in arrays:
            if a.ndim != 2 or a.dtype != np.float64 or not a.flags.c_contiguous or a.shape[1] != arrays[0].shape[1]:
                raise ShapeError("expected C-contiguous float64 arrays of shape (rows, N) with one N, got one of "
                                 f"{a.dtype} with shape {a.shape}")
            if not isinstance(a, np.ndarray) and a.device.id != self._gpu.number:
                raise ShapeError(f"an array lies on GPU {a.device.id}, the kernel on GPU {self._gpu.number}")
        return arrays[0].shape[1]

    def _piece(self, arrays: Sequence[Any], constants: tuple[Any, Any], begin: int, end: int, share: int,
               times: int) -> None:
        """The boxes begin … end-1. Outputs are sent to the GPU too: a kernel need not write every row."""
        cupy = self._gpu.cupy
        there = [kept.on(cupy, a) for kept, a in zip(self._constants, constants, strict=True)]
        if not isinstance(arrays[0], np.ndarray):
            self._launch(arrays, there, end - begin, share, times)
            return
        sent = [np.ascontiguousarray(a[:, begin:end]) for a in arrays]
        copies = [cupy.empty(a.shape, np.float64) for a in sent]
        for a, copy in zip(sent, copies, strict=True):
            copy.set(a)
        self._launch(copies, there, end - begin, share, times)
        changed = slice(self._slots[0] if times == 1 else 0, None)
        for a, found in zip(arrays[changed], [copy.get() for copy in copies[changed]], strict=True):  # all of them, or none
            a[:, begin:end] = found

    def _launch(self, arrays: Sequence[Any], constants: list, count: int, share: int, times: int) -> None:
        """Queues the kernel. Scratch goes back to CuPy's pool at once, which gives it to later work of the same stream only."""
        way = self._blocks.launch(count, share) or self._lanes.launch(count, share)
        scratch = self._gpu.cupy.cuda.alloc(way.scratch) if way.scratch else None
        there, back = arrays[:self._slots[0]], arrays[self._slots[0]:]
        rest = [*(a.data.ptr for a in constants), 0 if scratch is None else scratch.ptr, count, count]
        ways = [[*(a.data.ptr for a in arguments), *rest] for arguments in ((*there, *back), (*back, *there))]
        self._gpu.queue(way.function, way.grid, way.block, *ways, times=times)


class CudaBackend:
    """Compiles kernels for an NVIDIA GPU. `block` (threads) and `grid` (the most blocks) change the speed, never a bit.

    `memory_limit`: bytes that one run may take for scratch and for copies of NumPy arrays, half of the GPU's memory by default;
    what does not fit is split into several launches.
    """

    threads = 1
    resident = True  # a long search keeps its regions there
    text = staticmethod(ptx.ptx)  # of a kernel, as PTX; needs neither CuPy nor a GPU

    def __init__(self, device: int = 0, memory_limit: int | None = None, *, block: int | None = None, grid: int | None = None):
        self.gpu, self.block, self.grid = gpu(device), block, grid
        self.memory_limit = self.gpu.memory // 2 if memory_limit is None else memory_limit
        self.batch = min(_BATCH, 1 << max(0, (self.gpu.memory // _LANE).bit_length() - 1))  # boxes a step, if nobody says
        # compiled kernels are kept by the backend's name, so it tells all that sets them apart
        given = {"device": device or None, "memory_limit": memory_limit, "block": block, "grid": grid}
        settings = ", ".join(f"{key}={value}" for key, value in given.items() if value is not None)
        self.name = f"cuda({settings})" if settings else "cuda"

    @cached_property
    def arrays(self) -> GpuArrays:
        """In the memory of the GPU."""
        return GpuArrays(self)

    def compile(self, kernel: Kernel) -> CudaKernel:
        """The kernel, ready to run; code that an equal kernel brought to the GPU before is used again."""
        return CudaKernel(kernel, self)
