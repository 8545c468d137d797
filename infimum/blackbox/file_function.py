"""A function of a Python file that is no module: each process that calls it runs the file once, and not as __main__.

So the command line can send functions of the user's file to workers, which could not import them.
"""

import runpy
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from infimum.errors import TrialError

_NAME = "infimum_file_of_trials"


class FileFunction:
    """The function `name` of the file at `path`."""

    def __init__(self, path: str | Path, name: str):
        self.path, self.__name__ = str(Path(path).resolve()), name
        self.__qualname__ = name

    @property
    def function(self) -> Callable[..., Any]:
        """The function itself, in this process."""
        found = _names(self.path).get(self.__name__)
        if not callable(found):
            raise TrialError(f"{self.path} has no function `{self.__name__}`")
        return found

    def __call__(self, *args: Any) -> Any:
        return self.function(*args)


@cache
def _names(path: str) -> dict[str, Any]:
    """The names of a file after it was run; its folder stays on the path, for what it imports later."""
    folder = str(Path(path).parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return runpy.run_path(path, run_name=_NAME)
