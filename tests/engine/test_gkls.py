"""Random functions with known minimisers, of the kinds that global search is measured by: GKLS and Grishagin's."""

import numpy as np
import pytest

import infimum
from tests.oracle.arb_values import value

# A row is a ball: its centre, the value there, its radius. The first one is the paraboloid's vertex, the second one the minimum.
GKLS = {"two variables": (
    (0.8441, -0.0901, 0.0, 0.015), (0.2676, 0.6009, -1.0, 0.1), (0.2046, -0.5293, 0.4972, 0.0319),
    (-0.6099, 0.8119, 1.3255, 0.3158), (0.5221, -0.2558, -0.676, 0.3434), (-0.335, 0.0999, 0.8308, 0.1713),
    (-0.0334, 0.2697, 0.2759, 0.1713), (-0.9838, 0.2948, 2.2417, 0.3158), (0.8721, -0.1019, -0.0183, 0.015),
    (0.1951, -0.5932, 0.5834, 0.0319),
), "three variables": (
    (0.2485, -0.4251, 0.5437, 0.0, 0.287), (0.1254, -0.2294, -0.0745, -1.0, 0.2), (-0.7773, 0.7454, 0.8795, 2.0439, 0.0969),
    (0.3799, -0.3244, -0.9277, 1.0148, 0.2823), (0.5955, 0.196, 0.6953, -0.0946, 0.4331),
    (0.6409, -0.708, 0.8635, -0.44, 0.287), (0.9866, -0.5095, -0.4045, 0.3305, 0.5317),
    (-0.7794, 0.8208, 0.6986, 2.213, 0.0969), (-0.6979, 0.6956, -0.4814, -0.2565, 1.0806),
    (0.066, -0.791, -0.8324, 0.8694, 0.2823),
)}
# Coefficients of a Grishagin function in thousandths: four matrices of seven rows
GRISHAGIN = """
    -392 -371 422 743 852 -266 -295 -908 -6 -508 -550 -54 -812 223 817 708 -626 -348 784 578 -727 79 557 924 763 851 -998
    427 615 -966 -176 -715 821 -982 235 512 -535 52 -101 -157 894 851 -260 -952 -610 810 -115 -595 -390
    -472 -481 -807 -131 -988 732 396 516 -291 582 741 450 809 -883 518 -28 746 -300 -25 -532 510 -364 -525 -203 23 251 837
    -14 -858 -947 -421 890 939 -436 -542 -168 -657 971 983 -624 618 434 121 801 -287 465 -937 544 983
    480 -868 -415 -337 -186 323 -33 828 703 493 900 907 -768 750 253 130 566 813 675 -575 -361 51 -244 652 -561 210 -779 944
    209 -686 646 -806 -202 -690 226 -979 1000 654 923 233 546 185 -979 -834 595 -596 711 743 -453
    36 -91 -52 878 555 -970 765 547 -558 878 389 -124 -701 -67 761 -430 -203 221 -785 503 -279 999 -260 -216 907 365 -248
    -229 -931 -198 -442 -969 810 -319 -82 -315 738 742 -849 -512 -445 -116 -555 731 978 -102 -909 -911 -835
"""


def nested(rows):
    """A choice within the other."""
    (*vertex, _, _), *balls = rows

    def f(x):
        total = np.sum((x - vertex) ** 2)
        for *centre, minimum, radius in balls:
            towards = np.subtract(vertex, centre)
            depth = np.sum(towards**2) - minimum
            r, along = np.linalg.norm(x - centre), np.sum((x - centre) * towards)
            ball = (2 * along - 2 * depth / radius * r) * r**2 / radius**2 + (1 + 3 * depth / radius**2) * r**2
            total = np.where(r < radius, ball - 4 * along * r / radius + minimum, total)
        return total
    return f


def summed(rows):
    """All balls as arrays, each adding its difference from the paraboloid."""
    table = np.array(rows)
    vertex, centres, minima, radius = table[0, :-2], table[1:, :-2], table[1:, -2], table[1:, -1]
    towards = vertex - centres
    depth = np.sum(towards**2, axis=1) - minima

    def f(x):
        r, along = np.linalg.norm(x - centres, axis=1), np.sum((x - centres) * towards, axis=1)
        ball = (2 * along - 2 * depth / radius * r) * r**2 / radius**2 + (1 + 3 * depth / radius**2) * r**2
        paraboloid = np.sum((x - vertex) ** 2)
        return paraboloid + np.sum(np.where(r < radius, ball - 4 * along * r / radius + minima - paraboloid, 0.0))
    return f


def grishagin(x):
    a, b, c, d = np.array(GRISHAGIN.split(), dtype=float).reshape(4, 7, 7) / 1000
    k = np.pi * np.arange(1, 8)
    sines, cosines = (g(k * x[0])[:, None] * g(k * x[1]) for g in (np.sin, np.cos))
    return -np.sqrt(np.sum(a * sines + b * cosines) ** 2 + np.sum(c * sines - d * cosines) ** 2)


@pytest.mark.parametrize("form", (nested, summed))
@pytest.mark.parametrize("name", GKLS)
def test_gkls(name, form):
    rows = GKLS[name]
    (*vertex, _, _), (*centre, minimum, _), *_ = rows
    r = infimum.minimize(form(rows), [(-1, 1)] * len(vertex), max_boxes=400_000)
    assert r.verdict.name == "PROVED" and r.lower <= minimum <= r.upper and r.upper - r.lower <= 1e-6
    assert np.array(centre) in r.regions
    assert form(rows)(np.array(centre)) == pytest.approx(minimum) and form(rows)(np.array(vertex)) == pytest.approx(0, abs=1e-12)


def test_the_forms_are_one_function():
    for rows in GKLS.values():
        for x in np.random.default_rng(0).uniform(-1, 1, (200, len(rows[0]) - 2)):
            assert nested(rows)(x) == pytest.approx(summed(rows)(x), abs=1e-9)


def test_grishagin():
    near = np.array([0.60305253, 0.40833655])
    r = infimum.minimize(grishagin, [(0, 1)] * 2, max_boxes=400_000)
    above = value(infimum.compile(grishagin, 2).f, near, 128)
    assert r.verdict.name == "PROVED" and r.upper - r.lower <= 1e-6 * abs(r.upper)
    assert not above < r.lower and r.upper >= -13.513488700255 - 1e-11  # what a local search from the best of a fine grid finds
    assert any((lo <= near + 1e-6).all() and (near - 1e-6 <= hi).all() for lo, hi in r.boxes)
