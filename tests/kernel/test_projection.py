"""What variable projection concludes from, part by part: norms, eigenvalues and remainders at points of the box, by Arb."""

import numpy as np
import pytest
from flint import arb

import infimum
from infimum.backend.cpu import CpuBackend
from infimum.bounds.least_squares import projection_kernel
from infimum.bounds.least_squares.linear_fit import LinearFit
from infimum.evaluation.evaluator import Evaluator
from infimum.kernel.ir import Builder, Value
from tests.oracle.arb_values import Balls, precision
from tests.oracle.walk import elements

T = np.arange(1, 9) / 4
Y = np.array([3, 5, 2, 4, 1, 0, 2, -1]) / 4
MODELS = {
    "one row": (lambda x: x[1] * np.exp(-x[0] * T[:1]) - 1.0, 2),
    "two rows": (lambda x: x[1] * np.exp(-x[0] * T[:2]) - Y[:2], 2),
    "a line and a decay": (lambda x: x[1] * np.exp(-x[0] * T) + x[2] * T - Y, 3),
    "waves": (lambda x: x[2] * np.sin(x[0] * T) + x[3] * np.cos(x[0] * T + x[1]) - Y, 4),
    "data": (lambda x: x[1] * Y * np.exp(-x[0] * T) + x[2] * T * np.exp(-x[0] * T) + np.tanh(x[0] * T), 3),
    "a curved rest": (lambda x: x[2] * np.exp(-x[0] * T) - 3 * np.exp(x[1] * x[0]) - Y * x[1] ** 3, 3),
    "two alike": (lambda x: x[2] * np.exp(-x[0] * T) + x[3] * np.cos(x[1] * T) + x[4] - Y, 5),
}
SAMPLES = 12


class Spoilt(LinearFit):
    """Numbers that are off: nothing relies on how good they are. Columns that are dropped keep theirs."""

    def __init__(self, b: Builder, *args: object):
        super().__init__(b, *args)
        rng, q = np.random.default_rng(0), range(self.q)

        def off(value: Value, *columns: int, by: float = 0.0156) -> Value:
            changed = b.fma(value, 1 + float(rng.normal()) / 16, by * float(rng.normal()))
            for j in columns:
                changed = b.select(self.dropped[j], value, changed)
            return changed
        self.kappa = [off(self.kappa[j], j) for j in q]
        self.path, self.second = ([[off(row[j], j, by=4.0) for j in q] for row in rows] for rows in (self.path, self.second))
        self.basis = [[off(self.basis[j][m], j, m) for m in q] for j in q]
        self.turns = [[[off(each[j][m], j, m) for m in q] for j in q] for each in self.turns]


class Exact(Balls):
    """At a point of balls."""

    def variable(self, position: int) -> arb:
        return self.point[position]


class Inside:
    """The numbers that a kernel has chosen and concluded, lane by lane."""

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, upper: float):
        n, self.parts = evaluator.n, evaluator.facts.separable
        writer = projection_kernel.ProjectionKernel(self.parts, n)
        b, fit, self.p, self.q = writer.b, writer.fit, writer.p, writer.q
        self.pairs = writer.basis.pairs
        groups = {
            "t": [writer.basis.t[i] for i in self.parts.nonlinear], "h": writer.h, "kappa": fit.kappa,
            "path": [v for row in fit.path for v in row], "second": [v for row in fit.second for v in row],
            "basis": [v for row in fit.basis for v in row], "turns": [v for m in fit.turns for row in m for v in row],
            "dropped": [b.select(mask, 1.0, 0.0) for mask in fit.dropped], "solid": [b.select(writer.solid, 1.0, 0.0)],
            "gamma": [writer.gamma], "norm_w": [writer.norm_w], "norm_rho": [writer.sums.norm_rho],
            "norm_n": [writer.sums.norm_n], "lower": [writer.lower]}
        for row, value in enumerate(v for group in groups.values() for v in group):
            b.output(4, row, value)
        kernel, lanes = b.kernel("inside", 1, 5), lo.shape[1]
        doubles = writer.data.doubles()
        doubles[writer.at:writer.at + 1 + 2 * n] = [upper, *np.full(n, -1e9), *np.full(n, 1e9)]
        rows = sum(map(len, groups.values()))
        out = [np.empty((size, lanes)) for size in (2 * n + 3, 1, n, 1, rows)]
        regions = np.concatenate([lo, hi, np.full((1, lanes), -np.inf), np.zeros((1, lanes)), np.full((1, lanes), 3.0)])
        CpuBackend().compile(kernel).run([regions], out, doubles, writer.data.positions())
        self.found, at = {}, 0
        for name, group in groups.items():
            self.found[name] = out[4][at:at + len(group)]
            at += len(group)

    def numbers(self, name: str, lane: int, *shape: int) -> np.ndarray:
        return self.found[name][:, lane].reshape(shape)

    def rows(self, lane: int, d: list[arb]) -> tuple[np.ndarray, np.ndarray]:
        """u and Ψ at t + d, as balls."""
        p, q = self.p, self.q
        point = [arb(0)] * (max([*self.parts.nonlinear, *(i for m in self.parts.products for i in m)]) + 1)
        for i, t, step in zip(self.parts.nonlinear, self.numbers("t", lane, p).tolist(), d, strict=True):
            point[i] = arb(t) + step
        rest, *functions = (elements(v, Exact(point)) for v in (self.parts.rest, *self.parts.functions))
        columns = [functions[k] if data is None else elements(data, Exact(point)) * functions[k]
                   for data, k in self.parts.columns]
        balls = {name: exact(self.numbers(name, lane, *shape)) for name, shape in (
            ("kappa", (q,)), ("path", (p, q)), ("second", (len(self.pairs), q)), ("basis", (q, q)), ("turns", (p, q, q)))}
        kappa, matrix = balls["kappa"], balls["basis"]
        for k in range(p):
            kappa, matrix = kappa + balls["path"][k] * d[k], matrix - balls["turns"][k] * d[k]
        for e, (k, m) in enumerate(self.pairs):
            kappa = kappa + balls["second"][e] * (d[k] * d[m] * (0.5 if k == m else 1.0))
        phi = np.stack(columns, axis=1)
        return rest + phi @ kappa, phi @ matrix


def exact(values: np.ndarray) -> np.ndarray:
    found = np.empty(values.shape, dtype=object)
    found.reshape(-1)[:] = [arb(v) for v in values.reshape(-1).tolist()]
    return found


def doubles(values: np.ndarray) -> np.ndarray:
    return np.array([float(v.mid()) for v in values.reshape(-1)]).reshape(values.shape)


def no_more(value: float, bound: float) -> bool:
    return value <= bound * (1 + 1e-12) + 1e-290


@pytest.mark.parametrize(("fit", "upper"), [(LinearFit, 1e9), (LinearFit, 4.0), (Spoilt, np.inf)], ids=("few", "all", "spoilt"))
@pytest.mark.parametrize("name", MODELS)
def test_what_is_concluded_holds_at_points_of_the_box(name, fit, upper, monkeypatch):
    monkeypatch.setattr(projection_kernel, "LinearFit", fit)
    model, n = MODELS[name]
    evaluator = infimum.compile(lambda x: np.sum(model(x) ** 2), n)
    parts, rng, lanes = evaluator.facts.separable, np.random.default_rng(len(name)), 12
    assert not parts.families and not parts.multiplied
    linear = sorted({i for m in parts.products for i in m})
    centre, width = rng.uniform(0.3, 1.5, (n, lanes)), rng.choice((1e-6, 0.01, 0.1, 0.3), (n, lanes))
    lo, hi = centre - width, centre + width
    lo[linear], hi[linear] = -10.0 ** rng.integers(0, 4, lanes), 10.0 ** rng.integers(0, 4, lanes)
    inside, solid = Inside(evaluator, lo, hi, upper), 0
    with precision(300):
        for lane in np.flatnonzero(inside.found["solid"][0]):
            solid += 1
            facts = {what: float(inside.found[what][0, lane]) for what in ("gamma", "norm_w", "norm_rho", "norm_n", "lower")}
            h, kept = inside.numbers("h", lane, inside.p), inside.numbers("dropped", lane, inside.q) == 0
            zero, tiny = [arb(0)] * inside.p, arb(2) ** -120
            u0, q0 = inside.rows(lane, zero)
            slopes = [[(b - a) / tiny for a, b in zip((u0, q0), inside.rows(lane, [tiny * (k == m) for m in range(inside.p)]),
                                                      strict=True)] for k in range(inside.p)]
            for s in np.concatenate([rng.uniform(-1, 1, (SAMPLES, inside.p)), rng.choice((-1.0, 1.0), (4, inside.p))]):
                d = [arb(float(a)) * arb(float(b)) for a, b in zip(s, h, strict=True)]
                u, psi = inside.rows(lane, d)
                rho = u - u0 - sum(slopes[k][0] * d[k] for k in range(inside.p))
                beyond = (psi - q0 - sum(slopes[k][1] * d[k] for k in range(inside.p)))[:, kept]
                u, psi, rho, beyond = doubles(u), doubles(psi)[:, kept], doubles(rho), doubles(beyond)
                assert no_more(np.linalg.norm(rho), facts["norm_rho"]) and no_more(np.linalg.norm(beyond), facts["norm_n"])
                assert no_more(np.linalg.norm(psi.T @ u), facts["norm_w"])
                assert not kept.any() or np.linalg.eigvalsh(psi.T @ psi).min() >= facts["gamma"] - 1e-12
                left = u - psi @ np.linalg.lstsq(psi, u, rcond=None)[0] if kept.any() else u
                assert facts["lower"] <= left @ left * (1 + 1e-9) + 1e-12
    assert solid > (0 if fit is Spoilt else 3)
