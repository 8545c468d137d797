"""The Evaluator, its programs, and what they return: the only way from engines to a machine."""
