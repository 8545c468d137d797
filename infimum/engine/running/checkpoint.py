"""Checkpoints: the state of a run in a file that is whole or not there, whatever kills the process.

A file is a line of magic with the version of the format, the SHA-256 of what follows, a header in JSON with its length, and
arrays in NumPy's own format, no pickle. It is written beside the old one, forced to the disk, and put in its place in one step.
"""

import hashlib
import io
import json
import os
import tempfile
from dataclasses import dataclass
from typing import Any

import numpy as np

from infimum.errors import CheckpointError, OptionError
from infimum.files import sync_folder

MAGIC = b"infimum checkpoint 3\n"
_DIGEST = hashlib.sha256().digest_size


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
    if os.path.exists(path):
        raise CheckpointError(f"{path} exists: continue it with infimum.resume({path!r}, fun), or delete it")
    try:
        with tempfile.NamedTemporaryFile(dir=os.path.dirname(os.path.abspath(path)), prefix=".infimum-"):
            pass
    except OSError as error:
        raise CheckpointError(f"no checkpoint can be written to {path}: {error.strerror or error}") from None


def save(path: str, state: State) -> None:
    """Writes the state; after a crash the file is the old one or the new one."""
    names = sorted(state.arrays)
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
            file.write(hashlib.sha256(body.getbuffer()).digest())
            file.write(body.getbuffer())
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
    sync_folder(path)


def load(path: str) -> State:
    """Reads a state; anything but a whole file of this version raises CheckpointError."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise CheckpointError(f"the checkpoint {path} cannot be read: {error.strerror or error}") from None
    if not data.startswith(MAGIC):
        kind = "of another version of infimum" if data.startswith(MAGIC.rsplit(b" ", 1)[0]) else "no checkpoint of infimum"
        raise CheckpointError(f"{path} is {kind}")
    body = data[len(MAGIC) + _DIGEST:]
    if hashlib.sha256(body).digest() != data[len(MAGIC):len(MAGIC) + _DIGEST]:
        raise CheckpointError(f"the checkpoint {path} is damaged: its checksum is wrong")
    size = int.from_bytes(body[:8], "little")
    header = json.loads(body[8:8 + size])
    stream = io.BytesIO(body[8 + size:])
    return State(header["values"], {name: np.load(stream, allow_pickle=False) for name in header["arrays"]})
