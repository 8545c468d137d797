"""A trained neural network: its smallest and its largest output, proved.

A network with two inputs, six hidden tanh neurons and one output was fitted to 60 noisy samples of a smooth function; its
weights, rounded to three digits, are below. Before such a model replaces measurements one would like to know what it can
predict at all: the range of its output over the whole operating window, not over a grid that may miss a spike. The largest
output is the smallest one of the negative network.
"""

import numpy as np

import infimum

HIDDEN = np.array([[-1.8, -0.615], [-0.122, 0.182], [-1.934, -0.371], [-2.239, -0.655], [0.012, -1.326], [2.162, 0.315]])
HIDDEN_BIAS = np.array([0.678, -0.952, -0.623, -2.346, 0.999, -2.232])
OUTPUT = np.array([2.141, -1.797, -1.374, 2.149, -1.099, 1.898])
OUTPUT_BIAS = 2.13
WINDOW = [(-1, 1), (-1, 1)]


def network(x):
    return OUTPUT @ np.tanh(HIDDEN @ x + HIDDEN_BIAS) + OUTPUT_BIAS


def solve() -> tuple[infimum.Result, infimum.Result]:
    """The smallest output, and the smallest negative output."""
    return infimum.minimize(network, WINDOW), infimum.minimize(lambda x: -network(x), WINDOW)


def main() -> None:
    low, high = solve()
    print(low)
    print(f"\nEvery output lies in [{low.lower}, {-high.lower}]: {low.verdict.name}, {high.verdict.name}.")
    print(f"The smallest is predicted at {np.round(low.x, 4)}, the largest at {np.round(high.x, 4)}.")


if __name__ == "__main__":
    main()
