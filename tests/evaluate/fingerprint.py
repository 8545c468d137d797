"""A fingerprint of the library's answers: the same bits on every machine, for every number of lanes and threads.

    python -m tests.evaluate.fingerprint            compare with the kept fingerprint
    python -m tests.evaluate.fingerprint --keep     keep this one (after a deliberate change of a function or a rule)

Inputs are dyadic numbers made from integers, so that no random generator and no libm has a part in them.
"""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import infimum
from infimum.backend.cpu import CpuBackend
from infimum.evaluation.evaluator import Evaluator
from infimum.expr.build import build, index
from infimum.expr.node import var
from infimum.interval.elementary import NAMES
from infimum.ops.vocabulary import OPS

KEPT = Path(__file__).with_name("fingerprint.json")


def dyadic(rows: int, columns: int, seed: int) -> np.ndarray:
    """Numbers in [0, 1) that are multiples of 2**-32."""
    k = np.arange(1, rows * columns + 1, dtype=np.uint64) * np.uint64(2654435761 + 2 * seed)
    return ((k ^ (k >> np.uint64(13))) % np.uint64(2**32)).astype(np.float64).reshape(rows, columns) / 2.0**32


def polynomial(x):
    return np.sum(x**4 - 16 * x**2 + 5 * x) - x[0] * x[-1] ** 3


def stencil(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2) / 3


def waves(x):
    return np.sum(x**2 - 10 * np.cos(6.25 * x)) - np.prod(np.cos(x / np.arange(1.0, len(x) + 1))) + np.exp(np.sin(x[0]))


def kinks(x):
    return np.max(np.abs(x)) + np.linalg.norm(x) + np.sum(np.where(x > 0.25, np.sqrt(np.abs(x)), x**3)) + np.sum(np.cumprod(x))


def network(x):
    n = len(x)
    weights = dyadic(12, n, 5) * 4 - 2
    return np.sum(np.tanh(weights @ x) * (dyadic(1, 12, 7)[0] - 0.5))


def guards(x):
    chosen = (x > 0) & (np.sqrt(x) < 1) | ~(np.log(x + 1.5) <= 0.25)
    return np.sum(np.where(chosen, x**2, x)) - np.where(1 / x[0] > x[-1], np.sqrt(x[0]) ** 0, np.heaviside(np.arcsin(x[-1]), 0.5))


FUNCTIONS = {f.__name__: f for f in (polynomial, stencil, waves, kinks, network, guards)}


def _digest(arrays) -> str:
    """Of all bits, but for those of NaN, whose sign is the machine's own."""
    h = hashlib.sha256()
    for a in arrays:
        h.update(np.where(np.isnan(a), np.nan, a).view(np.int64).astype("<i8").tobytes())
    return h.hexdigest()[:24]


def fingerprint(backend: Any) -> dict[str, str]:
    """One digest for each function and kernel."""
    result = {}
    for name, f in FUNCTIONS.items():
        for n in (2, 5, 40):
            lo = dyadic(n, 97, n) * 4 - 2
            hi = lo + dyadic(n, 97, n + 1) / 8
            e = infimum.compile(f, n, backend=backend)
            value, gradient, mean, hessian = e.value(lo, hi), e.gradient(lo, hi), e.mean_value(lo, hi), e.hessian(lo, hi)
            result[f"{name} {n}"] = _digest([value.lo, value.hi, value.level, gradient.lo, gradient.hi, mean.best.lo,
                                             mean.best.hi, hessian.lo, hessian.hi, e.estimate(lo), *e.estimate_gradient(lo),
                                             e.estimate_hessian_vector(lo, hi)])
    for name in NAMES:
        arity = OPS[name].arity
        lo = np.concatenate([dyadic(arity, 200, 3) * scale for scale in (1.0, 30.0, 2.0**-40, 2.0**60)], axis=1)
        x = var("x", (arity,))
        e = Evaluator(build(name, *(index(x, i) for i in range(arity))), arity, backend)
        r = e.value(lo, lo * (1 + 2.0**-10))
        result[name] = _digest([r.lo, r.hi, r.level, e.value(-lo, -lo).lo])
    return result


def main() -> int:
    found = fingerprint(CpuBackend())
    if "--keep" in sys.argv:
        KEPT.write_text(json.dumps(found, indent=1) + "\n")
        return 0
    wrong = [name for name, digest in json.loads(KEPT.read_text()).items() if found.get(name) != digest]
    print(f"{len(found)} fingerprints, {len(wrong)} differ", *wrong, sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
