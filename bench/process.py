"""A function of a benchmark in a process of its own, which may be cold, crash, or not end."""

import json
import os
import subprocess
import sys
import tempfile
from typing import Any

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
_CHILD = """
import json, sys
sys.path.insert(0, {root!r})
from bench.{module} import {function}
print("\\n" + json.dumps({function}(**json.loads(sys.argv[1]))))
"""


def answer(process: Any, here: Any, patience: float, otherwise: dict[str, Any]) -> dict[str, Any]:
    """What a forked process sends through its pipe, and what is known otherwise; it is ended in any case."""
    try:
        return otherwise | (here.recv() if here.poll(patience) else {})
    except EOFError:
        return otherwise | {"verdict": "CRASHED"}
    finally:
        process.kill()
        process.join()


def child(module: str, function: str, patience: float, alone: bool = False, **arguments: Any) -> dict[str, Any]:
    """What the function returns in a process of its own, or {"failure": why}. `alone`: its libraries may use one thread."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    if alone:
        environment |= {k: "1" for k in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    code = _CHILD.format(root=ROOT, module=module, function=function)
    with tempfile.TemporaryDirectory() as folder:  # some peers leave log files where they run
        try:
            run = subprocess.run([sys.executable, "-c", code, json.dumps(arguments)], capture_output=True, text=True, cwd=folder,
                                 env=environment, timeout=patience)
        except subprocess.TimeoutExpired:
            return {"failure": f"killed after {patience:.0f} s"}
    if run.returncode:
        said = [line for line in run.stderr.splitlines() if line.strip()]
        return {"failure": f"status {run.returncode}" + (f": {said[-1].strip()[:200]}" if said else "")}
    return json.loads(run.stdout.splitlines()[-1])
