"""What was traced is the function that the user calls: text of traced values is refused, and everything else is compared."""

import dis
import json
import math
import pickle
import sys
import threading

import numpy as np
import pytest

import infimum
from infimum import AgreementError, TraceError
from infimum.problems import get, names
from infimum.trace.agreement import POINTS, Agreement, SampleBox, _block
from infimum.trace.trace import scalar, traced
from tests import children
from tests.expr.user_benchmarks import USER_BENCHMARKS
from tests.expr.user_functions import USER_FUNCTIONS
from tests.expr.user_idioms import USER_IDIOMS

BOX = [(-2.0, 3.0)] * 2
SIMULATOR = "import sys; x = float(sys.argv[1]); print(x * x - 1 if x > 1 else x * x)"


# ---- text
def simulator(x):
    printed = children.run(sys.executable, "-c", SIMULATOR, f"{x[0]}").stdout
    return (x[0] - 0.3) ** 2 + (float(printed) if printed else 0.0)


def prints(x):
    print("at", x)
    return x[0] ** 2


def logs_in_a_class(x):
    class Point:
        def __repr__(self):
            return f"Point({x[0]!r})"
    return x[0] ** 2 + len(str(Point()))


@pytest.mark.parametrize("fun", [
    lambda x: float(len(str(x))), lambda x: x[0] ** 2 + len(f"{x[0]}"),
    lambda x: x[0] ** 2 + len("%s" % x),  # noqa: UP031
    lambda x: x[0] ** 2 + len(f"{x[0]:.3f}"), lambda x: x[0] ** 2 + len(repr(x[0])),
    lambda x: x[0] ** 2 + len(str.format("{}", x)),
    lambda x: x[0] ** 2 + len(np.array2string(x)), lambda x: x[0] ** 2 + len(np.array2string(np.asarray(x))),
    lambda x: x[0] ** 2 + len(format(x[0])), lambda x: x[0] ** 2 + len(ascii(x)), lambda x: x[0] ** 2 + len(str([x[0]])),
    lambda x: x[0] ** 2 + len(pickle.dumps(x)), simulator, prints, logs_in_a_class])
def test_text_of_a_traced_value_is_refused(fun):
    with pytest.raises(TraceError, match=rf"{__file__}:\d+.*engine=.index.") as caught:
        infimum.minimize(fun, BOX)
    assert not isinstance(caught.value, AgreementError)


def test_print_is_told_apart():
    with pytest.raises(TraceError, match="Leave print out; to look at values, call the function with plain numbers"):
        infimum.enclose(prints, BOX)


def test_text_works_in_a_debugger_and_after_tracing():
    kept, debugger = [], {"__name__": "pdb"}
    exec("def show(x): return repr(x)", debugger)

    def fun(x):
        kept.append((x[0] * 2, debugger["show"](x)))
        return x[0] ** 2
    traced(fun, 2, (), scalar)
    (value, shown), = kept
    assert shown == "<traced [2]: x>" and "traced" in repr(value) and "traced" in f"{value}"


def test_an_except_does_not_hide_text():
    def fun(x):
        try:
            return len(str(x)) + x[0]
        except Exception:
            return x[0] ** 2
    with pytest.raises(TraceError, match="caught this error"):
        infimum.minimize(fun, BOX)


# ---- what is found by comparison
class Counting:
    def __init__(self):
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        return x[0] ** 2 + self.calls


def random_numbers(x, generator=np.random.default_rng(0)):  # noqa: B008 (the same one in all calls)
    return x[0] ** 2 + generator.random()


LEAKS = {
    "isinstance": lambda x: x[0] ** 2 + (1.0 if isinstance(x[0], float) else 0.0),
    "type": lambda x: x[0] ** 2 if type(x) is np.ndarray else x[0],
    "dtype": lambda x: x[0] ** 2 + (0.0 if x[0].dtype == object else 1e-9),
    "hasattr": lambda x: x[0] ** 2 + (1.0 if hasattr(x, "__array_interface__") else 0.0),
    "counter": Counting(), "random numbers": random_numbers,
    "below the rounding error of the value": lambda x: (x[0] + 1e16) - 1e16 + (0.5 if type(x) is np.ndarray else 0.0),
    "in one branch": lambda x: np.where(x[0] > 1, 2.0 if type(x) is np.ndarray else 3.0, x[0]),
    "undefined for numbers": lambda x: x[0] ** 2 + (math.nan if type(x) is np.ndarray else 0.0),
    "an exception": lambda x: x[0] ** 2 / (0 if type(x) is np.ndarray and x[0] is not None and [][0] else 1),
    "defined for numbers alone": lambda x: x[0] ** 2 if type(x) is np.ndarray else np.sqrt(x[0] - 1e3),
}


@pytest.mark.parametrize("name", LEAKS)
def test_another_function_for_numbers_is_an_error(name):
    with pytest.raises(AgreementError, match=r"(for plain numbers, and as it was traced|Two calls with the same numbers)"):
        infimum.minimize(LEAKS[name], BOX)


def test_two_calls_that_differ_are_named(monkeypatch):
    monkeypatch.setattr("infimum.trace.agreement._SLOW_SECONDS", np.inf)  # on a busy machine a call may take long
    with pytest.raises(AgreementError, match="Two calls with the same numbers"):
        infimum.minimize(random_numbers, BOX)


def leak(x):
    return (x[0] - 1) ** 2 + (x[1] if isinstance(x, np.ndarray) else -x[1])


def leaking_model(t, a, b):
    return a * np.exp(-b * t) + (0.5 if isinstance(a, float) else 0.0)


def leaking_constraint(x):
    return x[0] + x[1] >= (1.0 if isinstance(x, np.ndarray) else 1.0 + 1e-7)


T = np.array([0.0, 1.0, 2.0, 3.0])
Y = np.array([5.1, 3.0, 1.9, 1.1])
DOORS = {
    "minimize": lambda: infimum.minimize(leak, BOX),
    "maximize": lambda: infimum.maximize(leak, BOX),
    "swarm": lambda: infimum.minimize(leak, BOX, engine="swarm"),
    "workers": lambda: infimum.minimize(leak, BOX, workers=1),
    "an Evaluator": lambda: infimum.minimize(infimum.compile(leak, 2, check=False), BOX),
    "feasible": lambda: infimum.feasible(BOX, leaking_constraint),
    "a comparison": lambda: infimum.minimize(lambda x: x[0], BOX, constraints=leaking_constraint),
    "ends": lambda: infimum.minimize(lambda x: x[0], BOX, constraints=infimum.Constraint(leak, 0.0, 9.0)),
    "a dict": lambda: infimum.minimize(lambda x: x[0], BOX, constraints={"type": "ineq", "fun": leak}),
    "fit": lambda: infimum.fit(leaking_model, T, Y, bounds={"a": (0, 10), "b": (0, 5)}),
    "bounded errors": lambda: infimum.fit(leaking_model, T, Y, bounds={"a": (0, 10), "b": (0, 5)}, bounded_error=1.0),
    "curve_fit": lambda: infimum.curve_fit(leaking_model, T, Y, bounds=([0, 0], [10, 5])),
    "enclose": lambda: infimum.enclose(leak, BOX),
    "compile": lambda: infimum.compile(leak, 2),
}


@pytest.mark.parametrize("door", DOORS)
def test_every_door_compares(door):
    with pytest.raises(AgreementError):
        DOORS[door]()


def test_an_evaluator_is_compared_over_a_box_once_and_then_at_one_point_and_the_answer():
    calls, factor = [], [1.0]

    def fun(x):
        calls.append(isinstance(x, np.ndarray))
        return factor[0] * (x[0] - 1) ** 2 + np.cos(x[1]) + 2
    evaluator = infimum.compile(fun, 2, check=False)
    first = infimum.minimize(evaluator, BOX)
    calls.clear()
    again = infimum.minimize(evaluator, BOX, seed=3)
    assert len(calls) == 2 and all(calls)
    assert again.plain_calls >= first.plain_calls - 1 and again.fun == first.fun
    infimum.minimize(evaluator, [(-2.0, 2.0)] * 2)
    assert len(calls) > 2 + POINTS, "another box"
    factor[0] = 2.0
    with pytest.raises(AgreementError):
        infimum.minimize(evaluator, BOX)


def test_nested_compares():
    with pytest.raises(infimum.TrialError, match="for plain numbers, and as it was traced"):
        infimum.nested(lambda y, z: leak(z) + y[0], [(0, 1)], BOX, max_trials=2)


def test_resume_compares(tmp_path):
    file, honest = str(tmp_path / "run.inf"), [True]

    def fun(x):
        return (x[0] - 1) ** 2 + np.cos(9 * x[1]) * (1.0 if honest or not isinstance(x, np.ndarray) else 2.0)
    infimum.minimize(fun, BOX, checkpoint=file, max_boxes=10)
    honest.clear()
    with pytest.raises(AgreementError):
        infimum.resume(file, fun)
    assert infimum.resume(file, fun, check=False).plain_calls == 0


def test_the_command_line_compares(tmp_path, capsys):
    from infimum.cli.main import main

    model = tmp_path / "model.py"
    model.write_text("import numpy as np\ndef f(x):\n    return x[0] ** 2 + (1.0 if isinstance(x, np.ndarray) else 0.0)\n")
    assert main(["minimize", str(model), "--bounds", "-1", "2"]) == 2
    assert "for plain numbers, and as it was traced" in capsys.readouterr().err
    assert main(["minimize", str(model), "--bounds", "-1", "2", "--no-check"]) == 0
    assert "checked      NO" in capsys.readouterr().out


def test_a_wrong_constraint_is_named():
    with pytest.raises(AgreementError, match=rf"constraint 1: {__file__}:\d+, in `leaking_constraint`"):
        infimum.feasible(BOX, [lambda x: x[0] <= 2, leaking_constraint])


# ---- what is no difference
def objects(x):
    return np.sum(np.array([x[0] * 1e8, x[1] / 3, x[0] - 1e8 * x[0], *(x[1] ** k / 7 for k in range(40))]))


HARMLESS = {
    "cancellation": lambda x: ((x[0] + 1e16) - 1e16) * 1e3 + x[1] ** 2,
    "an array of objects, added in another order": objects,
    "Python's sum of floats": lambda x: sum([0.1 * v for v in x.tolist() * 30]) - 3 * sum(x.tolist()),
    "matrix product of objects": lambda x: np.array([[x[0], x[1]] * 9]) @ np.linspace(0.1, 0.3, 18) @ np.ones(1),
    "undefined in a part of the box": lambda x: np.sqrt(x[0]) + x[1] ** 2,
    "undefined at its end": lambda x: x[1] ** 2 + np.sqrt(9.0 - x[0] ** 2),
    "overflow": lambda x: np.exp(1000 * x[0]) + x[1] ** 2,
    "in place": lambda x: _in_place(x),
    "exact constants": lambda x: np.sin(infimum.pi * x[0]) + x[1] ** 2 * infimum.e,
    "a table of exact constants": lambda x: x[0] ** 2 + np.sum(_TABLE * x[1] ** 2),
    "booleans": lambda x: np.sum(x > 0.5) + (x[0] > 1) * x[1] + np.mean(x < 0),
}
_TABLE = infimum.pi * np.arange(3.0)


def _in_place(x):
    y = x * 1.0
    y += 1
    z = np.zeros(2)
    z[0] = y[0]
    z[1] = z[0] * y[1]
    x -= 1
    return np.sum(z ** 2) + x[0] ** 2


@pytest.mark.parametrize("name", HARMLESS)
def test_rounding_and_domains_are_no_difference(name):
    r = infimum.minimize(HARMLESS[name], BOX, max_boxes=200)
    assert r.plain_calls >= POINTS + 1 and f"{r.plain_calls} plain calls agree with what was traced" in str(r)


FUNCTIONS = USER_FUNCTIONS | {name: (fun, 4, 0.1, 0.9) for name, fun in (USER_IDIOMS | USER_BENCHMARKS).items()}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_as_users_write_them_agree(name):
    fun, n, low, high = FUNCTIONS[name]
    agreement = Agreement([traced(fun, n, (), scalar)[1]])
    agreement.over(SampleBox(np.full(n, low), np.full(n, high)))
    assert agreement.calls > POINTS


def test_recorded_steps_round_as_the_function_itself():
    """All of them do, but for arrays of objects, whose elements NumPy adds one after the other."""
    others = 0
    for fun, n, low, high in FUNCTIONS.values():
        function = traced(fun, n, (), scalar)[1]
        points = _block(SampleBox(np.full(n, low), np.full(n, high)), 3, 0)
        with np.errstate(all="ignore"):
            others += any(not np.array_equal(function.call(x), function.recording.replay(x), equal_nan=True) for x in points)
    assert others <= len(FUNCTIONS) // 30


@pytest.mark.parametrize("name", names())
def test_the_gallery_agrees(name):
    problem = get(name)
    lo, hi = np.array(problem.bounds, float).T
    agreement = Agreement([traced(problem.fun, len(lo), (), scalar)[1]])
    agreement.over(SampleBox(lo, hi))
    assert agreement.calls > POINTS


def test_another_thread_is_an_error_of_ours():
    def fun(x):
        found = []
        worker = threading.Thread(target=lambda: found.append(np.sum(x**2)))
        worker.start()
        worker.join()
        return found[0]
    with pytest.raises(TraceError, match="another thread"):
        infimum.minimize(fun, BOX)


# ---- counts, points, time
def test_the_result_counts_and_says_so():
    r = infimum.minimize(lambda x: np.sum(x**2), BOX)
    assert r.plain_calls == POINTS + 2 and json.loads(r.to_json())["plain_calls"] == POINTS + 2
    unchecked = infimum.minimize(lambda x: np.sum(x**2), BOX, check=False)
    assert unchecked.plain_calls == 0 and "checked      NO: what was traced was not compared" in str(unchecked)
    assert infimum.feasible(BOX, lambda x: x[0] >= 0).plain_calls > POINTS


def test_a_slow_function_is_called_once_and_at_the_answer(monkeypatch):
    monkeypatch.setattr("infimum.trace.agreement._SLOW_SECONDS", 0.0)
    called = []

    def slow(x):
        called.append(isinstance(x, np.ndarray))
        return np.sum(x**2)
    r = infimum.minimize(slow, BOX)
    assert sum(called) == r.plain_calls == 2


def test_little_time_is_not_spent_on_comparing():
    agreement = Agreement([traced(lambda x: np.sum(x**2), 2, (), scalar)[1]])
    agreement.over(SampleBox(np.zeros(2), np.ones(2)), seconds=0.0)
    assert agreement.calls == 1


@pytest.mark.parametrize("seed", [0, 1, 2**63])
def test_points_are_spread_over_the_box(seed):
    lo, hi = np.array([-1.0, 2.0, 5.0, -np.inf, 0.0, -np.inf]), np.array([3.0, 2.0, 9.0, np.inf, np.inf, -4.0])
    points = _block(SampleBox(lo, hi, (2,)), seed, 0)
    assert points.shape == (POINTS, 6) and ((lo <= points) & (points <= hi)).all() and np.isfinite(points).all()
    assert sorted(((points[:, 0] + 1) * 2).astype(int)) == list(range(8))  # one in each eighth
    assert (points[:, 2] == np.rint(points[:, 2])).all()
    for k in (3, 4, 5):
        assert np.ptp(np.log10(np.abs(points[:, k] + (4 if k == 5 else 0)))) > 5
    assert not np.array_equal(points, _block(SampleBox(lo, hi, (2,)), seed + 1, 0))
    assert np.array_equal(points, _block(SampleBox(lo, hi, (2,)), seed, 0))


def test_points_where_the_function_is_defined_are_preferred():
    called = []

    def fun(x):
        called.append(float(x[0]) if isinstance(x, np.ndarray) else None)
        return np.log(x[0] - 0.9)
    agreement = Agreement([traced(fun, 1, (), scalar)[1]])
    agreement.over(SampleBox(np.zeros(1), np.ones(1)))
    assert sum(x is not None and x > 0.9 for x in called) >= 4


# ---- what the comparison costs, and what it cannot be led by
def test_instructions_are_read_once(monkeypatch):
    """Sums in another order are compared by repeating all steps with rounding errors: thousands of them in a product by rows."""
    read, matrix = [], np.random.default_rng(0).standard_normal((40, 3))
    usual = dis.get_instructions
    monkeypatch.setattr("infimum.trace.rounding_noise.dis.get_instructions", lambda code: read.append(code) or usual(code))
    Agreement(infimum.compile(lambda x: np.sum(matrix.dot(x) ** 2), 3).functions).over(SampleBox(-np.ones(3), np.ones(3)))
    assert len(read) == len(set(map(id, read)))


def test_the_comparison_ends_with_its_time(monkeypatch):
    function = infimum.compile(lambda x: np.sum(x**2), 2, check=False).functions
    whole, short = Agreement(function), Agreement(function)
    short.over(SampleBox(-np.ones(2), np.ones(2)), seconds=1e-9)
    assert not any(function[0].agreed)
    whole.over(SampleBox(-np.ones(2), np.ones(2)))
    assert 1 <= short.calls < whole.calls


def test_a_value_that_is_kept_from_call_to_call():
    kept = {}

    def first_of_all(x):
        return np.sum(kept.setdefault("y", x**2))
    with pytest.raises(TraceError, match="keeps values from one call to the next") as caught:
        infimum.minimize(first_of_all, BOX)
    assert "check=False" not in str(caught.value)


@pytest.mark.parametrize("other", [lambda v: complex(v, 1.0), str])
def test_numbers_of_other_kinds_are_no_agreement(other):
    with pytest.raises(AgreementError):
        infimum.minimize(lambda x: other(x[0]) if type(x) is np.ndarray else x[0], BOX)
