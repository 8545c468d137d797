"""Trains the networks of `bench/network_weights.py`, with a fixed seed.

    python -m bench.train_networks [peaks 2 3 4 5 6]    writes bench/network_weights/*.json and prints the errors of the fits

Adam on random minibatches, then Levenberg-Marquardt on all samples at once, which comes much closer: with a few hundred weights
its normal equations are small. A penalty on the squares of the weights keeps them moderate. Sums of floating point numbers
depend on the machine in their last bits and training magnifies that, so the weights are kept; another run gives networks of
about the same error. OPENBLAS_NUM_THREADS=1 is as quick as more threads.
"""

import argparse
import os
import sys

import numpy as np

sys.path.insert(0, os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")))
from bench.network_weights import DOMAINS, FUNCTIONS, NAMES, PEAKS, SIZES, Name, Weights, read, said, write  # noqa: E402
from bench.table import timed  # noqa: E402

SEED, EPOCHS, BATCH, RATE = 0, 60, 128, 5e-3
PENALTY = 1e-6  # times the sum of the squared weights, beside the mean of the squared errors
SAMPLES = {PEAKS: 6_000, 2: 6_000, 3: 12_000, 4: 20_000, 5: 24_000, 6: 24_000}
STEPS = {PEAKS: 300, 2: 300, 3: 300, 4: 250, 5: 200, 6: 200}  # of Levenberg-Marquardt


def start(rng: np.random.Generator, sizes: tuple[int, ...]) -> Weights:
    """Of scaled inputs, in [-1, 1], and outputs."""
    w = {}
    for k, (inputs, neurons) in enumerate(zip(sizes[:-2], sizes[1:-1], strict=True), 1):
        w[f"w{k}"], w[f"b{k}"] = rng.normal(0.0, 2.5 / np.sqrt(inputs), (inputs, neurons)), rng.normal(0.0, 1.5, neurons)
    last = len(sizes) - 1
    return w | {f"w{last}": rng.normal(0.0, 0.1, sizes[-2]), f"b{last}": np.zeros(())}


def outputs(w: Weights, x: np.ndarray) -> list[np.ndarray]:
    """Of all layers; the first is the inputs."""
    found, last = [x], len(w) // 2
    for k in range(1, last):
        found.append(np.tanh(found[-1] @ w[f"w{k}"] + w[f"b{k}"]))
    return [*found, found[-1] @ w[f"w{last}"] + w[f"b{last}"]]


def slopes(w: Weights, layers: list[np.ndarray]) -> list[np.ndarray]:
    """Of the network's output by the sums of each hidden layer, (N, neurons)."""
    last = len(w) // 2
    found = [w[f"w{last}"] * (1.0 - layers[-2] ** 2)]
    for k in range(last - 1, 1, -1):
        found.insert(0, found[0] @ w[f"w{k}"].T * (1.0 - layers[k - 1] ** 2))
    return found


def adam(w: Weights, x: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> Weights:
    mean, square = ({name: np.zeros_like(v) for name, v in w.items()} for _ in range(2))
    step, last = 0, len(w) // 2
    for epoch in range(EPOCHS):
        rate = RATE * 0.5 * (1.0 + np.cos(np.pi * epoch / EPOCHS))
        order = rng.permutation(len(y))
        for begin in range(0, len(y), BATCH):
            at, step = order[begin:begin + BATCH], step + 1
            layers = outputs(w, x[at])
            error = 2.0 * (layers[-1] - y[at]) / len(at)
            gradient = {f"w{last}": layers[-2].T @ error, f"b{last}": error.sum()}
            for k, slope in enumerate(slopes(w, layers), 1):
                back = error[:, None] * slope
                gradient |= {f"w{k}": layers[k - 1].T @ back, f"b{k}": back.sum(axis=0)}
            for name, value in gradient.items():
                mean[name] = 0.9 * mean[name] + 0.1 * value
                square[name] = 0.999 * square[name] + 0.001 * value**2
                w[name] = w[name] - rate * (mean[name] / (1 - 0.9**step)) / (np.sqrt(square[name] / (1 - 0.999**step)) + 1e-8)
    return w


def jacobian(w: Weights, layers: list[np.ndarray]) -> np.ndarray:
    """Of the network's output by all weights, in the order in which `flat` has them."""
    columns = []
    for inputs, slope in zip(layers[:-2], slopes(w, layers), strict=True):
        columns += [(inputs[:, :, None] * slope[:, None, :]).reshape(len(inputs), -1), slope]
    return np.concatenate([*columns, layers[-2], np.ones((len(layers[0]), 1))], axis=1)


def flat(w: Weights) -> np.ndarray:
    return np.concatenate([value.ravel() for value in w.values()])


def unflat(values: np.ndarray, like: Weights) -> Weights:
    ends = np.cumsum([value.size for value in like.values()])
    return {name: part.reshape(like[name].shape) for name, part in zip(like, np.split(values, ends[:-1]), strict=True)}


def levenberg_marquardt(w: Weights, x: np.ndarray, y: np.ndarray, steps: int) -> Weights:
    def loss(w: Weights) -> float:
        return float(np.mean((outputs(w, x)[-1] - y) ** 2) + PENALTY * flat(w) @ flat(w))

    damping, best = 1e-2, loss(w)
    for _ in range(steps):
        layers = outputs(w, x)
        j = jacobian(w, layers)
        normal = j.T @ j / len(y)
        slope = j.T @ (layers[-1] - y) / len(y) + PENALTY * flat(w)
        while damping < 1e10:
            matrix = normal + np.diag(PENALTY + damping * (np.diag(normal) + 1e-9))
            tried = unflat(flat(w) - np.linalg.solve(matrix, slope), w)
            reached = loss(tried)
            if reached < best:
                w, best, damping = tried, reached, max(damping / 5, 1e-12)
                break
            damping *= 3
    return w


def trained(name: Name) -> Weights:
    """The scaling of inputs and outputs is in the weights."""
    rng = np.random.default_rng([SEED, len(DOMAINS[name])])
    low, high = np.array(DOMAINS[name]).T
    middle, half = (low + high) / 2, (high - low) / 2
    points = rng.uniform(low, high, (SAMPLES[name], len(low)))
    values, x = FUNCTIONS[name](points), (points - middle) / half
    scale, last = np.std(values), len(SIZES[name]) - 1
    w = levenberg_marquardt(adam(start(rng, SIZES[name]), x, values / scale, rng), x, values / scale, STEPS[name])
    return w | {"w1": w["w1"] / half[:, None], "b1": w["b1"] - middle / half @ w["w1"], f"w{last}": scale * w[f"w{last}"],
                f"b{last}": scale * w[f"b{last}"]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="peaks or a number of variables of Alpine02; all by default")
    for name in [n if n == PEAKS else int(n) for n in parser.parse_args().names] or NAMES:
        seconds, weights = timed(lambda name=name: trained(name))
        write(name, weights)
        print(f"{said(name, read(name))}, {seconds:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
