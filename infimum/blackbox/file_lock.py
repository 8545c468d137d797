"""A lock on an open file that the system takes back when the process ends, however it does."""

import os

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None
    import msvcrt

_LOCKED_BYTE = 2**40  # where Windows locks a byte: far behind the end, so that others can read


class Locked(Exception):
    """Another process, or another run in this one, holds the lock."""


def lock(handle: int) -> None:
    """Takes the lock, which goes when the file is closed; raises Locked, or OSError where the file system has no locks."""
    if fcntl is not None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Locked from None
        return
    at = os.lseek(handle, 0, os.SEEK_CUR)
    os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
    try:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    except OSError:
        raise Locked from None
    finally:
        os.lseek(handle, at, os.SEEK_SET)
