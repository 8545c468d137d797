"""Dataclasses whose methods are made when they are first used do what those of the standard library do."""

import copy
import dataclasses
import inspect
import pickle
from dataclasses import FrozenInstanceError, field
from typing import ClassVar

import pytest

from infimum.support import lazy

OPTIONS = ({}, {"slots": True}, {"frozen": True}, {"frozen": True, "slots": True}, {"frozen": True, "eq": False, "kw_only": True},
           {"frozen": True, "slots": True, "eq": False, "repr": False})


def declared(decorator, options):
    class Record:
        """A record."""

        count: ClassVar[int] = 3
        a: int
        b: float = 1.5
        c: list = field(default_factory=list)
        d: str = field(default="hidden", repr=False, compare=False)
        e: int = field(default=7, init=False)

        def doubled(self) -> int:
            return 2 * self.a
    return decorator(**options)(Record)


def pair_of(options):
    return [declared(decorator, options) for decorator in (dataclasses.dataclass, lazy.dataclass)]


@lazy.dataclass(frozen=True, slots=True)
class Kept:
    """Pickled by its name."""

    a: int
    b: tuple = ()


@lazy.dataclass(frozen=True, slots=True)
class Longer(Kept):
    """A field more."""

    c: str = "end"

    def __post_init__(self) -> None:
        if self.a < 0:
            raise ValueError("negative")


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_instances_are_those_of_the_standard_library(options):
    standard, ours = pair_of(options)
    made = [kind(a=2, c=[1]) for kind in (standard, ours)]
    assert [dataclasses.asdict(one) for one in made] == [{"a": 2, "b": 1.5, "c": [1], "d": "hidden", "e": 7}] * 2
    assert [one.doubled() for one in made] == [4, 4] and ours.count == 3
    assert (repr(made[0]) == repr(made[1])) == options.get("repr", True)
    changed = [dataclasses.replace(one, b=2.0) for one in made]
    assert [one.b for one in changed] == [2.0, 2.0] and [copy.copy(one).c for one in changed] == [[1], [1]]
    assert made[1] != changed[1] and made[1] != made[0]
    assert (made[1] == dataclasses.replace(made[1], d="other")) == options.get("eq", True)
    assert hasattr(made[0], "__dict__") == hasattr(made[1], "__dict__")


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_classes_are_described_as_those_of_the_standard_library(options):
    standard, ours = pair_of(options)
    assert inspect.signature(standard).parameters.keys() == inspect.signature(ours).parameters.keys()
    assert [p.annotation for p in inspect.signature(ours).parameters.values()] == [int, float, list, str]
    assert str(inspect.signature(standard)) == str(inspect.signature(ours))
    assert standard.__match_args__ == ours.__match_args__ and dataclasses.is_dataclass(ours)
    assert [(f.name, f.type, f.repr, f.kw_only) for f in dataclasses.fields(standard)] == [
        (f.name, f.type, f.repr, f.kw_only) for f in dataclasses.fields(ours)]
    assert [kind.__dataclass_params__.frozen for kind in (standard, ours)] == [options.get("frozen", False)] * 2
    assert (standard.__hash__ is None) == (ours.__hash__ is None)
    assert (standard.__name__, standard.__qualname__, standard.__doc__) == (ours.__name__, ours.__qualname__, ours.__doc__)


def test_a_frozen_one_can_be_hashed_and_not_changed():
    one = Kept(1, (2, 3))
    assert hash(one) == hash(Kept(1, b=(2, 3))) and {one: 5}[Kept(1, (2, 3))] == 5
    for name in ("a", "unknown"):
        with pytest.raises(FrozenInstanceError, match=f"cannot assign to field '{name}'"):
            setattr(one, name, 2)
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'a'"):
        del one.a
    with pytest.raises(TypeError, match=r"Kept.__init__\(\) missing 1 required positional argument: 'a'"):
        Kept()
    match one:
        case Kept(a, b):
            assert (a, b) == (1, (2, 3))


def test_they_are_pickled_and_derived_from():
    for one in (Kept(1, (2,)), Longer(1, (), "x")):
        assert pickle.loads(pickle.dumps(one)) == one == copy.deepcopy(one)
    assert repr(Longer(1)) == "Longer(a=1, b=(), c='end')" and Longer(1) != Kept(1) and not hasattr(Longer(1), "__dict__")
    with pytest.raises(ValueError, match="negative"):
        Longer(-1)

    @dataclasses.dataclass(frozen=True)
    class Standard(Kept):
        d: int = 4
    assert dataclasses.asdict(Standard(1)) == {"a": 1, "b": (), "d": 4}

    class Plain(Kept):
        """With attributes of its own."""
    plain = Plain(1)
    plain.note = "mine"
    with pytest.raises(FrozenInstanceError):
        plain.a = 2
    assert plain.note == "mine" and plain == Plain(1)


def test_methods_are_made_when_they_are_used():
    kind = declared(lazy.dataclass, {"frozen": True})
    lazily = {name for name, part in vars(kind).items() if type(part).__name__ == "_LazyAttribute"}
    assert {"__init__", "__eq__", "__hash__", "__dataclass_fields__"} <= lazily
    one = kind(1)
    assert inspect.isfunction(vars(kind)["__init__"]) and type(vars(kind)["__eq__"]).__name__ == "_LazyAttribute"
    assert one == kind(1) and inspect.isfunction(vars(kind)["__eq__"])
