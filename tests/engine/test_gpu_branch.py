"""Branch and bound with its regions on a GPU: the same bits as on the CPU, on a pretended GPU and on a real one."""

from collections import OrderedDict
from dataclasses import fields
from types import SimpleNamespace

import numpy as np
import pytest

import infimum
from infimum import problems
from infimum.backend.cpu import CpuBackend
from infimum.backend.cuda import cuda_backend, gpu_arrays
from infimum.backend.hybrid import HybridBackend
from infimum.bounds.interface import StepContext
from infimum.errors import DeviceError
from infimum.evaluation import compiled_programs
from infimum.evaluation.evaluator import Evaluator
from infimum.kernel.region_cut import DISCARDED_AXIS
from infimum.problem.settings import Goal
from infimum.search.branch_and_bound import BranchAndBound
from infimum.search.incumbent import Incumbent
from infimum.search.rounds import StepRounds, process_portion
from tests.fake_cupy import installed


def started(fun, lo, hi, backend, batch: int, goal: Goal | None = None) -> BranchAndBound:
    lo, hi = np.array(lo, dtype=float), np.array(hi, dtype=float)
    e = infimum.compile(fun, len(lo), backend=backend)
    branch = BranchAndBound(e, goal or Goal(), Incumbent(e, lo, hi), batch)
    branch.begin(lo[:, None], hi[:, None])
    return branch


def shaving(backend, batch: int = 64) -> BranchAndBound:
    """A search that sweeps its regions in every step."""
    n = 6
    fun = lambda x: np.sum((x - 0.3) ** 4 - x**2) + 0.1 * np.linalg.norm(x) + 0.05 * np.sum(x[1:] * x[:-1])  # noqa: E731
    lo, hi = np.full(n, -2.0), np.full(n, 2.5)
    e = infimum.compile(fun, n, backend=backend)
    branch = BranchAndBound(e, Goal(), Incumbent(e, lo, hi), batch)
    branch.incumbent.offer(np.full((n, 1), 1.2))
    payoff = {part.name: part for part in branch.tests}["shaving"].payoff
    payoff.pays, payoff.due = True, 10**9
    branch.begin(lo[:, None], hi[:, None])
    return branch


def fingerprint(branch: BranchAndBound) -> list[bytes]:
    """Everything the search has, bit for bit."""
    state = branch.state()
    return [str(state.values).encode(), *(state.arrays[name].tobytes() for name in sorted(state.arrays))]


# ---- a pretended GPU
@pytest.fixture
def pretended(monkeypatch):
    cupy = installed(monkeypatch, memory=1 << 24)
    monkeypatch.setattr(compiled_programs, "_lowered", OrderedDict())
    monkeypatch.setattr(gpu_arrays, "_COUNTED", 1 << 20)  # one thread: counting digits is slow there
    return cupy


def camel(x):
    return 4 * x[0] ** 2 - 2.1 * x[0] ** 4 + x[0] ** 6 / 3 + x[0] * x[1] - 4 * x[1] ** 2 + 4 * x[1] ** 4


def test_a_search_on_a_pretended_gpu_has_the_bits_of_the_cpu(pretended):
    """Few regions at hand, so that others wait; a checkpoint of one goes on on the other."""
    bounds, found = ([-3.0, -2.0], [3.0, 2.0]), {}
    for name, backend in (("cpu", CpuBackend()), ("gpu", HybridBackend())):
        branch = started(camel, *bounds, backend, 16)
        branch.pool.size, branch.pool.full = 4, 8
        prints = [fingerprint(branch)]
        for _ in range(6):
            branch.step()
            prints.append(fingerprint(branch))
        found[name] = prints, branch
    assert found["cpu"][0] == found["gpu"][0] and len(found["gpu"][1].pool.waiting)
    assert not isinstance(found["gpu"][1].pool.front.data, np.ndarray)
    middle = {}
    for name, other in (("cpu", "gpu"), ("gpu", "cpu")):
        branch = found[name][1]
        branch.restore(found[other][1].state())
        middle[name] = branch
    for branch in middle.values():
        branch.step()
    assert fingerprint(middle["cpu"]) == fingerprint(middle["gpu"])


def test_rounds_on_a_pretended_gpu_have_the_bits_of_the_cpu(pretended, monkeypatch):
    """Of who deals and of who works on portions."""
    monkeypatch.setattr(StepRounds, "_budget", lambda *_: 16)
    prints = []
    for backend in (CpuBackend, HybridBackend):
        branch = started(camel, [-3.0, -2.0], [3.0, 2.0], backend(), 16)
        branch.pool.size, branch.pool.full = 4, 8
        while len(branch.pool) < 10 or branch.boxes < 64 or not branch.is_between_steps:
            branch.step()
        branch.judged = branch.steps

        def deal(count, portion, backend=backend):
            for number in reversed(range(count)):
                other = started(camel, [-3.0, -2.0], [3.0, 2.0], backend(), 16)
                other.restore(portion(number).state)
                yield number, process_portion(other, 16)
        steps = StepRounds(SimpleNamespace(run_portions=deal), 2).round(branch)
        assert len(list(steps)) == 2 and isinstance(branch.pool.front.data, np.ndarray) == (backend is CpuBackend)
        prints.append(fingerprint(branch))
    assert prints[0] == prints[1]


def test_tangents_on_a_pretended_gpu_have_the_bits_of_the_cpu(pretended):
    def fun(x):
        return 4 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2 - np.exp(-((x[0] - x[1]) ** 2))
    lo = np.random.default_rng(0).uniform(0, 1, (2, 12))
    given, found = np.concatenate([lo, lo + 0.25, np.full((1, 12), -np.inf), np.zeros((2, 12))]), []
    for backend in (CpuBackend(), HybridBackend()):
        branch = started(fun, [0.0, 0.0], [2.0, 2.0], backend, 16)
        part, = (part for part in branch.tests if part.name == "tangents")
        outcome = part.test(branch.arrays.send(given), StepContext(-0.5))
        found.append([branch.arrays.fetch(a) for a in (outcome.regions, outcome.paid, outcome.upper, outcome.point)])
    assert [a.tobytes() for a in found[0]] == [a.tobytes() for a in found[1]]
    assert 0 < (found[0][0][5] == DISCARDED_AXIS).sum() < 12


def test_where_the_gpus_memory_runs_out_no_region_is_lost(pretended):
    branch = started(camel, [-3.0, -2.0], [3.0, 2.0], HybridBackend(), 16)
    for _ in range(3):
        branch.step()
    before, known = fingerprint(branch), branch.regions()
    pretended.memory = pretended.used + 300
    with pytest.raises(MemoryError):
        branch.step()
    pretended.memory = 1 << 24
    there, still = (sorted(map(tuple, np.concatenate([r.lo, r.hi]).T)) for r in (known, branch.regions()))
    assert there == still and len(there) > 3
    assert len(before) == len(fingerprint(branch)) and branch.lower() <= -1.0316 <= branch.incumbent.upper


def test_a_lower_bound_that_is_nan_is_no_gap_on_a_gpu(pretended):
    """Regions whose bounds are unknown stay, are cut, and leave pieces with bounds."""
    found = []
    for backend in (CpuBackend(), HybridBackend()):
        branch = started(camel, [-3.0, -2.0], [3.0, 2.0], backend, 16)
        while len(branch.pool) <= 3:
            branch.step()
        state, count = branch.state(), len(branch.pool)
        state.arrays["pool.front"][4, ::2] = np.nan
        branch.restore(state)
        assert len(branch.pool) == len(branch.regions()) == count > 3 and branch.lower() == -np.inf
        parents = branch.pool.front.everything()
        parents[4] = np.nan
        found.append(branch.arrays.fetch(branch.tests[0].test(branch.arrays.send(parents), StepContext(np.inf)).regions))
        branch.step()
        assert len(branch.pool) == len(branch.regions()) and branch.lower() > -np.inf
    assert not np.isnan(found[0]).any() and found[0].tobytes() == found[1].tobytes()


# ---- a real GPU
LONG = [("goldstein_price", 2), ("kowalik", 4), ("shekel_10", 4), ("hartmann_6", 6), ("michalewicz", 5), ("rosenbrock", 5),
        ("eggholder", 2), ("bukin_6", 2), ("ackley", 3), ("trid", 7), ("colville", 4), ("shubert", 2), ("styblinski_tang", 8)]


def gpu() -> HybridBackend:
    try:
        return HybridBackend()
    except DeviceError as error:
        pytest.skip(str(error))


def same(a: infimum.Result, b: infimum.Result) -> bool:
    for field in fields(a):
        if field.name in ("device", "seconds", "history", "view", "question", "plain_calls"):
            continue
        x, y = getattr(a, field.name), getattr(b, field.name)
        if field.name == "boxes":
            x, y = (np.array([*map(np.concatenate, boxes)]).tobytes() if len(boxes) else b"" for boxes in (x, y))
        elif isinstance(x, (np.ndarray, float)):
            x, y = np.array(x).tobytes(), np.array(y).tobytes()
        elif field.name == "minima":
            x, y = str(x), str(y)
        if x != y:
            return False
    return True


@pytest.mark.gpu
@pytest.mark.parametrize("batch", (1000, 1 << 14))
@pytest.mark.parametrize(("name", "n"), LONG)
def test_a_run_has_the_same_bits_on_a_gpu(name, n, batch):
    gpu()
    p = problems.get(name, n)
    one, two = (infimum.minimize(p.fun, p.bounds, device=device, batch=batch, max_boxes=400_000) for device in ("cpu", "cuda"))
    assert same(one, two) and one.batch == two.batch == batch and "cuda" in two.device
    assert two.lower <= p.minimum.hi and two.upper >= p.minimum.lo


@pytest.mark.gpu
@pytest.mark.parametrize("xtol", (1e-3,))
def test_narrow_regions_and_other_shapes_of_launches(xtol):
    gpu()
    p = problems.get("camel_six_hump")
    one, two = (infimum.minimize(p.fun, p.bounds, device=device, batch=256, xtol=xtol) for device in ("cpu", "cuda"))
    assert same(one, two)
    for block, grid in ((32, 5), (256, None)):
        backend = HybridBackend()
        backend.cuda = cuda_backend.CudaBackend(block=block, grid=grid)
        backend.name += f", {block}, {grid}"
        e = Evaluator(infimum.compile(p.fun, p.n).f, p.n, backend)
        assert same(one, infimum.minimize(e, p.bounds, batch=256, xtol=xtol))


@pytest.mark.gpu
def test_a_checkpoint_goes_on_elsewhere(tmp_path):
    gpu()
    p = problems.get("kowalik")
    whole = infimum.minimize(p.fun, p.bounds, device="cpu", batch=2000)
    for k, (first, then) in enumerate((("cpu", "cuda"), ("cuda", "cpu"))):
        path = str(tmp_path / f"{k}.inf")
        infimum.minimize(p.fun, p.bounds, device=first, batch=2000, max_boxes=60_000, checkpoint=path)
        assert same(whole, infimum.resume(path, p.fun, device=then))


@pytest.mark.gpu
@pytest.mark.parametrize("batch", (64, 1 << 13))
def test_a_search_that_shaves_has_the_same_bits_on_a_gpu(batch):
    gpu()
    on_cpu, on_gpu = shaving(CpuBackend(), batch), shaving(HybridBackend(), batch)
    for _ in range(12):
        on_cpu.step()
        on_gpu.step()
        assert fingerprint(on_cpu) == fingerprint(on_gpu)
    assert on_gpu.discarded["sweep"] > 0 and not isinstance(on_gpu.pool.front.data, np.ndarray)
