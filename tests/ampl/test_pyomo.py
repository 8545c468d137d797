"""Models written by Pyomo: read by us, and solved through its own interface."""

import os
import sys

import numpy as np
import pytest

import infimum
from infimum.ampl import Model, read
from tests.ampl.helpers import binary

pe = pytest.importorskip("pyomo.environ")

N = 4


def _model():
    """Names are kept, so that the variables can be found again."""
    m = pe.ConcreteModel()
    m.x = pe.Var(range(N), bounds=(0.5, 2), initialize=1.25)
    m.k = pe.Var(domain=pe.Integers, bounds=(1, 3))
    m.b = pe.Var(domain=pe.Binary)
    m.shared = pe.Expression(expr=pe.exp(m.x[0]) * m.x[1] + 3)
    return m


FUNCTIONS = {
    "arithmetic": lambda m: (m.x[0] + 2 * m.x[1] - m.x[2] / m.x[3]) ** 3 - 7 * m.x[0] * m.x[1] + 5 + m.k * m.x[0],
    "powers": lambda m: m.x[0] ** 2.5 + 2 ** m.x[1] + m.x[2] ** m.x[3] + m.x[0] ** -2 + (m.x[1] - 3) ** 3,
    "trigonometric": lambda m: pe.sin(m.x[0]) * pe.cos(m.x[1]) + pe.tan(m.x[2] / 3) + pe.atan(m.x[3]),
    "inverse": lambda m: (pe.asin(m.x[0] / 3) + pe.acos(m.x[1] / 3) + pe.acosh(m.x[2] + 1) + pe.asinh(m.x[3])
                          + pe.atanh(m.x[0] / 4)),
    "hyperbolic": lambda m: pe.sinh(m.x[0]) - pe.cosh(m.x[1]) * pe.tanh(m.x[2]),
    "logarithms": lambda m: pe.log(m.x[0]) + pe.log10(m.x[1]) + pe.sqrt(m.x[2]) + pe.exp(-m.x[3]),
    "roughness": lambda m: abs(m.x[0] - 1) + pe.ceil(m.x[1]) + pe.floor(m.x[2]) + m.b,
    "conditions": lambda m: pe.Expr_if(m.x[0] >= m.x[1], m.x[2] ** 2, pe.sin(m.x[3])),
    "shared": lambda m: m.shared ** 2 + pe.log(m.shared) + m.shared,
    "loop": lambda m: sum(m.x[i] ** 2 - 10 * pe.cos(2 * np.pi * m.x[i]) + 10 for i in range(N)),
    "chain": lambda m: sum(100 * (m.x[i + 1] - m.x[i] ** 2) ** 2 + (1 - m.x[i]) ** 2 for i in range(N - 1)),
    "product": lambda m: np.prod([m.x[i] - 1 for i in range(N)]) + (sum(m.x[i] for i in range(N)) + m.k) ** 2,
    "linear": lambda m: 3 * m.x[0] - 2.5 * m.x[3] + m.k - m.b + 1,
}


def _read(m, folder) -> Model:
    m.write(str(folder / "model.nl"), io_options={"symbolic_solver_labels": True})
    return read(folder / "model.nl")


def _put(m, model: Model, x: np.ndarray) -> None:
    for name, value in zip(model.names, x.tolist(), strict=True):
        m.find_component(name).set_value(value, skip_validation=True)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_objectives(tmp_path, name):
    m = _model()
    m.o = pe.Objective(expr=FUNCTIONS[name](m), sense=pe.maximize)
    m.all = pe.Constraint(expr=sum(m.x[i] for i in range(N)) + m.k + m.b <= 20)
    model = _read(m, tmp_path)
    assert model.objectives[0].maximise and model.lo.min() == 0.0 and model.integrality.sum() == 2
    assert [model.names[i] for i in np.flatnonzero(model.integrality)] in (["k", "b"], ["b", "k"])
    for x in np.random.default_rng(1).uniform(0.6, 1.9, (5, model.n)):
        _put(m, model, x)
        wanted = pe.value(m.o)
        assert model.fun(x) == pytest.approx(wanted, rel=1e-12, abs=1e-12)
        around = infimum.enclose(model.fun, [(v, v) for v in x])
        slack = 1e-13 * (1 + abs(wanted))
        assert around.lo - slack <= wanted <= around.hi + slack
    (tmp_path / "other.nl").write_bytes(binary((tmp_path / "model.nl").read_text()))
    assert read(tmp_path / "other.nl").fun(x) == model.fun(x)


def test_constraints(tmp_path):
    m = _model()
    m.o = pe.Objective(expr=m.x[0])
    m.alike = pe.Constraint(range(N - 1), rule=lambda m, i: m.x[i] * m.x[i + 1] + pe.sin(m.x[i]) <= i)
    m.ranges = pe.Constraint(range(N - 1), rule=lambda m, i: (i, m.x[i] + 2 * m.x[i + 1] + m.k, 7))
    m.equal = pe.Constraint(expr=m.shared / (1 + m.x[2] ** 2) + abs(m.x[3]) == 2)
    model = _read(m, tmp_path)
    assert [len(rows) for rows in model.rows] == [3, 3, 1] and model.m == 7
    x = np.random.default_rng(2).uniform(0.6, 1.9, model.n)
    _put(m, model, x)
    for constraint, rows in zip(model.constraints, model.rows, strict=True):
        theirs = [m.find_component(model.constraint_names[i]) for i in rows]
        assert constraint.fun(x) == pytest.approx([pe.value(c.body) for c in theirs], rel=1e-13)
        for ours, side in ((constraint.lb, "lower"), (constraint.ub, "upper")):
            there = [pe.value(getattr(c, side)) for c in theirs]
            assert ours.tolist() == [(-1 if side == "lower" else 1) * np.inf if v is None else v for v in there]


@pytest.fixture
def on_path(tmp_path, monkeypatch):
    """The program as pip installs it."""
    script = tmp_path / "infimum"
    script.write_text(f"#!{sys.executable}\nimport sys\nfrom infimum.cli.main import main\nsys.exit(main())\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", os.path.dirname(os.path.dirname(infimum.__file__)))


@pytest.mark.skipif(os.name == "nt", reason="the script is one of Unix")
def test_solver_factory(on_path):
    m = pe.ConcreteModel()
    m.x, m.y = pe.Var(bounds=(-5, 10)), pe.Var(bounds=(0, 15), initialize=2)
    m.o = pe.Objective(expr=(m.x ** 2 + m.y - 11) ** 2 + (m.x + m.y ** 2 - 7) ** 2 + m.x)
    solver = pe.SolverFactory("infimum")
    assert solver.available()
    done = solver.solve(m, options={"rtol": 1e-8})
    assert done.solver.termination_condition == "optimal" and done.solver.status == "ok"
    assert "PROVED" in done.solver.message
    native = infimum.minimize(lambda x: (x[0]**2 + x[1] - 11)**2 + (x[0] + x[1]**2 - 7)**2 + x[0], [(-5, 10), (0, 15)])
    assert pe.value(m.o) == pytest.approx(native.fun, abs=1e-6)
    assert (m.x(), m.y()) == pytest.approx(tuple(native.x), abs=1e-3)
