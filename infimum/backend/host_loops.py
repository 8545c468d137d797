"""The bodies of `cell_loops` as native loops of this machine."""

import re
from functools import cache
from struct import Struct
from typing import Any

import numpy as np

from infimum.backend import worker_threads as workers
from infimum.backend.cell_loops import LOOPS, Loop
from infimum.backend.processor import ATTRIBUTES, LOCK, PARAMETERS, KernelWrapper, Module, address

_ITEMS_A_THREAD = 1 << 16         # items that are worth a thread
_ITEMS_FOR_BETTER_CODE = 1 << 23  # items of all loops that are worth better code, which takes a tenth of a second
_SEGMENT = Struct("2q").pack  # where it begins and ends
_ARGUMENTS = {name: Struct(f"{len(loop.names)}q").pack for name, loop in LOOPS.items()}
_MODE = 'metadata !"round.upward", metadata !"fpexcept.ignore"'
_ADD = r"call double @llvm.experimental.constrained.fadd.f64(double \1, double \2, " + _MODE + ") #1"
_RAISE = r"""  \1.old = load i64, ptr \1
  \1.more = icmp sgt i64 \2, \1.old
  \1.larger = select i1 \1.more, i64 \2, i64 \1.old
  store i64 \1.larger, ptr \1"""
# %data: where segments of items begin and end, %total of them, taken in order or, if %block is 1, from the last to the first
_FUNCTION = """
define void @{name}({parameters}) #0 {{
entry:
{arguments}
  br label %segments
segments:
  %run = phi i64 [ 0, %entry ], [ %run.next, %segment.done ]
  %run.more = icmp slt i64 %run, %total
  br i1 %run.more, label %segment, label %done
segment:
  %run.last = sub i64 %total, 1
  %run.back = sub i64 %run.last, %run
  %is.back = icmp eq i64 %block, 1
  %run.now = select i1 %is.back, i64 %run.back, i64 %run
  %run.place = mul i64 %run.now, 2
  %run.begin.at = getelementptr i64, ptr %data, i64 %run.place
  %run.end.at = getelementptr i64, ptr %run.begin.at, i64 1
  %k.begin = load i64, ptr %run.begin.at
  %k.end = load i64, ptr %run.end.at
  %some = icmp slt i64 %k.begin, %k.end
  br i1 %some, label %item, label %segment.done
item:
  %k = phi i64 [ %k.begin, %segment ], [ %k.after, %next ]
{body}
  br label %next
next:
  %k.after = add i64 %k, 1
  %again = icmp slt i64 %k.after, %k.end
  br i1 %again, label %item, label %segment.done
segment.done:
  %run.next = add i64 %run, 1
  br label %segments
done:
  ret void
}}
"""


class _ItemCount:
    """How many items this process has gone through."""

    items = 0


_done = _ItemCount()


def _text(name: str, loop: Loop) -> str:
    rows = []
    for place, (mark, argument) in enumerate(loop.names):
        rows += [f"  %{argument}.given = getelementptr i64, ptr %arrays, i64 {place}",
                 f"  %{argument} = load {'ptr' if mark else 'i64'}, ptr %{argument}.given"]
    body = re.sub(r"call double @add\.up\(double (\S+), double (\S+)\)", _ADD, loop.body)
    body = re.sub(r"  @raise (\S+) (\S+)", _RAISE, body)
    return _FUNCTION.format(name=f"infimum_cells_{name}", parameters=PARAMETERS, arguments="\n".join(rows), body=body.strip("\n"))


@cache
def _module(plain: bool = False) -> Module:
    """All loops; `plain`: compiled in a sixth of the time, and half as fast."""
    head = "declare double @llvm.experimental.constrained.fadd.f64(double, double, metadata, metadata)\n"
    with LOCK:
        text = "\n".join([head, *(_text(name, loop) for name, loop in LOOPS.items()), KernelWrapper.text(), ATTRIBUTES])
        module = Module(text, plain)
        KernelWrapper.found_in(module)
        return module


@cache
def _entry(name: str, plain: bool) -> int:
    return _module(plain).address(f"infimum_cells_{name}")


def _jobs(name: str, items: int, parts: list[tuple[Any, int]], arguments: tuple, backwards: bool = False) -> None:
    """Calls the loop for each part, a list of segments and how many, in a thread of its own; `items` counts all of them."""
    words = _ARGUMENTS[name](*[address(a) if type(a) is np.ndarray else address(a[0]) + 8 * a[1] if type(a) is tuple else a
                               for a in arguments])
    _done.items += items
    entry = _entry(name, _done.items < _ITEMS_FOR_BETTER_CODE)
    workers.run(KernelWrapper.call,
                [(entry, words, part, None, None, 0, count, backwards, None, None, 1) for part, count in parts])


def each(name: str, total: int, arguments: tuple, threads: int = 1) -> None:
    """The loop for the items 0 … total-1."""
    if total < 2 * _ITEMS_A_THREAD or LOOPS[name].shared:
        parts = [(_SEGMENT(0, total), 1)]
    else:
        count = min(threads, total // _ITEMS_A_THREAD)
        parts = [(_SEGMENT(part * total // count, (part + 1) * total // count), 1) for part in range(count)]
    _jobs(name, total, parts, arguments)


def along(name: str, segments: np.ndarray, arguments: tuple, backwards: bool = False) -> None:
    """The loop for the items of these segments (m, 2), one segment after another."""
    segments = np.ascontiguousarray(segments, np.int64)
    _jobs(name, int((segments[:, 1] - segments[:, 0]).sum()), [(address(segments), len(segments))], arguments, backwards)
