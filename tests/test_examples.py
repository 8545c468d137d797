"""The examples run, and what they prove agrees with what is known in other ways."""

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy.optimize import least_squares, minimize_scalar

FOLDER = Path(__file__).resolve().parent.parent / "examples"
FILES = sorted(path.stem for path in FOLDER.glob("*.py"))


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"examples_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", FILES)
def test_it_prints_its_verdict(name, capsys):
    load(name).main()
    assert "PROVED" in capsys.readouterr().out


def test_six_hump_camel():
    r = load("six_hump_camel").solve()
    assert r.verdict.name == "PROVED" and r.lower <= -1.0316284534898774 <= r.upper
    assert len(r.boxes) == 2 and all((hi - lo).max() <= 1e-6 for lo, hi in r.boxes)


def test_curve_fit():
    example = load("curve_fit")
    known = least_squares(lambda p: p[0] * np.sin(p[1] * example.TIMES + p[2]) - example.READINGS, [2, 3.1, 0.4], xtol=1e-15)
    r = example.solve()
    assert r.verdict.name == "PROVED" and r.lower <= 2 * known.cost <= r.upper * (1 + 1e-12)
    assert sum(m.value > r.upper + 1 for m in example.local_minima().minima) >= 3


def test_three_atoms():
    """Without the three-body term each pair can have its lowest energy, -1; the chain has one variable."""
    example = load("three_atoms")
    r = example.solve(0.0)
    assert r.verdict.name == "PROVED" and r.lower <= -3 <= r.upper and example.shape(r).startswith("triangle")
    chain = minimize_scalar(lambda a: 2 * example.pair(a) + example.pair(2 * a) - 2 / (2 * a**3) ** 3, (0.9, 1, 1.1))
    r = example.solve(1.0)
    assert r.verdict.name == "PROVED" and r.lower <= chain.fun <= r.upper + 1e-12 and example.shape(r).startswith("chain")


def test_robot_arm():
    example = load("robot_arm")
    near, far = example.solve((1.2, 0.9)), example.solve((0.1, 0.1))
    assert near.verdict.name == far.verdict.name == "PROVED"
    assert near.lower == 0 and near.upper < 1e-12
    poses = np.cumsum(np.meshgrid(*[np.linspace(low, high, 41) for low, high in example.LIMITS], indexing="ij"), axis=0)
    tips = [np.tensordot(example.LINKS, turn(poses), 1) - 0.1 for turn in (np.cos, np.sin)]
    assert 0.29 < far.lower <= np.hypot(*tips).min() + 1e-12 and np.hypot(*tips).min() <= far.upper + 1e-12


def test_neural_network():
    example = load("neural_network")
    low, high = example.solve()
    assert low.verdict.name == high.verdict.name == "PROVED"
    grid = np.stack([a.ravel() for a in np.meshgrid(*[np.linspace(-1, 1, 201)] * 2)])
    values = example.OUTPUT @ np.tanh(example.HIDDEN @ grid + example.HIDDEN_BIAS[:, None]) + example.OUTPUT_BIAS
    assert low.lower <= values.min() <= low.upper + 1e-3 and -high.upper - 1e-3 <= values.max() <= -high.lower


def test_phase_stability():
    example = load("phase_stability")
    splits, stays = example.solve((0.45, 0.45, 0.1)), example.solve((0.2, 0.2, 0.6))
    assert splits.verdict.name == stays.verdict.name == "PROVED"
    assert splits.upper < -0.07
    assert -1e-5 <= stays.lower <= 0 <= stays.upper <= 1e-12
    assert all((lo <= [0.2, 0.25]).all() and ([0.2, 0.25] <= hi).all() for lo, hi in stays.boxes)


def test_surrogate():
    """The lower confidence bound is nowhere lower on a grid than was proved."""
    example = load("surrogate")
    found = example.solve()
    assert [r.verdict.name for r in found] == ["PROVED"] * example.STEPS
    points = np.array([[-1.2, -1.0], [-1.1, 1.2], [0.0, 0.1], [1.2, -1.1], [1.0, 1.1], [-0.3, -1.3]])
    bound = example.confidence_bound(points, np.array([example.experiment(p) for p in points]))
    grid = min(bound(np.array([a, c])) for a in np.linspace(-1.5, 1.5, 31) for c in np.linspace(-1.5, 1.5, 31))
    assert found[0].lower <= grid + 1e-12 and found[0].upper <= grid + 0.01
