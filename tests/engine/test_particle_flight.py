"""Many particles: their kernels are the definition's bit for bit, draw the same random numbers as NumPy, and move as it does."""


import numpy as np
import pytest

import infimum
from infimum.backend.arrays import HostArrays
from infimum.backend.cuda.cuda_backend import CudaBackend
from infimum.evaluation.programs import FLIGHT, SCATTER
from infimum.points import particle_flight as flight_module
from infimum.points.descents import Descents
from infimum.points.particle_flight import STARTS, ParticleFlight
from infimum.points.random_numbers import key_of, uniform
from infimum.points.swarm import Swarm
from infimum.points.swarm_kernel import flight_parameters, particle_rows, scatter_parameters
from infimum.points.swarm_options import SwarmOptions
from infimum.problem.problem import Problem
from tests.engine.test_descent import differing, doubles_of, partial, program_of, wavy
from tests.fake_cupy import installed
from tests.random_kernels import ADVERSARIAL

NUMBERS = HostArrays().numbers
LO, HI = np.array([-2.0, 0.5, -1e3]), np.array([1.0, 0.5, 1e-3])


def all_of(flight):
    """What a flight tells, and what it returns."""
    seen = []
    while True:
        try:
            seen.append(next(flight))
        except StopIteration as end:
            return [found for found in seen if found is not None], end.value


# ---- kernels
@pytest.mark.parametrize("n", [1, 2, 3, 20])
def test_points_are_drawn_as_defined(n):
    program = program_of(SCATTER, wavy, n)
    lo, width = np.linspace(-3, 1, n), np.linspace(0, 9, n)
    doubles = doubles_of(program, scatter_parameters(lo, lo + width, width, key_of(2**63 + 12345, 7, 2**32 - 1)))
    _, wrong = differing(program, [NUMBERS(45)], doubles)
    assert not wrong


@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_random_numbers_are_those_of_numpy(n):
    """The key's words with all their bits, particles beyond 2**32, odd and even rows."""
    e = infimum.compile(lambda x: np.sum(x), n)
    for seed, stream, step in ((0, 0, 0), (2**64 - 1, 2**32 - 1, 2**32 - 1), (2**53 + 1, 3, 9)):
        numbers = np.array([0, 1, 2**32 - 1, 2**32, 2**53 + 1, 2**62], np.int64)
        drawn, = e.run(SCATTER, [numbers.view(float)[None]],
                       parameters=scatter_parameters(np.zeros(n), np.ones(n), np.ones(n), key_of(seed, stream, step)))
        assert (drawn == uniform(seed, stream, step, numbers, n)).all()


@pytest.mark.parametrize("moves, value", [(0.0, np.inf), (1.0, 3.0), (1.0, np.inf)])
@pytest.mark.parametrize("f", [wavy, partial])
def test_a_step_is_the_definition(f, moves, value):
    """Any numbers, NaN and infinities among them."""
    program, rng = program_of(FLIGHT, f, 3), np.random.default_rng(int(moves))
    doubles = doubles_of(program, flight_parameters(LO, HI, value, rng.normal(size=3), (0.5, 1.2, 1.5, moves), key_of(1, 2, 3)))
    particle = [rng.normal(size=(rows, 60)) for rows in particle_rows(3)]
    for array in particle:
        array[rng.random(array.shape) < 0.05] = rng.choice(ADVERSARIAL)
    found, wrong = differing(program, [NUMBERS(60), *particle], doubles)
    assert not wrong and (found[0] >= LO[:, None]).all() and (found[0] <= HI[:, None]).all()


# ---- flights
def test_points_lie_within_the_bounds_and_everywhere():
    flight = ParticleFlight(infimum.compile(wavy, 3), LO, HI, seed=4)
    x = all_of(flight.points(STARTS, 2, 5000))[1]
    assert x.shape == (3, 5000) and (x >= LO[:, None]).all() and (x <= HI[:, None]).all() and (x[1] == 0.5).all()
    unit = uniform(4, STARTS, 2, range(5000), 3)
    assert np.abs(x - (LO + (HI - LO) * unit.T).T).max() < 1e-12
    few = all_of(flight.points(STARTS, 2, 100))[1]
    assert np.abs(few - x[:, :100]).max() < 1e-12


@pytest.mark.parametrize("start", ["uniform", "sobol"])
def test_both_ways_move_alike(start, monkeypatch):
    """Kernels and NumPy round differently; in a few steps that does not grow."""
    options = SwarmOptions(start=start, swarm_steps=4)
    flights = [ParticleFlight(infimum.compile(wavy, 3), LO, HI, seed=4) for _ in range(2)]
    here, own = all_of(flights[0].fly(1, 200, options))
    monkeypatch.setattr(flight_module.POLICY, "many_particles", 1)
    there, places = all_of(flights[1].fly(1, 200, options))
    assert len(here) == len(there) == 5 and flights[0].evaluations == flights[1].evaluations == 1000
    for (x, value), (y, other) in zip(here, there, strict=True):
        assert np.abs(x - y).max() < 1e-9 and value == pytest.approx(other, rel=1e-9)
    assert np.abs(places - own).max() < 1e-9 and (places != own).any()
    assert flights[1].evaluator.estimate(places).min() == there[-1][1] < there[0][1]


def test_particles_without_a_value_follow_nobody():
    """Where no particle has a value there is no leader; where one has, the others come."""
    flight = ParticleFlight(infimum.compile(lambda x: np.log(x[0]), 1), np.array([-2.0]), np.array([-1.0]), seed=0)
    seen, places = all_of(flight.fly(0, 5000, SwarmOptions(swarm_steps=2)))
    assert [value for _, value in seen] == [np.inf] * 3 and (places >= -2).all() and (places <= -1).all()
    corner = ParticleFlight(infimum.compile(lambda x: np.log(x[0] - 0.999) + x[0], 1), np.array([0.0]), np.array([1.0]), seed=0)
    seen, places = all_of(corner.fly(0, 5000, SwarmOptions(swarm_steps=6)))
    values = corner.evaluator.estimate(places)
    first = corner.evaluator.estimate(all_of(corner.points(16, 0, 5000))[1])
    assert np.isfinite(values).mean() > 0.3 and np.isfinite(first).mean() < 0.01


@pytest.mark.parametrize("start", ["uniform", "sobol"])
def test_parts_change_nothing(start, monkeypatch):
    """Here many particles fly part by part, so that a time limit is heard; a leader is the first of the best of all."""
    runs = []
    for terms in (1 << 30, 3 * 4500, 3 * 4096):
        monkeypatch.setattr(flight_module.POLICY, "numbers_at_once", terms)
        flight = ParticleFlight(infimum.compile(lambda x: np.floor(np.sum(x * x)), 3), np.full(3, -2.0), np.full(3, 2.0), seed=4)
        pauses = sum(1 for _ in flight.fly(0, 13_000, SwarmOptions(start=start, swarm_steps=3)))
        seen, places = all_of(flight.fly(1, 13_000, SwarmOptions(start=start, swarm_steps=3)))
        runs.append((pauses, [(x.tobytes(), value) for x, value in seen], places.tobytes(), flight.evaluations))
    assert runs[0][1:] == runs[1][1:] == runs[2][1:] and runs[0][0] < runs[1][0] < runs[2][0]


def test_a_time_limit_is_heard_while_many_particles_fly(clock):
    r = infimum.minimize(wavy, [(-1.0, 2.0)] * 200, engine="swarm", time_limit=0.5, options={"particles": 100_000}, device="cpu",
                         memory_limit=None)
    assert "time limit" in r.message and r.nfev < 300_000  # when they have moved two or three times


def test_so_many_particles_that_memory_does_not_hold_them():
    for particles in (10**9, 10**19):
        with pytest.raises(infimum.OptionError, match="of 3 variables would take about .* more than memory_limit = 8,0"):
            infimum.minimize(wavy, [(-1.0, 2.0)] * 3, engine="swarm", options={"particles": particles})


def test_where_memory_runs_out_the_answer_is_what_was_found(monkeypatch):
    whole = infimum.minimize(wavy, [(-1.0, 2.0)] * 3, engine="swarm", options={"restarts": 0})

    def full(*_):
        raise MemoryError
        yield
    monkeypatch.setattr(ParticleFlight, "fly", full)
    r = infimum.minimize(wavy, [(-1.0, 2.0)] * 3, engine="swarm")
    assert "too little memory" in r.message and r.minima and whole.upper <= r.upper < np.inf
    assert infimum.minimize(wavy, [(-1.0, 2.0)] * 2).verdict is infimum.Verdict.PROVED


# ---- whole runs
def bits(r: infimum.Result) -> list:
    minima = [(m.x.tobytes(), m.value, m.descents, m.share, m.status) for m in r.minima]
    return [r.x.tobytes(), r.fun, r.nit, r.nfev, r.message, minima]


@pytest.mark.parametrize("start", ["uniform", "sobol"])
@pytest.mark.parametrize("f", [wavy, lambda x: np.log(x[0] - 5)], ids=["wavy", "nowhere"])
def test_a_flight_on_a_gpu_is_the_one_here(f, start, monkeypatch):
    """There a leader is written to where the next step reads it, and nothing is looked at before the end."""
    monkeypatch.setattr(flight_module.POLICY, "many_particles", 20)
    monkeypatch.setattr(flight_module.POLICY, "numbers_at_once", 3)
    options = SwarmOptions(start=start, swarm_steps=3)
    seen, places = all_of(ParticleFlight(infimum.compile(f, 3), LO, HI, seed=4).fly(1, 50, options))
    installed(monkeypatch, memory=1 << 24)
    backend = CudaBackend()
    flight = ParticleFlight(infimum.compile(f, 3, backend=backend), LO, HI, seed=4)
    (last,), there = all_of(flight.fly(1, 50, options))
    assert backend.arrays.fetch(there).tobytes() == places.tobytes() and flight.evaluations == 200
    assert last[1] == seen[-1][1] and (last[0].tobytes() == seen[-1][0].tobytes() or last[1] == np.inf)


def steps(x):
    """Many places are as good: which of them is the best is a matter of order."""
    return np.floor(3 * np.sum(x * x))


@pytest.mark.parametrize("f, n, memory", [(partial, 2, True), (partial, 3, True), (steps, 2, True), (steps, 2, False)])
def test_a_swarm_on_a_gpu_ends_with_the_same_bits(f, n, memory, monkeypatch):
    """Particles, lanes and what ended stay on the GPU; of the descents only the lowest ends come back. Without memory to
    begin early with them, they begin when others have ended."""
    monkeypatch.setattr(flight_module.POLICY, "many_particles", 33)
    monkeypatch.setattr("infimum.points.swarm.POLICY.lowest_ends", 5)
    options = {"particles": 34, "swarm_steps": 2, "descent_steps": 10, "searches": 0, "restarts": 0}
    bounds = [(-1.0, 2.0)] * n
    on_cpu = infimum.minimize(f, bounds, engine="swarm", options=options)
    cupy, early = installed(monkeypatch, memory=1 << 24), []
    queue = Descents.queue

    def queued(self):
        early.append(memory)
        queue(self)
        if not memory:
            raise MemoryError
    monkeypatch.setattr(Descents, "queue", queued)
    on_gpu = infimum.minimize(infimum.compile(f, n, backend=CudaBackend()), bounds, engine="swarm", options=options)
    assert bits(on_cpu) == bits(on_gpu) and len(cupy.launches) > 20 and early == [memory]
    assert sum(m.descents for m in on_cpu.minima) <= 32 + 5


def test_of_equally_good_places_the_last_one_told_counts():
    """A GPU tells no other; those on the way are seen by readers, and are the answer of a run that is stopped there."""
    swarm = Swarm(Problem(None, LO, HI), infimum.compile(wavy, 3), SwarmOptions(), 0)
    places = [np.full(3, 0.5), np.full(3, 0.25)]

    def flight(*_):
        for place in places:
            yield None
            yield place, -7.0
        return "own"
    swarm.flight.fly = flight
    flying = swarm._fly(0, 9)
    next(flying), next(flying)
    assert swarm.value == -7.0 and (swarm.x == 0.5).all() and swarm.best.value == np.inf
    assert all_of(flying)[1] == "own" and swarm.best.value == -7.0 and (swarm.x == 0.25).all()


def test_many_particles_find_what_they_should():
    r = infimum.minimize(lambda x: 50 + np.sum(x**2 - 10 * np.cos(2 * np.pi * x)), [(-5.12, 5.12)] * 5, engine="swarm",
                         options={"particles": 20_000, "searches": 0, "restarts": 0})
    assert r.fun < 1e-12 and r.minima[0].descents > 8 and not r.success and r.nfev > 20_000 * 9
    assert sum(m.share for m in r.minima) == pytest.approx(1.0)


def test_shares_are_of_the_lanes_that_are_told_apart():
    r = infimum.minimize(lambda x: np.sum((x - 0.3) ** 2), [(-1.0, 2.0)] * 2, engine="swarm",
                         options={"particles": 10_000, "searches": 0, "restarts": 0})
    assert len(r.minima) == 1 and r.minima[0].share == 1.0 and r.minima[0].descents == 32 + 1024
