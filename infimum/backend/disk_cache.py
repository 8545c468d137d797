"""A cache on disk of what takes long to compile. A file is named by a digest of all that its content follows from.

It lies in the folder that the environment variable INFIMUM_CACHE names, else in the user's folder for caches; INFIMUM_CACHE=off
does without. A file begins with a checksum, so that one that is damaged is as good as none; it is written beside and put in its
place in one step, so that processes do not meet. Nothing here raises: without the cache everything only takes longer.
"""

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from itertools import count
from pathlib import Path

_MOST = 256 << 20     # bytes in the folder
_SELDOM = 64          # one in so many new files has the folder looked through
_SUFFIX = ".infimum"  # nothing else in the folder is touched
_DIGEST = blake2b().digest_size

_written = count(os.urandom(1)[0] % _SELDOM)  # most processes write few files, and need not look either


def folder() -> Path | None:
    """Where the cache lies; None where there is none."""
    named = os.environ.get("INFIMUM_CACHE")
    if named:
        return None if named.lower() == "off" else Path(named).expanduser()
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
    """What was written under that name, if it is whole."""
    where = folder()
    if where is None:
        return None
    path = where / (name + _SUFFIX)
    try:
        found = path.read_bytes()
    except OSError:
        return None
    content = found[_DIGEST:]
    if found[:_DIGEST] != _checksum(name, content):
        return None
    with suppress(OSError):
        os.utime(path)  # the last to go
    return content


def read_code(name: str) -> bytes | None:
    """The same for machine code, which is run: nothing from a folder that somebody else could have written to."""
    where = folder()
    if where is not None and os.name != "nt":
        try:
            found = where.stat()
        except OSError:
            return None
        if found.st_uid != os.geteuid() or found.st_mode & 0o022:
            return None
    return read(name)


def write(name: str, content: bytes) -> None:
    """Keeps the content under that name, if the folder can be written to."""
    where = folder()
    if where is None:
        return
    with suppress(OSError):
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(_SUFFIX, ".", where)  # if this process is killed it goes when it is the oldest
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_checksum(name, content) + content)
            os.replace(temporary, where / (name + _SUFFIX))
        except BaseException:
            os.unlink(temporary)
            raise
        if next(_written) % _SELDOM == 0:
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
        if total <= _MOST:
            return
        with suppress(OSError):
            path.unlink()
            total -= size
