#!/usr/bin/env python3
"""Every operator of ONNX that is read, against onnx's reference evaluator: random shapes, attributes, types and operator sets.

    python bench/network_operators.py [--draws N] [--seed S] [--only OP ...] [--json FILE] > FILE
    python bench/network_operators.py --repeat OP SEED     # one model again, after it was named

Each draw is a model of one operator, of a chain of two to four ("chain"), or of integer arithmetic on shapes ("shapes"). Either
the network is refused by a NetworkError, or its values at two points agree, computed with doubles and as it is traced. For one
model in ten an enclosure over a small box must contain the reference's values at points of the box. Where the evaluator deviates
from the specification, the text of the specification decides (tests/networks/reference.py gives the reasons). Exit status 1: some
models differ, or could not be confirmed.
"""

import argparse
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from bench.table import this_machine, write_json  # noqa: E402 (the path comes first)
from tests.networks.random_calls import DRAWS  # noqa: E402
from tests.networks.random_models import Draw, chain, newest, one_operator, outcome, shape_arithmetic  # noqa: E402

OTHERS = {"chain": chain, "shapes": shape_arithmetic}
ENCLOSED = 10  # of so many models one is enclosed
SHOWN = 5      # models that differ, described in full


def drawn(name: str, seed: int) -> tuple[Draw, np.random.Generator]:
    rng = np.random.default_rng([seed, [*DRAWS, *OTHERS].index(name)])
    return OTHERS[name](rng) if name in OTHERS else one_operator(rng, name), rng


def result(name: str, seed: int, folder: Path) -> tuple[str, str]:
    """agreed, refused, unconfirmed or DIFFERS, and why."""
    try:
        draw, rng = drawn(name, seed)
        found = outcome(draw, folder, rng, enclosed=seed % ENCLOSED == 0)
    except AssertionError as error:
        return "DIFFERS", str(error)
    except Exception:
        return "DIFFERS", traceback.format_exc()
    return found.split(":")[0], found


def row(name: str, count: Counter[str]) -> str:
    return f"{name:<20} {count['agreed']:>8} {count['refused']:>8} {count['unconfirmed']:>12} {count['DIFFERS']:>8}"


def compare(options: argparse.Namespace, folder: Path) -> tuple[dict[str, Counter[str]], list[str]]:
    """Prints a row for each operator; all counts, and the models that differ or could not be confirmed."""
    table, wrong = {}, []
    print(f"{'operator':<20} {'agreed':>8} {'refused':>8} {'unconfirmed':>12} {'DIFFERS':>8}")
    for op in options.only or [*DRAWS, *OTHERS]:
        table[op] = Counter()
        for seed in range(options.seed, options.seed + options.draws):
            found, why = result(op, seed, folder)
            table[op][found] += 1
            wrong += [f"{op} {seed}: {why}"] if found in ("DIFFERS", "unconfirmed") else []
        print(row(op, table[op]), flush=True)
    print(f"\n{row('all', sum(table.values(), Counter()))}")
    return table, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=200, help="models of each operator")
    parser.add_argument("--seed", type=int, default=0, help="of the first model")
    parser.add_argument("--only", nargs="+", metavar="OP")
    parser.add_argument("--repeat", nargs=2, metavar=("OP", "SEED"))
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    import onnx

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.repeat:
            op, seed = options.repeat[0], int(options.repeat[1])
            print(drawn(op, seed)[0], *result(op, seed, folder), sep="\n")
            return 0
        print(f"{this_machine()}, onnx {onnx.__version__}, operator sets 7 to {newest()}")
        print(f"{options.draws} models of each, seeds from {options.seed}\n")
        table, wrong = compare(options, folder)
    print(*(f"\n{text}" for text in wrong[:SHOWN]), sep="\n")
    write_json(options.json, this_machine(), onnx=onnx.__version__, draws=options.draws, seed=options.seed, operators=table)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
