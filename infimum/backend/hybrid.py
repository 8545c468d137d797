"""A CPU with a GPU beside it: every run goes where it ends sooner. The bits are the same on both."""

import math
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from infimum.backend.arrays import Arrays, HostArrays
from infimum.backend.cpu import CpuBackend
from infimum.backend.cuda.cuda_backend import CudaBackend
from infimum.backend.cuda.work_sharing import WorkSharing
from infimum.errors import DeviceError
from infimum.kernel.ir import Kernel

_LAUNCH, _BANDWIDTH = 0.3e-3, 8e9  # seconds that a run on the GPU costs at least, and bytes a second to and from it
# a thread of a GPU is slower than a core, with its vectors, by the first factor; and the second number of them runs
_THREAD_SLOWDOWN, _GPU_WIDTH = 64, 400
_SINGLE_BOX_COST = 4  # a box alone takes a core as long as this number in vectors
_SHARED_SLOWDOWN = 2  # a thread that shares its box is slower by this factor: barriers, and numbers that lie apart
_LOAD_SECONDS = 0.2   # seconds, to bring the code of a block there: what pays only with it has to come often
_launches: Counter[int] = Counter()  # runs on each GPU, of all backends: one takes over the kernels of another of the same name


class HybridBackend:
    """Runs kernels on the CPU or on a GPU.

    A kernel is brought to the GPU when the time it has spent on the CPU, in runs that the GPU would have ended sooner, passes
    `patience` seconds: loading it takes a tenth of a second. With `or_cpu` a GPU that cannot be used is done without, as long as
    nothing lies there; without it a long search is `resident`: its regions lie on the GPU from the start, in steps of this size
    boxes that fill it.
    """

    def __init__(self, device: int = 0, memory_limit: int | None = None, patience: float = 0.0, or_cpu: bool = False,
                 threads: int | None = None):
        self.cpu, self.patience, self.or_cpu = CpuBackend(threads=threads), patience, or_cpu
        self.device, self.memory_limit = device, memory_limit
        self.lanes, self.threads = self.cpu.lanes, self.cpu.threads
        # compiled kernels are kept by the backend's name, so it tells all that sets them apart
        self.name = f"cpu and cuda:{device}" + ("" if memory_limit is None else f" of {memory_limit} bytes") + \
            (f", {patience} s" if patience else "")
        self.resident, self._before = not or_cpu, _launches[device]
        self.devices = ("auto",) if or_cpu else (f"cuda:{device}", "cuda")[:1 if device else 2]  # as a user names it
        if self.resident:
            self.batch = self.cuda.batch

    @property
    def place(self) -> str:
        """Where kernels have run: on the GPU too if it was asked for, or once one was brought there."""
        return f"cpu and cuda:{self.device}" if self.resident or _launches[self.device] > self._before else "cpu"

    @cached_property
    def cuda(self) -> CudaBackend | None:
        """The GPU, looked for when it is first needed."""
        try:
            return CudaBackend(self.device, self.memory_limit)
        except DeviceError:
            if not self.or_cpu:
                raise
            return None

    @cached_property
    def arrays(self) -> Arrays:
        """On the GPU: who asks for arrays means to work on them there for long."""
        return HostArrays() if self.cuda is None else self.cuda.arrays

    @property
    def gpu_batch(self) -> int | None:
        """How many boxes a step should have if a search turns out to be long; None if there is no GPU."""
        return None if self.cuda is None else self.cuda.batch

    def compile(self, kernel: Kernel) -> "HybridKernel":
        return HybridKernel(kernel, self)


class HybridKernel:
    """A kernel on both; each is compiled when it is first needed."""

    def __init__(self, kernel: Kernel, backend: HybridBackend):
        self.kernel, self.backend, self.spent = kernel, backend, 0.0

    @cached_property
    def on_cpu(self) -> Any:
        return self.backend.cpu.compile(self.kernel)

    @cached_property
    def on_gpu(self) -> Any:
        return self.backend.cuda.compile(self.kernel)

    @cached_property
    def shorter(self) -> float:
        """The way of a thread, as a part of the whole, if a block shares a box."""
        sharing = WorkSharing(self.kernel)
        return sharing.way / sharing.weight

    def run(self, inputs: Sequence[Any], outputs: Sequence[Any], data: np.ndarray, udata: np.ndarray, threads: int = 1,
            times: int = 1) -> None:
        """As `run` of either. Arrays that lie on the GPU stay there."""
        arrays = (*inputs, *outputs)
        here = all(isinstance(a, np.ndarray) for a in arrays)
        if not here or self._pays(arrays, threads, times):
            replaceable = here and self.backend.or_cpu
            before = [a.copy() for a in inputs] if replaceable and times > 1 else []  # else they stay as they are
            try:
                self.on_gpu.run(inputs, outputs, data, udata, threads=threads, times=times)
                _launches[self.backend.device] += 1
                return
            except DeviceError:
                if not replaceable:
                    raise
                self.spent = -math.inf  # never again
                for a, copy in zip(inputs, before, strict=False):
                    a[...] = copy
        self.on_cpu.run(inputs, outputs, data, udata, threads=threads, times=times)

    def _pays(self, arrays: Sequence[np.ndarray], threads: int, times: int = 1) -> bool:
        """Would the GPU end this run sooner, and is it worth bringing the kernel there?"""
        count, cost = arrays[0].shape[1], times * self.on_cpu.cost
        core = cost * max(count, _SINGLE_BOX_COST)
        cpu = core / min(threads, max(1, count // self.backend.lanes))
        sent = _LAUNCH + sum(a.nbytes for a in arrays) / _BANDWIDTH
        alone = sent + max(_THREAD_SLOWDOWN * cost, core / _GPU_WIDTH)
        shared = sent + max(_SHARED_SLOWDOWN * _THREAD_SLOWDOWN * cost * self.shorter, core / _GPU_WIDTH)
        if cpu <= min(alone, shared):
            return False
        self.spent += cpu
        patience = self.backend.patience if cpu > alone else max(self.backend.patience, _LOAD_SECONDS)
        return self.spent > patience and self.backend.cuda is not None
