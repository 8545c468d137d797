"""What the files that a run writes have in common: names that last, and a warning where one cannot be written."""

import os
import sys
import warnings
from contextlib import suppress
from pathlib import Path

_HERE = str(Path(__file__).parents[1])


def sync_folder(path: str) -> None:
    """Makes the name of a new file durable, where the system lets a folder be opened."""
    if hasattr(os, "O_DIRECTORY"):
        with suppress(OSError):
            handle = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


class FileWarning(RuntimeWarning):
    """A file could not be written, or says less than it should. The result is as good as without that file."""


def warn(text: str) -> None:
    """Warns at the user's line: the last one outside of this package."""
    frame, level = sys._getframe(1), 2
    while frame is not None and frame.f_code.co_filename.startswith(_HERE):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, FileWarning, stacklevel=level)
