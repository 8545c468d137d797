"""What an answer says of its constraints belongs to the form in which these are the user's own."""

from dataclasses import replace

from infimum.certify.constraint_values import about_constraints
from infimum.presolve.presolve_stack import Formulation, PresolveStep
from infimum.result import Result


class ConstraintReport(PresolveStep):
    """Changes nothing: its place in the stack is behind the steps that keep every constraint, and before those that do not.

    `relaxed`: by how much equations are relaxed. `any_point`: a feasible point is all that is asked for."""

    def __init__(self, relaxed: float = 0.0, any_point: bool = False):
        self.relaxed, self.any_point = relaxed, any_point

    def apply(self, given: Formulation) -> Formulation:
        self.given = given
        return given

    def postsolve(self, result: Result) -> Result:
        """With what is proved of the constraints, and where their values are found."""
        if self.any_point:
            result = replace(result, purpose="feasible")
        if self.given.evaluator.system is not None:
            result = about_constraints(result, *self.given, self.relaxed)
        if self.any_point and result.feasible is not None:
            what = "a point in the box `feasible` meets" if isinstance(result.feasible, tuple) else "x meets"
            result = replace(result, message=f"{what} all constraints")
        return result
