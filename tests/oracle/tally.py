"""What was checked, counted; and what is raised when a claim does not hold."""

from collections import Counter
from dataclasses import dataclass, field, fields


class Violation(AssertionError):
    """A claim of the library that the oracle refutes."""


@dataclass(slots=True)
class Tally:
    """Counts of one or many checks. Nothing that was skipped is hidden: it is counted as undecided."""

    expressions: int = 0
    boxes: int = 0
    values: int = 0            # points whose value was compared with the enclosures
    undefined: int = 0         # points outside the domain: no claim of `defined` there
    derivatives: int = 0       # one-sided directional derivatives compared with gradients
    second: int = 0            # entries of Hessians compared
    slopes: int = 0            # difference quotients compared with gradients
    estimates: int = 0         # point estimates compared with point enclosures
    touching: int = 0          # equal to an end of the enclosure, as far as 2600 bits tell: counted among the values
    undecided: int = 0         # points skipped because no precision settled a test or a domain
    undecided_derivatives: int = 0
    operations: Counter = field(default_factory=Counter)
    levels: Counter = field(default_factory=Counter)

    def add(self, other: "Tally") -> "Tally":
        for f in fields(self):
            mine, theirs = getattr(self, f.name), getattr(other, f.name)
            if isinstance(mine, Counter):
                mine.update(theirs)
            else:
                setattr(self, f.name, mine + theirs)
        return self

    def table(self) -> str:
        """A summary to print."""
        rows = [(f.name.replace("_", " "), getattr(self, f.name)) for f in fields(self)]
        lines = [f"{name:>24}  {count:,}" for name, count in rows if not isinstance(count, Counter)]
        levels = ("undefined", "defined", "lipschitz", "smooth")
        lines.append(f"{'boxes by status':>24}  " + ", ".join(f"{levels[k]} {self.levels[k]:,}" for k in range(4)))
        lines.append(f"{'operations':>24}  " + self._operations())
        return "\n".join(lines)

    def _operations(self) -> str:
        words = [f"{name} {count:,}" for name, count in sorted(self.operations.items())]
        rows = [", ".join(words[i:i + 8]) for i in range(0, len(words), 8)]
        return (",\n" + " " * 26).join(rows)
