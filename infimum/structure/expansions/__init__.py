"""Expressions near a pole or a zero of one of their parts."""
