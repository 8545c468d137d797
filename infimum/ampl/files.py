"""Which file is meant, and what is in it."""

import stat
from os import PathLike
from pathlib import Path

from infimum.errors import ModelFileError

_MOST_BYTES = 1 << 32  # bytes of a file that is read: what becomes of it in memory is many times as large
# how files begin that hold a model in another form, and what makes a model of them
_PACKED = {b"\x1f\x8b": ("gzip", "gunzip"), b"BZh": ("bzip2", "bunzip2"), b"\xfd7zXZ": ("xz", "unxz"),
           b"\x28\xb5\x2f\xfd": ("zstd", "unzstd"), b"PK\x03\x04": ("zip", "unzip")}
ENDINGS = (".nl", ".nl.gz", ".nl.bz2", ".nl.xz", ".nl.zst", ".nl.zip")


def path_of(path: str | PathLike) -> Path:
    """The .nl file that is meant: AMPL names it without its ending.

    >>> path_of("model").name, path_of("model.nl.gz").name
    ('model.nl', 'model.nl.gz')
    """
    path = Path(path)
    return path if path.name.endswith(ENDINGS) else path.with_name(path.name + ".nl")


def bytes_of(path: Path) -> bytes:
    """What the file holds; an error if it cannot be a model."""
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            raise ModelFileError(f"{path} cannot be read: it is {'a folder' if path.is_dir() else 'no ordinary file'}")
        if about.st_size > _MOST_BYTES:
            raise ModelFileError(f"{path} cannot be read: it has {about.st_size:,} bytes, and the most is {_MOST_BYTES:,}")
        data = path.read_bytes()
    except (OSError, ValueError) as error:  # a name with a null character in it is a ValueError
        raise ModelFileError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    for begin, (kind, cure) in _PACKED.items():
        if data.startswith(begin):
            raise ModelFileError(f"{path} is compressed ({kind}): unpack it first, with {cure}")
    return data
