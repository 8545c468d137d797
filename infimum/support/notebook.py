"""Notebooks: whether this is one, and an error as it is shown there. Nothing is imported that is not there already."""

import linecache
import os
import re
import sys
from typing import Any

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_INSTALLED = re.compile(r"[/\\](site|dist)-packages[/\\]|^<frozen")


def notebook_shell() -> Any:
    """IPython's shell if this runs in the kernel of a notebook, else None."""
    shell = _shell()
    return shell if hasattr(shell, "kernel") else None


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()


def short_traceback(error: BaseException) -> list[str]:
    """The lines of an error whose message says all: where the user's code called infimum, and the message.

    IPython would show every frame of ours with the lines around it, and the message below all of them.
    """
    import traceback  # seldom needed
    lines = []
    for frame, line in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        if file.startswith(_HERE):
            break
        if not _INSTALLED.search(file):
            lines += [_place(file, line), f"    {linecache.getline(file, line, frame.f_globals).strip()}"]
    message = re.sub(r"((?:\b[A-Za-z]:)?[^\s:]+):(\d+)", lambda found: _place(found[1], int(found[2])), str(error))
    return [*lines, f"{type(error).__name__}: {message}"]


def _place(file: str, line: int) -> str:
    """A line of a file; of a cell, whose code has a file of its own, by the number that the notebook shows."""
    shell = _shell()
    name = None if shell is None else shell.compile.format_code_name(file)
    return f"{file}:{line}" if name is None else f"{' '.join(name)}, line {line}"
