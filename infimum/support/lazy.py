"""Modules that are imported when something of theirs is first used: half of them take no part in a given run.

Beside them the same imports stand under TYPE_CHECKING, for readers and for the tests of who may import whom.
"""

from importlib import import_module
from typing import Any


class LazyModule:
    """A module of infimum: `LazyModule("kernel.hessian").hessian` imports it and is what it calls so."""

    def __init__(self, name: str):
        self._module = f"infimum.{name}"

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._module), name)
