"""Arrays of a GPU answer as NumPy's do: on a pretended GPU, whose machine tells when threads meet, and on a real one."""

import contextlib
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from infimum.backend import ptx
from infimum.backend.arrays import HostArrays
from infimum.backend.cell_loops import LOOPS
from infimum.backend.code_lint import lint_ptx
from infimum.backend.cuda import gpu_arrays
from infimum.backend.cuda.cuda_backend import CudaBackend
from infimum.backend.cuda.gpu_arrays import _KERNELS as KERNELS
from infimum.backend.cuda.gpu_arrays import GpuArrays
from infimum.errors import DeviceError
from tests.fake_cupy import installed
from tests.ptx_simulator import Memory, Module

INF, MAX, TINY = np.inf, float(np.finfo(float).max), 5e-324
NUMBERS = st.one_of(st.integers(-3, 3).map(float), st.floats(-4, 4), st.floats(),
                    st.sampled_from([-INF, INF, -0.0, 0.0, MAX, -MAX, TINY, float("nan"), -float("nan")]))
ROWS = st.one_of(st.lists(NUMBERS, min_size=1, max_size=20),
                 st.lists(st.sampled_from([1.0, 2.0, -1.0]), min_size=60, max_size=140))
HOST = HostArrays()
SHAPES = [(None, None), (1, 1), (5, 2)]


@pytest.fixture
def pretended(monkeypatch):
    installed(monkeypatch, memory=1 << 24)
    monkeypatch.setattr(gpu_arrays, "_COUNTED", 16)
    monkeypatch.setattr(gpu_arrays, "_NUMBERS_A_BLOCK", 2)
    monkeypatch.setattr(gpu_arrays, "_NUMBERS_A_THREAD", 3)
    return lambda block, grid: GpuArrays(CudaBackend(block=block, grid=grid))


@pytest.mark.parametrize("name", KERNELS)
def test_the_text_is_clean(name):
    text = ptx.assemble(KERNELS[name])
    sums, barriers = name == "digit" or name in LOOPS and LOOPS[name].shared, name in ("scan", "least_of_all")
    assert lint_ptx(text, sums=sums, barriers=barriers) == [] and bool(lint_ptx(text)) == (sums or barriers)


def test_what_a_sum_met_is_not_read():
    text = ptx.assemble(KERNELS["digit"])
    register = re.search(r"atom.global.add.u64\s+(%\w+),", text)[1]
    assert lint_ptx(text.replace("ret;", f"st.global.b64 [%rd1], {register};\n\tret;"), sums=True)
    assert lint_ptx(text.replace("atom.global.add.u64", "atom.global.exch.b64"), sums=True)


@pytest.mark.parametrize("name", ["scan", "least_of_all"])
def test_every_barrier_is_needed(name):
    """Without any one of them the machine tells that threads meet."""
    text = ptx.assemble(KERNELS[name])
    barriers = [m.span() for m in re.finditer(r"bar\.sync\s+0;", text)]
    assert len(barriers) == 2
    for begin, end in [*barriers, (0, 0)]:
        memory = Memory()
        arrays = [memory.allocate(200) for _ in range(5)]
        for array in arrays:
            memory.write(array, np.arange(200))
        arguments = {"scan": [arrays[0], 100, arrays[1]],
                     "least_of_all": [arrays[0], arrays[1], 100, arrays[2], arrays[3], arrays[1], 10, 4, arrays[4]]}[name]
        with pytest.raises(AssertionError, match="thread") if end else contextlib.nullcontext():
            Module(text[:begin] + text[end:]).launch(1, 8, arguments, memory)


def check_lowest(arrays: GpuArrays, row: np.ndarray, count: int, below: float, ties: bool) -> None:
    index, border = HOST.lowest(row, count, below, ties)
    found, key = arrays.lowest(arrays.send(row), count, below, ties)
    assert arrays.fetch(found).tolist() == index.tolist() and np.array(key).tobytes() == np.array(border).tobytes()


few = settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize(("block", "grid"), SHAPES)
@few
@given(row=ROWS, count=st.integers(1, 150), below=st.one_of(st.just(INF), NUMBERS.filter(lambda x: x == x)), ties=st.booleans())
@example(row=[1.0, -0.0, 0.0, -1.0], count=2, below=INF, ties=False)
@example(row=[INF, INF, -INF], count=2, below=INF, ties=True)
@example(row=[MAX, 1e300, 2e300, float("nan"), 1.0], count=5, below=INF, ties=False)
def test_lowest(pretended, block, grid, row, count, below, ties):
    check_lowest(pretended(block, grid), np.array([row]), count, below, ties)


@pytest.mark.parametrize(("block", "grid"), SHAPES)
@settings(few, max_examples=50)
@given(row=ROWS)
def test_least(pretended, block, grid, row):
    arrays = pretended(block, grid)
    rows = [np.array([row]), np.array([row[::-1]])]
    mine, theirs = arrays.least(*map(arrays.send, rows)), HOST.least(*rows)
    assert np.array(mine).tobytes() == np.array(theirs).tobytes()
    check_least_column(arrays, np.array([row]))


def check_least_column(arrays: GpuArrays, row: np.ndarray) -> None:
    array = np.arange(2.0 * row.size).reshape(2, -1)
    mine, theirs = arrays.least_column(arrays.send(row), arrays.send(array)), HOST.least_column(row, array)
    assert np.array(mine[0]).tobytes() == np.array(theirs[0]).tobytes() and mine[1].tolist() == theirs[1].tolist()
    there, here = arrays.zeros(2, 5), np.zeros((2, 5))
    arrays.put_least(arrays.send(row), arrays.send(array), there[1:2], 1)
    HOST.put_least(row, array, here[1:2], 1)
    assert arrays.fetch(there).tobytes() == here.tobytes()


@pytest.mark.parametrize(("block", "grid"), SHAPES)
@settings(few, max_examples=25)
@given(row=st.one_of(*(st.lists(st.integers(0, 4), min_size=least, max_size=6 * least + 20) for least in (1, 60))))
def test_order(pretended, block, grid, row):
    arrays, row = pretended(block, grid), np.array([row], dtype=float)
    (index, counts), other = arrays.order(5, arrays.send(row), arrays.send(row[:, ::-1]))
    wanted, turned = HOST.order(5, row, row[:, ::-1])
    assert arrays.fetch(other[0]).tolist() == turned[0].tolist() and other[1] == turned[1]
    none, = arrays.order(5, arrays.send(row[:, :0]))
    assert len(none[0]) == 0 and none[1] == [0] * 5
    assert arrays.fetch(index).tolist() == wanted[0].tolist() and counts == wanted[1]


def columns_agree(arrays: GpuArrays, count: int) -> None:
    source = np.arange(3.0 * count).reshape(3, count)
    index = np.array([7, 1, 1, count - 1])
    there, where = arrays.send(source), arrays._words(4)
    where.set(index)
    assert (arrays.fetch(arrays.gather(there, where)) == source[:, index]).all()
    backend, expected = arrays.send(np.zeros((3, 9))), np.zeros((3, 9))
    for a, t, i, s in ((arrays, backend, where, there), (HOST, expected, index, source)):
        a.gather(s, i, t, 3)
        a.put(t, 1, s, 4, 6)
        a.fill(t[1:2, :8], i[1:2], np.nan)
    assert np.array_equal(arrays.fetch(backend), expected, equal_nan=True)
    assert (arrays.fetch(arrays.numbers(count)).view(np.int64) == np.arange(count)).all()
    assert arrays.fetch(arrays.zeros(2, count)).tobytes() == bytes(16 * count) and arrays.numbers(0).shape == (1, 0)
    row, wide = HOST.numbers(count)[:, ::-1].copy(), np.zeros((3, count + 2))
    scattered = arrays.zeros(3, count + 2)
    arrays.scatter(there, arrays.send(row), scattered)
    HOST.scatter(source, row, wide)
    assert (arrays.fetch(scattered) == wide).all() and (wide[:, :count] == source[:, ::-1]).all()
    assert (arrays.fetch(arrays.column(there, 3)) == source[:, 3:4]).all() and len(arrays.gather(there, where[:0]).shape) == 2


@pytest.mark.parametrize(("block", "grid"), SHAPES)
def test_columns(pretended, block, grid):
    columns_agree(pretended(block, grid), 10)


# ---- a real GPU
def real() -> list[GpuArrays]:
    try:
        return [GpuArrays(CudaBackend(block=block, grid=grid)) for block, grid in [(None, None), (32, 3), (256, None)]]
    except DeviceError as error:
        pytest.skip(str(error))


@pytest.mark.gpu
def test_a_gpu_answers_as_numpy_does():
    rng = np.random.default_rng(5)
    for arrays in real():
        columns_agree(arrays, 1000)
        for length in (1, 63, 64, 65, 5000, 300_000, 3_000_001):
            rows = [rng.normal(size=length), np.exp(rng.uniform(-700, 700, length)), rng.integers(-2, 3, length) * 1.0,
                    np.full(length, -INF), rng.integers(0, 2**64, length, dtype=np.uint64).view(np.float64),
                    np.where(rng.random(length) < 0.5, np.nan, rng.normal(size=length))]
            for row in rows:
                row = row[None]
                mine, theirs = arrays.least(arrays.send(row)), HOST.least(row)
                assert np.array(mine).tobytes() == np.array(theirs).tobytes()
                check_least_column(arrays, row)
                for count in (1, length // 3 + 1, length, length + 1):
                    for below, ties in ((INF, False), (0.5, True), (-0.0, False)):
                        check_lowest(arrays, row, count, below, ties)
            kinds = rng.integers(0, 5, (1, length)) * 1.0
            (index, counts), = arrays.order(5, arrays.send(kinds))
            wanted, = HOST.order(5, kinds)
            assert (arrays.fetch(index) == wanted[0]).all() and counts == wanted[1]
