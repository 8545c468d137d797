"""Kept records: a JSON file of named records, compared field by field, and the command that compares or keeps them."""

import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Record = dict[str, Any]


@dataclass(frozen=True)
class Kept:
    """A file of named records."""

    path: Path

    def read(self) -> dict[str, Record]:
        return json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else {}

    def write(self, records: dict[str, Record]) -> None:
        """A line for each field."""
        rows = [f" {json.dumps(name)}: {{\n" + ",\n".join(f"  {json.dumps(field)}: {json.dumps(value, ensure_ascii=False)}"
                                                          for field, value in record.items()) + "\n }"
                for name, record in records.items()]
        self.path.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")

    def differences(self, name: str, found: Record) -> list[str]:
        """A line for each field that is not as it was kept, with the old and the new value."""
        kept = self.read().get(name)
        if kept is None:
            return [f"{name}: nothing is kept"]
        return [f"{name}: {field} was {kept.get(field, 'missing')!r}, and is {found.get(field, 'missing')!r}"
                for field in {**kept, **found} if kept.get(field, "missing") != found.get(field, "missing")]


def main_of(kept: Kept, names: Iterable[str], make: Callable[[str], Record],
            missing: Callable[[str], str | None] = lambda name: None) -> int:
    """Compares all records, or those named on the command line; with --keep, writes them. Those that need a package that is
    `missing` are left as they are."""
    words = [word for word in sys.argv[1:] if word != "--keep"]
    names = list(names)
    if unknown := [word for word in words if word not in names]:
        print(f"there is no {', '.join(unknown)}")
        return 2
    found = {name: make(name) for name in words or names if missing(name) is None}
    if "--keep" in sys.argv:
        old = kept.read() | found
        kept.write({name: old[name] for name in names if name in old})
        return 0
    wrong = {name: lines for name, record in found.items() if (lines := kept.differences(name, record))}
    print(f"{len(found)} records, {len(wrong)} differ", *(line for lines in wrong.values() for line in lines), sep="\n")
    return bool(wrong)
