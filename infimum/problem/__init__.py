"""The question and the parts of the answer, as values: bounds, problems, systems, regions, tables."""
