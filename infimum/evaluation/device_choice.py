"""Where the programs of a function run: the memory of a backend, and how many boxes make a step worth a GPU."""

from typing import Any

import numpy as np

from infimum.backend.arrays import Arrays, HostArrays
from infimum.search.policy.search import EVALUATION as POLICY
from infimum.support import environment


@environment.all_ours
class DeviceChoice:
    """The machine of a backend."""

    def __init__(self, backend: Any):
        self.backend = backend

    @property
    def arrays(self) -> Arrays:
        """The memory in which the backend works, and transfers to and from it."""
        return self.backend.arrays

    @property
    def host_arrays(self) -> Arrays:
        """The memory of this machine, and its threads."""
        return HostArrays(getattr(self.backend, "threads", 1))

    @property
    def batch(self) -> int:
        """The default number of lanes per step of a long search: enough to fill the machine."""
        return getattr(self.backend, "batch", POLICY.batch)

    @property
    def gpu_batch(self) -> int | None:
        """The same for a GPU to which a long search may move; None if there is no such GPU."""
        batch = getattr(self.backend, "gpu_batch", None)
        return batch if batch is not None and self.uses_gpu(batch) else None

    def arrays_for(self, batch: int, least: int = 1) -> Arrays:
        """The memory for a search with that many lanes per step: the GPU's, if there is enough work for it, or if the backend
        must stay on the GPU from `least` lanes on."""
        return self.arrays if self.uses_gpu(batch, least) else HostArrays()

    def uses_gpu(self, batch: int, least: int = 1) -> bool:
        """Does `arrays_for` choose the memory of a GPU, so that the CPU is free while kernels run?"""
        enough = least if getattr(self.backend, "resident", False) else POLICY.worth_a_gpu
        return batch >= enough and not isinstance(self.arrays, HostArrays)

    def arrays_of(self, array: Any) -> Arrays:
        """The memory that holds this array."""
        return HostArrays() if isinstance(array, np.ndarray) else self.arrays
