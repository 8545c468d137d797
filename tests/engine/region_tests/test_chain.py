"""Dynamic programming over intervals: no minimiser is lost, bounds are bounds, known minima are enclosed."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

import infimum
from infimum.backend.cuda.cuda_backend import CudaBackend
from infimum.backend.hybrid import HybridBackend
from infimum.chains import grid
from infimum.chains.chain import Chain
from infimum.chains.level import Level
from infimum.evaluation.evaluator import Evaluator
from infimum.problem.settings import Goal
from infimum.problem.unions import Unions
from infimum.search.incumbent import Incumbent
from infimum.search.root_box import RootBox
from tests.engine.region_tests.chain_cases import Case, case
from tests.fake_cupy import installed

INF = np.inf


@pytest.fixture(autouse=True)
def _as_the_library_computes():
    """Engines run where NumPy is told not to warn."""
    with np.errstate(all="ignore"):
        yield


def chain_of(f, low, high, lo=None, hi=None, goal: Goal | None = None, known=None, memory_limit: float = 2e7,
             backend=None) -> Chain | None:
    low, high = np.array(low, dtype=float), np.array(high, dtype=float)
    lo, hi = low if lo is None else np.array(lo, dtype=float), high if hi is None else np.array(hi, dtype=float)
    evaluator = infimum.compile(f, len(low), backend=backend)
    best = Incumbent(evaluator, low, high)
    if known is not None:
        best.offer(np.array(known, dtype=float)[:, None])
    return Chain.of(evaluator, (lo[:, None], hi[:, None]), goal or Goal(), best, memory_limit)


def after(chain: Chain, levels: int = 12) -> Chain:
    for _ in itertools.takewhile(lambda _: len(chain.levels) < levels, chain.steps()):
        pass
    return chain


def level_of(chain: Chain) -> Level:
    """The one that comes next, enclosed."""
    level = Level(chain.grid, chain.low, chain.high)
    for _ in level.enclose():
        pass
    return level


# ---- minimisers that are known
def searched(c: Case, goal: Goal, known: bool) -> Chain | None:
    """All steps, each of which keeps the minimiser and the bounds."""
    chain = chain_of(c.f, c.low, c.high, c.lo, c.hi, goal, c.at if known else None)
    for _ in () if chain is None else itertools.takewhile(lambda _: len(chain.levels) < 12, chain.steps()):
        assert not chain.empty and c.at in chain.unions, c.text
        assert chain.lower <= 0 <= chain.incumbent.upper, c.text
    assert chain is None or not chain.empty
    return chain


@pytest.mark.parametrize("first", range(0, 24, 8))
def test_a_minimiser_is_never_lost(first):
    runs, narrower = 0, 0
    for seed in range(first, first + 8):
        c = case(seed)
        chain = searched(c, Goal(xtol=1e-3 if seed % 2 else None), known=seed % 3 == 0)
        runs += chain is not None
        narrower += chain is not None and chain.unions.width < (c.hi - c.lo).max() / 8
    assert runs >= 3 and narrower >= 1


def places(low: float, high: float) -> list[float]:
    return [low, *(low + (high - low) * k / 8 for k in (1, 3, 4)), high, low + (high - low) / 3]


@pytest.mark.parametrize("at", [(0, 0, 0, 0), (2, 2, 2, 2), (0, 2, 0.5, 1), (0.25, 1.75, 2 / 3, 0)])
@pytest.mark.parametrize("slope", [0.0, 5.0, -1e3, 1e-9])
def test_slopes_that_cancel(at, slope):
    """Between neighbours slopes go up and down that no cell sees alone."""
    at = np.array(at)

    def f(x):
        d = x - at
        pairs = sum((d[i] - d[i + 1]) ** 2 + d[i] ** 2 + slope * (x[i] - x[i + 1]) for i in range(3))
        return pairs + d[3] ** 2 - slope * x[0] + slope * x[3]
    chain = after(chain_of(f, np.zeros(4), np.full(4, 2.0)))
    assert at in chain.unions and chain.lower <= 1e-12 * max(1, abs(slope))
    assert chain.lower >= -1e-5, "and they cost nothing"


def test_at_a_jump_the_lower_side_stays():
    for at in (0.0, 0.5, 1 / 3):
        chain = after(chain_of(lambda x, at=at: np.sum(np.where(x < at, 5.0, x - at)) + np.sum(x[1:] * x[:-1]) * 0,
                               [-1] * 4, [1] * 4))
        assert np.full(4, at) in chain.unions and chain.lower <= 0


def test_an_infimum_that_is_not_attained_stays_enclosed():
    """f falls to 0 at the jump, where it is 5."""
    chain = after(chain_of(lambda x: np.sum(np.where(x <= 0, 5.0, x)) + np.sum((x[1:] - x[:-1]) ** 2), [-1] * 3, [1] * 3))
    assert chain.lower <= 0 < chain.incumbent.upper and np.zeros(3) in chain.unions


def test_edges_of_the_domain():
    chain = after(chain_of(lambda x: np.sum(np.sqrt(x[1:] - x[:-1])) + np.sum(x**2), [-1] * 3, [1] * 3))
    assert np.zeros(3) in chain.unions and chain.lower <= 0
    chain = after(chain_of(lambda x: np.sum(x[1:] * x[:-1]) + np.sum(x * np.log(x)), [0] * 3, [1] * 3))
    assert chain.lower <= chain.incumbent.upper < -0.9


def test_a_condition_on_an_undefined_part():
    """Where the logarithm is undefined the comparison is false: the lowest values are there."""
    chain = after(chain_of(lambda x: np.sum(np.where(np.log(x[1:]) < 1, x[:-1] ** 2, -3 + x[1:] ** 2)), [-1] * 3, [1] * 3))
    assert chain.lower <= -6 and np.array([0.5, -1e-9, -1e-9]) in chain.unions


def test_f_that_is_nowhere_defined_leaves_nothing():
    for f in (lambda x: np.sqrt(-1 - x[0] ** 2 - x[1] ** 2) + x[1] * x[2],
              lambda x: np.sqrt(-1 - x[0] ** 2 - x[1] ** 2) + 1 / (x[1] * x[2]),
              lambda x: 1 / (x[0] * x[1]) + np.sqrt(-1 - x[1] ** 2 - x[2] ** 2)):
        assert after(chain_of(f, [-1] * 3, [1] * 3)).empty


def test_a_box_without_minimisers_is_empty_whatever_other_terms_are():
    """f rises in x[0] off the user's bound, while another term has no bound at all."""
    for f in (lambda x: np.exp(x[0] + x[1]) + 1 / (x[2] * x[1]), lambda x: x[0] + np.sin(x[0] * x[1]) / 4 + 1 / (x[2] * x[1])):
        chain = after(chain_of(f, [-2] * 3, [2] * 3, [-1] * 3, [1] * 3))
        assert chain.empty


def test_f_without_a_lower_bound():
    chain = after(chain_of(lambda x: 1 / (x[0] * x[1]) + x[1] * x[2], [-1] * 3, [1] * 3))
    assert chain.lower == -INF and not chain.empty and (chain.unions.counts > 0).all()


def test_minimisers_on_curves():
    chain = after(chain_of(lambda x: np.sum((x[1:] ** 2 + x[:-1] ** 2 - 1) ** 2), [-2] * 4, [2] * 4))
    for angle in np.linspace(0, 6, 13):
        u, v = np.cos(angle), np.sin(angle)
        inside = [np.array([a, b, a, b]) for a, b in ((u, v), (-u, v))]
        assert all(x + e in chain.unions for x in inside for e in [0.0]), angle
    assert chain.lower <= 0


def slopes_taken(level: Level, chosen: np.ndarray) -> list[Fraction]:
    """For each variable the sum of the slopes taken from all terms, where every variable is in one slice."""
    table, taken, bags = level._chosen(), [Fraction(0)] * len(level.low), 0
    for cells in level.grid.cells:
        rows, variables = level._rows(cells, table), cells.kind.variables[:, cells.bag[0]]
        for u in np.flatnonzero((cells.ids == chosen[variables]).all(axis=0)):
            bags += 1
            for place in range(cells.kind.k):
                taken[variables[place, u]] += Fraction(float(rows[cells.kind.k + place, u]))
    assert bags == level.grid.bags
    return taken


SUMS = {"a star": lambda x: np.sum(np.exp(x[0] / 3 + np.sin(x[1:]))) + np.sum(x**3),
        "a chain": lambda x: np.sum(x[1:] ** 3 * np.exp(x[:-1] / 3)),
        "a ring": lambda x: np.sum(np.sin(3 * x + np.roll(x, 1)) * 1e5),
        "triangles": lambda x: np.sum((x[0] - x[1] * x[2:]) ** 2 / 3),
        "a band": lambda x: np.sum(x[2:] * np.cos(x[1:-1]) + np.exp(x[:-2])) * 1e-7,
        "a tree": lambda x: np.sum(np.sin(x[[0, 0, 1, 1, 1, 2, 3]] * x[[1, 2, 3, 4, 5, 6, 7]]))}


@pytest.mark.parametrize("name", SUMS)
def test_slopes_are_taken_and_given_exactly(name):
    """Whatever the slices are, nothing is added to f: for each variable the slopes cancel, as real numbers."""
    chain = chain_of(SUMS[name], [-1.0] * 8, [1.25] * 8, memory_limit=INF)
    level, rng = level_of(chain), np.random.default_rng(1)
    assert np.abs(level._chosen()).max() > 0
    for _ in range(20):
        chosen = rng.integers(chain.grid.slices.first[:-1], chain.grid.slices.first[1:])
        assert slopes_taken(level, chosen) == [0] * 8


# ---- bounds
@pytest.mark.parametrize("scale", (1e300, 1e-300, 1e150, 5e-324 * 1024))
def test_huge_and_tiny_bounds(scale):
    chain = after(chain_of(lambda x: np.sum(np.abs(x[1:] - x[:-1])) + np.sum(np.abs(x)), [-scale] * 4, [scale / 2] * 4))
    assert chain.lower <= 0 <= chain.incumbent.upper and np.zeros(4) in chain.unions


def test_fixed_variables_and_variables_that_no_term_reads():
    chain = after(chain_of(lambda x: (x[0] - x[1]) ** 2 + (x[1] * x[3] - 1) ** 2 - x[1] * 0.1,
                           [0, 0.5, -1, -4, 3], [2, 0.5, 1, 4, 4]))
    assert np.array([0.5, 0.5, -1, 2, 3]) in chain.unions and np.array([0.5, 0.5, 1, 2, 4]) in chain.unions
    assert chain.lower <= -0.05 <= chain.incumbent.upper


def test_all_variables_fixed():
    chain = after(chain_of(lambda x: np.sum(x[1:] * x[:-1]), [1, 2, 3], [1, 2, 3]))
    assert chain.unions == Unions.of([[(1, 1)], [(2, 2)], [(3, 3)]]) and chain.lower <= 8 <= chain.incumbent.upper


def test_no_chain_where_there_is_none():
    assert chain_of(lambda x: np.sum(x[1:] * x[:-1]), [-INF] * 3, [INF] * 3) is None
    assert chain_of(lambda x: np.sum(x**2), [0] * 4, [1] * 4) is None, "separable functions are refined"
    assert chain_of(lambda x: x[0] * x[1] * x[2], [0] * 3, [1] * 3) is None
    assert chain_of(lambda x: np.sum(x) ** 2 + x[0] * x[1], [0] * 4, [1] * 4) is None
    assert chain_of(lambda x: x[0] * x[1], [0] * 2, [1] * 2) is None


def test_not_where_a_bag_has_very_many_terms():
    """Such as a fit of few parameters to many points: its terms together are one kernel, which would take long to compile."""
    t = np.linspace(0, 1, 200)
    assert chain_of(lambda x: np.sum((x[0] * np.exp(-x[1] * t) - x[2]) ** 2 + (x[2] * t - x[3]) ** 2), [0] * 4, [1] * 4) is None


def test_memory_limits_the_number_of_cells():
    def f(x):
        return np.sum(np.sin(9 * x[1:] * x[:-1]))
    chain = chain_of(f, [-4] * 4, [4] * 4, memory_limit=1e6)
    for _ in chain.steps():
        assert len(chain.grid) <= 1e6
    assert chain_of(f, [-4] * 4, [4] * 4, memory_limit=100) is None


# ---- the same as without
def written(seed: int):
    """Functions without a known minimum."""
    a = np.random.default_rng(seed).normal(size=(6, 3))
    return [lambda x: sum(np.sin(3 * x[i] * a[i, 0] + x[i + 1]) + a[i, 1] * np.abs(x[i] - a[i, 2]) for i in range(3)),
            lambda x: sum((x[i] * x[i + 1] - a[i, 0]) ** 2 for i in range(3)) + a[0, 1] * x[0] + np.floor(x[3] + a[1, 1]),
            lambda x: sum(np.exp(a[i, 0] * x[i]) * np.cos(x[(i + 1) % 4] * 2) for i in range(4)),
            lambda x: sum(np.maximum(x[i] * a[i, 0], x[i + 1]) * x[i + 2] for i in range(2)) + np.sum(np.abs(x)) / 2][seed % 4]


@pytest.mark.parametrize("seed", range(8))
def test_branch_and_bound_agrees(seed, monkeypatch):
    """Enclosures with and without it meet, and each one's regions hold the other's point."""
    f, bounds = written(seed), [(-1.5, 2)] * 4
    with_chain = infimum.minimize(f, bounds, max_boxes=200_000)
    taken = []
    monkeypatch.setattr(RootBox, "chain", lambda self, *limits: taken.append(self) or iter(()))
    without = infimum.minimize(f, bounds, max_boxes=200_000)
    assert taken
    assert with_chain.lower <= without.upper and without.lower <= with_chain.upper
    for one, other in ((with_chain, without), (without, with_chain)):
        if one.upper <= other.lower:
            assert one.x in other.regions


@pytest.mark.parametrize("seed", range(6))
def test_samples_that_are_best_stay(seed):
    """The best of very many points, and all within an ulp or so of it, are in what is left; none is below the bound."""
    f = written(seed)
    chain = chain_of(f, [-1.5] * 4, [2] * 4)
    e, rng = chain.incumbent.evaluator, np.random.default_rng(seed)
    x = rng.choice(np.array(places(-1.5, 2)), size=(4, 20000))
    x[:, ::2] = rng.uniform(-1.5, 2, size=(4, 10000))
    best = Incumbent(e, chain.low, chain.high)
    ends = best.improve(x[:, np.argsort(e.estimate(x))[:64]])
    after(chain)
    values = e.value(x, x)
    assert not (values.hi < chain.lower).any() and chain.lower <= best.upper
    exact = e.value(ends.x, ends.x)
    for k in np.flatnonzero(exact.hi <= min(best.upper, chain.incumbent.upper)):
        near = np.abs(chain.unions.hull[0] - ends.x[:, k]) < 1e-6  # a descent ends beside a minimiser, not on it
        assert ends.x[:, k] in chain.unions or near.any()


# ---- runs
def waves(x):
    return np.sum(np.sin(3 * x[1:]) * x[:-1] + np.cos(x[:-1] * x[1:])) + np.sum(x**2) / 8


def test_the_first_figures_of_a_run_do_not_depend_on_the_seed():
    runs = [infimum.minimize(waves, [(-3, 3)] * 6, seed=seed) for seed in (0, 1)]
    assert runs[0].verdict.name == "PROVED" and runs[0].lower == runs[1].lower


def test_many_variables_do_not_wait_for_sweeps_that_shrink_little():
    def rosenbrock(x):
        return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)
    r = infimum.minimize(rosenbrock, [(-5, 10)] * 50)
    assert r.verdict.name == "PROVED" and r.nit <= 20  # with the third round of the coordinate search 149 sweeps


def test_xtol_makes_regions_narrow():
    r = infimum.minimize(waves, [(-3, 3)] * 5, xtol=1e-4)
    assert r.verdict.name == "PROVED" and r.regions.width <= 1e-4
    assert min(np.abs(r.x - lo).max() for lo, _ in r.regions) < 1e-4


def test_what_stops_early_is_still_a_proof():
    whole = infimum.minimize(waves, [(-3, 3)] * 6)
    for limits in ({"max_boxes": 1}, {"max_boxes": 5000}, {"memory_limit": 1e5}, {"time_limit": 1e-9}, {"time_limit": 0.05}):
        r = infimum.minimize(waves, [(-3, 3)] * 6, **limits)
        assert r.lower <= whole.upper and whole.lower <= r.upper
        assert whole.x in r.regions


def test_a_run_is_resumed_after_it(tmp_path):
    """The box that it leaves goes into the checkpoint."""
    def f(x):
        return np.sum(np.abs(np.sin(5 * x[1:] * x[:-1]))) + (x[0] + x[2]) ** 2 / 9
    file = tmp_path / "run.npz"
    r = infimum.minimize(f, [(-2, 3)] * 4, max_boxes=40_000, checkpoint=str(file), xtol=1e-7)
    if file.exists():
        again = infimum.resume(file, f, max_boxes=80_000)
        assert again.lower >= r.lower and again.upper <= r.upper and np.zeros(4) in again.regions


# ---- known minima
def egg_holder(x):
    a, b = x[:-1], x[1:] + 47
    return -np.sum(b * np.sin(np.sqrt(np.abs(b + a / 2))) + a * np.sin(np.sqrt(np.abs(a - b))))


def rana(x):
    a, b = x[:-1], x[1:] + 1
    s, d = np.sqrt(np.abs(b + a)), np.sqrt(np.abs(b - a))
    return np.sum(a * np.cos(s) * np.sin(d) + b * np.sin(s) * np.cos(d))


def sine_envelope(x):
    r = x[1:] ** 2 + x[:-1] ** 2
    return -np.sum(0.5 + np.sin(np.sqrt(r) - 0.5) ** 2 / (0.001 * r + 1) ** 2)


@pytest.mark.parametrize(("f", "n", "reach", "minimum", "digit"), [
    (egg_holder, 10, 512, -8291.24006, 1e-5), (rana, 7, 512, -3070.24752, 1e-5), (sine_envelope, 5, 100, -5.96598114, 1e-8)])
def test_known_minima(f, n, reach, minimum, digit):
    """As far as their digits are known, cut off."""
    r = infimum.minimize(f, [(-reach, reach)] * n)
    assert r.verdict.name == "PROVED" and r.x in r.regions
    assert r.lower <= minimum and r.upper >= minimum - digit and r.upper - r.lower <= 1e-6 * abs(minimum)


@pytest.mark.parametrize("name", SUMS)
def test_few_entries_of_a_large_table_are_numbered(name, monkeypatch):
    """The table may be addressed directly or hold only what is written: the bounds are the same."""
    direct = after(chain_of(SUMS[name], [-1.0] * 8, [1.25] * 8), 4)
    monkeypatch.setattr(grid, "max", lambda *_: 0, raising=False)  # as if every table were too large
    numbered = after(chain_of(SUMS[name], [-1.0] * 8, [1.25] * 8), 4)
    assert numbered.grid.entries <= direct.grid.entries + 1
    assert numbered.lower == direct.lower > -INF and numbered.unions == direct.unions


def test_levels_see_nothing_but_their_grid():
    """Two levels of one grid have the same bounds, whatever was discarded in the first."""
    chain = chain_of(waves, [-3] * 4, [3] * 4)
    first, second = (level_of(chain) for _ in range(2))
    for level in (first, second):
        for _ in itertools.chain(level.discard(-1.0), level.discard_by_slopes(-1.0)):
            pass
    assert first.lower == second.lower and (first.alive == second.alive).all() and first.alive.any()


@pytest.mark.parametrize("name", ["a chain", "triangles"])
def test_a_gpu_has_the_same_bits(name, monkeypatch):
    """A pretended one: all levels there, and from the third on."""
    def levels(backend) -> tuple:
        chain = after(chain_of(SUMS[name], [-1.0] * 4, [1.25] * 4, backend=backend), 3)
        return chain.lower, chain.levels, chain.unions.lo.tobytes(), chain.incumbent.upper
    monkeypatch.setattr(grid.POLICY, "first_slices", 2)
    here = levels(None)
    installed(monkeypatch, memory=1 << 26)
    backend = CudaBackend()
    assert levels(backend) == here
    monkeypatch.setattr(Evaluator, "uses_gpu", lambda self, batch: batch > 40)
    assert levels(HybridBackend()) == here


def test_where_memory_ends_what_is_proved_stays(monkeypatch):
    """The bounds of the levels before hold, and branch and bound goes on from there."""
    def fun(x):
        return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (x[:-1] - 0.3) ** 2 + np.sin(9 * x[:-1]))
    whole = infimum.minimize(fun, [(-2, 2)] * 3)
    enclose, begun = Level.enclose, []

    def until_full(level):
        begun.append(level)
        if len(begun) > 3:
            raise MemoryError
        return enclose(level)
    monkeypatch.setattr(Level, "enclose", until_full)
    r = infimum.minimize(fun, [(-2, 2)] * 3)
    assert len(begun) == 4 and r.verdict.name == "PROVED" and r.nit > 0 == whole.nit
    assert r.lower <= whole.upper and whole.lower <= r.upper and whole.x in r.regions
