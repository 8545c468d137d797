#!/usr/bin/env python3
"""Tests by relation: random problems whose solution nobody knows, asked in ways whose answers must agree.

    python bench/relations.py --draws 1000
    python bench/relations.py --draws 24000 --jobs 16 --log run.jsonl    # the same command continues after an interruption
    python bench/relations.py --seed 17 --draw 4711                      # one draw again, after a contradiction named it
    python bench/relations.py --relation split --draws 200
    python bench/relations.py --without powers,ends                      # leaves out what is known to be wrong

Each draw makes a problem, asks it in two or more ways and compares what is claimed: enclosures of one infimum meet, a part of a
box has no lower minimum, a point that is verified satisfies the constraints exactly (in ball arithmetic), boxes of minimisers of
both runs meet, bits are equal where that is promised. A draw is *decided* if both runs ended with claims that the relation
constrains. A draw follows from the seed, its number and its relation alone. Exit code 1: there were contradictions.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Collection, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.related.crew import drawn  # noqa: E402 (the path comes first)
from bench.related.draws import FEATURES  # noqa: E402
from bench.related.table import RELATIONS, Record, one_draw, relation_of, summary  # noqa: E402
from bench.table import this_machine  # noqa: E402

_ENOUGH = 500  # decided draws that a relation is to have in a run that is kept


def kept(path: Path | None, seed: int) -> list[Record]:
    """The records of a log, of this seed; a last line that was cut off is left out."""
    if path is None or not path.exists():
        return []
    found = []
    for line in path.read_text().splitlines():
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        if row.pop("seed") == seed:
            found.append(Record(**row))
    return found


def write(path: Path | None, seed: int, record: Record) -> None:
    if path is not None:
        with path.open("a") as file:
            file.write(json.dumps({"seed": seed, **record._asdict()}) + "\n")


def tell(record: Record, seed: int, without: Collection[str]) -> None:
    """Prints a contradiction, and how to see it again."""
    if record.wrong:
        print(f"\nCONTRADICTION in draw {record.draw}, {record.relation} ({record.note})\n{record.wrong}\n"
              f"repeat with: {record.repeat(seed, without)}\n", flush=True)


_COLUMNS = {"relation": "<18", "draws": ">7,", "decided": ">8,", "contradictions": ">15,", "seconds": ">9.1f"}


def table(records: Collection[Record]) -> str:
    """A line for each relation, and one for all."""
    rows = summary(records)
    total = {name: "all" if name == "relation" else sum(row[name] for row in rows) for name in _COLUMNS}
    lines = [" ".join(format(name, form.rstrip(",.1f")) for name, form in _COLUMNS.items())]
    lines += [" ".join(format(row[name], form) for name, form in _COLUMNS.items()) for row in [*rows, total]]
    few = [row["relation"] for row in rows if row["decided"] < _ENOUGH]
    return "\n".join([*lines, f"fewer than {_ENOUGH} decided draws: {', '.join(few) if few else 'none'}"])


def campaign(options: argparse.Namespace, names: Collection[str], without: Collection[str]) -> int:
    """All draws that are not in the log yet; returns the exit code."""
    log, start = options.log, time.monotonic()
    records = kept(log, options.seed)
    done = {(r.draw, r.relation) for r in records}

    def draws() -> Iterator[tuple]:
        for number in range(options.first, options.first + options.draws):
            name = relation_of(number, names)
            if (number, name) not in done:
                yield options.seed, number, name, tuple(without)
    for r in records:
        tell(r, options.seed, without)
    said = start
    try:
        for record in drawn(draws(), options.jobs, options.limit):
            records.append(record)
            write(log, options.seed, record)
            tell(record, options.seed, without)
            if time.monotonic() > said + 60:
                said, wrong = time.monotonic(), sum(bool(r.wrong) for r in records)
                print(f"{said - start:6.0f} s  {len(records):,} draws, {wrong} contradictions", flush=True)
    except KeyboardInterrupt:
        print("stopped; the same command with --log continues where this one ended", file=sys.stderr)
    left_out = f", without {', '.join(sorted(without))}" if without else ""
    print(f"\n{this_machine()}\nseed {options.seed}, draws {options.first} to {options.first + options.draws - 1}{left_out}, "
          f"{options.jobs} processes, {time.monotonic() - start:.0f} s\n\n{table(records)}")
    return 1 if any(r.wrong for r in records) else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=500, help="how many (default: 500)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first draw (default: 0)")
    parser.add_argument("--seed", type=int, default=0, help="with its number and relation, what a draw follows from (default: 0)")
    parser.add_argument("--draw", type=int, metavar="NUMBER", help="make this one draw, here, and stop")
    parser.add_argument("--relation", action="append", choices=RELATIONS, help="this relation alone; repeat it for more")
    parser.add_argument("--without", default="", metavar="FEATURE,…", help=f"leave out hard places: {', '.join(FEATURES)}")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one for each core)")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds that a draw may take (default: 60)")
    parser.add_argument("--log", type=Path, help="a file that keeps every draw; a later run continues from it")
    options = parser.parse_args()
    without = frozenset(filter(None, options.without.split(",")))
    if without - set(FEATURES):
        parser.error(f"there is no feature {', '.join(sorted(without - set(FEATURES)))}; there are {', '.join(FEATURES)}")
    names = tuple(options.relation or RELATIONS)
    if options.draw is not None:
        record = one_draw(options.seed, options.draw, names[0] if options.relation else relation_of(options.draw), without)
        tell(record, options.seed, without)
        decided = "decided" if record.decided else "not decided"
        print(f"draw {record.draw}, {record.relation}: {record.note}, {decided}, {record.seconds:.2f} s")
        return 1 if record.wrong else 0
    return campaign(options, names, without)


if __name__ == "__main__":
    sys.exit(main())
