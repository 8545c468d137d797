"""From the user's Python to an expression: tracing, constraints, agreement with plain calls, errors that name the line."""
