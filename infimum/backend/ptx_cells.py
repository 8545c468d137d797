"""The bodies of `cell_loops` as kernels of a GPU: a thread for each item."""

from infimum.backend.cell_loops import LOOPS, Loop
from infimum.backend.ptx_words import kernel


def _text(loop: Loop) -> str:
    lines = loop.body.replace("@add.up(", "@llvm.nvvm.add.rp.d(").splitlines()
    for k, line in enumerate(lines):
        if line.startswith("  @raise "):
            _, place, key = line.split()
            lines[k] = f"  {place}.met = atomicrmw max ptr {place}, i64 {key} monotonic"
    return kernel(loop.parameters.replace("+", "*"), "\n".join(lines))


KERNELS = {name: _text(loop) for name, loop in LOOPS.items()}
