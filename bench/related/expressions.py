"""Drawn expressions: nested tuples, with their text as a user would write it, their value in balls, and their lines of .nl files.

Leaves are ("x", i), ("number", a double), ("whole", an int) and ("pi",). Inner nodes are (operation, operands …), and
("where", a, b, c, d), which is c where a <= b and d elsewhere. Nodes of `ARRAYS` are functions of the first n variables, with
parameters: (name, n, parameters …).
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from flint import arb

from bench.related.balls import BALLS, PI, Pole, Undefined, Unsure, ball, compare

Tree = tuple

TEXT: dict[str, str] = {
    "neg": "-{}", "abs": "np.abs({})", "square": "{} ** 2", "cube": "{} ** 3", "fourth": "{} ** 4", "sqrt": "np.sqrt({})",
    "half_power": "{} ** 0.5", "log": "np.log({})", "exp": "np.exp({})", "sin": "np.sin({})", "cos": "np.cos({})",
    "tan": "np.tan({})", "arctan": "np.arctan({})", "tanh": "np.tanh({})", "cbrt": "np.cbrt({})", "floor": "np.floor({})",
    "ceil": "np.ceil({})", "rint": "np.rint({})", "sign": "np.sign({})", "inverse": "1 / {}", "minus_two": "{} ** -2",
    "zero_times": "0 * {}", "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "div": "{} / {}", "power": "{} ** {}",
    "min": "np.minimum({}, {})", "max": "np.maximum({}, {})", "where": "np.where({} <= {}, {}, {})",
}
# the operators of .nl files; what has none is written with others
NL: dict[str, str] = {
    "neg": "o16 {}", "abs": "o15 {}", "square": "o77 {}", "cube": "o5 {} n3", "fourth": "o76 {} n4", "sqrt": "o39 {}",
    "half_power": "o5 {} n0.5", "log": "o43 {}", "exp": "o44 {}", "sin": "o41 {}", "cos": "o46 {}", "tan": "o38 {}",
    "arctan": "o49 {}", "tanh": "o37 {}", "floor": "o13 {}", "ceil": "o14 {}", "rint": "o57 {} n0", "inverse": "o3 n1 {}",
    "minus_two": "o76 {} n-2", "zero_times": "o2 n0 {}", "add": "o0 {} {}", "sub": "o1 {} {}", "mul": "o2 {} {}",
    "div": "o3 {} {}", "power": "o5 {} {}", "min": "o11 2 {} {}", "max": "o12 2 {} {}", "where": "o35 o23 {} {} {} {}",
}
UNARY = tuple(op for op, text in TEXT.items() if text.count("{}") == 1)


class ArrayFunction(NamedTuple):
    """A function of all variables as users write it with arrays, and in balls."""

    text: str
    balls: Callable[..., arb]


def _sum(terms: Any) -> arb:
    return sum(terms, arb(0))


def _products(rows: Sequence[Sequence[float]], x: Sequence[arb]) -> list[arb]:
    return [_sum(arb(a) * v for a, v in zip(row, x, strict=True)) for row in rows]


def _norm(x: list[arb], at: Sequence[float]) -> arb:
    return _sum((v - arb(a)) ** 2 for v, a in zip(x, at, strict=True)).sqrt()


def _data(x: list[arb], times: Sequence[float], values: Sequence[float]) -> arb:
    return _sum((x[0] * (-x[0] * arb(t)).exp() - arb(y)) ** 2 for t, y in zip(times, values, strict=True))


def _monomial(x: list[arb], exponents: Sequence[float]) -> arb:
    total = arb(1)
    for v, e in zip(x, exponents, strict=True):
        total *= BALLS["power"](v, arb(e))
    return total


# {x} are the first variables, as many as the node names with its first parameter
ARRAYS: dict[str, ArrayFunction] = {
    "sum_of_squares": ArrayFunction("np.sum((np.array({}) @ {x} - np.array({})) ** 2)", lambda x, a, b: _sum(
        (v - arb(w)) ** 2 for v, w in zip(_products(a, x), b, strict=True))),
    "quadratic": ArrayFunction("{x} @ np.array({}) @ {x}", lambda x, q: _sum(
        u * v for u, v in zip(_products(q, x), x, strict=True))),
    "linear": ArrayFunction("np.dot(np.array({}), {x})", lambda x, a: _products([a], x)[0]),
    "norm": ArrayFunction("np.linalg.norm({x} - np.array({}))", _norm),
    "data": ArrayFunction("np.sum((x[0] * np.exp(-x[0] * np.array({})) - np.array({})) ** 2)", _data),
    "monomial": ArrayFunction("np.prod({x} ** np.array({}))", _monomial),
    "waves": ArrayFunction("np.sum(np.cos({x} * np.array({})))", lambda x, a: _sum(
        (v * arb(w)).cos() for v, w in zip(x, a, strict=True))),
    "largest": ArrayFunction("np.max(np.abs({x} - np.array({})))", lambda x, a: _greatest(
        [abs(v - arb(w)) for v, w in zip(x, a, strict=True)])),
}


def _greatest(values: list[arb]) -> arb:
    found = values[0]
    for v in values[1:]:
        found = found.max(v)
    return found


def text(e: Tree, n: int) -> str:
    """Python, of np and x, which has n elements; operands are in brackets."""
    op, *args = e
    if op == "x":
        return f"x[{args[0]}]"
    if op in ("number", "whole"):
        return f"({args[0]!r})" if args[0] < 0 or math.copysign(1.0, args[0]) < 0 else repr(args[0])
    if op == "pi":
        return "infimum.pi"
    if op in ARRAYS:
        first, *parameters = args
        return f"({ARRAYS[op].text.format(*map(_listed, parameters), x='x' if first == n else f'x[:{first}]')})"
    return f"({TEXT[op].format(*(text(a, n) for a in args))})"


def _listed(parameters: Any) -> str:
    return repr([list(row) for row in parameters] if isinstance(parameters[0], tuple) else list(parameters))


def value(e: Tree, x: Sequence[arb]) -> arb:
    """The value in balls; on balls with a radius an enclosure. Undefined and Unsure are raised."""
    op, *args = e
    if op == "x":
        return x[args[0]]
    if op in ("number", "whole"):
        return ball(args[0])
    if op == "pi":
        return ball(PI)
    if op == "where":
        return value(args[2 if _holds(args[0], args[1], x) else 3], x)
    if op in ARRAYS:
        found = ARRAYS[op].balls(list(x[:args[0]]), *args[1:])
    else:
        found = BALLS[op](*[value(a, x) for a in args])
    if not found.is_finite():
        raise Unsure
    return found


def _holds(a: Tree, b: Tree, x: Sequence[arb]) -> bool:
    """a <= b, which is false of NaN."""
    try:
        return compare(value(a, x), value(b, x)) <= 0
    except Pole:
        raise Unsure from None
    except Undefined:
        return False


def nl_lines(e: Tree) -> list[str] | None:
    """Prefix notation; None where an operation is not there."""
    op, *args = e
    if op == "x":
        return [f"v{args[0]}"]
    if op in ("number", "whole"):
        return [f"n{args[0]!r}"]
    inner = [nl_lines(a) for a in args] if op in NL else [None]
    if any(lines is None for lines in inner):
        return None
    found: list[str] = []
    operands = iter(inner)
    for word in NL[op].split():
        found += next(operands) if word == "{}" else [word]
    return found


def is_constant(e: Tree) -> bool:
    """Without a variable."""
    return e[0] in ("number", "whole", "pi") or (e[0] in TEXT and all(is_constant(a) for a in e[1:]))
