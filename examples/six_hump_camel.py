"""Proves where the global minimum of the six-hump camel function lies, by enclosing it on a million boxes.

The function is an ordinary NumPy function. The square [-3, 3] x [-2, 2] is cut into 1024 x 1024 boxes; each gets a proved lower
bound. The smallest of them is a lower bound of the global minimum, the value at any point (enclosed as well) an upper bound, and
every box whose lower bound is above that upper bound certainly contains no global minimiser.
"""

import time

import numpy as np

import infimum


def camel(x):
    return (4 - 2.1 * x[0] ** 2 + x[0] ** 4 / 3) * x[0] ** 2 + x[0] * x[1] + (4 * x[1] ** 2 - 4) * x[1] ** 2


def grid(cuts: int) -> tuple[np.ndarray, np.ndarray]:
    """The boxes of a grid: neighbours share their ends, so nothing is left out."""
    a, b = np.linspace(-3, 3, cuts + 1), np.linspace(-2, 2, cuts + 1)
    lo = np.stack(np.meshgrid(a[:-1], b[:-1], indexing="ij")).reshape(2, -1)
    hi = np.stack(np.meshgrid(a[1:], b[1:], indexing="ij")).reshape(2, -1)
    return lo, hi


def main() -> None:
    start = time.perf_counter()
    f = infimum.compile(camel, n=2)
    print(f"range over the whole square     {infimum.enclose(camel, [(-3, 3), (-2, 2)])}")
    lo, hi = grid(1024)
    boxes = f.mean_value(lo, hi).best
    best = np.argmin(f.estimate((lo + hi) / 2))  # an estimate chooses the point; its enclosure is the proof
    point = ((lo + hi) / 2)[:, best]
    upper = f.value(point, point)
    kept = boxes.lo <= upper.hi
    print(f"boxes enclosed                  {lo.shape[1]:,}")
    print(f"point                           ({point[0]:.6f}, {point[1]:.6f})")
    print(f"global minimum is proved in     {infimum.Interval(float(boxes.lo.min()), float(upper.hi))}")
    print(f"boxes that may hold a minimiser {kept.sum():,}, all with |x| in [{np.abs(lo[0, kept]).min():.4f}, "
          f"{np.abs(hi[0, kept]).max():.4f}], |y| in [{np.abs(hi[1, kept]).min():.4f}, {np.abs(lo[1, kept]).max():.4f}]")
    print(f"time                            {time.perf_counter() - start:.2f} s")


if __name__ == "__main__":
    main()
