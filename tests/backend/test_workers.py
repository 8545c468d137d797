"""Threads change the speed, never a bit; forks, interrupts and many callers at once do no harm."""

import _thread
import multiprocessing
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from infimum.backend import worker_threads
from infimum.backend.cpu import CompiledKernel, CpuBackend
from infimum.backend.python import PythonBackend
from infimum.kernel.ir import Builder, Kernel
from tests.all_threads import all_threads_work  # noqa: F401

pytestmark = pytest.mark.usefixtures("all_threads_work")
UDATA = np.zeros(1, np.int64)
BOXES = 5003


def sample_kernel(turns: int = 40) -> Kernel:
    """A sum with buffers, so that threads that shared their scratch memory would show."""
    b = Builder()
    x = b.input(0, 0)
    stored = b.buffer(turns)
    with b.loop(turns) as turn:
        b.store(stored, turn.index, b.div(b.data(turn.index), b.add(b.mul(x, x), 3.0)))
    with b.loop(turns) as turn:
        backward = b.usub(turns - 1, turn.index)
        step = b.step((0.0,), (b.fma(x, b.load(stored, backward), 0.1),), lambda b, left, right: (b.add(left[0], right[0]),))
    b.output(0, 0, step.results[0])
    b.output(0, 1, b.sqrt(b.abs(x)))
    return b.kernel("sample", 1, 1)


def inputs(boxes: int = BOXES) -> np.ndarray:
    return np.random.default_rng(1).normal(size=(1, boxes))


def data() -> np.ndarray:
    return np.random.default_rng(2).normal(size=40)


def outcome(compiled: CompiledKernel, threads: int, x: np.ndarray) -> np.ndarray:
    found = np.full((2, x.shape[1]), np.nan)
    compiled.run([x], [found], data(), UDATA, threads)
    return found.view(np.int64)


@pytest.fixture(scope="module")
def compiled() -> CompiledKernel:
    return CpuBackend().compile(sample_kernel())


@pytest.fixture(scope="module")
def single(compiled: CompiledKernel) -> np.ndarray:
    return outcome(compiled, 1, inputs())


@pytest.mark.parametrize("boxes", [1, 7, 8, 9, 16, 17, 100, BOXES])
def test_same_bits_for_every_number_of_threads(compiled: CompiledKernel, boxes: int):
    x = inputs(boxes)
    one = outcome(compiled, 1, x)
    for threads in (2, 3, 64):
        assert (outcome(compiled, threads, x) == one).all()


def test_every_thread_takes_part(compiled: CompiledKernel, monkeypatch: pytest.MonkeyPatch):
    """Otherwise the tests of this file would show nothing."""
    seen, run = [], worker_threads.run
    monkeypatch.setattr(worker_threads, "run", lambda entry, jobs, **how: seen.append(len(jobs)) or run(entry, jobs, **how))
    for threads in (1, 2, 3):
        outcome(compiled, threads, inputs())
    assert seen == [1, 2, 3]


def test_usual_split_changes_no_bit(single: np.ndarray, monkeypatch: pytest.MonkeyPatch):
    """What `run` decides by itself, from a guess or from measured time."""
    monkeypatch.undo()
    compiled = CpuBackend().compile(sample_kernel())
    for cost in (1e-12, 1e-9, 1e-7, 1e-5, 1.0):
        compiled._cost = cost
        assert (outcome(compiled, 3, inputs()) == single).all()


def test_one_thread_is_the_definition(compiled: CompiledKernel):
    x = inputs(60)
    expected = np.empty((2, 60))
    PythonBackend().compile(sample_kernel()).run([x], [expected], data(), UDATA)
    assert (outcome(compiled, 2, x) == expected.view(np.int64)).all()


def test_block_size_changes_no_bit(compiled: CompiledKernel, single: np.ndarray, monkeypatch: pytest.MonkeyPatch):
    """How much a thread takes at once is guessed from measured time: it must not matter."""
    for block in (8, 24, 1000, 8000):
        monkeypatch.setattr(CompiledKernel, "_split", lambda self, count, threads, block=block: (threads, block))
        assert (outcome(compiled, 3, inputs()) == single).all()


def test_many_callers_at_once(compiled: CompiledKernel, single: np.ndarray):
    x = inputs()
    with ThreadPoolExecutor(12) as pool:
        calls = [pool.submit(outcome, compiled, 1 + n % 3, x) for n in range(60)]
        assert all((call.result() == single).all() for call in calls)


def test_many_compilers_at_once():
    """Compiling is under a lock, and all get the same code."""
    backend = CpuBackend()
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda n: (n % 4, backend.compile(sample_kernel(20 + n % 4))), range(32)))
    assert len({id(code) for _, code in made}) == 4
    assert len({(n, id(code)) for n, code in made}) == 4


def test_empty_batch(compiled: CompiledKernel):
    for threads in (1, 2):
        assert outcome(compiled, threads, np.empty((1, 0))).shape == (2, 0)
    PythonBackend().compile(sample_kernel()).run([np.empty((1, 0))], [np.empty((2, 0))], data(), UDATA)


# ---- forks
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_child_starts_its_own_threads(compiled: CompiledKernel, single: np.ndarray):
    outcome(compiled, 3, inputs())  # the parent has threads, which the child will not have
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if (outcome(compiled, 2, inputs()) == single).all() else 2
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert (outcome(compiled, 3, inputs()) == single).all()


def _compile_and_run(_: int) -> np.ndarray:
    return outcome(CpuBackend().compile(sample_kernel()), 2, inputs())


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_multiprocessing_by_fork(compiled: CompiledKernel, single: np.ndarray):
    outcome(compiled, 3, inputs())
    with multiprocessing.get_context("fork").Pool(2) as pool:
        results = pool.map_async(_compile_and_run, range(4)).get()
    assert all((result == single).all() for result in results)


# ---- interrupts
def test_interrupt_waits_for_the_other_threads():
    """Ctrl-C must not hand the arrays back while another thread still writes into them."""
    started, heard, left, main = threading.Event(), threading.Event(), [], threading.main_thread()
    usual = signal.getsignal(signal.SIGINT)

    def hear(*_) -> None:
        heard.set()
        raise KeyboardInterrupt

    def entry(job: int) -> None:
        if threading.current_thread() is main:
            started.wait()
            _thread.interrupt_main()
            return
        started.set()
        heard.wait()
        for _ in range(1000):  # opportunities for the main thread to leave
            time.sleep(0)
        left.append("worker")

    signal.signal(signal.SIGINT, hear)
    try:
        with pytest.raises(KeyboardInterrupt):
            worker_threads.run(entry, [(0,), (1,)])
            heard.wait()  # it is heard at the next opportunity
        left.append("main")
    finally:
        signal.signal(signal.SIGINT, usual)
    assert left == ["worker", "main"]


def test_exception_in_the_calling_thread_cancels_what_has_not_begun():
    ran = []

    def entry(job: int) -> None:
        if job == 0:
            raise ValueError("first")
        ran.append(job)

    with pytest.raises(ValueError, match="first"):
        worker_threads.run(entry, [(0,), (1,), (2,)])
    settled = list(ran)
    worker_threads.run(lambda job: None, [(0,), (1,), (2,)])  # comes after what is still in the queue
    assert ran == settled


def test_shared_work_waits_for_no_thread_that_has_not_begun():
    """The only other thread is busy: what it was to take part in is over before it could."""
    release, begun, done = threading.Event(), threading.Event(), []

    def busy(job: int) -> None:
        if job:
            begun.set()
            release.wait()

    holder = threading.Thread(target=worker_threads.run, args=(busy, [(0,), *[(1,)] * max(1, worker_threads._started)]))
    holder.start()
    begun.wait()
    try:
        worker_threads.run(done.append, [(0,), (1,)], shared=True)
        so_far = list(done)  # a thread that was idle after all may have taken it
    finally:
        release.set()
        holder.join()
    worker_threads.run(lambda job: None, [(0,), (1,)])  # comes after what is still in the queue
    assert done == so_far and 0 in done


# ---- cache
def test_equal_kernels_share_their_code(compiled: CompiledKernel):
    assert CpuBackend().compile(sample_kernel()) is compiled
    assert CpuBackend(threads=1).compile(sample_kernel()) is compiled
    assert CpuBackend().compile(sample_kernel(41)) is not compiled


def test_widths_do_not_share_their_code(compiled: CompiledKernel):
    assert CpuBackend(2).compile(sample_kernel()) is not compiled or compiled.lanes == 2


def test_data_is_no_part_of_the_code(compiled: CompiledKernel):
    """Other constants of a problem, same machine code."""
    x, found = inputs(50), []
    for scale in (1.0, 3.0):
        values = np.empty((2, 50))
        assert CpuBackend().compile(sample_kernel()) is compiled
        compiled.run([x], [values], data() * scale, UDATA)
        expected = np.empty((2, 50))
        PythonBackend().compile(sample_kernel()).run([x], [expected], data() * scale, UDATA)
        assert (values.view(np.int64) == expected.view(np.int64)).all()
        found.append(values)
    assert (found[0][0] != found[1][0]).any()


def test_long_runs_are_cut_into_pieces_without_a_changed_bit(single: np.ndarray, monkeypatch: pytest.MonkeyPatch):
    """Between the pieces Python hears Ctrl-C. The cost of a box is as pretended, however long a busy machine takes."""
    monkeypatch.undo()
    compiled = CpuBackend().compile(sample_kernel())
    pieces, run = [], worker_threads.run
    monkeypatch.setattr(worker_threads, "run", lambda entry, jobs, **how: pieces.append(run(entry, jobs, **how)) or 0.0)
    compiled._cost = 0.01
    assert (outcome(compiled, 2, inputs()) == single).all()
    assert len(pieces) > 2


def test_few_long_lanes_have_code_of_their_own_that_is_written_once(monkeypatch: pytest.MonkeyPatch):
    compiled = CpuBackend(8).compile(sample_kernel(41))
    monkeypatch.setattr(compiled, "_cost", 0.01)
    written, write = [], CpuBackend._texts
    monkeypatch.setattr(CpuBackend, "_texts", lambda backend, kernel: written.append(backend.lanes) or write(backend, kernel))
    found = [outcome(compiled, 1, inputs(2)) for _ in range(3)]
    assert written == [2] and all((values == found[0]).all() for values in found)


def test_better_code_comes_with_the_scratch_memory_that_it_takes(single: np.ndarray):
    compiled, better = CpuBackend().compile(sample_kernel(43)), CpuBackend(4).compile(sample_kernel(40))
    compiled._better = lambda: better
    compiled._improve()
    assert compiled._code == better._code and compiled._code[1] == 4 * 40
