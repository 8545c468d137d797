"""The vocabulary of expressions: the records of all operations, by name. Nothing else may appear in an `Expr`."""

from infimum.ops import arithmetic, arrays, choices, exponentials, hyperbolic, powers, special, steps, trigonometric
from infimum.ops.operation import Kind, Operation

_FAMILIES = (arithmetic, powers, exponentials, trigonometric, hyperbolic, special, steps, choices, arrays)


def _place(record: Operation) -> tuple[int, int]:
    """Leaves first, then functions of one number, of two, of three; the others as they stand."""
    kind = list(Kind).index(record.kind)
    return kind, record.arity if record.kind is Kind.MAP else 0


OPS: dict[str, Operation] = {record.name: record for record in
                             sorted((record for family in _FAMILIES for record in family.RECORDS), key=_place)}
