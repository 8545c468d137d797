"""Arrays in the memory of a GPU, and what is asked across boxes there: see `ptx_columns`. `HostArrays` says what it means."""

import struct
from functools import cache
from time import perf_counter
from typing import Any

import numpy as np

from infimum.backend.arrays import HostArrays
from infimum.backend.cell_loops import LOOPS
from infimum.backend.cuda import ptx_cells, ptx_columns
from infimum.backend.cuda.ptx_lowest import BINS, DIGITS, ENDLESS, MOST_COUNTED
from infimum.backend.ptx_words import RUN
from infimum.backend.wait_estimate import WaitEstimate

_KERNELS = ptx_columns.KERNELS | ptx_cells.KERNELS
_BLOCK, _MOST_BLOCKS = 128, 1 << 16
_MOST_THREADS, _WIDE_BLOCK = 256, 512  # threads of a block at most, whatever is wished; of one that works alone
_NUMBERS_A_BLOCK = 1 << 15             # numbers that it looks at
_NUMBERS_A_THREAD = 64                 # numbers a thread looks at for the least
_COUNTING, _COUNTED = 1 << 16, 32      # threads that count digits at most; numbers a thread at least, if there are fewer threads


class GpuArrays:
    """Arrays of CuPy on the GPU of a CudaBackend. Work is queued on CuPy's current stream, and waited for where numbers are
    fetched."""

    here = HostArrays()

    def __init__(self, backend: Any):
        self.backend, self.gpu, self.idle, self._wait_estimate = backend, backend.gpu, None, WaitEstimate()
        self._kernel = cache(lambda name: self.gpu.load(_KERNELS[name]))

    # ---- memory
    def send(self, array: np.ndarray) -> Any:
        with self.gpu.use():
            there = self.gpu.cupy.empty(array.shape, array.dtype)
            if array.size:
                there.set(np.ascontiguousarray(array))
            return there

    def fetch(self, array: Any, what: str = "array") -> np.ndarray:
        """Through pinned memory, which the GPU writes without a detour, if the machine grants enough of it. `what` it is that
        one waits for tells how long that may take."""
        if not array.size:
            return np.empty(array.shape, array.dtype)
        with self.gpu.use():
            try:
                memory = self.gpu.cupy.cuda.alloc_pinned_memory(array.nbytes)
            except self.gpu.cupy.cuda.runtime.CUDARuntimeError as error:
                if not self.gpu.out_of_memory(error):
                    raise
                memory = bytearray(array.nbytes)
            here = np.frombuffer(memory, array.dtype, array.size).reshape(array.shape)
            begin, late = perf_counter(), self.idle is not None and self._use_the_time(what)
            array.get(out=here)
            self._wait_estimate.waited(what, perf_counter() - begin, late)
            return here

    def _use_the_time(self, what: str) -> bool:
        """Other work, while there is time for it before what is queued is done. Was that done before the work?"""
        queued, begin, late = self.gpu.cupy.cuda.Event(disable_timing=True), perf_counter(), False
        queued.record()
        while self.idle is not None and self._wait_estimate.has_time(what, perf_counter() - begin) and not queued.done:
            before, more = perf_counter(), self.idle()
            self._wait_estimate.stepped(perf_counter() - before)
            late = queued.done
            if late or not more:
                break
        return late

    def empty(self, rows: int, count: int) -> Any:
        with self.gpu.use():
            return self.gpu.cupy.empty((rows, count))

    def zeros(self, rows: int, count: int) -> Any:
        array = self.empty(rows, count)
        if array.size:
            with self.gpu.use():
                self._launch("store", array.size, array, 0)
        return array

    def numbers(self, count: int) -> Any:
        row = self.empty(1, count)
        if count:
            with self.gpu.use():
                self._launch("numbers", count, row)
        return row

    def _words(self, count: int) -> Any:
        return self.gpu.cupy.empty((count,), np.int64)

    def _launch(self, name: str, total: int, *arguments: Any) -> None:
        """Queues a kernel for the numbers 0 … total-1; arrays are given by their addresses, words as whole numbers."""
        block = min(self.backend.block or _BLOCK, _MOST_THREADS)
        grid = min(-(-total // block), self.backend.grid or _MOST_BLOCKS)
        self.gpu.queue(self._kernel(name), grid, block, [*_addresses(arguments), total])

    def _launch_block(self, name: str, threads: int, *arguments: Any) -> None:
        """Queues a kernel for one block of threads."""
        self.gpu.queue(self._kernel(name), 1, threads, _addresses(arguments))

    def _threads(self, count: int) -> int:
        """Of a block that works alone on this number of numbers."""
        return min(self.backend.block or max(32, 1 << (count - 1).bit_length()), _WIDE_BLOCK)

    # ---- columns
    def gather(self, source: Any, index: Any, target: Any = None, at: int = 0) -> Any:
        rows, count = source.shape[0], len(index)
        target = self.empty(rows, count) if target is None else target
        if count:
            with self.gpu.use():
                self._launch("gather", count, source, source.shape[1], index, target.data.ptr + 8 * at, target.shape[1], rows)
        return target

    def scatter(self, source: Any, row: Any, target: Any) -> None:
        rows, count = source.shape
        if count:
            with self.gpu.use():
                self._launch("scatter", count, source, count, row, target, target.shape[1], rows)

    def column(self, array: Any, number: int) -> Any:
        found = self.empty(array.shape[0], 1)
        self.put(found, 0, array, number, number + 1)
        return found

    def put(self, target: Any, at: int, source: Any, begin: int = 0, end: int | None = None) -> None:
        rows, count = source.shape[0], (source.shape[1] if end is None else end) - begin
        if count > 0:
            with self.gpu.use():
                self._launch("copy", count, source.data.ptr + 8 * begin, source.shape[1], target.data.ptr + 8 * at,
                             target.shape[1], rows)

    def fill(self, row: Any, index: Any, value: float) -> None:
        if len(index):
            with self.gpu.use():
                self._launch("fill", len(index), row, index, _signed(_bits(value)))

    # ---- across boxes
    def least(self, *rows: Any) -> list[tuple[float, int]]:
        with self.gpu.use():
            pairs = self._words(2 * len(rows))
            for k, row in enumerate(rows):
                self._least(row, pairs[2 * k:])
            found = self.fetch(pairs, f"{len(rows)} least")
        return list(zip(found[::2].view(np.float64).tolist(), found[1::2].tolist(), strict=True))

    def least_column(self, row: Any, array: Any) -> tuple[float, np.ndarray]:
        with self.gpu.use():
            found = self.empty(1, 1 + array.shape[0])
            self.put_least(row, array, found, 0)
            number, column = np.split(self.fetch(found)[0], [1])
        return float(number[0]), column

    def put_least(self, row: Any, array: Any, target: Any, at: int) -> None:
        with self.gpu.use():
            self._least(row, self._words(2), array, array.shape[1], array.shape[0], target.data.ptr + 8 * at)

    def _least(self, row: Any, pair: Any, *column: Any) -> None:
        """Writes the least number and its place to two words. `column`: an array, how far apart its rows are, how many, and where
        to write the number and behind it the column that stands there."""
        count = row.shape[1]
        numbers, threads = self._least_of_each("least", -(-count // _NUMBERS_A_THREAD), row, count)
        while threads > _NUMBERS_A_BLOCK:
            numbers, threads = self._least_of_each("least_again", -(-threads // _NUMBERS_A_THREAD), numbers, numbers[threads:],
                                                   threads)
        block = self._threads(threads)
        self._launch_block("least_of_all", block, numbers, numbers[threads:], threads, self._words(2 * block), pair,
                           *(column or (0, 0, 0, 0)))

    def _least_of_each(self, name: str, threads: int, *arguments: Any) -> tuple[Any, int]:
        """The least number that each thread finds, and behind them all their places."""
        numbers = self._words(2 * threads)
        self._launch(name, threads, *arguments, numbers, numbers[threads:])
        return numbers, threads

    def order(self, kinds: int, *rows: Any) -> list[tuple[Any, list[int]]]:
        with self.gpu.use():
            totals = self._words(kinds * len(rows))
            if not all(row.shape[1] for row in rows):
                self._launch("store", totals.size, totals, 0)
            found = [self._order(kinds, row, totals[kinds * k:]) for k, row in enumerate(rows)]
            counts = self.fetch(totals, f"{len(rows)} orders").reshape(len(rows), kinds).tolist()
            return list(zip(found, counts, strict=True))

    def _order(self, kinds: int, row: Any, totals: Any) -> Any:
        count = row.shape[1]
        runs = -(-count // RUN)
        counts, index = self._words(kinds * runs + 1), self._words(count)
        if not count:
            return index
        self._launch("count_kinds", kinds * runs, row, count, runs, counts)
        self._scan(counts, kinds * runs + 1)
        self._launch("write_kinds", kinds * runs, row, count, runs, counts, index, totals)
        return index

    def lowest(self, row: Any, count: int, below: float = np.inf, ties: bool = False) -> tuple[Any, float]:
        with self.gpu.use():
            length = row.shape[1]
            if not length or count < 1:
                return self._words(0), np.inf
            limit = _signed(_key(below) if below < np.inf else ENDLESS + 1)
            if count > length:
                border = self._words(2)
                self._launch("store", 2, border, -1)  # no key is as high
            else:
                border = self._border(row, count, limit)
            runs = -(-length // RUN)
            counts, told = self._words(runs + 1), self._words(2)
            index = self._words(length if ties else min(count, length))
            self._launch("count_lowest", runs, row, length, limit, border, counts)
            self._scan(counts, runs + 1)
            self._launch("write_lowest", runs, row, length, limit, border, int(ties), counts, index, told)
            found, key = self.fetch(told, "lowest").tolist()
            return index[:found], _number(key % 2**64)

    def _border(self, row: Any, count: int, limit: int) -> Any:
        """The words (key of the last one wanted, how many of that key are wanted)."""
        length = row.shape[1]
        known, bins = self._words(2 * (DIGITS + 2)), self._words((DIGITS + 2) * BINS)
        self._launch("store", bins.size, bins, 0)
        threads = max(min(_COUNTING, -(-length // _COUNTED)), -(-length // (MOST_COUNTED - 1)))
        for k in range(DIGITS + 1):  # the last one only reads off
            up, down = min(64, 6 * (DIGITS - k)), 6 * (DIGITS - 1 - k)
            last = k == DIGITS
            self._launch("digit", 1 if last else threads, row, 0 if last else length, limit, known[2 * k:], bins[BINS * k:],
                         bins[BINS * (k + 1):], count if k == 0 else 0, up // 2, max(down, 0))
        return known[2 * (DIGITS + 1):]

    # ---- cells of a dynamic program
    def whole_numbers(self, rows: int, count: int) -> Any:
        with self.gpu.use():
            return self.gpu.cupy.empty((rows, count), np.int64)

    def filled(self, count: int, word: int, zero: int | None = None) -> Any:
        with self.gpu.use():
            numbers = self._words(count)
            if count:
                self._launch("store", count, numbers, word)
            if zero is not None:
                self._launch("store", 1, numbers[zero:], 0)
            return numbers

    def scan(self, numbers: Any) -> int:
        with self.gpu.use():
            self._scan(numbers, len(numbers))
            return int(self.fetch(numbers[len(numbers) - 1:], "total")[0])

    def total(self, numbers: Any) -> int:
        with self.gpu.use():
            work = self.filled(len(numbers) + 1, 0)
            if len(numbers):
                self._launch("copy", len(numbers), numbers, len(numbers), work, len(work), 1)
            return self.scan(work)

    def each(self, name: str, total: int, *arguments: Any) -> None:
        if total:
            with self.gpu.use():
                self._launch(name, total, *arguments)

    def along(self, name: str, segments: np.ndarray, *arguments: Any, backwards: bool = False) -> None:
        function, marks = self._kernel(name), [8 * (mark == "+") for mark, _ in LOOPS[name].names]
        block = min(self.backend.block or _BLOCK, _MOST_THREADS)
        segments = segments[segments[:, 1] > segments[:, 0]][::-1 if backwards else 1]
        counts = segments[:, 1] - segments[:, 0]
        words = np.append(_addresses(arguments), 0) + segments[:, :1] * np.append(marks, 0)
        words[:, -1] = counts
        grids = np.minimum(-(-counts // block), self.backend.grid or _MOST_BLOCKS)
        with self.gpu.use():
            self.gpu.queue_all(function, grids.tolist(), block, np.ascontiguousarray(words))

    def _scan(self, numbers: Any, count: int) -> None:
        """Each of the numbers becomes the sum of those before it; a zero at their end becomes the sum of all."""
        if count <= _NUMBERS_A_BLOCK:
            threads = self._threads(count)
            self._launch_block("scan", threads, numbers, count, self._words(2 * threads))
            return
        runs = -(-count // RUN)
        sums = self._words(runs)
        self._launch("sums", runs, numbers, count, sums)
        self._scan(sums, runs)
        self._launch("spread", runs, numbers, count, sums)


def _addresses(arguments: tuple) -> list[int]:
    """Arrays by their addresses, with an offset where they are pairs; whole numbers as they are."""
    return [int(a) if isinstance(a, (int, np.integer)) else
            a[0].data.ptr + 8 * a[1] if isinstance(a, tuple) else a.data.ptr for a in arguments]


def _bits(number: float) -> int:
    return struct.unpack("<Q", struct.pack("<d", number))[0]


def _signed(word: int) -> int:
    return word - (word >> 63 << 64)


def _key(number: float) -> int:
    """See `ptx_lowest`."""
    bits = _bits(number + 0.0)
    return bits ^ (2**64 - 1 if bits >> 63 else 1 << 63)


def _number(key: int) -> float:
    """The number with that key; infinite for the key of none."""
    if key > ENDLESS:
        return np.inf
    bits = key ^ (1 << 63 if key >> 63 else 2**64 - 1)
    return struct.unpack("<d", struct.pack("<Q", bits))[0]
