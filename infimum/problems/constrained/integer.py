"""Problems with integer variables: process selection, design in standard sizes, and small nonlinear integer programmes."""

from typing import Any

import numpy as np

from infimum.problems.constrained.entry import Row, at_least, at_most, equal
from infimum.problems.constrained.sources import FLOUDAS, GLOBALLIB, OURS

GUPTA = "Gupta and Ravindran, Branch and bound experiments in convex nonlinear integer programming (1985), as in MINLPLib: "
DURAN = "Duran and Grossmann, An outer-approximation algorithm for a class of mixed-integer nonlinear programs (1986): "


def nvs01(x: Any) -> Any:
    """A column of standard diameters."""
    return 0.04712385 * x[1] * np.sqrt(900 + x[0] ** 2)


def nvs08(x: Any) -> Any:
    """Two integers and a root."""
    return (x[0] - 3) ** 2 + (x[1] - 2) ** 2 + (x[2] + 4) ** 2


def nvs11(x: Any) -> Any:
    """A convex quadratic integer programme of three variables."""
    a, b, c = x
    return 7 * a**2 + 6 * b**2 + 8 * c**2 - 6 * a * c + 4 * b * c - 15.8 * a - 93.2 * b - 63 * c


def nvs11_limits(x: Any) -> Any:
    """Three ellipsoids."""
    a, b, c = x
    return np.stack([9 * a**2 + 10 * a * b + 8 * b**2 + 5 * c**2 + 6 * a * c + 10 * b * c,
                     6 * a**2 + 8 * a * b + 6 * b**2 + 4 * c**2 + 2 * a * c + 2 * b * c,
                     9 * a**2 + 6 * b**2 + 8 * c**2 - 2 * a * b - 2 * b * c])


def nvs14(x: Any) -> Any:
    """Himmelblau's problem 11 with integers and defined variables."""
    return 5.3578547 * x[2] ** 2 + 0.8356891 * x[0] * x[4] + 37.293239 * x[0] - 40792.141


def nvs14_defined(x: Any) -> Any:
    """What the last three variables are."""
    a, b, c, d, e = x[:5]
    return x[5:] - np.stack([85.334407 + 0.0056858 * b * e + 0.0006262 * a * d - 0.0022053 * c * e,
                             80.51249 + 0.0071317 * b * e + 0.0029955 * a * b + 0.0021813 * c**2,
                             9.300961 + 0.0047026 * c * e + 0.0012547 * a * c + 0.0019085 * c * d])


def synthes1(x: Any) -> Any:
    """The synthesis of a process: three flows, three units to be chosen."""
    return (10 + 10 * x[0] - 7 * x[2] + 5 * x[3] + 6 * x[4] + 8 * x[5] - 18 * np.log(1 + x[1]) - 19.2 * np.log(1 + x[0] - x[1]))


def ex1223b(x: Any) -> Any:
    """Four binaries, three squares."""
    return (np.sum((x[:3] - np.array([1, 2, 3])) ** 2) + (x[3] - 1) ** 2 + (x[4] - 2) ** 2 + (x[5] - 1) ** 2 - np.log(1 + x[6]))


def ex1224(x: Any) -> Any:
    """The most reliable system of three stages, eight parts to be chosen."""
    return -x[0] * x[1] * x[2]


def gbd(x: Any) -> Any:
    """One square and three binaries."""
    return 5 * x[0] ** 2 + x[1] + x[2] + x[3]


def oaer(x: Any) -> Any:
    """Three processes of which at most two are built."""
    return (1.8 * x[0] + 1.8 * x[1] + 7 * x[2] + x[3] + 1.2 * x[4] - 11 * x[5] + 3.5 * x[6] + x[7] + 1.5 * x[8])


def st_e38(x: Any) -> Any:
    """A pressure vessel, its walls in sixteenths of an inch."""
    a, b, r, h = x
    return 0.0389 * a * r * h + 0.1111312 * b * r**2 + 0.012348046875 * a**2 * h + 0.0775 * a**2 * r


def st_e40(x: Any) -> Any:
    """A truss with bars of listed sizes."""
    return 2 * x[0] + x[1] + 1.4142135 * x[2]


def integer_circle(x: Any) -> Any:
    """The integer point on a circle that lies furthest along a line."""
    return -3 * x[0] - x[1]


def integer_rosenbrock(x: Any) -> Any:
    """Rosenbrock's valley between integers, off its floor."""
    return 100 * (x[1] - x[0] ** 2 + 0.3) ** 2 + (2.4 - x[0]) ** 2


TABLE = (
    Row(nvs01, [(0, 200), (0, 200), (0, 100)],
        [equal(lambda x: 420.169404664517 * np.sqrt(900 + x[0] ** 2) - x[0] * x[1] * x[2]),
         at_least(lambda x: 296087.631843 * (0.01 + 0.0625 * x[1] ** 2) / (7200 + x[0] ** 2) - x[2])], GUPTA + "nvs01",
         (1, 1, 0)),
    Row(nvs08, [(0, 200), (0, 200), (0.001, 200)],
        [at_least(lambda x: np.sqrt(x[2]) + x[0] + 2 * x[1], 10.0),
         at_least(lambda x: 0.240038406144983 * x[0] ** 2 - x[1] + 0.255036980362153 * x[2], -3.0),
         at_least(lambda x: x[1] ** 2 - 1 / (x[2] ** 3 * np.sqrt(x[2])) - 4 * x[0], -12.0)], GUPTA + "nvs08", (1, 1, 0)),
    Row(nvs11, [(0, 200)] * 3, [at_most(nvs11_limits, np.array([1000.0, 550, 340]))], GUPTA + "nvs11", (1, 1, 1)),
    Row(nvs14, [(0, 200)] * 5 + [(0, 92), (90, 110), (20, 25)], [equal(nvs14_defined)], GUPTA + "nvs14",
        (1, 1, 1, 1, 1, 0, 0, 0)),
    Row(synthes1, [(0, 2), (0, 2), (0, 1)] + [(0, 1)] * 3,
        [at_least(lambda x: 0.8 * np.log(1 + x[1]) + 0.96 * np.log(1 + x[0] - x[1]) - 0.8 * x[2]),
         at_least(lambda x: np.log(1 + x[1]) + 1.2 * np.log(1 + x[0] - x[1]) - x[2] - 2 * x[5], -2.0),
         at_most(lambda x: np.stack([x[1] - x[0], x[1] - 2 * x[3], x[0] - x[1] - 2 * x[4]])),
         at_most(lambda x: x[3] + x[4], 1.0)],
        DURAN + "synthes1", (0, 0, 0, 1, 1, 1)),
    Row(ex1223b, [(0, 10)] * 3 + [(0, 1)] * 4,
        [at_most(lambda x: np.sum(x[:6]), 5.0), at_most(lambda x: x[5] ** 2 + np.sum(x[:3] ** 2), 5.5),
         at_most(lambda x: x[[0, 1, 2, 0]] + x[3:], np.array([1.2, 1.8, 2.5, 1.2])),
         at_most(lambda x: x[[4, 5, 4]] ** 2 + x[[1, 2, 2]] ** 2, np.array([1.64, 4.25, 4.64]))], FLOUDAS + "ex12.2.3",
        (0, 0, 0, 1, 1, 1, 1)),
    Row(ex1224, [(0, 0.997), (0, 0.9985), (0, 0.9988)] + [(0, 1)] * 8,
        [equal(lambda x: np.log(1 - x[0]) + np.array([2.30258509299405, 1.6094379124341, 1.89711998488588]) @ x[3:6]),
         equal(lambda x: np.log(1 - x[1]) + np.array([2.99573227355399, 1.6094379124341, 1.89711998488588]) @ x[6:9]),
         at_least(lambda x: np.log(1 - x[2]) + np.array([3.91202300542815, 2.81341071676004]) @ x[9:]),
         at_least(lambda x: np.stack([np.sum(x[3:6]), np.sum(x[6:9]), np.sum(x[9:])]), 1.0),
         at_most(lambda x: np.array([3, 1, 2, 3, 2, 1, 3, 2]) @ x[3:], 10.0)], FLOUDAS + "ex12.2.4", (0, 0, 0) + (1,) * 8),
    Row(gbd, [(0.2, 1)] + [(0, 1)] * 3,
        [at_most(lambda x: 3 * x[0] - x[1] - x[2]), at_most(lambda x: 0.1 * x[2] + 0.25 * x[3] - x[0]),
         at_least(lambda x: x[1] + x[2] + x[3], 2.0), at_least(lambda x: x[1] + x[2] + 2 * x[3], 2.0)], GLOBALLIB + "gbd",
        (0, 1, 1, 1)),
    Row(oaer, [(0, 10)] * 6 + [(0, 1)] * 3,
        [equal(lambda x: np.log(1 + x[0]) - x[3]), equal(lambda x: 1.2 * np.log(1 + x[1]) - x[4]),
         equal(lambda x: x[5] - 0.9 * (x[2] + x[3] + x[4])),
         at_most(lambda x: np.stack([x[5] - x[6], x[3] - 1.111111 * x[7], x[4] - 1.111111 * x[8]])),
         at_most(lambda x: x[7] + x[8], 1.0)], GLOBALLIB + "oaer, with bounds added", (0,) * 6 + (1, 1, 1)),
    Row(st_e38, [(18, 100), (10, 100), (40, 80), (20, 60)],
        [at_least(lambda x: 0.0625 * x[:2] - np.array([0.0193, 0.00954]) * x[2]),
         at_least(lambda x: 3.1415927 * (x[2] ** 2 * x[3] + 4 / 3 * x[2] ** 3), 1.296e6)], GLOBALLIB + "st_e38", (1, 1, 0, 0)),
    Row(st_e40, [(1, 12)] * 3 + [(0, 100)],
        [equal(lambda x: x[3] - 0.15 * x[0] * x[1] - 0.14142135 * x[1] * x[2] - 0.1319 * x[0] * x[2]),
         at_most(lambda x: np.array([[0, 1.7317, 1.03366], [0.634, 0, 2.828], [0.5, -2, 0], [-0.5, 2, 0]]) @ x[:3] - x[3]),
         equal(lambda x: np.prod(x[:3, None] - np.array([1, 2, 3, 5, 8, 10, 12]), axis=1))],
        GLOBALLIB + "st_e40, with bounds added", (1, 1, 1, 0)),
    Row(integer_circle, [(-30, 30)] * 2, [equal(lambda x: x[0] ** 2 + x[1] ** 2, 625.0)], OURS, (1, 1)),
    Row(integer_rosenbrock, [(-50, 50)] * 2, [at_most(lambda x: x[0] + x[1], 40.0)], OURS, (1, 1)),
)
