"""Whole runs on a GPU end with the bits of runs on the CPU.

    python -m pytest -m gpu
"""

import numpy as np
import pytest

import infimum
from infimum import problems
from infimum.backend.cpu import CpuBackend
from infimum.backend.cuda.cuda_backend import CudaBackend
from infimum.backend.cuda.gpu import gpu
from infimum.backend.hybrid import HybridBackend
from infimum.errors import DeviceError, OptionError
from tests.backend.test_cuda_bits import why_not
from tests.random_kernels import same_bits

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a GPU")]

SHORT = {"swarm_steps": 4, "descent_steps": 60, "particles": 64}  # every kernel is brought to the GPU and compiled there
GALLERY = [p.name for p in problems.all_problems()]


def bits(r: infimum.Result) -> list:
    """Everything of a result but the time and the device, as bytes."""
    boxes = [end.tobytes() for box in r.boxes or () for end in box]
    ends = np.array([r.lower, r.upper, r.fun]).tobytes()
    minima = [(m.x.tobytes(), m.value, m.descents, m.status) for m in r.minima]
    x = None if r.x is None else r.x.tobytes()
    return [x, ends, r.verdict, r.message, r.nit, r.nfev, r.regions, boxes, minima, r.attained]


@pytest.mark.parametrize("name", GALLERY)
def test_the_gallery_ends_with_the_same_bits(name):
    p = problems.get(name)
    runs = [infimum.minimize(infimum.compile(p.fun, p.n, backend=backend), p.bounds, options=SHORT, max_boxes=20_000, batch=1024)
            for backend in (CpuBackend(), CudaBackend())]
    assert bits(runs[0]) == bits(runs[1])
    assert runs[1].device == "cuda" and runs[0].device == "cpu"


@pytest.mark.parametrize("n", (3, 40))
def test_the_swarm_ends_with_the_same_bits(n):
    p = problems.get("rastrigin", n)
    runs = [infimum.minimize(infimum.compile(p.fun, n, backend=backend), p.bounds, engine="swarm", options=SHORT, seed=3)
            for backend in (CpuBackend(), CudaBackend())]
    assert bits(runs[0]) == bits(runs[1])


@pytest.mark.parametrize(("name", "n", "steps"), [("rastrigin", 3, 400), ("ackley", 5, 400), ("rosenbrock", 40, 60),
                                                  ("keane", 2, 400)])
def test_a_swarm_of_many_particles_ends_with_the_same_bits(name, n, steps):
    """They fly and descend on the GPU; here 264 at a time."""
    p, options = problems.get(name, n), {"particles": 20_000 if n < 40 else 5_000, "restarts": 0, "descent_steps": steps}
    runs = [infimum.minimize(p.fun, p.bounds, engine="swarm", options=options, seed=5, device=device)
            for device in ("cpu", "cuda")]
    assert bits(runs[0]) == bits(runs[1]) and runs[1].device.startswith("cpu and cuda")


@pytest.mark.parametrize("name", ("ackley", "griewank", "levy", "salomon", "zabinsky"))
def test_the_complete_search_ends_with_the_same_bits(name):
    """Its lanes and what they find stay on the GPU."""
    p = problems.get(f"complete_search_{name}", 12)
    options = {"partition": (6, 4), "iterations": 40}
    runs = [infimum.minimize(p.fun, p.bounds, engine="complete", options=options, xtol=1e-4, device=device)
            for device in ("cpu", "cuda")]
    assert bits(runs[0]) == bits(runs[1])


@pytest.mark.parametrize("options", ({}, {"variation": "N"}, {"gaps": True, "sequential": True, "sweeps": 2}), ids=str)
@pytest.mark.parametrize("name", ("colville", "goldstein_price", "hartmann_6"))
def test_the_newton_loop_ends_with_the_same_bits(name, options):
    p = problems.get(name)
    runs = [infimum.minimize(p.fun, p.bounds, engine="newton", options=options, xtol=1e-2, max_boxes=200_000, device=device,
                             batch=1024) for device in ("cpu", "cuda")]
    assert bits(runs[0]) == bits(runs[1])


@pytest.mark.parametrize("name", ("rastrigin", "levy", "ackley"))
def test_many_variables_end_with_the_same_bits(name):
    p = problems.get(f"complete_search_{name}", 20_000)
    runs = [infimum.minimize(p.fun, p.bounds, xtol=1e-4, device=device, batch=1024) for device in ("cpu", "cuda")]
    assert bits(runs[0]) == bits(runs[1]) and runs[1].verdict is infimum.Verdict.PROVED


def test_a_run_goes_where_it_ends_sooner():
    """Many boxes of a costly function to the GPU, and a single one of very many variables if it comes often; few to the CPU."""
    def waves(x):
        return np.sum(np.cos(np.outer(np.arange(1, 200), x)))
    backend = HybridBackend()
    f, on_cpu = infimum.compile(waves, 2, backend=backend), infimum.compile(waves, 2)
    rng = np.random.default_rng(0)
    for count in (1, 100, 2**19):
        lo = rng.uniform(-5, 5, (2, count))
        hi = lo + rng.uniform(0, 1, (2, count))
        a, b = f.value(lo, hi), on_cpu.value(lo, hi)
        assert same_bits(a.lo, b.lo).all() and same_bits(a.hi, b.hi).all()
        assert ("on_gpu" in vars(f.prepare("value")[0])) == (count == 2**19)
    for n in (300, 1_000_000):
        many, on_cpu = (infimum.compile(lambda x: np.sum(np.cos(x)), n, backend=t) for t in (backend, None))
        many.prepare("value")[0].spent = 1.0  # as if it had come often
        a, b = (f.value(np.zeros(n), np.linspace(0, 1, n)) for f in (many, on_cpu))
        assert same_bits(a.lo, b.lo).all() and same_bits(a.hi, b.hi).all()
        assert ("on_gpu" in vars(many.prepare("value")[0])) == (n == 1_000_000)


@pytest.mark.parametrize("count", (1, 2, 7, 128, 1000, 4096, 12_800, 2**17 + 384))
def test_the_least_of_a_row_is_the_first(count):
    arrays, rng = CudaBackend().arrays, np.random.default_rng(count)
    for row in (rng.normal(size=(1, count)), rng.integers(0, 3, (1, count)).astype(float), np.full((1, count), np.inf),
                np.zeros((1, count)), -np.arange(count, dtype=float)[None]):
        there = arrays.send(row)
        assert same_bits(arrays.fetch(there), row).all()
        assert arrays.least(there) == [(row.min(), int(np.argmin(row)))]


@pytest.mark.parametrize(("first", "then"), [("cuda", "cpu"), ("cpu", "cuda")])
def test_a_checkpoint_of_one_device_resumes_on_the_other(first, then, tmp_path):
    p = problems.get("complete_search_rastrigin", 8)
    settings = {"engine": "complete", "options": {"partition": (4, 4)}, "xtol": 1e-4}
    whole = infimum.minimize(p.fun, p.bounds, device="cpu", **settings)
    path, seen = str(tmp_path / "run.inf"), []
    stop = {"callback": lambda snapshot: seen.append(snapshot) or len(seen) > 5}
    infimum.minimize(p.fun, p.bounds, device=first, checkpoint=path, **stop, **settings)
    assert bits(infimum.resume(path, p.fun, device=then)) == bits(whole)


def test_what_is_not_there_is_said_before_work_begins():
    def never(x):
        raise AssertionError("traced")
    with pytest.raises(DeviceError, match="no GPU number 77"):
        infimum.minimize(never, [(0, 1)], device="cuda:77")
    with pytest.raises(OptionError, match="too small for the GPU"):
        infimum.minimize(never, [(0, 1)] * 1000, device="cuda", memory_limit=1e5)
    assert gpu().name
