"""Problems of two variables: polynomials, squares and absolute values of them."""

from typing import Any

import numpy as np

from infimum.problems.entry import Entry
from infimum.problems.sources import ALI, DIXON, JAMIL, LIBRARY, MORE, PRICE, RAHNAMAYAN


def beale(x: Any) -> Any:
    """Three equations with the solution (3, 1/2)."""
    a, b = x
    return (1.5 - a + a * b) ** 2 + (2.25 - a + a * b**2) ** 2 + (2.625 - a + a * b**3) ** 2


def booth(x: Any) -> Any:
    """Two lines that meet at (1, 3)."""
    a, b = x
    return (a + 2 * b - 7) ** 2 + (2 * a + b - 5) ** 2


def bukin_4(x: Any) -> Any:
    """A gully with a kink along one variable."""
    a, b = x
    return 100 * b**2 + 0.01 * np.abs(a + 10)


def bukin_6(x: Any) -> Any:
    """A curved ridge with infinite slope; the constant 0.01 is written as a division, or no point of doubles comes near 0."""
    a, b = x
    return 100 * np.sqrt(np.abs(b - a**2 / 100)) + 0.01 * np.abs(a + 10)


def camel_three_hump(x: Any) -> Any:
    """Three wells, the middle one deepest."""
    a, b = x
    return 2 * a**2 - 1.05 * a**4 + a**6 / 6 + a * b + b**2


def camel_six_hump(x: Any) -> Any:
    """Six wells, two of them deepest."""
    a, b = x
    return (4 - 2.1 * a**2 + a**4 / 3) * a**2 + a * b + (-4 + 4 * b**2) * b**2


def cube(x: Any) -> Any:
    """Rosenbrock's valley with a cubic (on [0, 10] also known as Leon's function)."""
    a, b = x
    return 100 * (b - a**3) ** 2 + (1 - a) ** 2


def deckkers_aarts(x: Any) -> Any:
    """A steep wall and two wells of great depth."""
    square = x[0] ** 2 + x[1] ** 2
    return 1e5 * x[0] ** 2 + x[1] ** 2 - square**2 + 1e-5 * square**4


def el_attar_vidyasagar_dutta(x: Any) -> Any:
    """Three equations without a common solution."""
    a, b = x
    return (a**2 + b - 10) ** 2 + (a + b**2 - 7) ** 2 + (a**2 + b**3 - 1) ** 2


def engvall(x: Any) -> Any:
    """A convex quartic on a large box."""
    a, b = x
    return a**4 + b**4 + 2 * a**2 * b**2 - 4 * a + 3


def freudenstein_roth(x: Any) -> Any:
    """Two cubics that meet at (5, 4), with a deceptive local minimum."""
    a, b = x
    return (a - 13 + ((5 - b) * b - 2) * b) ** 2 + (a - 29 + ((b + 1) * b - 14) * b) ** 2


def goldstein_price(x: Any) -> Any:
    """A product of two polynomials whose values span six orders of magnitude."""
    a, b = x
    left = 1 + (a + b + 1) ** 2 * (19 - 14 * a + 3 * a**2 - 14 * b + 6 * a * b + 3 * b**2)
    right = 30 + (2 * a - 3 * b) ** 2 * (18 - 32 * a + 12 * a**2 + 48 * b - 36 * a * b + 27 * b**2)
    return left * right


def himmelblau(x: Any) -> Any:
    """Four wells of equal depth."""
    a, b = x
    return (a**2 + b - 11) ** 2 + (a + b**2 - 7) ** 2


def matyas(x: Any) -> Any:
    """A long, flat quadratic."""
    a, b = x
    return 0.26 * (a**2 + b**2) - 0.48 * a * b


def price_1(x: Any) -> Any:
    """Four bowls, kinks between them."""
    return np.sum((np.abs(x) - 5) ** 2)


def price_3(x: Any) -> Any:
    """Rosenbrock's valley crossed by a second one."""
    a, b = x
    return 100 * (b - a**2) ** 2 + (6.4 * (b - 0.5) ** 2 - a - 0.6) ** 2


def price_4(x: Any) -> Any:
    """Two curves that meet three times, on a large box."""
    a, b = x
    return (2 * a**3 * b - b**3) ** 2 + (6 * a - b**2 + b) ** 2


def quadratic(x: Any) -> Any:
    """A plain quadratic with untidy coefficients."""
    a, b = x
    return -3803.84 - 138.08 * a - 232.92 * b + 128.08 * a**2 + 203.64 * b**2 + 182.25 * a * b


def stenger(x: Any) -> Any:
    """Two equations with two solutions."""
    a, b = x
    return (a**2 - 4 * b) ** 2 + (b**2 - 2 * a + 4 * b) ** 2


def treccani(x: Any) -> Any:
    """Two wells of equal depth."""
    a, b = x
    return a**4 + 4 * a**3 + 4 * a**2 + b**2


def tripod(x: Any) -> Any:
    """Three cones on plateaus of different height: jumps across both axes, one of them through the minimiser."""
    a, b = x
    right, above = np.where(a >= 0, 1.0, 0.0), np.where(b >= 0, 1.0, 0.0)
    return above * (1 + right) + np.abs(a + 50 * above * (1 - 2 * right)) + np.abs(b + 50 * (1 - 2 * above))


def wayburn_seader_1(x: Any) -> Any:
    """A curve and a line that meet twice."""
    a, b = x
    return (a**6 + b**4 - 17) ** 2 + (2 * a + b - 4) ** 2


def wayburn_seader_2(x: Any) -> Any:
    """A circle and a line that meet twice, on a huge box."""
    a, b = x
    return (1.613 - 4 * (a - 0.3125) ** 2 - 4 * (b - 1.625) ** 2) ** 2 + (b - 1) ** 2


def zettl(x: Any) -> Any:
    """A ring-shaped valley, slightly tilted."""
    a, b = x
    return (a**2 + b**2 - 2 * a) ** 2 + 0.25 * a


def zirilli(x: Any) -> Any:
    """Two wells, one deeper (the function of Aluffi-Pentini)."""
    a, b = x
    return 0.25 * a**4 - 0.5 * a**2 + 0.1 * a + 0.5 * b**2


def _entry(fun: Any, bounds: Any, minimum: Any, points: Any, source: str, notes: str) -> Entry:
    return Entry(fun=fun, size=2, bounds=bounds if np.ndim(bounds) == 2 else [bounds] * 2, minimum=minimum, points=points,
                 source=source, notes=notes)


NEARLY_ZERO = (0.0, 1e-26)  # a sum of squares whose zero is no point of doubles

TABLE = [
    _entry(beale, (-4.5, 4.5), 0.0, [(3.0, 0.5)], "Beale (1958); " + MORE, "curved valley"),
    _entry(booth, (-10, 10), 0.0, [(1.0, 3.0)], LIBRARY, "unimodal"),
    _entry(bukin_4, [(-15, -5), (-3, 3)], 0.0, [(-10.0, 0.0)], "Bukin (1997); " + JAMIL, "separable, kink at the minimiser"),
    _entry(bukin_6, [(-15, -5), (-3, 3)], 0.0, [(-10.0, 1.0)], "Bukin (1997); " + JAMIL, "multimodal, kink at the minimiser"),
    _entry(camel_three_hump, (-5, 5), 0.0, [(0.0, 0.0)], "Branin (1972); " + DIXON, "multimodal"),
    _entry(camel_six_hump, [(-3, 3), (-2, 2)], -1.0316284534898774, [(-0.08984201310031806, 0.7126564030207396),
           (0.08984201310031806, -0.7126564030207396)], "Branin (1972); " + DIXON, "multimodal"),
    _entry(cube, (-10, 10), 0.0, [(1.0, 1.0)], "Lavi and Vogl, Recent Advances in Optimization Techniques (1966)",
           "curved valley"),
    _entry(deckkers_aarts, (-20, 20), -24776.51834231769, [(0.0, -14.945112151891959), (0.0, 14.945112151891959)],
           "Dekkers and Aarts, Global optimization and simulated annealing (1991); " + ALI, "multimodal, badly scaled"),
    _entry(el_attar_vidyasagar_dutta, (-100, 100), 1.7127803548622034, [(3.409186822190061, -2.171433036284005)],
           "El-Attar, Vidyasagar and Dutta, An algorithm for l1-norm minimization (1979)", "multimodal"),
    _entry(engvall, (-2000, 2000), 0.0, [(1.0, 0.0)], JAMIL, "unimodal, large box"),
    _entry(freudenstein_roth, (-10, 10), 0.0, [(5.0, 4.0)], "Freudenstein and Roth (1963); " + MORE + ", no. 2", "multimodal"),
    _entry(goldstein_price, (-2, 2), 3.0, [(0.0, -1.0)], "Goldstein and Price, On descent from local minima (1971); " + DIXON,
           "multimodal, badly scaled"),
    _entry(himmelblau, (-5, 5), NEARLY_ZERO, [(-3.779310253377747, -3.2831859912861696), (-2.805118086952745, 3.131312518250573),
           (3.0, 2.0), (3.5844283403304917, -1.8481265269644036)], "Himmelblau, Applied Nonlinear Programming (1972)",
           "multimodal"),
    _entry(matyas, (-10, 10), 0.0, [(0.0, 0.0)], "Hedar, Test functions for unconstrained global optimization (2005)",
           "unimodal"),
    _entry(price_1, (-500, 500), 0.0, [(5.0, 5.0), (-5.0, 5.0), (5.0, -5.0), (-5.0, -5.0)],
           PRICE, "multimodal, separable, kinks"),
    _entry(price_3, (-50, 50), NEARLY_ZERO, [(0.3413075033535242, 0.11649081184541596), (1.0, 1.0)], PRICE + "; " + ALI,
           "curved valley"),
    _entry(price_4, (-500, 500), NEARLY_ZERO, [(0.0, 0.0), (2.0, 4.0), (1.4643521196636984, -2.5060127607816622)],
           PRICE + "; " + JAMIL, "multimodal, badly scaled, large box"),
    _entry(quadratic, (-10, 10), -3873.724182186271, [(0.19388017278895323, 0.48513390912692317)], JAMIL, "unimodal"),
    _entry(stenger, (-1, 4), NEARLY_ZERO, [(0.0, 0.0), (1.695415196279133, 0.7186081719435529)],
           "Stenger (1975), as given by " + JAMIL, "multimodal"),
    _entry(treccani, (-5, 5), 0.0, [(0.0, 0.0), (-2.0, 0.0)], DIXON, "multimodal"),
    _entry(tripod, (-100, 100), 0.0, [(0.0, -50.0)], RAHNAMAYAN, "multimodal, jump at the minimiser"),
    _entry(wayburn_seader_1, (-5, 5), NEARLY_ZERO, [(1.0, 2.0), (1.5968041538769333, 0.8063916922461333)],
           "Wayburn and Seader, Homotopy continuation methods (1987)", "multimodal"),
    _entry(wayburn_seader_2, (-500, 500), NEARLY_ZERO, [(0.20013897472877884, 1.0), (0.42486102527122116, 1.0)],
           "Wayburn and Seader, Homotopy continuation methods (1987)", "multimodal, large box"),
    _entry(zettl, (-5, 10), -0.003791237220468898, [(-0.029895985050660382, 0.0)],
           "Schwefel, Evolution and Optimum Seeking (1995)", "curved valley"),
    _entry(zirilli, (-10, 10), -0.35238607380003645, [(-1.0466805318046022, 0.0)],
           "Aluffi-Pentini, Parisi and Zirilli (1985); " + ALI, "multimodal, separable"),
]
