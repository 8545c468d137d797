"""One GPU: CuPy, what the driver tells, code that was brought there, launches, and errors.

CuPy is imported when a GPU is first asked for. Nothing of it that compiles is used (elementwise kernels, random numbers, scans):
that needs NVRTC, a part of the CUDA toolkit, and the driver alone is enough for kernels that come as PTX. That the first launch
comes soon, PTX is kept on disk (`disk_cache`), and the driver keeps there what it made of it.
"""

import ctypes
import threading
import warnings
from collections import OrderedDict
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import llvmlite
import numpy as np

from infimum.backend import disk_cache, ptx
from infimum.backend.processor import LOCK
from infimum.errors import DeviceError, DeviceMemoryError

_KEPT_MODULES = 256
_LEAST_CAPABILITY = 60  # compute capability 6.0, as ptx.CAPABILITY
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
        if int(self.capability) < _LEAST_CAPABILITY:
            raise DeviceError(f"the GPU '{self.name}' has compute capability {self.capability}; "
                              f"it has to be {_LEAST_CAPABILITY} or more")

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

    def use(self) -> "_CurrentDevice":
        """`with gpu.use():` makes it CuPy's current device. What CUDA reports meanwhile becomes an error of ours.

        CUDA reports a failed launch at whichever call comes later, so that every call has to be within.
        """
        return _CurrentDevice(self)

    def translated(self, error: BaseException) -> BaseException:
        """What CUDA reports, as an error of ours; other errors as they are."""
        if not isinstance(error, self._errors):
            return error
        if self.out_of_memory(error):
            return DeviceMemoryError(f"the memory of the GPU '{self.name}' is full ({error})")
        return DeviceError(f"the GPU '{self.name}' (cuda:{self.number}) failed: {error}. What was in its memory is lost, and "
                           "this process cannot use it any more: start a new one, after a reset of the GPU if it fails again, "
                           "or take device='cpu'")

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
                if len(_loaded) > _KEPT_MODULES:
                    _loaded.popitem(last=False)
            _loaded.move_to_end(key)
            return _loaded[key]

    def queue(self, function: Any, grid: int, block: int, *ways: Sequence[int], times: int = 1) -> None:
        """Queues a kernel on CuPy's current stream, `times` times, with each of the lists of words in turn.

        By the driver's own call: CuPy's takes three times as long, longer than many a kernel, to look at each argument.
        """
        launch, stream = self.cupy.cuda.driver.launchKernel, self.cupy.cuda.get_current_stream().ptr
        packed = [_arguments.packed(k, words) for k, words in enumerate(ways[:times])]
        for k in range(times):
            launch(function.ptr, grid, 1, 1, block, 1, 1, 0, stream, packed[k % len(packed)], 0)

    def queue_all(self, function: Any, grids: list[int], block: int, words: np.ndarray) -> None:
        """Queues a kernel once for each row of words, with this number of blocks."""
        launch, stream = self.cupy.cuda.driver.launchKernel, self.cupy.cuda.get_current_stream().ptr
        places = words.ctypes.data + 8 * np.arange(words.size, dtype=np.int64).reshape(words.shape)
        for grid, row in zip(grids, (places.ctypes.data + places.strides[0] * np.arange(len(places))).tolist(), strict=True):
            launch(function.ptr, grid, 1, 1, block, 1, 1, 0, stream, row, 0)

    def resident(self, function: Any, block: int) -> int:
        """How many blocks of this number of threads run at the same time; 0 if one has too many registers for that."""
        return self.multiprocessors * self.cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(function.ptr, block, 0)

    def out_of_memory(self, error: Exception) -> bool:
        """Does the error say that memory ran out, in an allocation or at a launch?"""
        return isinstance(error, MemoryError) or any(w in str(error) for w in ("OUT_OF_MEMORY", "cudaErrorMemoryAllocation"))


class _CurrentDevice:
    """See `Gpu.use`. A class, since it is entered a hundred times in a step."""

    __slots__ = ("_gpu", "_device")

    def __init__(self, gpu: Gpu):
        self._gpu, self._device = gpu, gpu.cupy.cuda.Device(gpu.number)  # a new one each time: threads must not share one

    def __enter__(self) -> Any:
        try:
            return self._device.__enter__()
        except Exception as error:
            raise self._gpu.translated(error) from error

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        told = error if error is None else self._gpu.translated(error)
        try:
            self._device.__exit__(kind, error, trace)
        except Exception as other:
            raise self._gpu.translated(other) from (error or other)
        if told is not error:
            raise told from error


class _Arguments(threading.local):
    """Words of 64 bits as the driver takes them: the addresses of all, side by side. It copies them at once, so that one place
    for each of the ways a kernel is queued is enough."""

    def __init__(self) -> None:
        self._places: list[tuple[Any, Any]] = []

    def packed(self, number: int, words: Sequence[int]) -> int:
        """Where the addresses lie."""
        while number >= len(self._places) or len(words) > len(self._places[number][0]):
            size = max(64, len(words))
            there = (ctypes.c_int64 * size)()
            first = ctypes.addressof(there)
            self._places[number:number + 1] = [(there, (ctypes.c_int64 * size)(*range(first, first + 8 * size, 8)))]
        there, addresses = self._places[number]
        there[:len(words)] = words
        return ctypes.addressof(addresses)


_arguments = _Arguments()


def _cupy() -> ModuleType:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # CuPy warns where it finds no CUDA toolkit
            import cupy
            import cupy.cuda.function
    except ImportError as error:
        reason = str(error).strip().split("\n")[0]
        raise DeviceError(f"the GPU backend needs CuPy, and importing it fails ({reason}): pip install infimum[cuda], or "
                          "cupy-cuda13x for drivers of CUDA 13; NVIDIA's driver is needed, a CUDA toolkit is not") from error
    return cupy


def gpu(number: int = 0) -> Gpu:
    """The GPU of that number, examined once."""
    with LOCK:
        if number not in _gpus:
            _gpus[number] = Gpu(number)
        return _gpus[number]
