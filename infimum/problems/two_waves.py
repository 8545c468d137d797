"""Problems of two variables: sines, cosines, exponentials."""

from typing import Any

import numpy as np

from infimum.problems.entry import Entry
from infimum.problems.sources import ALI, DIXON, JAMIL, LEVY, LIBRARY, MISHRA, MORE


def adjiman(x: Any) -> Any:
    """The minimiser lies on a bound."""
    a, b = x
    return np.cos(a) * np.sin(b) - a / (b**2 + 1)


def bartels_conn(x: Any) -> Any:
    """Absolute values of a quadratic, a sine and a cosine."""
    a, b = x
    return np.abs(a**2 + b**2 + a * b) + np.abs(np.sin(a)) + np.abs(np.cos(b))


def biggs_exp_2(x: Any) -> Any:
    """A fit of two exponentials."""
    t = np.arange(1, 11) / 10
    return np.sum((np.exp(-t * x[0]) - 5 * np.exp(-t * x[1]) - np.exp(-t) + 5 * np.exp(-10 * t)) ** 2)


def bird(x: Any) -> Any:
    """Exponentials of waves; two minimisers, one period apart."""
    a, b = x
    return np.sin(a) * np.exp((1 - np.cos(b)) ** 2) + np.cos(b) * np.exp((1 - np.sin(a)) ** 2) + (a - b) ** 2


def bohachevsky_1(x: Any) -> Any:
    """A bowl with a sum of cosines."""
    a, b = x
    return a**2 + 2 * b**2 - 0.3 * np.cos(3 * np.pi * a) - 0.4 * np.cos(4 * np.pi * b) + 0.7


def bohachevsky_2(x: Any) -> Any:
    """A bowl with a product of cosines."""
    a, b = x
    return a**2 + 2 * b**2 - 0.3 * np.cos(3 * np.pi * a) * np.cos(4 * np.pi * b) + 0.3


def bohachevsky_3(x: Any) -> Any:
    """A bowl with the cosine of a sum."""
    a, b = x
    return a**2 + 2 * b**2 - 0.3 * np.cos(3 * np.pi * a + 4 * np.pi * b) + 0.3


def branin(x: Any) -> Any:
    """Three wells of equal depth."""
    a, b = x
    bend = b - 5.1 / (4 * np.pi**2) * a**2 + 5 / np.pi * a - 6
    return bend**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(a) + 10


def brent(x: Any) -> Any:
    """A bowl with its foot in a corner of the box, where a bell leaves 1e-87."""
    a, b = x
    return (a + 10) ** 2 + (b + 10) ** 2 + np.exp(-(a**2) - b**2)


def chichinadze(x: Any) -> Any:
    """Waves along the first variable, nearly nothing along the second."""
    a, b = x
    waves = 10 * np.cos(np.pi * a / 2) + 8 * np.sin(5 * np.pi * a / 2)
    return a**2 - 12 * a + 11 + waves - 0.2**0.5 * np.exp(-0.5 * (b - 0.5) ** 2)


def easom(x: Any) -> Any:
    """A needle in a plain."""
    a, b = x
    return -np.cos(a) * np.cos(b) * np.exp(-((a - np.pi) ** 2) - (b - np.pi) ** 2)


def egg_crate(x: Any) -> Any:
    """A bowl with squared sines."""
    return np.sum(x**2) + 25 * np.sum(np.sin(x) ** 2)


def eggholder(x: Any) -> Any:
    """Long waves of growing height; the minimiser lies on a bound."""
    a, b = x
    return -(b + 47) * np.sin(np.sqrt(np.abs(b + a / 2 + 47))) - a * np.sin(np.sqrt(np.abs(a - b - 47)))


def giunta(x: Any) -> Any:
    """Sines of two frequencies."""
    s = 16 / 15 * x - 1
    return 0.6 + np.sum(np.sin(s) + np.sin(s) ** 2 + np.sin(4 * s) / 50)


def hansen(x: Any) -> Any:
    """A product of two cosine sums; nine minimisers."""
    i = np.arange(5)
    return np.sum((i + 1) * np.cos(i * x[0] + i + 1)) * np.sum((i + 1) * np.cos((i + 2) * x[1] + i + 1))


def hosaki(x: Any) -> Any:
    """A quartic times a bell."""
    a, b = x
    return (1 - 8 * a + 7 * a**2 - 7 / 3 * a**3 + a**4 / 4) * b**2 * np.exp(-b)


def jennrich_sampson(x: Any) -> Any:
    """A badly scaled fit of exponentials."""
    i = np.arange(1.0, 11)
    return np.sum((2 + 2 * i - (np.exp(i * x[0]) + np.exp(i * x[1]))) ** 2)


LANGERMANN_CENTRES = np.array([[3.0, 5], [5, 2], [2, 1], [1, 4], [7, 9]])
LANGERMANN_HEIGHTS = np.array([1.0, 2, 5, 2, 3])


def langermann(x: Any) -> Any:
    """Waves around five centres."""
    square = np.sum((x - LANGERMANN_CENTRES) ** 2, axis=1)
    return np.sum(LANGERMANN_HEIGHTS * np.exp(-square / np.pi) * np.cos(np.pi * square))


def levy_5(x: Any) -> Any:
    """Hansen's product, tilted by a bowl so that one minimiser remains of nine."""
    return hansen(x) + (x[0] + 1.42513) ** 2 + (x[1] + 0.80032) ** 2


def levy_13(x: Any) -> Any:
    """A bowl with squared sines."""
    a, b = x
    first, second = (a - 1) ** 2 * (1 + np.sin(3 * np.pi * b) ** 2), (b - 1) ** 2 * (1 + np.sin(2 * np.pi * b) ** 2)
    return np.sin(3 * np.pi * a) ** 2 + first + second


def mccormick(x: Any) -> Any:
    """A sine along one diagonal, a square along the other."""
    a, b = x
    return np.sin(a + b) + (a - b) ** 2 - 1.5 * a + 2.5 * b + 1


def mishra_5(x: Any) -> Any:
    """Nested sines, tilted towards a bound."""
    a, b = x
    inner = np.sin((np.cos(a) + np.cos(b)) ** 2) ** 2 + np.cos((np.sin(a) + np.sin(b)) ** 2) ** 2 + a
    return inner**2 + 0.01 * a + 0.1 * b


def modified_rosenbrock(x: Any) -> Any:
    """Rosenbrock's valley with a deeper well beside it."""
    a, b = x
    return 74 + 100 * (b - a**2) ** 2 + (1 - a) ** 2 - 400 * np.exp(-((a + 1) ** 2 + (b + 1) ** 2) / 0.1)


MULLER_BROWN = np.array([  # height, then the quadratic form's three coefficients, then the centre
    [-200.0, -1.0, 0.0, -10.0, 1.0, 0.0], [-100.0, -1.0, 0.0, -10.0, 0.0, 0.5],
    [-170.0, -6.5, 11.0, -6.5, -0.5, 1.5], [15.0, 0.7, 0.6, 0.7, -1.0, 1.0]]).T


def muller_brown(x: Any) -> Any:
    """A potential energy surface with three wells."""
    height, aa, ab, bb, a0, b0 = MULLER_BROWN
    a, b = x[0] - a0, x[1] - b0
    return np.sum(height * np.exp(aa * a**2 + ab * a * b + bb * b**2))


def parsopoulos(x: Any) -> Any:
    """Twelve wells of equal depth."""
    return np.cos(x[0]) ** 2 + np.sin(x[1]) ** 2


def periodic(x: Any) -> Any:
    """Many wells, that at the origin slightly deeper."""
    return 1 + np.sum(np.sin(x) ** 2) - 0.1 * np.exp(-np.sum(x**2))


FOXHOLES = np.stack(np.meshgrid([-32.0, -16, 0, 16, 32], [-32.0, -16, 0, 16, 32]), axis=-1).reshape(25, 2)


def shekel_foxholes(x: Any) -> Any:
    """Twenty-five narrow holes in a plain (De Jong's fifth function)."""
    return 1 / (0.002 + np.sum(1 / (np.arange(1.0, 26) + np.sum((x - FOXHOLES) ** 6, axis=1))))


def shubert(x: Any) -> Any:
    """A product of two cosine sums; 18 minimisers."""
    i = np.arange(1, 6)
    return np.prod(np.sum(i * np.cos((i + 1) * x[:, None] + i), axis=1))


def trefethen(x: Any) -> Any:
    """Problem 4 of the hundred-digit challenge."""
    a, b = x
    waves = np.exp(np.sin(50 * a)) + np.sin(60 * np.exp(b)) + np.sin(70 * np.sin(a)) + np.sin(np.sin(80 * b))
    return waves - np.sin(10 * (a + b)) + (a**2 + b**2) / 4


def tsoulos(x: Any) -> Any:
    """A bowl with fast cosines."""
    return np.sum(x**2 - np.cos(18 * x))


def ursem_1(x: Any) -> Any:
    """One deep and one shallow well."""
    a, b = x
    return -np.sin(2 * a - 0.5 * np.pi) - 3 * np.cos(b) - 0.5 * a


def venter_sobieszczanski(x: Any) -> Any:
    """A bowl with slow and fast cosines."""
    return np.sum(x**2 - 100 * np.cos(x) ** 2 - 100 * np.cos(x**2 / 30))


def _entry(fun: Any, bounds: Any, minimum: Any, points: Any, source: str, notes: str) -> Entry:
    return Entry(fun=fun, size=2, bounds=bounds if np.ndim(bounds) == 2 else [bounds] * 2, minimum=minimum, points=points,
                 source=source, notes=notes)


ORIGIN = [(0.0, 0.0)]
NEARLY_ZERO = (0.0, 1e-26)  # a sum of squares whose zero is no point of doubles

TABLE = [
    _entry(adjiman, [(-1, 2), (-1, 1)], -2.021806783359787, [(2.0, 0.1057834694517169)],
           "Adjiman, Dallwig, Floudas and Neumaier, A global optimization method, alphaBB (1998)", "minimiser on a bound"),
    _entry(bartels_conn, (-500, 500), 1.0, ORIGIN, "Bartels and Conn (1982), as given by " + JAMIL,
           "multimodal, kink at the minimiser"),
    _entry(biggs_exp_2, (0, 20), NEARLY_ZERO, [(1.0, 10.0)], "Biggs (1971), as given by " + JAMIL, "curved valley"),
    _entry(bird, (-2 * np.pi, 2 * np.pi), -106.76453674926468, [(-1.5821421769300335, -3.1302468034546562),
           (4.701043130249553, 3.15293850372493)], MISHRA, "multimodal"),
    _entry(bohachevsky_1, (-100, 100), -(2.0**-54), ORIGIN,
           "Bohachevsky, Johnson and Stein, Generalized simulated annealing (1986)", "multimodal, separable"),
    _entry(bohachevsky_2, (-100, 100), 0.0, ORIGIN, "Bohachevsky, Johnson and Stein (1986)", "multimodal"),
    _entry(bohachevsky_3, (-100, 100), 0.0, ORIGIN, "Bohachevsky, Johnson and Stein (1986)", "multimodal"),
    _entry(branin, [(-5, 10), (0, 15)], 0.39788735772973816, [(-3.141592653589793, 12.275),
           (3.141592653589793, 2.2749999999999995), (9.42477796076938, 2.474999999999999)],
           "Branin, Widely convergent method for finding multiple solutions (1972); " + DIXON, "multimodal"),
    _entry(brent, (-10, 10), 1.3838965267367376e-87, [(-10.0, -10.0)], "Brent (1960), as given by " + JAMIL,
           "unimodal, minimiser in a corner"),
    _entry(chichinadze, (-30, 30), -42.94438701899097, [(6.18986658698431, 0.5)], "Chichinadze (1969), as given by " + MISHRA,
           "multimodal, separable"),
    _entry(easom, (-100, 100), -1.0, [(np.pi, np.pi)], "Easom, A survey of global optimization techniques (1990)",
           "flat, a needle"),
    _entry(egg_crate, (-5, 5), 0.0, ORIGIN, JAMIL, "multimodal, separable"),
    _entry(eggholder, (-512, 512), -959.6406627208509, [(512.0, 404.2318051137578)],
           "Whitley, Mathias, Rana and Dzubera, Evaluating evolutionary algorithms (1996)", "multimodal, minimiser on a bound"),
    _entry(giunta, (-1, 1), 0.06447042053690563, [(0.46732002539796064, 0.46732002539796064)], "Giunta, as given by " + MISHRA,
           "multimodal, separable"),
    _entry(hansen, (-10, 10), -176.54179313674564, [(-7.589893010800887, -7.708313735499347),
           (-7.589893010800887, -1.425128428319761), (-7.589893010800887, 4.858056878859825),
           (-1.306707703621301, -7.708313735499347), (-1.306707703621301, -1.425128428319761),
           (-1.306707703621301, 4.858056878859825), (4.976477603558285, -7.708313735499347),
           (4.976477603558285, -1.425128428319761), (4.976477603558285, 4.858056878859825)], "Hansen, as given by " + LEVY,
           "multimodal"),
    _entry(hosaki, [(0, 5), (0, 6)], -2.345811576101292, [(4.0, 2.0)], "Bekey and Ung, A comparative evaluation (1974); " + ALI,
           "multimodal"),
    _entry(jennrich_sampson, (-1, 1), 124.36218235561485, [(0.2578252136703641, 0.2578252136703641)],
           "Jennrich and Sampson (1968); " + MORE + ", no. 6", "badly scaled"),
    _entry(langermann, (0, 10), -4.155809291847785, [(2.7934022086450367, 1.59723250132836)], "Langermann; " + LIBRARY,
           "multimodal"),
    _entry(levy_5, (-10, 10), -176.13757800162938, [(-1.3068530097535722, -1.4248450415606813)], LEVY, "multimodal"),
    _entry(levy_13, (-10, 10), (0.0, 1e-30), [(1.0, 1.0)], LEVY + "; " + LIBRARY, "multimodal"),
    _entry(mccormick, [(-1.5, 4), (-3, 4)], -1.9132229549810364, [(-0.5471975511965977, -1.5471975511965979)],
           "McCormick, Computability of global solutions to factorable nonconvex programs (1976); " + ALI, "multimodal"),
    _entry(mishra_5, (-10, 10), -1.0198295199309433, [(-1.9868206464261489, -10.0)], MISHRA, "multimodal, minimiser on a bound"),
    _entry(modified_rosenbrock, (-2, 2), 34.04024310664063, [(-0.9095537365026206, -0.9505717126590494)],
           "Price's modified Rosenbrock, as given by " + ALI, "two basins"),
    _entry(muller_brown, [(-1.5, 1.2), (-0.5, 2)], -146.69951720995402, [(-0.5582236346330243, 1.4417258418046686)],
           "Müller and Brown, Location of saddle points and minimum energy paths (1979)", "multimodal"),
    _entry(parsopoulos, (-5, 5), NEARLY_ZERO, [(-4.71238898038469, -3.141592653589793), (-4.71238898038469, 0.0),
           (-4.71238898038469, 3.141592653589793), (-1.5707963267948966, -3.141592653589793), (-1.5707963267948966, 0.0),
           (-1.5707963267948966, 3.141592653589793), (1.5707963267948966, -3.141592653589793), (1.5707963267948966, 0.0),
           (1.5707963267948966, 3.141592653589793), (4.71238898038469, -3.141592653589793), (4.71238898038469, 0.0),
           (4.71238898038469, 3.141592653589793)], "Parsopoulos and Vrahatis, On the computation of all global minimizers (2004)",
           "multimodal, separable"),
    _entry(periodic, (-10, 10), 0.9, ORIGIN, ALI, "multimodal"),
    _entry(shekel_foxholes, (-65.536, 65.536), 0.9980038377944502, [(-31.97833483565697, -31.978334837300796)],
           "De Jong (1975), fifth function; " + LIBRARY, "multimodal, flat"),
    _entry(shubert, (-10, 10), -186.73090883102384, [(-7.708313735499347, -7.0835064076515595),
           (-7.708313735499347, -0.8003211004719731), (-7.708313735499347, 5.482864206707613),
           (-7.0835064076515595, -7.708313735499347), (-7.0835064076515595, -1.425128428319761),
           (-7.0835064076515595, 4.858056878859825), (-1.425128428319761, -7.0835064076515595),
           (-1.425128428319761, -0.8003211004719731), (-1.425128428319761, 5.482864206707613),
           (-0.8003211004719731, -7.708313735499347), (-0.8003211004719731, -1.425128428319761),
           (-0.8003211004719731, 4.858056878859825), (4.858056878859825, -7.0835064076515595),
           (4.858056878859825, -0.8003211004719731), (4.858056878859825, 5.482864206707613),
           (5.482864206707613, -7.708313735499347), (5.482864206707613, -1.425128428319761),
           (5.482864206707613, 4.858056878859825)], "Shubert, A sequential method seeking the global maximum (1972); " + LEVY,
           "multimodal"),
    _entry(trefethen, (-10, 10), -3.306868647475237, [(-0.024403079694375173, 0.21061242715535577)],
           "Trefethen, A hundred-dollar, hundred-digit challenge (2002), problem 4", "multimodal"),
    _entry(tsoulos, (-1, 1), -2.0, ORIGIN, "Tsoulos (2008), the Rastrigin function on [-1, 1], as given by " + JAMIL,
           "multimodal, separable"),
    _entry(ursem_1, [(-2.5, 3), (-2, 2)], -4.816814063734822, [(1.697136454365936, 0.0)],
           "Ursem and Rasmussen, Multinational evolutionary algorithms (2000)", "multimodal, separable"),
    _entry(venter_sobieszczanski, (-50, 50), -400.0, ORIGIN,
           "Venter and Sobieszczanski-Sobieski, Particle swarm optimization (2003)", "multimodal, separable"),
]
