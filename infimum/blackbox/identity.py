"""What a function is: its own code, and what that is bound to, as far as it can be read.

A journal holds the values of one function. `identity` describes a function by short texts, one for each thing that its values may
depend on: arguments of `functools.partial`, defaults, variables of an enclosing function, attributes, the state of `self`, and
the global numbers, arrays and functions that it reads. The texts are the same in every process and for every version of Python:
no addresses, no order of a set. What cannot be read is called unreadable and never counts as a difference, and neither does what
the function changes by itself: a counter, a log. So two functions with the same identity may still differ, and the best point of
a journal is evaluated again whatever the identity says (`api/black_box.py`).
"""

import json
import random
from collections import deque
from collections.abc import Callable, Mapping
from enum import Enum
from functools import cached_property, lru_cache, partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from infimum.blackbox.function_source import changed_names, code_of, comparable, digest
from infimum.blackbox.user_globals import (
    CONSTANT,
    PLAIN,
    attributes_of,
    changed_by_methods,
    globals_of,
    is_bound,
    library_of,
    name_of,
    written_in,
)

_DIGITS = len(digest(""))
_LONGEST_SHOWN = 60    # characters of a value that are shown; a longer one is a digest
_MOST_VALUES = 20_000  # values that are read of one function
_STATE = {"numpy", "scipy", "infimum"}    # libraries whose objects hold plain data, which is read
_ARRAYS = {"pandas", "polars", "torch"}  # libraries whose objects NumPy reads
UNREADABLE, RECORD, EMPTY = "unreadable", "changed by the function", "empty"


def identity(fun: Any, args: tuple = ()) -> dict[str, str]:
    """What can be read of a function that is called with these further arguments.

    >>> identity(partial(round, ndigits=3))
    {'keyword ndigits': '3', 'code': 'built-in builtins.round'}
    """
    reader, found = _Reader(), {}
    for k, value in enumerate(args):
        found[f"args[{k}]"] = reader.text(value)
    reader.describe(fun, found)
    return found


def text_of_value(value: Any) -> str:
    """A value as a short text, the same in every process.

    >>> text_of_value([0.5, None, (1, 2)]), text_of_value(np.arange(3.0))
    ('[0.5, null, [1, 2]]', 'float64 [0.0, 1.0, 2.0]')
    """
    return _Reader().text(value)


def differences(theirs: Mapping[str, str], ours: Mapping[str, str]) -> list[str]:
    """In what two identities differ, for people; what only one of them could read is no difference."""
    found = []
    for label in {**theirs, **ours}:
        was, now = theirs.get(label), ours.get(label)
        if was == now or label.startswith("global") and None in (was, now):
            continue
        if any(one is not None and one.startswith((UNREADABLE, RECORD, EMPTY)) for one in (was, now)):
            continue
        if label == "code":
            found += ["its source has changed"] if was and now and comparable(was, now) else []
        elif was and now and comparable(was, now) and len(was.rpartition(" ")[2]) == _DIGITS:
            found.append(f"its {label} has changed")
        else:
            found.append(f"its {label} was {was or 'not there'}, and is {now or 'not there'}")
    return found


class _Reader:
    """Reads values, each once: a value that is met again is named only."""

    def __init__(self) -> None:
        self._met: dict[int, tuple[Any, str]] = {}   # by address, with the value itself, so that no other takes its address
        self._left = _MOST_VALUES

    # ---- functions
    def describe(self, fun: Any, found: dict[str, str]) -> None:
        """Adds what can be read of a function, each under a label of its own."""
        if isinstance(fun, partial):
            found |= {f"argument {k}": self.text(value) for k, value in enumerate(fun.args)}
            found |= {f"keyword {name}": self.text(value) for name, value in sorted(fun.keywords.items())}
            self.describe(fun.func, found)
        elif isinstance(fun, MethodType):
            self._describe_state(fun.__self__, found)
            self.describe(fun.__func__, found)
        elif isinstance(fun, FunctionType):
            self._describe_function(fun, found)
        elif library_of(type(fun)) == "infimum" and hasattr(fun, "function"):  # a stand-in of ours for the user's function
            self.describe(fun.function, found)
        elif isinstance(fun, _CACHED) or callable(getattr(fun, "__dict__", {}).get("__wrapped__")):
            self.describe(fun.__wrapped__, found)
        elif isinstance(fun, type) and library_of(fun) is None:
            found["class"] = self._class_text(fun)
        elif isinstance(fun, (BuiltinFunctionType, np.ufunc, type)):
            found["code"] = f"built-in {getattr(fun, '__module__', None) or 'numpy'}.{name_of(fun)}"
            if is_bound(fun):
                found["self"] = self.text(fun.__self__)
        else:
            self._describe_state(fun, found)
            call = type(fun).__call__
            if isinstance(call, FunctionType):
                self._describe_function(call, found)
            else:
                found["code"] = _unreadable(fun)

    def _describe_function(self, fun: FunctionType, found: dict[str, str]) -> None:
        code, changed = fun.__code__, changed_names(fun.__code__)
        self._met.setdefault(id(fun), (fun, f"again {fun.__name__}"))
        found["code"] = code_of(code)
        names = code.co_varnames[:code.co_argcount]
        defaults = dict(zip(reversed(names), reversed(fun.__defaults__ or ()), strict=False)) | (fun.__kwdefaults__ or {})
        bound = {f"default {name}": value for name, value in sorted(defaults.items())}
        for name, cell in zip(code.co_freevars, fun.__closure__ or (), strict=True):
            try:
                bound[f"variable {name}"] = cell.cell_contents
            except ValueError:  # not assigned yet
                bound[f"variable {name}"] = None
        bound |= {f"attribute {name}": value for name, value in sorted(vars(fun).items())}
        bound |= globals_of(fun)
        for label, value in bound.items():
            found[label] = self._bound(value, label.split(" ", 1)[1], changed)

    def _bound(self, value: Any, name: str, changed: set[str] | None) -> str:
        """The text of a value that a function is bound to. Where no text of the function says whether it changes a container or
        an object, that is not read."""
        if changed is None and not isinstance(value, CONSTANT):
            return _unreadable(value)
        return RECORD if changed is not None and name in changed else self.text(value)

    def _describe_state(self, owner: Any, found: dict[str, str]) -> None:
        """The state of an object: what its class is, and its attributes but for those that its own methods change."""
        kind = type(owner)
        if library_of(kind) in (None, *_STATE):
            changed = changed_by_methods(kind)
            lazy = {name for base in kind.__mro__ for name, value in vars(base).items() if isinstance(value, cached_property)}
            for name, value in sorted(attributes_of(owner).items()):
                if name not in lazy:
                    found[f"self.{name}"] = RECORD if name in changed else self.text(value)
        found["class"] = self._class_text(kind)

    def _class_text(self, kind: type) -> str:
        """A class by what the user, and no library, has written in it: methods, and constants that no method changes. What was
        made without a text, as the methods of a dataclass are, follows from the rest."""
        changed = changed_by_methods(kind)
        found = {name: RECORD if name in changed else self.text(value) for name, value in sorted(written_in(kind).items())}
        readable = {name: text for name, text in found.items() if not text.startswith(UNREADABLE)}
        return f"{name_of(kind)} {digest(json.dumps(readable))}"

    # ---- values
    def text(self, value: Any) -> str:
        """A value as a short text, the same in every process."""
        if isinstance(value, (list, dict, set, deque, bytearray)) and not value:
            return f"{EMPTY} {type(value).__name__}"
        try:
            plain = self._plain(value)
        except Exception:  # whatever an object of the user's raises when it is looked at; too deep a nesting
            return _unreadable(value)
        said = plain if isinstance(plain, str) and not isinstance(value, str) else json.dumps(plain)
        return said if len(said) <= _LONGEST_SHOWN else f"{type(value).__name__} {digest(said)}"

    def _plain(self, value: Any) -> Any:
        """The value in the terms of JSON, with texts for what JSON does not have."""
        kind = type(value)
        if kind in PLAIN:
            return value if kind is not int or abs(value) < 1 << 63 else hex(value)
        if kind in (list, tuple) and all(type(one) in PLAIN[:-1] for one in value):
            return list(value)
        self._left -= 1
        if self._left < 0:
            return f"{UNREADABLE}: there is too much of it"
        if id(value) in self._met:
            return self._met[id(value)][1]
        self._met[id(value)] = value, f"again {kind.__name__}"
        found = next((read(self, value) for kinds, read in _READ if isinstance(value, kinds)), None)
        found = self._object(value) if found is None else found
        self._met[id(value)] = value, found if isinstance(found, str) else digest(json.dumps(found))
        return found

    def _function(self, value: Any) -> str:
        library = library_of(value)
        if library is not None and not isinstance(value, partial) and not is_bound(value):
            return f"function {library}.{name_of(value)}"
        found: dict[str, str] = {}
        self.describe(value, found)
        if found.get("code", "").startswith("instructions"):  # which another version of Python would write in another way
            return f"{UNREADABLE} function {name_of(value)}"
        return f"function {name_of(value)} {digest(json.dumps(found))}"

    def _array(self, value: np.ndarray) -> Any:
        if value.dtype.kind == "O":
            return [list(value.shape), [self._plain(one) for one in value.ravel().tolist()]]
        if value.dtype.kind not in "biufcSUmM":
            return _unreadable(value)
        if value.size <= 4 and value.dtype.kind in "biuf":
            return f"{value.dtype} {value.tolist()!r}"
        ordered = np.ascontiguousarray(value.astype(value.dtype.newbyteorder("<"), copy=False))
        return f"array {value.dtype} {value.shape} {digest(ordered.tobytes())}"

    def _object(self, value: Any) -> Any:
        """An object of any other class: a function, or its state."""
        library = library_of(type(value))
        if library in _ARRAYS:
            try:
                return self._array(np.asarray(value))
            except Exception:  # whatever that library raises, as for a tensor on a GPU
                return _unreadable(value)
        if isinstance(value, (random.Random, np.random.Generator, np.random.RandomState)) or hasattr(type(value), "__next__"):
            return RECORD
        if library is not None and library not in _STATE:
            said = repr(value) if type(value).__module__ in _PRINTED else ""
            return said if said and " at 0x" not in said else _unreadable(value)
        found: dict[str, str] = {}
        self._describe_state(value, found)
        return {"class": name_of(type(value)), **found}

    def _mapping(self, value: Mapping) -> dict[str, Any]:
        named = {key if isinstance(key, str) else self.text(key): one for key, one in value.items()}
        return {key: self._plain(named[key]) for key in sorted(named)}


_CACHED = type(lru_cache(identity))
_PRINTED = {"datetime", "decimal", "fractions", "pathlib", "uuid", "re", "builtins"}  # whose objects print all that they hold
_READ: tuple[tuple[Any, Callable[[_Reader, Any], Any]], ...] = (
    (Enum, lambda reader, value: f"{name_of(type(value))}.{value.name}"),
    (ModuleType, lambda reader, value: f"module {value.__name__}"),
    ((FunctionType, MethodType, BuiltinFunctionType, partial, np.ufunc, type), _Reader._function),
    (np.ndarray, _Reader._array),
    (np.generic, lambda reader, value: f"{value.dtype} {value.tolist()!r}"),
    ((bool, int, float, str), lambda reader, value: repr(value)),      # of a class of its own
    ((bytes, bytearray, memoryview), lambda reader, value: f"bytes {digest(bytes(value))}"),
    (complex, lambda reader, value: repr(value)),
    (Mapping, _Reader._mapping),
    ((list, tuple, deque), lambda reader, value: [reader._plain(one) for one in value]),
    ((set, frozenset), lambda reader, value: sorted(reader.text(one) for one in value)),
)


def _unreadable(value: Any) -> str:
    return f"{UNREADABLE} {type(value).__module__}.{type(value).__qualname__}"
