"""Proves the global minimum of the six-hump camel function, and that it has exactly two minimisers up to the width asked for.

The function is an ordinary NumPy function; the answer is an interval that certainly contains its global minimum over the square,
rounding errors included, and boxes that certainly contain every global minimiser.
"""

import infimum


def camel(x):
    return (4 - 2.1 * x[0] ** 2 + x[0] ** 4 / 3) * x[0] ** 2 + x[0] * x[1] + (4 * x[1] ** 2 - 4) * x[1] ** 2


if __name__ == "__main__":
    print(infimum.minimize(camel, bounds=[(-3, 3), (-2, 2)], xtol=1e-6))
