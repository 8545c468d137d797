"""What is made when it is first used: modules, since half of them take no part in a given run, and the methods of dataclasses.

Beside lazy modules the same imports stand under TYPE_CHECKING, for readers and for the tests of who may import whom.
"""

import dataclasses
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, get_origin


class LazyModule:
    """A module of infimum: `LazyModule("kernel.hessian").hessian` imports it and is what it calls so. Nothing is set here that
    would hide it."""

    __slots__ = ("_module",)

    def __init__(self, name: str):
        self._module = f"infimum.{name}"

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._module), name)


# ---- dataclasses
class _Options(NamedTuple):
    """How a class was declared: the decorator's arguments, the names of its own fields, and their values after `=`."""

    frozen: bool
    eq: bool
    repr: bool
    kw_only: bool
    names: list[str]
    values: dict[str, Any]


class _LazyAttribute:
    """An attribute of a class that is made when it is first read, and then replaces this one there."""

    def __init__(self, make: Callable[[type], Any]):
        self.make = make

    def __set_name__(self, owner: type, name: str) -> None:
        self.owner, self.name = owner, name

    def __get__(self, instance: Any, kind: type) -> Any:
        found = self.owner.__dict__[self.name]
        if found is self:  # no other thread was sooner
            found = self.make(self.owner)
            setattr(self.owner, self.name, found)
        return found.__get__(instance, kind) if hasattr(found, "__get__") else found


def _fields(owner: type) -> dict[str, dataclasses.Field]:
    """Of the class and those that it derives from, as the standard library describes them."""
    found: dict[str, dataclasses.Field] = {}
    for base in owner.__mro__[-1:0:-1]:
        if "__dataclass_fields__" in base.__dict__:
            found |= base.__dataclass_fields__
    names = {"__module__": owner.__module__, "__annotations__": _annotations(owner), "__doc__": owner.__name__,
             **owner._declared.values}
    twin = dataclasses.dataclass(init=False, repr=False, eq=False, match_args=False, kw_only=owner._declared.kw_only)(
        type(owner.__name__, (), names))
    return found | twin.__dataclass_fields__


def _own_fields(owner: type) -> Iterator[tuple[str, dataclasses.Field, bool]]:
    """The name of each field that the class itself declares, the field, and whether it is a keyword of `__init__` alone. They are
    read from the class, since making all of its `Field`s takes longer and few classes need them."""
    declared = owner._declared
    for name in declared.names:
        value = declared.values.get(name, dataclasses.MISSING)
        field = value if isinstance(value, dataclasses.Field) else dataclasses.field(default=value)
        yield name, field, declared.kw_only if field.kw_only is dataclasses.MISSING else field.kw_only


def _all_fields(owner: type) -> list[tuple[str, dataclasses.Field, bool]]:
    """The same of the class and of those that it derives from."""
    found = {}
    for base in owner.__mro__[-2::-1]:
        if "_declared" in base.__dict__:
            found |= {field[0]: field for field in _own_fields(base)}
        elif "__dataclass_fields__" in base.__dict__:
            found |= {field.name: (field.name, field, field.kw_only) for field in dataclasses.fields(base)}
    return list(found.values())


def _written(owner: type, head: str, lines: list[str], known: dict[str, Any]) -> Any:
    """A method from its text. `known`: the names that it may use."""
    exec("\n".join([f"def {head}:", *(lines or [" pass"])]), known)
    method = known[head.partition("(")[0]]
    method.__qualname__ = f"{owner.__qualname__}.{method.__name__}"
    return method


class _MissingValue:
    """What a parameter with a default factory is if it was not given, as signatures show it."""

    def __repr__(self) -> str:
        return "<factory>"


_MISSING = _MissingValue()


def _init(owner: type) -> Callable[..., None]:
    """The function that `dataclasses.dataclass` would write: no slower, since many instances may be made."""
    known: dict[str, Any] = {"__name__": owner.__module__, "_set": object.__setattr__, "_missing": _MISSING}
    places, keywords, lines, fields = [], [], [], _all_fields(owner)
    for name, field, kw_only in fields:
        value, default = name, ""
        if field.default is not dataclasses.MISSING:
            known[f"_default_{name}"], default = field.default, f"=_default_{name}"
            value = name if field.init else f"_default_{name}"
        elif field.default_factory is not dataclasses.MISSING:
            known[f"_make_{name}"], default = field.default_factory, "=_missing"
            value = f"_make_{name}() if {name} is _missing else {name}" if field.init else f"_make_{name}()"
        elif not field.init:
            continue
        if field.init:
            (keywords if kw_only else places).append(name + default)
        lines.append(f" _set(self, {name!r}, {value})" if owner._declared.frozen else f" self.{name} = {value}")
    if hasattr(owner, "__post_init__"):
        lines.append(" self.__post_init__()")
    head = ", ".join(("self", *places, *(("*", *keywords) if keywords else ())))
    init = _written(owner, f"__init__({head})", lines, known)
    types = {name: kind for base in owner.__mro__[-2::-1] for name, kind in _annotations(base).items()}
    init.__annotations__ = {name: types[name] for name, field, _ in fields if field.init} | {"return": None}
    return init


def _eq(owner: type) -> Callable[[Any, Any], Any]:
    names = [name for name, field, _ in _all_fields(owner) if field.compare]
    ours, others = ("".join(f"{one}.{name}, " for name in names) for one in ("self", "other"))
    return _written(owner, "__eq__(self, other)", [f" return ({ours}) == ({others}) if other.__class__ is self.__class__ "
                                                   "else NotImplemented"], {})


def _hash(owner: type) -> Callable[[Any], int]:
    names = [name for name, field, _ in _all_fields(owner) if (field.compare if field.hash is None else field.hash)]
    return _written(owner, "__hash__(self)", [f" return hash(({''.join(f'self.{name}, ' for name in names)}))"], {})


def _match_args(owner: type) -> tuple[str, ...]:
    return tuple(name for name, field, kw_only in _all_fields(owner) if field.init and not kw_only)


def _params(owner: type) -> Any:
    """What the standard library asks of a class that another dataclass derives from."""
    said = owner._declared
    twin = dataclasses.dataclass(frozen=said.frozen, eq=said.eq, repr=said.repr, kw_only=said.kw_only)(
        type("Twin", (), {"__doc__": "Twin"}))
    return twin.__dataclass_params__


@recursive_repr()
def _repr(self: Any) -> str:
    shown = (f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _is_refused(one: Any, name: str) -> bool:
    return "_declared" in type(one).__dict__ or any(field.name == name for field in dataclasses.fields(one))


def _refuse_assignment(self: Any, name: str, value: Any) -> None:
    if _is_refused(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _refuse_deletion(self: Any, name: str) -> None:
    if _is_refused(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


def _replaced(self: Any, /, **changes: Any) -> Any:
    return dataclasses.replace(self, **changes)


def _getstate(self: Any) -> list:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _setstate(self: Any, state: list) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


_LAZY = {"__init__": _init, "__dataclass_fields__": _fields, "__dataclass_params__": _params, "__match_args__": _match_args}
_FROZEN = {"__setattr__": _refuse_assignment, "__delattr__": _refuse_deletion}
_PICKLED = {"__getstate__": _getstate, "__setstate__": _setstate}


def _annotations(kind: type) -> dict[str, Any]:
    """What the class itself says of its attributes."""
    if sys.version_info >= (3, 14):
        from annotationlib import Format, get_annotations
        return get_annotations(kind, format=Format.FORWARDREF)
    return kind.__dict__.get("__annotations__", {})


def _is_of_class(annotation: Any) -> bool:
    """Is it no field but an attribute of the class?"""
    return ClassVar in (annotation, get_origin(annotation)) or str(annotation).startswith(("ClassVar", "typing.ClassVar"))


def _declare(kind: type, slots: bool, said: _Options) -> type:
    own = kind.__dict__
    added = {name: _LazyAttribute(make) for name, make in _LAZY.items()} | {"_declared": said, "__replace__": _replaced}
    if said.repr:
        added["__repr__"] = _repr
    if said.eq:
        added |= {"__eq__": _LazyAttribute(_eq), "__hash__": _LazyAttribute(_hash) if said.frozen else None}
    if said.frozen:
        added |= {**_FROZEN, **(_PICKLED if slots else {})}
    added = {name: part for name, part in added.items() if own.get(name) is None}  # what the class's body defines stays
    names = said.names
    names += [name for name, annotation in _annotations(kind).items() if not _is_of_class(annotation)]
    said.values.update((name, own[name]) for name in names if name in own)
    if slots:
        inherited = {name for base in kind.__mro__[1:-1] for name in base.__dict__.get("__slots__", ())}
        left_out = {"__dict__", "__weakref__", *names}
        space = {name: part for name, part in own.items() if name not in left_out} | added
        space["__slots__"] = tuple(name for name in names if name not in inherited)
        made = type(kind)(kind.__name__, kind.__bases__, space)
        made.__qualname__ = kind.__qualname__
        return made
    for name, value in said.values.items():
        if isinstance(value, dataclasses.Field):
            if value.default is dataclasses.MISSING:
                delattr(kind, name)
            else:
                setattr(kind, name, value.default)
    for name, part in added.items():
        setattr(kind, name, part)
        if isinstance(part, _LazyAttribute):
            part.__set_name__(kind, name)
    return kind


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    def dataclass(kind: type | None = None, /, *, frozen: bool = False, slots: bool = False, eq: bool = True, repr: bool = True,
                  kw_only: bool = False):
        """`dataclasses.dataclass`, but that methods are made when they are first used.

        The standard one writes and compiles six methods of every class that is imported; most classes need one of them or
        none. Everything else is the same: `fields`, `replace`, `asdict`, equality, errors, pickling, `inspect.signature`.
        """
        def declared(kind: type) -> type:
            return _declare(kind, slots, _Options(frozen, eq, repr, kw_only, [], {}))
        return declared if kind is None else declared(kind)
