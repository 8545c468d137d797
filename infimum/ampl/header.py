"""The ten lines of text that every .nl file begins with."""

import numpy as np

from infimum.ampl.numbers import whole_of, without_other_blanks
from infimum.errors import ModelFileError
from infimum.support.lazy import dataclass

_LINES = 10
_LARGEST_LINE = 4096
_VBTOL = 3  # the second option, if a tolerance follows the options
_ARITHMETIC = {0: False, 1: False, 2: True}  # is the binary file big-endian? 0 is what some writers put for this machine's

# what the numbers of the lines 2 to 10 are, and how many of them have to be there
_FIELDS = (
    ("variables constraints objectives ranges equations logical", 3),
    ("nonlinear_constraints nonlinear_objectives linear_complementarity nonlinear_complementarity", 2),
    ("nonlinear_network linear_network", 2),
    ("nonlinear_in_constraints nonlinear_in_objectives nonlinear_in_both", 2),
    ("network_variables functions arithmetic flags", 2),
    ("linear_binary linear_integer integer_in_both integer_in_constraints integer_in_objectives", 2),
    ("jacobian_nonzeros gradient_nonzeros", 2),
    ("constraint_name variable_name", 2),
    ("defined_both defined_constraints defined_objectives defined_in_one_constraint defined_in_one_objective", 5),
)


@dataclass(frozen=True, slots=True)
class Header:
    """What the header says. options: the numbers of its first line, which a .sol file repeats. defined: the number of defined
    variables. nonlinear: that of nonlinear constraints, which come first. nonzeros: in the linear parts of all constraints and of
    all objectives. begin, size: where the rest of the file begins and ends."""

    binary: bool
    big_endian: bool
    options: tuple[int, ...]
    tolerance: str | None
    variables: int
    constraints: int
    objectives: int
    defined: int
    nonlinear: int
    nonzeros: dict[str, int]
    integrality: np.ndarray
    begin: int
    size: int


def read_header(file: str, data: bytes) -> Header:
    """The header of the file, checked."""
    lines, begin = _first_lines(file, data)
    binary, options, tolerance = _first(file, lines[0])
    said: dict[str, int] = {}
    for at, (names, needed) in enumerate(_FIELDS, start=2):
        words = lines[at - 1].split()
        said |= dict.fromkeys(names.split(), 0)
        for name, word in zip(names.split(), words[:needed] + list(_leading_numbers(words[needed:])), strict=False):
            said[name] = _whole(file, at, name, word)
        if len(words) < needed:
            raise ModelFileError(f"{file}, line {at}: the header has {len(words)} numbers here, and needs {needed}")
    defined = sum(said[name] for name in _FIELDS[-1][0].split())
    _check(file, said, defined, len(data))
    return Header(binary, _order(file, binary, said["arithmetic"]), options, tolerance, said["variables"], said["constraints"],
                  said["objectives"], defined, said["nonlinear_constraints"],
                  {"J": said["jacobian_nonzeros"], "G": said["gradient_nonzeros"]}, _integrality(file, said), begin, len(data))


def _first_lines(file: str, data: bytes) -> tuple[list[str], int]:
    """The lines without their comments, and where the next one begins."""
    lines, begin = [], 0
    if data[:1] not in (b"g", b"b"):
        raise ModelFileError(f"{file}, line 1: this is no .nl file: it begins with neither g (text) nor b (binary)")
    for at in range(_LINES):
        end = data.find(b"\n", begin, begin + _LARGEST_LINE)
        if end < 0:
            raise ModelFileError(f"{file}, line {at + 1}: the header ends here, and has to have {_LINES} lines")
        lines.append(without_other_blanks(data[begin:end].decode("utf-8", "replace")).partition("#")[0])
        begin = end + 1
    return lines, begin


def _leading_numbers(words: list[str]) -> list[str]:
    """Those of the words that are numbers, up to the first that is not: old writers leave the # of comments out."""
    return words[:next((i for i, word in enumerate(words) if whole_of(word) is None), len(words))]


def _whole(file: str, line: int, name: str, word: str) -> int:
    value = whole_of(word)
    if value is None or value < 0:
        raise ModelFileError(f"{file}, line {line}: the number of {name.replace('_', ' ')} is {word[:40]!r}, and has to be "
                             "a whole number from 0 on")
    return value


def _first(file: str, line: str) -> tuple[bool, tuple[int, ...], str | None]:
    """Is the file binary? The options of the first line, and the tolerance that may follow them."""
    words = line[1:].split()
    count = _whole(file, 1, "options", words[0]) if words else 0
    numbers = _leading_numbers(words[1:])[:count]
    if count > 9 or len(numbers) < count:
        raise ModelFileError(f"{file}, line 1: {count} options are announced, and {len(numbers)} follow")
    options = tuple(int(word) for word in numbers)
    tolerance = words[count + 1] if count > 1 and options[1] == _VBTOL and len(words) > count + 1 else None
    return line[0] == "b", options, tolerance


def _check(file: str, said: dict[str, int], defined: int, size: int) -> None:
    for line, name, what in ((4, "nonlinear_network", "network constraints"), (4, "linear_network", "network constraints"),
                             (6, "network_variables", "network variables (arcs)")):
        if said[name]:
            raise ModelFileError(f"{file}, line {line}: the model has {said[name]:,} {what}, which infimum does not know")
    for line, name in ((2, "variables"), (2, "constraints"), (2, "objectives")):
        if said[name] > size:
            raise ModelFileError(f"{file}, line {line}: the header announces {said[name]:,} {name}, and the file has only "
                                 f"{size:,} bytes")
    if defined > size:
        raise ModelFileError(f"{file}, line 10: the header announces {defined:,} defined variables, and the file has only "
                             f"{size:,} bytes")
    if not said["variables"]:
        raise ModelFileError(f"{file}, line 2: the model has no variables")


def _order(file: str, binary: bool, arithmetic: int) -> bool:
    if binary and arithmetic not in _ARITHMETIC:
        raise ModelFileError(f"{file}, line 6: the arithmetic of the binary file is of kind {arithmetic}, and has to be "
                             "1 (little-endian) or 2 (big-endian)")
    return binary and _ARITHMETIC[arithmetic]


def _integrality(file: str, said: dict[str, int]) -> np.ndarray:
    """Which variables are integers. They come in groups, and within each group those that are not come first."""
    n = said["variables"]
    both, constraints, objectives = (said[f"nonlinear_in_{where}"] for where in ("both", "constraints", "objectives"))
    linear = said["linear_binary"] + said["linear_integer"]
    ends = (both, constraints, max(constraints, objectives), n)
    counts = (said["integer_in_both"], said["integer_in_constraints"], said["integer_in_objectives"], linear)
    integer, begin = np.zeros(n, dtype=bool), 0
    for end, count in zip(ends, counts, strict=True):
        if not begin <= end <= n or count > end - begin:
            raise ModelFileError(f"{file}, lines 5 and 7: the numbers of nonlinear and integer variables contradict each other")
        integer[end - count:end] = True
        begin = end
    return integer
