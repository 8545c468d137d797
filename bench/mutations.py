"""Do the tests notice small mistakes in code that carries proofs, and how many of them does the default run notice?

    python bench/mutations.py [--sample 300] [--jobs 1] [--results FILE]    the kept mutants, in their order
    python bench/mutations.py --near                                        a quick look: only the tests nearest to each mistake
    python bench/mutations.py --default-only                                the thorough run later: the same command without it
    python bench/mutations.py --draw 300 --seed 0                           draws the mutants anew (`mutants.txt`)

Each mutant is made in a copy of the working tree. The default tests run until one fails, those of the files nearest to the
mistake first, then the others; a mutant that survives them meets the thorough run in the same way. A run that hangs has noticed.
A result is appended to a file of JSON lines after each mutant, and the same command continues there. A test that also fails
without the mistake does not count. The copies share a cache of machine code, in which a file is named by the code that it was
made from.
"""

import argparse
import json
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from bench import mutants
from bench.mutant_runs import Copies

RESULTS = Path(__file__).with_name("results") / "mutations.jsonl"


def report(rows: dict[str, dict], kept: dict[str, str]) -> str:
    """The table: what each run notices, the share, and what nothing notices."""
    default = [name for name, row in rows.items() if row.get("default")]
    thorough = [name for name, row in rows.items() if row.get("thorough")]
    neither = [name for name, row in rows.items() if "thorough" in row and not row["thorough"]]
    open_ = [name for name, row in rows.items() if not row.get("default") and "thorough" not in row]
    asked = {row["tests"] for row in rows.values()}
    lines = [f"mutants judged              {len(rows)} of {len(kept)}, by {' and '.join(sorted(asked))}",
             f"noticed by the default run  {len(default)}", f"only by the thorough run    {len(thorough)}",
             f"by neither                  {len(neither)}", f"not by the default run, thorough run not asked  {len(open_)}"]
    if default and not open_:
        share = len(default) / (len(default) + len(thorough))
        lines.append(f"share of the default run    {share:.1%} of what the thorough run notices")
    for title, names in [("Only the thorough run", thorough), ("Neither", neither), ("Thorough run not asked", open_)]:
        if names:
            lines += ["", f"{title}:", *(f"  {kept.get(n, n)}  [{rows[n].get('thorough') or '-'}]" for n in names)]
    lines += ["", "Default run [first test]:", *(f"  {kept.get(n, n)}  [{rows[n]['default']}]" for n in default)]
    return "\n".join(lines) + "\n"


def judge(chosen: list[mutants.Mutant], rows: dict[str, dict], args: argparse.Namespace) -> None:
    """Judges the mutants whose rows are missing or incomplete, and appends a row for each to the file of results."""
    modes = ["default"] if args.default_only else ["default", "thorough"]

    def left(mutant: mutants.Mutant) -> list[str]:
        row = rows.get(mutant.name, {})
        return [] if row.get("default") else [mode for mode in modes if mode not in row]
    copies = Copies(args.jobs)
    try:
        with ThreadPoolExecutor(args.jobs) as pool:
            runs = {pool.submit(copies.judged, mutant, left(mutant), args.near): mutant for mutant in chosen if left(mutant)}
            for done in as_completed(runs):
                name = runs[done].name
                row = {"mutant": name, "tests": "the nearest tests alone" if args.near else "all tests", **done.result()}
                rows[name] = {**rows.get(name, {}), **row}
                with args.results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
                print(name, row, flush=True)
    finally:
        shutil.rmtree(copies.home, ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=300, help="how many of the kept mutants, from the first")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--near", action="store_true", help="ask only the nearest test files")
    parser.add_argument("--default-only", action="store_true")
    parser.add_argument("--results", type=Path, default=RESULTS, help="JSON lines; the table is written beside them")
    parser.add_argument("--draw", type=int, metavar="COUNT", help="draw mutants anew, keep them, and end")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    if args.draw:
        mutants.keep(mutants.drawn(args.draw, args.seed))
        return
    chosen, gone = mutants.read()
    if gone:
        print(f"{len(gone)} of the kept places are gone:", *gone, sep="\n  ")
    kept = {line.partition(": ")[0]: line for line in mutants.KEPT.read_text(encoding="utf-8").splitlines()}
    rows = {}
    for line in args.results.read_text(encoding="utf-8").splitlines() if args.results.exists() else ():
        row = json.loads(line)
        rows[row["mutant"]] = {**rows.get(row["mutant"], {}), **row}
    judge(chosen[:args.sample], rows, args)
    table = report(rows, kept)
    args.results.with_suffix(".txt").write_text(table, encoding="utf-8")
    print(table)


if __name__ == "__main__":
    main()
