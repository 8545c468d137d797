"""A cache on disk of what takes long to compile. A file is named by a digest of all that its content follows from.

It lies in the folder that the environment variable INFIMUM_CACHE names, else in the user's folder for caches; INFIMUM_CACHE=off
does without. A file begins with a checksum, so that one that is damaged is as good as none; it is written beside and put in its
place in one step, so that processes do not meet. Nothing here raises: without the cache everything only takes longer.

What is read here is run, machine code as it is and PTX by a GPU, and proofs rely on it. So there is one rule for both: folder and
file belong to this user or to root, and nobody else can write to them. Anything else is as good as none, and made again.
"""

import errno
import os
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import BinaryIO

from infimum.support.digests import blake2b

_MOST_BYTES = 256 << 20  # bytes in the folder
_CLEANING_PERIOD = 64    # new files between two cleanings of the folder, on average
_SUFFIX = ".infimum"  # nothing else in the folder is touched
_DIGEST = blake2b().digest_size

_written = count(os.urandom(1)[0] % _CLEANING_PERIOD)  # most processes write few files, and need not look either


def folder() -> Path | None:
    """Where the cache lies; None where there is none."""
    named = os.environ.get("INFIMUM_CACHE")
    if named:
        named = os.path.expanduser(named)
        return None if named.lower() == "off" or named.startswith("~") else Path(named)
    if os.name == "nt":
        users = os.environ.get("LOCALAPPDATA", "")
    else:
        users = os.environ.get("XDG_CACHE_HOME", "")
        users = users if os.path.isabs(users) else os.path.expanduser("~/.cache")
    return Path(users, "infimum") if os.path.isabs(users) else None


def name_of(*causes: str) -> str:
    """A name for what follows from these texts."""
    digest = blake2b(digest_size=20)
    for cause in causes:
        digest.update(len(cause).to_bytes(8, "little") + cause.encode())
    return digest.hexdigest()


def kept(name: str, make: Callable[[], bytes]) -> bytes:
    """What is kept under that name, or what is made now, and then kept."""
    content = read(name)
    if content is None:
        content = make()
        write(name, content)
    return content


def read(name: str) -> bytes | None:
    """What was written under that name, if it is whole, and nobody else can have written it."""
    where = folder()
    if where is None:
        return None
    try:
        with _opened(where, name + _SUFFIX) as file:
            found = file.read(_MOST_BYTES + 1)
            content = found[_DIGEST:]
            if len(found) > _MOST_BYTES or found[:_DIGEST] != _checksum(name, content):
                return None
            with suppress(OSError):
                os.utime(file.fileno() if os.utime in os.supports_fd else where / (name + _SUFFIX))  # the last to go
            return content
    except OSError:
        return None


def _opened(where: Path, name: str) -> BinaryIO:
    """The file of that name, opened; raises OSError if it, or the folder, is not this user's alone. Owner and mode are those of
    what is open, so that nobody can put something else in its place in between; a link is not followed."""
    if os.name == "nt":  # where rights are kept in another way
        return open(where / name, "rb")
    within = _open_folder(where)
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=within)
    finally:
        os.close(within)
    file = os.fdopen(handle, "rb")
    try:
        _refuse_others(handle, stat.S_ISREG)
    except OSError:
        file.close()
        raise
    return file


def _open_folder(where: Path) -> int:
    handle = os.open(where, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _refuse_others(handle, stat.S_ISDIR)
    except OSError:
        os.close(handle)
        raise
    return handle


def _refuse_others(handle: int, kind: Callable[[int], bool]) -> None:
    """Raises if anybody but this user and root can have written what is open, or it is no such file."""
    found = os.fstat(handle)
    if not kind(found.st_mode) or found.st_uid not in (os.geteuid(), 0) or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(errno.EPERM, "others can write to it")


def write(name: str, content: bytes) -> None:
    """Keeps the content under that name, if the folder can be written to."""
    where = folder()
    if where is None:
        return
    with suppress(OSError):
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.name != "nt":
            os.close(_open_folder(where))  # nothing is read from there that others can write to
        handle, temporary = tempfile.mkstemp(_SUFFIX, ".", where)  # if this process is killed it goes when it is the oldest
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_checksum(name, content) + content)
            os.replace(temporary, where / (name + _SUFFIX))
        except BaseException:
            os.unlink(temporary)
            raise
        if next(_written) % _CLEANING_PERIOD == 0:
            _shrink(where)


def _checksum(name: str, content: bytes) -> bytes:
    return blake2b(content, key=name.encode()).digest()


def _shrink(where: Path) -> None:
    """Removes the files that were not used for the longest time, where there are too many bytes."""
    known = []
    for path in where.glob("*" + _SUFFIX):
        with suppress(OSError):  # another process was sooner
            found = path.stat()
            known.append((found.st_mtime_ns, found.st_size, path))
    total = sum(size for _, size, _ in known)
    for _, size, path in sorted(known):
        if total <= _MOST_BYTES:
            return
        with suppress(OSError):
            path.unlink()
            total -= size
