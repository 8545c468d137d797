"""The user's file: running it once, and choosing the function in it."""

import linecache
import sys
import traceback
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from infimum import problems
from infimum.cli.command import CommandError

_NAME = "infimum_user_file"        # of the module: not __main__, so that what is guarded does not run
CONSTRAINTS = "constraints"        # what a file calls its constraints
USUAL = ("f", "fun", "objective")  # names that decide between several functions


def parted(spec: str) -> tuple[Path, str | None]:
    """FILE.py and the function's name, if there is one, of `FILE.py:function`."""
    path, colon, name = spec.rpartition(":")
    if not colon or not name.isidentifier() or Path(spec).is_file():
        return Path(spec), None
    return Path(path), name


@contextmanager
def loaded(path: Path) -> Iterator[ModuleType]:
    """The file as a module; while it is in use its folder is the first of sys.path, as in `python FILE.py`."""
    if not path.is_file():
        raise CommandError(_missing(path))
    module, before = ModuleType(_NAME), sys.modules.get(_NAME)
    module.__file__ = str(path)
    folder = str(path.resolve().parent)
    linecache.checkcache(str(path))  # errors quote the file as it is now
    sys.path.insert(0, folder)
    sys.modules[_NAME] = module
    try:
        try:
            exec(compile(path.read_bytes(), str(path), "exec", dont_inherit=True), module.__dict__)
        except (Exception, SystemExit) as error:
            raise CommandError(_explained(path, error)) from error
        yield module
    finally:
        if folder in sys.path:
            sys.path.remove(folder)
        sys.modules.pop(_NAME)
        if before is not None:
            sys.modules[_NAME] = before


def _missing(path: Path) -> str:
    if path.is_dir():
        return f"{path} is a folder: name the Python file with the function in it"
    said = f"there is no file {str(path)!r}"
    if path.with_suffix(".py").is_file():
        return f"{said}: did you mean {path.with_suffix('.py')}?"
    if str(path) in problems.names():
        return f"{said}: to run the problem of the gallery, write `infimum gallery {path}`"
    return f"{said}: give the path of a Python file, and the function in it if there are several, as in model.py:cost"


def _explained(path: Path, error: BaseException) -> str:
    """Where the user's own code was, and the last line of the traceback."""
    last = traceback.format_exception_only(error)[-1].strip()
    place = str(path)
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        place = f"{error.filename}:{error.lineno}"
    else:
        folder = path.resolve().parent
        mine = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).resolve().parent == folder]
        place = f"{mine[-1].filename}:{mine[-1].lineno}" if mine else place
    return (f"{place}: {last} (while {path} was run to find the function in it). "
            "Correct it, or put what need not run under `if __name__ == \"__main__\":`")


def add_constraints(parser: ArgumentParser, more: str = "") -> None:
    """The flag with which constraints are chosen."""
    parser.add_argument("--constraints", metavar="[FILE.py:]NAME", help="the constraints: a list or a function of that name; by "
                        f"default the variable `constraints` of the file, if there is one{more}")


def constraints_of(spec: str | None, module: ModuleType, path: Path) -> Any:
    """What `--constraints` names, in the file or in another one; without it what the file itself calls so."""
    if spec is None:
        return getattr(module, CONSTRAINTS, None)
    other, name = parted(spec) if ":" in spec else (path, spec)
    if ":" in spec and name is not None and other.resolve() != path.resolve():
        with loaded(other) as elsewhere:
            return constraints_of(name, elsewhere, other)
    if name is None or not hasattr(module, name):
        raise CommandError(f"{other} has no variable or function {name or spec!r} for --constraints")
    return getattr(module, name)


def chosen(module: ModuleType, path: Path, name: str | None, constraints: str | None = None) -> tuple[str, Callable]:
    """The function of that name; without one the only public function of the file, or the only one with a usual name. What is
    named for the constraints is not meant."""
    there = vars(module)
    own = [k for k, v in there.items() if isinstance(v, FunctionType) and v.__module__ == _NAME and not k.startswith("_")
           and k not in (CONSTRAINTS, constraints)]
    if name is not None:
        if name not in there:
            raise CommandError(f"{path} has no function {name!r}; {_listed(path, own)}")
        if not callable(there[name]):
            kind = type(there[name]).__name__
            raise CommandError(f"{name!r} in {path} is no function but of type {kind}; {_listed(path, own)}")
        return name, there[name]
    usual = [k for k in USUAL if callable(there.get(k)) and not isinstance(there[k], type)]
    for names in (own, usual):
        if len(names) == 1:
            return names[0], there[names[0]]
    if not own and not usual:
        raise CommandError(f"{path} has no public function: write one, def f(x): ..., of a NumPy vector x")
    raise CommandError(f"which function of {path}? {_listed(path, own)}")


def _listed(path: Path, names: list[str]) -> str:
    return "write " + " or ".join(f"{path}:{name}" for name in names) if names else "it has no public function at all"
