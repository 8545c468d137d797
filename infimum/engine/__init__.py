"""Engines: they search; the Evaluator computes."""
