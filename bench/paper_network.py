"""Trains the network of `bench/paper.py`: Alpine02 in two variables on [3, 9]^2, one hidden layer of 60 tanh, fixed seed.

    python -m bench.paper_network    writes bench/paper_network.json and prints the error of the fit

Adam on random minibatches, as such surrogates are usually trained. Sums of floating point numbers depend on the machine in their
last bits and training magnifies that, so the weights are kept; another run gives a network of about the same error.
"""

import json
from pathlib import Path

import numpy as np

WEIGHTS = Path(__file__).with_suffix(".json")
HIDDEN, SAMPLES, EPOCHS, BATCH, RATE, SEED = 60, 10_000, 400, 64, 3e-3, 0


def alpine02(x: np.ndarray) -> np.ndarray:
    return np.prod(np.sqrt(x) * np.sin(x), axis=-1)


def network(weights: dict[str, np.ndarray], x: np.ndarray) -> np.ndarray:
    """Of points (N, 2) in [3, 9]^2."""
    return np.tanh((x - 6.0) / 3.0 @ weights["w1"] + weights["b1"]) @ weights["w2"] + weights["b2"]


def trained() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(SEED)
    points = rng.uniform(3.0, 9.0, (SAMPLES, 2))
    values = alpine02(points)
    w = {"w1": rng.normal(0.0, 1.5, (2, HIDDEN)), "b1": rng.normal(0.0, 1.0, HIDDEN),
         "w2": rng.normal(0.0, 0.3, HIDDEN), "b2": np.zeros(())}
    mean, square = ({k: np.zeros_like(v) for k, v in w.items()} for _ in range(2))
    step = 0
    for epoch in range(EPOCHS):
        rate = RATE * 0.5 * (1.0 + np.cos(np.pi * epoch / EPOCHS))
        order = rng.permutation(SAMPLES)
        for begin in range(0, SAMPLES, BATCH):
            at, step = order[begin:begin + BATCH], step + 1
            x = (points[at] - 6.0) / 3.0
            hidden = np.tanh(x @ w["w1"] + w["b1"])
            error = 2.0 * (hidden @ w["w2"] + w["b2"] - values[at]) / len(at)
            back = error[:, None] * w["w2"] * (1.0 - hidden**2)
            slopes = {"w1": x.T @ back, "b1": back.sum(axis=0), "w2": hidden.T @ error, "b2": error.sum()}
            for k, slope in slopes.items():
                mean[k] = 0.9 * mean[k] + 0.1 * slope
                square[k] = 0.999 * square[k] + 0.001 * slope**2
                w[k] = w[k] - rate * (mean[k] / (1 - 0.9**step)) / (np.sqrt(square[k] / (1 - 0.999**step)) + 1e-8)
    return w


def read() -> dict[str, np.ndarray]:
    return {k: np.array(v) for k, v in json.loads(WEIGHTS.read_text()).items()}


def fit_error(weights: dict[str, np.ndarray]) -> tuple[float, float]:
    """Root mean square and largest, on a grid of 601 x 601 points."""
    side = np.linspace(3.0, 9.0, 601)
    points = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    error = network(weights, points) - alpine02(points)
    return float(np.sqrt(np.mean(error**2))), float(np.abs(error).max())


def main() -> None:
    weights = trained()
    WEIGHTS.write_text(json.dumps({k: v.tolist() for k, v in weights.items()}) + "\n")
    print("fit error on [3, 9]^2: root mean square {:.3g}, largest {:.3g}".format(*fit_error(read())))


if __name__ == "__main__":
    main()
