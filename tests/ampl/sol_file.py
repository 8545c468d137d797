"""A .sol file, taken apart by the rules of its format."""

from pathlib import Path


class Sol:
    """What AMPL learns: lines of the message, options, sizes, the point, solve_result_num and suffixes of the objective."""

    def __init__(self, path: Path):
        lines = path.read_text("utf-8").split("\n")
        at = lines.index("")
        self.message, rest = lines[:at], lines[at + 1:]
        assert rest[0] == "Options"
        count = int(rest[1])
        tolerance = count > 4
        count -= 2 * tolerance
        self.options = [int(word) for word in rest[2:2 + count]]
        constraints, duals, variables, values = map(int, rest[2 + count:6 + count])
        begin = 6 + count + tolerance
        self.sizes, self.tolerance = (constraints, duals, variables), rest[6 + count] if tolerance else None
        self.x = [float(word) for word in rest[begin + duals:begin + duals + values]]
        word, self.objective, self.code = rest[begin + duals + values].split()
        assert word == "objno"
        self.suffixes = self._suffixes(rest[begin + duals + values + 1:])

    def _suffixes(self, lines: list[str]) -> dict[str, float]:
        assert lines[-1] == "" and len(lines) % 3 == 1
        found = {}
        for head, name, value in zip(lines[::3], lines[1::3], lines[2::3], strict=False):
            assert head == f"suffix 6 1 {len(name) + 1} 0 0" and value.split()[0] == self.objective
            found[name] = float(value.split()[1])
        return found
