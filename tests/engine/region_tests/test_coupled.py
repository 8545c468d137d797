"""Sums of small terms that a scalar couples: no minimiser is lost, whatever the multipliers are, and bounds are bounds."""

import itertools

import numpy as np
import pytest
from flint import arb

import infimum
from infimum.chains import coupled, coupling_multipliers
from infimum.chains.coupled import CoupledChain, coupled_of
from infimum.chains.coupling_multipliers import MultiplierModel, derivatives
from infimum.chains.slice_nodes import Node, NodeLevel, joined
from infimum.engines import auto
from infimum.problem.settings import Goal
from infimum.problem.unions import Unions
from infimum.search.incumbent import Incumbent
from infimum.structure import products_as_sums
from tests.engine.region_tests.chain_cases import Case, case
from tests.oracle.arb_values import settled_value
from tests.oracle.walk import Special

INF = np.inf


@pytest.fixture(autouse=True)
def _as_the_library_computes():
    """Engines run where NumPy is told not to warn."""
    with np.errstate(all="ignore"):
        yield


def coupled_search(f, low, high, lo=None, hi=None, goal: Goal | None = None, known=None, **limits) -> CoupledChain | None:
    low, high = np.array(low, dtype=float), np.array(high, dtype=float)
    lo, hi = low if lo is None else np.array(lo, dtype=float), high if hi is None else np.array(hi, dtype=float)
    evaluator = infimum.compile(f, len(low))
    best = Incumbent(evaluator, low, high)
    if known is not None:
        best.offer(np.array(known, dtype=float)[:, None])
    limits = {"memory_limit": 3e6, "max_boxes": 4e6} | limits
    return coupled_of(evaluator, (lo[:, None], hi[:, None]), goal or Goal(), best, **limits)


def after(search: CoupledChain, rounds: int = 40) -> CoupledChain:
    for _ in itertools.takewhile(lambda _: len(search.levels) < rounds, search.steps()):
        pass
    return search


def scalars_at(coupling, x) -> list[arb]:
    s = [settled_value(scalar, x) for scalar in coupling.scalars]
    return s if coupling.signed is None else [arb(-1 if settled_value(coupling.signed, x) < 0 else 1), *s[1:]]


def level_of(node: Node, search: CoupledChain, **ends) -> NodeLevel:
    chosen = ends.get("lower", node.multipliers), ends.get("upper", node.multipliers)
    level = NodeLevel(node, *chosen, np.ones(len(node.grid), np.int64), *search.ends)
    for _ in level.enclose():
        pass
    return level


# ---- minimisers that are known: chains of `chain_cases`, whose minimum is 0 at a point, with a coupling that is 0 there
# functions of (the chain, the distances d from that point, the point)
COUPLINGS = {
    "a sum, squared": lambda f, d, at: f + np.sum(d) ** 2,
    "a sum at a kink": lambda f, d, at: f + np.abs(np.sum(d)),
    "a norm": lambda f, d, at: f + np.linalg.norm(d),
    "the root of a sum": lambda f, d, at: f + np.sqrt(np.abs(np.sum(d))),
    "an edge": lambda f, d, at: f + np.sqrt(np.sum(d)),
    "waves": lambda f, d, at: f + 1 - np.cos(3 * np.sum(d * np.arange(1, len(at) + 1))),
    "a jump": lambda f, d, at: f + np.floor(2 * np.sum(d**2)),
    "a condition": lambda f, d, at: f + np.where(np.sum(d) < 0, 0.5, np.sum(d)),
    "one side": lambda f, d, at: f + np.maximum(np.sum(d * np.abs(at)), 0),
    "a factor": lambda f, d, at: f * (1 + np.linalg.norm(d + at)),
    "a divisor": lambda f, d, at: f / (1 + np.sum((d + at) ** 2)),
    "a variance": lambda f, d, at: f + np.var(d),
    "a deviation": lambda f, d, at: f + np.std(d),
    "two scalars": lambda f, d, at: f + np.abs(np.sum(d)) * (2 - np.exp(-np.sum(d**2))),
    "slopes that cancel": lambda f, d, at: f + np.sum(2 * d) + (np.sum(d) - 1) ** 2 - 1,
    "terms that read it": lambda f, d, at: f + np.sum((d - np.sum(d) / 8) ** 2),
    "weights that cancel": lambda f, d, at: f - 3 * np.sum(d**2) + np.expm1(3 * np.sum(d**2)),
}


PRODUCTS = {
    "a positive one": lambda f, d, at: f + np.abs(np.prod(2 + np.sin(d)) - 2 ** len(at)),
    "a negative factor": lambda f, d, at: f + np.sqrt(np.abs(np.prod(np.sign(at + 9) * -np.exp(d)) - (-1) ** len(at))),
    "at 0": lambda f, d, at: f + np.prod(np.abs(d)),
    "its square": lambda f, d, at: f - (np.prod(np.cos(d)) - 1) * 20,
    "its sign": lambda f, d, at: f + np.abs(np.prod(d - 0.5) - np.prod(0.0 * at - 0.5)),
    "a wrong sign": lambda f, d, at: f + 1 + np.where(np.prod(d - 0.25) * (-1) ** len(at) > 0, -1, 0),
    "a root at 0": lambda f, d, at: f + np.prod(d**2) ** (1 / len(at)),
    "terms that read it": lambda f, d, at: f + np.sum((d - np.prod(np.sin(d)) / 8) ** 2),
}


def coupled_case(seed: int, couplings=COUPLINGS) -> Case:
    names = list(couplings)
    name, c = names[seed % len(names)], case(seed)
    f, at = c.f, c.at
    if len(at) < 4:
        return coupled_case(seed + 1000 * len(names), couplings)
    c.f = lambda x: couplings[name](f(x), x - at, at)
    c.text = f"{name}: {c.text}"
    return c


def searched(c: Case, seed: int, rounds: int = 6) -> CoupledChain | None:
    """All steps, each of which keeps the minimiser and the bounds."""
    search = coupled_search(c.f, c.low, c.high, c.lo, c.hi, Goal(xtol=1e-3 if seed % 2 else None), c.at if seed % 3 else None)
    if search is None:
        return None
    for _ in itertools.takewhile(lambda _: len(search.levels) < rounds, search.steps()):
        assert not search.empty and c.at in search.unions, c.text
        assert search.lower <= 0 <= search.incumbent.upper, c.text
    assert not search.empty, c.text
    return search


def test_a_minimiser_is_never_lost():
    runs, narrower = 0, 0
    for seed in range(len(COUPLINGS)):
        search = searched(c := coupled_case(seed), seed)
        runs += search is not None
        narrower += search is not None and search.unions.width < (c.hi - c.lo).max() / 8
    assert runs >= 15 and narrower >= 10


def test_a_minimiser_of_one_case_is_never_lost():
    """A case of the test above for the default run, which leaves that to the thorough one."""
    c = coupled_case(4)
    assert searched(c, 4).unions.width < (c.hi - c.lo).max()


def test_nor_where_a_product_couples(monkeypatch):
    """Also where much of it is cut off."""
    runs = []
    for cut in (products_as_sums._CUT, 2.0**-6):
        monkeypatch.setattr(products_as_sums, "_CUT", cut)
        runs += [searched(coupled_case(seed, PRODUCTS), seed) is not None for seed in range(2 * len(PRODUCTS))]
    assert sum(runs) >= 24


MORE_PRODUCTS = {  # with a second scalar, and where the product is 0 or nothing
    "only at 0": lambda f, d, at: f + np.where(np.prod(d) == 0, 0, 0.3),
    "two of them": lambda f, d, at: f + np.abs(np.prod(2 + np.sin(d)) - 2 ** len(at)) + np.prod(np.abs(d)),
    "in a norm": lambda f, d, at: f + np.linalg.norm(d * np.prod(1 + np.abs(d))),
}


def test_nor_where_a_product_and_another_scalar_couple(monkeypatch):
    monkeypatch.setattr(products_as_sums, "_CUT", 2.0**-6)
    assert all(searched(coupled_case(seed, MORE_PRODUCTS), seed, rounds=4) is not None for seed in (0, 1, 2))


def test_a_product_that_is_undefined_where_f_is_not():
    """The minimum is -1, at x[0] = -1, where the root has no value and the condition is false."""
    def f(x):
        return np.where(np.prod(np.sqrt(x)) >= 0, np.sum(x**2), x[0])
    assert coupled_search(f, [-1] * 4, [1] * 4) is None
    assert coupled_search(f, [0] * 4, [1] * 4) is not None


@pytest.mark.parametrize("guarded", [True, False])
def test_nor_by_derivatives_where_a_product_is_cut_off(guarded, monkeypatch):
    """The minimum is -6 at (1/128, 1, 1, 1), where the product balances another slope. Cut off, it has none."""
    monkeypatch.setattr(products_as_sums, "_CUT", 2.0**-6)
    def f(x):
        return 50 * (x[0] - 1 / 128) ** 2 + x[0] - 2 * np.sum(x[1:]) - np.prod(x)
    search = coupled_search(f, [0] * 4, [1] * 4, known=[1 / 128, 1, 1, 1])
    search.above = search.above if guarded else search.above - INF
    after(search, 30)
    assert guarded == (not search.empty and np.array([1 / 128, 1, 1, 1]) in search.unions)


def at_random(seed: int):
    """Multipliers that nothing was thought about."""
    rng = np.random.default_rng(seed)

    def best(self, bound, enough):
        return rng.normal(size=self.node.scalars) * rng.choice((0.1, 1, 10, 1e4)), 1.0
    return best


def test_nor_with_any_other_multipliers(monkeypatch):
    for seed in (35, 37, 38, 42, 52, 54, 62):
        monkeypatch.setattr(MultiplierModel, "best", at_random(seed))
        assert searched(coupled_case(seed), seed) is not None


# ---- what would lose one is found
def forgets_a_part(original):
    return lambda *args: original(*args)[:1]


def narrower(original):
    """The slice of the scalar is not what it is said to be."""
    def within(self, lo, hi):
        return original(self, lo + (hi - lo) * 0.1, hi)
    return within


def with_multipliers_as_derivatives(node, level):
    return node.multipliers, node.multipliers


def of_the_best_cells(original):
    """Derivatives by scalars of some cells, not of all."""
    def found(node, level):
        ends = original(node, level)
        return None if ends is None else (ends[0] * 0.5 + ends[1] * 0.5,) * 2
    return found


def not_itself(original):
    """λ G without - λ s."""
    def of(*args):
        found = original(*args)
        if found is not None:
            found.families[:] = [family for family in found.families if not (family.value.op == "neg" and family.count == 1)]
        return found
    return of


MUTATIONS = {  # with cases that show them
    "a half of a scalar's slice": (Node, "by_scalar", forgets_a_part, (0, 1)),
    "slices that do not cover": (Node, "within", narrower, (2, 4)),
    "multipliers taken for derivatives": (coupled, "derivatives", lambda _: with_multipliers_as_derivatives, (18, 48)),
    "one derivative for all": (coupled, "derivatives", of_the_best_cells, (5, 25)),
    "no constraint": (coupled, "coupling_of", not_itself, (27, 61)),
    "unions of one node": (coupled, "joined", lambda original: lambda parts: parts[-1], (27, 38)),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_what_would_lose_a_minimiser_is_found(name, monkeypatch):
    owner, attribute, mutated, seeds = MUTATIONS[name]
    monkeypatch.setattr(owner, attribute, mutated(getattr(owner, attribute)))
    with pytest.raises(AssertionError):
        for seed in seeds:
            searched(coupled_case(seed), seed)


def holds(node: Node, x: np.ndarray, s: np.ndarray) -> bool:
    """Has every bag a cell that x is in, and do the slices hold the scalars?"""
    point, slices, held = np.concatenate([x, s]), node.grid.slices, set()
    for cells in node.grid.cells:
        at = point[cells.kind.variables[:, cells.bag[0]]]
        inside = ((slices.lo[cells.ids] <= at) & (at <= slices.hi[cells.ids])).all(axis=0)
        held.update(cells.kind.bags[cells.bag[0, inside]].tolist())
    return len(held) == node.grid.bags


def test_dividing_a_node_loses_no_point():
    """Nor do points at the ends of slices get lost."""
    search, rng = coupled_search(WRITTEN["two"], [-2] * 5, [2] * 5), np.random.default_rng(1)
    node = search.nodes[0]
    ways = [Node.by_variable, lambda n: n.by_scalar([1.0, 0.5]), lambda n: n.by_scalar([0.5, 1.0]), lambda n: n.finer(10**6)]
    for step in range(24):
        lo, hi, _ = node.slices
        points = [(rng.integers(-16, 17, 5) / 8, lo + (hi - lo) * rng.choice((0, 0.5, 1, 0.3), 2)) for _ in range(60)]
        inside = [point for point in points if holds(node, *point)]
        parts = ways[step % (4 if step < 8 else 3)](node)
        assert len(parts) > 0 and all(any(holds(part, *point) for part in parts) for point in inside)
        node = max(parts, key=lambda part: sum(holds(part, *point) for point in inside))
        if step % 5 == 4:  # spaces between slices
            alive = rng.random(len(node.grid)) < 0.9
            fewer = node.only(alive)
            every = all(len(np.unique(cells.bag)) == len(cells.kind.bags) for cells in fewer.grid.cells)
            node = fewer if every else node


def test_dividing_a_node_does_not_change_it():
    search = coupled_search(WRITTEN["two"], [-2] * 5, [2] * 5)
    node = search.nodes[0].finer(10**6)[0]
    before = [(cells.ids.copy(), cells.bag.copy(), cells.begin, cells.starts.copy()) for cells in node.grid.cells]
    links, lower = [link.copy() for link in node.grid.links], node.grid.slices.lo.copy()
    every_other = np.arange(len(node.grid)) % 2
    assert node.finer(10**6) and node.by_variable() and node.by_scalar([1.0, 0.5]) and len(node.only(every_other).grid) > 0
    level_of(node.moved(np.ones(2)), search)
    for cells, parts in zip(node.grid.cells, before, strict=True):
        assert all(np.array_equal(*pair) for pair in zip((cells.ids, cells.bag, cells.begin, cells.starts), parts, strict=True))
    assert all(map(np.array_equal, node.grid.links, links)) and np.array_equal(node.grid.slices.lo, lower)
    assert any(np.isnan(kind.constants).any() for kind in node.grid.kinds), "multipliers are marks as before"


def test_a_node_that_lost_all_cells_of_a_kind_holds_nothing():
    search = coupled_search(WRITTEN["two"], [-2] * 5, [2] * 5)
    for cells in search.nodes[0].grid.cells:
        alive = np.ones(len(search.nodes[0].grid), np.int64)
        alive[cells.begin:cells.begin + len(cells)] = 0
        search.nodes = [search.nodes[0].only(alive)]
        assert after(search).empty
        search = coupled_search(WRITTEN["two"], [-2] * 5, [2] * 5)


# ---- bounds against Arb
WRITTEN = {
    "a mean": lambda x: np.sum(np.sin(3 * x[1:]) * x[:-1]) + 0.1 * (np.mean(x) - 1) ** 2,
    "a norm": lambda x: np.sum(np.cos(3 * x[1:] * x[:-1])) * np.exp(-np.linalg.norm(x)),
    "a deviation": lambda x: np.sum(np.abs(x[1:] - x[:-1] ** 2)) + 3 * np.std(x),
    "terms that read it": lambda x: np.sum((x - np.mean(x)) ** 2 * np.cos(2 * x)),
    "two": lambda x: np.sum(x[1:] * x[:-1]) * np.cos(np.sum(x)) + np.sum(x**2) ** 2 / 20,
    "a product": lambda x: np.sum(np.sin(3 * x[1:]) * x[:-1]) - 3 * np.prod(1.5 + np.cos(x)),
    "factors that may be 0": lambda x: np.sum(np.sin(3 * x[1:]) * x[:-1]) - 9 * np.prod(np.abs(x)) ** 0.3,
    "signs": lambda x: np.sum(np.sin(3 * x[1:]) * x[:-1]) + 3 * np.prod(2 * np.cos(2 * x)),
    "roots": lambda x: np.sum(np.sqrt(np.abs(x[1:] - x[:-1]))) + np.log(1 + np.sum(x) ** 2),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_bounds_hold_at_points_whose_scalars_are_in_the_slices(name):
    """For nodes and multipliers at random, and points of cells: f, and the scalars, are those of Arb."""
    search, rng, held = coupled_search(WRITTEN[name], [-2] * 5, [1.5] * 5), np.random.default_rng(3), 0
    f = search.incumbent.evaluator.f
    found = coupled.coupling_of(f, 5, lambda node: coupled.elements_on(node, np.full(5, -2.0), np.full(5, 1.5)))
    for _ in range(12):
        node = search.nodes[rng.integers(len(search.nodes))]
        for _ in range(rng.integers(1, 6)):
            parts = node.by_scalar(rng.random(node.scalars).tolist()) if rng.random() < 0.6 else node.finer(10**5)
            node = parts[rng.integers(len(parts))] if parts else node
        node = node.moved(rng.normal(size=node.scalars) * rng.choice((0, 0.3, 3)))
        level = level_of(node, search)
        for _ in itertools.chain(level.discard(INF), level.discard_by_slopes(INF)):
            pass
        lo, hi, _ = node.slices
        for x in rng.integers(-16, 13, (40, 5)) / 8:
            s = scalars_at(found, x)
            inside = all(v >= arb(float(a)) and v <= arb(float(b)) for v, a, b in zip(s, lo, hi, strict=True))
            value = settled_value(f, x)
            if inside and not isinstance(value, Special):
                assert not value < arb(level.lower), (x, node.slices, node.multipliers)
                held += 1
    assert held > 20


def test_derivatives_by_scalars_are_enclosed():
    """F = Σ sin(3 x_i) (x_i - s)² + exp(s / 3): its derivative by s, where s is the sum of all x."""
    search = coupled_search(lambda x: np.sum(np.sin(3 * x) * (x - np.sum(x)) ** 2) + np.exp(np.sum(x) / 3), [-1] * 4, [1] * 4)
    rng, node = np.random.default_rng(5), search.nodes[0]
    for _ in range(6):
        node = node.finer(10**6)[0].by_scalar([1.0])[int(rng.integers(2))].moved(rng.normal(size=1))
        lower, upper = derivatives(node, level_of(node, search))
        lo, hi, _ = node.slices
        for x in rng.uniform(-1, 1, (200, 4)):
            s = x.sum()
            if lo[0] + 1e-9 < s < hi[0] - 1e-9:
                slope = np.sum(-2 * np.sin(3 * x) * (x - s)) + np.exp(s / 3) / 3
                assert lower[0] <= slope + 1e-9 and slope - 1e-9 <= upper[0]


def test_one_scalar_in_another_has_no_first_order_test():
    """A derivative by the inner one would need that by the outer one."""
    search = coupled_search(WRITTEN["a deviation"], [-2] * 5, [1.5] * 5)
    assert (search.above == INF).all() and (coupled_search(WRITTEN["a mean"], [-2] * 5, [1.5] * 5).above == -INF).all()


# ---- unions of nodes
@pytest.mark.parametrize("seed", range(20))
def test_joined_unions_hold_what_any_holds(seed):
    rng = np.random.default_rng(seed)

    def random_unions():
        pairs = []
        for _ in range(3):
            ends = np.unique(rng.integers(0, 33, 2 * rng.integers(1, 5)))
            pairs.append([(a, b) for a, b in zip(ends, ends[1:], strict=False) if rng.random() < 0.6] or [(ends[0], ends[0])])
        return Unions.of(pairs)
    parts = [random_unions() for _ in range(rng.integers(1, 5))]
    whole = joined(parts)
    for i in range(3):
        for x in np.arange(0, 33, 0.5):
            inside = [((part[i][:, 0] <= x) & (x <= part[i][:, 1])).any() for part in parts]
            assert ((whole[i][:, 0] <= x) & (x <= whole[i][:, 1])).any() == any(inside)
        assert (whole[i][1:, 0] >= whole[i][:-1, 1]).all() and whole.width <= max(part.width for part in parts)


# ---- where it is used
def test_no_search_where_it_would_not_be_right():
    low, high = [-1] * 5, [2] * 5
    assert coupled_search(lambda x: np.sum(x) ** 2, [-1] * 3, [1] * 3) is None, "few variables are one term"
    assert coupled_search(lambda x: np.sum(x) ** 2 + x[0] * x[1], [-INF] * 5, [INF] * 5) is None
    assert coupled_search(lambda x: np.exp(np.sum(1 / x)) + x[0] * x[1], low, high) is None, "the scalar has no bounds"
    assert coupled_search(lambda x: np.sum((x[:, None] - x) ** 2 * np.sin(x)) ** 2, low, high) is None, "all pairs"
    assert coupled_search(lambda x: np.sum(np.sqrt(-1 - x**2)) ** 2, low, high) is None, "the scalar is nowhere defined"
    assert coupled_search(lambda x: np.sum(x[1:] * x[:-1]) + np.mean(x) ** 2, low, high, memory_limit=100) is None


def test_a_scalar_that_is_undefined_where_the_function_is_not():
    """The lowest values are where the sum is undefined, and the comparison false."""
    def f(x):
        return np.where(np.sum(np.sqrt(x)) < 9, 0.0, np.sum(x**2) - 3)
    assert coupled_search(f, [-1] * 5, [1] * 5) is None
    assert coupled_search(f, [0.5] * 5, [1] * 5) is not None


def test_where_the_function_is_undefined_with_its_scalar():
    search = after(coupled_search(lambda x: np.sum(np.sqrt(x)) ** 2 + np.sum((x[1:] - x[:-1]) ** 2), [-1] * 5, [1] * 5))
    assert np.zeros(5) in search.unions and search.lower <= 0


# ---- known minima
def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


KNOWN = {  # function, reach, minimum
    "Rosenbrock and a mean": (lambda x: rosenbrock(x) + (np.mean(x) - 1) ** 2, 5, lambda n: 0.0),
    "Rosenbrock times a norm": (lambda x: rosenbrock(x) * (1 + np.linalg.norm(x)), 5, lambda n: 0.0),
    "squares and a sum": (lambda x: np.sum((x - 1) ** 2) + np.sum((x[1:] - x[:-1]) ** 2) + np.sum(x) ** 2, 3,
                          lambda n: n**2 / (n + 1)),
    "squares and a norm": (lambda x: np.sum((x - 1) ** 2) + np.sum((x[1:] - x[:-1]) ** 2) + np.linalg.norm(x), 3,
                           lambda n: np.sqrt(n) - 0.25),
    "Rosenbrock and a product": (lambda x: rosenbrock(x) + (np.prod(2 + x / 2) - 2.5 ** len(x)) ** 2, 3, lambda n: 0.0),
    "Rosenbrock and signs": (lambda x: rosenbrock(x) + 9 * (np.prod(x) - 1) ** 2, 3, lambda n: 0.0),
    "squares and cosines": (lambda x: np.sum((x - 1) ** 2) + np.sum((x[1:] - x[:-1]) ** 2) - 9 * np.prod(np.cos(2 * x - 2)), 3,
                            lambda n: -9.0),
    "waves in a corner": (lambda x: np.sum(np.cos(x[1:] - x[:-1]) * (x[1:] + 9)) * -1 + np.exp(-np.mean(x)), np.pi,
                          lambda n: -(n - 1) * (np.pi + 9) + np.exp(-np.pi)),
}


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("n", [4, 9])
def test_known_minima(name, n):
    f, reach, minimum = KNOWN[name]
    search = after(coupled_search(f, [-reach] * n, [reach] * n, max_boxes=INF), 60)
    value, blur = minimum(n), 1e-12 * (1 + abs(minimum(n)))
    assert search.lower <= value + blur and search.incumbent.upper >= value - blur
    assert search.goal.met(search.lower, search.incumbent.upper)


def waves(x):
    return np.sum(np.sin(3 * x[1:]) * x[:-1] + np.cos(x[:-1] * x[1:])) + np.sum(x**2) / 8 + 0.1 * (np.mean(x) - 1) ** 2


def test_branch_and_bound_hands_it_over(monkeypatch):
    r = infimum.minimize(waves, [(-3, 3)] * 10)
    assert r.verdict.name == "PROVED" and r.x in r.regions and r.nit < auto.POLICY.coupled_chain_steps[1]
    narrow = infimum.minimize(waves, [(-3, 3)] * 6, xtol=1e-4)
    assert narrow.verdict.name == "PROVED" and narrow.regions.width <= 1e-4
    assert min(np.abs(narrow.x - lo).max() for lo, _ in narrow.regions) < 1e-4
    monkeypatch.setattr(auto, "coupled_of", lambda *_: None)
    without = infimum.minimize(waves, [(-3, 3)] * 10, max_boxes=200_000)
    assert without.verdict.name == "STOPPED" and without.upper - without.lower > 1
    assert without.lower <= r.upper and r.lower <= without.upper and r.x in without.regions


def test_branch_and_bound_goes_on_where_few_regions_are_left(monkeypatch):
    monkeypatch.setattr(auto, "coupled_of", lambda *_: pytest.fail("it discards nearly all"))
    p = infimum.problems.get("happy_cat", 10)
    r = infimum.minimize(p.fun, p.bounds)
    assert r.verdict.name == "PROVED" and r.nit > auto.POLICY.coupled_chain_steps[0]


@pytest.mark.parametrize("name", WRITTEN)
def test_branch_and_bound_agrees(name, monkeypatch):
    """Enclosures with and without it meet."""
    search = after(coupled_search(WRITTEN[name], [-1.5] * 4, [1] * 4), 30)
    monkeypatch.setattr(auto, "coupled_of", lambda *_: None)
    without = infimum.minimize(WRITTEN[name], [(-1.5, 1)] * 4, max_boxes=200_000)
    assert search.lower <= without.upper and without.lower <= search.incumbent.upper
    if without.upper <= search.lower:
        assert without.x in search.unions


def test_what_stops_early_is_still_a_proof():
    whole = infimum.minimize(waves, [(-3, 3)] * 8)
    for limits in ({"max_boxes": 20_000}, {"memory_limit": 1e6}, {"time_limit": 0.2}):
        r = infimum.minimize(waves, [(-3, 3)] * 8, **limits)
        assert r.lower <= whole.upper and whole.lower <= r.upper and whole.x in r.regions


def test_huge_multipliers_are_not_tried(monkeypatch):
    monkeypatch.setattr(coupling_multipliers, "_LARGEST", 0.5)
    search = after(coupled_search(waves, [-3] * 5, [3] * 5), 12)
    assert all((np.abs(node.multipliers) < 0.5).all() for node in search.nodes)
