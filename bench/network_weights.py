"""Trained networks with tanh, their weights and how far they are from the functions they were trained to be like.

Alpine02 on [3, 9]^d, d-60-1, d = 2 ... 6, and peaks on [-3, 3]^2, 2-10-8-1. The weights were trained by `bench/train_networks.py`
and are kept in bench/network_weights, rounded to numbers of single precision: files are small, and a network is the same real
function wherever it is read. Inputs and outputs are not scaled.

    weights = read(3)
    infimum.maximize(lambda x: network(weights, x), DOMAINS[3])
"""

import json
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from bench.provers import peaks as peaks_of_point

FOLDER = Path(__file__).with_suffix("")
DIMENSIONS, HIDDEN, PEAKS = (2, 3, 4, 5, 6), 60, "peaks"  # of the networks of Alpine02
NAMES = (PEAKS, *DIMENSIONS)
SIZES = {PEAKS: (2, 10, 8, 1)} | {d: (d, HIDDEN, 1) for d in DIMENSIONS}
DOMAINS = {PEAKS: ((-3.0, 3.0),) * 2} | {d: ((3.0, 9.0),) * d for d in DIMENSIONS}
FIT_POINTS, FIT_SEED = 200_000, 12345

Weights = dict[str, np.ndarray]  # w1 (inputs, neurons), b1 (neurons), …; those of the output have no index for it
Name = int | str                 # the number of variables of Alpine02, or PEAKS


def alpine02(x: Any) -> Any:
    """Of points (..., d)."""
    return np.prod(np.sqrt(x) * np.sin(x), axis=-1)


def peaks(x: Any) -> Any:
    """Of points (..., 2)."""
    return peaks_of_point((x[..., 0], x[..., 1]))


FUNCTIONS = {PEAKS: peaks} | dict.fromkeys(DIMENSIONS, alpine02)


def file_of(name: Name) -> Path:
    return FOLDER / (f"{name}.json" if name == PEAKS else f"alpine02-{name}.json")


def read(name: Name) -> Weights:
    """Doubles that are numbers of single precision."""
    return {key: np.array(value, dtype=float) for key, value in json.loads(file_of(name).read_text()).items()}


def write(name: Name, weights: Weights) -> None:
    """Rounded to single precision. The digits are those of doubles: read as doubles, they are these numbers exactly."""
    kept = {key: np.float32(value).astype(float).tolist() for key, value in weights.items()}
    file_of(name).write_text("{" + ",\n".join(f'"{key}": {json.dumps(value)}' for key, value in kept.items()) + "}\n")


def read_peaks_of_maingo(path: Path) -> Weights:
    """Those of the example that MAiNGO ships, a JSON file with layers and the ends to which inputs and outputs are scaled: the
    scaling becomes part of the weights, in doubles, which changes them by no more than their last digits."""
    kept = json.loads(path.read_text())
    low, high, least, most = (np.array(kept[key]) for key in ("in_lo", "in_hi", "out_lo", "out_hi"))
    weights = {f"{letter}{k}": np.array(part).T for k, layer in enumerate(kept["layers"], 1)
               for letter, part in zip("wb", layer[:2], strict=True)}
    last = len(kept["layers"])
    weights["b1"] = weights["b1"] - (high + low) / (high - low) @ weights["w1"]
    weights["w1"] = weights["w1"] * (2 / (high - low))[:, None]
    half = (most[0] - least[0]) / 2
    weights[f"w{last}"], weights[f"b{last}"] = (weights[f"w{last}"][:, 0] * half,
                                                 (weights[f"b{last}"][0] + 1) * half + least[0])
    return weights


def network(weights: Weights, x: Any) -> Any:
    """Of a point (d), traced or not, or of points (N, d)."""
    last = len(weights) // 2
    for k in range(1, last):
        x = np.tanh(x @ weights[f"w{k}"] + weights[f"b{k}"])
    return x @ weights[f"w{last}"] + weights[f"b{last}"]


def fit_error(name: Name, weights: Weights) -> tuple[float, float, float]:
    """Root mean square and largest error at random points, none of which it was trained with, and the standard deviation of
    the function there."""
    points, values = _points(name)
    error = network(weights, points) - values
    return float(np.sqrt(np.mean(error**2))), float(np.abs(error).max()), float(np.std(values))


@cache
def _points(name: Name) -> tuple[np.ndarray, np.ndarray]:
    points = np.random.default_rng(FIT_SEED).uniform(*np.array(DOMAINS[name]).T, (FIT_POINTS, len(DOMAINS[name])))
    return points, FUNCTIONS[name](points)


def said(name: Name, weights: Weights) -> str:
    """The error of the network in a line."""
    square, largest, deviation = fit_error(name, weights)
    what = f"{'peaks' if name == PEAKS else 'Alpine02'}, {'-'.join(map(str, SIZES[name]))}"
    return (f"network of {what}: fit error {100 * square / deviation:.2f} % of the standard deviation "
            f"(root mean square {square:.3g} of {deviation:.3g}, largest {largest:.3g})")


def callable_of(name: Name) -> Any:
    """The network as a function of a point."""
    return partial(network, read(name))
