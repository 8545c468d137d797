"""Trains the networks of `bench/network_weights.py`: Alpine02 on [3, 9]^d, one hidden layer of 60 tanh, fixed seed.

    python -m bench.train_networks [d ...]    writes bench/network_weights/alpine02-d.json and prints the error of the fit

Adam on random minibatches, then Levenberg-Marquardt on all samples at once, which comes much closer: with (d + 2) 60 + 1 weights
its normal equations are small. A penalty on the squares of the weights keeps them moderate. Sums of floating point numbers
depend on the machine in their last bits and training magnifies that, so the weights are kept; another run gives networks of
about the same error.
"""

import argparse
import sys

import numpy as np

from bench.network_weights import DIMENSIONS, DOMAIN, Weights, alpine02, said, write
from bench.table import timed

HIDDEN, SEED = 60, 0
EPOCHS, BATCH, RATE = 60, 128, 5e-3
PENALTY = 1e-6  # times the sum of the squared weights, beside the mean of the squared errors
MIDDLE, HALF = sum(DOMAIN) / 2, (DOMAIN[1] - DOMAIN[0]) / 2
SAMPLES = {2: 6_000, 3: 12_000, 4: 20_000, 5: 24_000, 6: 24_000}
STEPS = {2: 300, 3: 300, 4: 250, 5: 200, 6: 200}  # of Levenberg-Marquardt
_NAMES = ("w1", "b1", "w2", "b2")


def start(rng: np.random.Generator, d: int) -> Weights:
    """Of scaled inputs, in [-1, 1], and outputs."""
    return {"w1": rng.normal(0.0, 2.5 / np.sqrt(d), (d, HIDDEN)), "b1": rng.normal(0.0, 1.5, HIDDEN),
            "w2": rng.normal(0.0, 0.1, HIDDEN), "b2": np.zeros(())}


def output(w: Weights, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of the hidden layer and of the network."""
    hidden = np.tanh(x @ w["w1"] + w["b1"])
    return hidden, hidden @ w["w2"] + w["b2"]


def adam(w: Weights, x: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> Weights:
    mean, square = ({name: np.zeros_like(v) for name, v in w.items()} for _ in range(2))
    step = 0
    for epoch in range(EPOCHS):
        rate = RATE * 0.5 * (1.0 + np.cos(np.pi * epoch / EPOCHS))
        order = rng.permutation(len(y))
        for begin in range(0, len(y), BATCH):
            at, step = order[begin:begin + BATCH], step + 1
            hidden, value = output(w, x[at])
            error = 2.0 * (value - y[at]) / len(at)
            back = error[:, None] * w["w2"] * (1.0 - hidden**2)
            slopes = {"w1": x[at].T @ back, "b1": back.sum(axis=0), "w2": hidden.T @ error, "b2": error.sum()}
            for name, slope in slopes.items():
                mean[name] = 0.9 * mean[name] + 0.1 * slope
                square[name] = 0.999 * square[name] + 0.001 * slope**2
                w[name] = w[name] - rate * (mean[name] / (1 - 0.9**step)) / (np.sqrt(square[name] / (1 - 0.999**step)) + 1e-8)
    return w


def jacobian(w: Weights, x: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    """Of the output by all weights, in the order in which `flat` has them."""
    inner = w["w2"] * (1.0 - hidden**2)
    outer = x[:, :, None] * inner[:, None, :]
    return np.concatenate([outer.reshape(len(x), -1), inner, hidden, np.ones((len(x), 1))], axis=1)


def flat(w: Weights) -> np.ndarray:
    return np.concatenate([w[name].ravel() for name in _NAMES])


def unflat(values: np.ndarray, like: Weights) -> Weights:
    ends = np.cumsum([like[name].size for name in _NAMES])
    return {name: part.reshape(like[name].shape) for name, part in zip(_NAMES, np.split(values, ends[:-1]), strict=True)}


def levenberg_marquardt(w: Weights, x: np.ndarray, y: np.ndarray, steps: int) -> Weights:
    def loss(w: Weights) -> float:
        return float(np.mean((output(w, x)[1] - y) ** 2) + PENALTY * flat(w) @ flat(w))

    damping, best = 1e-2, loss(w)
    for _ in range(steps):
        hidden, value = output(w, x)
        j = jacobian(w, x, hidden)
        normal = j.T @ j / len(y)
        slope = j.T @ (value - y) / len(y) + PENALTY * flat(w)
        while damping < 1e10:
            matrix = normal + np.diag(PENALTY + damping * (np.diag(normal) + 1e-9))
            tried = unflat(flat(w) - np.linalg.solve(matrix, slope), w)
            reached = loss(tried)
            if reached < best:
                w, best, damping = tried, reached, max(damping / 5, 1e-12)
                break
            damping *= 3
    return w


def trained(d: int) -> Weights:
    """Of inputs in [3, 9]^d: the scaling of inputs and outputs is in the weights."""
    rng = np.random.default_rng([SEED, d])
    points = rng.uniform(*DOMAIN, (SAMPLES[d], d))
    values, x = alpine02(points), (points - MIDDLE) / HALF
    scale = np.std(values)
    w = levenberg_marquardt(adam(start(rng, d), x, values / scale, rng), x, values / scale, STEPS[d])
    return {"w1": w["w1"] / HALF, "b1": w["b1"] - MIDDLE / HALF * w["w1"].sum(axis=0), "w2": scale * w["w2"],
            "b2": scale * w["b2"]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dimensions", nargs="*", type=int, default=DIMENSIONS, metavar="d", help="2 ... 6, all by default")
    for d in parser.parse_args().dimensions:
        seconds, weights = timed(lambda d=d: trained(d))
        write(d, weights)
        print(f"{said(d)}, {seconds:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
