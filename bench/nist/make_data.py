"""Writes data.json from the 27 files of nonlinear regression of NIST's Statistical Reference Datasets.

    python bench/nist/make_data.py FOLDER

FOLDER has the files as NIST publishes them (https://www.itl.nist.gov/div898/strd/nls/nls_main.shtml), Misra1a.dat and so on. They
are a work of the United States government and in the public domain. Certified values stay text: their digits tell how far they
go.
"""

import json
import re
import sys
from pathlib import Path

NUMBER = r"[-+]?[\d.]+(?:E[-+]?\d+)?"


def read(path: Path) -> dict:
    """The problem in one of NIST's files: its lines 41 on have the parameters, its lines 61 on the data, the response first."""
    lines = path.read_text().splitlines()
    parameter = rf"\s*b\d+ =\s+({NUMBER})\s+({NUMBER})\s+({NUMBER})"
    start_1, start_2, certified = zip(*(m.groups() for line in lines[:60] if (m := re.match(parameter, line))), strict=True)
    squares = next(m[1] for line in lines if (m := re.match(rf"Residual Sum of Squares:\s+({NUMBER})", line)))
    y, *x = zip(*([float(word) for word in line.split()] for line in lines[60:] if line.strip()), strict=True)
    points = next(int(m[1]) for line in lines if (m := re.match(r"Number of Observations:\s+(\d+)", line)))
    assert len(y) == points, f"{path}: {len(y)} points, not {points}"
    return {"start_1": [float(v) for v in start_1], "start_2": [float(v) for v in start_2], "certified": certified,
            "sum_of_squares": squares, "y": y, "x": x}


def main() -> None:
    def lines(path: Path) -> str:
        return f'"{path.stem}": {{\n' + ",\n".join(f' "{name}": {json.dumps(value)}' for name, value in read(path).items()) + "}"
    files = sorted(Path(sys.argv[1]).glob("*.dat"), key=lambda path: path.stem.lower())
    Path(__file__).with_name("data.json").write_text("{\n" + ",\n".join(map(lines, files)) + "\n}\n")


if __name__ == "__main__":
    main()
