"""Makes small kernels use all the threads they are offered: normally a thread is woken only for work that pays."""

import pytest

from infimum.backend import cpu
from infimum.backend.cpu import CompiledKernel


@pytest.fixture
def all_threads_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shares the boxes evenly among the threads, one block each."""
    def split(self: CompiledKernel, count: int, threads: int) -> tuple[int, int]:
        block = -(-count // threads // self.lanes) * self.lanes
        return -(-count // block), block

    assert hasattr(CompiledKernel, "_split")
    monkeypatch.setattr(CompiledKernel, "_split", split)
    monkeypatch.setattr(cpu, "_PIECE_SECONDS", 1e9)  # however slow the machine is, a run is not cut
