"""Checkpoints: the state of a run in a file that is whole or not there, whatever kills the process.

A file is a line of magic with the version of the format, the SHA-256 of what follows, a header in JSON with its length, and
arrays in NumPy's own format, no pickle. It is written beside the old one, forced to the disk, and put in its place in one step.
The checksum finds damage; it is no signature, and a file made by hand can have the right one (see `checkpoint_content`).
"""

import io
import math
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.errors import CheckpointError, InfimumError, OptionError
from infimum.support.lazy import LazyModule, dataclass

if TYPE_CHECKING:
    from infimum.support import output_files
else:
    output_files = LazyModule("support.output_files")  # few runs write files

MAGIC = b"infimum checkpoint 3\n"
_DIGEST = 32  # fixed: bytes of a SHA-256
_HEAD = 1 << 16  # fixed: bytes in which the header of an array must end


@dataclass(frozen=True, slots=True)
class State:
    """What a run needs to go on: plain values and arrays."""

    values: dict[str, Any]
    arrays: dict[str, np.ndarray]


def read_path(checkpoint: Any) -> str:
    """The name of the file, from a string or a path."""
    if not isinstance(checkpoint, (str, os.PathLike)):
        raise OptionError(f"checkpoint must be the name of a file, not {checkpoint!r}")
    return os.fsdecode(checkpoint)


def check_writable(path: str) -> None:
    """Raises before any work if no checkpoint can be written there, or if there is one already."""
    if os.path.isdir(path):
        raise CheckpointError(f"{path} is a folder: give the name of a file, such as {os.path.join(path, 'run.inf')}")
    if os.path.exists(path) and not os.path.isfile(path):
        raise CheckpointError(f"{path} is no ordinary file but a device or a pipe: give the name of a file")
    if os.path.exists(path):
        raise CheckpointError(f"{path} exists: continue it with infimum.resume({path!r}, fun), or delete it")
    try:
        with tempfile.NamedTemporaryFile(dir=os.path.dirname(os.path.abspath(path)), prefix=".infimum-"):
            pass
    except OSError as error:
        raise CheckpointError(f"no checkpoint can be written to {path}: {error.strerror or error}") from None


def save_first(path: str, state: State) -> None:
    """Writes the state before any work is done, when an error costs nothing."""
    try:
        save(path, state)
    except OSError as error:
        raise CheckpointError(f"no checkpoint can be written to {path}: {error.strerror or error}") from None


def save(path: str, state: State) -> None:
    """Writes the state; after a crash the file is the old one or the new one."""
    names = sorted(state.arrays)
    import json  # few runs write files
    from hashlib import sha256

    header = json.dumps({"values": state.values, "arrays": names}).encode()
    body = io.BytesIO()
    body.write(len(header).to_bytes(8, "little"))
    body.write(header)
    for name in names:
        np.save(body, state.arrays[name], allow_pickle=False)
    folder = os.path.dirname(os.path.abspath(path))
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=".infimum-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(MAGIC)
            file.write(sha256(body.getbuffer()).digest())
            file.write(body.getbuffer())
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
    output_files.sync_folder(path)


@contextmanager
def memory_suffices(path: str) -> Iterator[None]:
    """Too little memory to continue from a checkpoint is no fault of the file."""
    try:
        yield
    except MemoryError as error:
        if isinstance(error, InfimumError):  # of a GPU: it says what helps
            raise
        raise CheckpointError(f"there is too little memory to continue from the checkpoint {path}, which stays as it is: close "
                              "other programs, or continue on a machine with more memory") from error


def load(path: str) -> State:
    """Reads a state; anything but a whole file of this version raises CheckpointError. Nothing larger than the file is made of
    it."""
    with memory_suffices(path):
        return _loaded(path)


def _loaded(path: str) -> State:
    from hashlib import sha256

    try:
        with open(path, "rb") as file:
            data = file.read()
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        raise CheckpointError(f"the checkpoint {path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not data.startswith(MAGIC):
        kind = "of another version of infimum" if data.startswith(MAGIC.rsplit(b" ", 1)[0]) else "no checkpoint of infimum"
        raise CheckpointError(f"{path} is {kind}")
    body = memoryview(data)[len(MAGIC) + _DIGEST:]
    if sha256(body).digest() != data[len(MAGIC):len(MAGIC) + _DIGEST]:
        raise CheckpointError(f"the checkpoint {path} is damaged: its checksum is wrong")
    try:
        return _state_of(body)
    except _Unreadable as error:
        raise CheckpointError(f"the checkpoint {path} is damaged: {error}") from None


class _Unreadable(Exception):
    """Why a file with the right checksum holds no state."""


def _state_of(body: memoryview) -> State:
    import json

    size = int.from_bytes(body[:8], "little")
    if not 0 < size <= len(body) - 8:
        raise _Unreadable("its header is longer than the file")
    try:
        header = json.loads(bytes(body[8:8 + size]))
    except (ValueError, RecursionError) as error:
        raise _Unreadable(f"its header is no JSON ({error})") from None
    values, names = (header.get(name) if isinstance(header, dict) else None for name in ("values", "arrays"))
    if not isinstance(values, dict) or not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise _Unreadable("its header does not say what it holds")
    arrays, at = {}, 8 + size
    for name in names:
        arrays[name], at = _array_at(body, at, name)
    if at != len(body):
        raise _Unreadable("there is something behind its last array")
    return State(values, arrays)


def _array_at(body: memoryview, at: int, name: str) -> tuple[np.ndarray, int]:
    """An array in NumPy's own format that begins there, and where it ends. Its size is compared with that of the file before
    anything is allocated, and it holds numbers, never objects."""
    stream = io.BytesIO(body[at:at + _HEAD])
    try:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read(stream)
    except MemoryError:
        raise
    except Exception as error:  # whatever NumPy, its tokenizer and its parser raise about a header that is none
        raise _Unreadable(f"the array {name!r} has no header ({type(error).__name__})") from None
    at += stream.tell()
    count = math.prod(shape)
    if dtype.kind not in "biuf" or dtype.itemsize > 8 or dtype.hasobject or any(size < 0 or size > len(body) for size in shape):
        raise _Unreadable(f"the array {name!r} holds no numbers")
    end = at + count * dtype.itemsize
    if end > len(body):
        raise _Unreadable(f"the array {name!r} is longer than the file")
    found = np.frombuffer(body[at:end], np.uint8 if dtype.kind == "b" else dtype).reshape(shape, order="F" if fortran else "C")
    return found != 0 if dtype.kind == "b" else found.astype(dtype.newbyteorder("="), order="C"), end
