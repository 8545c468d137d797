"""Expressions: nodes, simplification when they are made, derivatives, exact constants."""
