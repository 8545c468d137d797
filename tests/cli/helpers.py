"""Running the command line in this process."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infimum.cli.main import main

ROSEN = """
import numpy as np

def rosen(x):
    return 100 * (x[1] - x[0]**2)**2 + (1 - x[0])**2
"""
SQUARE = """
import numpy as np

def square(x):
    return np.sum((x - 0.25)**2)
"""
UNDEFINED = """
import numpy as np

def f(x):
    return np.log(-1 - x[0]**2)
"""
EGGHOLDER = """
import numpy as np

bounds = [(-512, 512)] * 2

def f(x):
    return -(x[1] + 47) * np.sin(np.sqrt(np.abs(x[0] / 2 + x[1] + 47))) - x[0] * np.sin(np.sqrt(np.abs(x[0] - x[1] - 47)))
"""


@dataclass(frozen=True)
class Said:
    """What a run of the program did: its exit code and its two outputs."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one JSON object on stdout; NaN and Infinity are no JSON."""
        assert self.out.count("\n") == 1
        found = json.loads(self.out, parse_constant=lambda name: (_ for _ in ()).throw(ValueError(name)))
        assert isinstance(found, dict)
        return found

    @property
    def rows(self) -> dict[str, str]:
        """The named lines of a verdict table."""
        return {line[:12].strip(): line[13:] for line in self.out.splitlines() if line[:12].strip()}

    def paragraph(self) -> str:
        """The message of an error of ours: one line on stderr, no traceback, nothing on stdout, exit code 2."""
        assert self.code == 2 and self.out == "" and self.err.startswith("infimum: ") and self.err.count("\n") == 1
        return self.err.removeprefix("infimum: ").rstrip("\n")

    def complaint(self) -> str:
        """What argparse says: the usage, then the message."""
        assert self.code == 2 and self.out == "" and self.err.startswith("usage: infimum") and "Traceback" not in self.err
        return self.err.splitlines()[-1].split("error: ", 1)[1]


Program = Callable[..., Said]


def program(capsys: Any) -> Program:
    """main(argv) with what it printed."""
    def call(*argv: str | Path) -> Said:
        capsys.readouterr()
        code = main([str(word) for word in argv])
        return Said(code, *capsys.readouterr())
    return call
