"""Finite ends in the place of infinite ones, for the points that obey all constraints and are better than a known one."""
