"""The GPU: a lane is a thread or a block of threads, NVIDIA's driver compiles the PTX, CuPy moves memory and launches.

CuPy is imported when a target is made. Nothing of it that compiles is used (elementwise kernels, random numbers, scans): that
needs NVRTC, a part of the CUDA toolkit, and the driver alone is enough for kernels that come as PTX. That the first launch comes
soon, PTX is kept on disk (`disk_cache`), and the driver keeps there what it made of it.
"""

import ctypes
import warnings
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from types import ModuleType
from typing import Any

import llvmlite
import numpy as np

from infimum.errors import DeviceError, DeviceMemoryError, ShapeError
from infimum.lower.kernel import Kernel
from infimum.target import disk_cache, ptx
from infimum.target.gpu_arrays import GpuArrays
from infimum.target.host import LOCK
from infimum.target.launch import Blocks, Lanes

_KEEP = 256
_OLDEST = 60  # compute capability 6.0, as ptx.CAPABILITY
_BATCH, _LANE = 1 << 19, 1 << 15  # boxes a step that fill a large GPU, and the bytes that regions at hand and work take for each
_SETTINGS, _SMALL = 32, 1 << 16  # how many constants of a kernel are kept, if they have no more bytes than this
_REFUSALS = ("PTX", "NO_BINARY")  # in what the driver says of a kernel that it does not take

_gpus: dict[int, "Gpu"] = {}
_loaded: "OrderedDict[tuple[int, str], Any]" = OrderedDict()


class Gpu:
    """One GPU as the driver shows it."""

    def __init__(self, number: int):
        self.cupy, self.number = _cupy(), number
        cuda = self.cupy.cuda
        self._errors = cuda.driver.CUDADriverError, cuda.runtime.CUDARuntimeError, cuda.memory.OutOfMemoryError
        self.name = self._called(number)
        with self.use() as device:
            self.capability, self.memory = str(device.compute_capability), int(device.mem_info[1])
            self.multiprocessors = int(device.attributes["MultiProcessorCount"])
        self.versions = f"driver {cuda.runtime.driverGetVersion()}, llvmlite {llvmlite.__version__}"
        if int(self.capability) < _OLDEST:
            raise DeviceError(f"the GPU '{self.name}' has compute capability {self.capability}; it has to be {_OLDEST} or more")

    def _called(self, number: int) -> str:
        """The name of the GPU with that number, if there is one."""
        runtime = self.cupy.cuda.runtime
        try:
            count = runtime.getDeviceCount()
            if not 0 <= number < count:
                raise DeviceError(f"there is no GPU number {number}; this machine has {count}, counted from 0")
            return runtime.getDeviceProperties(number)["name"].decode()
        except runtime.CUDARuntimeError as error:
            if "InsufficientDriver" in str(error):
                raise DeviceError(f"NVIDIA's driver is too old for the CuPy that is installed ({error}): install a newer driver, "
                                  "or the CuPy for its version, as pip install cupy-cuda12x") from error
            raise DeviceError(f"no NVIDIA GPU answers ({error}); install NVIDIA's driver (no CUDA toolkit is needed)") from error

    @contextmanager
    def use(self) -> Iterator[Any]:
        """`with gpu.use():` makes it CuPy's current device. What CUDA reports meanwhile becomes an error of ours.

        CUDA reports a failed launch at whichever call comes later, so that every call has to be within.
        """
        try:
            with self.cupy.cuda.Device(self.number) as device:  # a new one each time, since threads must not share one
                yield device
        except self._errors as error:
            if self.out_of_memory(error):
                raise DeviceMemoryError(f"the memory of the GPU '{self.name}' is full ({error})") from error
            raise DeviceError(f"the GPU '{self.name}' (cuda:{self.number}) failed: {error}. What was in its memory is lost, and "
                              "this process cannot use it any more: start a new one, after a reset of the GPU if it fails again, "
                              "or take device='cpu'") from error

    def load(self, text: str) -> Any:
        """The function of a kernel's LLVM IR on this GPU; one that was loaded before is used again."""
        name = disk_cache.name_of(text, ptx.settings())
        key = self.number, name
        with LOCK:
            if key not in _loaded:
                module, words = self.cupy.cuda.function.Module(), disk_cache.kept(name, lambda: ptx.assemble(text).encode())
                with self.use():
                    try:
                        module.load(words)
                        _loaded[key] = module.get_function(ptx.ENTRY)  # keeps the module
                    except self.cupy.cuda.driver.CUDADriverError as error:
                        if not any(word in str(error) for word in _REFUSALS):
                            raise
                        raise DeviceError(f"the driver of the GPU '{self.name}' refuses the kernel: {error}") from error
                if len(_loaded) > _KEEP:
                    _loaded.popitem(last=False)
            _loaded.move_to_end(key)
            return _loaded[key]

    def queue(self, function: Any, grid: int, block: int, *ways: Sequence[int], times: int = 1) -> None:
        """Queues a kernel on CuPy's current stream, `times` times, with each of the lists of words in turn.

        By the driver's own call: CuPy's takes three times as long, longer than many a kernel, to look at each argument.
        """
        launch, stream = self.cupy.cuda.driver.launchKernel, self.cupy.cuda.get_current_stream().ptr
        packed = [_Arguments(words) for words in ways]
        for k in range(times):
            launch(function.ptr, grid, 1, 1, block, 1, 1, 0, stream, packed[k % len(packed)].address, 0)

    def resident(self, function: Any, block: int) -> int:
        """How many blocks of so many threads run at the same time; 0 if one has too many registers for that."""
        return self.multiprocessors * self.cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(function.ptr, block, 0)

    def out_of_memory(self, error: Exception) -> bool:
        """Does the error say that memory ran out, in an allocation or at a launch?"""
        return isinstance(error, MemoryError) or any(w in str(error) for w in ("OUT_OF_MEMORY", "cudaErrorMemoryAllocation"))


class _Arguments:
    """Words of 64 bits as the driver takes them: the addresses of all, side by side."""

    def __init__(self, words: Sequence[int]):
        count = len(words)
        self._words = (ctypes.c_int64 * count)(*words)
        first = ctypes.addressof(self._words)
        self._addresses = (ctypes.c_int64 * count)(*range(first, first + 8 * count, 8))
        self.address = ctypes.addressof(self._addresses)


def _cupy() -> ModuleType:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # CuPy warns where it finds no CUDA toolkit
            import cupy
            import cupy.cuda.function
    except ImportError as error:
        reason = str(error).strip().split("\n")[0]
        raise DeviceError(f"the GPU target needs CuPy, and importing it fails ({reason}): pip install infimum[cuda], or "
                          "cupy-cuda13x for drivers of CUDA 13; NVIDIA's driver is needed, a CUDA toolkit is not") from error
    return cupy


def gpu(number: int = 0) -> Gpu:
    """The GPU of that number, examined once."""
    with LOCK:
        if number not in _gpus:
            _gpus[number] = Gpu(number)
        return _gpus[number]


class _Constants:
    """Data of a kernel on the GPU: sent when it changes, kept otherwise. A search goes to and fro between a few."""

    def __init__(self) -> None:
        self._kept: OrderedDict[bytes, Any] = OrderedDict()
        self._large: tuple[np.ndarray, Any] | None = None

    def on(self, cupy: ModuleType, array: Any) -> Any:
        """The array on the GPU. Callers may change theirs in place, so its bits are compared, not its identity."""
        if not isinstance(array, np.ndarray):
            return array
        if array.nbytes > _SMALL:  # compared, since looking it up would take longer than many a kernel
            if self._large is None or not np.array_equal(self._large[0], array.view(np.int64)):
                self._large = None
                self._large = array.view(np.int64).copy(), self._send(cupy, array)
            return self._large[1]
        key = array.tobytes()
        if key not in self._kept:
            self._kept[key] = self._send(cupy, array)
            if len(self._kept) > _SETTINGS:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]

    def _send(self, cupy: ModuleType, array: np.ndarray) -> Any:
        there = cupy.empty(array.shape, array.dtype)
        if array.size:
            there.set(array.copy())
            cupy.cuda.get_current_stream().synchronize()  # later runs may be queued on other streams
        return there


class CudaKernel:
    """A kernel on a GPU; call `run`."""

    lanes = 1

    def __init__(self, kernel: Kernel, target: "CudaTarget"):
        self._gpu, self._limit = target.gpu, target.memory_limit
        self._slots = kernel.inputs, kernel.outputs
        self._thread_bytes = 8 * sum(kernel.buffers)
        self._constants = _Constants(), _Constants()
        self._lanes, self._blocks = (way(kernel, target.gpu, target.block, target.grid) for way in (Lanes, Blocks))

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


class CudaTarget:
    """Compiles kernels for an NVIDIA GPU. `block` (threads) and `grid` (at most so many blocks) change the speed, never a bit.

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
        # compiled kernels are kept by the target's name, so it tells all that sets them apart
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
