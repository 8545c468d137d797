"""Whatever the caller has set in the floating-point unit or in NumPy: the same bits, and afterwards it is as it was."""

import gc
import inspect
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import infimum
from infimum.evaluation.facts import Facts
from infimum.problems.entry import Entry
from infimum.result import Result
from infimum.support import environment
from tests import children
from tests.control_word import ARM, USUAL, WORDS, control_word, read_word, write_word

INF = np.inf
_GUARDED = environment.ours(lambda: None).__code__

# ---- every way in
# public names that do not compute with doubles, or only pass on
NO_ARITHMETIC = {"BoundedError.feasible", "BoundedError.title", "Confidence.feasible", "Confidence.title",
                 "ConstraintValues.count", "ConstraintValues.index", "Cover.count", "Cover.counted", "Cover.hi", "Cover.kept",
                 "Cover.lo", "Cover.lower", "Cover.opposite", "Cover.product", "Cover.unions", "FitResult.message",
                 "FitResult.success", "FitResult.verdict", "Minimisers.count", "Minimisers.exactly_one", "Minimisers.index",
                 "Minimisers.may_be_global", "Network.comparing_outputs", "Parameter.at_bound", "ParameterSet.feasible",
                 "ParameterSet.title", "Result.get", "Result.items", "Result.keys", "Result.maximised", "Result.plot",
                 "Result.to_dict", "Result.to_json", "Result.values", "Unions.count", "Unions.counts", "Unions.hull",
                 "Unions.variables"}


def public() -> Iterator[tuple[str, Any]]:
    """The functions of the package and the methods and properties of its classes, as users reach them."""
    for name in infimum.__all__:
        thing = getattr(infimum, name)
        if inspect.isfunction(thing):
            yield name, thing
        elif inspect.isclass(thing) and not issubclass(thing, Exception):
            for part in dir(thing):
                if not part.startswith("_"):
                    yield f"{name}.{part}", inspect.getattr_static(thing, part)


def is_guarded(thing: Any) -> bool:
    function = getattr(thing, "fget", None) or getattr(thing, "func", None) or getattr(thing, "__func__", thing)
    return getattr(function, "__code__", None) is _GUARDED


def computes(name: str, thing: Any) -> bool:
    """Fields hold numbers and Enclosure's properties compare with whole ones, as the Evaluator's tell of the machine."""
    plain = isinstance(thing, property) and name.split(".")[0] in ("Enclosure", "Evaluator")
    described = type(thing).__name__ in ("member_descriptor", "getset_descriptor")
    code = callable(thing) or isinstance(thing, property) or hasattr(thing, "func") or hasattr(thing, "__func__")
    return code and not (plain or described or name in NO_ARITHMETIC)


def test_every_public_function_is_guarded():
    ways = {name: thing for name, thing in public() if computes(name, thing)}
    assert ways.keys() > {"minimize", "resume", "compile", "enclose", "Evaluator.value", "Evaluator.run",
                          "Interval.width", "Problem.read"}
    assert [name for name, thing in ways.items() if not is_guarded(thing)] == []
    assert all(map(is_guarded, (infimum.Interval.__contains__, infimum.Real.__truediv__, infimum.Real.__pow__, Entry.problem)))
    assert is_guarded(inspect.getattr_static(Facts, "local"))


# ---- environments
NOT_OURS = {name: word for name, word in WORDS.items() if word != USUAL}
if not ARM:  # processors that can trap: invalid operations, division by 0, overflow
    NOT_OURS["traps"] = USUAL & ~0x0680
REACTIONS = ("raise", "call", "log", "print")


class Log:
    """What NumPy calls, or writes to, where it was told so."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def __call__(self, *said: Any) -> None:
        self.heard.append(said)

    write = __call__


@contextmanager
def reaction(name: str) -> Iterator[Log]:
    log = Log()
    with np.errstate(all=name, call=log):
        yield log


ENVIRONMENTS: dict[str, Callable] = {
    **{name: (lambda word=word: control_word(word)) for name, word in NOT_OURS.items()},
    **{f"numpy {name}": (lambda name=name: reaction(name)) for name in REACTIONS},
}


@pytest.fixture(params=ENVIRONMENTS.values(), ids=ENVIRONMENTS)
def strange(request: pytest.FixtureRequest) -> Callable:
    """A context manager: the block in an environment that is not ours."""
    return request.param


# ---- solves of every engine
def bowl(x):
    return x[0] - x[0] * 0.5 + x[0] * x[0]


def norm(x):
    return -np.linalg.norm(x)


def waves(x):
    return np.sum(x**2 - 10 * np.cos(2 * np.pi * x))


def valley(x):
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


def kinks(x):
    return np.abs(x[0] - 1e-310) + np.max(np.abs(x)) + np.exp(-x[1]) * 3e-311


def partly(x):
    return x[0] * np.log(x[0]) + np.sqrt(x[1] - 0.25) / infimum.pi


SOLVES = {
    "subnormal": (bowl, [(-3e-309, 2e-309)], {"atol": 1e-310}),
    "subnormal squares": (norm, [(-1e-155, 2e-155)] * 6, {}),
    "sweep": (waves, [(-5.5, 6)] * 40, {"xtol": 1e-4}),
    "branch": (valley, [(-5, 10)] * 2, {"xtol": 1e-2}),
    "kinks": (kinks, [(-1, 2)] * 2, {"atol": 1e-312, "rtol": 0.0, "xtol": 1e-309, "max_boxes": 3000}),
    "partly defined": (partly, [(-1, 1)] * 2, {"max_boxes": 1000}),
    "unbounded": (lambda x: x[0] ** 2 / (1 + x[0] ** 2), [(-INF, INF)], {"max_boxes": 2000}),
    "overflow": (lambda x: np.exp(x[0] * 1e3) - x[0] ** 9 * 1e300, [(-1e300, 1e300)], {"max_boxes": 500}),
    "newton": (valley, [(-5, 10)] * 2, {"engine": "newton", "xtol": 1e-2}),
    "newton subnormal": (bowl, [(-3e-309, 2e-309)], {"engine": "newton", "atol": 1e-310, "max_boxes": 5000}),
    "complete": (waves, [(-1, 2)] * 2, {"engine": "complete", "max_boxes": 20_000}),
    "complete subnormal": (bowl, [(-3e-309, 2e-309)], {"engine": "complete", "atol": 1e-310, "max_boxes": 5000}),
    "swarm": (valley, [(-5, 10)] * 2, {"engine": "swarm"}),
    "swarm subnormal": (norm, [(-1e-155, 2e-155)] * 2, {"engine": "swarm"}),
}


def bits(result: Result) -> dict[str, Any]:
    """All of a result but the times."""
    def plain(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return value.tobytes()
        if isinstance(value, (list, tuple)):
            return [plain(v) for v in value]
        if hasattr(value, "lanes"):
            return [plain(getattr(value, name)) for name in value.__slots__]
        return repr(value)
    return {name: plain(result[name]) for name in result.keys() if name not in ("seconds", "history")}


@cache
def usual(name: str) -> dict[str, Any]:
    f, bounds, settings = SOLVES[name]
    return bits(infimum.minimize(f, bounds, **settings))


@pytest.mark.parametrize("name", SOLVES)
def test_the_same_bits_in_every_environment(name: str, strange: Callable):
    expected, (f, bounds, settings) = usual(name), SOLVES[name]
    with strange():
        found = infimum.minimize(f, bounds, **settings)
    assert bits(found) == expected


@pytest.mark.parametrize("name", SOLVES)
def test_only_the_caller_s_function_is_heard(name: str):
    f, bounds, settings = SOLVES[name]
    with reaction("call") as log:
        infimum.minimize(f, bounds, check=False, **settings)
    assert log.heard == []


def test_the_minimiser_of_subnormal_numbers_is_kept():
    """Where 3e-309 counts as 0 this run used to prove that the minimiser lies elsewhere."""
    with control_word(WORDS["ftz_daz"]):
        r = infimum.minimize(*SOLVES["subnormal"][:2], atol=1e-310)
    assert any(lo[0] <= -3e-309 <= hi[0] for lo, hi in r.boxes) and -1.5e-309 <= r.upper <= -1.4e-309


PROGRAM = """
import ctypes, struct, sys
library, words = ctypes.CDLL(None), (ctypes.c_uint32 * 16)()
library.fegetenv(words)
words[7 if sys.argv[1] == "x86" else 0] |= 0x8040 if sys.argv[1] == "x86" else 1 << 24
library.fesetenv(words)
assert sys.float_info.min / 2 == 0.0
import infimum
low, high, tolerance = struct.unpack("3d", bytes.fromhex(sys.argv[2]))
r = infimum.minimize(lambda x: x[0] - x[0] * 0.5 + x[0] * x[0] + low, [(low, high)], atol=tolerance)
print(r.verdict.name, struct.pack("5d", r.lower, r.upper, *r.x, *r.boxes[0][0], *r.boxes[-1][1]).hex())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the layout of glibc's fenv_t")
def test_a_process_that_flushed_before_it_imported():
    """Nothing is left from a usual environment: constants of modules, expressions, kernels are all made under that word."""
    low, high, tolerance = -3e-309, 2e-309, 1e-310
    arguments = [sys.executable, "-c", PROGRAM, "Arm" if ARM else "x86", struct.pack("3d", low, high, tolerance).hex()]
    child = children.run(*arguments, cwd=Path(infimum.__file__).parents[1])
    r = infimum.minimize(lambda x: bowl(x) + low, [(low, high)], atol=tolerance)
    numbers = struct.pack("5d", r.lower, r.upper, *r.x, *r.boxes[0][0], *r.boxes[-1][1])
    assert child.stdout == f"{r.verdict.name} {numbers.hex()}\n", child.stderr


@pytest.mark.parametrize("engine", ["auto", "newton", "complete"])
def test_a_resumed_run(engine: str, strange: Callable, tmp_path):
    file, settings = str(tmp_path / "run.inf"), {"engine": engine, "atol": 0.0, "rtol": 0.0}
    expected = infimum.minimize(valley, [(-5, 10)] * 2, max_boxes=3000, **settings)
    with strange():
        infimum.minimize(valley, [(-5, 10)] * 2, max_boxes=1000, checkpoint=file, **settings)
        found = infimum.resume(file, valley, max_boxes=3000)
    assert bits(found)["boxes"] == bits(expected)["boxes"] and (found.lower, found.upper) == (expected.lower, expected.upper)


TINY = np.array([[-3e-309, 1e-310, -1e-160, 0.5], [5e-324, -2e-308, 1e-155, -1.0]])
METHODS = {
    "value": lambda e, lo, hi: [(r := e.value(lo, hi)).lo, r.hi, r.level],
    "mean_value": lambda e, lo, hi: [(r := e.mean_value(lo, hi).best).lo, r.hi, r.level],
    "gradient": lambda e, lo, hi: [(r := e.gradient(lo, hi)).lo, r.hi],
    "hessian": lambda e, lo, hi: [(r := e.hessian(lo, hi)).lo, r.hi],
    "estimate": lambda e, lo, hi: [e.estimate(lo)],
    "estimate_gradient": lambda e, lo, hi: list(e.estimate_gradient(lo)),
    "estimate_hessian_vector": lambda e, lo, hi: [e.estimate_hessian_vector(lo, hi)],
}


def small(x):
    return np.sum(x**2 * 3e-309) * 0.3 + np.sqrt(5e-324 + x[0] ** 2) + x[1] / 3 * 1e-308


@pytest.mark.parametrize("method", METHODS)
def test_evaluators(method: str, strange: Callable):
    highs = TINY + np.array([[1e-309, 0.0, 5e-324, 0.25]])
    expected = METHODS[method](infimum.compile(small, 2), TINY, highs)
    with strange():
        found = METHODS[method](infimum.compile(small, 2), TINY, highs)
    assert [a.tobytes() for a in found] == [a.tobytes() for a in expected]


def numbers() -> list[Any]:
    """What is computed without kernels, or before them."""
    interval = infimum.Interval(-1e-310, 3e-310)
    box = [(Fraction(-1, 3 * 10**309), 1e-320)]
    return [interval.width, 4e-310 in interval, interval.empty,
            infimum.pi * 1e-310, 1e-309 / infimum.e, (infimum.pi * 1e-155) ** 2,
            infimum.enclose(lambda x: x[0] * 0.25 + infimum.pi * 1e-310, box), infimum.Problem.read(small, box).lo.tolist(),
            infimum.compile(small, 2).f.key, infimum.problems.get("bohachevsky_1").minimum]


def test_numbers_of_ours(strange: Callable):
    expected = numbers()
    with strange():
        found = numbers()
    assert list(map(repr, found)) == list(map(repr, expected))  # written here, where no digit is lost


# ---- code of the caller
def sees() -> tuple[int, dict[str, str], Any]:
    """The environment in which this is called; what arithmetic has raised is no part of it."""
    return read_word() & ~0x3F, np.geterr(), np.geterrcall()


def untrapped(seen: tuple[int, dict[str, str], Any]) -> tuple[int, dict[str, str], Any]:
    """The same but for what is trapped: plain calls, which are compared with what was traced, trap nothing."""
    return seen[0] if ARM else seen[0] | 0x1F80, *seen[1:]


def test_the_caller_s_functions_run_in_the_caller_s_environment(strange: Callable):
    seen = []

    def function(x):
        seen.append(sees())
        y = np.sum(x**2) * 0.5
        seen.append(sees())
        return y + np.sqrt(np.abs(x[0]))

    def tell(snapshot):
        seen.append(sees())
        infimum.enclose(function, [(0, 1)] * 2)  # within a run another one
        seen.append(sees())

    with strange():
        before = sees()
        infimum.minimize(function, [(-1, 2)] * 2, callback=tell, max_boxes=500)
        assert len(seen) > 6 and all(untrapped(s) == untrapped(before) for s in seen) and sees() == before


def test_what_a_callback_sets_stays():
    def tell(snapshot):
        write_word(WORDS["down"])
        np.seterr(divide="raise")
        return True

    with control_word(USUAL), np.errstate(all="warn"):
        infimum.minimize(valley, [(-5, 10)] * 2, callback=tell, atol=0.0)
        assert read_word() & ~0x3F == WORDS["down"] and np.geterr()["divide"] == "raise"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("where", ["function", "callback"])
def test_it_is_restored_after_an_error(error: type[BaseException], where: str, strange: Callable):
    def raises(*_):
        raise error("stop")

    ends_the_run = where == "callback" and error is KeyboardInterrupt  # with what it has
    with strange():
        before = sees()
        with nullcontext() if ends_the_run else pytest.raises((error, infimum.UserFunctionError)):
            if where == "function":
                infimum.compile(raises, 2)
            else:
                infimum.minimize(valley, [(-5, 10)] * 2, callback=raises)
        assert sees() == before and environment._thread.caller is None


def test_an_interrupt_at_any_call_leaves_the_word_as_it_was(monkeypatch: pytest.MonkeyPatch):
    """Ctrl-C is heard after any call: after each of those that the guard makes, in turn, the caller's word comes back."""
    load, cover = environment._load, environment._Caller.cover
    for broken in ("_load", "cover"):
        hit = []

        def interrupt(*args: Any, do: Callable = load if broken == "_load" else cover, hit: list = hit) -> None:
            do(*args)
            if not hit:
                hit.append(1)
                raise KeyboardInterrupt

        with monkeypatch.context() as patch, control_word(WORDS["down"]):
            patch.setattr(environment if broken == "_load" else environment._Caller, broken, interrupt)
            before = sees()
            with pytest.raises(KeyboardInterrupt):
                infimum.enclose(valley, [(0, 1)] * 2)
            assert hit and sees() == before and environment._thread.caller is None


def test_each_thread_has_its_own():
    """Two threads with different words, one inside the library while the other computes."""
    inside, checked, words = threading.Event(), threading.Event(), {}

    def first() -> None:
        def tell(snapshot):
            inside.set()
            checked.wait()
            return True

        with control_word(WORDS["down"]):
            infimum.minimize(valley, [(-5, 10)] * 2, callback=tell, atol=0.0)
            words["first"] = read_word() & ~0x3F

    thread = threading.Thread(target=first)
    thread.start()
    inside.wait()
    with control_word(WORDS["up"]):
        infimum.enclose(valley, [(0, 1)] * 2)
        words["second"] = read_word() & ~0x3F
    checked.set()
    thread.join()
    assert words == {"first": WORDS["down"], "second": WORDS["up"]}


# ---- the collector of garbage
def test_during_runs_the_collector_is_asked_seldom_and_afterwards_as_before():
    """Of runs inside one another, and of runs in several threads, the last one to end restores what was set."""
    before = gc.get_threshold()
    with environment.collector_patient():
        meanwhile = gc.get_threshold()
        assert meanwhile[0] > before[0] and meanwhile[1:] == before[1:]
        with pytest.raises(KeyboardInterrupt), environment.collector_patient():
            raise KeyboardInterrupt
        assert gc.get_threshold() == meanwhile
    assert gc.get_threshold() == before


def test_thresholds_of_the_collector_that_the_user_sets_meanwhile_stay():
    before = gc.get_threshold()
    try:
        with environment.collector_patient():
            gc.set_threshold(123, 4, 5)
        assert gc.get_threshold() == (123, 4, 5)
        gc.set_threshold(0)
        with environment.collector_patient():
            assert gc.get_threshold()[0] == 0, "it was switched off"
    finally:
        gc.set_threshold(*before)
