"""Random functions for linear bounds: layers of curves and hinges over arrays, sums of curves beside their inflections, and any
operations, among them choices. Nothing here needs Arb."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from infimum.expr.node import topological
from infimum.ops.line_rules import SMOOTH_CURVES
from infimum.ops.vocabulary import OPS
from tests.oracle.boxes import random_boxes
from tests.oracle.generate import Generator, Twin, constant, twin

PI = (3.141592653589793, 3.1415926535897936)  # a constant between doubles
CURVES = sorted(op for op in SMOOTH_CURVES if op in OPS)
POWERS = (-3, -2, -1, 2, 3, 4, 5, 7, 8, 33)
_SIZES, _CHANCES = (1, 2, 3, 4, 8, 16, 17, 20, 45), (0.2, 0.25, 0.2, 0.1, 0.1, 0.04, 0.05, 0.04, 0.02)
_MOST = 2e3  # numbers inside an expression that is compiled


class Sample(NamedTuple):
    """An expression in n variables, twice (`tests/oracle/generate.py`), and where its bends are."""

    built: Twin
    n: int
    kind: str
    places: tuple[float, ...] = (0.0,)


def _logistic(u: Twin) -> Twin:
    return twin("div", 1.0, twin("add", 1.0, twin("exp", twin("neg", u))))


ACTIVATIONS: dict[str, Callable[[Twin], Twin]] = {
    **{op: (lambda u, op=op: twin(op, u)) for op in ("tanh", "expit", "arctan", "erf", "sin", "cos", "abs", "arcsinh")},
    "relu": lambda u: twin("max", u, 0.0), "leaky relu": lambda u: twin("max", u, twin("mul", 0.125, u)),
    "softplus": lambda u: twin("logaddexp", 0.0, u), "logistic": _logistic,
    "bump": lambda u: twin("exp", twin("neg", twin("powi", u, k=2))),
    "clipped": lambda u: twin("min", twin("max", u, -1.0), 1.0), "swish": lambda u: twin("mul", u, _logistic(u)),
    "root": lambda u: twin("sqrt", twin("add", 1.0, twin("powi", u, k=2))), "cube": lambda u: twin("powi", twin("tanh", u), k=3),
    "inverse": lambda u: twin("powi", twin("add", 2.0, twin("sin", u)), k=-1), "floor": lambda u: twin("floor", u),
    "gelu": lambda u: twin("mul", u, twin("erfc", twin("mul", -0.7071067811865476, u))),
}


def _dense(rng: np.random.Generator, u: Twin) -> Twin:
    """W u + b, as products of arrays are recorded."""
    width = 40 if rng.random() < 0.1 else int(rng.integers(1, 9))
    weights = constant(rng.normal(size=(width, u.size)) * rng.choice((0.3, 1.0, 3.0)))
    rows = twin("broadcast", u, shape=(width, u.size))
    return twin("add", twin("sum", twin("mul", weights, rows), axes=(1,)), constant(rng.normal(size=width)))


def _convolution(rng: np.random.Generator, u: Twin) -> Twin:
    """Σ w_k u[k:], of slices of one length."""
    taps = int(rng.integers(1, min(u.size, 3) + 1))
    parts = [twin("mul", float(rng.normal()), twin("slice", u, starts=(k,), steps=(1,), counts=(u.size - taps + 1,)))
             for k in range(taps)]
    total = parts[0]
    for part in parts[1:]:
        total = twin("add", total, part)
    return total


def _running(rng: np.random.Generator, u: Twin) -> Twin:
    reverse = bool(rng.integers(2))
    if rng.random() < 0.5:
        return twin("cumsum", u, reverse=reverse, exclusive=bool(rng.integers(2)))
    return twin("recur", u, constant(rng.uniform(-1, 1, u.size)), reverse=reverse)


def _shuffled(rng: np.random.Generator, u: Twin) -> Twin:
    flipped = twin("slice", u, starts=(u.size - 1,), steps=(-1,), counts=(u.size,))
    return twin(rng.choice(("mul", "sub", "min", "max", "logaddexp")), u, flipped)


def _one_for_all(rng: np.random.Generator, u: Twin) -> Twin:
    """A curve of one number, which all the others meet."""
    one = twin("slice", u, starts=(int(rng.integers(u.size)),), steps=(1,), counts=(1,))
    curve = ACTIVATIONS[rng.choice(list(ACTIVATIONS))](twin("mul", float(rng.normal()), one))
    return twin(rng.choice(("mul", "sub", "max", "div")), u, twin("broadcast", twin("reshape", curve, shape=()), shape=u.shape))


def _quadratic(rng: np.random.Generator, u: Twin) -> Twin:
    """Σ_j w_ij u_i u_j: a product of two arrays that both move."""
    if u.size > 12:
        return twin("powi", u, k=2)
    rows = twin("broadcast", u, shape=(u.size, u.size))
    products = twin("mul", rows, twin("transpose", rows, perm=(1, 0)))
    return twin("sum", twin("mul", constant(rng.normal(size=(u.size, u.size))), products), axes=(1,))


_LAYERS = (_dense, _dense, _dense, _convolution, _running, _shuffled, _one_for_all, _quadratic)
_ENDS: dict[str, Callable[[Twin], Twin]] = {
    "amax": lambda u: twin("amax", u, axes=(0,)), "prod": lambda u: twin("prod", u, axes=(0,)),
    "norm": lambda u: twin("norm", u, axes=(0,)), "squares": lambda u: twin("sum", twin("powi", u, k=2), axes=(0,)),
    "quotient": lambda u: twin("div", twin("sum", u, axes=(0,)), twin("add", 1.0, twin("sum", twin("powi", u, k=2), axes=(0,)))),
    "pi": lambda u: twin("mul", constant(*PI), twin("sum", u, axes=(0,))), "sum": lambda u: twin("sum", u, axes=(0,)),
    "where": lambda u: twin("sum", twin("where", twin("lt", u, 0.25), u, twin("powi", u, k=2)), axes=(0,)),
}


def layers(rng: np.random.Generator) -> Sample:
    """A network of one to three layers, the last of which is made one number."""
    n = int(rng.choice(_SIZES, p=_CHANCES))
    u = Generator(rng, n).x
    for _ in range(int(rng.integers(1, 4))):
        u = ACTIVATIONS[rng.choice(list(ACTIVATIONS))](_LAYERS[rng.integers(len(_LAYERS))](rng, u))
    weights = constant(rng.normal(size=u.size))
    return Sample(_ENDS[rng.choice(list(_ENDS))](twin("mul", weights, u)), n, "layers")


def bends(rng: np.random.Generator) -> Sample:
    """A weighted sum of curves of linear functions in one or two variables: as the lines alone make it."""
    n = int(rng.integers(1, 3))
    g, total = Generator(rng, n), None
    for _ in range(int(rng.integers(1, 4))):
        op = str(rng.choice(CURVES))
        inner = twin("add", twin("mul", float(rng.choice((1.0, -1.0, 0.5, rng.normal()))), g.leaf(())),
                     float(rng.choice((0.0, 0.0, 1.0, rng.normal()))))
        curve = twin(op, inner, **({"k": int(rng.choice(POWERS))} if op == "powi" else {}))
        term = twin("mul", float(rng.choice((1.0, -1.0, rng.normal()))), curve)
        total = term if total is None else twin("add", total, term)
    return Sample(total, n, "bends", (0.0, 1.0, -1.0, *(k * PI[0] / 2 for k in range(-9, 10))))


def anything(rng: np.random.Generator) -> Sample:
    """Any operations."""
    while True:
        n = int(rng.choice(_SIZES, p=_CHANCES))
        must = str(rng.choice(list(OPS))) if rng.random() < 0.5 else None
        found = Generator(rng, n).scalar(int(rng.integers(1, 6 if n < 10 else 4)), must)
        if _numbers(found) < _MOST:
            return Sample(found, n, "anything")


_PARTIAL = {"sqrt": {}, "log": {}, "arcsin": {}, "arccosh": {}, "inverse": {"k": -1}}  # branches that are undefined in places


def choices(rng: np.random.Generator) -> Sample:
    """Choices within choices, of curves that may be undefined where they are not chosen, under a curve."""
    n = int(rng.choice((1, 2, 3, 8)))
    u = Generator(rng, n).x

    def branch() -> Twin:
        inner = _LAYERS[rng.integers(len(_LAYERS))](rng, u) if rng.random() < 0.5 else twin("mul", float(rng.normal()), u)
        if inner.size != n:
            inner = twin("broadcast", twin("sum", inner, axes=(0,)), shape=(n,))
        if rng.random() < 0.4:
            op = str(rng.choice(list(_PARTIAL)))
            return twin("powi" if op == "inverse" else op, inner, **_PARTIAL[op])
        return ACTIVATIONS[rng.choice(list(ACTIVATIONS))](inner)

    def test() -> Twin:
        one, two = (twin(rng.choice(("lt", "le")), branch() if rng.random() < 0.3 else u, float(rng.choice((0.0, 1.0, -0.5))))
                    for _ in range(2))
        both = twin("not", one) if rng.random() < 0.3 else twin(rng.choice(("and", "or")), one, two)
        return one if rng.random() < 0.6 else both
    chosen = branch()
    for _ in range(int(rng.integers(1, 4))):
        sides = [chosen, branch()][::rng.choice((1, -1))]
        chosen = twin("where", test(), *sides)
    weighed = twin("mul", constant(rng.normal(size=n)), chosen)
    total = _ENDS[rng.choice(("sum", "squares", "prod"))](weighed)
    return Sample(ACTIVATIONS[rng.choice(("tanh", "sin", "relu", "swish"))](total) if rng.random() < 0.4 else total, n, "choices",
                  (0.0, 1.0, -1.0, 0.5, -0.5))


def _numbers(f: Twin) -> int:
    return sum(node.size for node in topological([f.built]))


KINDS = (layers, bends, choices, anything)


def sample(seed: int) -> tuple[Sample, np.random.Generator]:
    """The function of a seed, and the generator for its boxes."""
    rng = np.random.default_rng(seed)
    return KINDS[seed % len(KINDS)](rng), rng


# ---- boxes and points
def boxes(rng: np.random.Generator, f: Sample, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Sides (n, count): of everyday size, beside the bends, and those of `random_boxes`, none of them empty."""
    lo, hi = random_boxes(rng, f.n, count)
    where = rng.integers(4, size=count)
    centre = np.where(rng.random((f.n, count)) < 0.5, rng.choice(f.places, (f.n, count)), rng.uniform(-3, 3, (f.n, count)))
    reach = 4.0 * 2.0 ** -rng.integers(0, 50, count)
    plain = where > 0
    lo[:, plain], hi[:, plain] = ((centre + side * reach * rng.random((f.n, count)))[:, plain] for side in (-1, 1))
    ends = plain & (rng.random((f.n, count)) < 0.1)  # the bend is an end, or next to it
    side = rng.random((f.n, count)) < 0.5
    beside = np.nextafter(centre, rng.choice((-np.inf, np.inf), (f.n, count)))
    end = np.where(rng.random((f.n, count)) < 0.5, centre, beside)
    lo, hi = np.where(ends & side, np.minimum(end, hi), lo), np.where(ends & ~side, np.maximum(end, lo), hi)
    hi = np.where((rng.random((f.n, count)) < 0.03) & np.isfinite(lo), lo, hi)
    return np.minimum(lo, hi), np.maximum(lo, hi)


def points(rng: np.random.Generator, lo: np.ndarray, hi: np.ndarray, each: int, places: tuple[float, ...]) -> np.ndarray:
    """Points (n, boxes · each) of the boxes, those of a box side by side: inside, ends and their neighbours, bends."""
    most = np.finfo(float).max
    lo, hi = (np.repeat(np.clip(side, -most, most), each, axis=1) for side in (lo, hi))
    with np.errstate(over="ignore", invalid="ignore"):
        inside = lo + rng.random(lo.shape) * (hi - lo)
    inside = np.where(np.isfinite(inside), inside, rng.normal(size=lo.shape))
    kind = rng.integers(12, size=lo.shape)
    kind = np.where(rng.random(lo.shape[1]) < 0.3, rng.integers(2, size=lo.shape), kind)  # corners
    ends = [lo, hi, np.nextafter(lo, hi), np.nextafter(hi, lo), 0.5 * lo + 0.5 * hi, rng.choice(places, lo.shape)]
    found = np.select([kind == k for k in range(len(ends))], ends, inside)
    return np.clip(found, lo, hi)
