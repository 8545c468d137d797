"""All operators that are known, and how each takes the constants among its arguments."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from infimum.networks.activations import ACTIVATIONS, CLIP
from infimum.networks.arithmetic import ARITHMETIC, LINEAR
from infimum.networks.arrangement import ARRANGEMENT
from infimum.networks.values import exact, traced
from infimum.networks.windows import WINDOWS


class Constants(Enum):
    """When the floats among the arguments become traced constants, so that nothing is rounded."""

    ALWAYS = "they are computed with"
    ALONE = "only where no argument is traced: otherwise each meets a traced one in a single operation, which is exact"
    NEVER = "elements are only rearranged"


@dataclass(frozen=True, slots=True)
class Operator:
    """A row of the table: `run(node, *arguments)` gives the output, or a list of them."""

    run: Callable[..., Any]
    constants: Constants

    def exactly(self, arguments: list[Any]) -> list[Any]:
        """The arguments for a traced run."""
        if self.constants is Constants.NEVER or (self.constants is Constants.ALONE and any(map(traced, arguments))):
            return arguments
        return [exact(a) for a in arguments]


def _rows(constants: Constants, *tables: dict[str, Callable[..., Any]]) -> dict[str, Operator]:
    return {name: Operator(run, constants) for table in tables for name, run in table.items()}


OPERATORS: dict[str, Operator] = {
    **_rows(Constants.ALWAYS, ACTIVATIONS, ARITHMETIC),
    **_rows(Constants.ALONE, LINEAR, WINDOWS, CLIP),
    **_rows(Constants.NEVER, ARRANGEMENT),
}
OWN = ("Dense",)  # operators that ONNX does not have
