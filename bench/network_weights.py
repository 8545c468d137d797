"""Networks of Alpine02 on [3, 9]^d, d-60-1 with tanh, d = 2 ... 6: their weights, and how far they are from the function.

The weights were trained by `bench/train_networks.py` and are kept in bench/network_weights, rounded to numbers of single
precision: few digits are exact then, and a network is the same real function wherever it is read.

    network = alpine02_network(3)
    infimum.maximize(network, [DOMAIN] * 3)
"""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).with_suffix("")
DIMENSIONS = (2, 3, 4, 5, 6)
DOMAIN = (3.0, 9.0)
SHAPES = {"w1": 2, "b1": 1, "w2": 1, "b2": 0}  # how many indices each array has
FIT_POINTS, FIT_SEED = 200_000, 12345

Weights = dict[str, np.ndarray]


def file_of(d: int) -> Path:
    return FOLDER / f"alpine02-{d}.json"


def read(d: int) -> Weights:
    """w1 (d, 60), b1 (60), w2 (60), b2 (): doubles that are numbers of single precision."""
    kept = json.loads(file_of(d).read_text())
    return {name: np.array(kept[name], dtype=float) for name in SHAPES}


def write(d: int, weights: Weights) -> None:
    """Rounds to single precision. The shortest digits of such a number, read as a double, are not that number: its exact
    double is written."""
    kept = {name: np.float32(weights[name]).astype(float).tolist() for name in SHAPES}
    text = ",\n".join(f'"{name}": {json.dumps(value)}' for name, value in kept.items())
    file_of(d).write_text("{" + text + "}\n")


def alpine02(x: np.ndarray) -> np.ndarray:
    """Of points (..., d)."""
    return np.prod(np.sqrt(x) * np.sin(x), axis=-1)


def network(weights: Weights, x: Any) -> Any:
    """Of a point (d), traced or not, or of points (N, d), not scaled."""
    return np.tanh(x @ weights["w1"] + weights["b1"]) @ weights["w2"] + weights["b2"]


def alpine02_network(d: int) -> Callable[[Any], Any]:
    return partial(network, read(d))


def fit_error(weights: Weights) -> tuple[float, float, float]:
    """Root mean square and largest error at random points, none of which it was trained with, and the standard deviation of
    the function there."""
    d = len(weights["w1"])
    points = np.random.default_rng(FIT_SEED).uniform(*DOMAIN, (FIT_POINTS, d))
    values = alpine02(points)
    error = network(weights, points) - values
    return float(np.sqrt(np.mean(error**2))), float(np.abs(error).max()), float(np.std(values))


def said(d: int) -> str:
    """The error of the network in a line."""
    square, largest, deviation = fit_error(read(d))
    return (f"network of Alpine02, {d}-60-1: fit error {100 * square / deviation:.2f} % of the standard deviation "
            f"(root mean square {square:.3g} of {deviation:.3g}, largest {largest:.3g})")
