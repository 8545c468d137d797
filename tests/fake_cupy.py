"""The little of CuPy that the GPU backend uses, on a GPU that is played by `ptx_simulator`: launches are tested where no GPU is.

It is as strict as the real one where that matters (only C-contiguous arrays of the same shape and type are copied) and stricter:
an access outside an array raises instead of going astray. Memory is bounded, so that running out of it can be tried, and the
device can be lost at any call: then every later call fails too.
"""

import ctypes
import threading
from collections import OrderedDict
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from infimum.backend.cuda import gpu
from infimum.evaluation import compiled_programs
from tests.ptx_simulator import Memory, Module


class OutOfMemoryError(MemoryError):
    pass


class CUDADriverError(RuntimeError):
    pass


class CUDARuntimeError(RuntimeError):
    pass


class _Block:
    """Memory on the device, free when nobody holds it."""

    def __init__(self, cupy: "FakeCupy", size: int):
        with cupy.lock:
            cupy.touch()
            if cupy.used + size > cupy.memory:
                raise OutOfMemoryError(f"{size} bytes")
            self._cupy, self.size, self.ptr = cupy, size, cupy.global_memory.allocate(-(-size // 8))
            cupy.used += size

    def __del__(self) -> None:
        if hasattr(self, "ptr"):
            with self._cupy.lock:
                self._cupy.used -= self.size
                self._cupy.global_memory.free(self.ptr, -(-self.size // 8))


class Array:
    """An array on the device, or a part of one whose words lie side by side."""

    def __init__(self, cupy: "FakeCupy", shape: tuple[int, ...], dtype: Any, data: Any = None):
        self._cupy, self.shape, self.dtype, self.ndim = cupy, shape, np.dtype(dtype), len(shape)
        self.size = int(np.prod(shape))
        self.nbytes = self.size * self.dtype.itemsize
        self.data = _Block(cupy, self.nbytes) if data is None else data
        self.flags, self.device = SimpleNamespace(c_contiguous=True), SimpleNamespace(id=cupy.current[-1])

    def reshape(self, *shape: int) -> "Array":
        assert np.prod(shape) == self.size
        return Array(self._cupy, tuple(int(n) for n in shape), self.dtype, self.data)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> "Array":
        """Whole rows, or a part of one: other parts are not contiguous, and a copy would need a kernel."""
        key = key if isinstance(key, tuple) else (key,)
        ranges = [range(*k.indices(length)) for k, length in zip(key, self.shape, strict=False)]
        ranges += [range(length) for length in self.shape[len(ranges):]]
        whole_rows = len(ranges[-1]) == self.shape[-1]
        assert all(r.step == 1 for r in ranges) and (whole_rows or all(len(r) in (0, 1) for r in ranges[:-1]))
        start = 0
        for r, length in zip(ranges, self.shape, strict=True):
            start = start * length + r.start
        held = SimpleNamespace(ptr=self.data.ptr + 8 * start, whole=self.data)
        return Array(self._cupy, tuple(len(r) for r in ranges), self.dtype, held)

    def set(self, array: np.ndarray) -> None:
        assert isinstance(array, np.ndarray) and array.shape == self.shape and array.dtype == self.dtype
        assert array.flags.c_contiguous
        self._cupy.touch()
        self._cupy.sent += 1
        self._cupy.global_memory.write(self.data.ptr, array)

    def copy(self) -> "Array":
        """Within the memory of the device."""
        there, words = Array(self._cupy, self.shape, self.dtype), self.get()
        self._cupy.global_memory.write(there.data.ptr, words)
        return there

    def get(self, out: np.ndarray | None = None) -> np.ndarray:
        array = np.empty(self.shape, self.dtype) if out is None else out
        assert array.shape == self.shape and array.dtype == self.dtype and array.flags.c_contiguous
        self._cupy.touch()
        self._cupy.global_memory.read(self.data.ptr, array)
        return array


class _Device:
    compute_capability = "90"
    attributes = {"MultiProcessorCount": 3}

    def __init__(self, cupy: "FakeCupy", number: int):
        self._cupy, self.number = cupy, number
        self.mem_info = cupy.memory - cupy.used, cupy.memory

    def __enter__(self) -> "_Device":
        self._cupy.current.append(self.number)
        return self

    def __exit__(self, *error: Any) -> None:
        self._cupy.current.pop()


class _Event:
    """Done when asked for the third time."""

    def __init__(self, disable_timing: bool):
        assert disable_timing

    def record(self) -> None:
        self.asked = 0

    @property
    def done(self) -> bool:
        self.asked += 1
        return self.asked > 2


class _Function:
    def __init__(self, cupy: "FakeCupy", module: Module):
        self._module = module
        cupy.functions.append(self)
        self.ptr = len(cupy.functions)


class FakeCupy:
    """Stands for the module `cupy`. `sent` counts arrays copied to the device, `launches` holds (grid, block, boxes).

    After so many `calls` as `lost_at` says every other call fails.
    """

    def __init__(self, memory: int = 1 << 22, devices: int = 2, lost_at: float = np.inf):
        self.memory, self.used, self.sent = memory, 0, 0
        self.calls, self.lost_at = 0, lost_at
        self.launches: list[tuple[int, int, int]] = []
        self._threads = threading.local()
        self.lock = threading.RLock()  # one launch after another, whatever thread asks
        self.global_memory = Memory()
        self.refuses = ""
        self.functions: list[_Function] = []
        outer = self

        class LoadedModule:
            def load(self, ptx: bytes) -> None:
                if outer.refuses:
                    raise CUDADriverError(outer.refuses)
                self.module = Module(ptx.decode())

            def get_function(self, name: str) -> _Function:
                assert name in self.module.functions
                return _Function(outer, self.module)

        def count() -> int:
            if not devices:
                raise CUDARuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")
            return devices
        self.cuda = SimpleNamespace(
            Device=lambda number: _Device(self, number), alloc=lambda size: _Block(self, size),
            alloc_pinned_memory=lambda size: bytearray(size),
            Event=_Event, get_current_stream=lambda: SimpleNamespace(synchronize=lambda: None, ptr=0),
            function=SimpleNamespace(Module=LoadedModule), memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
            driver=SimpleNamespace(CUDADriverError=CUDADriverError, launchKernel=self._launch,
                                   occupancyMaxActiveBlocksPerMultiprocessor=lambda function, block, shared: 512 // block),
            runtime=SimpleNamespace(CUDARuntimeError=CUDARuntimeError, getDeviceCount=count, driverGetVersion=lambda: 13000,
                                    getDeviceProperties=lambda number: {"name": b"Pretended GPU"}))

    @property
    def current(self) -> list[int]:
        """The current devices of a thread, the last of them now."""
        if not hasattr(self._threads, "current"):
            self._threads.current = [0]
        return self._threads.current

    def touch(self, error: Exception | None = None) -> None:
        """A call of the driver."""
        self.calls += 1
        if self.calls > self.lost_at:
            raise error or CUDARuntimeError("cudaErrorLaunchFailure: unspecified launch failure")

    def _launch(self, function: int, *shape_and_more: int) -> None:
        """As the driver: three sizes of the grid and of a block, shared bytes, the stream, the addresses of the arguments."""
        grid, *ones, shared, stream, addresses, extra = shape_and_more
        block = ones.pop(2)
        assert ones == [1, 1, 1, 1] and shared == stream == extra == 0 and grid >= 1 and 1 <= block <= 1024
        module = self.functions[function - 1]._module
        count = module.parameters["work"]
        places = (ctypes.c_int64 * count).from_address(addresses)
        arguments = [ctypes.c_int64.from_address(place).value for place in places]
        with self.lock:
            self.touch(CUDADriverError("CUDA_ERROR_LAUNCH_FAILED: unspecified launch failure"))
            self.launches.append((grid, block, arguments[-1]))
            module.launch(grid, block, arguments, self.global_memory)

    def empty(self, shape: tuple[int, ...], dtype: Any = np.float64) -> Array:
        return Array(self, shape, dtype)


def installed(monkeypatch: pytest.MonkeyPatch, **settings: int) -> FakeCupy:
    """A pretended CuPy in the place of the real one, and no memory of another."""
    cupy = FakeCupy(**settings)
    monkeypatch.setattr(gpu, "_cupy", lambda: cupy)
    monkeypatch.setattr(gpu, "_gpus", {})
    monkeypatch.setattr(gpu, "_loaded", OrderedDict())
    monkeypatch.setattr(compiled_programs, "_lowered", OrderedDict())
    return cupy
