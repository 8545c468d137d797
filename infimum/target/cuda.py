"""The GPU: a lane is a thread or a block of threads, NVIDIA's driver compiles the PTX, CuPy moves memory and launches.

CuPy is imported when a target is made. Nothing of it that compiles is used (elementwise kernels, random numbers, scans): that
needs NVRTC, a part of the CUDA toolkit, and the driver alone is enough for kernels that come as PTX. The driver keeps what it
compiled on disk and so makes a second start fast; a cache of our own beside it would hold the same.
"""

import hashlib
import warnings
from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property
from types import ModuleType
from typing import Any

import llvmlite
import numpy as np

from infimum.errors import DeviceError, ShapeError
from infimum.lower.kernel import Kernel
from infimum.target import ptx
from infimum.target.gpu_arrays import GpuArrays
from infimum.target.host import LOCK
from infimum.target.launch import Blocks, Lanes

_KEEP = 256
_OLDEST = 60  # compute capability 6.0, as ptx.CAPABILITY
_SETTINGS, _SMALL = 32, 1 << 16  # how many constants of a kernel are kept, if they have no more bytes than this

_gpus: dict[int, "Gpu"] = {}
_loaded: "OrderedDict[str, Any]" = OrderedDict()


class Gpu:
    """One GPU as the driver shows it."""

    def __init__(self, number: int):
        self.cupy, self.number = _cupy(), number
        runtime = self.cupy.cuda.runtime
        try:
            count = runtime.getDeviceCount()
        except runtime.CUDARuntimeError as error:
            raise DeviceError(f"no NVIDIA GPU answers ({error}); install NVIDIA's driver (no CUDA toolkit is needed)") from error
        if not 0 <= number < count:
            raise DeviceError(f"there is no GPU number {number}; this machine has {count}, counted from 0")
        with self.use() as device:
            self.capability, self.memory = str(device.compute_capability), int(device.mem_info[1])
            self.multiprocessors = int(device.attributes["MultiProcessorCount"])
        self.name = runtime.getDeviceProperties(number)["name"].decode()
        self.versions = f"driver {runtime.driverGetVersion()}, llvmlite {llvmlite.__version__}"
        if int(self.capability) < _OLDEST:
            raise DeviceError(f"the GPU '{self.name}' has compute capability {self.capability}; it has to be {_OLDEST} or more")

    def use(self) -> Any:
        """`with gpu.use():` makes it CuPy's current device; a new object each time, since threads must not share one."""
        return self.cupy.cuda.Device(self.number)

    def load(self, text: str) -> Any:
        """The function of a kernel's LLVM IR on this GPU, from the cache if it was loaded before."""
        key = hashlib.blake2b("|".join([text, str(self.number), self.capability, self.versions]).encode()).hexdigest()
        with LOCK:
            if key not in _loaded:
                module = self.cupy.cuda.function.Module()
                try:
                    with self.use():
                        module.load(ptx.assemble(text).encode())
                        _loaded[key] = module.get_function(ptx.ENTRY)  # keeps the module
                except self.cupy.cuda.driver.CUDADriverError as error:
                    raise DeviceError(f"the driver of the GPU '{self.name}' refuses the kernel: {error}") from error
                if len(_loaded) > _KEEP:
                    _loaded.popitem(last=False)
            _loaded.move_to_end(key)
            return _loaded[key]

    def resident(self, function: Any, block: int) -> int:
        """How many blocks of so many threads run at the same time; 0 if one has too many registers for that."""
        return self.multiprocessors * self.cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(function.ptr, block, 0)

    def out_of_memory(self, error: Exception) -> bool:
        """Does the error say that memory ran out, in an allocation or at a launch?"""
        return isinstance(error, self.cupy.cuda.memory.OutOfMemoryError) or "OUT_OF_MEMORY" in str(error)


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

    def run(self, inputs: Sequence[Any], outputs: Sequence[Any], data: Any, udata: Any, threads: int = 1) -> None:
        """Runs every lane. Arrays are C-contiguous float64 of shape (rows, N), all with the same N; outputs overlap no input.

        NumPy arrays are copied to the GPU and back, in parts where memory is short, and the results are there on return. Arrays
        of CuPy are worked on in place: the kernel is queued on CuPy's current stream. `threads` changes nothing.
        """
        count = self._count(inputs, outputs)
        if count == 0:
            return
        arrays = (*inputs, *outputs)
        with self._gpu.use():
            copied = 8 * sum(a.shape[0] for a in arrays if isinstance(a, np.ndarray))  # bytes a box
            share = self._limit // 2  # one half for copies, one for scratch
            begin = 0
            while begin < count:
                boxes = min(count - begin, share // copied) if copied else count
                if boxes == 0 or share < self._thread_bytes:
                    raise DeviceError(f"one box needs {copied + self._thread_bytes} bytes of the GPU '{self._gpu.name}', "
                                      f"more than is free or than memory_limit = {self._limit} allows")
                try:
                    self._piece(arrays, (data, udata), begin, begin + boxes, share)
                except Exception as error:
                    if not self._gpu.out_of_memory(error) or share == 0:
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

    def _piece(self, arrays: Sequence[Any], constants: tuple[Any, Any], begin: int, end: int, share: int) -> None:
        """The boxes begin … end-1. Outputs are sent to the GPU too: a kernel need not write every row."""
        cupy = self._gpu.cupy
        there = [kept.on(cupy, a) for kept, a in zip(self._constants, constants, strict=True)]
        if not isinstance(arrays[0], np.ndarray):
            self._launch(arrays, there, end - begin, share)
            return
        sent = [np.ascontiguousarray(a[:, begin:end]) for a in arrays]
        copies = [cupy.empty(a.shape, np.float64) for a in sent]
        for a, copy in zip(sent, copies, strict=True):
            copy.set(a)
        self._launch(copies, there, end - begin, share)
        for a, copy in list(zip(arrays, copies, strict=True))[self._slots[0]:]:
            a[:, begin:end] = copy.get()

    def _launch(self, arrays: Sequence[Any], constants: list, count: int, share: int) -> None:
        """Queues the kernel. Scratch goes back to CuPy's pool at once, which gives it to later work of the same stream only."""
        way = self._blocks.launch(count, share) or self._lanes.launch(count, share)
        scratch = self._gpu.cupy.cuda.alloc(way.scratch) if way.scratch else None
        addresses = [a.data.ptr for a in (*arrays, *constants)] + [0 if scratch is None else scratch.ptr]
        way.function((way.grid,), (way.block,), tuple(np.int64(n) for n in (*addresses, count, count)))


class CudaTarget:
    """Compiles kernels for an NVIDIA GPU. `block` (threads) and `grid` (at most so many blocks) change the speed, never a bit.

    `memory_limit`: bytes that one run may take for scratch and for copies of NumPy arrays, half of the GPU's memory by default;
    what does not fit is split into several launches.
    """

    threads = 1
    resident, batch = True, 1 << 19  # a long search keeps its regions there, and has so many boxes a step, which fill a large GPU
    text = staticmethod(ptx.ptx)  # of a kernel, as PTX; needs neither CuPy nor a GPU

    def __init__(self, device: int = 0, memory_limit: int | None = None, *, block: int | None = None, grid: int | None = None):
        self.gpu, self.block, self.grid = gpu(device), block, grid
        self.memory_limit = self.gpu.memory // 2 if memory_limit is None else memory_limit
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
