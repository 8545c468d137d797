"""Small .nl files, and the same files in binary form."""

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from infimum.ampl import Model, read


def nl(objective: Sequence[str] = (), n: int = 2, constraints: Sequence[Sequence[str]] = (), maximise: bool = False,
       defined: Sequence[Sequence[str]] = (), gradient: Sequence[tuple[int, float]] = (), bounds: str = "0 -2 3",
       ranges: str = "1 5", rows: Sequence[Sequence[tuple[int, float]]] = (), more: Sequence[str] = (), logical: int = 0) -> str:
    """A model in which everything is nonlinear; expressions are lines."""
    m, nonzeros = max(len(constraints), len(rows)), sum(map(len, rows))
    lines = ["g3 1 1 0\t# problem test", f" {n} {m} 1 0 0 {logical}", f" {len(constraints)} 1", " 0 0", f" {n} {n} {n}",
             " 0 0 0 1", " 0 0 0 0 0", f" {nonzeros} {len(gradient)}", " 0 0", f" {len(defined)} 0 0 0 0"]
    for k, body in enumerate(defined):
        lines += [f"V{n + k} 0 0", *body]
    for k, body in enumerate(constraints):
        lines += [f"C{k}", *body]
    lines += [f"O0 {int(maximise)}", *(objective or ["n0"]), *more]
    lines += (["r", *[ranges] * m] if m else []) + ["b", *[bounds] * n]
    for k, row in enumerate(rows):
        lines += [f"J{k} {len(row)}", *(f"{i} {c!r}" for i, c in row)] if row else []
    lines += [f"G0 {len(gradient)}", *(f"{i} {c!r}" for i, c in gradient)] if gradient else []
    return "\n".join(lines) + "\n"


def model_of(folder: Path, text: str | bytes) -> Model:
    """The model in this file."""
    path = folder / "model.nl"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read(path)


def binary(text: str, big_endian: bool = False) -> bytes:
    """A file of text, as AMPL would write it in binary form."""
    order = ">" if big_endian else "<"
    lines = [line.partition("#")[0].strip() for line in text.splitlines()]
    head, rest = lines[:10], [line for line in lines[10:] if line]
    words = head[5].split()
    head[0], head[5] = "b" + head[0][1:], " ".join([*words[:2], str(1 + big_endian), *words[3:]])
    out = ["\n".join(head).encode() + b"\n"]

    def whole(*words: Any) -> None:
        out.extend(struct.pack(order + "i", int(word)) for word in words)

    def number(*words: Any) -> None:
        out.extend(struct.pack(order + "d", float(word)) for word in words)

    at = 0
    while at < len(rest):
        letter, words = rest[at][0], rest[at][1:].split()
        at += 1
        if letter.isdigit():  # a count inside an expression
            whole(letter + "".join(words))
            continue
        out.append(letter.encode())
        if letter in "ovl":
            whole(*words)
        elif letter == "s":
            out.append(struct.pack(order + "h", int(words[0])))
        elif letter == "n":
            number(*words)
        elif letter in "rb":
            while at < len(rest) and rest[at][0].isdigit():
                kind, *ends = rest[at].split()
                out.append(kind.encode())
                number(*ends)
                at += 1
        elif letter == "S":
            whole(*words[:2], len(words[2]))
            out.append(words[2].encode())
        else:
            whole(*words)
        count = int(words[1]) if letter in "VJGS" else int(words[0]) if letter in "xdk" else 0
        for row in rest[at:at + count]:
            index, *value = row.split()
            whole(index)
            (whole if letter == "S" and not int(words[0]) & 4 else number)(*value)
        at += count
    return b"".join(out)
