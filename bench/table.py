"""The table that benchmarks print: figures, what was wanted, whether it holds; and the same as JSON."""

import json
import math
import os
import platform
import time
from collections.abc import Callable
from typing import Any

ROWS: list[dict] = []
HEAD = f"{'what':<58} {'figure':>10} {'unit':<12} {'wanted':<16} {'holds':<4}"


def this_machine(device: str = "cpu") -> str:
    """The machine, in the words of every table."""
    from infimum.backend.cuda.gpu import gpu  # here: benchmarks of black boxes run where nothing is compiled
    from infimum.backend.processor import host
    name = f"{host().name}, {host().lanes} lanes, {os.cpu_count()} cores, Python {platform.python_version()}"
    return name if device == "cpu" else f"{name}, {gpu().name}"


def head(title: str) -> None:
    """Prints the title of a table, and what is in its columns."""
    print(f"\n{title}\n{HEAD}", flush=True)


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """The seconds that the call takes, and its result."""
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def report(what: str, figure: float, unit: str, wanted: str = "", holds: bool | None = None, note: str = "") -> None:
    """Prints a row and keeps it."""
    ROWS.append({"what": what, "figure": figure, "unit": unit, "wanted": wanted, "holds": holds, "note": note})
    mark = {True: "yes", False: "NO", None: ""}[holds]
    print(f"{what:<58} {figure:>10.4g} {unit:<12} {wanted:<16} {mark:<4} {note}", flush=True)


def plain(value: Any) -> Any:
    """For JSON, which has no infinite numbers."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [plain(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def write_json(path: str | None, machine: str, **more: Any) -> None:
    """Writes the rows and more, if a path was given."""
    if path:
        with open(path, "w") as file:
            json.dump(plain({"machine": machine, **more, "rows": ROWS}), file, indent=1)


def exit_code(*tables: list[dict]) -> int:
    """1 if something that was wanted does not hold."""
    return 0 if all(row["holds"] is not False for table in (ROWS, *tables) for row in table) else 1
