"""The bodies of `cell_loops` as kernels of a GPU: a thread for each item."""

from infimum.backend.cell_loops import LOOPS, Loop
from infimum.backend.ptx_words import kernel

# few raise a word beyond what it is: whoever does not, as far as it sees, leaves it alone; what it saw shows nowhere else
_RAISE = """
  {place}.seen = load atomic i64, ptr {place} monotonic, align 8
  {place}.more = icmp sgt i64 {key}, {place}.seen
  br i1 {place}.more, label %{name}.raise, label %{name}.raised
{name}.raise:
  {place}.met = atomicrmw max ptr {place}, i64 {key} monotonic
  br label %{name}.raised
{name}.raised:"""


def _text(loop: Loop) -> str:
    lines = loop.body.replace("@add.up(", "@llvm.nvvm.add.rp.d(").splitlines()
    for k, line in enumerate(lines):
        if line.startswith("  @raise "):
            _, place, key = line.split()
            lines[k] = _RAISE.format(place=place, name=place[1:], key=key)
    return kernel(loop.parameters.replace("+", "*"), "\n".join(lines))


KERNELS = {name: _text(loop) for name, loop in LOOPS.items()}
