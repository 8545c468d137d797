"""Every operator: its value at points, and its enclosure, by formulas written here once more."""

import math
from fractions import Fraction

import numpy as np
import pytest

import infimum
from infimum.ampl.operators import OPERATORS, UNSUPPORTED
from infimum.errors import ModelFileError
from tests.ampl.helpers import binary, model_of, nl

X, Y = "v0", "v1"
POINTS = [(0.3, 0.7), (-1.25, 0.5), (2.6, -1.5), (0.0, 1.0), (1.0, 2.0), (-0.4, -0.9), (2.5, 2.5)]
_COUNT = ["3", "o22", X, Y, "o24", X, "n1", "o29", Y, "n0"]  # x < y, x = 1, y > 0


def _counted(x: float, y: float) -> int:
    return (x < y) + (x == 1) + (y > 0)


# code: the lines of an expression, and what it means
MEANINGS = {
    0: (["o0", X, Y], lambda x, y: x + y), 1: (["o1", X, Y], lambda x, y: x - y), 2: (["o2", X, Y], lambda x, y: x * y),
    3: (["o3", X, Y], lambda x, y: x / y), 4: (["o4", X, Y], math.fmod), 5: (["o5", X, "n3"], lambda x, y: x**3),
    6: (["o6", X, Y], lambda x, y: max(x - y, 0)), 11: (["o11", "3", X, Y, "n0.5"], lambda x, y: min(x, y, 0.5)),
    12: (["o12", "2", X, Y], max), 13: (["o13", X], lambda x, y: math.floor(x)), 14: (["o14", X], lambda x, y: math.ceil(x)),
    15: (["o15", X], lambda x, y: abs(x)), 16: (["o16", X], lambda x, y: -x),
    20: (["o35", "o20", "o22", X, "n0", "o22", Y, "n0", X, Y], lambda x, y: x if x < 0 or y < 0 else y),
    21: (["o35", "o21", "o22", X, "n0", "o22", Y, "n0", X, Y], lambda x, y: x if x < 0 and y < 0 else y),
    22: (["o35", "o22", X, Y, "n1", Y], lambda x, y: 1 if x < y else y),
    23: (["o35", "o23", X, Y, "n1", Y], lambda x, y: 1 if x <= y else y),
    24: (["o35", "o24", X, "n1", "n7", Y], lambda x, y: 7 if x == 1 else y),
    28: (["o35", "o28", X, Y, "n1", Y], lambda x, y: 1 if x >= y else y),
    29: (["o35", "o29", X, Y, "n1", Y], lambda x, y: 1 if x > y else y),
    30: (["o35", "o30", X, "n1", "n7", Y], lambda x, y: 7 if x != 1 else y),
    34: (["o35", "o34", "o22", X, Y, "n1", Y], lambda x, y: y if x < y else 1),
    35: (["o35", "n1", X, "o43", "n-1"], lambda x, y: x),
    37: (["o37", X], lambda x, y: math.tanh(x)), 38: (["o38", X], lambda x, y: math.tan(x)),
    39: (["o39", "o15", X], lambda x, y: math.sqrt(abs(x))), 40: (["o40", X], lambda x, y: math.sinh(x)),
    41: (["o41", X], lambda x, y: math.sin(x)), 42: (["o42", "o0", X, "n4"], lambda x, y: math.log10(x + 4)),
    43: (["o43", "o0", X, "n4"], lambda x, y: math.log(x + 4)), 44: (["o44", X], lambda x, y: math.exp(x)),
    45: (["o45", X], lambda x, y: math.cosh(x)), 46: (["o46", X], lambda x, y: math.cos(x)),
    47: (["o47", "o3", X, "n4"], lambda x, y: math.atanh(x / 4)), 48: (["o48", X, Y], math.atan2),
    49: (["o49", X], lambda x, y: math.atan(x)), 50: (["o50", X], lambda x, y: math.asinh(x)),
    51: (["o51", "o3", X, "n4"], lambda x, y: math.asin(x / 4)), 52: (["o52", "o0", X, "n4"], lambda x, y: math.acosh(x + 4)),
    53: (["o53", "o3", X, "n4"], lambda x, y: math.acos(x / 4)),
    54: (["o54", "5", X, Y, "n1", X, "o2", X, Y], lambda x, y: x + y + 1 + x + x * y),
    55: (["o55", X, Y], lambda x, y: math.trunc(x / y)),
    56: (["o56", "o2", "n1234.5", Y, "n2"], lambda x, y: float(f"{1234.5 * y:.1e}")),
    57: (["o57", X, "n1"], lambda x, y: round(x, 1)), 58: (["o58", X, "n0"], lambda x, y: math.trunc(x)),
    59: (["o59", *_COUNT], _counted), 60: (["o60", "3", X, Y, "n1"], lambda x, y: (x == y) + (x == 1)),
    62: (["o35", "o62", "n2", "o59", *_COUNT, X, Y], lambda x, y: x if _counted(x, y) >= 2 else y),
    63: (["o35", "o63", "n1", "o59", *_COUNT, X, Y], lambda x, y: x if _counted(x, y) <= 1 else y),
    64: (["o64", "3", "n-1", "n-0.5", "n0.5", "n1.5", "n2", X],
         lambda x, y: 0.25 - (x + 0.5) - 0.5 if x < -0.5 else 0.5 * x if x < 1.5 else 0.75 + 2 * (x - 1.5)),
    66: (["o35", "o66", "n1", "o59", *_COUNT, X, Y], lambda x, y: x if _counted(x, y) == 1 else y),
    67: (["o35", "o67", "n2", "o59", *_COUNT, X, Y], lambda x, y: y if _counted(x, y) >= 2 else x),
    68: (["o35", "o68", "n1", "o59", *_COUNT, X, Y], lambda x, y: y if _counted(x, y) <= 1 else x),
    69: (["o35", "o69", "n1", "o59", *_COUNT, X, Y], lambda x, y: y if _counted(x, y) == 1 else x),
    70: (["o35", "o70", *_COUNT, X, Y], lambda x, y: x if _counted(x, y) == 3 else y),
    71: (["o35", "o71", *_COUNT, X, Y], lambda x, y: x if _counted(x, y) else y),
    72: (["o35", "o72", "o22", X, "n0", "o22", Y, "n0", "o29", Y, "n1", X, Y],
         lambda x, y: x if (y < 0 if x < 0 else y > 1) else y),
    73: (["o35", "o73", "o22", X, "n0", "o22", Y, "n0", X, Y], lambda x, y: x if (x < 0) == (y < 0) else y),
    76: (["o76", X, "n4"], lambda x, y: x**4), 77: (["o77", X], lambda x, y: x * x), 78: (["o78", "n3", X], lambda x, y: 3**x),
}


def test_every_operator_has_its_meaning_here():
    assert set(MEANINGS) == set(OPERATORS)


@pytest.mark.parametrize("code", sorted(MEANINGS))
@pytest.mark.parametrize("written", ["text", "binary"])
def test_values_and_enclosures(tmp_path, code, written):
    lines, meaning = MEANINGS[code]
    text = nl(lines)
    fun = model_of(tmp_path, text if written == "text" else binary(text)).fun
    for point in POINTS:
        try:
            wanted = meaning(*point)
        except (ValueError, ZeroDivisionError):
            continue
        assert fun(np.array(point)) == pytest.approx(wanted, rel=1e-13, abs=1e-15)
        if written == "text":
            around = infimum.enclose(fun, [(x, x) for x in point])
            assert around.lo - 1e-13 * abs(wanted) <= wanted <= around.hi + 1e-13 * abs(wanted)
            wide = infimum.enclose(fun, [(x - 0.1, x + 0.2) for x in point])
            assert wide.lo - 1e-13 * abs(wanted) <= wanted <= wide.hi + 1e-13 * abs(wanted)


@pytest.mark.parametrize("code", [*UNSUPPORTED, 7, 99, -1])
def test_others_are_named_with_their_line(tmp_path, code):
    text = nl(["o0", X, f"o{code}", X])
    said = UNSUPPORTED.get(code, "")
    with pytest.raises(ModelFileError, match=rf"model\.nl, line 14, objective 0: the operator o{code}.*{said}.* is not known"):
        model_of(tmp_path, text)
    if code >= 0:
        place = binary(text).index(b"v\0\0\0\0o" + bytes([code])) + 6
        with pytest.raises(ModelFileError, match=rf"byte {place}, objective 0: the operator o{code}"):
            model_of(tmp_path, binary(text))


def test_constants_are_not_rounded(tmp_path):
    """1/3 is no double: what is computed from constants is enclosed, and folded only where that is exact."""
    third = infimum.enclose(model_of(tmp_path, nl(["o0", "o3", "n1", "n3", "o2", "n0", X])).fun, [(1, 1), (1, 1)])
    assert Fraction(third.lo) < Fraction(1, 3) < Fraction(third.hi)
    half = infimum.enclose(model_of(tmp_path, nl(["o0", "o3", "n1", "n2", X])).fun, [(0, 0), (1, 1)])
    assert half.lo == half.hi == 0.5
    odd = infimum.enclose(model_of(tmp_path, nl(["o5", X, "o16", "n3"])).fun, [(-2, -2), (1, 1)])
    assert odd.lo == odd.hi == -0.125  # an integer exponent, although it is computed
    assert model_of(tmp_path, nl(["o2", "o39", "n2", X])).fun(np.array([1.0, 0])) == math.sqrt(2)


@pytest.mark.parametrize(("lines", "meaning"), [
    (["o5", X, Y], lambda x, y: x**y), (["o78", "n-3", Y], lambda x, y: (-3.0) ** y), (["o76", X, "n-3"], lambda x, y: x**-3),
    (["o5", "o16", X, "o0", Y, "n1"], lambda x, y: (-x) ** (y + 1)),
    (["o5", "o0", X, "n0.5", "o13", Y], lambda x, y: (x + 0.5) ** y)])
def test_powers_of_negative_bases(tmp_path, lines, meaning):
    """Defined where the exponent is a whole number, whichever operator it is."""
    fun = model_of(tmp_path, nl(lines)).fun
    for point in [(-2.0, 3.0), (-2.0, 2.0), (-1.5, 0.0), (-0.25, -1.0), (2.0, -2.0)]:
        found = infimum.enclose(fun, [(x, x) for x in point])
        assert found.lo <= meaning(*point) <= found.hi and found.defined
        assert fun(np.array(point)) == pytest.approx(meaning(*point))
        wide = infimum.enclose(fun, [(point[0] - 0.1, point[0] + 0.1), (point[1] - 0.5, point[1] + 0.5)], form="natural")
        assert wide.lo <= meaning(*point) <= wide.hi


def test_an_exponent_that_only_rounding_makes_whole(tmp_path):
    """0.1 * 30 of doubles is no double: the power of a negative base may be undefined, and may be -8."""
    found = infimum.enclose(model_of(tmp_path, nl(["o5", X, "o2", "n0.1", "n30"])).fun, [(-2, -2), (1, 1)])
    assert found.lo <= -8.0 <= found.hi and not found.defined


def test_squares_are_seen(tmp_path):
    """x * x has no negative values, also where many of them are one array."""
    fun = model_of(tmp_path, nl(["o54", "6", *[f"o2 v{i} v{i}".replace(" ", "\n") for i in range(6)]], n=6)).fun
    assert infimum.enclose(fun, [(-1, 1)] * 6).lo == 0.0


WRONG = [
    (["o57", X, Y], "line 14, objective 0: the digits of round"),
    (["o58", X, "n0.5"], "line 14, objective 0: the digits of trunc"),
    (["o64", "2", "n1", "n0", X, Y], "line 16, objective 0: 'v' begins no expression"),
    (["o64", "3", "n1", "n2", "n0", "n1", "n3", X], "line 18, objective 0: the breaks"),
    (["o11", "0"], "line 13, objective 0: min has 0 operands"),
    (["h3:abc"], "a string"), (["f0 1", X], "imported function"), (["o0", X], "'b' begins no expression"),
    (["v2"], "line 12, objective 0: the number of the variable is 2"), (["ninf"], "line 12, objective 0: the constant is inf"),
    (["nx"], "line 12, objective 0: the constant is 'x', and not a number"), (["v0 1"], "line 12, objective 0: '1' is too much"),
    (["l99999999999999999"], "no double")]


@pytest.mark.parametrize("lines, said", WRONG)
def test_errors_of_expressions(tmp_path, lines, said):
    with pytest.raises(ModelFileError, match=said):
        model_of(tmp_path, nl(lines))
