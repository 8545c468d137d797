"""A kernel loads its own floating-point control word and restores the caller's, whole, in every thread."""

import threading

import numpy as np
import pytest

from infimum.backend.cpu import CompiledKernel, CpuBackend
from infimum.backend.processor import KernelWrapper
from infimum.backend.python import PythonBackend
from infimum.kernel.ir import Builder, Kernel
from tests.all_threads import all_threads_work  # noqa: F401
from tests.control_word import ARM, USUAL, WORDS, control_word, read_word, write_word

EMPTY = np.zeros(1), np.zeros(1, np.int64)
TINY = 2.2250738585072014e-308
STRANGE = {  # words beyond the usual list: what else a caller may have set must survive, and must not harm
    **WORDS,
    **({} if ARM else {
        "all_flags_raised": USUAL | 0x3F,
        "ftz_daz_down_flags": USUAL | 0x8040 | 0x2000 | 0x15,
        "traps_on_invalid_divide_overflow": USUAL & ~0x0680,
    }),
}


def sensitive_kernel() -> Kernel:
    """Results that change with the rounding mode, with flushing of results, and with flushing of operands; it divides by 0."""
    b = Builder()
    x, y = b.input(0, 0), b.input(0, 1)
    results = (b.add(x, y), b.sub(x, y), b.mul(x, y), b.div(x, y), b.sqrt(b.abs(x)), b.fma(x, y, x), b.mul(x, 0.5), b.div(x, 0.0),
               b.select(b.ogt(b.abs(x), 0.0), 1.0, 0.0))
    for row, value in enumerate(results):
        b.output(0, row, value)
    return b.kernel("sensitive", 1, 1)


@pytest.fixture(scope="module")
def case() -> tuple[CompiledKernel, np.ndarray, np.ndarray]:
    """(compiled kernel, inputs, results by the definition)."""
    rng = np.random.default_rng(5)
    tiny = rng.integers(-40, 40, (2, 400)) * 5e-324
    inputs = np.concatenate([tiny, rng.normal(size=(2, 400)), rng.normal(size=(2, 203)) * TINY], axis=1)
    kernel = sensitive_kernel()
    expected = np.empty((9, inputs.shape[1]))
    PythonBackend().compile(kernel).run([inputs], [expected], *EMPTY)
    return CpuBackend().compile(kernel), inputs, expected


def same(a: np.ndarray, b: np.ndarray) -> bool:
    return bool(((a.view(np.int64) == b.view(np.int64)) | (np.isnan(a) & np.isnan(b))).all())


def test_words_do_what_they_say():
    """The words are no empty threat: under them this thread computes differently."""
    third = {}
    for name, word in WORDS.items():
        one, three, tiny, two = (np.array([x]) for x in (1.0, 3.0, TINY, 2.0))
        quotient, half = np.empty(1), np.empty(1)
        with control_word(word), np.errstate(all="ignore"):
            np.divide(one, three, out=quotient)
            np.divide(tiny, two, out=half)
            assert read_word() & ~0x3F == word & ~0x3F
        third[name] = float(quotient[0])
        assert (half.view(np.int64)[0] == 0) == (name == "ftz_daz")
    assert third["down"] == third["to_zero"] < third["up"]


@pytest.mark.parametrize("word", STRANGE.values(), ids=STRANGE)
def test_calling_thread(case, word: int):
    compiled, inputs, expected = case
    found = np.empty_like(expected)
    around = UnderWord(compiled, word)
    around.run([inputs], [found], *EMPTY)
    assert same(found, expected)
    assert around.seen == [word]


@pytest.mark.parametrize("word", STRANGE.values(), ids=STRANGE)
@pytest.mark.usefixtures("all_threads_work")
def test_worker_threads(case, word: int):
    """Every thread that takes part has the word before the call, and after it."""
    compiled, inputs, expected = case
    found = np.empty_like(expected)
    around = UnderWord(compiled, word)
    around.run([inputs], [found], *EMPTY, threads=3)
    assert same(found, expected)
    assert around.seen == [word] * 3
    assert around.threads > {threading.current_thread().name}


@pytest.mark.parametrize("word", WORDS.values(), ids=WORDS)
def test_padded_batch(case, word: int):
    """Fewer boxes than lanes take another way through `run`."""
    compiled, inputs, expected = case
    found = np.empty((9, 1))
    first = np.ascontiguousarray(inputs[:, :1])
    with control_word(word):
        compiled.run([first], [found], *EMPTY)
        after = read_word()
    assert same(found, np.ascontiguousarray(expected[:, :1]))
    assert after & ~0x3F == word & ~0x3F  # NumPy itself may raise flags on the way


class UnderWord:
    """A compiled kernel each of whose native calls finds `word`; `seen` holds the words it left behind.

    The word is set around the native call alone, so that not one flag can be blamed on Python.
    """

    def __init__(self, compiled: CompiledKernel, word: int):
        self.compiled, self.word = compiled, word
        self.seen: list[int] = []
        self.threads: set[str] = set()

    def run(self, *arguments, threads: int = 1) -> None:
        enter, everyone = KernelWrapper.call, threading.Barrier(threads)

        def surrounded(*job):
            everyone.wait()  # or one fast thread would take all the work
            before = read_word()
            write_word(self.word)
            enter(*job)
            left = read_word()
            write_word(before)
            self.seen.append(left)
            self.threads.add(threading.current_thread().name)

        KernelWrapper.call = surrounded
        try:
            self.compiled.run(*arguments, threads=threads)
        finally:
            KernelWrapper.call = enter
