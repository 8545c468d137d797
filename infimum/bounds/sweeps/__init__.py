"""Sweeps: all variables of a region are tested slice by slice, at a cost that is linear in their number."""
