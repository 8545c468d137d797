"""The six-hump camel function: a first proof.

The function is an ordinary NumPy function. It has six local minima in the rectangle; two of them are global, and they are
mirror images of each other. The result is an interval that certainly contains the global minimum, rounding errors included,
and boxes that certainly contain every global minimiser: here exactly two boxes, each at most 1e-6 wide.
"""

import infimum


def camel(x):
    return (4 - 2.1 * x[0] ** 2 + x[0] ** 4 / 3) * x[0] ** 2 + x[0] * x[1] + (4 * x[1] ** 2 - 4) * x[1] ** 2


def solve() -> infimum.Result:
    return infimum.minimize(camel, bounds=[(-3, 3), (-2, 2)], xtol=1e-6)


def main() -> None:
    print(solve())


if __name__ == "__main__":
    main()
