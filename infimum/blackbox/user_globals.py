"""What the user has written, and what comes from libraries: of a function the globals it reads, of a class its body."""

import os
import sys
import sysconfig
from functools import cached_property, partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from infimum.blackbox.function_source import changed_names, global_names

PLAIN = (float, bool, str, type(None), int)
CONSTANT = (*PLAIN, bytes, complex, tuple, np.ndarray, np.generic, FunctionType, partial)  # seldom changed by a function
_STDLIB = os.path.join(sysconfig.get_paths()["stdlib"], "")
_BEGIN = {"__init__", "__new__", "__post_init__", "__setstate__"}  # methods that set what others read


def globals_of(fun: FunctionType) -> dict[str, Any]:
    """The global values that a function reads, its own name aside; of a module of the user's, the attributes that it reads."""
    found = {}
    for name, attributes in sorted(global_names(fun.__code__).items()):
        value = fun.__globals__.get(name, fun)  # a name that is not there is built in, or will be an error
        if isinstance(value, ModuleType) and library_of(value) is None:
            found |= {f"global {name}.{one}": getattr(value, one) for one in sorted(attributes) if hasattr(value, one)}
        elif value is not fun:
            found[f"global {name}"] = value
    return found


def attributes_of(owner: Any) -> dict[str, Any]:
    slots = [name for base in type(owner).__mro__ for name in _listed(vars(base).get("__slots__", ()))]
    return {name: getattr(owner, name) for name in slots if hasattr(owner, name)} | dict(getattr(owner, "__dict__", {}))


def _listed(slots: Any) -> list[str]:
    return [slots] if isinstance(slots, str) else list(slots)


def written_in(kind: type) -> dict[str, Any]:
    """The functions and constants in the body of a class and of its bases, those of libraries aside."""
    bases = [base for base in reversed(kind.__mro__) if library_of(base) is None]
    found = {name: _inner_function(value) for base in bases for name, value in vars(base).items()}
    return {name: value for name, value in found.items()
            if (not _installed(value.__code__.co_filename) if isinstance(value, FunctionType) else
                not name.startswith("__") and isinstance(value, CONSTANT))}


def _inner_function(value: Any) -> Any:
    if isinstance(value, (staticmethod, classmethod)):
        return value.__func__
    return value.fget if isinstance(value, property) else value.func if isinstance(value, cached_property) else value


def changed_by_methods(kind: type) -> set[str]:
    """The attributes of its objects, or of itself, that the methods of a class change, but for those that set them first."""
    found = set()
    for name, method in written_in(kind).items():
        if isinstance(method, FunctionType) and name not in _BEGIN:
            owners = {method.__code__.co_varnames[0] if method.__code__.co_argcount else "", kind.__name__}
            parts = (changed.partition(".") for changed in changed_names(method.__code__) or ())
            found |= {attribute for owner, _, attribute in parts if owner in owners and attribute}
    return found


def is_bound(fun: Any) -> bool:
    """Is it a method of an object, which its values may depend on?"""
    owner = getattr(fun, "__self__", None) if isinstance(fun, (MethodType, BuiltinFunctionType)) else None
    return owner is not None and not isinstance(owner, (ModuleType, type))


def library_of(thing: Any) -> str | None:
    """The installed package, or the part of Python, that an object, a class or a module comes from; None if it is the user's."""
    name = thing.__name__ if isinstance(thing, ModuleType) else getattr(thing, "__module__", None) or "builtins"
    root = str(name).partition(".")[0]
    installed = root in sys.stdlib_module_names or root == "infimum" or \
        _installed(getattr(sys.modules.get(root), "__file__", None) or "")
    return root if installed and root != "__main__" else None


def _installed(file: str) -> bool:
    """Is it a file of Python itself, or of a package? Decorators of dataclasses give the user's classes functions of these."""
    return file.startswith((_STDLIB, "<frozen ")) or "site-packages" in file or "dist-packages" in file


def name_of(thing: Any) -> str:
    return getattr(thing, "__qualname__", None) or getattr(thing, "__name__", None) or type(thing).__qualname__
