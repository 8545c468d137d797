"""Interval arithmetic in upward-rounded primitives, and the elementary functions."""
