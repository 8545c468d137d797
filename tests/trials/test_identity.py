"""What a function is, for a journal: all that it is bound to, the same in every process, and nothing that changes as it runs."""

import json
import logging
import subprocess
import sys
import threading
from collections import deque
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import cached_property, lru_cache, partial, wraps
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import infimum
from infimum.blackbox.identity import differences, identity, text_of_value
from tests import children

ROOT = Path(infimum.__file__).parents[1]
HEIGHT, TABLE, LOG = 3.0, {"a": 1.0}, logging.getLogger("tests")
WIDTHS = np.arange(10.0)


def helper(x):
    return HEIGHT * x


def plain(x, a=1.0, *, b=2.0):
    LOG.debug("called")
    return helper(x[0]) * a * b * WIDTHS[0] * TABLE["a"]


def bound(c, start=()):
    """A closure, with all that functions are wont to carry about."""
    calls, best, count, lock, memory = list(start), [np.inf], 0, threading.Lock(), {}

    def fun(x):
        nonlocal count
        count += 1
        calls.append(tuple(x))
        with lock:
            memory[tuple(x)] = c * x[0]
            best[0] = min(best[0], c * x[0])
        return memory[tuple(x)]
    return fun


class Model:
    def __init__(self, c):
        self.c, self.calls, self.log = c, 0, ["begun"]

    @cached_property
    def matrix(self):
        return np.eye(2) * self.c

    def __call__(self, x):
        self.calls += 1
        self.log.append(x)
        return float((self.matrix @ x).sum())

    def run(self, x):
        return self(x)


class Slotted:
    __slots__ = ("c",)

    def __init__(self, c):
        self.c = c

    def __call__(self, x):
        return self.c


def Constants(c):
    """A class with a constant, and one with a count of its own objects."""
    class Constant:
        rate, count = c, 0

        def __call__(self, x):
            Constant.count += 1
            return self.rate * x[0]
    return Constant


@dataclass
class Record:
    c: float
    names: list = field(default_factory=list)

    def __call__(self, x):
        np.multiply(x, self.c, out=self.names)
        return self.c


def decorated(scale):
    def around(fun):
        @wraps(fun)
        def inner(x):
            return scale * fun(x)
        return inner
    return around


def same(a, b):
    return differences(identity(a), identity(b)) == differences(identity(b), identity(a)) == []


# ---- what tells functions apart
@pytest.mark.parametrize(("make", "said"), [
    (lambda c: partial(plain, a=c), "its keyword a was 0.2, and is 0.8"),
    (lambda c: partial(lambda c, x: c, c), "its argument 0 was 0.2, and is 0.8"),
    (lambda c: bound(c), "its variable c was 0.2, and is 0.8"),
    (lambda c: Model(c), "its self.c was 0.2, and is 0.8"),
    (lambda c: Model(c).run, "its self.c was 0.2, and is 0.8"),
    (lambda c: Slotted(c), "its self.c was 0.2, and is 0.8"),
    (lambda c: lru_cache(bound(c)), "its variable c was 0.2, and is 0.8"),
    (lambda c: partial(partial(plain, b=c), a=1), "its keyword b was 0.2, and is 0.8"),
    (lambda c: decorated(c)(plain), "its variable scale was 0.2, and is 0.8"),
    (lambda c: decorated(1)(bound(c)), "has changed"),
    (lambda c: (lambda x, c=c: c), "its default c was 0.2, and is 0.8"),
    (lambda c: (lambda x, *, c=c: c), "its default c was 0.2, and is 0.8"),
    (lambda c: bound(np.full(100, c)), "its variable c has changed"),
    (lambda c: bound(np.array([c])), "its variable c was float64 [0.2], and is float64 [0.8]"),
    (lambda c: bound({"rate": c}), 'its variable c was {"rate": 0.2}, and is {"rate": 0.8}'),
    (lambda c: bound([1, (2, {c})]), "its variable c was"),
    (lambda c: bound(Model(c)), "its variable c was|its variable c has changed"),
    (lambda c: bound(bound(c)), "its variable c has changed"),
    (lambda c: bound(b"0" * int(100 * c)), "its variable c has changed"),
    (lambda c: bound(Fraction(c)), "its variable c was"),
    (lambda c: bound("x" * int(1000 * c)), "its variable c has changed"),
    (lambda c: np.full(3, c).dot, "its self was"), (lambda c: np.poly1d([c]), "its self._coeffs was|self.coef"),
    (lambda c: np.vectorize(bound(c)), "its self.pyfunc has changed"),
    (lambda c: bound(np.full(3, c).dot), "its variable c has changed"),
    (lambda c: bound(Model(c).run), "its variable c has changed"),
    (lambda c: Constants(c)(), "its class has changed"), (lambda c: bound(Constants(c)), "its variable c has changed"),
    (lambda c: Record(c), "its self.c was 0.2, and is 0.8"),
])
def test_what_a_function_is_bound_to(make, said):
    found = "; ".join(differences(identity(make(0.2)), identity(make(0.8))))
    assert any(part in found for part in said.split("|")), found
    assert same(make(0.2), make(0.2))


def test_attributes_and_globals(monkeypatch):
    def fun(x):
        return fun.c * x[0]
    fun.c = 0.2
    before = identity(fun)
    fun.c = 0.8
    assert differences(before, identity(fun)) == ["its attribute c was 0.2, and is 0.8"]
    before = identity(plain)
    monkeypatch.setitem(globals(), "HEIGHT", 4.0)
    assert differences(before, identity(plain)) == ["its global helper has changed"]
    monkeypatch.undo()
    others = ("WIDTHS", WIDTHS + 1, "has changed"), ("TABLE", {"a": 2.0}, 'was {"a": 1.0}, and is {"a": 2.0}')
    for name, value, said in others:
        monkeypatch.setitem(globals(), name, value)
        assert differences(before, identity(plain)) == [f"its global {name} {said}"]
        monkeypatch.undo()
    assert same(plain, plain)


def test_two_lambdas_of_one_line():
    first, second = lambda x: x[0], lambda x: x[1]
    nested = (lambda x: (lambda y: y + 1)(x[0])), (lambda x: (lambda y: y + 2)(x[0]))
    assert differences(identity(first), identity(second)) == ["its source has changed"] == \
        differences(identity(nested[0]), identity(nested[1]))
    assert same(first, first) and identity(first)["code"].startswith("text ")


def test_what_is_around_a_lambda_does_not_count(tmp_path):
    """A larger budget in the same line is no other function."""
    texts = ["f, n = lambda x: x[0]**2, 10\n", "\n\nf, n = (lambda x: x[0]**2), 5000\n"]
    found = []
    for k, text in enumerate(texts):
        path = tmp_path / f"m{k}.py"
        path.write_text(text)
        names = {}
        exec(compile(text, str(path), "exec"), names)
        found.append(identity(names["f"]))
    assert found[0] == found[1]


def test_code_without_a_text_is_known_by_its_instructions():
    def made(text):
        names = {}
        exec(text, names)
        return names["f"]
    one, other, shifted = map(made, ("def f(x): return x[0] + 1", "def f(x): return x[0] + 2", "\n\ndef f(x): return x[0] + 1"))
    assert identity(one)["code"].startswith("instructions of Python 3.") and same(one, shifted)
    assert differences(identity(one), identity(other)) == ["its source has changed"]
    version = identity(one)["code"].replace("Python 3.", "Python 4.")
    assert differences({"code": version}, identity(other)) == [], "another version of Python writes others"
    sets = made("def f(x): return x[0] in {1, 2}"), made("def f(x): return x[0] in {1, 3}")
    assert not same(*sets)


# ---- what does not
def test_what_a_function_changes_by_itself_is_no_parameter():
    fun, model = bound(0.5, start=["a"]), Model(0.5)
    before, of_model, of_method = identity(fun), identity(model), identity(model.run)
    for k in range(3):
        fun([k, 0.0])
        model(np.array([k, 0.0]))
    assert differences(before, identity(fun)) == differences(of_model, identity(model)) == []
    assert differences(of_method, identity(model.run)) == []
    assert before["variable calls"] == before["variable count"] == before["variable best"] == "changed by the function"
    assert before["variable lock"] == "unreadable _thread.lock"


def test_a_constant_of_a_class_that_its_methods_change_is_none():
    fun = Constants(0.5)()
    before = identity(fun)
    fun([1.0])
    assert differences(before, identity(fun)) == []


def test_scratch_memory_is_no_parameter():
    scratch, other = np.zeros(3), np.zeros(3)

    def fun(x):
        other[:] = x
        return float(np.add(x, 1.0, out=scratch).sum())
    before = identity(fun)
    fun(np.arange(3.0))
    assert differences(before, identity(fun)) == []


class Angry:
    """Raises whatever is asked of it."""

    def __iter__(self):
        raise SystemError("no")

    items = keys = __len__ = __bool__ = __iter__

    def __getattr__(self, name):
        raise KeyError(name)


def test_an_object_that_raises_is_unreadable():
    from collections import UserDict

    class AngryTable(UserDict):
        def items(self):
            raise ZeroDivisionError
    assert same(bound(Angry()), bound(Angry()))
    assert identity(bound(AngryTable(a=1)))["variable c"].startswith("unreadable")


def test_an_empty_container_may_be_filled():
    seen = []

    def fun(x):
        record(seen, x)
        return x[0]
    before = identity(fun)
    fun([1.0])
    assert differences(before, identity(fun)) == []


def record(where, what):
    where.append(what)


@pytest.mark.parametrize("value", [threading.Lock(), LOG, sys.stderr, (k for k in range(3)), iter([1]), np.random.default_rng(1),
                                   type("NoState", (), {"__slots__": ()})(), memoryview(b"ab"), np, subprocess.Popen, Ellipsis,
                                   np.array([None, "a"], dtype=object), deque([1]), Enum("Hue", "RED BLUE").RED, 10**400, -0.0])
def test_any_value_can_be_bound(value):
    """What cannot be read is said to be unreadable; nothing fails."""
    found = identity(bound(value))
    assert json.dumps(found) and " at 0x" not in str(found) and len(found["variable c"]) < 120
    assert same(bound(value), bound(value))


def test_values_that_hold_themselves_or_very_much():
    ring = [1.0]
    ring.append(ring)
    deep = []
    for _ in range(10**4):
        deep = [deep]
    for value in (ring, deep, list(range(10**5)), [[k] for k in range(10**5)], {k: str(k) for k in range(1000)}):
        assert len(text_of_value(value)) < 120
    recursive = bound(None)
    recursive.__closure__[[*recursive.__code__.co_freevars].index("c")].cell_contents = recursive
    assert "variable c" in identity(recursive)


class Proxy:
    """Answers to every name, as clients of servers do."""

    def __getattr__(self, name):
        return self

    def __call__(self, *args):
        return self


def test_an_object_that_answers_to_every_name():
    assert same(Proxy(), Proxy()) and same(bound(Proxy()), bound(Proxy()))


# ---- the same everywhere
CHILD = """
import json, sys
sys.path.insert(0, {root!r})
from tests.trials.test_identity import MANY
from infimum.blackbox.identity import identity
print(json.dumps([identity(one) for one in MANY]))
"""
MANY = [Record(2.0), Constants(2)(),
        plain, partial(plain, a=0.5), bound({"a", "b", "c", 1.5}), Model(2), Model(2).run, bound([np.arange(9)]),
        bound({"x": {2, 3}}), helper, bound(frozenset("abcdefgh")), np.sin, decorated(3)(plain), lambda x: {v for v in "abc"}]


def test_another_process_reads_the_same():
    """In which sets have another order."""
    done = children.run(sys.executable, "-c", CHILD.format(root=str(ROOT)), check=True,
                        env={"PYTHONHASHSEED": "1", "PYTHONPATH": str(ROOT), "PATH": ""})
    assert json.loads(done.stdout) == [identity(one) for one in MANY]


plain_values = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | st.binary(max_size=9)
values = st.recursive(plain_values, lambda inner: st.lists(inner, max_size=3) | st.tuples(inner) |
                      st.dictionaries(st.text(max_size=3), inner, max_size=3), max_leaves=12)


def bits(tree):
    """What two values have in common that are the same to every function, but for lists and tuples."""
    if isinstance(tree, dict):
        return "dict", tuple((key, bits(tree[key])) for key in sorted(tree))
    return ("list", *map(bits, tree)) if isinstance(tree, (list, tuple)) else (type(tree), repr(tree))


@given(values, values)
def test_equal_texts_are_of_equal_values(a, b):
    assert (text_of_value([a]) == text_of_value([b])) == (bits(a) == bits(b))
    assert text_of_value(a) != text_of_value(b) or bits(a) == bits(b)  # a long text names the type: a list or a tuple
    assert text_of_value([a]) == text_of_value([a]) != text_of_value([a, None])
