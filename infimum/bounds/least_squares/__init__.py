"""Bounds of sums of squares: Gauss-Newton steps and variable projection."""
