"""The vocabulary of expressions: the records of all operations, by name. Nothing else may appear in an `Expr`."""

from infimum.ops import arithmetic, arrays, choices, exponentials, hyperbolic, powers, special, steps, trigonometric
from infimum.ops.operation import Kind, Operation

_FAMILIES = arithmetic, powers, exponentials, trigonometric, hyperbolic, special, steps, choices, arrays
_RECORDS = [record for family in _FAMILIES for record in family.RECORDS]
# by kinds, those that work element by element by their number of arguments
OPS: dict[str, Operation] = {record.name: record for kind in Kind for record in
                             sorted((record for record in _RECORDS if record.kind is kind),
                                    key=lambda record: record.arity if record.kind is Kind.MAP else 0)}
# fixed: with views of arrays, what polynomials are made of
POLYNOMIAL = ("var", "add", "sub", "neg", "mul", "div", "powi", "sum", "prod")
