"""Messages between a process that has many workers and one of these, over a pair of sockets.

A message is its length, in eight bytes, and a pickle. A worker has one thing to do and waits at its end (`BlockingChannel`). The
process that has many waits at none of them (`Mailbox`): what a worker does not read stays here, and of what it has begun to write
the part that came is kept until the rest comes. So a worker that is frozen in the middle of a message holds up nobody.
"""

import pickle
import socket
import struct
import threading
from collections import deque
from typing import Any

_LENGTH = struct.Struct("!Q")
_CHUNK, _CHUNKS = 1 << 16, 256  # bytes that are read at a time; how often in a row, since other workers speak too


def pair() -> tuple["Mailbox", socket.socket]:
    """This end, and the one that a worker is given."""
    ours, theirs = socket.socketpair()
    return Mailbox(ours), theirs


class Mailbox:
    """The end that never waits."""

    def __init__(self, end: socket.socket):
        end.setblocking(False)
        self._end, self._come, self._unsent = end, bytearray(), deque()

    def fileno(self) -> int:
        return self._end.fileno()

    @property
    def unsent(self) -> bool:
        """Is there something that the other side has not taken yet?"""
        return bool(self._unsent)

    def post(self, message: Any) -> None:
        """Sends what the other side takes at once, and keeps the rest for `send_on`. Raises OSError if there is no other side."""
        pickled = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
        self._unsent.extend((memoryview(_LENGTH.pack(len(pickled))), memoryview(pickled)))
        self.send_on()

    def send_on(self) -> None:
        """Sends as much as the other side takes now."""
        try:
            while self._unsent:
                rest = self._unsent.popleft()
                try:
                    rest = rest[self._end.send(rest):]
                finally:
                    if len(rest):
                        self._unsent.appendleft(rest)
        except BlockingIOError:
            return

    def read(self) -> tuple[list[Any], bool]:
        """The messages that are whole by now, and whether the other side is gone. Raises what unpickling raises."""
        gone = False
        try:
            for _ in range(_CHUNKS):
                come = self._end.recv(_CHUNK)
                gone = not come
                if gone:
                    break
                self._come += come
        except BlockingIOError:
            gone = False
        except OSError:  # it ended before it had read all that was sent
            gone = True
        return self._whole(), gone

    def _whole(self) -> list[Any]:
        found, at = [], 0
        with memoryview(self._come) as come:
            while len(come) - at >= _LENGTH.size:
                end = at + _LENGTH.size + _LENGTH.unpack_from(come, at)[0]
                if end > len(come):
                    break
                found.append(pickle.loads(come[at + _LENGTH.size:end]))
                at = end
        del self._come[:at]
        return found

    def close(self) -> None:
        self._end.close()


class BlockingChannel:
    """The end that waits. Several threads may send."""

    def __init__(self, end: socket.socket):
        end.setblocking(True)
        self._end, self._lock = end, threading.Lock()

    def send(self, message: Any) -> None:
        """Returns when all of it is on its way; raises OSError if there is no other side."""
        pickled = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
        with self._lock:
            self._end.sendall(_LENGTH.pack(len(pickled)) + pickled)

    def receive(self) -> Any:
        """The next message; raises EOFError or OSError when the other side is gone."""
        return pickle.loads(self._bytes(_LENGTH.unpack(self._bytes(_LENGTH.size))[0]))

    def _bytes(self, count: int) -> bytearray:
        found, at = bytearray(count), 0
        while at < count:
            come = self._end.recv_into(memoryview(found)[at:])
            if not come:
                raise EOFError
            at += come
        return found
